//! Somebody who has joined and then does as she likes: a bare connection.

use crate::arena::{Arena, ms};
use evenkeel::wire::{Agreement, Format};
use evenkeel::{EntityId, GlobalTime, Pose, Sender, SenderConfig, Threshold};
use evenkeel_net::protocol::{
    PeerOffer, SERVER, ToPlayer, ToServer, VERSION, Welcome, decode, decode_agreement, encode,
};
use evenkeel_net::transport::{ConnectConfig, Connection, What, connect_with};
use std::time::{Duration, Instant};

pub struct Eve {
    pub connection: Connection,
    pub welcome: Welcome,
}

/// Looks random, and is the same every time.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 24
    }

    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let length = 1 + self.next() as usize % most;
        (0..length).map(|_| self.next() as u8).collect()
    }
}

impl Eve {
    pub async fn join(arena: &Arena) -> Self {
        Self::join_with(arena, ConnectConfig::new(arena.trust()), None).await
    }

    pub async fn join_with(arena: &Arena, config: ConnectConfig, peer: Option<PeerOffer>) -> Self {
        let mut connection = connect_with(&arena.url(), &config).await.unwrap();
        let (session, name) = ("main".into(), "Eve".into());
        let hello = ToServer::Hello { version: VERSION, session, name, token: Vec::new(), rejoin: None, peer };
        connection.send_message(encode(&hello).unwrap()).unwrap();
        let welcome = tokio::time::timeout(Duration::from_secs(10), async {
            loop {
                let arrived = connection.receive().await.expect("the server lets her in");
                let What::Message(bytes) = arrived.what else { continue };
                if let Ok(ToPlayer::Welcome(welcome)) = decode(&bytes) {
                    return *welcome;
                }
            }
        });
        Self { welcome: welcome.await.expect("a welcome"), connection }
    }

    pub fn agreement(&self) -> Agreement {
        decode_agreement(&self.welcome.agreement).unwrap()
    }

    pub fn format(&self) -> Format {
        self.agreement().format
    }

    pub fn say(&self, message: &ToServer) {
        self.connection.send_message(encode(message).unwrap()).unwrap();
    }

    /// A datagram that says where an entity is, whoever's it is.
    pub fn vector(&self, entity: EntityId, pose: Pose, time: GlobalTime) -> Vec<u8> {
        let mut forger = Sender::new(SenderConfig { format: self.format(), ..SenderConfig::default() }).unwrap();
        forger.add_receiver(SERVER, time).unwrap();
        forger.add_entity(entity, Threshold::within(0.1), time).unwrap();
        forger.observe(entity, pose, time).unwrap();
        forger.poll_transmit(time).expect("a first vector").bytes.to_vec()
    }

    /// Sends a datagram, as soon as there is room for it.
    pub async fn throw(&self, datagram: &[u8]) -> bool {
        for _ in 0..200 {
            if self.connection.send_datagram(datagram).is_ok() {
                return true;
            }
            if self.connection.closed_reason().is_some() {
                return false;
            }
            tokio::time::sleep(ms(5)).await;
        }
        false
    }

    /// Waits for the end, and says why it came.
    pub async fn end(&mut self) -> String {
        let closed = tokio::time::timeout(Duration::from_secs(10), self.connection.closed());
        closed.await.expect("she is sent away").to_string()
    }

    /// Reads all that comes for a while.
    pub async fn read(&mut self, span: Duration) -> Vec<Vec<u8>> {
        let start = Instant::now();
        let mut datagrams = Vec::new();
        while start.elapsed() < span {
            match tokio::time::timeout(ms(20), self.connection.receive()).await {
                Ok(Some(arrived)) => {
                    if let What::Datagram(bytes) = arrived.what {
                        datagrams.push(bytes.to_vec());
                    }
                }
                Ok(None) => break,
                Err(_) => {}
            }
        }
        datagrams
    }
}

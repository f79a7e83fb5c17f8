//! A client that others can connect to.

use super::driver::Dialler;
use super::links::SILENCE;
use super::{Client, ClientConfig, StartError};
use crate::background::Background;
use crate::protocol::PeerOffer;
use crate::seat::SeatConfig;
use crate::transport::{Endpoint, EndpointConfig, Identity, ListenConfig, Listener, Trust};
use evenkeel::HostId;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// How a [`Peer`] is set up. Start from [`PeerConfig::new`] and change what matters.
#[derive(Clone, Debug)]
pub struct PeerConfig {
    /// As for a client.
    pub client: ClientConfig,
    /// On which address others can connect. Default: all of this machine, on any free port.
    pub address: SocketAddr,
}

impl PeerConfig {
    /// A player at a server that it trusts so far.
    pub fn new(url: &str, trust: Trust, seat: SeatConfig) -> Self {
        let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Self { client: ClientConfig::new(url, trust, seat), address: any }
    }
}

/// A player in a session in which players send to each other directly: a [`Client`] that also dials and accepts other players.
///
/// Others learn this host's address. A server that introduces them is needed to join, not to play on.
pub struct Peer {
    client: Client,
    address: SocketAddr,
    certificate: [u8; 32],
}

impl Peer {
    /// Asks to join the session at a URL, in the background. Must be called within a tokio runtime.
    pub async fn start(url: &str, trust: Trust, seat: SeatConfig) -> Result<Self, StartError> {
        Self::start_with(PeerConfig::new(url, trust, seat)).await
    }

    /// Starts with more to say about it.
    pub async fn start_with(config: PeerConfig) -> Result<Self, StartError> {
        let PeerConfig { mut client, address } = config;
        let conditioner = client.connect.conditioner.clone();
        let endpoint = Endpoint::bind(EndpointConfig { conditioner, ..EndpointConfig::new(address) });
        let endpoint = endpoint.map_err(StartError::Transport)?;
        let address = endpoint.local_address();
        let identity =
            Identity::self_made(["peer"], Duration::from_secs(13 * 24 * 3600)).map_err(StartError::Transport)?;
        let certificate = identity.hash();
        let mut listen = ListenConfig::new(address, identity);
        (listen.idle_timeout, listen.keep_alive) = SILENCE;
        // Whoever comes shows a ticket before anything is done for it; a round trip more would only delay the opening.
        listen.retry = false;
        let listener = Listener::on(&endpoint, listen).await.map_err(StartError::Transport)?;
        let addresses = own_addresses(address, &client.url).await;
        client.seat.peer = Some(PeerOffer { certificate, addresses });
        // Whoever has left must be noticed soon, by the server too: others may follow its clock.
        client.connect.idle_timeout = client.connect.idle_timeout.min(SILENCE.0);
        client.connect.keep_alive = client.connect.keep_alive.min(SILENCE.1);
        let client = Client::drive(client, Dialler::On(endpoint, Arc::new(listener)))?;
        Ok(Self { client, address, certificate })
    }

    /// The same without a tokio runtime, on a thread of its own: for game loops.
    pub fn spawn(config: PeerConfig) -> Result<Self, StartError> {
        let background = Background::start("evenkeel-peer").map_err(StartError::Thread)?;
        let started = background.run(Self::start_with(config));
        let gone = || StartError::Thread(std::io::Error::other("the thread has ended"));
        let Self { client, address, certificate } = started.ok_or_else(gone)??;
        Ok(Self { client: client.on(background), address, certificate })
    }

    /// On which address others can connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The SHA-256 hash of the certificate by which others know it. It is made anew with every start.
    pub fn certificate(&self) -> [u8; 32] {
        self.certificate
    }

    /// Who is reached directly at present.
    pub fn linked(&self) -> Vec<HostId> {
        self.client.with(|seat, _| seat.linked().collect())
    }

    /// Says farewell and stops.
    pub async fn leave(self) {
        self.client.leave().await;
    }

    /// The same without a tokio runtime. See [`Client::leave_blocking`].
    pub fn leave_blocking(self) {
        self.client.leave_blocking();
    }
}

impl Deref for Peer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Where this host is on its own network: the address from which it would speak to the server.
async fn own_addresses(bound: SocketAddr, url: &str) -> Vec<SocketAddr> {
    if !bound.ip().is_unspecified() {
        return vec![bound];
    }
    let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:443") };
    let Ok(found) = tokio::net::lookup_host(authority).await else { return Vec::new() };
    let towards = |server: SocketAddr| {
        // Nothing is sent: the system only says which of its addresses it would use.
        let any: SocketAddr = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse().ok()?;
        let socket = std::net::UdpSocket::bind(any).ok()?;
        socket.connect(server).ok()?;
        Some(SocketAddr::new(socket.local_addr().ok()?.ip(), bound.port()))
    };
    found.filter_map(towards).collect()
}

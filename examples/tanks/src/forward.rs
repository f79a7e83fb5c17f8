//! A network in front of a client: what it sends and what is sent to it takes its time, and some of it is lost.

use anyhow::{Context, Result};
use evenkeel_bevy::evenkeel::GlobalTime;
use evenkeel_link::{Conditions, Link, Topology};
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The largest packet; renet's are smaller.
const MAX_PACKET: usize = 1_500;
/// More packets than this are not under way at once, nor wait to be.
const MAX_UNDER_WAY: usize = 10_000;
const CLIENT: u32 = 0;
const SERVER: u32 = 1;

/// From whom a packet is, and what is in it.
type Packet = (u32, Vec<u8>);

/// Begins to forward. The client that has this socket finds the server at the address that is returned.
pub fn start(client: &UdpSocket, server: SocketAddr, conditions: Conditions) -> Result<SocketAddr> {
    let link = Link::new(Topology::uniform(conditions)?, seed(client)?).with_capacity(MAX_UNDER_WAY);
    let near = UdpSocket::bind((client.local_addr()?.ip(), 0)).context("no port is free to forward from")?;
    near.connect(client.local_addr()?)?;
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let far = UdpSocket::bind(any).context("no port is free to forward from")?;
    far.connect(server).with_context(|| format!("there is no way to {server}"))?;
    let found_at = near.local_addr()?;
    let (put, take) = sync_channel(MAX_UNDER_WAY);
    for (from, socket) in [(CLIENT, near.try_clone()?), (SERVER, far.try_clone()?)] {
        let put = put.clone();
        thread::spawn(move || receive(&socket, from, &put));
    }
    thread::spawn(move || forward(link, &take, [&near, &far]));
    Ok(found_at)
}

/// Each client is to have bad luck of its own.
fn seed(client: &UdpSocket) -> Result<u64> {
    Ok(client.local_addr()?.port().into())
}

fn receive(socket: &UdpSocket, from: u32, put: &SyncSender<Packet>) {
    let mut buffer = [0; MAX_PACKET];
    loop {
        match socket.recv(&mut buffer) {
            // What does not fit is lost, as it would be before a slow line.
            Ok(length) => _ = put.try_send((from, buffer[..length].to_vec())),
            // Nobody is there, perhaps not yet: whoever waits for an answer finds out.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Puts packets into the network, and hands out those whose time has come.
fn forward(mut link: Link<Vec<u8>>, take: &Receiver<Packet>, sockets: [&UdpSocket; 2]) {
    let start = Instant::now();
    let now = || GlobalTime::from_nanos(i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX));
    loop {
        while let Some(delivery) = link.poll(now()) {
            // What cannot be sent is lost.
            let _ = sockets[delivery.to as usize].send(&delivery.payload);
        }
        let wait = link.poll_timeout().map_or(i64::MAX, |due| due.since(now()).as_nanos().max(0));
        match take.recv_timeout(Duration::from_nanos(wait.unsigned_abs())) {
            Ok((from, bytes)) => _ = link.send(now(), from, SERVER - from, bytes.len(), bytes),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client and a server with this between them.
    fn ends(conditions: &str) -> (UdpSocket, UdpSocket) {
        let [client, server] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        let at = start(&client, server.local_addr().unwrap(), conditions.parse().unwrap()).unwrap();
        client.connect(at).unwrap();
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        }
        (client, server)
    }

    #[test]
    fn packets_go_there_and_back() {
        let (client, server) = ends("delay=20ms");
        let mut buffer = [0; 100];
        client.send(b"there").unwrap();
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"there");
        server.send_to(b"back", from).unwrap();
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"back");
    }

    #[test]
    fn what_comes_late_is_not_here_yet_and_what_is_lost_never_comes() {
        for conditions in ["delay=9s", "delay=0ms,loss=100%"] {
            let (client, server) = ends(conditions);
            client.send(b"hello").unwrap();
            server.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            assert!(server.recv(&mut [0; 100]).is_err(), "{conditions}");
        }
    }
}

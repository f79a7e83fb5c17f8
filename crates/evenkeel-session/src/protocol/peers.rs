//! What hosts say about talking to each other without the server in between.

use evenkeel::HostId;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Who sends movement to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Model {
    /// Everybody sends to the server, which decides what to pass on to whom. The session's clock is the server's.
    #[default]
    ClientServer,
    /// Owners send directly to everybody else and decide themselves. The server introduces; it passes on unread what cannot get
    /// through directly. The session's clock is the one of an elected player.
    PeerToPeer,
    /// Owners send to the server as well as directly to those they can reach; the server passes on to the others. The session's
    /// clock is the server's.
    Hybrid,
}

impl Model {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] =
        [("client-server", Self::ClientServer), ("peer-to-peer", Self::PeerToPeer), ("hybrid", Self::Hybrid)];

    /// Whether the server hears all movement.
    pub fn has_server(self) -> bool {
        self != Self::PeerToPeer
    }

    /// Whether players talk to each other directly.
    pub fn has_peers(self) -> bool {
        self != Self::ClientServer
    }
}

/// How a player can be reached directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerOffer {
    /// The SHA-256 hash of its certificate.
    pub certificate: [u8; 32],
    /// Where it is on its own network.
    pub addresses: Vec<SocketAddr>,
}

/// Somebody to talk to directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// Who.
    pub host: HostId,
    /// The SHA-256 hash of its certificate.
    pub certificate: [u8; 32],
    /// Where it may be reached, the likeliest first.
    pub addresses: Vec<SocketAddr>,
    /// Proves to it that the server sent us, and to us that the server sent it. Only the two and the server know it.
    pub ticket: u64,
}

/// So many addresses of a player's own network are passed on at most.
pub const MAX_ADDRESSES: usize = 4;

/// The addresses under which others shall look for a player: where the server sees it, and those of its own network. What it
/// claims about the rest of the world is left out: nobody is to be sent to a stranger's door.
pub fn addresses(seen: Option<SocketAddr>, claimed: &[SocketAddr]) -> Vec<SocketAddr> {
    let own = claimed.iter().copied().filter(|address| is_local(address.ip()) && address.port() != 0);
    let mut all: Vec<SocketAddr> = own.take(MAX_ADDRESSES).chain(seen).collect();
    all.dedup();
    all
}

fn is_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_a_strangers_door() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let claimed = [at("192.168.0.7:4000"), at("8.8.8.8:53"), at("[fe80::1]:4000"), at("10.0.0.1:0")];
        let all = addresses(Some(at("203.0.113.5:999")), &claimed);
        assert_eq!(all, [at("192.168.0.7:4000"), at("[fe80::1]:4000"), at("203.0.113.5:999")]);
        let many = [at("10.0.0.1:1"), at("10.0.0.2:1"), at("10.0.0.3:1"), at("10.0.0.4:1"), at("10.0.0.5:1")];
        assert_eq!(addresses(None, &many).len(), MAX_ADDRESSES);
    }
}

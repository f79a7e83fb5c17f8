//! Players who talk to each other directly: introducing them, whose clock is theirs, and passing on what does not get through.

use super::{Connection, Hub, Outgoing, What};
use crate::protocol::{self, Introduction, Model, PeerOffer, SERVER, ToPlayer, addresses};
use evenkeel::{HostId, Instant};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::net::SocketAddr;

/// How a player can be reached directly, and where the server sees it.
#[derive(Clone, Debug)]
pub(super) struct Reachable {
    pub(super) offer: PeerOffer,
    pub(super) seen: Option<SocketAddr>,
}

impl Hub {
    /// Makes a player who has come known to all others that can be reached directly, and the others to it.
    pub(super) fn introduce(&mut self, host: HostId) {
        if !self.config.model.has_peers() {
            return;
        }
        let connected = self.members.iter().filter(|(other, member)| **other != host && member.connection.is_some());
        let others: Vec<HostId> = connected.map(|(other, _)| *other).collect();
        for other in others {
            let ticket = self.ticket(host, other);
            for (to, whom) in [(host, other), (other, host)] {
                let able = self.members.get(&to).is_some_and(|member| member.reachable.is_some());
                let Some(Reachable { offer, seen }) = self.members.get(&whom).and_then(|m| m.reachable.clone()) else {
                    continue;
                };
                if able {
                    let addresses = addresses(seen, &offer.addresses);
                    let meet = Introduction { host: whom, certificate: offer.certificate, addresses, ticket };
                    self.tell(to, &ToPlayer::Meet(meet));
                }
            }
        }
    }

    /// A number that only the two are told.
    fn ticket(&self, one: HostId, other: HostId) -> u64 {
        let secret = |host: HostId| self.members.get(&host).map_or(0, |member| member.secret);
        let (low, high) = (one.min(other), one.max(other));
        let mut hasher = SipHasher24::new_with_key(&self.config.secret);
        hasher.write_u64(secret(low));
        hasher.write_u64(secret(high));
        hasher.finish()
    }

    /// A player says whether it has a direct connection to another: then the server need not tell that one.
    pub(super) fn link(&mut self, host: HostId, peer: HostId, up: bool, now: Instant) {
        let known = self.members.contains_key(&peer);
        let Some(member) = self.members.get_mut(&host).filter(|_| known && self.config.model.has_peers()) else {
            return;
        };
        let changed = if up { member.linked.insert(peer) } else { member.linked.remove(&peer) };
        if changed {
            self.review_pair(host, peer, now);
            self.review_pair(peer, host, now);
        }
    }

    /// Passes a datagram on between two players, unread.
    pub(super) fn pass_on(&mut self, from: HostId, bytes: &[u8]) -> bool {
        let Some((to, datagram)) = protocol::passed_on(bytes) else { return false };
        if self.config.model != Model::PeerToPeer || to == from {
            return false;
        }
        // Whoever has just left is no fault of the sender's.
        if let Some(connection) = self.members.get(&to).and_then(|member| member.connection) {
            let bytes = protocol::pass_on(from, datagram);
            self.outgoing.push_back(Outgoing { to: connection, what: What::Datagram(bytes) });
            self.counts.passed_on += 1;
        }
        true
    }

    /// Whose clock is the session's.
    pub fn leader(&self) -> HostId {
        if self.config.model == Model::PeerToPeer { self.leader.unwrap_or(SERVER) } else { SERVER }
    }

    /// The first of the players who are here leads for as long as it is.
    pub(super) fn elect(&mut self) {
        if self.config.model != Model::PeerToPeer {
            return;
        }
        let here = |host: &HostId| self.members.get(host).is_some_and(|member| member.connection.is_some());
        if self.leader.as_ref().is_some_and(here) {
            return;
        }
        self.leader = self.members.iter().find(|(_, member)| member.connection.is_some()).map(|(host, _)| *host);
        if let Some(host) = self.leader {
            self.tell_all(&ToPlayer::Leader { host });
        }
    }

    /// Where a connection comes from.
    pub(super) fn seen_at(&self, connection: Connection) -> Option<SocketAddr> {
        self.guests.get(&connection).and_then(|guest| guest.remote)
    }
}

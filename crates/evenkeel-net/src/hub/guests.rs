//! Connections that have not come in yet.

use super::{Connection, Hub, HubEvent, Outgoing, Pass, What};
use crate::levels;
use crate::protocol::{self, MAX_NAME, Model, PeerOffer, Refusal, ToPlayer, ToServer, VERSION};
use evenkeel::{HostId, Instant};
use std::net::SocketAddr;

/// A connection that has not said hello.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) came: Instant,
    pub(super) remote: Option<SocketAddr>,
}

/// What a guest says of itself.
pub(super) struct Hello {
    pub(super) name: String,
    pub(super) rejoin: Option<(HostId, u64)>,
    pub(super) peer: Option<PeerOffer>,
    pub(super) seen: Option<SocketAddr>,
}

impl Hub {
    /// Somebody connected, from there if that is known. Nothing else is known of it before it says hello.
    pub fn handle_connected(&mut self, connection: Connection, remote: Option<SocketAddr>, now: Instant) {
        if self.guests.len() >= self.config.max_guests || self.ending.is_some() {
            let why = if self.ending.is_some() { Refusal::Ending } else { Refusal::Full };
            self.refuse(connection, &why);
            return;
        }
        self.guests.insert(connection, Guest { came: now, remote });
    }

    /// A message arrived.
    pub fn handle_message(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        if let Some(host) = self.connections.get(&from).copied() {
            let allowed = self.members.get_mut(&host).is_some_and(|member| member.messages.take(now));
            if allowed && levels::is_message(bytes) {
                return self.take_ordered(host, from, bytes, now);
            }
            return match protocol::decode::<ToServer>(bytes) {
                _ if !allowed => self.expel(from, "it sends too many messages", now),
                Ok(message) => self.handle_member(host, from, message, now),
                Err(error) => self.expel(from, &error.to_string(), now),
            };
        }
        let seen = self.seen_at(from);
        if self.guests.remove(&from).is_none() {
            return;
        }
        match protocol::decode(bytes) {
            Ok(ToServer::Hello { version, session, name, token, rejoin, peer }) => {
                match self.examine(version, &session, &name, &token, peer.is_some()) {
                    Ok(pass) => self.let_in(from, Hello { name, rejoin, peer, seen }, pass, now),
                    Err(refusal) => self.refuse(from, &refusal),
                }
            }
            _ => self.expel(from, "it did not say hello", now),
        }
    }

    /// Whether somebody may come in. Nothing is made for whoever may not.
    fn examine(&mut self, version: u16, session: &str, name: &str, token: &[u8], peer: bool) -> Result<Pass, Refusal> {
        if version != VERSION {
            return Err(Refusal::Version { ours: VERSION });
        }
        if session != self.config.session {
            return Err(Refusal::NoSuchSession);
        }
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(Refusal::Name);
        }
        if self.ending.is_some() {
            return Err(Refusal::Ending);
        }
        if self.config.model == Model::PeerToPeer && !peer {
            return Err(Refusal::PeersOnly);
        }
        (self.config.gate)(token, session)
    }

    pub(super) fn refuse(&mut self, to: Connection, why: &Refusal) {
        self.counts.expelled += 1;
        self.say(to, &ToPlayer::Refused(why.clone()));
        self.outgoing.push_back(Outgoing { to, what: What::Close(why.to_string()) });
    }

    /// Closes a connection because of what it did. Others do not notice, but that its player is gone.
    pub(super) fn expel(&mut self, connection: Connection, why: &str, now: Instant) {
        self.counts.expelled += 1;
        self.say(connection, &ToPlayer::Refused(Refusal::Expelled(why.to_owned())));
        self.outgoing.push_back(Outgoing { to: connection, what: What::Close(why.to_owned()) });
        self.guests.remove(&connection);
        let host = self.connections.get(&connection).copied();
        self.tell_application(HubEvent::Expelled { host, why: why.to_owned() });
        if let Some(host) = host {
            self.leave(host, why, now);
        }
    }

    pub(super) fn turn_away_the_silent(&mut self, now: Instant) {
        let within = self.config.hello_within;
        let silent = |guest: &Guest| now.since(guest.came) >= within;
        let late: Vec<_> = self.guests.iter().filter(|(_, guest)| silent(guest)).map(|(c, _)| *c).collect();
        for connection in late {
            self.expel(connection, "it did not say hello in time", now);
        }
    }
}

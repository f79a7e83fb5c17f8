//! Connections that have not come in yet.

use super::{Asking, Connection, Hub, HubEvent, Outgoing, Pass, What};
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
    /// Its number, if it was here before and proved it.
    pub(super) returning: Option<HostId>,
    pub(super) peer: Option<PeerOffer>,
    pub(super) seen: Option<SocketAddr>,
}

impl Hub {
    /// Somebody connected, from there if that is known. Nothing else is known of it before it says hello.
    pub fn handle_connected(&mut self, connection: Connection, remote: Option<SocketAddr>, now: Instant) {
        if self.guests.len() >= self.config.max_guests || self.ended {
            let why = if self.ended { Refusal::Ending } else { Refusal::Full };
            self.refuse(connection, &why);
            return;
        }
        self.guests.insert(connection, Guest { came: now, remote });
    }

    /// A message arrived.
    pub fn handle_message(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        if let Some(host) = self.connections.get(&from).copied() {
            return match self.may_say(host, bytes, now) {
                true if self.hold(from, true, bytes, now) => {}
                true => self.take_message(host, from, bytes, now),
                false => self.expel(from, "it sends too many messages", now),
            };
        }
        let seen = self.seen_at(from);
        if self.guests.remove(&from).is_none() {
            return;
        }
        match protocol::decode(bytes) {
            Ok(ToServer::Hello { version, session, name, token, rejoin, peer }) => {
                let returning = rejoin.filter(|(host, secret)| self.is_secret_of(*host, *secret)).map(|(host, _)| host);
                let hello = Hello { name, returning, peer, seen };
                match self.examine(version, &session, &hello, &token) {
                    Ok(pass) => self.let_in(from, hello, pass, now),
                    Err(refusal) => self.refuse(from, &refusal),
                }
            }
            _ => self.expel(from, "it did not say hello", now),
        }
    }

    /// A player said something in order, and has not said too much.
    fn take_message(&mut self, host: HostId, from: Connection, bytes: &[u8], now: Instant) {
        if levels::is_message(bytes) {
            return self.take_ordered(host, from, bytes, now);
        }
        match protocol::decode::<ToServer>(bytes) {
            Ok(message) => self.handle_member(host, from, message, now),
            Err(error) => self.expel(from, &error.to_string(), now),
        }
    }

    /// What a player said while it was not settled where the session goes on.
    pub(super) fn take_held(&mut self, from: Connection, ordered: bool, bytes: &[u8], now: Instant) {
        // Whoever has lost its connection since says it again.
        let Some(host) = self.connections.get(&from).copied() else { return };
        match ordered {
            true => self.take_message(host, from, bytes, now),
            false => self.take_unordered(host, from, bytes, now),
        }
    }

    /// Whether somebody may come in. Nothing is made for whoever may not.
    fn examine(&mut self, version: u16, session: &str, hello: &Hello, token: &[u8]) -> Result<Pass, Refusal> {
        if version != VERSION {
            return Err(Refusal::Version { ours: VERSION });
        }
        if session != self.config.session {
            return Err(Refusal::NoSuchSession);
        }
        if hello.name.is_empty() || hello.name.len() > MAX_NAME {
            return Err(Refusal::Name);
        }
        // Whoever has a place here may come back to it until the end.
        let ending = self.ending.is_some() || self.is_moving();
        if ending && (self.ended || hello.returning.is_none()) {
            return Err(Refusal::Ending);
        }
        if self.config.model == Model::PeerToPeer && hello.peer.is_none() {
            return Err(Refusal::PeersOnly);
        }
        let rejoining = hello.returning.and_then(|host| self.members.get(&host)).map(|member| member.pass);
        if rejoining.is_none() && self.members.len() >= self.config.max_players {
            return Err(Refusal::Full);
        }
        // Last of all: what it gives out is in use.
        self.config.gate.admit(&Asking { token, session, name: &hello.name, rejoining: rejoining.as_ref() })
    }

    pub(super) fn refuse(&mut self, to: Connection, why: &Refusal) {
        tracing::info!(connection = to.0, %why, "refused");
        self.counts.expelled += 1;
        self.tally.refused(why);
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
        tracing::warn!(connection = connection.0, host = host.map(|host| host.0), why, "expelled");
        self.tell_application(HubEvent::Expelled { host, why: why.to_owned() });
        if let Some(host) = host {
            self.leave(host, why, now);
        }
    }

    /// Sends away whoever holds a pass that the gate has taken back.
    pub(super) fn send_away_the_withdrawn(&mut self, now: Instant) {
        while let Some((pass, why)) = self.config.gate.poll_withdrawn() {
            let holds = |member: &super::Member| member.pass.holder.is_some() && member.pass.holder == pass.holder;
            let held = self.members.iter().find(|(_, member)| holds(member));
            match held.map(|(host, member)| (*host, member.connection)) {
                Some((_, Some(connection))) => self.expel(connection, &why, now),
                Some((host, None)) => self.leave(host, &why, now),
                None => {}
            }
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

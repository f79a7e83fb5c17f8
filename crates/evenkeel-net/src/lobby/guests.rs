//! Connections that have not joined a session yet.

use super::{Lobby, LobbyConfig};
use crate::hub::allowance::Allowance;
use crate::hub::{Connection, Outgoing, What};
use crate::protocol::{self, Filter, Refusal, ToPlayer, ToServer, VERSION};
use evenkeel::Instant;
use std::net::SocketAddr;

/// A connection that looks around.
#[derive(Debug)]
pub(super) struct Guest {
    remote: Option<SocketAddr>,
    came: Instant,
    /// When it last said something.
    spoke: Instant,
    lists: Allowance,
}

impl Guest {
    /// When to lose patience.
    pub(super) fn due(&self, config: &LobbyConfig) -> Instant {
        (self.spoke + config.speak_within).min(self.came + config.join_within)
    }
}

impl Lobby {
    /// Somebody connected, from there if that is known. Nothing else is known of it before it says something.
    pub fn handle_connected(&mut self, connection: Connection, remote: Option<SocketAddr>, now: Instant) {
        self.counts.came += 1;
        if self.ending {
            return self.refuse(connection, &Refusal::Ending);
        }
        if self.guests.len() >= self.config.max_guests {
            return self.refuse(connection, &Refusal::Full);
        }
        let lists = Allowance::new(self.config.lists_per_second, now);
        self.guests.insert(connection, Guest { remote, came: now, spoke: now, lists });
    }

    pub(super) fn handle_guest(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        if !self.guests.contains_key(&from) {
            return;
        }
        match protocol::decode(bytes) {
            Ok(ToServer::List(filter)) => self.handle_list(from, &filter, now),
            Ok(ToServer::Hello { version, .. }) if version != VERSION => {
                self.refuse(from, &Refusal::Version { ours: VERSION });
            }
            Ok(ToServer::Hello { session, .. }) => self.hand_on(from, session, bytes, now),
            _ => self.turn_away(from),
        }
    }

    /// A guest said what only players say.
    pub(super) fn turn_away(&mut self, from: Connection) {
        if self.guests.contains_key(&from) {
            self.expel(from, "it did not say hello");
        }
    }

    fn handle_list(&mut self, from: Connection, filter: &Filter, now: Instant) {
        let Some(guest) = self.guests.get_mut(&from) else { return };
        if !guest.lists.take(now) {
            return self.expel(from, "it asks for too many lists");
        }
        guest.spoke = now;
        if let Err(error) = filter.check() {
            return self.expel(from, &error.to_string());
        }
        let answer = self.list(filter);
        self.counts.listed += 1;
        self.say(from, &answer);
    }

    /// A session takes over: what it thinks of the hello is its own affair.
    fn hand_on(&mut self, from: Connection, name: String, bytes: &[u8], now: Instant) {
        let Some(session) = self.sessions.get_mut(&name) else {
            return self.refuse(from, &Refusal::NoSuchSession);
        };
        let Some(guest) = self.guests.remove(&from) else { return };
        session.touch().handle_connected(from, guest.remote, now);
        session.touch().handle_message(from, bytes, now);
        self.joined.insert(from, name);
        self.counts.handed_on += 1;
    }

    fn refuse(&mut self, to: Connection, why: &Refusal) {
        self.guests.remove(&to);
        self.counts.expelled += 1;
        self.say(to, &ToPlayer::Refused(why.clone()));
        self.outgoing.push_back(Outgoing { to, what: What::Close(why.to_string()) });
    }

    fn expel(&mut self, guest: Connection, why: &str) {
        self.refuse(guest, &Refusal::Expelled(why.to_owned()));
    }

    fn say(&mut self, to: Connection, message: &ToPlayer) {
        // What the lobby says always fits.
        if let Ok(bytes) = protocol::encode(message) {
            self.outgoing.push_back(Outgoing { to, what: What::Message(bytes) });
        }
    }

    pub(super) fn turn_away_the_idle(&mut self, now: Instant) {
        let due = |guest: &Guest| guest.due(&self.config) <= now;
        let late: Vec<Connection> = self.guests.iter().filter(|(_, guest)| due(guest)).map(|(c, _)| *c).collect();
        for connection in late {
            self.expel(connection, "it did not say hello in time");
        }
    }
}

//! Connections that have not joined a session yet.

use super::{Lobby, LobbyConfig};
use crate::hub::allowance::Allowance;
use crate::hub::{Connection, Outgoing, What};
use crate::protocol::{self, Filter, Refusal, ToPlayer, ToServer, VERSION};
use crate::transport::source;
use evenkeel::Instant;
use std::net::{IpAddr, SocketAddr};

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

fn source_of(remote: SocketAddr) -> IpAddr {
    source(remote.ip())
}

impl Lobby {
    /// Somebody connected, from there if that is known. Nothing else is known of it before it says something.
    pub fn handle_connected(&mut self, connection: Connection, remote: Option<SocketAddr>, now: Instant) {
        self.counts.came += 1;
        if self.ending {
            return self.refuse(connection, &Refusal::Ending);
        }
        if self.guests.len() >= self.config.max_guests || self.is_crowded(remote) {
            return self.refuse(connection, &Refusal::Full);
        }
        let lists = Allowance::new(self.config.lists_per_second, now);
        self.guests.insert(connection, Guest { remote, came: now, spoke: now, lists });
    }

    /// Whether there are as many guests from there as may be: nobody alone fills the lobby.
    fn is_crowded(&self, remote: Option<SocketAddr>) -> bool {
        let Some(from) = remote.map(source_of) else { return false };
        let theirs = self.guests.values().filter(|guest| guest.remote.map(source_of) == Some(from));
        theirs.count() >= self.config.max_guests_per_source
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::HubConfig;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    fn lobby() -> Lobby {
        let mut lobby = Lobby::new(LobbyConfig::default());
        lobby.add(HubConfig::default()).unwrap();
        lobby
    }

    fn come(lobby: &mut Lobby, number: u64, from: &str, now: Instant) {
        lobby.handle_connected(Connection(number), Some(from.parse().unwrap()), now);
        ask(lobby, number, now);
    }

    fn ask(lobby: &mut Lobby, number: u64, now: Instant) {
        let question = protocol::encode(&ToServer::List(Filter::default())).unwrap();
        lobby.handle_message(Connection(number), &question, now);
    }

    #[test]
    fn one_source_does_not_fill_the_lobby() {
        let mut lobby = lobby();
        // As many as handshakes are allowed, each asking just often enough to be let stay.
        for now in (0..60_000).step_by(250) {
            (0..now / 250).for_each(|number| {
                if (now / 250 - number) % 16 == 0 {
                    ask(&mut lobby, number as u64, at(now));
                }
            });
            come(&mut lobby, now as u64 / 250, &format!("192.0.2.1:{}", 1_000 + now / 250), at(now));
            lobby.advance(at(now));
            assert!(lobby.guests() <= lobby.config.max_guests_per_source);
        }
        assert_eq!(lobby.guests(), lobby.config.max_guests_per_source);
        come(&mut lobby, 1_000, "192.0.2.2:1", at(60_000));
        assert_eq!(lobby.guests(), lobby.config.max_guests_per_source + 1, "somebody else is welcome");
    }

    #[test]
    fn addresses_of_one_customer_are_one_source() {
        let mut lobby = lobby();
        let most = lobby.config.max_guests_per_source;
        (0..100).for_each(|n| come(&mut lobby, n, &format!("[2001:db8::{n:x}]:1"), at(0)));
        assert_eq!(lobby.guests(), most);
        come(&mut lobby, 200, "[2001:db8:0:1::1]:1", at(0));
        assert_eq!(lobby.guests(), most + 1);
    }

    #[test]
    fn whoever_listed_and_does_nothing_is_sent_off() {
        let mut lobby = lobby();
        come(&mut lobby, 1, "192.0.2.1:1", at(0));
        ask(&mut lobby, 1, at(3_000));
        lobby.advance(at(7_999));
        assert_eq!(lobby.guests(), 1);
        lobby.advance(at(8_000));
        assert_eq!(lobby.guests(), 0);
    }
}

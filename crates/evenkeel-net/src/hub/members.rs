//! Players who have come in.

use super::allowance::Allowance;
use super::guests::Hello;
use super::peers::Reachable;
use super::{Connection, Hub, HubEvent, Outgoing, Pass, What};
use crate::levels::{LevelLimits, Levels, RELIABLE_WINDOW};
use crate::protocol::{self, Player, ToPlayer, ToServer, Welcome};
use evenkeel::{GlobalTime, HostId, Instant};
use siphasher::sip::SipHasher24;
use std::collections::BTreeSet;
use std::hash::Hasher;

/// So many are told of in one message, at most: what is said about entities and how players are called is limited.
const PLAYERS_AT_ONCE: usize = 128;
const ENTITIES_AT_ONCE: usize = 32;

/// A player who is here, or may come back.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) secret: u64,
    pub(super) pass: Pass,
    /// None while the connection is lost.
    pub(super) connection: Option<Connection>,
    pub(super) datagrams: Allowance,
    pub(super) messages: Allowance,
    /// Bytes of messages.
    pub(super) bytes: Allowance,
    /// The game's own messages, on the present connection.
    pub(super) levels: Levels,
    /// Unusable datagrams in a row.
    pub(super) unusable: u32,
    /// How others can reach it directly.
    pub(super) reachable: Option<Reachable>,
    /// To whom it has a direct connection.
    pub(super) linked: BTreeSet<HostId>,
}

impl Member {
    /// It comes back, and says again what it said and nobody heard; or everything, if that waited because the session moves.
    pub(super) fn let_repeat(&mut self, everything: bool, now: Instant) {
        let more = |allowance: Allowance, more| match everything {
            true => allowance.and_once(more),
            false => allowance.after_silence(more, now),
        };
        self.messages = more(self.messages, RELIABLE_WINDOW);
        self.bytes = more(self.bytes, LevelLimits::default().queued_bytes + RELIABLE_WINDOW * 16);
    }
}

impl Hub {
    pub(super) fn let_in(&mut self, connection: Connection, hello: Hello, pass: Pass, now: Instant) {
        let returning = hello.returning;
        let host = returning.unwrap_or_else(|| self.next_host());
        if let Some(old) = self.members.get(&host).and_then(|member| member.connection) {
            // The connection that it lost has not noticed yet.
            self.disconnect(old, host, now);
            let what = What::Close("the player came back by another connection".into());
            self.outgoing.push_back(Outgoing { to: old, what });
        }
        self.seat(connection, host, hello, pass, now);
        self.elect();
        self.welcome(connection, host, returning.is_some(), now);
        self.introduce(host);
        self.send_on(host);
    }

    fn next_host(&mut self) -> HostId {
        // Numbers are used again only after all others were.
        loop {
            self.last_host = self.last_host % 65_535 + 1;
            if !self.members.contains_key(&HostId(self.last_host)) {
                return HostId(self.last_host);
            }
        }
    }

    fn seat(&mut self, connection: Connection, host: HostId, hello: Hello, pass: Pass, now: Instant) {
        let time = self.now(now);
        let Hello { name, peer, seen, .. } = hello;
        let before = self.members.get(&host);
        // Whoever comes back is who it was, and has said what it has said.
        let name = before.map_or(name, |before| before.name.clone());
        // What must arrive and has not goes again, and what comes again is known.
        let levels = before.map_or_else(|| Levels::new(self.level_limits()), |before| before.levels.clone());
        let allowances = before.map(|before| (before.datagrams, before.messages, before.bytes));
        let mut member = self.member(name, self.secret_of(host, time), pass, levels, now);
        if let Some((datagrams, messages, bytes)) = allowances {
            (member.datagrams, member.messages, member.bytes) = (datagrams, messages, bytes);
            member.let_repeat(self.is_moving(), now);
        }
        member.connection = Some(connection);
        member.reachable = peer.map(|offer| Reachable { offer, seen });
        member.levels.begin_again(now);
        if let Some(before) = self.members.insert(host, member)
            && before.pass != pass
        {
            self.config.gate.released(&before.pass);
        }
        self.connections.insert(connection, host);
        self.lost.remove(&host);
        // A player who comes again is known already; it is told about everything anew all the same.
        let _ = self.receiver.add_sender(host, self.receiver.agreement(&self.config.format), time);
        let _ = self.sender.add_receiver(host, time);
        self.review_viewer(host, now);
    }

    /// A player without a connection, who has said nothing yet.
    pub(super) fn member(&self, name: String, secret: u64, pass: Pass, levels: Levels, now: Instant) -> Member {
        Member {
            name,
            secret,
            pass,
            connection: None,
            datagrams: Allowance::new(self.config.datagrams_per_second, now),
            messages: Allowance::new(self.config.messages_per_second, now),
            bytes: Allowance::new(self.config.bytes_per_second, now),
            levels,
            unusable: 0,
            reachable: None,
            linked: BTreeSet::new(),
        }
    }

    pub(super) fn is_secret_of(&self, host: HostId, secret: u64) -> bool {
        self.members.get(&host).is_some_and(|member| member.secret == secret)
    }

    /// A number that nobody else can guess, and that no other player ever has: not in another session, nor under the same number
    /// after a restart, even if the server's own secret is the same.
    fn secret_of(&self, host: HostId, now: GlobalTime) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.config.secret);
        hasher.write(self.config.session.as_bytes());
        hasher.write_u32(host.0);
        hasher.write_i64(now.as_nanos());
        hasher.finish()
    }

    fn welcome(&mut self, connection: Connection, host: HostId, again: bool, now: Instant) {
        let Some(member) = self.members.get(&host) else { return };
        let (name, secret) = (member.name.clone(), member.secret);
        let welcome = Welcome {
            you: host,
            secret,
            agreement: protocol::encode_agreement(&self.sender.agreement()),
            again,
            model: self.config.model,
            peers_policy: self.config.peers_policy.clone(),
            leader: self.leader(),
        };
        self.say(connection, &ToPlayer::Welcome(Box::new(welcome)));
        self.show_around(connection, host);
        self.collect(host, now);
        tracing::Span::current().record("host", host.0).record("name", tracing::field::debug(&name));
        // Names are whatever players like: quoted, so that none of them writes lines of its own into a log.
        tracing::info!(connection = connection.0, host = host.0, ?name, again, "joined");
        self.tell_others(host, &ToPlayer::Came(Player { host, name: name.clone() }));
        self.tell_application(HubEvent::Came { host, name, again });
    }

    /// Tells a player who and what is here besides, in parts that fit into messages.
    fn show_around(&mut self, connection: Connection, host: HostId) {
        let player = |(host, member): (&HostId, &Member)| Player { host: *host, name: member.name.clone() };
        let mut players = self.members.iter().filter(|(other, _)| **other != host).map(player).collect::<Vec<_>>();
        let mut entities: Vec<_> = self.entities.values().filter(|e| self.may_see(e.entity, host)).cloned().collect();
        loop {
            let some_players = players.split_off(players.len().saturating_sub(PLAYERS_AT_ONCE));
            let some_entities = entities.split_off(entities.len().saturating_sub(ENTITIES_AT_ONCE));
            let last = players.is_empty() && entities.is_empty();
            self.say(connection, &ToPlayer::Present { players: some_players, entities: some_entities, last });
            if last {
                return;
            }
        }
    }

    pub(super) fn handle_member(&mut self, host: HostId, from: Connection, message: ToServer, now: Instant) {
        match message {
            ToServer::Hello { .. } | ToServer::List(_) => self.expel(from, "it said hello twice", now),
            ToServer::Make { entity, about } => self.make_for(host, from, entity, about, now),
            ToServer::Unmake { entity } => self.unmake_for(host, entity, now),
            ToServer::Give { entity, to } => self.give(host, entity, to, now),
            ToServer::Linked { peer, up } => self.link(host, peer, up, now),
            word @ (ToServer::Moved | ToServer::Stays { .. }) => self.hear_fate(host, from, word, now),
            ToServer::Bye => self.leave(host, "it said farewell", now),
        }
    }

    /// A connection is gone. Its player's place is kept for a while.
    pub fn handle_disconnected(&mut self, connection: Connection, now: Instant) {
        self.guests.remove(&connection);
        if let Some(host) = self.connections.get(&connection).copied() {
            self.disconnect(connection, host, now);
        }
    }

    fn disconnect(&mut self, connection: Connection, host: HostId, now: Instant) {
        tracing::debug!(connection = connection.0, host = host.0, "connection lost");
        self.connections.remove(&connection);
        self.forget_held(connection);
        if let Some(member) = self.members.get_mut(&host) {
            member.connection = None;
            self.lost.insert(host, now);
            self.tell_application(HubEvent::Lost { host });
        }
        let _ = self.sender.remove_receiver(host);
        self.elect();
    }

    /// Sends a player away, for good, with a reason. Answers whether it was here.
    pub fn send_away(&mut self, host: HostId, why: &str, now: Instant) -> bool {
        match self.members.get(&host).map(|member| member.connection) {
            Some(Some(connection)) => self.expel(connection, why, now),
            Some(None) => self.leave(host, why, now),
            None => return false,
        }
        true
    }

    pub(super) fn let_go_of_the_lost(&mut self, now: Instant) {
        // While the session moves nobody is where it was, and nobody is missed for it.
        if self.is_moving() {
            return;
        }
        let within = self.config.rejoin_within;
        let gone = |lost: &Instant| now.since(*lost) >= within;
        let late: Vec<_> = self.lost.iter().filter(|(_, lost)| gone(lost)).map(|(host, _)| *host).collect();
        for host in late {
            self.leave(host, "its connection was lost", now);
        }
    }

    /// A player leaves for good, and takes what it owns with it.
    pub(super) fn leave(&mut self, host: HostId, why: &str, now: Instant) {
        let Some(member) = self.members.remove(&host) else { return };
        self.lost.remove(&host);
        if let Some(connection) = member.connection {
            self.connections.remove(&connection);
            self.forget_held(connection);
            self.outgoing.push_back(Outgoing { to: connection, what: What::Close(why.to_owned()) });
        }
        tracing::info!(host = host.0, name = ?member.name, why, "left");
        self.config.gate.released(&member.pass);
        self.tally.forget(host);
        self.bequeath(host, now);
        self.judged.retain(|(_, judged), _| *judged != host);
        let _ = self.receiver.remove_sender(host);
        let _ = self.sender.remove_receiver(host);
        for other in self.members.values_mut() {
            other.linked.remove(&host);
        }
        self.tell_all(&ToPlayer::Left { host, why: why.to_owned() });
        self.elect();
        self.tell_application(HubEvent::Left { host, why: why.to_owned() });
    }

    pub(super) fn tell_others(&mut self, host: HostId, message: &ToPlayer) {
        let others = self.connections.iter().filter(|(_, other)| **other != host).map(|(c, _)| *c);
        for to in others.collect::<Vec<_>>() {
            self.say(to, message);
        }
    }
}

//! The game's own messages: the server's to its players, and the players' to the server and to each other.
//!
//! There is one [`Levels`] for each player. What a player sends for others is handed out here and sent anew, at the same level, to
//! whoever it is for: who has a bad connection waits for its own repetitions and for nobody else's.

use super::{Connection, Hub, HubEvent, Outgoing, What};
use crate::levels::{self, Envelope, Level, LevelError, LevelLimits, Levels, Party};
use crate::protocol::SERVER;
use evenkeel::{HostId, Instant};

/// So many bytes of one player's messages are kept until it has acknowledged them, each counted with 64 more.
const MAX_KEPT: usize = 512 * 1024;

impl Hub {
    /// Sends a message of the game to one player. Whoever has lost the connection gets what must arrive when it is back; whoever is
    /// not here misses it. An error changes nothing.
    ///
    /// For each player so much is kept until it has acknowledged it: 512 KiB, and 4,096 messages. Beyond that there is
    /// [no room](LevelError::Full) for it, and for it alone: what was sent before still arrives.
    pub fn send(&mut self, to: HostId, level: Level, bytes: Vec<u8>, now: Instant) -> Result<(), LevelError> {
        if self.is_moving() {
            return Err(LevelError::Moving);
        }
        self.post(to, level, Envelope::to(SERVER, bytes), now)
    }

    /// Sends a message of the game to all players who are here. An error changes nothing.
    ///
    /// ```
    /// use evenkeel::Instant;
    /// use evenkeel_net::hub::{Hub, HubConfig};
    /// use evenkeel_net::levels::{Level, LevelError};
    ///
    /// let mut hub = Hub::new(HubConfig::default())?;
    /// let now = Instant::from_millis(5);
    /// assert_eq!(hub.broadcast(Level::Quickest, b"the flag is taken", now), Ok(()));
    /// let long = hub.broadcast(Level::Quickest, &[0; 5_000], now);
    /// assert_eq!(long, Err(LevelError::TooLong { length: 5_000, longest: 1_073 }));
    /// # Ok::<(), evenkeel::ConfigError>(())
    /// ```
    ///
    /// A `Quickest` message goes `Unordered` to a player who has not acknowledged too many others: nobody waits for the slowest. Whoever
    /// there is [no room](Self::send) for misses it, which is [counted](super::HubCounts::undelivered).
    pub fn broadcast(&mut self, level: Level, bytes: &[u8], now: Instant) -> Result<(), LevelError> {
        if self.is_moving() {
            return Err(LevelError::Moving);
        }
        let (length, longest) = (bytes.len(), self.level_limits().longest(level));
        if length > longest {
            return Err(LevelError::TooLong { length, longest });
        }
        self.pass_to_all_but(SERVER, level, bytes, now);
        Ok(())
    }

    /// One player's messages: what happened to them so far, and what waits.
    pub fn levels(&self, host: HostId) -> Option<&Levels> {
        self.members.get(&host).map(|member| &member.levels)
    }

    /// How much is held for each player. All that must arrive may go at once when it comes back: that and the welcome fit into what
    /// waits for a socket.
    pub(super) fn level_limits(&self) -> LevelLimits {
        let (max_datagram, queued_bytes) = (self.config.max_datagram, MAX_KEPT);
        LevelLimits { max_datagram, queued_bytes, ..LevelLimits::default() }
    }

    /// Something arrived that was sent to be reliable and unordered.
    pub fn handle_unordered(&mut self, from: Connection, bytes: &[u8], now: Instant) {
        let Some(host) = self.connections.get(&from).copied() else {
            if self.guests.contains_key(&from) {
                self.expel(from, "it did not say hello", now);
            }
            return;
        };
        match self.may_say(host, bytes, now) {
            true if self.hold(from, false, bytes, now) => {}
            true => self.take_unordered(host, from, bytes, now),
            false => self.expel(from, "it sends too many messages", now),
        }
    }

    pub(super) fn take_unordered(&mut self, host: HostId, from: Connection, bytes: &[u8], now: Instant) {
        self.take(host, from, now, |levels| levels.handle_unordered(bytes));
    }

    /// Whether a player may say that too. Acknowledgements are as many as others make it send: they count like datagrams, as long as
    /// those are not too many themselves.
    pub(super) fn may_say(&mut self, host: HostId, bytes: &[u8], now: Instant) -> bool {
        let Some(member) = self.members.get_mut(&host) else { return false };
        if levels::is_acknowledgement(bytes) {
            return member.datagrams.take(now) || member.messages.take(now);
        }
        member.messages.take(now) && member.bytes.take_many(bytes.len(), now)
    }

    /// A message of the game arrived in order. It has been counted.
    pub(super) fn take_ordered(&mut self, host: HostId, from: Connection, bytes: &[u8], now: Instant) {
        self.take(host, from, now, |levels| levels.handle_ordered(bytes));
    }

    fn take(
        &mut self,
        host: HostId,
        from: Connection,
        now: Instant,
        handle: impl FnOnce(&mut Levels) -> Result<(), LevelError>,
    ) {
        let Some(member) = self.members.get_mut(&host) else { return };
        match handle(&mut member.levels) {
            Ok(()) => {
                self.hand_out(host, from, now);
                self.collect(host, now);
            }
            Err(error) => self.expel(from, &error.to_string(), now),
        }
    }

    /// A datagram of the game arrived: whether it could be used.
    pub(super) fn take_datagram(&mut self, host: HostId, from: Connection, bytes: &[u8], now: Instant) -> bool {
        let Some(member) = self.members.get_mut(&host) else { return false };
        let used = member.levels.handle_datagram(bytes, now).is_ok();
        self.hand_out(host, from, now);
        self.collect(host, now);
        used
    }

    /// Passes on what a player's messages have become.
    fn hand_out(&mut self, host: HostId, from: Connection, now: Instant) {
        loop {
            let Some(member) = self.members.get_mut(&host) else { return };
            let Some((level, Envelope { party, bytes })) = member.levels.poll_message() else { return };
            if member.pass.watches_only() {
                return self.expel(from, "it may only watch, and sent a message", now);
            }
            self.tally.message_received(level);
            let Some(member) = self.members.get_mut(&host) else { return };
            // Many may come in one datagram: they count as what they are.
            if level == Level::Quickest && !member.messages.take(now) {
                return self.expel(from, "it sends too many messages", now);
            }
            match party {
                Party::Host(SERVER) => self.tell_application(HubEvent::Message { from: host, level, bytes }),
                Party::Host(to) => self.pass(to, level, Envelope::to(host, bytes), now),
                Party::Everybody => self.pass_to_all_but(host, level, &bytes, now),
            }
        }
    }

    fn pass_to_all_but(&mut self, from: HostId, level: Level, bytes: &[u8], now: Instant) {
        let others: Vec<HostId> = self.members.keys().copied().filter(|other| *other != from).collect();
        for to in others {
            self.pass(to, level, Envelope::to(from, bytes.to_vec()), now);
        }
    }

    /// Sends something that nobody can be told about if it fails.
    fn pass(&mut self, to: HostId, level: Level, envelope: Envelope, now: Instant) {
        let spare = (level == Level::Quickest).then(|| envelope.clone());
        let passed = match (self.post(to, level, envelope, now), spare) {
            (Err(LevelError::Full), Some(spare)) => {
                self.counts.slowed += 1;
                self.post(to, Level::Unordered, spare, now)
            }
            (passed, _) => passed,
        };
        self.counts.undelivered += u64::from(passed.is_err());
    }

    fn post(&mut self, to: HostId, level: Level, envelope: Envelope, now: Instant) -> Result<(), LevelError> {
        // What must arrive waits for whoever has lost its connection.
        let waits = matches!(level, Level::Ordered | Level::Unordered | Level::Quickest);
        if let Some(member) = self.members.get_mut(&to).filter(|member| member.connection.is_some() || waits) {
            member.levels.send(level, envelope, now)?;
            self.tally.message_sent(level);
            self.collect(to, now);
        }
        Ok(())
    }

    /// Collects what is to be sent to a player: at once, so that it keeps its place among what the hub itself says.
    pub(super) fn collect(&mut self, host: HostId, now: Instant) {
        let Some(member) = self.members.get_mut(&host) else { return };
        let Some(to) = member.connection else { return };
        while let Some(out) = member.levels.poll_transmit(now) {
            let what = match out {
                levels::Outgoing::Ordered(bytes) => What::Message(bytes),
                levels::Outgoing::Unordered(bytes) => What::Unordered(bytes),
                levels::Outgoing::Datagram(bytes) => What::Datagram(bytes),
            };
            self.outgoing.push_back(Outgoing { to, what });
        }
        if member.levels.poll_timeout().is_some() {
            self.talking.insert(host);
        }
    }

    /// A datagram of so many bytes goes to a player: lets `Quickest` messages go along.
    pub(super) fn go_along(&mut self, to: Connection, beside: usize, now: Instant) {
        let room = self.config.max_datagram.saturating_sub(beside);
        let member = self.connections.get(&to).and_then(|host| self.members.get_mut(host));
        let along = member.and_then(|member| member.levels.ride_along(now, room));
        if let Some(bytes) = along {
            self.outgoing.push_back(Outgoing { to, what: What::Datagram(bytes) });
        }
    }

    /// What is due for players without company.
    pub(super) fn poll_messages(&mut self, now: Instant) -> Option<Outgoing> {
        let due = |hub: &Self, host: &HostId| hub.message_timeout(*host).is_some_and(|due| due <= now);
        let late: Vec<HostId> = self.talking.iter().copied().filter(|host| due(self, host)).collect();
        late.into_iter().for_each(|host| self.collect(host, now));
        let Self { talking, members, .. } = self;
        let talks = |host: &HostId| members.get(host).is_some_and(|member| member.levels.poll_timeout().is_some());
        talking.retain(talks);
        self.outgoing.pop_front()
    }

    /// When something is due for somebody.
    pub(super) fn messages_timeout(&self) -> Option<Instant> {
        self.talking.iter().filter_map(|host| self.message_timeout(*host)).min()
    }

    /// A player who has lost its connection is waited for in silence.
    fn message_timeout(&self, host: HostId) -> Option<Instant> {
        let member = self.members.get(&host).filter(|member| member.connection.is_some())?;
        member.levels.poll_timeout()
    }
}

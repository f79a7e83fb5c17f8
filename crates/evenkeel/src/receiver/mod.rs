//! The receiver: everybody else's half of the state machine.
//!
//! Like the [`Sender`](crate::Sender) it has getters ([`place`](Receiver::place) above all), commands, `handle_*` and
//! `poll_*`, and neither clock nor socket. [`place`](Receiver::place) is a pure function of time: call it at any rate.

mod agreement;
mod config;
mod early;
mod report;
mod smoothing;
mod source;
mod tombstones;
mod track;

pub use config::{Beyond, ReceiverConfig};
pub use report::{Handled, PlaceError, Placement, ReceiverError, ReceiverEvent, Refusals, Refused};
pub use smoothing::Smoothing;

use crate::ClockRule;
use crate::delay::PathEstimate;
use crate::events::Events;
use crate::ids::{EntityId, HostId};
use crate::lag::{Lag, LagChange};
use crate::motion::{Motion, State};
use crate::path::Piece;
use crate::sender::{ConfigError, Handover, Transmit};
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{
    Acknowledged, Content, Cursor, DatagramError, Digest, KIND_ACKNOWLEDGEMENT, KIND_AGREEMENT, LEAST_RECORD_BITS,
    Record, Stamp, Taken, VectorsHeader, end, slot_ticks,
};
use crate::wire::{AGREEMENT_BYTES, Agreement, BitReader, Quantised};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use early::Waiting;
use hashbrown::HashMap;
use source::{Novelty, Source};
use tombstones::Tombstones;
use track::{Inserted, Known, Track};

/// A receipt of one entry always fits in this many bytes.
const LEAST_RECEIPT: usize = 64;

/// Owns what this host owns itself.
const NOBODY: HostId = HostId(u32::MAX);

/// What became of one record.
enum Applied {
    Newest,
    Ignored,
    Refused,
}

/// Turns datagrams into places. See the [module](self).
///
/// ```
/// use evenkeel::{EntityId, GlobalTime, HostId, PlaceError, Receiver, ReceiverConfig, wire::Agreement};
///
/// let mut receiver = Receiver::new(ReceiverConfig::default())?;
/// let now = GlobalTime::ZERO;
/// receiver.add_sender(HostId(0), Agreement::default(), now)?;
/// // receiver.handle_datagram(HostId(0), &bytes, now)?;
/// assert_eq!(receiver.place(EntityId(7), now), Err(PlaceError::Unknown(EntityId(7))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Receiver {
    config: ReceiverConfig,
    lag: Lag,
    sources: Vec<Source>,
    source_index: HashMap<HostId, usize>,
    tracks: Vec<Track>,
    track_index: HashMap<EntityId, usize>,
    grants: HashMap<EntityId, (HostId, u32)>,
    updated: VecDeque<EntityId>,
    /// Entities that were retired and are shown a little longer.
    leaving: Vec<EntityId>,
    tombstones: Tombstones,
    events: Events<ReceiverEvent>,
    /// The records of the datagram being read: all of it is checked before any of it is used.
    records: Vec<Record>,
    buffer: Vec<u8>,
    /// Datagrams refused so far.
    refused: Refusals,
    now: GlobalTime,
    clock_uncertainty: Duration,
}

impl Receiver {
    /// A receiver that has heard of nothing yet.
    pub fn new(config: ReceiverConfig) -> Result<Self, ConfigError> {
        let lag = Lag::constant(config.placing.lag).map_err(ConfigError::Lag)?;
        if config.placing.max_age <= Duration::ZERO {
            return Err(ConfigError::Negative("max_age"));
        }
        if config.history.is_negative() {
            return Err(ConfigError::Negative("history"));
        }
        Ok(Self {
            lag,
            // An agreement must always fit, and a receipt of one entry does then too.
            buffer: vec![0; config.max_datagram.max(AGREEMENT_BYTES)],
            config,
            sources: Vec::new(),
            source_index: HashMap::new(),
            tracks: Vec::new(),
            track_index: HashMap::new(),
            grants: HashMap::new(),
            updated: VecDeque::new(),
            leaving: Vec::new(),
            tombstones: Tombstones::default(),
            events: Events::new(),
            records: Vec::new(),
            refused: Refusals::default(),
            now: GlobalTime::MIN,
            clock_uncertainty: Duration::ZERO,
        })
    }

    /// Where to show an entity at a global time. Pure: call it as often as you like, for any time from the last datagram on,
    /// or a little before.
    pub fn place(&self, entity: EntityId, at: GlobalTime) -> Result<Placement, PlaceError> {
        let track = self.track(entity).ok_or(PlaceError::Unknown(entity))?;
        let shown = self.lag.shown(at);
        if track.gone.is_some_and(|gone| gone <= shown) {
            return Err(PlaceError::Unknown(entity));
        }
        let (mut state, smoothing_error, known) =
            track.at(shown, self.config.smoothing).ok_or_else(|| missing(track))?;
        let frozen = known.piece.is_frozen(shown);
        if frozen && self.config.beyond == Beyond::Hide {
            return Err(PlaceError::TooOld(entity));
        }
        if let Some(constraint) = &self.config.constraint {
            constraint.constrain(entity, &mut state);
        }
        let State { position, velocity, attitude } = state;
        let age = shown.since(known.piece.epoch);
        let uncertainty = track.usual_jump + velocity.length() * self.clock_uncertainty.as_secs_f64();
        Ok(Placement { position, velocity, attitude, age, uncertainty, smoothing_error, frozen })
    }

    /// Where an entity was at a time of the session, by all that is known by now: not what was shown then, but what should have
    /// been. With it a verdict that waits a little is hardly ever wrong: decide about a moment when what it depends on has arrived.
    ///
    /// A player aims at what is shown, so that with lag the moment to ask about is the shown time of the shot, and it is so much
    /// longer ago: with a lag no shorter than the delay there is nothing to wait for. [`heard_until`](Self::heard_until) says
    /// whether what a moment depends on has arrived; of moments after that the answer is an extrapolation.
    ///
    /// It reaches back as far as [`ReceiverConfig::history`], also for entities that have gone since: whoever leaves does not
    /// dodge. It needs vectors that are extrapolated from their generation ([`ClockRule::Global`](crate::ClockRule)).
    ///
    /// ```
    /// # use evenkeel::*;
    /// # let receiver = Receiver::new(ReceiverConfig::default())?;
    /// # let (target, now) = (EntityId(7), GlobalTime::from_millis(5_000));
    /// // Somebody fired 220 ms ago. Deliveries take up to 200 ms: by now it is known where the target was.
    /// let fired = now - Duration::from_millis(220);
    /// let aimed_at = receiver.lag().shown(fired);
    /// match receiver.recall(target, aimed_at) {
    ///     Ok(state) => println!("it was at {:?}", state.position),
    ///     Err(PlaceError::Unknown(_) | PlaceError::Gone { .. }) => println!("there was nothing to hit"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recall(&self, entity: EntityId, at: GlobalTime) -> Result<State, PlaceError> {
        let track = self.track_index.get(&entity).map(|slot| &self.tracks[*slot]);
        let track = track.filter(|track| track.newest().is_some()).ok_or(PlaceError::Unknown(entity))?;
        if let Some(since) = track.gone.filter(|since| *since <= at) {
            return Err(PlaceError::Gone { entity, since });
        }
        let mut state = track.recall(at).ok_or_else(|| missing(track))?;
        if let Some(constraint) = &self.config.constraint {
            constraint.constrain(entity, &mut state);
        }
        Ok(state)
    }

    /// The time of a sender's newest datagram: what it generated up to then has arrived, but for what got lost or is overtaken.
    pub fn heard_until(&self, sender: HostId) -> Option<GlobalTime> {
        self.source(sender)?.newest_sent
    }

    /// How long things wait before they are shown.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// Vectors that were given up before their time had come, because too many of one entity waited.
    pub fn vectors_given_up(&self) -> u64 {
        self.tracks.iter().map(|track| track.given_up).sum()
    }

    /// The newest vector of an entity by generation: what a relay passes on.
    pub fn newest(&self, entity: EntityId) -> Option<(GlobalTime, Motion)> {
        let track = self.track(entity)?;
        let format = &self.source(track.owner)?.format;
        track.newest().map(|known| (format.time_of(known.quantised.tick()), known.piece.motion))
    }

    /// All entities that are here.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.tracks.iter().filter(|t| t.is_here()).map(|t| t.id)
    }

    /// Who owns an entity.
    pub fn owner(&self, entity: EntityId) -> Option<HostId> {
        self.track(entity).map(|track| track.owner)
    }

    /// What is known about the way to a sender, from the receiver's own round trips.
    pub fn path(&self, sender: HostId) -> Option<&PathEstimate> {
        self.source(sender).map(|source| &source.path)
    }

    /// Receipts that were given up because the sender confirmed none for very long.
    pub fn receipts_given_up(&self, sender: HostId) -> u64 {
        self.source(sender).map_or(0, Source::receipts_given_up)
    }

    /// How many of a sender's datagrams were refused, by cause.
    pub fn refusals(&self, sender: HostId) -> Refusals {
        self.source(sender).map_or(Refusals::default(), |source| source.refusals)
    }

    /// The same over all senders, those that were removed included.
    pub fn all_refusals(&self) -> Refusals {
        self.refused
    }

    /// The records of the last datagram, as they were decoded: for checks against what was written. Empty if it was refused, had come
    /// before, or was no datagram with vectors.
    pub fn last_records(&self) -> &[Record] {
        &self.records
    }

    /// Events that were given up because nobody polled for them.
    pub fn events_dropped(&self) -> u64 {
        self.events.dropped()
    }

    /// Listens to another sender. What it holds to be agreed ([`Sender::agreement`](crate::Sender::agreement)) must be what this
    /// receiver was set up with, but for the format, which is the sender's own.
    pub fn add_sender(&mut self, host: HostId, agreement: Agreement, now: GlobalTime) -> Result<(), ReceiverError> {
        agreement.format.validate().map_err(ReceiverError::Format)?;
        if let Some(difference) = self.agreement(&agreement.format).difference(&agreement) {
            return Err(ReceiverError::Disagreement(difference));
        }
        if self.source_index.contains_key(&host) {
            return Err(ReceiverError::DuplicateSender(host));
        }
        if self.sources.len() >= self.config.max_senders {
            return Err(ReceiverError::TooManySenders { limit: self.config.max_senders });
        }
        self.advance(now)?;
        self.source_index.insert(host, self.sources.len());
        self.sources.push(Source::new(host, &agreement, now));
        Ok(())
    }

    /// Forgets a sender and everything it owns.
    pub fn remove_sender(&mut self, host: HostId) -> Result<(), ReceiverError> {
        let index = self.source_index.remove(&host).ok_or(ReceiverError::UnknownSender(host))?;
        self.sources.swap_remove(index);
        if let Some(moved) = self.sources.get(index) {
            self.source_index.insert(moved.host, index);
        }
        for index in (0..self.tracks.len()).rev() {
            if self.tracks[index].owner == host {
                self.forget_track(index);
            }
        }
        Ok(())
    }

    /// Says who owns an entity, or speaks for its owner, and in which epoch: nobody else is believed. With [`ReceiverConfig::require_grants`]
    /// entities without a grant are ignored; what an owner says up to a second too early is taken in with its grant.
    pub fn grant(&mut self, entity: EntityId, owner: HostId, epoch: u32) {
        self.grants.insert(entity, (owner, epoch));
        let Some(&index) = self.source_index.get(&owner) else { return };
        if let Some((record, received)) = self.sources[index].early.take(entity, epoch, self.now) {
            self.apply(index, &record, received, received);
        }
    }

    /// Whom an entity is granted to.
    #[inline]
    pub fn granted(&self, entity: EntityId) -> Option<HostId> {
        self.grants.get(&entity).map(|(owner, _)| *owner)
    }

    /// Withdraws a grant.
    pub fn revoke(&mut self, entity: EntityId) {
        self.grants.remove(&entity);
    }

    /// What another owner needs to take an entity over, as far as it is known here: for entities whose owner has vanished.
    /// An owner that is still there gives a better one, by [`Sender::release_entity`](crate::Sender::release_entity).
    pub fn handover(&self, entity: EntityId) -> Option<Handover> {
        let epoch = self.track(entity)?.epoch.checked_add(1)?;
        Some(Handover { entity, epoch, motion: self.newest(entity) })
    }

    /// Shows an entity as its hand-over describes it until its next owner speaks: for the host that has just released it,
    /// and so has heard nothing of it from others.
    pub fn await_owner(&mut self, handover: &Handover, owner: HostId, now: GlobalTime) -> Result<(), ReceiverError> {
        let index = *self.source_index.get(&owner).ok_or(ReceiverError::UnknownSender(owner))?;
        self.advance(now)?;
        let Some((generated, motion)) = handover.motion else { return Ok(()) };
        let format = &self.sources[index].format;
        let Ok(quantised) = format.quantise(&motion, generated) else { return Ok(()) };
        self.show(index, NOBODY, &Record::vector(handover.entity, handover.epoch, quantised), &quantised, now);
        Ok(())
    }

    /// Forgets an entity that this host owns from now on, and ignores late words of its owners so far.
    pub fn forget(&mut self, handover: &Handover) {
        let Some(&slot) = self.track_index.get(&handover.entity) else { return };
        let track = &mut self.tracks[slot];
        (track.retired, track.gone, track.leaving) = (Some(i64::MAX), Some(self.now), false);
        track.change_owner(NOBODY, handover.epoch);
        self.tombstones.raise(track, self.now);
    }

    /// Takes an entity's leave, because the game knows that it is gone and its owner's own farewell may not be heard any more:
    /// after [`revoke`](Self::revoke) it would not be believed. Its last moments are still shown where things are shown with lag,
    /// and [`recall`](Self::recall) still knows of it.
    pub fn retire(&mut self, entity: EntityId, now: GlobalTime) -> Result<(), ReceiverError> {
        self.advance(now)?;
        let Some(&slot) = self.track_index.get(&entity) else { return Ok(()) };
        if let Some(tick) = self.tracks[slot].newest().map(|known| known.quantised.tick()) {
            self.take_leave(slot, tick, now);
        }
        Ok(())
    }

    /// Forgets an entity at once, because the game knows that it is gone and no sender will say so. If it is spoken of again, it
    /// appears again: [`revoke`](Self::revoke) its grant where that must not be.
    pub fn discard(&mut self, entity: EntityId) {
        if let Some(&slot) = self.track_index.get(&entity) {
            self.forget_track(slot);
        }
    }

    /// Says how far off the clock may be, for [`Placement::uncertainty`].
    pub fn set_clock_uncertainty(&mut self, uncertainty: Duration) {
        self.clock_uncertainty = uncertainty;
    }

    /// Shows things later, or sooner, from when the change begins, or from now on if that has passed. Nothing runs backwards, and
    /// nothing that was shown changes. Senders must know: [`Sender::set_lag`](crate::Sender::set_lag).
    pub fn set_lag(&mut self, change: LagChange, now: GlobalTime) -> Result<(), ReceiverError> {
        // A lag that cannot be must not move time on either.
        Lag::default().change(change, now).map_err(ReceiverError::Lag)?;
        self.advance(now)?;
        self.lag.change(change, now).map(|_| ()).map_err(ReceiverError::Lag)
    }

    /// Extrapolates what arrives from now on by another rule. Senders must know: [`Sender::set_rule`](crate::Sender::set_rule).
    pub fn set_rule(&mut self, rule: ClockRule) {
        self.config.placing.rule = rule;
    }

    /// Hides jumps in another way from now on.
    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.config.smoothing = smoothing;
    }

    /// Takes in a datagram from a sender. It is checked whole before any of it is used. Datagrams that are refused are
    /// [counted](Self::refusals); if the records of one could not be decoded, the sender is told, and says them again.
    pub fn handle_datagram(&mut self, from: HostId, bytes: &[u8], now: GlobalTime) -> Result<Handled, ReceiverError> {
        let index = *self.source_index.get(&from).ok_or(ReceiverError::UnknownSender(from))?;
        let mut r = BitReader::new(bytes);
        self.records.clear();
        match bytes.first() {
            Some(&KIND_ACKNOWLEDGEMENT) => self.handle_acknowledgement(index, &mut r, now),
            Some(&KIND_AGREEMENT) => self.handle_agreement(index, &mut r, now),
            _ => self.handle_vectors(index, r, now),
        }
    }

    fn handle_acknowledgement(
        &mut self,
        index: usize,
        r: &mut BitReader<'_>,
        now: GlobalTime,
    ) -> Result<Handled, ReceiverError> {
        let (stream, acknowledged) = Acknowledged::parse_alone(r)?;
        self.advance(now)?;
        self.sources[index].confirm(stream, &acknowledged, now);
        self.sources[index].heard(now);
        Ok(Handled::default())
    }

    fn handle_vectors(
        &mut self,
        index: usize,
        mut r: BitReader<'_>,
        now: GlobalTime,
    ) -> Result<Handled, ReceiverError> {
        self.check_time(now)?;
        let source = &self.sources[index];
        let header = VectorsHeader::parse(&mut r, source.known(now));
        let novelty = header.and_then(|header| Ok((header, source.novelty(&header)?)));
        let header = match novelty {
            Ok((header, Novelty::New { .. })) => header,
            Ok((_, Novelty::Duplicate)) => return Ok(Handled { duplicate: true, ..Handled::default() }),
            Err(error) => return Err(self.refuse(index, error, None, now)),
        };
        if let Err(error) = self.read_records(index, &header, r) {
            self.records.clear();
            return Err(self.refuse(index, error, Some(&header), now));
        }
        self.advance(now)?;
        if let Some(acknowledged) = &header.acknowledged {
            self.sources[index].confirm(header.stream.tag(), acknowledged, now);
        }
        let handled = self.apply_records(index, header.sent.time(), now);
        let taken = if handled.refused == 0 { Taken::All } else { Taken::Some };
        self.sources[index].accept(&header, taken, now);
        Ok(handled)
    }

    /// Counts a datagram that is refused, and tells its sender if the header is the sender's own.
    fn refuse(
        &mut self,
        index: usize,
        error: DatagramError,
        header: Option<&VectorsHeader>,
        now: GlobalTime,
    ) -> ReceiverError {
        let source = &mut self.sources[index];
        let error = match header {
            Some(header) if !source.tell_undecoded(header, now) => DatagramError::Foreign,
            _ => error,
        };
        let late = header.is_some_and(|header| source.may_be_late(header, now));
        let cause = if late { Refused::Foreign } else { Refused::from(&error) };
        self.refused.count(cause);
        source.refusals.count(cause);
        let lost_touch = error == DatagramError::Foreign && source.lost_touch(now);
        if lost_touch || matches!(error, DatagramError::Disagreement { .. }) {
            source.ask(now);
        }
        error.into()
    }

    /// Reads all records of a datagram, or refuses all of it.
    fn read_records(
        &mut self,
        index: usize,
        header: &VectorsHeader,
        mut r: BitReader<'_>,
    ) -> Result<(), DatagramError> {
        let mut records = core::mem::take(&mut self.records);
        let result = self.read_records_into(&mut records, index, header, &mut r);
        self.records = records;
        result
    }

    fn read_records_into(
        &self,
        records: &mut Vec<Record>,
        index: usize,
        header: &VectorsHeader,
        r: &mut BitReader<'_>,
    ) -> Result<(), DatagramError> {
        let Source { host, format, .. } = &self.sources[index];
        let mut cursor = Cursor::new(format.tick_of(header.sent.end()));
        let mut digest = Digest::default();
        while r.remaining_bits() >= LEAST_RECORD_BITS {
            let record = Record::parse(format, cursor, r, |name| {
                self.tracks[*self.track_index.get(&name.entity)?].baseline(*host, &name, slot_ticks(format))
            })?;
            digest.add(record.digest());
            cursor = cursor.after(record.entity, record.tick());
            records.push(record);
        }
        end(r)?;
        if header.check_of(digest.value()) == header.check { Ok(()) } else { Err(DatagramError::Check) }
    }

    fn apply_records(&mut self, index: usize, sent: GlobalTime, now: GlobalTime) -> Handled {
        let mut handled = Handled { sent: Some(sent), ..Handled::default() };
        let records = core::mem::take(&mut self.records);
        for record in &records {
            match self.apply(index, record, sent, now) {
                Applied::Newest => handled.vectors += 1,
                Applied::Ignored => handled.ignored += 1,
                Applied::Refused => {
                    handled.refused += 1;
                    self.keep_early(index, Waiting { record: *record, received: now });
                }
            }
        }
        self.records = records;
        handled
    }

    /// The grant may be on its way. Late words of a former owner wait for nothing.
    fn keep_early(&mut self, index: usize, waiting: Waiting) {
        let grant = self.grants.get(&waiting.record.entity);
        if grant.is_none_or(|(_, epoch)| *epoch < waiting.record.epoch) {
            self.sources[index].early.keep(waiting);
        }
    }

    /// Takes in a record of a datagram that was sent, and received, at these times.
    fn apply(&mut self, index: usize, record: &Record, sent: GlobalTime, received: GlobalTime) -> Applied {
        match &record.content {
            Content::Vector(quantised) => self.show(index, self.sources[index].host, record, quantised, received),
            Content::Retired { tick } => self.apply_farewell(index, record, *tick, sent),
        }
    }

    /// Takes in a vector that was received now, or earlier. In either case it is shown from now on, to the stamp.
    fn show(
        &mut self,
        index: usize,
        told_by: HostId,
        record: &Record,
        quantised: &Quantised,
        received: GlobalTime,
    ) -> Applied {
        let from = self.sources[index].host;
        let was_gone = self.track(record.entity).is_none();
        let Some(slot) = self.admit(record, from) else { return Applied::Refused };
        let format = &self.sources[index].format;
        let generated = format.time_of(quantised.tick());
        let placing = &self.config.placing;
        let delay = self.sources[index].path.delay().unwrap_or(Duration::ZERO);
        let epoch = placing.epoch(generated, Stamp::at(received).time(), delay);
        let start = self.lag.takes_effect(epoch, Stamp::at(self.now).time());
        let piece = Piece::new(start, epoch, format.restore(quantised), None).frozen_from(epoch + placing.max_age);
        let since = self.lag.shown(self.now) - self.config.history;
        let track = &mut self.tracks[slot];
        let known = Known::new(told_by, record.epoch, *quantised, generated, piece);
        match track.insert(known, self.config.smoothing, since) {
            Inserted::Newest { .. } => {
                if was_gone {
                    self.events.push(ReceiverEvent::Appeared { entity: record.entity, owner: from });
                }
                if !core::mem::replace(&mut track.updated, true) {
                    self.updated.push_back(record.entity);
                }
                Applied::Newest
            }
            Inserted::Late | Inserted::Known => Applied::Ignored,
            Inserted::Retired => Applied::Refused,
        }
    }

    fn apply_farewell(&mut self, index: usize, record: &Record, tick: i64, sent: GlobalTime) -> Applied {
        let from = self.sources[index].host;
        // Also of an entity not heard of yet: its vectors may still be on their way and must not bring it to life.
        let Some(slot) = self.admit(record, from) else { return Applied::Refused };
        // A vector generated after the farewell means that the entity came back.
        let came_back = self.tracks[slot].newest().is_some_and(|known| known.quantised.tick() > tick);
        if came_back {
            return Applied::Ignored;
        }
        self.take_leave(slot, tick, sent);
        Applied::Newest
    }

    /// What was generated up to a tick is void, and the entity gone since a time, unless it was already.
    fn take_leave(&mut self, slot: usize, tick: i64, since: GlobalTime) {
        let track = &mut self.tracks[slot];
        // A second farewell may overtake the vectors between the two: it holds for them as well.
        let was_here = track.is_here() && track.retired.is_none();
        track.retired = track.retired.max(Some(tick));
        if was_here {
            // Where things are shown with lag it goes with lag too: [`poll_event`](Self::poll_event) says when.
            (track.gone, track.leaving) = (Some(since), true);
            if !self.leaving.contains(&track.id) {
                self.leaving.push(track.id);
            }
        }
        self.tombstones.raise(track, self.now + self.config.history);
    }

    /// The track of an entity that this sender may move; made if need be.
    fn admit(&mut self, record: &Record, from: HostId) -> Option<usize> {
        let entity = record.entity;
        let grant = self.grants.get(&entity);
        let granted = match grant {
            Some(&(owner, epoch)) => owner == from && epoch <= record.epoch,
            None => !self.config.require_grants,
        };
        if !granted {
            self.events.push(ReceiverEvent::NotOwner { entity, from });
            return None;
        }
        if let Some(&slot) = self.track_index.get(&entity) {
            let track = &mut self.tracks[slot];
            if record.epoch > track.epoch {
                let shown = track.is_here();
                track.change_owner(from, record.epoch);
                if shown {
                    self.events.push(ReceiverEvent::OwnerChanged { entity, owner: from });
                }
            } else if record.epoch < track.epoch {
                // Late words of a former owner: nothing to report.
                return None;
            } else if track.owner != from && grant.is_some() {
                // Somebody else speaks for the same owner: the way to it has changed.
                track.change_owner(from, record.epoch);
            } else if track.owner != from {
                self.events.push(ReceiverEvent::NotOwner { entity, from });
                return None;
            }
            return Some(slot);
        }
        if self.tracks.len() >= self.config.max_entities {
            let Some(tombstone) = self.tracks.iter().position(|t| !t.is_here()) else {
                self.events.push(ReceiverEvent::TooManyEntities { entity });
                return None;
            };
            self.forget_track(tombstone);
        }
        self.track_index.insert(entity, self.tracks.len());
        self.tracks.push(Track::new(entity, from, record.epoch));
        Some(self.tracks.len() - 1)
    }

    fn forget_track(&mut self, index: usize) {
        let gone = self.tracks.swap_remove(index);
        self.track_index.remove(&gone.id);
        if let Some(moved) = self.tracks.get(index) {
            self.track_index.insert(moved.id, index);
        }
        if gone.updated {
            self.updated.retain(|id| *id != gone.id);
        }
        if gone.leaving {
            self.leaving.retain(|id| *id != gone.id);
        }
    }

    /// The next receipt to send, if any: call it until it answers `None`. The bytes are valid until the next call.
    pub fn poll_transmit(&mut self, now: GlobalTime) -> Option<Transmit<'_>> {
        self.now = self.now.max(now);
        if let Some(index) = self.sources.iter().position(|source| source.meeting.owed.is_some()) {
            return self.write_agreement(index);
        }
        let (interval, terms) = (self.config.receipt_interval, self.terms());
        let source = self.sources.iter_mut().find(|s| s.receipt_due(interval).is_some_and(|due| due <= now))?;
        // The buffer may be longer, for an agreement.
        let most = self.config.max_datagram.max(LEAST_RECEIPT);
        let length = source.write_receipt(terms, &mut self.buffer[..most], now)?;
        Some(Transmit { to: source.host, bytes: &self.buffer[..length] })
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) and [`poll_event`](Self::poll_event) again if nothing else
    /// happens before.
    pub fn poll_timeout(&self) -> Option<GlobalTime> {
        let interval = self.config.receipt_interval;
        let receipts = self.sources.iter().filter_map(|s| s.receipt_due(interval));
        let silence = self.sources.iter().filter(|s| !s.silent).map(|s| s.last_heard + self.config.silent_after);
        let gone = |entity: &EntityId| self.track(*entity)?.gone;
        let leaving = self.leaving.iter().filter_map(gone).map(|gone| gone + self.lag.at(self.now));
        let agreements = self.sources.iter().filter(|s| s.meeting.owed.is_some()).map(|_| self.now);
        receipts.chain(silence).chain(leaving).chain(agreements).min()
    }

    /// The next entity that has got a new vector since it was last asked about.
    pub fn poll_updated(&mut self) -> Option<EntityId> {
        let entity = self.updated.pop_front()?;
        if let Some(&slot) = self.track_index.get(&entity) {
            self.tracks[slot].updated = false;
        }
        Some(entity)
    }

    /// The next thing the application may want to know.
    pub fn poll_event(&mut self, now: GlobalTime) -> Option<ReceiverEvent> {
        for source in &mut self.sources {
            if !source.silent && now.since(source.last_heard) >= self.config.silent_after {
                source.silent = true;
                self.events.push(ReceiverEvent::SenderSilent { sender: source.host });
            }
        }
        self.let_leave(now);
        self.events.pop()
    }

    /// Entities whose last moment has been shown are gone.
    fn let_leave(&mut self, now: GlobalTime) {
        let shown = self.lag.shown(now);
        let Self { leaving, tracks, track_index, events, .. } = self;
        leaving.retain(|entity| {
            let track = track_index.get(entity).map(|slot| &mut tracks[*slot]);
            let Some(track) = track.filter(|track| track.leaving) else { return false };
            track.leaving = track.gone.is_some_and(|gone| gone > shown);
            if !track.leaving {
                events.push(ReceiverEvent::Retired { entity: *entity });
            }
            track.leaving
        });
    }

    /// The track of an entity that is here.
    fn track(&self, entity: EntityId) -> Option<&Track> {
        let track = &self.tracks[*self.track_index.get(&entity)?];
        track.is_here().then_some(track)
    }

    fn source(&self, host: HostId) -> Option<&Source> {
        Some(&self.sources[*self.source_index.get(&host)?])
    }

    /// Time may only go forward.
    fn check_time(&self, now: GlobalTime) -> Result<(), ReceiverError> {
        if now < self.now {
            return Err(ReceiverError::TimeWentBackwards { by: self.now.since(now) });
        }
        Ok(())
    }

    fn advance(&mut self, now: GlobalTime) -> Result<(), ReceiverError> {
        self.check_time(now)?;
        self.now = now;
        self.let_leave(now);
        while let Some(slot) = self.tombstones.fallen(now, &mut self.tracks, &self.track_index) {
            self.forget_track(slot);
        }
        Ok(())
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("senders", &self.sources.len())
            .field("entities", &self.tracks.len())
            .finish_non_exhaustive()
    }
}

/// Why a track has no answer for a time.
fn missing(track: &Track) -> PlaceError {
    if track.forgot { PlaceError::Forgotten(track.id) } else { PlaceError::NotYet(track.id) }
}

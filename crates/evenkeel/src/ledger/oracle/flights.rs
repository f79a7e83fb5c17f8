//! The vectors of one entity on their way to one receiver, or arrived there.

use crate::ids::VectorNumber;
use crate::lag::Lag;
use crate::time::{Duration, GlobalTime};
use alloc::collections::VecDeque;

/// One vector on its way to one receiver, or arrived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) generated: GlobalTime,
    pub(crate) sent: GlobalTime,
    /// When it arrived, once that is known.
    pub(crate) arrival: GlobalTime,
    pub(crate) vector: VectorNumber,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    InFlight,
    Arrived,
    Lost,
}

/// What was sent and has not been forgotten, in the order of sending.
///
/// There may be a hundred and more, so nothing looks at all of them. Nothing takes effect before it is sent, which tells where to stop
/// looking for what was shown at a time; and vectors nearly always leave in the order of their numbers. The last few are what nearly
/// everything is about: they are kept in place and short, so that going through the pairs of a receiver means going through memory in
/// order.
#[derive(Debug)]
pub(crate) struct Flights {
    /// The newer ones begin here.
    since: GlobalTime,
    recent: [Recent; RECENT],
    /// All that were sent before those.
    older: VecDeque<Flight>,
    /// How many of all are in flight.
    open: u32,
    /// How many recent ones there are.
    count: u8,
    /// Whether no vector was sent after a newer one.
    ordered: bool,
}

/// More flights than this are never kept per entity and receiver, however long the history asked for.
pub(super) const MAX_FLIGHTS: usize = 4_096;

/// So many flights are kept in place.
const RECENT: usize = 7;
/// So many of them become old at a time.
const AGED: usize = 4;
/// So many old ones at either end are looked at one by one.
const NEAR: usize = 12;

/// A flight in half the space, in nanoseconds. What lasts longer than four seconds does not fit.
#[derive(Clone, Copy, Debug)]
struct Recent {
    vector: VectorNumber,
    /// Since when the recent ones begin.
    sent: u32,
    /// How much earlier it was generated.
    lead: u32,
    /// How much later it arrived; or that it did not.
    delay: u32,
}

/// Nanoseconds, if they are few.
#[inline]
fn short(span: Duration) -> Option<u32> {
    u32::try_from(span.as_nanos()).ok()
}

const OPEN: u32 = u32::MAX;
const LOST: u32 = u32::MAX - 1;

impl Recent {
    #[inline]
    fn new(flight: &Flight, since: GlobalTime) -> Option<Self> {
        let delay = match flight.fate {
            Fate::InFlight => OPEN,
            Fate::Lost => LOST,
            Fate::Arrived => short(flight.arrival.since(flight.sent)).filter(|delay| *delay < LOST)?,
        };
        let (sent, lead) = (short(flight.sent.since(since))?, short(flight.sent.since(flight.generated))?);
        Some(Self { vector: flight.vector, sent, lead, delay })
    }

    #[inline]
    fn flight(self, since: GlobalTime) -> Flight {
        let span = |nanos: u32| Duration::from_nanos(i64::from(nanos));
        let sent = since + span(self.sent);
        let (fate, delay) = match self.delay {
            OPEN => (Fate::InFlight, 0),
            LOST => (Fate::Lost, 0),
            delay => (Fate::Arrived, delay),
        };
        Flight { generated: sent - span(self.lead), sent, arrival: sent + span(delay), vector: self.vector, fate }
    }
}

impl Flights {
    pub(crate) const fn new() -> Self {
        // Only the first `count` mean anything.
        let unused = Recent { vector: VectorNumber::FIRST, sent: 0, lead: 0, delay: 0 };
        Self {
            since: GlobalTime::MIN,
            recent: [unused; RECENT],
            older: VecDeque::new(),
            open: 0,
            count: 0,
            ordered: true,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, vector: VectorNumber, generated: GlobalTime, sent: GlobalTime) {
        if self.count as usize == RECENT {
            self.age(AGED);
        }
        let last = match self.recent().last() {
            Some(last) => Some(last.vector),
            None => self.older.back().map(|last| last.vector),
        };
        self.ordered &= last.is_none_or(|last| last <= vector);
        self.open += 1;
        let flight = Flight { generated, sent, arrival: sent, vector, fate: Fate::InFlight };
        if self.count == 0 {
            self.since = sent;
        }
        match Recent::new(&flight, self.since) {
            Some(recent) => {
                self.recent[self.count as usize] = recent;
                self.count += 1;
            }
            None => self.push_alone(flight),
        }
    }

    /// What does not fit beside the recent ones begins anew, or counts as old at once.
    #[cold]
    fn push_alone(&mut self, flight: Flight) {
        self.age(self.count as usize);
        self.since = flight.sent;
        match Recent::new(&flight, self.since) {
            Some(recent) => (self.recent[0], self.count) = (recent, 1),
            None => self.older.push_back(flight),
        }
    }

    /// The first recent ones are no longer recent.
    fn age(&mut self, aged: usize) {
        let since = self.since;
        if self.older.capacity() - self.older.len() < aged {
            // Not twice as much as before, nor ever more than there can be: there are as many of these as there are pairs.
            let most = (MAX_FLIGHTS - AGED).saturating_sub(self.older.len());
            self.older.reserve_exact((self.older.len() / 2).max(AGED).min(most).max(aged));
        }
        for recent in &self.recent[..aged] {
            self.older.push_back(recent.flight(since));
        }
        self.drop_recent(aged);
    }

    fn drop_recent(&mut self, dropped: usize) {
        let count = self.count as usize;
        self.recent.copy_within(dropped..count, 0);
        self.count -= dropped as u8;
        // Those that stay begin with the first of them.
        let first = if self.count > 0 { self.recent[0].sent } else { 0 };
        self.recent[..count - dropped].iter_mut().for_each(|recent| recent.sent -= first);
        self.since += Duration::from_nanos(i64::from(first));
    }

    fn recent(&self) -> &[Recent] {
        &self.recent[..self.count as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.older.len() + self.count as usize
    }

    /// Whether one sent at a time takes more memory.
    #[inline]
    pub(crate) fn would_grow(&self, sent: GlobalTime) -> bool {
        let aged = match self.count as usize {
            RECENT => AGED,
            count if short(sent.since(self.since)).is_none() => count,
            _ => return false,
        };
        self.older.len() + aged > self.older.capacity()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one sent last.
    pub(crate) fn last(&self) -> Option<Flight> {
        self.iter_back().next()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<Flight> {
        match index.checked_sub(self.older.len()) {
            None => self.older.get(index).copied(),
            Some(index) => self.recent().get(index).map(|recent| recent.flight(self.since)),
        }
    }

    /// All of them, the one sent last first.
    fn iter_back(&self) -> impl Iterator<Item = Flight> + '_ {
        let recent = self.recent().iter().rev().map(|recent| recent.flight(self.since));
        recent.chain(self.older.iter().rev().copied())
    }

    /// All of them in the order of sending, from an index on.
    fn iter_from(&self, first: usize) -> impl Iterator<Item = Flight> + '_ {
        let old = self.older.len();
        let recent = self.recent().get(first.saturating_sub(old)..).unwrap_or_default();
        self.older.range(first.min(old)..).copied().chain(recent.iter().map(|recent| recent.flight(self.since)))
    }

    /// Where the flight of a vector sent at a time is. Receipts speak of what was sent lately.
    #[inline]
    pub(crate) fn position(&self, vector: VectorNumber, sent: GlobalTime) -> Option<usize> {
        if let Ok(sent) = u32::try_from(sent.since(self.since).as_nanos()) {
            if let Some(index) = self.recent().iter().rposition(|f| f.vector == vector && f.sent == sent) {
                return Some(self.older.len() + index);
            }
        }
        let lately = self.older.iter().rev().take_while(|f| f.sent >= sent);
        let back = lately.enumerate().find(|(_, f)| f.vector == vector && f.sent == sent);
        back.map(|(i, _)| self.older.len() - 1 - i)
    }

    /// It became known when a flight arrived.
    #[inline]
    pub(crate) fn arrived(&mut self, index: usize, arrival: GlobalTime) {
        let recent = index.checked_sub(self.older.len()).and_then(|index| self.recent.get_mut(index));
        if let Some(recent) = recent {
            let sent = self.since + Duration::from_nanos(i64::from(recent.sent));
            if let Some(delay) = short(arrival.since(sent)).filter(|delay| *delay < LOST) {
                self.open -= u32::from(recent.delay == OPEN);
                recent.delay = delay;
                return;
            }
            self.age(self.count as usize);
        }
        self.set_older(index, Fate::Arrived, arrival);
    }

    /// A flight counts as lost.
    pub(crate) fn lost(&mut self, index: usize) {
        let recent = index.checked_sub(self.older.len()).and_then(|index| self.recent.get_mut(index));
        match recent {
            Some(recent) => {
                self.open -= u32::from(recent.delay == OPEN);
                recent.delay = LOST;
            }
            None => self.set_older(index, Fate::Lost, GlobalTime::MAX),
        }
    }

    fn set_older(&mut self, index: usize, fate: Fate, arrival: GlobalTime) {
        if let Some(flight) = self.older.get_mut(index) {
            self.open -= u32::from(flight.fate == Fate::InFlight);
            (flight.fate, flight.arrival) = (fate, arrival);
        }
    }

    /// When the oldest flight without a known fate was sent.
    pub(crate) fn oldest_open(&self) -> Option<GlobalTime> {
        let open = self.iter_back().filter(|f| f.fate == Fate::InFlight);
        open.take(self.open as usize).last().map(|f| f.sent)
    }

    /// The newest vector among those that are not lost; of several flights of it the last.
    pub(crate) fn newest(&self) -> Option<Flight> {
        self.newest_with(|fate| fate != Fate::Lost)
    }

    /// The newest vector among those that arrived; of several flights of it the last.
    pub(crate) fn newest_arrived(&self) -> Option<Flight> {
        self.newest_with(|fate| fate == Fate::Arrived)
    }

    fn newest_with(&self, fits: impl Fn(Fate) -> bool) -> Option<Flight> {
        let mut fitting = self.iter_back().filter(|f| fits(f.fate));
        if self.ordered {
            return fitting.next();
        }
        fitting.reduce(|best, f| if f.vector > best.vector { f } else { best })
    }

    /// The oldest vector among those that are not lost.
    pub(crate) fn oldest(&self) -> Option<VectorNumber> {
        let mut there = self.iter_from(0).filter(|f| f.fate != Fate::Lost).map(|f| f.vector);
        if self.ordered { there.next() } else { there.min() }
    }

    /// How many were sent before a time was shown.
    fn sent_by(&self, t: GlobalTime, lag: &Lag) -> usize {
        let recent = self.recent().iter().take_while(|recent| lag.shown(recent.flight(self.since).sent) <= t).count();
        let old = self.older.len();
        if recent > 0 {
            return old + recent;
        }
        // Books are closed up to nearly now, and what is forgotten is the oldest: looking there first spares a search through all.
        let by_then = |f: &&Flight| lag.shown(f.sent) <= t;
        let last = old.saturating_sub(NEAR);
        if self.older.get(last).as_ref().is_some_and(by_then) {
            return last + self.older.range(last..).take_while(by_then).count();
        }
        if !self.older.get(NEAR).as_ref().is_some_and(by_then) {
            return self.older.iter().take(NEAR).take_while(by_then).count();
        }
        self.older.partition_point(|f| by_then(&f))
    }

    /// The flight whose vector is shown at a shown time, where `start` says from when on each is: the newest vector that has taken
    /// effect by then. One that was sent twice counts from its first arrival.
    pub(crate) fn shown_at(&self, t: GlobalTime, lag: &Lag, start: impl Fn(&Flight) -> GlobalTime) -> Option<usize> {
        self.shown_of(self.sent_by(t, lag), t, start).map(|(index, _)| index)
    }

    /// The same among the first `count`, with its vector.
    fn shown_of(
        &self,
        count: usize,
        t: GlobalTime,
        start: impl Fn(&Flight) -> GlobalTime,
    ) -> Option<(usize, VectorNumber)> {
        let mut best: Option<(usize, VectorNumber, GlobalTime)> = None;
        for index in (0..count).rev() {
            let Some(flight) = self.get(index) else { break };
            let newer = best.is_none_or(|(_, vector, _)| flight.vector > vector);
            let same = best.is_some_and(|(_, vector, _)| flight.vector == vector);
            if self.ordered && !newer && !same {
                break;
            }
            if flight.fate == Fate::Lost {
                continue;
            }
            let begins = start(&flight);
            if begins <= t && (newer || (same && best.is_some_and(|(.., since)| begins <= since))) {
                best = Some((index, flight.vector, begins));
            }
        }
        best.map(|(index, vector, _)| (index, vector))
    }

    /// The flight that takes over from the one at `current` after a shown time: the first of those with a newer vector.
    pub(crate) fn shown_after(
        &self,
        t: GlobalTime,
        current: Option<usize>,
        lag: &Lag,
        start: impl Fn(&Flight) -> GlobalTime,
    ) -> Option<usize> {
        let newer = current.and_then(|index| self.get(index)).map_or(VectorNumber::FIRST, |f| f.vector.next());
        let first = if self.ordered { current.unwrap_or(0) } else { 0 };
        let mut best: Option<(usize, VectorNumber, GlobalTime)> = None;
        for index in first..self.len() {
            let Some(flight) = self.get(index) else { break };
            if flight.fate == Fate::Lost || flight.vector < newer {
                continue;
            }
            if best.is_some_and(|(.., at)| lag.shown(flight.sent) > at) {
                break;
            }
            let begins = start(&flight);
            let sooner = |(_, old, at)| begins < at || (begins == at && flight.vector > old);
            if begins > t && best.is_none_or(sooner) {
                best = Some((index, flight.vector, begins));
            }
        }
        best.map(|(index, ..)| index)
    }

    /// Forgets flights of vectors older than the one shown at a time, but for those whose fate is open.
    pub(crate) fn forget(&mut self, t: GlobalTime, lag: &Lag, start: impl Fn(&Flight) -> GlobalTime) {
        let Some((_, vector)) = self.shown_of(self.sent_by(t, lag), t, start) else { return };
        let past = |f: &Flight| f.vector < vector && f.fate != Fate::InFlight;
        while self.older.front().is_some_and(past) {
            self.older.pop_front();
        }
        if self.older.is_empty() {
            let since = self.since;
            self.drop_recent(self.recent().iter().take_while(|recent| past(&recent.flight(since))).count());
        }
        if !self.ordered || self.iter_from(0).next().is_some_and(|f| f.vector < vector) {
            self.age(self.count as usize);
            self.older.retain(|f| !past(f));
            self.look_anew();
        }
    }

    /// Forgets all but the last `kept`.
    pub(crate) fn keep_last(&mut self, kept: usize) {
        self.age(self.count as usize);
        self.older.drain(..self.older.len().saturating_sub(kept));
        self.look_anew();
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    fn look_anew(&mut self) {
        self.open = self.older.iter().filter(|f| f.fate == Fate::InFlight).count() as u32;
        self.ordered = self.older.iter().zip(self.older.iter().skip(1)).all(|(a, b)| a.vector <= b.vector);
    }
}

//! The vectors of one entity on their way to one receiver, or arrived there.

use crate::lag::Lag;
use crate::time::GlobalTime;
use alloc::collections::VecDeque;

/// One vector on its way to one receiver, or arrived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) generated: GlobalTime,
    pub(crate) sent: GlobalTime,
    /// When it arrived, once that is known.
    pub(crate) arrival: GlobalTime,
    pub(crate) vector: u32,
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
/// looking for what was shown at a time; and vectors nearly always leave in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Flights {
    queue: VecDeque<Flight>,
    /// How many of them are in flight.
    open: u32,
    /// Whether no vector was sent after a newer one.
    ordered: bool,
}

impl Flights {
    pub(crate) const fn new() -> Self {
        Self { queue: VecDeque::new(), open: 0, ordered: true }
    }

    pub(crate) fn push(&mut self, vector: u32, generated: GlobalTime, sent: GlobalTime) {
        self.ordered &= self.last().is_none_or(|last| last.vector <= vector);
        self.open += 1;
        self.queue.push_back(Flight { generated, sent, arrival: sent, vector, fate: Fate::InFlight });
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The one sent last.
    pub(crate) fn last(&self) -> Option<&Flight> {
        self.queue.back()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Flight> {
        self.queue.get(index)
    }

    /// Where the flight of a vector sent at a time is. Receipts speak of what was sent lately.
    pub(crate) fn position(&self, vector: u32, sent: GlobalTime) -> Option<usize> {
        let lately = self.queue.iter().rev().take_while(|f| f.sent >= sent);
        let back = lately.enumerate().find(|(_, f)| f.vector == vector && f.sent == sent);
        back.map(|(i, _)| self.queue.len() - 1 - i)
    }

    /// Something became known about a flight.
    pub(crate) fn set(&mut self, index: usize, fate: Fate, arrival: GlobalTime) {
        if let Some(flight) = self.queue.get_mut(index) {
            self.open -= u32::from(flight.fate == Fate::InFlight);
            self.open += u32::from(fate == Fate::InFlight);
            (flight.fate, flight.arrival) = (fate, arrival);
        }
    }

    /// When the oldest flight without a known fate was sent.
    pub(crate) fn oldest_open(&self) -> Option<GlobalTime> {
        let open = self.queue.iter().rev().filter(|f| f.fate == Fate::InFlight);
        open.take(self.open as usize).last().map(|f| f.sent)
    }

    /// The newest vector among those that are not lost; of several flights of it the last.
    pub(crate) fn newest(&self) -> Option<&Flight> {
        self.newest_with(|fate| fate != Fate::Lost)
    }

    /// The newest vector among those that arrived; of several flights of it the last.
    pub(crate) fn newest_arrived(&self) -> Option<&Flight> {
        self.newest_with(|fate| fate == Fate::Arrived)
    }

    fn newest_with(&self, fits: impl Fn(Fate) -> bool) -> Option<&Flight> {
        let mut fitting = self.queue.iter().filter(|f| fits(f.fate));
        if self.ordered { fitting.next_back() } else { fitting.max_by_key(|f| f.vector) }
    }

    /// The oldest vector among those that are not lost.
    pub(crate) fn oldest(&self) -> Option<u32> {
        let mut there = self.queue.iter().filter(|f| f.fate != Fate::Lost).map(|f| f.vector);
        if self.ordered { there.next() } else { there.min() }
    }

    /// The flight whose vector is shown at a shown time, where `start` says from when on each is: the newest vector that has taken
    /// effect by then. One that was sent twice counts from its first arrival.
    pub(crate) fn shown_at(&self, t: GlobalTime, lag: &Lag, start: impl Fn(&Flight) -> GlobalTime) -> Option<usize> {
        let sent_by_then = self.queue.partition_point(|f| lag.shown(f.sent) <= t);
        let mut best: Option<(usize, u32, GlobalTime)> = None;
        for (index, flight) in self.queue.range(..sent_by_then).enumerate().rev() {
            let newer = best.is_none_or(|(_, vector, _)| flight.vector > vector);
            let same = best.is_some_and(|(_, vector, _)| flight.vector == vector);
            if self.ordered && !newer && !same {
                break;
            }
            if flight.fate == Fate::Lost {
                continue;
            }
            let begins = start(flight);
            if begins <= t && (newer || (same && best.is_some_and(|(.., since)| begins <= since))) {
                best = Some((index, flight.vector, begins));
            }
        }
        best.map(|(index, ..)| index)
    }

    /// The flight that takes over from the one at `current` after a shown time: the first of those with a newer vector.
    pub(crate) fn shown_after(
        &self,
        t: GlobalTime,
        current: Option<usize>,
        lag: &Lag,
        start: impl Fn(&Flight) -> GlobalTime,
    ) -> Option<usize> {
        let vector = current.and_then(|index| self.queue.get(index)).map_or(0, |f| f.vector);
        let first = if self.ordered { current.unwrap_or(0) } else { 0 };
        let mut best: Option<(usize, u32, GlobalTime)> = None;
        for (index, flight) in (first..).zip(self.queue.range(first..)) {
            if flight.fate == Fate::Lost || flight.vector <= vector {
                continue;
            }
            if best.is_some_and(|(.., at)| lag.shown(flight.sent) > at) {
                break;
            }
            let begins = start(flight);
            let sooner = |(_, old, at)| begins < at || (begins == at && flight.vector > old);
            if begins > t && best.is_none_or(sooner) {
                best = Some((index, flight.vector, begins));
            }
        }
        best.map(|(index, ..)| index)
    }

    /// Forgets flights of older vectors, but for those whose fate is open.
    pub(crate) fn forget_before(&mut self, vector: u32) {
        let past = |f: &Flight| f.vector < vector && f.fate != Fate::InFlight;
        while self.queue.front().is_some_and(past) {
            self.queue.pop_front();
        }
        if !self.ordered || self.queue.front().is_some_and(|f| f.vector < vector) {
            self.queue.retain(|f| !past(f));
            self.look_anew();
        }
    }

    /// Forgets all but the last `kept`.
    pub(crate) fn keep_last(&mut self, kept: usize) {
        self.queue.drain(..self.queue.len().saturating_sub(kept));
        self.look_anew();
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    fn look_anew(&mut self) {
        self.open = self.queue.iter().filter(|f| f.fate == Fate::InFlight).count() as u32;
        self.ordered = self.queue.iter().zip(self.queue.iter().skip(1)).all(|(a, b)| a.vector <= b.vector);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.queue.capacity() * size_of::<Flight>()
    }
}

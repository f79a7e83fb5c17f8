//! `Quickest` messages on their way: sent again and again until they are acknowledged.

use super::wire::{self, Acknowledgement};
use super::{Envelope, LevelError, QUICKEST_WINDOW};
use evenkeel::{Duration, Instant};
use std::collections::VecDeque;

/// How long to wait before sending again without company: at least, at most, and at most while nothing is acknowledged.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(100);
const EASED: Duration = Duration::from_millis(250);
/// Datagrams closer than this are mostly lost together: one of them is enough.
const BURST: Duration = Duration::from_millis(5);
/// A round trip until something is known about it.
const USUAL_ROUND_TRIP: Duration = Duration::from_millis(100);
/// What a message costs in memory besides its bytes.
const ENTRY: usize = size_of::<Option<Pending>>();

#[derive(Clone, Debug, PartialEq)]
struct Pending {
    envelope: Envelope,
    /// When it was sent first, and how often.
    first_sent: Option<Instant>,
    times: u64,
}

/// What was put into a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Written {
    pub(super) messages: u64,
    /// Those of them that had been sent before.
    pub(super) again: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeating {
    /// The number of the oldest that is not acknowledged.
    first: u32,
    /// From that one on; `None` for what is acknowledged.
    window: VecDeque<Option<Pending>>,
    bytes: usize,
    most_bytes: usize,
    round_trip: Duration,
    /// Whether somebody else tells the round trip.
    told: bool,
    last_sent: Option<Instant>,
    due: Option<Instant>,
    wait: Duration,
    /// When something was acknowledged last, or began to wait.
    progress: Instant,
}

impl Repeating {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            first: 0,
            window: VecDeque::new(),
            bytes: 0,
            most_bytes,
            round_trip: USUAL_ROUND_TRIP,
            told: false,
            last_sent: None,
            due: None,
            wait: LONGEST,
            progress: Instant::ZERO,
        }
    }

    /// As it was elsewhere. It may all have been sent from there.
    pub(super) fn restore(&mut self, first: u32, envelopes: Vec<Option<Envelope>>, now: Instant) {
        let pending = |envelope| Pending { envelope, first_sent: None, times: 1 };
        self.bytes = envelopes.iter().flatten().map(|envelope| envelope.bytes.len()).sum();
        self.first = first;
        self.window = envelopes.into_iter().map(|some| some.map(pending)).collect();
        self.begin_again(now);
    }

    /// There is another connection: goes on at once.
    pub(super) fn begin_again(&mut self, now: Instant) {
        if !self.window.is_empty() {
            (self.progress, self.wait) = (now, self.usual_wait());
            (self.due, self.last_sent) = (Some(now), None);
        }
    }

    /// The number of the oldest that is not acknowledged.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// From that one on; `None` for what is acknowledged.
    pub(super) fn envelopes(&self) -> impl Iterator<Item = Option<&Envelope>> {
        self.window.iter().map(|slot| slot.as_ref().map(|pending| &pending.envelope))
    }

    pub(super) fn len(&self) -> usize {
        self.window.iter().flatten().count()
    }

    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }

    pub(super) fn set_round_trip(&mut self, round_trip: Duration) {
        (self.round_trip, self.told) = (round_trip.max(Duration::ZERO), true);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes + self.window.len() * ENTRY
    }

    /// How long to wait as long as there are answers.
    fn usual_wait(&self) -> Duration {
        (self.round_trip / 4).clamp(SHORTEST, LONGEST)
    }

    pub(super) fn push(&mut self, envelope: Envelope, now: Instant) -> Result<(), LevelError> {
        let length = envelope.bytes.len();
        let crowded = self.bytes + length > self.most_bytes && self.bytes > 0;
        if self.window.len() >= QUICKEST_WINDOW || crowded {
            return Err(LevelError::Full);
        }
        if self.window.is_empty() {
            (self.progress, self.wait) = (now, self.usual_wait());
        }
        self.bytes += length;
        self.window.push_back(Some(Pending { envelope, first_sent: None, times: 0 }));
        self.due = Some(now);
        Ok(())
    }

    /// Whether nothing is acknowledged that was not sent.
    pub(super) fn check(&self, acknowledgement: Acknowledgement) -> Result<(), LevelError> {
        let Acknowledgement { expected, after } = acknowledgement;
        let distance = i64::from(expected.wrapping_sub(self.first) as i32);
        // The bits say of messages beyond the one that is expected that they have arrived.
        let beyond = if after == 0 { 0 } else { 65 - i64::from(after.leading_zeros()) };
        let sent = self.window.iter().rposition(|slot| !matches!(slot, Some(Pending { times: 0, .. })));
        let sent = sent.map_or(0, |last| last as i64 + 1);
        if distance + beyond <= sent { Ok(()) } else { Err(LevelError::Impossible) }
    }

    /// Takes an acknowledgement that [`check`](Self::check) found possible.
    pub(super) fn acknowledge(&mut self, acknowledgement: Acknowledgement, now: Instant) {
        let Acknowledgement { expected, after } = acknowledgement;
        let distance = i64::from(expected.wrapping_sub(self.first) as i32);
        let arrived = |index: i64| match index - distance {
            ..0 => true,
            0 => false,
            beyond => after.checked_shr(beyond as u32 - 1).is_some_and(|bits| bits & 1 == 1),
        };
        let mut progress = false;
        for index in 0..self.window.len() {
            if !arrived(index as i64) {
                continue;
            }
            if let Some(pending) = self.window[index].take() {
                self.bytes -= pending.envelope.bytes.len();
                self.measure(&pending, now);
                progress = true;
            }
        }
        while let Some(None) = self.window.front() {
            self.window.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        if progress {
            (self.progress, self.wait) = (now, self.usual_wait());
            self.due = if self.window.is_empty() { None } else { self.due };
        }
    }

    /// From the first sending on it never took less than a round trip: shorter is believed at once, longer slowly.
    fn measure(&mut self, pending: &Pending, now: Instant) {
        let Some(sent) = pending.first_sent.filter(|_| !self.told) else { return };
        let took = now.since(sent).clamp(Duration::ZERO, Duration::from_secs(10));
        let longer = (took - self.round_trip) / 8;
        self.round_trip = if took < self.round_trip { took } else { self.round_trip + longer };
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// At one moment everything is sent once: even at the end of time, when nothing is later.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let due = self.due.is_some_and(|due| due <= now);
        due && (self.last_sent != Some(now) || self.has_fresh())
    }

    /// Whether something has never been sent.
    fn has_fresh(&self) -> bool {
        self.window.iter().flatten().any(|pending| pending.times == 0)
    }

    /// It is about to send without company: less and less often if no answer comes for longer than it can take.
    pub(super) fn ease_off(&mut self, now: Instant) {
        if self.is_due(now) && now.since(self.progress) > self.round_trip * 2 {
            self.wait = (self.wait * 2).min(EASED);
        }
    }

    /// Whether it is worth sending again now that a datagram goes anyway.
    pub(super) fn may_go_along(&self, now: Instant) -> bool {
        self.has_fresh() || !self.window.is_empty() && self.last_sent.is_none_or(|last| now.since(last) >= BURST)
    }

    /// Puts as many messages into a datagram as there is room for: those first that were sent least often.
    pub(super) fn write(&mut self, bytes: &mut Vec<u8>, room: usize, now: Instant) -> Written {
        let mut order: Vec<usize> = (0..self.window.len()).filter(|index| self.window[*index].is_some()).collect();
        order.sort_by_key(|index| self.window[*index].as_ref().map(|pending| pending.times));
        let mut written = Written::default();
        let end = bytes.len() + room;
        for index in order {
            let Some(pending) = &mut self.window[index] else { continue };
            let head = if written.messages == 0 { Some(self.first) } else { None };
            if !wire::add_quickest(bytes, end, head, index as u8, &pending.envelope) {
                continue;
            }
            written.messages += 1;
            written.again += u64::from(pending.times > 0);
            pending.times += 1;
            pending.first_sent.get_or_insert(now);
        }
        if written.messages > 0 {
            self.last_sent = Some(now);
            // What has never been sent does not wait.
            self.due = Some(if self.has_fresh() { now } else { now + self.wait });
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::HostId;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    fn short(n: u8) -> Envelope {
        Envelope::to(HostId(0), vec![n; 20])
    }

    #[test]
    fn it_repeats_every_quarter_of_a_round_trip_and_eases_off_without_answers() {
        let mut repeating = Repeating::new(1_000);
        repeating.set_round_trip(Duration::from_millis(100));
        repeating.push(short(1), at(0)).unwrap();
        let mut sent = Vec::new();
        while sent.len() < 14 {
            let now = repeating.due().unwrap();
            repeating.ease_off(now);
            assert_eq!(repeating.write(&mut Vec::new(), 500, now).messages, 1);
            sent.push(now.as_nanos() / 1_000_000);
        }
        assert_eq!(sent, [0, 25, 50, 75, 100, 125, 150, 175, 200, 225, 275, 375, 575, 825]);
    }

    #[test]
    fn those_that_do_not_fit_take_turns() {
        let mut repeating = Repeating::new(1_000);
        (0..3).for_each(|n| repeating.push(short(n), at(0)).unwrap());
        let mut heard = [0; 3];
        for _ in 0..3 {
            let mut bytes = Vec::new();
            assert_eq!(repeating.write(&mut bytes, 60, at(0)).messages, 2);
            (0..3).for_each(|n| heard[n as usize] += usize::from(bytes.windows(20).any(|w| w == [n; 20])));
        }
        assert_eq!(heard, [2; 3]);
    }

    #[test]
    fn only_what_was_sent_can_be_acknowledged() {
        let mut repeating = Repeating::new(1_000);
        (0..3).for_each(|n| repeating.push(short(n), at(0)).unwrap());
        let told = |expected, after| Acknowledgement { expected, after };
        assert_eq!(repeating.check(told(1, 0)), Err(LevelError::Impossible));
        repeating.write(&mut Vec::new(), 500, at(0));
        assert_eq!(repeating.check(told(4, 0)), Err(LevelError::Impossible));
        assert_eq!(repeating.check(told(0, 0b100)), Err(LevelError::Impossible));
        assert_eq!(repeating.check(told(0, 0b10)), Ok(()));
        repeating.acknowledge(told(0, 0b10), at(80));
        assert_eq!((repeating.len(), repeating.round_trip().as_millis()), (2, 80));
        repeating.acknowledge(told(3, 0), at(90));
        assert_eq!((repeating.len(), repeating.due(), repeating.memory_bytes()), (0, None, 0));
        assert_eq!(repeating.check(told(0, 1)), Ok(()), "what comes late is no mistake");
    }
}

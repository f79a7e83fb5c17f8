//! What was decided, when it is announced, and what becomes of it when the past changes.

use super::TimewarpEvent;
use crate::simulation::Tick;
use crate::time::GlobalTime;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

struct Entry<V> {
    tick: Tick,
    /// Decided by the step to the tick, which a replay from that tick does not repeat, or by an operation.
    by_step: bool,
    verdict: V,
    /// When it is announced.
    due: GlobalTime,
    announced: bool,
    /// Whether a replay came to the same verdict.
    confirmed: bool,
}

/// The verdicts of the ticks in the history, in the order in which they were reached.
pub(super) struct Verdicts<V> {
    entries: VecDeque<Entry<V>>,
    /// Those that a replay must confirm.
    doubtful: Vec<Entry<V>>,
    /// Up to when verdicts have been announced.
    announced_until: GlobalTime,
}

impl<V: Clone + PartialEq> Verdicts<V> {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), doubtful: Vec::new(), announced_until: GlobalTime::MIN }
    }

    pub(super) fn add(&mut self, tick: Tick, by_step: bool, verdict: V, due: GlobalTime) {
        self.entries.push_back(Entry { tick, by_step, verdict, due, announced: false, confirmed: false });
    }

    /// Everything after a tick's step, or after its operations too, is to be replayed.
    pub(super) fn doubt_after(&mut self, tick: Tick, operations_stand: bool) {
        let stands = |e: &Entry<V>| e.tick < tick || (e.tick == tick && (e.by_step || operations_stand));
        let start = self.entries.partition_point(stands);
        self.doubtful.clear();
        self.doubtful.extend(self.entries.drain(start..));
    }

    /// After the replay: what was announced already and stands is not announced again; what does not stand is revoked.
    pub(super) fn reconcile(&mut self, mut revoke: impl FnMut(TimewarpEvent<V>)) {
        let Some(first) = self.doubtful.first().map(|entry| entry.tick) else { return };
        let start = self.entries.partition_point(|entry| entry.tick < first);
        for entry in self.entries.range_mut(start..) {
            let from = self.doubtful.partition_point(|old| old.tick < entry.tick);
            let same_tick = self.doubtful.iter_mut().skip(from).take_while(|old| old.tick == entry.tick);
            // Only what was announced needs a successor.
            for old in same_tick {
                if old.announced && !old.confirmed && old.verdict == entry.verdict && !entry.announced {
                    old.confirmed = true;
                    entry.announced = true;
                }
            }
        }
        for old in self.doubtful.drain(..) {
            if old.announced && !old.confirmed {
                revoke(TimewarpEvent::Revoked { tick: old.tick, verdict: old.verdict });
            }
        }
    }

    /// Announces what is due. Late is what should have been announced the last time or earlier.
    pub(super) fn announce(&mut self, now: GlobalTime, mut event: impl FnMut(TimewarpEvent<V>)) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.announced && entry.due <= now) {
            entry.announced = true;
            let late = entry.due <= self.announced_until && entry.due < now;
            event(TimewarpEvent::Decided { tick: entry.tick, verdict: entry.verdict.clone(), late });
        }
        self.announced_until = self.announced_until.max(now);
    }

    pub(super) fn forget_before(&mut self, tick: Tick) {
        while self.entries.front().is_some_and(|entry| entry.tick < tick && entry.announced) {
            self.entries.pop_front();
        }
    }

    pub(super) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.doubtful.capacity()) * size_of::<Entry<V>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn at(millis: i64) -> GlobalTime {
        GlobalTime::from_millis(millis)
    }

    fn announced(verdicts: &mut Verdicts<u32>, now: i64) -> Vec<(u32, bool)> {
        let mut out = vec![];
        verdicts.announce(at(now), |event| {
            if let TimewarpEvent::Decided { verdict, late, .. } = event {
                out.push((verdict, late));
            }
        });
        out
    }

    #[test]
    fn a_verdict_waits_for_its_time_and_is_announced_once() {
        let mut verdicts = Verdicts::new();
        verdicts.add(Tick(1), true, 7, at(50));
        assert_eq!(announced(&mut verdicts, 49), []);
        assert_eq!(announced(&mut verdicts, 50), [(7, false)]);
        assert_eq!(announced(&mut verdicts, 51), []);
    }

    #[test]
    fn of_two_equal_verdicts_one_can_be_revoked() {
        let mut verdicts = Verdicts::new();
        verdicts.add(Tick(1), false, 7, at(0));
        verdicts.add(Tick(1), false, 7, at(0));
        verdicts.add(Tick(1), false, 8, at(90));
        assert_eq!(announced(&mut verdicts, 10), [(7, false), (7, false)]);
        verdicts.doubt_after(Tick(1), false);
        verdicts.add(Tick(1), false, 7, at(0));
        verdicts.add(Tick(1), false, 9, at(5));
        let mut revoked = vec![];
        verdicts.reconcile(|event| revoked.push(event));
        assert_eq!(revoked, [TimewarpEvent::Revoked { tick: Tick(1), verdict: 7 }], "nobody had heard of 8");
        assert_eq!(announced(&mut verdicts, 20), [(9, true)]);
    }

    #[test]
    fn a_step_is_not_doubted_by_a_replay_that_starts_after_it() {
        let mut verdicts = Verdicts::new();
        verdicts.add(Tick(1), true, 7, at(0));
        verdicts.add(Tick(1), false, 8, at(0));
        assert_eq!(announced(&mut verdicts, 10).len(), 2);
        verdicts.doubt_after(Tick(1), false);
        let mut revoked = vec![];
        verdicts.reconcile(|event| revoked.push(event));
        assert_eq!(revoked, [TimewarpEvent::Revoked { tick: Tick(1), verdict: 8 }]);
    }
}

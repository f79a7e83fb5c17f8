//! Saved states, one slot for every so many ticks. Slots are used again, so that their allocations are.

use crate::simulation::Tick;
use alloc::vec::Vec;

/// The state after stepping to a tick, before the operations of the tick, for a number of recent ticks.
pub(super) struct History<T> {
    slots: Vec<T>,
    capacity: i64,
    every: i64,
    /// The first tick that is saved; the others follow at equal distances.
    origin: Tick,
    /// How many have been saved since the origin.
    saved: i64,
}

impl<T: Default> History<T> {
    /// A history that reaches back this many ticks, with one slot for `every` ticks.
    pub(super) fn new(ticks: i64, every: i64, origin: Tick) -> Self {
        // One for the partial interval at either end, since the state before the oldest tick is wanted too.
        let capacity = (ticks + 1) / every + 2;
        Self { slots: Vec::new(), capacity, every, origin, saved: 0 }
    }

    /// Forgets everything; the next tick to be saved is this one.
    pub(super) fn restart(&mut self, origin: Tick) {
        self.origin = origin;
        self.saved = 0;
    }

    /// Where the state of a tick is to be saved, if it is. Whatever was saved for later ticks is forgotten.
    pub(super) fn slot(&mut self, tick: Tick) -> Option<&mut T> {
        let since = tick.0 - self.origin.0;
        if since < 0 || since % self.every != 0 || since / self.every > self.saved {
            return None;
        }
        let number = since / self.every;
        self.saved = number + 1;
        let index = (number % self.capacity) as usize;
        while self.slots.len() <= index {
            self.slots.push(T::default());
        }
        self.slots.get_mut(index)
    }

    /// The newest state that is not after a tick.
    pub(super) fn at_or_before(&self, tick: Tick) -> Option<(Tick, &T)> {
        let number = (tick.0 - self.origin.0).div_euclid(self.every).min(self.saved - 1);
        if number < 0 || number < self.saved - self.capacity {
            return None;
        }
        let slot = self.slots.get((number % self.capacity) as usize)?;
        Some((Tick(self.origin.0 + number * self.every), slot))
    }

    pub(super) fn slots(&self) -> &[T] {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_state_not_after_a_tick_is_found_as_far_back_as_promised() {
        for (ticks, every) in [(1, 1), (4, 1), (10, 3), (10, 4), (3, 7)] {
            let mut history = History::<i64>::new(ticks, every, Tick(-5));
            for now in -5..60 {
                if let Some(slot) = history.slot(Tick(now)) {
                    *slot = now;
                }
                for back in (now - ticks - 1).max(-5)..=now {
                    let (at, slot) = history.at_or_before(Tick(back)).expect("within the history");
                    assert_eq!(at.0, *slot);
                    assert!(at.0 <= back && back - at.0 < every, "{back} from {at} with one every {every}");
                }
                assert!(history.at_or_before(Tick(-6)).is_none());
            }
        }
    }

    #[test]
    fn a_restart_forgets() {
        let mut history = History::<i64>::new(4, 1, Tick(0));
        for tick in 0..9 {
            *history.slot(Tick(tick)).expect("a slot") = tick;
        }
        *history.slot(Tick(6)).expect("a slot") = 60;
        assert_eq!(history.at_or_before(Tick(8)), Some((Tick(6), &60)), "what is saved anew replaces what came after");
        history.restart(Tick(7));
        assert_eq!(history.at_or_before(Tick(8)), None);
        *history.slot(Tick(7)).expect("a slot") = 70;
        assert_eq!(history.at_or_before(Tick(8)), Some((Tick(7), &70)));
        assert_eq!(history.slots().len(), 7, "the slots are used again");
    }
}

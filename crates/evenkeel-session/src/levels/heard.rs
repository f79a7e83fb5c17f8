//! Which messages that must arrive have, whichever connection they came by, and when the other end should be told.

use super::{LevelError, RELIABLE_WINDOW as WINDOW};
use evenkeel::{Duration, Instant};
use std::collections::BTreeSet;

/// The other end is told after so many messages, after so many bytes of them, and after so long.
const EVERY: u32 = 32;
const EVERY_BYTES: usize = 64 * 1024;
const WITHIN: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Heard {
    /// The first that has not arrived, counted in full: numbers on the wire are its lower half.
    expected: i64,
    /// Those after it that have.
    after: BTreeSet<i64>,
    /// What came since the other end was told.
    owed: u32,
    owed_bytes: usize,
    /// When to tell at the latest, once somebody has said what time it is.
    due: Option<Instant>,
}

impl Heard {
    /// As it was elsewhere.
    pub(super) fn restore(expected: u32, after: &[u32]) -> Option<Self> {
        let mut heard = Self { expected: i64::from(expected), ..Self::default() };
        after.iter().try_for_each(|number| heard.is_new(*number).ok()?.then(|| heard.note(*number, 0)))?;
        // There is one way to write it: what is expected has not arrived.
        (heard.expected == i64::from(expected) && heard.after.len() == after.len()).then_some(heard)
    }

    pub(super) fn expected(&self) -> u32 {
        self.expected as u32
    }

    pub(super) fn after(&self) -> impl Iterator<Item = u32> {
        self.after.iter().map(|number| *number as u32)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.after.len() * size_of::<i64>()
    }

    fn in_full(&self, number: u32) -> i64 {
        self.expected + i64::from(number.wrapping_sub(self.expected as u32) as i32)
    }

    /// Whether it has not arrived yet; an error if it cannot be on its way.
    pub(super) fn is_new(&self, number: u32) -> Result<bool, LevelError> {
        let number = self.in_full(number);
        if number - self.expected >= WINDOW as i64 {
            return Err(LevelError::Impossible);
        }
        Ok(number >= self.expected && !self.after.contains(&number))
    }

    /// It has arrived: one that is new.
    pub(super) fn note(&mut self, number: u32, bytes: usize) {
        self.after.insert(self.in_full(number));
        while self.after.remove(&self.expected) {
            self.expected += 1;
        }
        self.owe(bytes);
    }

    /// The other end waits to be told: what comes again has not been acknowledged.
    pub(super) fn owe(&mut self, bytes: usize) {
        self.owed = self.owed.saturating_add(1);
        self.owed_bytes = self.owed_bytes.saturating_add(bytes);
    }

    /// There is another connection: what was told by the one before may not have arrived.
    pub(super) fn begin_again(&mut self) {
        self.owed = self.owed.max(u32::from(self.expected > 0));
    }

    /// When to tell, or to say what time it is.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.owed == 0 { None } else { Some(self.due.unwrap_or(Instant::MIN)) }
    }

    /// Tells what is expected, if it is time to.
    pub(super) fn tell(&mut self, now: Instant) -> Option<u32> {
        if self.owed == 0 {
            return None;
        }
        let due = *self.due.get_or_insert(now + WITHIN);
        if self.owed < EVERY && self.owed_bytes < EVERY_BYTES && now < due {
            return None;
        }
        (self.owed, self.owed_bytes, self.due) = (0, 0, None);
        Some(self.expected as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_new_once_whatever_the_order() {
        let mut heard = Heard { expected: i64::from(u32::MAX) - 1, ..Heard::default() };
        for number in [u32::MAX - 1, 1, u32::MAX, 3, 0, 2] {
            assert_eq!(heard.is_new(number), Ok(true), "{number}");
            heard.note(number, 0);
            assert_eq!(heard.is_new(number), Ok(false), "{number}");
        }
        assert_eq!((heard.expected(), heard.after.len()), (4, 0));
        assert_eq!(heard.is_new(4 + WINDOW as u32), Err(LevelError::Impossible));
    }

    #[test]
    fn the_other_end_is_told_soon_or_after_so_many() {
        let at = Instant::from_millis;
        let mut heard = Heard::default();
        assert_eq!((heard.due(), heard.tell(at(0))), (None, None));
        heard.note(0, 10);
        assert_eq!((heard.tell(at(0)), heard.due()), (None, Some(at(200))));
        assert_eq!((heard.tell(at(200)), heard.due()), (Some(1), None));
        (1..=EVERY).for_each(|number| heard.note(number, 10));
        assert_eq!(heard.tell(at(201)), Some(33));
    }

    #[test]
    fn only_what_can_be_is_restored() {
        assert!(Heard::restore(7, &[9, 11]).is_some_and(|heard| heard.after().eq([9, 11])));
        for wrong in [&[7][..], &[6], &[9, 9], &[7 + WINDOW as u32]] {
            assert_eq!(Heard::restore(7, wrong), None, "{wrong:?}");
        }
    }
}

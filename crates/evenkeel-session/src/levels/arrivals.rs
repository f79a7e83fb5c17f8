//! Which `Quickest` messages have arrived, and what of that the other end should be told.

use super::wire::{Acknowledgement, Quick};
use super::{LevelError, QUICKEST_WINDOW};
use evenkeel::{Duration, Instant};

/// How long an acknowledgement waits for a datagram to go along with.
const PATIENCE: Duration = Duration::from_millis(5);
/// So many datagrams tell of an arrival: if all are lost the message comes again, and so does its acknowledgement.
const TELLINGS: u8 = 3;

#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Arrivals {
    /// The first that has not arrived.
    expected: u32,
    /// Those after it that have: bit 0 is for the next.
    after: u64,
    /// So many datagrams are still to tell of it.
    owed: u8,
    /// When to tell without company, if nothing was told since something came.
    due: Option<Instant>,
    told: Option<Instant>,
}

impl Arrivals {
    /// As it was elsewhere.
    pub(super) fn restore(&mut self, expected: u32, after: u64) {
        (self.expected, self.after) = (expected, after);
    }

    /// There is another connection: what was told by the one before may not have arrived.
    pub(super) fn begin_again(&mut self) {
        self.owed = if self.expected == 0 && self.after == 0 { 0 } else { TELLINGS };
    }

    /// Whether all of a datagram may be on its way.
    pub(super) fn check(&self, quick: &Quick<'_>) -> Result<(), LevelError> {
        let ahead = |offset: u8| quick.first.wrapping_add(u32::from(offset)).wrapping_sub(self.expected) as i32;
        let possible = quick.messages.iter().all(|message| ahead(message.offset) < QUICKEST_WINDOW as i32);
        if possible { Ok(()) } else { Err(LevelError::Impossible) }
    }

    pub(super) fn has(&self, number: u32) -> bool {
        match number.wrapping_sub(self.expected) as i32 {
            ..0 => true,
            0 => false,
            ahead => self.after >> (ahead - 1).min(63) & 1 == 1,
        }
    }

    /// It has arrived: one that [`check`](Self::check) found possible.
    pub(super) fn note(&mut self, number: u32) {
        match number.wrapping_sub(self.expected) as i32 {
            0 => {
                let gapless = self.after.trailing_ones();
                self.expected = self.expected.wrapping_add(gapless + 1);
                self.after = self.after.checked_shr(gapless + 1).unwrap_or(0);
            }
            ahead @ 1..64 => self.after |= 1 << (ahead - 1),
            _ => {}
        }
    }

    /// Something came, for the first time or again: the other end waits to be told.
    pub(super) fn owe(&mut self, now: Instant) {
        self.owed = TELLINGS;
        self.due.get_or_insert(now + PATIENCE);
    }

    pub(super) fn owes(&self) -> bool {
        self.owed > 0
    }

    pub(super) fn acknowledgement(&self) -> Acknowledgement {
        Acknowledgement { expected: self.expected, after: self.after }
    }

    /// The other end is being told.
    pub(super) fn acknowledged(&mut self, now: Instant) {
        (self.owed, self.due, self.told) = (self.owed.saturating_sub(1), None, Some(now));
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Whether it is worth telling now that a datagram goes anyway: those of one burst are lost together.
    pub(super) fn may_go_along(&self, now: Instant) -> bool {
        self.due.is_some() || self.owes() && self.told.is_none_or(|told| now.since(told) >= PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_knows_exactly_what_has_come(start in any::<u32>(), steps in prop::collection::vec(0u32..64, 1..300)) {
            let mut arrivals = Arrivals { expected: start, ..Arrivals::default() };
            let mut come = BTreeSet::new();
            for step in steps {
                let number = arrivals.expected.wrapping_add(step);
                prop_assert_eq!(arrivals.has(number), come.contains(&number));
                if come.insert(number) {
                    arrivals.note(number);
                }
                prop_assert!(arrivals.has(number) && !come.contains(&arrivals.expected));
                for bit in 0..64 {
                    let number = arrivals.expected.wrapping_add(bit + 1);
                    prop_assert_eq!(arrivals.after >> bit & 1 == 1, come.contains(&number));
                }
            }
        }
    }
}

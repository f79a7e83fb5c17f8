//! What vectors are charged: one each, or their bytes.

use super::Budget;

/// Bytes per vector as long as nothing is known, headers and acknowledgements included, and for how many vectors that counts.
const FIRST_BYTES: f64 = 20.0;
const FIRST_VECTORS: f64 = 8.0;
/// The mean is over about so many vectors.
const REMEMBERED: f64 = 100.0;
/// No vector takes more than a datagram.
const MOST_BYTES: f64 = 1_500.0;
/// A budget in bytes is overdrawn by the income of so many seconds at most, or by so many vectors to everybody if that is more.
/// Beyond that, what nobody may refuse is free: a crowd that joins must not silence everything else.
const DEBT: f64 = 1.0;
const DEBT_VECTORS: f64 = 2.0;

/// What vectors cost in the unit of a budget: one each, or the bytes they take.
///
/// How many bytes a vector takes is known once its datagram is made. So a vector is charged the mean of late, and
/// [`reconcile`](Self::reconcile) compares what was charged with what was sent: headers, acknowledgements, repetitions and first
/// vectors count too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charges {
    in_bytes: bool,
    /// Vectors and bytes sent up to the last reconciliation.
    sent: Option<(u64, u64)>,
    /// What was charged since then.
    charged: f64,
    /// Vectors and bytes of late.
    vectors: f64,
    bytes: f64,
}

impl Charges {
    /// Charges in the unit of a budget.
    pub(super) fn new(budget: Budget) -> Self {
        let (vectors, bytes) = (FIRST_VECTORS, FIRST_BYTES * FIRST_VECTORS);
        Self { in_bytes: budget.is_in_bytes(), sent: None, charged: 0.0, vectors, bytes }
    }

    /// Returns what one vector is charged.
    pub(super) fn cost(&self) -> f64 {
        if self.in_bytes { (self.bytes / self.vectors).clamp(1.0, MOST_BYTES) } else { 1.0 }
    }

    /// Charges so many vectors, and returns what they cost.
    pub(super) fn charge(&mut self, vectors: f64) -> f64 {
        let cost = vectors * self.cost();
        self.charged += cost;
        cost
    }

    /// Returns by how much what was sent exceeds what was charged since the last time, given all vectors and bytes sent so far.
    /// Nothing as long as no more was sent: what was charged may be about to go out. Vectors are never off.
    pub(super) fn reconcile(&mut self, (vectors, bytes): (u64, u64)) -> f64 {
        if !self.in_bytes {
            return 0.0;
        }
        let (vectors_before, bytes_before) = self.sent.replace((vectors, bytes)).unwrap_or((vectors, bytes));
        let vectors = vectors.saturating_sub(vectors_before) as f64;
        let bytes = bytes.saturating_sub(bytes_before) as f64;
        if bytes == 0.0 {
            return 0.0;
        }
        // Acknowledgements alone are charged, but say nothing about vectors.
        if vectors > 0.0 {
            let keep = libm::exp(-vectors / REMEMBERED);
            (self.vectors, self.bytes) = (self.vectors * keep + vectors, self.bytes * keep + bytes);
        }
        bytes - core::mem::take(&mut self.charged)
    }

    /// Returns what is left of a bucket of tokens once what was sent is [reconciled](Self::reconcile). `rate` is what comes in per
    /// second, for so many receivers.
    pub(super) fn settle(&mut self, tokens: f64, sent: (u64, u64), rate: f64, receivers: f64) -> f64 {
        if !self.in_bytes {
            return tokens;
        }
        let left = tokens - self.reconcile(sent);
        left.max(-(DEBT * rate).max(DEBT_VECTORS * receivers * self.cost()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_reconciled_with_what_was_charged() {
        let mut charges = Charges::new(Budget::BytesPerSecond(1e3));
        assert_eq!(charges.reconcile((5, 500)), 0.0, "what was sent before does not count");
        let mut charged = charges.charge(2.0);
        assert_eq!((charged, charges.reconcile((5, 500))), (2.0 * FIRST_BYTES, 0.0), "it has not left yet");
        charged += charges.reconcile((7, 590));
        assert_eq!(charged, 90.0);
        assert_eq!(charges.reconcile((7, 602)), 12.0, "an acknowledgement");
        for i in 1..=500 {
            charges.reconcile((7 + i, 602 + 45 * i));
        }
        assert!((charges.cost() - 45.0).abs() < 0.5, "{}", charges.cost());
    }

    #[test]
    fn vectors_cost_one_each() {
        let mut charges = Charges::new(Budget::PerSecondEach(1e3));
        assert_eq!((charges.charge(3.0), charges.reconcile((7, 590)), charges.cost()), (3.0, 0.0, 1.0));
    }

    /// A crowd joins: its first vectors are paid for, but not by a silence without end.
    #[test]
    fn the_debt_for_what_nobody_may_refuse_is_small() {
        let mut charges = Charges::new(Budget::BytesPerSecond(1e3));
        assert_eq!(charges.settle(10.0, (0, 0), 1e3, 3.0), 10.0);
        assert_eq!(charges.settle(10.0, (0, 500), 1e3, 3.0), -490.0);
        assert_eq!(charges.settle(10.0, (10_000, 100_500), 1e3, 3.0), -1e3);
        assert_eq!(Charges::new(Budget::PerSecond(1.0)).settle(-9.0, (7, 7), 1.0, 1.0), -9.0);
    }

    #[test]
    fn no_vector_costs_more_than_a_datagram() {
        let mut charges = Charges::new(Budget::BytesPerSecond(1e3));
        charges.reconcile((0, 0));
        charges.reconcile((1, 1 << 40));
        assert_eq!(charges.cost(), MOST_BYTES);
    }
}

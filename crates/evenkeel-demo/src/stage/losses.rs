//! What share of what is sent to a receiver gets lost.

use std::collections::VecDeque;

/// Losses are rare: they are counted over so many seconds.
const OVER: usize = 10;
/// For so many seconds the sender may not know yet how long a receipt takes, and think lost what is under way.
const SETTLES: usize = 10;

/// One receiver's losses since the last change.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    host: u32,
    age: usize,
    /// Vectors and losses so far, by second, newest last.
    past: VecDeque<(u64, u64)>,
    last: u64,
}

impl Losses {
    /// So many vectors were sent so far to a host, and so many datagrams lost. Answers the share that got lost, once it is
    /// known. Most datagrams carry one vector.
    pub(super) fn second(&mut self, host: u32, vectors: u64, lost: u64) -> Option<f64> {
        // Who comes back is counted anew.
        if self.host != host || vectors < self.last {
            *self = Self { host, ..Self::default() };
        }
        (self.age, self.last) = (self.age + 1, vectors);
        if self.age < SETTLES {
            return None;
        }
        let since = self.past.front().copied();
        self.past.push_back((vectors, lost));
        while self.past.len() > OVER {
            self.past.pop_front();
        }
        let (vectors, lost) = since.map(|since| (vectors - since.0, lost.saturating_sub(since.1)))?;
        (vectors > 0).then(|| (lost as f64 / vectors as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_settled_counts() {
        let mut losses = Losses::default();
        for second in 1..=10 {
            assert_eq!(losses.second(7, 20 * second, 10 * second.min(3)), None, "at first all seems lost");
        }
        for second in 11..=20 {
            assert_eq!(losses.second(7, 20 * second, 30), Some(0.0), "and then nothing is");
        }
        assert_eq!(losses.second(7, 420, 50), Some(0.1), "20 of 200");
        assert_eq!(losses.second(7, 20, 50), None, "it came back");
        assert!((2..=10).all(|second| losses.second(7, 20 * second, 50).is_none()));
        assert_eq!(losses.second(7, 220, 60), Some(0.5));
        assert_eq!(losses.second(8, 240, 60), None, "another one");
    }
}

//! Tells a clock that was set from a path that became faster from a stray packet.
//!
//! A packet may be as slow as it likes, but one that is faster than the floor says something has changed. A single one
//! is not believed: it is kept out of the hull and pings go out fast. What the exchanges sent *after* it say decides,
//! because an exchange that was under way when a clock was set mixes the times before and after.

use super::hull::Estimate;

/// Undercutting the floor by less than this is taken as a better sample.
const SLACK: f64 = 1e6;
/// So many consistent exchanges prove a step.
const PROOF: usize = 3;
/// So many exchanges that fit, or that agree on a lower floor, end a suspicion.
const CLEARED: u32 = 2;

/// The four times of an exchange as two points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exchange {
    /// The ping's number, which tells before from after even if the host's clock was set.
    pub(super) sequence: u32,
    /// When the ping left.
    pub(super) sent: f64,
    /// When the pong arrived.
    pub(super) received: f64,
    /// The offset seen on the way up, too high by its delay.
    pub(super) up: f64,
    /// The offset seen on the way down, too low by its delay.
    pub(super) down: f64,
}

impl Exchange {
    fn offset(&self) -> f64 {
        (self.up + self.down) / 2.0
    }

    fn round_trip(&self) -> f64 {
        self.up - self.down
    }
}

/// What to do with an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Use it.
    Fits,
    /// Leave it out for now.
    Suspicious,
    /// A clock was set: begin again with the suspects.
    Stepped,
}

/// Keeps watch over what enters the hull.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// The first ping to be sent after the first suspicious packet arrived, if there is a suspicion.
    since: Option<u32>,
    suspects: [Exchange; PROOF],
    count: usize,
    faster: u32,
    fits: u32,
}

impl Guard {
    pub(super) fn new() -> Self {
        Self { since: None, suspects: [Exchange::default(); PROOF], count: 0, faster: 0, fits: 0 }
    }

    /// Whether something has been seen that does not fit and is not explained yet.
    pub(super) fn is_suspicious(&self) -> bool {
        self.since.is_some()
    }

    /// Judges an exchange by the present estimate, if there is one to trust. `next` is the number of the next ping.
    pub(super) fn judge_exchange(&mut self, exchange: &Exchange, estimate: Option<&Estimate>, next: u32) -> Verdict {
        let Some(estimate) = estimate else { return Verdict::Fits };
        let tolerance = tolerance(estimate, exchange.received);
        let luck = estimate.luck_up.max(estimate.luck_down);
        let undercut = estimate.floor - exchange.round_trip();
        let off = (exchange.offset() - estimate.offset_at(exchange.received)).abs();
        if off > undercut.abs() / 2.0 + tolerance + luck {
            return self.suspect_step(exchange, estimate.floor, tolerance + luck, next);
        }
        let fits = !undercuts_up(exchange.sent, exchange.up, estimate, tolerance)
            && !undercuts_down(exchange.received, exchange.down, estimate, tolerance);
        let Some(since) = self.since else {
            if !fits {
                self.begin(next);
                return Verdict::Suspicious;
            }
            return Verdict::Fits;
        };
        if is_after(exchange.sequence, since) {
            if fits {
                self.fits += 1;
            } else {
                self.faster += 1;
            }
        }
        let cleared = self.fits >= CLEARED || self.faster >= CLEARED;
        if cleared {
            self.clear();
        }
        if fits || cleared { Verdict::Fits } else { Verdict::Suspicious }
    }

    /// Whether a point on the way up may enter the hull.
    pub(super) fn admits_up(&mut self, at: f64, seen: f64, estimate: Option<&Estimate>, next: u32) -> bool {
        self.admits(at, next, estimate, |estimate, tolerance| undercuts_up(at, seen, estimate, tolerance))
    }

    /// Whether a point on the way down may enter the hull.
    pub(super) fn admits_down(&mut self, at: f64, seen: f64, estimate: Option<&Estimate>, next: u32) -> bool {
        self.admits(at, next, estimate, |estimate, tolerance| undercuts_down(at, seen, estimate, tolerance))
    }

    /// The exchanges that proved a step, and an end to the suspicion.
    pub(super) fn acquit(&mut self) -> ([Exchange; PROOF], usize) {
        let proof = (self.suspects, self.count);
        self.clear();
        proof
    }

    fn admits(
        &mut self,
        at: f64,
        next: u32,
        estimate: Option<&Estimate>,
        undercuts: impl Fn(&Estimate, f64) -> bool,
    ) -> bool {
        let Some(estimate) = estimate else { return true };
        if !undercuts(estimate, tolerance(estimate, at)) {
            return true;
        }
        if self.since.is_none() {
            self.begin(next);
        }
        false
    }

    /// Counts an exchange that contradicts the estimate by itself.
    fn suspect_step(&mut self, exchange: &Exchange, floor: f64, tolerance: f64, next: u32) -> Verdict {
        let Some(since) = self.since else {
            self.begin(next);
            return Verdict::Suspicious;
        };
        if !is_after(exchange.sequence, since) {
            return Verdict::Suspicious;
        }
        let room = |exchange: &Exchange| (exchange.round_trip() - floor).abs() / 2.0;
        let agrees =
            |other: &Exchange| (exchange.offset() - other.offset()).abs() <= room(exchange) + room(other) + tolerance;
        if !self.suspects[..self.count].iter().all(agrees) {
            self.count = 0;
        }
        self.fits = 0;
        self.suspects[self.count] = *exchange;
        self.count += 1;
        if self.count == PROOF { Verdict::Stepped } else { Verdict::Suspicious }
    }

    fn begin(&mut self, next: u32) {
        self.clear();
        self.since = Some(next);
    }

    fn clear(&mut self) {
        *self = Self::new();
    }
}

/// Whether this ping or a later one was the first of a suspicion.
fn is_after(sequence: u32, since: u32) -> bool {
    sequence.wrapping_sub(since) as i32 >= 0
}

/// What may be put down to time having passed at this moment.
fn tolerance(estimate: &Estimate, at: f64) -> f64 {
    SLACK + estimate.skew_uncertainty * (at - estimate.at).max(0.0)
}

/// Whether a packet up was faster than half the smallest round trip.
fn undercuts_up(at: f64, seen: f64, estimate: &Estimate, tolerance: f64) -> bool {
    seen < estimate.offset_at(at) + estimate.floor / 2.0 - tolerance - estimate.luck_up
}

/// Whether a packet down was faster than half the smallest round trip.
fn undercuts_down(at: f64, seen: f64, estimate: &Estimate, tolerance: f64) -> bool {
    seen > estimate.offset_at(at) - estimate.floor / 2.0 + tolerance + estimate.luck_down
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn estimate() -> Estimate {
        Estimate {
            at: 0.0,
            offset: 0.0,
            skew: 0.0,
            uncertainty: 0.1 * MS,
            bound: 20.0 * MS,
            floor: 40.0 * MS,
            luck_up: 0.2 * MS,
            luck_down: 0.2 * MS,
            high: 20.0 * MS,
            low: -20.0 * MS,
            skew_uncertainty: 1e-6,
        }
    }

    /// An exchange whose ways took these times while the offset was this, all in ms.
    fn exchange(sequence: u32, offset: f64, up: f64, down: f64) -> Exchange {
        Exchange { sequence, sent: 0.0, received: (up + down) * MS, up: (offset + up) * MS, down: (offset - down) * MS }
    }

    fn judge(guard: &mut Guard, exchange: &Exchange, next: u32) -> Verdict {
        guard.judge_exchange(exchange, Some(&estimate()), next)
    }

    #[test]
    fn slow_exchanges_fit_however_slow_and_lopsided() {
        let mut guard = Guard::new();
        for (up, down) in [(20.0, 20.0), (500.0, 20.0), (20.0, 2000.0), (19.9, 20.1)] {
            assert_eq!(judge(&mut guard, &exchange(0, 0.0, up, down), 1), Verdict::Fits);
        }
    }

    #[test]
    fn three_consistent_exchanges_after_the_first_prove_a_step() {
        let mut guard = Guard::new();
        assert_eq!(judge(&mut guard, &exchange(4, -500.0, 20.0, 20.0), 6), Verdict::Suspicious);
        assert_eq!(judge(&mut guard, &exchange(5, -500.0, 20.0, 20.0), 7), Verdict::Suspicious); // under way already
        assert_eq!(judge(&mut guard, &exchange(6, -500.0, 20.0, 24.0), 8), Verdict::Suspicious);
        assert_eq!(judge(&mut guard, &exchange(7, -500.0, 29.0, 20.0), 9), Verdict::Suspicious);
        assert_eq!(judge(&mut guard, &exchange(8, -500.0, 20.0, 20.0), 9), Verdict::Stepped);
        assert_eq!(guard.acquit().1, 3);
    }

    #[test]
    fn a_stray_exchange_is_forgotten() {
        let mut guard = Guard::new();
        for stray in 0..10 {
            let next = 3 * stray + 1;
            assert_eq!(judge(&mut guard, &exchange(next - 1, 700.0, 20.0, 20.0), next), Verdict::Suspicious);
            for sequence in [next, next + 1] {
                assert_eq!(judge(&mut guard, &exchange(sequence, 0.0, 20.0, 20.0), next + 2), Verdict::Fits);
            }
        }
    }

    #[test]
    fn a_faster_path_is_believed_when_confirmed() {
        let mut guard = Guard::new();
        assert_eq!(judge(&mut guard, &exchange(0, 0.0, 10.0, 10.0), 1), Verdict::Suspicious);
        assert_eq!(judge(&mut guard, &exchange(1, 0.0, 10.0, 10.0), 2), Verdict::Suspicious);
        assert_eq!(judge(&mut guard, &exchange(2, 0.0, 10.0, 10.0), 3), Verdict::Fits);
    }

    #[test]
    fn one_way_packets_that_are_too_fast_stay_out() {
        let (mut guard, estimate) = (Guard::new(), estimate());
        assert!(guard.admits_down(0.0, -30.0 * MS, Some(&estimate), 0));
        assert!(!guard.admits_down(0.0, 480.0 * MS, Some(&estimate), 0));
        assert!(guard.admits_up(0.0, 20.0 * MS, Some(&estimate), 0));
        assert!(!guard.admits_up(0.0, -480.0 * MS, Some(&estimate), 0));
        assert!(guard.admits_up(0.0, -480.0 * MS, None, 0));
    }
}

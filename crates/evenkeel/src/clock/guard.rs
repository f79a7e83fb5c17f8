//! Tells a clock that was set from a path that became faster from a stray packet.
//!
//! A packet may be as slow as it likes, but one that is faster than the floor says something has changed. A single one
//! is not believed: it is kept out of the hull and pings go out fast. What the exchanges sent *after* it say decides,
//! because an exchange that was under way when a clock was set mixes the times before and after.

use super::hull::Estimate;

/// Undercutting the floor by less than this is taken as a better sample.
const SLACK: f64 = 1e6;
/// The skew may be off by this much while no packets arrive.
const SKEW_DOUBT: f64 = 5e-6;
/// So many consistent exchanges prove a step.
const PROOF: usize = 3;
/// So many exchanges that fit, or that agree on a lower floor, end a suspicion.
const CLEARED: u32 = 2;

/// The four times of an exchange as two points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exchange {
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
    /// When the first suspicious thing arrived, if there is a suspicion.
    since: Option<f64>,
    suspects: [Exchange; PROOF],
    count: usize,
    faster: u32,
    fits: u32,
}

impl Guard {
    pub(super) fn new() -> Self {
        Self { since: None, suspects: [Exchange::default(); PROOF], count: 0, faster: 0, fits: 0 }
    }

    /// Judges an exchange by the present estimate, if there is one to trust.
    pub(super) fn judge_exchange(&mut self, exchange: &Exchange, estimate: Option<&Estimate>) -> Verdict {
        let Some(estimate) = estimate else { return Verdict::Fits };
        let tolerance = tolerance(estimate, exchange.received);
        let luck = estimate.luck_up.max(estimate.luck_down);
        let undercut = estimate.floor - exchange.round_trip();
        let off = (exchange.offset() - estimate.offset_at(exchange.received)).abs();
        if off > undercut.abs() / 2.0 + tolerance + luck {
            return self.suspect_step(exchange, tolerance + luck);
        }
        let fits = !undercuts_up(exchange.sent, exchange.up, estimate, tolerance)
            && !undercuts_down(exchange.received, exchange.down, estimate, tolerance);
        let Some(since) = self.since else {
            if !fits {
                self.begin(exchange.received);
                return Verdict::Suspicious;
            }
            return Verdict::Fits;
        };
        if exchange.sent >= since {
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
    pub(super) fn admits_up(&mut self, at: f64, seen: f64, estimate: Option<&Estimate>) -> bool {
        self.admits(at, estimate, |estimate, tolerance| undercuts_up(at, seen, estimate, tolerance))
    }

    /// Whether a point on the way down may enter the hull.
    pub(super) fn admits_down(&mut self, at: f64, seen: f64, estimate: Option<&Estimate>) -> bool {
        self.admits(at, estimate, |estimate, tolerance| undercuts_down(at, seen, estimate, tolerance))
    }

    /// The exchanges that proved a step, and an end to the suspicion.
    pub(super) fn acquit(&mut self) -> ([Exchange; PROOF], usize) {
        let proof = (self.suspects, self.count);
        self.clear();
        proof
    }

    fn admits(&mut self, at: f64, estimate: Option<&Estimate>, undercuts: impl Fn(&Estimate, f64) -> bool) -> bool {
        let Some(estimate) = estimate else { return true };
        if !undercuts(estimate, tolerance(estimate, at)) {
            return true;
        }
        if self.since.is_none() {
            self.begin(at);
        }
        false
    }

    /// Counts an exchange that contradicts the estimate by itself.
    fn suspect_step(&mut self, exchange: &Exchange, tolerance: f64) -> Verdict {
        let Some(since) = self.since else {
            self.begin(exchange.received);
            return Verdict::Suspicious;
        };
        // A clock that was set back makes new times look older than the suspicion.
        if exchange.received < since {
            self.begin(exchange.received);
            return Verdict::Suspicious;
        }
        if exchange.sent < since {
            return Verdict::Suspicious;
        }
        let agrees = |other: &Exchange| {
            let off = (exchange.offset() - other.offset()).abs();
            off <= (exchange.round_trip() - other.round_trip()).abs() / 2.0 + tolerance
        };
        if !self.suspects[..self.count].iter().all(agrees) {
            self.count = 0;
        }
        self.fits = 0;
        self.suspects[self.count] = *exchange;
        self.count += 1;
        if self.count == PROOF { Verdict::Stepped } else { Verdict::Suspicious }
    }

    fn begin(&mut self, at: f64) {
        self.clear();
        self.since = Some(at);
    }

    fn clear(&mut self) {
        *self = Self::new();
    }
}

/// What may be put down to time having passed at this moment.
fn tolerance(estimate: &Estimate, at: f64) -> f64 {
    SLACK + SKEW_DOUBT * (at - estimate.at).max(0.0)
}

/// Whether a packet up was faster than half the smallest round trip.
fn undercuts_up(at: f64, seen: f64, estimate: &Estimate, tolerance: f64) -> bool {
    seen < estimate.offset_at(at) + estimate.floor / 2.0 - tolerance - estimate.luck_up
}

/// Whether a packet down was faster than half the smallest round trip.
fn undercuts_down(at: f64, seen: f64, estimate: &Estimate, tolerance: f64) -> bool {
    seen > estimate.offset_at(at) - estimate.floor / 2.0 + tolerance + estimate.luck_down
}

//! What hands can do: how soon they look again, and how late they strike.

use crate::noise::Draws;
use evenkeel::{Duration, GlobalTime};

/// Seconds between two looks, from and to.
const LOOKS: (f64, f64) = (0.15, 0.4);
/// Seconds from seeing a target in line to striking the trigger, from and to.
const REACTION: (f64, f64) = (0.1, 0.25);
/// Seconds that a plan is kept, from and to.
const PLANS: (f64, f64) = (1.5, 4.0);

/// What the player is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// After the nearest.
    Chase,
    /// Away from the nearest.
    Evade,
    /// Somewhere else.
    Roam,
}

/// A pair of hands.
#[derive(Clone, Debug)]
pub(super) struct Hands {
    pub(super) draws: Draws,
    pub(super) plan: Plan,
    plan_until: GlobalTime,
    looks_at: GlobalTime,
    strikes_at: Option<GlobalTime>,
    ready_at: GlobalTime,
}

impl Hands {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let zero = GlobalTime::ZERO;
        let draws = Draws::new(seed, stream);
        Self { draws, plan: Plan::Chase, plan_until: zero, looks_at: zero, strikes_at: None, ready_at: zero }
    }

    fn later(&mut self, now: GlobalTime, (low, high): (f64, f64)) -> GlobalTime {
        now + Duration::from_secs_f64(self.draws.between(low, high))
    }

    /// Whether the player looks now, and thinks again about what to be up to if it is time.
    pub(super) fn look(&mut self, now: GlobalTime) -> bool {
        if now < self.looks_at {
            return false;
        }
        self.looks_at = self.later(now, LOOKS);
        if now >= self.plan_until {
            self.plan_until = self.later(now, PLANS);
            self.plan = match self.draws.between(0.0, 1.0) {
                d if d < 0.55 => Plan::Chase,
                d if d < 0.8 => Plan::Evade,
                _ => Plan::Roam,
            };
        }
        true
    }

    /// Drops what was begun: the craft is out.
    pub(super) fn rest(&mut self) {
        self.strikes_at = None;
    }

    /// Whether the trigger is struck now. `in_line`: whether a target looks as if it would be hit. Once begun, the strike
    /// comes, whatever the target does meanwhile.
    pub(super) fn strike(&mut self, now: GlobalTime, in_line: bool, pause: Duration) -> bool {
        match self.strikes_at {
            Some(at) if now >= at => {
                self.strikes_at = None;
                self.ready_at = now + pause;
                true
            }
            None if in_line && now >= self.ready_at => {
                self.strikes_at = Some(self.later(now, REACTION));
                false
            }
            _ => false,
        }
    }
}

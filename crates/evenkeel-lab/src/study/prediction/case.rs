//! What is compared: how far the authority is, how long operations wait, what the network does.

use crate::study::measure::millis;
use evenkeel::Duration;
use evenkeel_link::{Conditions, Jitter, Loss};

pub(super) const ROUND_TRIPS_MS: [f64; 5] = [50.0, 100.0, 200.0, 300.0, 400.0];
pub(super) const LAGS_MS: [f64; 3] = [0.0, 50.0, 100.0];

/// What the way to the authority and back does to packets, beyond the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// Nothing.
    Steady,
    /// Exponential jitter.
    Jitter,
    /// Packets are lost, and nobody sends them again.
    Loss,
}

impl Network {
    pub(super) const ALL: [Self; 3] = [Self::Steady, Self::Jitter, Self::Loss];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Jitter => "jitter",
            Self::Loss => "loss",
        }
    }
}

/// The mean of the jitter each way.
pub(super) const JITTER_MS: f64 = 10.0;
/// The share of packets lost each way.
pub(super) const LOSS: f64 = 0.02;

/// One way to play at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) round_trip_ms: f64,
    pub(super) lag_ms: f64,
    pub(super) network: Network,
}

impl Case {
    pub(super) fn conditions(&self) -> Conditions {
        let path = Conditions::delay(self.delay());
        match self.network {
            Network::Steady => path,
            Network::Jitter => path.with_jitter(Jitter::Exponential { mean: millis(JITTER_MS) }),
            Network::Loss => path.with_loss(Loss::Independent(LOSS)),
        }
    }

    /// One way, without jitter.
    pub(super) fn delay(&self) -> Duration {
        millis(self.round_trip_ms / 2.0)
    }

    pub(super) fn name(&self) -> String {
        format!("{}, {} ms, lag {} ms", self.network.name(), self.round_trip_ms, self.lag_ms)
    }
}

/// All that is run: lags where the network is steady, and what else it does without lag.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for network in Network::ALL {
        let lags = if network == Network::Steady { &LAGS_MS[..] } else { &LAGS_MS[..1] };
        for lag_ms in lags {
            cases.extend(ROUND_TRIPS_MS.map(|round_trip_ms| Case { round_trip_ms, lag_ms: *lag_ms, network }));
        }
    }
    cases
}

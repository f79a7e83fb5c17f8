//! Whether numbers that a game gets to see are numbers.

use evenkeel::ledger::PairView;
use evenkeel::path::SplitError;
use evenkeel::{Attitude, Duration, GlobalTime, Placement, State};

pub(crate) fn attitude(attitude: &Attitude) -> bool {
    match attitude {
        Attitude::None => true,
        Attitude::Heading { heading, turn_rate } => heading.is_finite() && turn_rate.is_finite(),
        Attitude::Full { orientation, angular_velocity } => orientation.is_finite() && angular_velocity.is_finite(),
    }
}

pub(crate) fn placement(placed: &Placement) -> bool {
    placed.position.is_finite()
        && placed.velocity.is_finite()
        && attitude(&placed.attitude)
        && placed.uncertainty.is_finite()
        && placed.smoothing_error.is_finite()
}

pub(crate) fn state(state: &State) -> bool {
    state.position.is_finite() && state.velocity.is_finite() && attitude(&state.attitude)
}

/// Whether books hold sums of distances: finite, and not negative.
pub(crate) fn books(pair: &PairView<'_>, now: GlobalTime) -> bool {
    let sum = |e: SplitError| e.before.is_finite() && e.before >= 0.0 && e.after.is_finite() && e.after >= 0.0;
    let recent = pair.recent(now);
    sum(pair.known(now))
        && sum(pair.accumulated(now))
        && recent.is_finite()
        && recent >= 0.0
        && pair.shown_for(now) >= Duration::ZERO
}

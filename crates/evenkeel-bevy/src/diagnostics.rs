//! A session in numbers, among Bevy's own diagnostics.

use crate::prelude::*;
use bevy_diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy_time::common_conditions::on_real_timer;
use evenkeel::Fairness;

/// The mean over receivers of how far off they show things, on the server.
pub const ERROR_MEAN: DiagnosticPath = DiagnosticPath::const_new("evenkeel/error_mean");
/// The standard deviation over receivers of the same.
pub const ERROR_SPREAD: DiagnosticPath = DiagnosticPath::const_new("evenkeel/error_spread");
/// The same for the receiver worst off.
pub const ERROR_WORST: DiagnosticPath = DiagnosticPath::const_new("evenkeel/error_worst");
/// Vectors sent to all receivers, a second.
pub const VECTORS: DiagnosticPath = DiagnosticPath::const_new("evenkeel/vectors");
/// Bytes sent to all receivers, a second.
pub const BYTES: DiagnosticPath = DiagnosticPath::const_new("evenkeel/bytes");
/// How far off a player's clock may be, in milliseconds.
pub const CLOCK_UNCERTAINTY: DiagnosticPath = DiagnosticPath::const_new("evenkeel/clock_uncertainty");
/// The least round trip to the server, in milliseconds.
pub const ROUND_TRIP: DiagnosticPath = DiagnosticPath::const_new("evenkeel/round_trip");

/// Measures all of these once a second. On a large server that takes as long as a tick or two: leave it out where that matters.
pub struct EvenkeelDiagnosticsPlugin;

impl Plugin for EvenkeelDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        let suffixes = [(ERROR_MEAN, ""), (ERROR_SPREAD, ""), (ERROR_WORST, ""), (VECTORS, "/s"), (BYTES, "B/s")];
        for (path, suffix) in suffixes.into_iter().chain([(CLOCK_UNCERTAINTY, "ms"), (ROUND_TRIP, "ms")]) {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        let every = on_real_timer(std::time::Duration::from_secs(1));
        app.add_systems(Last, measure.run_if(resource_exists::<Session>.and_then(every)));
    }
}

fn measure(mut session: ResMut<Session>, mut diagnostics: Diagnostics, mut before: Local<Option<Fairness>>) {
    if let Some(fairness) = session.hub(|hub, now| hub.fairness(now)) {
        let since = before.as_ref().map_or_else(|| fairness.clone(), |before| fairness.since(before));
        let spent = [(VECTORS, since.spent.vectors as f64), (BYTES, since.spent.bytes as f64)];
        let errors = [(ERROR_MEAN, since.mean), (ERROR_SPREAD, since.std), (ERROR_WORST, since.max)];
        errors.iter().chain(&spent).for_each(|(path, value)| diagnostics.add_measurement(path, || *value));
        *before = Some(fairness);
    }
    let clock = session.seat(|seat, _| (seat.clock().uncertainty(), seat.clock().rtt_min())).unwrap_or_default();
    for (path, span) in [(CLOCK_UNCERTAINTY, clock.0), (ROUND_TRIP, clock.1)] {
        span.inspect(|span| diagnostics.add_measurement(&path, || span.as_secs_f64() * 1e3));
    }
}

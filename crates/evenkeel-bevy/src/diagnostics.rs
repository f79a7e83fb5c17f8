//! A session in numbers, among Bevy's own diagnostics.

use crate::session::Session;
use bevy_app::prelude::*;
use bevy_diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy_ecs::prelude::*;
use bevy_time::common_conditions::on_real_timer;
use evenkeel::{Duration, Fairness};

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
        for path in [ERROR_MEAN, ERROR_SPREAD, ERROR_WORST] {
            app.register_diagnostic(Diagnostic::new(path));
        }
        app.register_diagnostic(Diagnostic::new(VECTORS).with_suffix("/s"));
        app.register_diagnostic(Diagnostic::new(BYTES).with_suffix("B/s"));
        app.register_diagnostic(Diagnostic::new(CLOCK_UNCERTAINTY).with_suffix("ms"));
        app.register_diagnostic(Diagnostic::new(ROUND_TRIP).with_suffix("ms"));
        let every = on_real_timer(std::time::Duration::from_secs(1));
        app.add_systems(Last, measure.run_if(resource_exists::<Session>.and_then(every)));
    }
}

fn measure(mut session: ResMut<Session>, mut diagnostics: Diagnostics, mut before: Local<Option<Fairness>>) {
    if let Some(fairness) = session.hub(|hub, now| hub.fairness(now)) {
        let since = before.as_ref().map_or_else(|| fairness.clone(), |before| fairness.since(before));
        diagnostics.add_measurement(&ERROR_MEAN, || since.mean);
        diagnostics.add_measurement(&ERROR_SPREAD, || since.std);
        diagnostics.add_measurement(&ERROR_WORST, || since.max);
        diagnostics.add_measurement(&VECTORS, || since.spent.vectors as f64);
        diagnostics.add_measurement(&BYTES, || since.spent.bytes as f64);
        *before = Some(fairness);
    }
    session.seat(|seat, _| {
        let mut add = |path: DiagnosticPath, span: Option<Duration>| {
            if let Some(span) = span {
                diagnostics.add_measurement(&path, || span.as_secs_f64() * 1e3);
            }
        };
        add(CLOCK_UNCERTAINTY, seat.clock().uncertainty());
        add(ROUND_TRIP, seat.clock().rtt_min());
    });
}

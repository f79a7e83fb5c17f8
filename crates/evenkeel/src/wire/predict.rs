//! What a baseline leads one to expect of the next vector.
//!
//! Everything here is computed on both ends and must come out the same: from restored motions, in plain `f64` arithmetic
//! and `libm`, whatever the numbers are. Only [`likely_since`] is the writer's own.

use super::format::{Format, on_lattice};
use super::quantised::{COURSE, Form, Kind, Quantised, Turn};
use crate::geometry::{Quat, Vec3, wrap_angle};
use crate::motion::{Attitude, Course, LAW_PARAMETERS, Motion};

/// The old path up to a moment, the new one from there: what a single change in between leads to.
pub(super) struct Bridge {
    /// Where the old path ends.
    from: Vec3,
    /// The new attitude, as it follows from the old one.
    pub(super) attitude: Attitude,
    since: f64,
}

impl Bridge {
    #[inline]
    pub(super) fn new(f: &Format, q: &Quantised, old: &Motion, dt: f64, since: f64) -> Self {
        let rate = |steps| f.number_of(steps, f.angular_velocity_step);
        let attitude = match q.form {
            Form::None => Attitude::None,
            Form::Heading => {
                let turn_rate = rate(q.turn[1]);
                let heading = match old.attitude {
                    // Not wrapped: it is about to be.
                    Attitude::Heading { heading, turn_rate } => heading + turn_rate * (dt - since),
                    other => other.at(dt - since).heading(),
                };
                Attitude::Heading { heading: heading + turn_rate * since, turn_rate }
            }
            Form::Full => {
                let angular_velocity = Vec3::new(rate(q.turn[4]), rate(q.turn[5]), rate(q.turn[6]));
                let before = old.attitude.at(dt - since).orientation();
                let turned = before * Quat::from_rotation_vector(angular_velocity * since);
                Attitude::Full { orientation: turned.normalized(), angular_velocity }
            }
        };
        Self { from: old.position_at(dt - since), attitude, since }
    }

    /// Where it leads, once `q` has everything but its position.
    #[inline]
    pub(super) fn position(&self, f: &Format, q: &Quantised, turn: Turn) -> [i64; 3] {
        let mut place = self.from;
        if self.since != 0.0 {
            let (course, attitude) = (f.restore_course(q), f.restore_attitude(q, turn));
            place -= Motion { position: Vec3::ZERO, course, attitude }.position_at(-self.since);
        }
        let step = f.position_step;
        [on_lattice(place.x / step), on_lattice(place.y / step), on_lattice(place.z / step)]
    }
}

/// How long ago, in seconds, the change from the old motion to `q` was if there was only one; zero if that cannot be.
#[inline]
pub(super) fn likely_since(f: &Format, q: &Quantised, turn: Turn, old: &Motion, dt: f64) -> f64 {
    // Rounding may carry it a little beyond either end.
    const SLACK: f64 = 0.01;
    let rate = old.attitude.turn_rate();
    let rate_change = f.number_of(q.turn[1], f.angular_velocity_step) - rate;
    let since = if q.form == Form::Heading && rate_change != 0.0 {
        wrap_angle(turn.angle(q.turn[0]) - old.attitude.heading() - rate * dt) / rate_change
    } else {
        since_by_place(&f.restore_with(q, turn), old, dt)
    };
    if since > -SLACK && since < dt + SLACK { libm::fmax(libm::fmin(since, dt), 0.0) } else { 0.0 }
}

/// The same from the place alone: how long the change of velocity takes to explain it.
fn since_by_place(new: &Motion, old: &Motion, dt: f64) -> f64 {
    let change = new.velocity_at(0.0) - old.velocity_at(dt);
    let off = new.position - old.position_at(dt);
    let square = change.length_squared();
    if square > 0.0 { off.dot(change) / square } else { 0.0 }
}

/// The unit of the time since a change, in seconds: about 2 ms, in whole ticks.
#[inline]
pub(super) fn since_unit(f: &Format) -> f64 {
    let ticks = (2_000_000 / f.tick_nanos()).max(1);
    (ticks * f.tick_nanos()) as f64 * 1e-9
}

/// What the rates of `q` would be if the old motion went on.
#[inline]
pub(super) fn expected_rates(f: &Format, q: &Quantised, baseline: &Quantised, old: &Motion) -> [i64; 3] {
    match (q.form, baseline.form) {
        (Form::None, _) | (_, Form::None) => [0; 3],
        (Form::Heading, Form::Heading) => [baseline.turn[1], 0, 0],
        (Form::Full, Form::Full) => [baseline.turn[4], baseline.turn[5], baseline.turn[6]],
        (Form::Heading, Form::Full) => [on_lattice(old.attitude.turn_rate() / f.angular_velocity_step), 0, 0],
        (Form::Full, Form::Heading) => [0, 0, baseline.turn[1]],
    }
}

/// What the numbers of `q`'s course would be, in steps, if the old motion went on.
#[inline]
pub(super) fn expected_course(f: &Format, q: &Quantised, baseline: &Quantised, old: &Motion, dt: f64) -> [i64; COURSE] {
    match (q.kind, baseline.kind) {
        (Kind::Stationary, _) => [0; COURSE],
        // These do not change on their way.
        (Kind::Linear, Kind::Linear) | (Kind::Circular, Kind::Circular) => baseline.course,
        _ => carried_over(f, q, &old.advanced(dt)),
    }
}

/// The course of a motion, put as one of `q`'s kind, in steps.
fn carried_over(f: &Format, q: &Quantised, expected: &Motion) -> [i64; COURSE] {
    let numbers = course_as(q, expected);
    let mut steps = [0; COURSE];
    for ((steps, number), quantity) in steps.iter_mut().zip(numbers).zip(q.kind.layout()) {
        *steps = on_lattice(number / f.step(*quantity));
    }
    steps
}

/// The numbers of a motion's course, put as those of `q`'s kind.
fn course_as(q: &Quantised, expected: &Motion) -> [f64; COURSE] {
    let mut n = [0.0; COURSE];
    let velocity = expected.velocity_at(0.0);
    let mut put = |at: usize, v: Vec3| n[at..at + 3].copy_from_slice(&<[f64; 3]>::from(v));
    match q.kind {
        Kind::Stationary => {}
        Kind::Circular => {
            let (speed, climb) = match expected.course {
                Course::Circular { speed, climb } => (speed, climb),
                _ => (velocity.dot(Vec3::from_heading(expected.attitude.heading())), velocity.z),
            };
            put(0, Vec3::new(speed, climb, 0.0));
        }
        Kind::Custom => match expected.course {
            Course::Custom { law, parameters } if law.0.id() == q.law => {
                n[..LAW_PARAMETERS].copy_from_slice(&parameters);
            }
            _ => {}
        },
        Kind::Linear | Kind::Ballistic => put(0, velocity),
        Kind::Accelerated | Kind::Turning => {
            put(0, velocity);
            if let Course::Accelerated { acceleration, .. } | Course::Turning { acceleration, .. } = expected.course {
                put(3, acceleration);
            }
        }
        Kind::Spline => {
            put(0, velocity);
            match expected.course {
                Course::Spline { end, end_velocity, duration, .. } => {
                    put(3, end_velocity);
                    put(6, end);
                    n[9] = duration;
                }
                _ => {
                    put(3, velocity);
                    put(6, expected.position);
                }
            }
        }
    }
    n
}

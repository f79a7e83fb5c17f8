//! What a baseline leads one to expect of the next vector.
//!
//! Everything here is computed on both ends and must come out the same: from restored motions, in plain `f64` arithmetic
//! and `libm`, whatever the numbers are. Only [`likely_since`] is the writer's own.

use super::format::{Format, on_lattice};
use super::quantised::{COURSE, Form, Kind, Quantised, Turn};
use crate::geometry::{Quat, Vec3};
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
    pub(super) fn new(f: &Format, q: &Quantised, Expected { old, dt, .. }: &Expected, since: f64) -> Self {
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

/// What is known of a vector before its numbers are, once its kind and form are.
pub(super) struct Expected {
    /// The baseline's motion, at the baseline's tick.
    pub(super) old: Motion,
    /// The baseline's age in seconds.
    pub(super) dt: f64,
    /// What the rates would be if the old motion went on, in steps; the same for the course and the height.
    pub(super) rates: [i64; 3],
    pub(super) course: [i64; COURSE],
    pub(super) height: i64,
    /// How far it moves in the baseline's age, in metres: the measure of how far off expectations are.
    pub(super) way: f64,
}

impl Expected {
    #[inline]
    pub(super) fn new(f: &Format, q: &Quantised, baseline: &Quantised, turn: Turn) -> Self {
        let old = f.restore_with(baseline, turn);
        let dt = q.tick.saturating_sub(baseline.tick) as f64 * f.tick_secs();
        let course = expected_course(f, q, baseline, &old, dt);
        let fastest = course[0].unsigned_abs().max(course[1].unsigned_abs());
        let way = libm::fmax(fastest as f64 * f.velocity_step, SLOW) * libm::fabs(dt);
        Self {
            rates: expected_rates(f, q, baseline, &old),
            height: on_lattice(height_at(&old, dt) / f.position_step),
            old,
            dt,
            course,
            way,
        }
    }
}

/// What moves more slowly than this, in metres per second, is expected to be off as if it did not.
const SLOW: f64 = 20.0;

/// How high a motion is after so many seconds.
#[inline]
fn height_at(m: &Motion, dt: f64) -> f64 {
    let z = m.position.z;
    match m.course {
        Course::Stationary => z,
        Course::Linear { velocity } => z + velocity.z * dt,
        Course::Accelerated { velocity, acceleration } => z + (velocity.z + 0.5 * acceleration.z * dt) * dt,
        Course::Circular { climb, .. } => z + climb * dt,
        _ => m.position_at(dt).z,
    }
}

/// The headings that a single change of the turn rate leads to: from the one that the old rate leads to, if it has just
/// changed, to the one that the new rate leads to, if it did so right after the baseline. Which one it is says when.
pub(super) struct Swing {
    turn: Turn,
    /// Where the old rate leads, in steps.
    first: i64,
    /// By how much the rate changed, in radians per second.
    change: f64,
    dt: f64,
    /// How many headings there are.
    pub(super) headings: u64,
}

/// Rounding may carry a heading so many steps beyond either end.
const SWING_SLACK: i64 = 16;

impl Swing {
    /// For a `q` that has its turn rate.
    #[inline]
    pub(super) fn new(f: &Format, q: &Quantised, turn: Turn, Expected { old, dt, .. }: &Expected) -> Self {
        let rate = old.attitude.turn_rate();
        let change = f.number_of(q.turn[1], f.angular_velocity_step) - rate;
        let swept = on_lattice(libm::fabs(change) * dt / turn.angle(1)).clamp(0, turn.full);
        Self {
            turn,
            first: turn.steps(old.attitude.heading() + rate * dt),
            change,
            dt: *dt,
            headings: (swept + 2 * SWING_SLACK + 1).min(turn.full) as u64,
        }
    }

    /// The number of a heading, the way that the change turns. There is none if it is not below [`Self::headings`].
    #[inline]
    pub(super) fn number_of(&self, heading: i64) -> u64 {
        let off = heading.wrapping_sub(self.first);
        let along = if self.change < 0.0 { off.wrapping_neg() } else { off }.wrapping_add(SWING_SLACK);
        let along = self.turn.wrap(along);
        (if along < 0 { along + self.turn.full } else { along }) as u64
    }

    /// The heading of a number.
    #[inline]
    pub(super) fn heading(&self, number: u64) -> i64 {
        let along = number as i64 - SWING_SLACK;
        self.turn.wrap(self.first + if self.change < 0.0 { -along } else { along })
    }

    /// How long ago, in seconds, the rate changed if it led to this heading.
    #[inline]
    pub(super) fn since(&self, number: u64) -> f64 {
        let since = self.turn.angle(number as i64 - SWING_SLACK) / libm::fabs(self.change);
        libm::fmax(libm::fmin(since, self.dt), 0.0)
    }
}

/// How long ago, in seconds, the change from the old motion to `q` was if there was only one, judged by the place; zero if
/// that cannot be.
#[inline]
pub(super) fn likely_since(f: &Format, q: &Quantised, turn: Turn, Expected { old, dt, .. }: &Expected) -> f64 {
    // Rounding may carry it a little beyond either end.
    const SLACK: f64 = 0.01;
    let new = f.restore_with(q, turn);
    let change = new.velocity_at(0.0) - old.velocity_at(*dt);
    let square = change.length_squared();
    let since = if square > 0.0 { (new.position - old.position_at(*dt)).dot(change) / square } else { 0.0 };
    if since > -SLACK && since < dt + SLACK { libm::fmax(libm::fmin(since, *dt), 0.0) } else { 0.0 }
}

/// The unit of the time since a change, in seconds: about 2 ms, in whole ticks.
#[inline]
pub(super) fn since_unit(f: &Format) -> f64 {
    let ticks = (2_000_000 / f.tick_nanos()).max(1);
    (ticks * f.tick_nanos()) as f64 * 1e-9
}

/// What the rates of `q` would be if the old motion went on.
#[inline]
fn expected_rates(f: &Format, q: &Quantised, baseline: &Quantised, old: &Motion) -> [i64; 3] {
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
fn expected_course(f: &Format, q: &Quantised, baseline: &Quantised, old: &Motion, dt: f64) -> [i64; COURSE] {
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

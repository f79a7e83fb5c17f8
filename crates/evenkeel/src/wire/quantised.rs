//! [`Quantised`]: a motion as whole numbers of steps, the same for every receiver.

use super::format::{Format, on_lattice};
use super::{LIMIT, LOSSLESS_LIMIT};
use crate::geometry::{Quat, Vec3};
use crate::motion::{Attitude, Course, LAW_PARAMETERS, Motion};
use crate::time::GlobalTime;
use core::f64::consts::{FRAC_1_SQRT_2, TAU};
use core::fmt;
use core::ops::Range;

/// A motion on the lattice of a [`Format`], with the tick of its generation.
///
/// It does not depend on any baseline: however it was coded, every receiver decodes the same one. In a lossless format
/// the numbers are the bits of the motion's own.
///
/// ```
/// use evenkeel::wire::Format;
/// use evenkeel::{Duration, GlobalTime, Motion, Vec3};
/// let format = Format::bzflag();
/// let motion = Motion::linear(Vec3::new(10.0, 0.0, 0.0), Vec3::new(20.0, 0.0, 0.0));
/// // Generated half a tick late, so moved back to the tick: 1 cm.
/// let q = format.quantise(&motion, GlobalTime::from_millis(7) + Duration::from_micros(500))?;
/// assert_eq!(q.tick(), 7);
/// // What was decoded, coded again, is the same.
/// assert_eq!(format.quantise(&format.restore(&q), format.time_of(q.tick()))?, q);
/// # Ok::<(), evenkeel::wire::QuantiseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantised {
    pub(crate) tick: i64,
    pub(crate) kind: Kind,
    pub(crate) form: Form,
    pub(crate) law: u8,
    pub(crate) position: [i64; 3],
    /// As many as the kind's [`layout`](Kind::layout) has; the others are zero.
    pub(crate) course: [i64; COURSE],
    /// Heading and turn rate; or the orientation (index of the largest component and the three others, or all four if
    /// lossless) and the angular velocity. The others are zero.
    pub(crate) turn: [i64; 7],
}

/// The most numbers any course has.
pub(crate) const COURSE: usize = 10;

impl Quantised {
    /// The tick of its generation; [`Format::time_of`] says when that is.
    pub fn tick(&self) -> i64 {
        self.tick
    }
}

/// Why a motion cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuantiseError {
    /// A number in it is not finite, or a spline takes no time.
    NotFinite,
    /// A number in it is more than about 10^15 steps from zero.
    OutOfRange,
    /// It follows a law that the format does not hold.
    UnknownLaw(u8),
}

impl fmt::Display for QuantiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a number in the motion is not finite"),
            Self::OutOfRange => f.write_str("a number in the motion is out of range"),
            Self::UnknownLaw(id) => write!(f, "law {id} is not in the format"),
        }
    }
}

impl core::error::Error for QuantiseError {}

/// The kinds of course on the wire; their order is that of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Stationary,
    Linear,
    Accelerated,
    /// Accelerated by the format's gravity.
    Ballistic,
    Circular,
    Turning,
    Spline,
    Custom,
}

/// What a number in a course measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Velocity,
    Acceleration,
    Place(usize),
    Ticks,
    Parameter,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Stationary,
        Self::Linear,
        Self::Accelerated,
        Self::Ballistic,
        Self::Circular,
        Self::Turning,
        Self::Spline,
        Self::Custom,
    ];

    /// Whether a number of the course is about up and down.
    #[inline]
    pub(crate) fn is_vertical(self, i: usize) -> bool {
        let vertical: u16 = match self {
            Self::Stationary | Self::Custom => 0,
            Self::Linear | Self::Ballistic => 0b100,
            Self::Accelerated | Self::Turning => 0b10_0100,
            Self::Circular => 0b10,
            Self::Spline => 0b1_0010_0100,
        };
        vertical >> i & 1 != 0
    }

    /// The numbers of a course in their order on the wire.
    pub(crate) fn layout(self) -> &'static [Quantity] {
        use Quantity::{Acceleration as A, Parameter as P, Place, Ticks, Velocity as V};
        match self {
            Self::Stationary => &[],
            Self::Linear | Self::Ballistic => &[V, V, V],
            Self::Accelerated | Self::Turning => &[V, V, V, A, A, A],
            Self::Circular => &[V, V],
            Self::Spline => &[V, V, V, V, V, V, Place(0), Place(1), Place(2), Ticks],
            Self::Custom => &[P; LAW_PARAMETERS],
        }
    }
}

/// The forms of attitude on the wire; their order is that of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    None,
    Heading,
    Full,
}

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::None, Self::Heading, Self::Full];

    /// Where the rates are among the numbers of the attitude.
    #[inline]
    pub(crate) fn rates(self) -> Range<usize> {
        match self {
            Self::None => 0..0,
            Self::Heading => 1..2,
            Self::Full => 4..7,
        }
    }
}

impl Format {
    /// The motion as whole steps at the tick at or before `generated`: it is moved back to that tick, then every number
    /// is rounded to the nearest step. Numbers outside the bounds are no error, up to [`LIMIT`](super::LIMIT) steps.
    pub fn quantise(&self, motion: &Motion, generated: GlobalTime) -> Result<Quantised, QuantiseError> {
        if !motion.is_valid() {
            return Err(QuantiseError::NotFinite);
        }
        let tick = self.tick_of(generated);
        let late = generated.since(self.time_of(tick)).as_secs_f64();
        // A motion that is on its tick already keeps its bits.
        let motion = if late > 0.0 { motion.advanced(-late) } else { *motion };
        let (kind, law, numbers) = self.course_numbers(&motion.course)?;
        let mut q = Quantised {
            tick,
            kind,
            law,
            form: Form::None,
            position: self.place_steps(motion.position)?,
            course: [0; COURSE],
            turn: [0; 7],
        };
        for ((steps, number), quantity) in q.course.iter_mut().zip(numbers).zip(kind.layout()) {
            *steps = self.steps_of(number, self.step(*quantity))?;
            if *quantity == Quantity::Ticks {
                // No spline takes less than a tick.
                *steps = if self.lossless { number.max(self.tick_secs()).to_bits() as i64 } else { (*steps).max(1) };
            }
        }
        self.fold_gravity(&mut q);
        self.quantise_attitude(&motion.attitude, &mut q)?;
        Ok(q)
    }

    /// The motion that the steps stand for, at its tick.
    pub fn restore(&self, q: &Quantised) -> Motion {
        self.restore_with(q, Turn::of(self))
    }

    /// The same where the lattice of headings is at hand.
    #[inline]
    pub(crate) fn restore_with(&self, q: &Quantised, turn: Turn) -> Motion {
        Motion {
            position: self.vector(q.position, self.position_step),
            course: self.restore_course(q),
            attitude: self.restore_attitude(q, turn),
        }
    }

    #[inline]
    pub(crate) fn restore_course(&self, q: &Quantised) -> Course {
        let c = &q.course;
        let first = || self.vector([c[0], c[1], c[2]], self.velocity_step);
        let acceleration = || self.vector([c[3], c[4], c[5]], self.acceleration_step);
        match q.kind {
            Kind::Stationary => Course::Stationary,
            Kind::Linear => Course::Linear { velocity: first() },
            Kind::Accelerated => Course::Accelerated { velocity: first(), acceleration: acceleration() },
            Kind::Ballistic => Course::Accelerated { velocity: first(), acceleration: self.gravity },
            Kind::Circular => Course::Circular {
                speed: self.number_of(c[0], self.velocity_step),
                climb: self.number_of(c[1], self.velocity_step),
            },
            Kind::Turning => Course::Turning { velocity: first(), acceleration: acceleration() },
            Kind::Spline => Course::Spline {
                velocity: first(),
                end_velocity: self.vector([c[3], c[4], c[5]], self.velocity_step),
                end: self.vector([c[6], c[7], c[8]], self.position_step),
                duration: self.number_of(c[9], self.tick_secs()),
            },
            Kind::Custom => match self.laws.get(q.law) {
                Some(law) => {
                    let parameters = [0, 1, 2, 3, 4, 5].map(|i| self.number_of(c[i], self.parameter_step));
                    Course::Custom { law, parameters }
                }
                // Neither `quantise` nor `parse_body` lets a law through that the format does not hold.
                None => Course::Stationary,
            },
        }
    }

    #[inline]
    pub(crate) fn restore_attitude(&self, q: &Quantised, turn: Turn) -> Attitude {
        let t = &q.turn;
        match q.form {
            Form::None => Attitude::None,
            Form::Heading => Attitude::Heading {
                heading: if self.lossless { self.number_of(t[0], 1.0) } else { turn.angle(t[0]) },
                turn_rate: self.number_of(t[1], self.angular_velocity_step),
            },
            Form::Full => {
                let [w, x, y, z] = if self.lossless {
                    [t[0], t[1], t[2], t[3]].map(|bits| self.number_of(bits, 1.0))
                } else {
                    Orientations::of(self).components([t[0], t[1], t[2], t[3]])
                };
                let angular_velocity = self.vector([t[4], t[5], t[6]], self.angular_velocity_step);
                Attitude::Full { orientation: Quat::new(w, x, y, z), angular_velocity }
            }
        }
    }

    #[inline]
    fn vector(&self, [x, y, z]: [i64; 3], step: f64) -> Vec3 {
        Vec3::new(self.number_of(x, step), self.number_of(y, step), self.number_of(z, step))
    }

    fn place_steps(&self, v: Vec3) -> Result<[i64; 3], QuantiseError> {
        let step = self.position_step;
        Ok([self.steps_of(v.x, step)?, self.steps_of(v.y, step)?, self.steps_of(v.z, step)?])
    }

    /// The size of one step of a quantity.
    pub(crate) fn step(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Velocity => self.velocity_step,
            Quantity::Acceleration => self.acceleration_step,
            Quantity::Place(_) => self.position_step,
            Quantity::Ticks => self.tick_secs(),
            Quantity::Parameter => self.parameter_step,
        }
    }

    fn steps_of(&self, number: f64, step: f64) -> Result<i64, QuantiseError> {
        if self.lossless {
            return if number.abs() <= LOSSLESS_LIMIT {
                Ok(number.to_bits() as i64)
            } else {
                Err(QuantiseError::OutOfRange)
            };
        }
        let steps = number / step;
        // Not-a-number is in no range.
        let range = -(LIMIT as f64)..=LIMIT as f64;
        if range.contains(&steps) { Ok(on_lattice(steps)) } else { Err(QuantiseError::OutOfRange) }
    }

    #[inline]
    pub(crate) fn number_of(&self, steps: i64, step: f64) -> f64 {
        if self.lossless { f64::from_bits(steps as u64) } else { steps as f64 * step }
    }

    fn course_numbers(&self, course: &Course) -> Result<(Kind, u8, [f64; COURSE]), QuantiseError> {
        let mut n = [0.0; COURSE];
        let mut put = |at: usize, v: Vec3| n[at..at + 3].copy_from_slice(&<[f64; 3]>::from(v));
        let mut id = 0;
        let kind = match *course {
            Course::Stationary => Kind::Stationary,
            Course::Linear { velocity } => {
                put(0, velocity);
                Kind::Linear
            }
            Course::Accelerated { velocity, acceleration } => {
                put(0, velocity);
                put(3, acceleration);
                Kind::Accelerated
            }
            Course::Turning { velocity, acceleration } => {
                put(0, velocity);
                put(3, acceleration);
                Kind::Turning
            }
            Course::Circular { speed, climb } => {
                put(0, Vec3::new(speed, climb, 0.0));
                Kind::Circular
            }
            Course::Spline { velocity, end, end_velocity, duration } => {
                put(0, velocity);
                put(3, end_velocity);
                put(6, end);
                n[9] = duration;
                Kind::Spline
            }
            Course::Custom { law, parameters } => {
                id = law.0.id();
                self.laws.get(id).ok_or(QuantiseError::UnknownLaw(id))?;
                n[..LAW_PARAMETERS].copy_from_slice(&parameters);
                Kind::Custom
            }
        };
        Ok((kind, id, n))
    }

    /// An acceleration that rounds to gravity's steps is gravity, whose bits need not travel.
    fn fold_gravity(&self, q: &mut Quantised) {
        if q.kind == Kind::Accelerated && q.course[3..6] == self.gravity_numbers() {
            q.kind = Kind::Ballistic;
            q.course[3..6].fill(0);
        }
    }

    /// Gravity as a course would hold it.
    pub(crate) fn gravity_numbers(&self) -> [i64; 3] {
        if self.lossless {
            return <[f64; 3]>::from(self.gravity).map(|g| g.to_bits() as i64);
        }
        self.gravity_steps()
    }

    fn quantise_attitude(&self, attitude: &Attitude, q: &mut Quantised) -> Result<(), QuantiseError> {
        let rate = |r: f64| self.steps_of(r, self.angular_velocity_step);
        match *attitude {
            Attitude::None => {}
            Attitude::Heading { heading, turn_rate } => {
                let steps = self.steps_of(heading, self.angle_step)?;
                q.form = Form::Heading;
                q.turn[0] = if self.lossless { steps } else { Turn::of(self).steps(heading) };
                q.turn[1] = rate(turn_rate)?;
            }
            Attitude::Full { orientation, angular_velocity: spin } => {
                q.form = Form::Full;
                let unit = orientation.normalized();
                let [a, b, c, d] = if self.lossless {
                    let (o, steps) = (orientation, |n| self.steps_of(n, 1.0));
                    [steps(o.w)?, steps(o.x)?, steps(o.y)?, steps(o.z)?]
                } else {
                    Orientations::of(self).nearest(unit)
                };
                q.turn = [a, b, c, d, rate(spin.x)?, rate(spin.y)?, rate(spin.z)?];
            }
        }
        Ok(())
    }
}

/// The lattice of headings: a whole number of steps in a full turn.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) full: i64,
    /// The angle of one step.
    step: f64,
}

impl Turn {
    #[inline]
    pub(crate) fn of(format: &Format) -> Self {
        let full = ((TAU / format.angle_step + 0.5) as i64).max(1);
        Self { full, step: TAU / full as f64 }
    }

    /// The angle of a heading in steps.
    #[inline]
    pub(crate) fn angle(self, steps: i64) -> f64 {
        steps as f64 * self.step
    }

    /// The nearest heading on the lattice, in (-half a turn, half a turn].
    #[inline]
    pub(crate) fn steps(self, heading: f64) -> i64 {
        self.wrap(on_lattice(heading / self.step))
    }

    /// The same heading in (-half a turn, half a turn].
    #[inline]
    pub(crate) fn wrap(self, steps: i64) -> i64 {
        // Almost always within a turn either way, where a remainder, slow on every machine, is not needed.
        let up = match steps {
            _ if steps >= 0 && steps < self.full => steps,
            _ if steps < 0 && steps >= -self.full => steps + self.full,
            _ => steps.rem_euclid(self.full),
        };
        if 2 * up > self.full { up - self.full } else { up }
    }
}

/// The lattice of orientations: the three smaller components in steps, with the index of the largest, which is positive
/// and follows from the others.
///
/// A unit is the square root of a whole number and a half of steps, so that no two components can tie for the largest:
/// restoring and rounding again finds the same index.
pub(crate) struct Orientations {
    /// Twice the square of the number of steps in a unit: an odd number.
    twice_unit_squared: i64,
}

impl Orientations {
    pub(crate) fn of(format: &Format) -> Self {
        // The largest smaller component is 1 / sqrt 2; its steps must fit the bits with their sign.
        let largest = (1i64 << (format.quaternion_bits.clamp(4, 24) - 1)) - 1;
        let unit = (largest as f64 / FRAC_1_SQRT_2) as i64 - 1;
        Self { twice_unit_squared: 2 * unit * unit + 1 }
    }

    fn unit(&self) -> f64 {
        libm::sqrt(self.twice_unit_squared as f64 * 0.5)
    }

    /// The rounded components of `orientation` other than the one at `index`, signed so that that one is positive.
    pub(crate) fn rounded(&self, orientation: Quat, index: usize) -> [i64; 3] {
        let all = [orientation.w, orientation.x, orientation.y, orientation.z];
        let scale = if all[index] < 0.0 { -self.unit() } else { self.unit() };
        others(index).map(|i| on_lattice(all[i] * scale))
    }

    /// The index of the largest component.
    pub(crate) fn largest(orientation: Quat) -> usize {
        let all = [orientation.w, orientation.x, orientation.y, orientation.z].map(libm::fabs);
        (1..4).fold(0, |best, i| if all[i] > all[best] { i } else { best })
    }

    /// Twice the square of the largest component, if the three really are smaller.
    fn twice_largest_squared(&self, three: [i64; 3]) -> Option<i64> {
        // Beyond this the squares would not fit, and no component is that large.
        if three.iter().any(|c| c.unsigned_abs() > 1 << 24) {
            return None;
        }
        let squares = three.map(|c| 2 * c * c);
        let left = self.twice_unit_squared - squares.iter().sum::<i64>();
        squares.iter().all(|&s| s < left).then_some(left)
    }

    /// Whether these are the steps of some orientation.
    pub(crate) fn holds(&self, three: [i64; 3]) -> bool {
        self.twice_largest_squared(three).is_some()
    }

    /// The nearest orientation on the lattice, as index and three components.
    fn nearest(&self, orientation: Quat) -> [i64; 4] {
        let index = Self::largest(orientation);
        let mut three = self.rounded(orientation, index);
        // Rounding up may have made another component the largest. A step or two back it is not.
        while !self.holds(three) {
            let most = (1..3).fold(0, |best, i| if three[i].abs() > three[best].abs() { i } else { best });
            three[most] -= three[most].signum();
        }
        [index as i64, three[0], three[1], three[2]]
    }

    /// The components, real part first.
    fn components(&self, [index, a, b, c]: [i64; 4]) -> [f64; 4] {
        let step = 1.0 / self.unit();
        let index = (index & 3) as usize;
        let mut all = [0.0; 4];
        let left = self.twice_largest_squared([a, b, c]).unwrap_or(0);
        all[index] = libm::sqrt(left as f64 * 0.5) * step;
        for (i, steps) in others(index).into_iter().zip([a, b, c]) {
            all[i] = steps as f64 * step;
        }
        all
    }
}

/// The three indices other than this one, in order.
fn others(index: usize) -> [usize; 3] {
    [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]][index & 3]
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use core::f64::consts::PI;
    use proptest::prelude::*;

    /// The numbers of a motion, each with the size of its step.
    fn numbers(f: &Format, m: &Motion) -> std::vec::Vec<(f64, f64)> {
        let (kind, _, course) = f.course_numbers(&m.course).unwrap();
        let mut all: std::vec::Vec<_> = <[f64; 3]>::from(m.position).map(|x| (x, f.position_step)).into();
        all.extend(course.into_iter().zip(kind.layout()).map(|(x, quantity)| (x, f.step(*quantity))));
        if let Attitude::Full { angular_velocity, .. } = m.attitude {
            all.extend(<[f64; 3]>::from(angular_velocity).map(|x| (x, f.angular_velocity_step)));
        } else {
            all.push((m.attitude.turn_rate(), f.angular_velocity_step));
        }
        all
    }

    proptest! {
        #[test]
        fn restoring_is_off_by_half_a_step_at_most(f in samples::format(), m in samples::motion(), tick in 0..1i64 << 30) {
            let q = f.quantise(&m, f.time_of(tick)).unwrap();
            prop_assert_eq!(q.tick(), tick);
            let back = f.restore(&q);
            if f.lossless {
                prop_assert_eq!(back, m);
            }
            for ((a, step), (b, _)) in numbers(&f, &m).into_iter().zip(numbers(&f, &back)) {
                // What is within half a step of gravity's own step becomes gravity: a step at most. A spline takes a
                // tick at least.
                let most = if q.kind == Kind::Ballistic || q.kind == Kind::Spline { 1.0 } else { 0.5 };
                prop_assert!((a - b).abs() <= step * most + a.abs() * 1e-12, "{a} {b} {step}");
            }
            // Three components half a step or a little more off each, and the angle is twice that.
            let turned = m.attitude.angle_to(&back.attitude);
            let most = if q.form == Form::Full { 8.0 / f64::from(1 << f.quaternion_bits) * 1.5 } else { f.angle_step };
            prop_assert!(turned <= most, "{turned} {most}");
        }

        #[test]
        fn what_was_decoded_is_coded_the_same_again(f in samples::format(), m in samples::motion(), t in 0..1i64 << 50) {
            let q = f.quantise(&m, GlobalTime::from_nanos(t)).unwrap();
            prop_assert_eq!(f.quantise(&f.restore(&q), f.time_of(q.tick())), Ok(q));
        }

        #[test]
        fn moving_to_the_tick_keeps_the_path(speed in -30.0..30.0f64, rate in -1.0..1.0f64, us in 0..100_000i64) {
            let f = Format { time_step: crate::Duration::from_millis(50), ..Format::default() };
            let m = Motion::circular(Vec3::ZERO, 1.0, speed, rate);
            let generated = GlobalTime::ZERO + crate::Duration::from_micros(us);
            let q = f.quantise(&m, generated).unwrap();
            let shown = f.restore(&q).at(generated.since(f.time_of(q.tick())).as_secs_f64());
            prop_assert!(f.time_of(q.tick()) <= generated);
            prop_assert!(shown.position.length() < 0.01);
            prop_assert!(shown.attitude.angle_to(&m.attitude) < 2e-4);
        }
    }

    #[test]
    fn headings_wrap() {
        for f in samples::formats() {
            let steps = |heading: f64| {
                let q = f.quantise(&Motion::stationary(Vec3::ZERO).facing(heading, 0.0), GlobalTime::ZERO);
                f.restore(&q.unwrap()).attitude.heading()
            };
            if !f.lossless {
                assert_eq!(steps(PI - 1e-9), steps(-PI - 1e-9));
                assert_eq!(steps(0.3 + 20.0 * PI), steps(0.3));
                assert!((-PI..=PI).contains(&steps(-PI + 1e-9)));
            }
            assert!((crate::wrap_angle(steps(-3.1) + 3.1)).abs() <= f.angle_step);
        }
        let (odd, even) = (Turn { full: 9, step: TAU / 9.0 }, Turn { full: 8, step: TAU / 8.0 });
        assert_eq!([5, 4, -5, 9, -9, 22].map(|steps| odd.wrap(steps)), [-4, 4, 4, 0, 0, 4]);
        assert_eq!([5, 4, -4, 8, -8, -21].map(|steps| even.wrap(steps)), [-3, 4, 4, 0, 0, 3]);
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let f = Format::default();
        let try_at = |x: f64| f.quantise(&Motion::stationary(Vec3::new(x, 0.0, 0.0)), GlobalTime::ZERO);
        assert_eq!(try_at(f64::NAN), Err(QuantiseError::NotFinite));
        assert_eq!(try_at(1e15), Err(QuantiseError::OutOfRange));
        assert!(try_at(1e12).is_ok());
        let custom = Motion::custom(Vec3::ZERO, samples::LAWS[0], [0.0; 6]);
        assert_eq!(f.quantise(&custom, GlobalTime::ZERO), Err(QuantiseError::UnknownLaw(3)));
    }

    #[test]
    fn falling_needs_no_acceleration() {
        let f = Format::bzflag();
        let falling = Motion::accelerated(Vec3::ZERO, Vec3::new(1.0, 2.0, 19.0), Vec3::new(0.0, 0.0, -9.8));
        let q = f.quantise(&falling, GlobalTime::ZERO).unwrap();
        assert_eq!(q.kind, Kind::Ballistic);
        assert_eq!(f.restore(&q), falling);
    }
}

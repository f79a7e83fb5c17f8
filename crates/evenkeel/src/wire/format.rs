//! [`Format`]: how finely, and within which bounds, motions are written; agreed on by both ends.

use super::agreement::{Difference, Value, differ};
use super::bits::{BitReader, BitWriter, Full};
use super::{LIMIT, WireError};
use crate::geometry::Vec3;
use crate::motion::{Law, LawRef};
use crate::time::{Duration, GlobalTime};
use core::f64::consts::PI;
use core::fmt;

/// The first byte of an emitted format; a reader refuses any other.
const VERSION: u64 = 1;
/// The finest step of any kind, and the farthest bound. Their ratio stays below [`LIMIT`], so that two valid formats
/// always agree on a valid one.
const FINEST_STEP: f64 = 1e-6;
const COARSEST_STEP: f64 = 1e3;
const FARTHEST_BOUND: f64 = 1e9;
/// How many floating-point numbers a format has.
const NUMBERS: usize = 21;
/// What those are called, in the order of the wire.
const NAMES: [&str; NUMBERS] = [
    "position_step",
    "velocity_step",
    "acceleration_step",
    "angle_step",
    "angular_velocity_step",
    "parameter_step",
    "lower.x",
    "lower.y",
    "lower.z",
    "upper.x",
    "upper.y",
    "upper.z",
    "gravity.x",
    "gravity.y",
    "gravity.z",
    "usual_speeds[0]",
    "usual_speeds[1]",
    "usual_speeds[2]",
    "usual_turn_rates[0]",
    "usual_turn_rates[1]",
    "usual_turn_rates[2]",
];
/// The most bytes a format takes when emitted.
pub const FORMAT_BYTES: usize = 256;

/// How motions become numbers on the wire: the precision of each quantity, the world's bounds, and what both ends know
/// anyway (gravity, the game's own laws of motion).
///
/// Sender and receiver must hold the same format: [`agree`](Self::agree) finds it, and the [`Agreement`](super::Agreement) of the two tells
/// whether they do. A value outside the bounds is no error, it only costs more bits.
///
/// ```
/// use evenkeel::wire::Format;
/// use evenkeel::{GlobalTime, Motion, Vec3};
/// let fine = Format { position_step: 0.001, ..Format::default() };
/// let format = Format::agree(&fine, &Format::bzflag());
/// assert_eq!(format.position_step, 0.001);
/// assert!(format.validate().is_ok());
///
/// let tank = Motion::circular(Vec3::new(12.34567, 0.0, 0.0), 0.5, 25.0, 0.785);
/// let sent = format.quantise(&tank, GlobalTime::from_millis(1_500))?;
/// assert!((format.restore(&sent).position.x - 12.346).abs() < 1e-9);
/// # Ok::<(), evenkeel::wire::QuantiseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Every number as its 64 bits and every time in nanoseconds: nothing is rounded, and the steps do not matter.
    pub lossless: bool,
    /// Metres per step of a position.
    pub position_step: f64,
    /// The world's lower corner: positions between the corners are the cheapest to write.
    pub lower: Vec3,
    /// The world's upper corner.
    pub upper: Vec3,
    /// Metres per second per step of a velocity.
    pub velocity_step: f64,
    /// Metres per second squared per step of an acceleration.
    pub acceleration_step: f64,
    /// Radians per step of a heading; a full turn is the nearest whole number of them.
    pub angle_step: f64,
    /// Radians per second per step of a turn rate or angular velocity.
    pub angular_velocity_step: f64,
    /// Bits for each of the three smaller components of an orientation.
    pub quaternion_bits: u32,
    /// One tick: DR vectors are generated on ticks.
    pub time_step: Duration,
    /// One step of a [`Law`]'s parameter.
    pub parameter_step: f64,
    /// Signed speeds along the heading at which entities usually move, such as full speed ahead and in reverse: they cost
    /// a few bits. Zero for none.
    pub usual_speeds: [f64; 3],
    /// The same for turn rates.
    pub usual_turn_rates: [f64; 3],
    /// The acceleration of what falls freely, which is then not written.
    pub gravity: Vec3,
    /// The game's own laws of motion.
    pub laws: Laws,
}

/// What is wrong with a [`Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// A step is not between a millionth and a thousand of its unit.
    Step,
    /// A bound is not finite, farther than 10^9 m, or the lower one is above the upper one.
    Bounds,
    /// The tick is not between 1 ns and 1 s.
    TimeStep,
    /// The bits of an orientation's component are not between 4 and 24.
    QuaternionBits,
    /// Gravity, a usual speed or a usual turn rate is not finite or beyond 10^6 of its unit.
    Usual,
    /// Two laws have the same id.
    Laws,
    /// The bytes end early or have another version.
    Malformed,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Step => "a step is not between 1e-6 and 1e3",
            Self::Bounds => "the bounds are not finite, too far, or the wrong way round",
            Self::TimeStep => "the tick is not between 1 ns and 1 s",
            Self::QuaternionBits => "an orientation needs 4 to 24 bits per component",
            Self::Usual => "gravity or a usual value is not finite or too large",
            Self::Laws => "two laws have the same id",
            Self::Malformed => "the bytes are no format of this version",
        })
    }
}

impl core::error::Error for FormatError {}

impl From<WireError> for FormatError {
    fn from(_: WireError) -> Self {
        Self::Malformed
    }
}

impl Default for Format {
    /// For games in metres at walking to driving speeds: 5 mm, 1 cm/s, 1/32768 of a half turn, 1 ms, 4 km each way.
    fn default() -> Self {
        Self {
            lossless: false,
            position_step: 0.005,
            lower: Vec3::new(-2048.0, -2048.0, -256.0),
            upper: Vec3::new(2048.0, 2048.0, 768.0),
            velocity_step: 0.01,
            acceleration_step: 0.01,
            angle_step: PI / 32_768.0,
            angular_velocity_step: 0.001,
            quaternion_bits: 14,
            time_step: Duration::from_millis(1),
            parameter_step: 0.001,
            usual_speeds: [0.0; 3],
            usual_turn_rates: [0.0; 3],
            gravity: Vec3::new(0.0, 0.0, -9.81),
            laws: Laws::NONE,
        }
    }
}

impl Format {
    /// The precision of BZFlag's small message, within its default world.
    pub fn bzflag() -> Self {
        Self {
            position_step: 0.02,
            lower: Vec3::new(-400.0, -400.0, 0.0),
            upper: Vec3::new(400.0, 400.0, 100.0),
            velocity_step: 0.01,
            angle_step: PI / 32_766.0,
            angular_velocity_step: 0.001,
            time_step: Duration::from_millis(1),
            // Ahead, in reverse, and what a tank does at half stick; it turns at a quarter of a half turn per second.
            usual_speeds: [25.0, -12.5, 12.5],
            usual_turn_rates: [PI / 4.0, -PI / 4.0, PI / 8.0],
            gravity: Vec3::new(0.0, 0.0, -9.8),
            ..Self::default()
        }
    }

    /// Nothing rounded: for tests, and for judging what the rounding costs.
    pub fn lossless() -> Self {
        Self { lossless: true, ..Self::default() }
    }

    /// What, if anything, is wrong with it.
    pub fn validate(&self) -> Result<(), FormatError> {
        let within = |v: Vec3, most: f64| v.is_finite() && v.max_axis() <= most;
        if !self.steps().iter().all(|step| (FINEST_STEP..=COARSEST_STEP).contains(step)) {
            return Err(FormatError::Step);
        }
        let ordered = self.lower.x <= self.upper.x && self.lower.y <= self.upper.y && self.lower.z <= self.upper.z;
        if !(ordered && within(self.lower, FARTHEST_BOUND) && within(self.upper, FARTHEST_BOUND)) {
            return Err(FormatError::Bounds);
        }
        if !(1..=1_000_000_000).contains(&self.time_step.as_nanos()) {
            return Err(FormatError::TimeStep);
        }
        if !(4..=24).contains(&self.quaternion_bits) {
            return Err(FormatError::QuaternionBits);
        }
        let usual = [self.gravity, Vec3::from(self.usual_speeds), Vec3::from(self.usual_turn_rates)];
        if !usual.iter().all(|&v| within(v, 1e6)) {
            return Err(FormatError::Usual);
        }
        if self.laws.clash { Err(FormatError::Laws) } else { Ok(()) }
    }

    /// The format that serves both: the finer of each step, the bounds that hold both worlds, lossless if either is,
    /// the laws that both know. The order of the two does not matter, nor does agreeing twice.
    pub fn agree(a: &Self, b: &Self) -> Self {
        let corner = |p: Vec3, q: Vec3, f: fn(f64, f64) -> f64| Vec3::new(f(p.x, q.x), f(p.y, q.y), f(p.z, q.z));
        Self {
            lossless: a.lossless || b.lossless,
            position_step: a.position_step.min(b.position_step),
            lower: corner(a.lower, b.lower, f64::min),
            upper: corner(a.upper, b.upper, f64::max),
            velocity_step: a.velocity_step.min(b.velocity_step),
            acceleration_step: a.acceleration_step.min(b.acceleration_step),
            angle_step: a.angle_step.min(b.angle_step),
            angular_velocity_step: a.angular_velocity_step.min(b.angular_velocity_step),
            quaternion_bits: a.quaternion_bits.max(b.quaternion_bits),
            time_step: a.time_step.min(b.time_step),
            parameter_step: a.parameter_step.min(b.parameter_step),
            usual_speeds: larger(a.usual_speeds, b.usual_speeds),
            usual_turn_rates: larger(a.usual_turn_rates, b.usual_turn_rates),
            gravity: Vec3::from(larger(a.gravity.into(), b.gravity.into())),
            laws: a.laws.common(&b.laws),
        }
    }

    /// The first field in which two formats differ.
    pub fn difference(&self, theirs: &Self) -> Option<Difference> {
        let number = |value: f64| Value::Number((value + 0.0).to_bits());
        let numbers = || NAMES.iter().zip(self.numbers()).zip(theirs.numbers());
        differ("lossless", self.lossless, theirs.lossless, Value::Flag)
            .or_else(|| differ("quaternion_bits", self.quaternion_bits, theirs.quaternion_bits, Value::Count))
            .or_else(|| differ("time_step", self.time_step, theirs.time_step, Value::Span))
            .or_else(|| {
                let ((field, ours), theirs) = numbers().find(|((_, a), b)| a != b)?;
                Some(Difference { field, ours: number(ours), theirs: number(theirs) })
            })
            .or_else(|| {
                let known = |laws: &Laws, id: u8| Value::Law {
                    id,
                    known: laws.ids[usize::from(id) / 64] >> (id % 64) & 1 == 1,
                };
                let values = |id| (known(&self.laws, id), known(&theirs.laws, id));
                let (ours, theirs) = (0..=u8::MAX).map(values).find(|(a, b)| a != b)?;
                Some(Difference { field: "laws", ours, theirs })
            })
    }

    /// Writes the format, for the other end to agree with.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.push(VERSION, 8)?;
        w.flag(self.lossless)?;
        w.push(u64::from(self.quaternion_bits), 7)?;
        w.push(self.time_step.as_nanos() as u64, 64)?;
        for number in self.numbers() {
            // Adding zero turns a negative zero, which equals zero, into the same bits.
            w.push((number + 0.0).to_bits(), 64)?;
        }
        self.laws.ids.iter().try_for_each(|&word| w.push(word, 64))
    }

    /// Reads what [`emit`](Self::emit) wrote. The laws it names are known by their ids only, so use the result by
    /// [`agree`](Self::agree)ing on it with a format that holds them.
    pub fn parse(r: &mut BitReader<'_>) -> Result<Self, FormatError> {
        let mut pull = |bits| r.pull(bits).map_err(|_| FormatError::Malformed);
        if pull(8)? != VERSION {
            return Err(FormatError::Malformed);
        }
        let lossless = pull(1)? == 1;
        let quaternion_bits = pull(7)? as u32;
        let time_step = Duration::from_nanos(pull(64)? as i64);
        let mut n = [0.0; NUMBERS];
        for number in &mut n {
            *number = f64::from_bits(pull(64)?);
        }
        let mut ids = [0; 4];
        for word in &mut ids {
            *word = pull(64)?;
        }
        let format = Self {
            lossless,
            position_step: n[0],
            velocity_step: n[1],
            acceleration_step: n[2],
            angle_step: n[3],
            angular_velocity_step: n[4],
            parameter_step: n[5],
            lower: Vec3::new(n[6], n[7], n[8]),
            upper: Vec3::new(n[9], n[10], n[11]),
            gravity: Vec3::new(n[12], n[13], n[14]),
            usual_speeds: [n[15], n[16], n[17]],
            usual_turn_rates: [n[18], n[19], n[20]],
            quaternion_bits,
            time_step,
            laws: Laws { known: &[], ids, clash: false },
        };
        format.validate()?;
        Ok(format)
    }

    /// The tick at or before a time.
    pub fn tick_of(&self, t: GlobalTime) -> i64 {
        t.as_nanos().div_euclid(self.tick_nanos())
    }

    /// The time of a tick.
    pub fn time_of(&self, tick: i64) -> GlobalTime {
        GlobalTime::from_nanos(tick.saturating_mul(self.tick_nanos()))
    }

    pub(crate) fn tick_nanos(&self) -> i64 {
        if self.lossless { 1 } else { self.time_step.as_nanos().max(1) }
    }

    /// The length of a tick in seconds.
    pub(crate) fn tick_secs(&self) -> f64 {
        self.tick_nanos() as f64 * 1e-9
    }

    /// Gravity on the lattice of accelerations.
    pub(crate) fn gravity_steps(&self) -> [i64; 3] {
        <[f64; 3]>::from(self.gravity).map(|g| on_lattice(g / self.acceleration_step))
    }

    fn steps(&self) -> [f64; 6] {
        [
            self.position_step,
            self.velocity_step,
            self.acceleration_step,
            self.angle_step,
            self.angular_velocity_step,
            self.parameter_step,
        ]
    }

    /// Every floating-point number in the order of the wire.
    fn numbers(&self) -> [f64; NUMBERS] {
        let [a, b, c, d, e, f] = self.steps();
        let (l, u, g) = (self.lower, self.upper, self.gravity);
        let ([s, t, v], [w, x, y]) = (self.usual_speeds, self.usual_turn_rates);
        [a, b, c, d, e, f, l.x, l.y, l.z, u.x, u.y, u.z, g.x, g.y, g.z, s, t, v, w, x, y]
    }
}

/// The nearest whole number, within ± [`LIMIT`]; not-a-number gives zero.
///
/// Truncation after adding a half is a machine instruction or two where `libm`'s rounding is a page of code.
#[inline]
pub(crate) fn on_lattice(value: f64) -> i64 {
    let half = if value < 0.0 { -0.5 } else { 0.5 };
    ((value + half) as i64).clamp(-LIMIT, LIMIT)
}

/// The larger triple. Either would code every motion; this one does not depend on who asks.
fn larger(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let compare = |a: [f64; 3], b: [f64; 3]| {
        let by_length = Vec3::from(a).length_squared().total_cmp(&Vec3::from(b).length_squared());
        // Among equally long ones any total order will do. Adding zero makes both zeros one.
        a.iter().zip(b).fold(by_length, |order, (x, y)| order.then((x + 0.0).total_cmp(&(y + 0.0))))
    };
    if compare(a, b).is_lt() { b } else { a }
}

/// The game's own [`Law`]s that a [`Format`] allows; equal to others if the ids are.
///
/// ```
/// use evenkeel::wire::{Format, Laws};
/// # use evenkeel::{Law, Vec3, motion::LAW_PARAMETERS};
/// # struct Bobbing;
/// # impl Law for Bobbing {
/// #     fn id(&self) -> u8 { 1 }
/// #     fn displacement(&self, _: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 { Vec3::ZERO }
/// #     fn velocity(&self, _: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 { Vec3::ZERO }
/// #     fn advanced(&self, p: &[f64; LAW_PARAMETERS], _: f64) -> [f64; LAW_PARAMETERS] { *p }
/// # }
/// static LAWS: [&dyn Law; 1] = [&Bobbing];
/// let format = Format { laws: Laws::new(&LAWS), ..Format::default() };
/// assert!(format.laws.get(1).is_some() && format.laws.get(2).is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Laws {
    known: &'static [&'static dyn Law],
    /// A set of ids: the other end may allow fewer than this one knows.
    ids: [u64; 4],
    clash: bool,
}

impl Laws {
    /// No laws but the built-in courses.
    pub const NONE: Self = Self { known: &[], ids: [0; 4], clash: false };

    /// These laws. Two with the same id make the format invalid.
    pub fn new(known: &'static [&'static dyn Law]) -> Self {
        let mut laws = Self { known, ..Self::NONE };
        for law in known {
            let (word, bit) = place(law.id());
            laws.clash |= laws.ids[word] & bit != 0;
            laws.ids[word] |= bit;
        }
        laws
    }

    /// The law with this id, if it is allowed and known here.
    pub fn get(&self, id: u8) -> Option<LawRef> {
        if !self.allows(id) {
            return None;
        }
        self.known.iter().find(|law| law.id() == id).map(|law| LawRef(*law))
    }

    /// Whether the format allows the law with this id.
    pub fn allows(&self, id: u8) -> bool {
        let (word, bit) = place(id);
        self.ids[word] & bit != 0
    }

    /// The ids allowed, in order.
    pub fn ids(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|id| self.allows(*id))
    }

    fn common(&self, other: &Self) -> Self {
        let mut ids = self.ids;
        ids.iter_mut().zip(other.ids).for_each(|(mine, theirs)| *mine &= theirs);
        let both = Self { known: self.known, ids, clash: self.clash || other.clash };
        // What came over the wire is known by its ids only: take the code from the end that has it.
        if both.ids().all(|id| both.get(id).is_some()) { both } else { Self { known: other.known, ..both } }
    }
}

fn place(id: u8) -> (usize, u64) {
    (usize::from(id / 64), 1 << (id % 64))
}

impl PartialEq for Laws {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids && self.clash == other.clash
    }
}

impl fmt::Debug for Laws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

impl From<&'static [&'static dyn Law]> for Laws {
    fn from(known: &'static [&'static dyn Law]) -> Self {
        Self::new(known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use proptest::prelude::*;

    static TWO: [&dyn Law; 2] = [&samples::Drift(3), &samples::Drift(9)];

    fn step() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.01), FINEST_STEP..1.0f64]
    }

    fn triple() -> impl Strategy<Value = [f64; 3]> {
        prop::array::uniform3(prop_oneof![Just(0.0), Just(-0.0), -30.0..30.0f64])
    }

    fn format() -> impl Strategy<Value = Format> {
        let steps = [step(), step(), step(), step(), step(), step()];
        let corners = (triple(), triple());
        let usual = (triple(), triple(), triple());
        (steps, corners, usual, 4..=24u32, 1..1_000_000_000i64, any::<bool>(), 0..3usize).prop_map(
            |(s, (lower, size), (gravity, usual_speeds, usual_turn_rates), quaternion_bits, tick, lossless, laws)| {
                Format {
                    lossless,
                    position_step: s[0],
                    velocity_step: s[1],
                    acceleration_step: s[2],
                    angle_step: s[3],
                    angular_velocity_step: s[4],
                    parameter_step: s[5],
                    lower: Vec3::from(lower),
                    upper: Vec3::from(lower) + Vec3::from(size.map(f64::abs)),
                    quaternion_bits,
                    time_step: Duration::from_nanos(tick),
                    gravity: Vec3::from(gravity),
                    usual_speeds,
                    usual_turn_rates,
                    laws: [Laws::NONE, Laws::new(&samples::LAWS), Laws::new(&TWO)][laws],
                }
            },
        )
    }

    fn parsed(format: &Format) -> Format {
        let mut buffer = [0; FORMAT_BYTES];
        let mut w = BitWriter::new(&mut buffer);
        format.emit(&mut w).unwrap();
        Format::parse(&mut BitReader::new(w.as_bytes())).unwrap()
    }

    proptest! {
        #[test]
        fn agreeing_does_not_depend_on_order_or_number(a in format(), b in format(), c in format()) {
            let ab = Format::agree(&a, &b);
            prop_assert_eq!(ab.validate(), Ok(()));
            prop_assert_eq!(ab, Format::agree(&b, &a));
            prop_assert_eq!(Format::agree(&a, &a), a);
            prop_assert_eq!(Format::agree(&ab, &b), ab);
            prop_assert_eq!(Format::agree(&ab, &c), Format::agree(&a, &Format::agree(&b, &c)));
        }

        #[test]
        fn a_format_survives_the_wire(a in format()) {
            prop_assert_eq!(parsed(&a), a);
        }

        #[test]
        fn any_bytes_are_an_error_or_valid(mut bytes in prop::collection::vec(any::<u8>(), 0..300), versioned: bool) {
            if let (true, Some(first)) = (versioned, bytes.first_mut()) {
                *first = VERSION as u8;
            }
            if let Ok(format) = Format::parse(&mut BitReader::new(&bytes)) {
                prop_assert_eq!(format.validate(), Ok(()));
            }
        }
    }

    #[test]
    fn laws_are_taken_from_the_end_that_holds_them() {
        let mine = Format { laws: Laws::new(&samples::LAWS), ..Format::default() };
        let theirs = parsed(&Format { laws: Laws::new(&TWO), ..Format::default() });
        for agreed in [Format::agree(&mine, &theirs), Format::agree(&theirs, &mine)] {
            assert!(agreed.laws.ids().eq([3]));
            assert!(agreed.laws.get(3).is_some() && agreed.laws.get(200).is_none());
        }
        let clashing = Format { laws: Laws::new(&samples::CLASHING), ..Format::default() };
        assert_eq!(clashing.validate(), Err(FormatError::Laws));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |format: Format| format.validate().unwrap_err();
        let good = Format::default();
        assert_eq!(wrong(Format { position_step: 0.0, ..good }), FormatError::Step);
        assert_eq!(wrong(Format { angle_step: f64::NAN, ..good }), FormatError::Step);
        assert_eq!(wrong(Format { lower: Vec3::new(0.0, 0.0, 1e4), ..good }), FormatError::Bounds);
        assert_eq!(wrong(Format { upper: Vec3::new(1e10, 1e4, 1e4), ..good }), FormatError::Bounds);
        assert_eq!(wrong(Format { time_step: Duration::ZERO, ..good }), FormatError::TimeStep);
        assert_eq!(wrong(Format { quaternion_bits: 30, ..good }), FormatError::QuaternionBits);
        assert_eq!(wrong(Format { usual_speeds: [f64::INFINITY, 0.0, 0.0], ..good }), FormatError::Usual);
        samples::formats().iter().for_each(|format| assert_eq!(format.validate(), Ok(())));
    }

    #[test]
    fn times_fall_on_the_tick_before_them() {
        let f = Format { time_step: Duration::from_millis(10), ..Format::default() };
        assert_eq!(f.tick_of(GlobalTime::from_millis(29)), 2);
        assert_eq!(f.tick_of(GlobalTime::from_millis(-1)), -1);
        assert_eq!(f.time_of(-1), GlobalTime::from_millis(-10));
        assert_eq!(f.time_of(i64::MAX), GlobalTime::MAX);
        assert_eq!(Format::lossless().tick_of(GlobalTime::from_nanos(77)), 77);
    }
}

//! The body of a vector record: a [`Quantised`] as bits, alone or against a baseline.
//!
//! Writing and reading are one walk over the fields, [`Walk`], through a [`Port`] that either takes each number to the
//! wire or brings it from there; so the two cannot drift apart.

use super::bits::{BitReader, BitWriter, Full, Gather, unzigzag, zigzag};
use super::format::{Format, on_lattice};
use super::predict::{Bridge, expected_course, expected_rates, likely_since, since_unit};
use super::quantised::{COURSE, Form, Kind, Orientations, Quantised, Quantity, Turn};
use super::{LIMIT, LOSSLESS_LIMIT, WireError};
use crate::geometry::Quat;
use crate::motion::Motion;

/// The most bytes a body takes.
pub const BODY_BYTES: usize = 208;

/// Writes `q` alone.
pub fn emit_absolute(f: &Format, q: &Quantised, w: &mut BitWriter<'_>) -> Result<(), Full> {
    emit(f, w, |walk| walk.absolute(&mut { *q }))
}

/// Writes the differences between `q` and what `baseline` predicts for its tick. A lossless format writes `q` alone.
pub fn emit_against(f: &Format, q: &Quantised, baseline: &Quantised, w: &mut BitWriter<'_>) -> Result<(), Full> {
    if f.lossless {
        return emit_absolute(f, q, w);
    }
    emit(f, w, |walk| walk.against(&mut { *q }, baseline))
}

/// Writes all of a body or nothing.
#[inline]
fn emit<'a>(
    f: &Format,
    w: &mut BitWriter<'a>,
    body: impl FnOnce(&mut Walk<'_, Gather<'_, 'a>>) -> Result<(), WireError>,
) -> Result<(), Full> {
    let start = w.len_bits();
    let mut walk = Walk::new(f, Gather::new(w));
    // A writer's only error is to be full.
    let emitted = body(&mut walk).map_err(|_| Full).and_then(|()| walk.port.finish());
    emitted.inspect_err(|Full| w.truncate(start))
}

/// Reads the body of a vector generated at `tick`, written against `baseline` if there is one.
pub fn parse_body(
    f: &Format,
    r: &mut BitReader<'_>,
    tick: i64,
    baseline: Option<&Quantised>,
) -> Result<Quantised, WireError> {
    let mut q = Quantised {
        tick,
        kind: Kind::Stationary,
        form: Form::None,
        law: 0,
        position: [0; 3],
        course: [0; COURSE],
        turn: [0; 7],
    };
    let mut walk = Walk::new(f, r);
    match baseline {
        Some(baseline) if !f.lossless => walk.against(&mut q, baseline)?,
        _ => walk.absolute(&mut q)?,
    }
    check(f, &q)?;
    Ok(q)
}

/// Whether `q` is what [`Format::quantise`] could have made.
fn check(f: &Format, q: &Quantised) -> Result<(), WireError> {
    let in_range = |n: &i64| match f.lossless {
        // Not-a-number is in no range.
        true => f64::from_bits(*n as u64).abs() <= LOSSLESS_LIMIT,
        false => (-LIMIT..=LIMIT).contains(n),
    };
    if !(q.position.iter().all(in_range) && q.course.iter().all(in_range) && q.turn.iter().all(in_range)) {
        return Err(WireError::OutOfRange);
    }
    let course = match q.kind {
        Kind::Accelerated => q.course[3..6] != f.gravity_numbers(),
        Kind::Spline if f.lossless => f64::from_bits(q.course[9] as u64) >= f.tick_secs(),
        Kind::Spline => q.course[9] >= 1,
        _ => true,
    };
    let attitude = match q.form {
        Form::Full if !f.lossless => Orientations::of(f).holds([q.turn[1], q.turn[2], q.turn[3]]),
        _ => true,
    };
    let numbers = !f.lossless || f.restore(q).is_valid();
    if course && attitude && numbers { Ok(()) } else { Err(WireError::NotCanonical) }
}

/// An encoded body, kept to be copied into several datagrams.
///
/// ```
/// use evenkeel::wire::{BitWriter, Body, Format};
/// use evenkeel::{GlobalTime, Motion, Vec3};
/// let format = Format::default();
/// let q = format.quantise(&Motion::stationary(Vec3::ZERO), GlobalTime::ZERO)?;
/// let body = Body::absolute(&format, &q);
/// let mut datagram = [0; 64];
/// let mut w = BitWriter::new(&mut datagram);
/// w.push(3, 7)?; // whatever comes before it
/// body.copy_to(&mut w)?;
/// assert_eq!(w.len_bits(), 7 + body.len_bits());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    bits: [u8; BODY_BYTES],
    len: u16,
    against: bool,
}

impl Body {
    /// The body of `q` alone.
    pub fn absolute(f: &Format, q: &Quantised) -> Self {
        Self::filled(false, |w| emit_absolute(f, q, w))
    }

    /// The body of `q` against a baseline.
    pub fn against(f: &Format, q: &Quantised, baseline: &Quantised) -> Self {
        Self::filled(true, |w| emit_against(f, q, baseline, w))
    }

    /// The shorter of the two; the plain one if they are equal or there is no baseline.
    pub fn smallest(f: &Format, q: &Quantised, baseline: Option<&Quantised>) -> Self {
        let absolute = Self::absolute(f, q);
        match baseline.map(|baseline| Self::against(f, q, baseline)) {
            Some(against) if against.len < absolute.len => against,
            _ => absolute,
        }
    }

    fn filled(against: bool, emit: impl FnOnce(&mut BitWriter<'_>) -> Result<(), Full>) -> Self {
        let mut body = Self { bits: [0; BODY_BYTES], len: 0, against };
        let mut w = BitWriter::new(&mut body.bits);
        let emitted = emit(&mut w);
        debug_assert!(emitted.is_ok(), "no body is longer than BODY_BYTES");
        body.len = w.len_bits() as u16;
        body
    }

    /// Whether it must be read with its baseline.
    pub fn against_baseline(&self) -> bool {
        self.against
    }

    /// Its length in bits.
    pub fn len_bits(&self) -> usize {
        usize::from(self.len)
    }

    /// Its bytes; the unused bits of the last one are zero.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bits[..self.len_bits().div_ceil(8)]
    }

    /// Appends it to what is being written.
    pub fn copy_to(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        w.copy(&self.bits, self.len_bits())
    }
}

/// One end of the wire: takes a number to it or brings one from it.
trait Port {
    const READS: bool;
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError>;
    /// An exponential Golomb code, of a value below 2^53.
    fn golomb(&mut self, value: &mut u64, k: u32) -> Result<(), WireError>;
}

impl Port for Gather<'_, '_> {
    const READS: bool = false;
    #[inline]
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError> {
        self.push(*value, bits).map_err(|Full| WireError::Truncated)
    }
    #[inline]
    fn golomb(&mut self, value: &mut u64, k: u32) -> Result<(), WireError> {
        self.short_golomb(*value, k).map_err(|Full| WireError::Truncated)
    }
}

impl Port for BitReader<'_> {
    const READS: bool = true;
    #[inline]
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError> {
        *value = self.pull(bits)?;
        Ok(())
    }
    #[inline]
    fn golomb(&mut self, value: &mut u64, k: u32) -> Result<(), WireError> {
        *value = self.short_golomb(k)?;
        Ok(())
    }
}

impl<P: Port> Port for &mut P {
    const READS: bool = P::READS;
    #[inline]
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError> {
        (**self).plain(value, bits)
    }
    #[inline]
    fn golomb(&mut self, value: &mut u64, k: u32) -> Result<(), WireError> {
        (**self).golomb(value, k)
    }
}

/// The walk over a body's fields. When writing it leaves `q` as it is; when reading it fills it.
///
/// Its small steps are forced inline: the port then stays in registers, which is worth a third of the time.
struct Walk<'f, P> {
    f: &'f Format,
    turn: Turn,
    port: P,
}

/// What is known of a number before it is written.
struct Guess {
    /// What it is if nothing has changed.
    expected: i64,
    /// In steps; zero for none.
    usual: [f64; 3],
    step: f64,
    /// The order of the code for any other value.
    order: u32,
}

/// How a number is written: as expected; one of the usual ones; off by a little; anything. Lowest bit first.
const SAME: (u64, u32) = (0b0, 1);
const USUAL: (u64, u32) = (0b01, 2);
const NEAR: (u64, u32) = (0b011, 3);
const ANY: (u64, u32) = (0b111, 3);
/// Differences below this are written as such.
const NEAR_MOST: u64 = 8;

impl Guess {
    /// Zero and the usual values. One that is not set stands for the expected value turned round.
    fn entries(&self) -> [i64; 4] {
        let per_unit = 1.0 / self.step;
        let entry = |usual: f64| if usual == 0.0 { -self.expected } else { on_lattice(usual * per_unit) };
        [0, entry(self.usual[0]), entry(self.usual[1]), entry(self.usual[2])]
    }
}

impl<'f, P: Port> Walk<'f, P> {
    fn new(f: &'f Format, port: P) -> Self {
        Self { f, turn: Turn::of(f), port }
    }

    #[inline]
    fn flag(&mut self, set: bool) -> Result<bool, WireError> {
        let mut bit = u64::from(set);
        self.port.plain(&mut bit, 1)?;
        Ok(bit == 1)
    }

    #[inline]
    fn signed(&mut self, value: &mut i64, k: u32) -> Result<(), WireError> {
        let mut code = zigzag(*value);
        self.port.golomb(&mut code, k)?;
        *value = unzigzag(code);
        Ok(())
    }

    /// Kind of course, form of attitude, law.
    fn shape(&mut self, q: &mut Quantised) -> Result<(), WireError> {
        let mut shape = q.kind as u64 | (q.form as u64) << 3;
        self.port.plain(&mut shape, 5)?;
        q.kind = Kind::ALL[(shape & 7) as usize];
        q.form = *Form::ALL.get((shape >> 3) as usize).ok_or(WireError::NotCanonical)?;
        if q.kind == Kind::Custom {
            let mut law = u64::from(q.law);
            self.port.plain(&mut law, 8)?;
            q.law = law as u8;
            if self.f.laws.get(q.law).is_none() {
                return Err(WireError::UnknownLaw(q.law));
            }
        }
        Ok(())
    }

    fn absolute(&mut self, q: &mut Quantised) -> Result<(), WireError> {
        self.shape(q)?;
        if self.f.lossless {
            return self.raw(q);
        }
        match q.form {
            Form::None => {}
            Form::Heading => self.heading(&mut q.turn[0])?,
            Form::Full => self.orientation(&mut q.turn)?,
        }
        self.rates(q, [0; 3])?;
        for (i, quantity) in q.kind.layout().iter().enumerate() {
            match *quantity {
                Quantity::Place(axis) => self.place(&mut q.course[i], axis)?,
                _ => drop(self.course_number(q, i, *quantity, 0)?),
            }
        }
        for (axis, number) in q.position.iter_mut().enumerate() {
            self.place(number, axis)?;
        }
        Ok(())
    }

    /// Every number as its 64 bits.
    fn raw(&mut self, q: &mut Quantised) -> Result<(), WireError> {
        let turn = match q.form {
            Form::None => 0,
            Form::Heading => 2,
            Form::Full => 7,
        };
        let course = q.kind.layout().len();
        for number in q.turn[..turn].iter_mut().chain(&mut q.course[..course]).chain(&mut q.position) {
            let mut bits = *number as u64;
            self.port.plain(&mut bits, 64)?;
            *number = bits as i64;
        }
        Ok(())
    }

    #[inline(always)]
    fn heading(&mut self, steps: &mut i64) -> Result<(), WireError> {
        let turn = self.turn;
        let mut up = if *steps < 0 { *steps + turn.full } else { *steps } as u64;
        self.port.plain(&mut up, bits_for(turn.full as u64 - 1))?;
        *steps = turn.wrap(up as i64);
        Ok(())
    }

    fn orientation(&mut self, turn: &mut [i64; 7]) -> Result<(), WireError> {
        let bits = self.f.quaternion_bits;
        let middle = 1i64 << (bits - 1);
        let mut index = turn[0] as u64;
        self.port.plain(&mut index, 2)?;
        turn[0] = index as i64;
        for component in &mut turn[1..4] {
            let mut up = (*component + middle) as u64;
            self.port.plain(&mut up, bits)?;
            *component = up as i64 - middle;
        }
        Ok(())
    }

    /// A coordinate: counted from the lower bound, or the number after the last as an escape.
    #[inline(always)]
    fn place(&mut self, steps: &mut i64, axis: usize) -> Result<(), WireError> {
        let (lower, span) = bounds(self.f, axis);
        let escape = span + 1;
        let above = steps.wrapping_sub(lower) as u64;
        let mut code = above.min(escape);
        self.port.plain(&mut code, bits_for(escape))?;
        if code < escape {
            *steps = lower + code as i64;
            return Ok(());
        }
        self.signed(steps, ESCAPE_ORDER)
    }

    fn against(&mut self, q: &mut Quantised, baseline: &Quantised) -> Result<(), WireError> {
        let f = self.f;
        let same = (q.kind, q.form, q.law) == (baseline.kind, baseline.form, baseline.law);
        let other = self.flag(!same)?;
        if other {
            self.shape(q)?;
        } else {
            (q.kind, q.form, q.law) = (baseline.kind, baseline.form, baseline.law);
        }
        let old = f.restore_with(baseline, self.turn);
        let dt = q.tick.saturating_sub(baseline.tick) as f64 * f.tick_secs();
        let mut changed = other;
        changed |= self.rates(q, expected_rates(f, q, baseline, &old))?;
        let expected = expected_course(f, q, baseline, &old, dt);
        for (i, quantity) in q.kind.layout().iter().enumerate() {
            changed |= self.course_number(q, i, *quantity, expected[i])?;
        }
        // A spline's own shape needs its start, which is not known yet.
        let since = if changed && q.kind != Kind::Spline { self.since(q, &old, dt)? } else { 0.0 };
        let bridge = Bridge::new(f, q, &old, dt, since);
        self.attitude(q, &bridge)?;
        let place = bridge.position(f, q, self.turn);
        self.position(q, place)
    }

    /// How long ago, in seconds, the one change was that explains where `q` is; zero if there is none.
    #[inline]
    fn since(&mut self, q: &Quantised, old: &Motion, dt: f64) -> Result<f64, WireError> {
        let unit = since_unit(self.f);
        let mut units =
            if P::READS { 0 } else { on_lattice(likely_since(self.f, q, self.turn, old, dt) / unit) as u64 };
        if !self.flag(units != 0)? {
            return Ok(0.0);
        }
        units = units.wrapping_sub(1);
        self.port.golomb(&mut units, order_for(0.13, unit))?;
        Ok((units + 1) as f64 * unit)
    }

    /// Turn rate or angular velocity; whether any is not as expected.
    #[inline(always)]
    fn rates(&mut self, q: &mut Quantised, expected: [i64; 3]) -> Result<bool, WireError> {
        let (f, step) = (self.f, self.f.angular_velocity_step);
        let (first, usual) = match q.form {
            Form::None => return Ok(false),
            Form::Heading => (1, f.usual_turn_rates),
            Form::Full => (4, [0.0; 3]),
        };
        let last = if q.form == Form::Heading { 2 } else { 7 };
        let mut changed = false;
        for (number, expected) in q.turn[first..last].iter_mut().zip(expected) {
            changed |= self.number(number, Guess { expected, usual, step, order: order_for(0.3, step) })?;
        }
        Ok(changed)
    }

    /// A number of the course; whether it is not as expected.
    #[inline(always)]
    fn course_number(
        &mut self,
        q: &mut Quantised,
        i: usize,
        quantity: Quantity,
        expected: i64,
    ) -> Result<bool, WireError> {
        let f = self.f;
        let usual = if q.kind == Kind::Circular && i == 0 { f.usual_speeds } else { [0.0; 3] };
        let step = f.step(quantity);
        self.number(&mut q.course[i], Guess { expected, usual, step, order: order_for(usual_size(quantity), step) })
    }

    /// A number that is often as expected or has a usual value; whether it is not as expected.
    #[inline(always)]
    fn number(&mut self, number: &mut i64, guess: Guess) -> Result<bool, WireError> {
        let mut off = zigzag(number.wrapping_sub(guess.expected));
        let mut entry = 0;
        if !P::READS && off != 0 {
            // The first that fits, found without a branch to mispredict.
            let entries = guess.entries();
            entry = (0..4).rev().fold(4, |best, i| if entries[i] == *number { i as u64 } else { best });
        }
        let choice = match off {
            0 => SAME,
            _ if entry < 4 => USUAL,
            1..=NEAR_MOST => NEAR,
            _ => ANY,
        };
        match self.choice(choice)? {
            SAME => *number = guess.expected,
            USUAL => {
                self.port.plain(&mut entry, 2)?;
                *number = guess.entries()[(entry & 3) as usize];
            }
            NEAR => {
                off = off.wrapping_sub(1);
                self.port.golomb(&mut off, 1)?;
                *number = guess.expected.wrapping_add(unzigzag(off.wrapping_add(1)));
            }
            _ => self.signed(number, guess.order)?,
        }
        Ok(*number != guess.expected)
    }

    #[inline(always)]
    fn choice(&mut self, (mut code, bits): (u64, u32)) -> Result<(u64, u32), WireError> {
        if !P::READS {
            self.port.plain(&mut code, bits)?;
            return Ok((code, bits));
        }
        for choice in [SAME, USUAL, NEAR] {
            if !self.flag(false)? {
                return Ok(choice);
            }
        }
        Ok(ANY)
    }

    fn attitude(&mut self, q: &mut Quantised, bridge: &Bridge) -> Result<(), WireError> {
        match q.form {
            Form::None => Ok(()),
            Form::Heading => self.heading_off(&mut q.turn[0], bridge.attitude.heading()),
            Form::Full => self.orientation_off(&mut q.turn, bridge.attitude.orientation()),
        }
    }

    #[inline]
    fn heading_off(&mut self, steps: &mut i64, expected: f64) -> Result<(), WireError> {
        let f = self.f;
        let turn = self.turn;
        let expected = turn.steps(expected);
        let mut off = [turn.wrap(steps.wrapping_sub(expected))];
        self.residuals(&mut off, [order_for(2.5e-4, f.angle_step), order_for(0.1, f.angle_step)])?;
        *steps = turn.wrap(expected.wrapping_add(off[0]));
        Ok(())
    }

    fn orientation_off(&mut self, turn: &mut [i64; 7], expected: Quat) -> Result<(), WireError> {
        let likely = Orientations::largest(expected) as u64;
        let mut index = turn[0] as u64;
        if self.flag(index != likely)? {
            self.port.plain(&mut index, 2)?;
        } else {
            index = likely;
        }
        let three = Orientations::of(self.f).rounded(expected, index as usize & 3);
        let mut off = [0, 1, 2].map(|i| turn[1 + i].wrapping_sub(three[i]));
        let bits = self.f.quaternion_bits;
        self.residuals(&mut off, [bits.saturating_sub(12), bits.saturating_sub(5)])?;
        turn[0] = index as i64;
        (0..3).for_each(|i| turn[1 + i] = three[i].wrapping_add(off[i]));
        Ok(())
    }

    #[inline]
    fn position(&mut self, q: &mut Quantised, expected: [i64; 3]) -> Result<(), WireError> {
        let step = self.f.position_step;
        let [x, y, mut z] = [0, 1, 2].map(|i| q.position[i].wrapping_sub(expected[i]));
        let mut level = [x, y];
        let k = self.residuals(&mut level, [order_for(0.02, step), order_for(0.64, step)])?;
        // Most things stay on the ground.
        if self.flag(z != 0)? {
            self.signed(&mut z, k)?;
        } else {
            z = 0;
        }
        let off = [level[0], level[1], z];
        q.position = [0, 1, 2].map(|i| expected[i].wrapping_add(off[i]));
        Ok(())
    }

    /// Differences that are all small or all large, after a bit that says which. Returns the order used.
    #[inline]
    fn residuals<const N: usize>(&mut self, off: &mut [i64; N], orders: [u32; 2]) -> Result<u32, WireError> {
        let bits = |k| off.iter().map(|&o| golomb_bits(zigzag(o), k)).sum::<u32>();
        let large = !P::READS && bits(orders[1]) < bits(orders[0]);
        let k = orders[usize::from(self.flag(large)?)];
        off.iter_mut().try_for_each(|o| self.signed(o, k))?;
        Ok(k)
    }
}

/// The order of the code for a coordinate outside the bounds.
const ESCAPE_ORDER: u32 = 16;

/// How long an exponential Golomb code is.
fn golomb_bits(value: u64, k: u32) -> u32 {
    2 * ((value >> k) + 1).ilog2() + 1 + k
}

/// What is usual for a quantity in a game, in its unit.
fn usual_size(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Velocity => 25.0,
        Quantity::Acceleration => 5.0,
        Quantity::Place(_) => 4.0,
        Quantity::Ticks => 0.5,
        Quantity::Parameter => 4.0,
    }
}

/// The order of a code: so many low bits hold what is usual, to within a bit. The difference of two binary exponents
/// needs no division.
#[inline]
fn order_for(usual: f64, step: f64) -> u32 {
    let exponent = |x: f64| (x.to_bits() >> 52) as u32 & 0x7FF;
    exponent(usual).saturating_sub(exponent(step))
}

/// How many bits hold this number.
fn bits_for(largest: u64) -> u32 {
    64 - largest.leading_zeros()
}

/// An axis' lower bound and extent in steps.
#[inline]
fn bounds(f: &Format, axis: usize) -> (i64, u64) {
    let (lower, upper) = match axis {
        0 => (f.lower.x, f.upper.x),
        1 => (f.lower.y, f.upper.y),
        _ => (f.lower.z, f.upper.z),
    };
    let per_metre = 1.0 / f.position_step;
    let (lower, upper) = (on_lattice(lower * per_metre), on_lattice(upper * per_metre));
    (lower, upper.saturating_sub(lower).max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::geometry::Vec3;
    use crate::time::GlobalTime;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Ages of a baseline in ticks, from the same tick to far away on either side.
    fn age() -> impl Strategy<Value = i64> {
        prop_oneof![Just(0), 1..2_000i64, -2_000..0i64, any::<i64>().prop_map(|t| t >> 8)]
    }

    fn read(f: &Format, body: &Body, q: &Quantised, baseline: Option<&Quantised>) -> Result<Quantised, WireError> {
        let mut r = BitReader::new(body.as_bytes());
        let parsed = parse_body(f, &mut r, q.tick, baseline)?;
        assert_eq!(r.position_bits(), body.len_bits());
        Ok(parsed)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn every_motion_survives_alone(f in samples::format(), m in samples::motion(), t in 0..i64::MAX >> 8) {
            let q = f.quantise(&m, GlobalTime::from_nanos(t)).unwrap();
            prop_assert_eq!(read(&f, &Body::absolute(&f, &q), &q, None), Ok(q));
        }

        #[test]
        fn every_motion_survives_against_any_baseline(
            f in samples::format(),
            m in samples::motion(),
            old in samples::motion(),
            age in age(),
        ) {
            let q = f.quantise(&m, GlobalTime::ZERO).unwrap();
            let baseline = Quantised { tick: age.saturating_neg(), ..f.quantise(&old, GlobalTime::ZERO).unwrap() };
            prop_assert_eq!(read(&f, &Body::against(&f, &q, &baseline), &q, Some(&baseline)), Ok(q));
            let smallest = Body::smallest(&f, &q, Some(&baseline));
            let used = smallest.against_baseline().then_some(&baseline);
            prop_assert_eq!(read(&f, &smallest, &q, used), Ok(q));
        }

        #[test]
        fn a_motion_that_goes_on_is_nearly_free(m in samples::everyday(), ms in 1..1_500i64) {
            let f = samples::formats()[0];
            let baseline = f.quantise(&m, GlobalTime::ZERO).unwrap();
            let later = f.restore(&baseline).advanced(ms as f64 / 1e3);
            prop_assume!(core::mem::discriminant(&later.course) == core::mem::discriminant(&m.course));
            let q = f.quantise(&later, GlobalTime::from_millis(ms)).unwrap();
            let body = Body::against(&f, &q, &baseline);
            prop_assert_eq!(read(&f, &body, &q, Some(&baseline)), Ok(q));
            prop_assert!(body.len_bits() <= 45, "{} {:?}", body.len_bits(), q);
        }

        #[test]
        fn any_bytes_are_an_error_or_a_motion_that_could_have_been_sent(
            f in samples::format(),
            bytes in prop::collection::vec(any::<u8>(), 0..260),
            old in samples::motion(),
            age in age(),
            with_baseline: bool,
        ) {
            let baseline = Quantised { tick: age.saturating_neg(), ..f.quantise(&old, GlobalTime::ZERO).unwrap() };
            let baseline = with_baseline.then_some(&baseline);
            if let Ok(q) = parse_body(&f, &mut BitReader::new(&bytes), 7, baseline) {
                prop_assert_eq!(f.quantise(&f.restore(&q), f.time_of(7)), Ok(q));
                prop_assert_eq!(read(&f, &Body::absolute(&f, &q), &q, None), Ok(q));
                if let Some(baseline) = baseline {
                    prop_assert_eq!(read(&f, &Body::against(&f, &q, baseline), &q, Some(baseline)), Ok(q));
                }
            }
        }
    }

    /// Every kind and form with every number at the end of its range.
    fn extremes(f: &Format) -> Vec<Quantised> {
        let mut all = Vec::new();
        for (kind, form) in Kind::ALL.into_iter().flat_map(|kind| Form::ALL.map(|form| (kind, form))) {
            for limit in [LIMIT, -LIMIT] {
                let used = kind.layout().len();
                let mut course = [0; COURSE];
                course[..used].fill(limit);
                if kind == Kind::Spline {
                    course[9] = LIMIT;
                }
                let turn = match form {
                    Form::None => [0; 7],
                    Form::Heading => [Turn::of(f).full / 2, limit, 0, 0, 0, 0, 0],
                    Form::Full => [2, 1, 0, -1, limit, limit, limit],
                };
                let law = if kind == Kind::Custom { 200 } else { 0 };
                all.push(Quantised { tick: limit << 8, kind, form, law, position: [limit; 3], course, turn });
            }
        }
        all
    }

    #[test]
    fn no_body_is_longer_than_its_buffer() {
        for f in samples::formats().into_iter().filter(|f| !f.lossless) {
            let all = extremes(&f);
            for q in &all {
                assert_eq!(read(&f, &Body::absolute(&f, q), q, None), Ok(*q));
                for baseline in &all {
                    assert_eq!(read(&f, &Body::against(&f, q, baseline), q, Some(baseline)), Ok(*q));
                }
            }
        }
    }

    #[test]
    fn outside_the_bounds_costs_an_escape_and_no_more() {
        let f = Format::bzflag();
        let bits = |x: f64| {
            let q = f.quantise(&Motion::stationary(Vec3::new(x, 0.0, 0.0)), GlobalTime::ZERO).unwrap();
            let body = Body::absolute(&f, &q);
            assert_eq!(read(&f, &body, &q, None), Ok(q));
            body.len_bits()
        };
        assert_eq!(bits(-400.0), bits(400.0));
        assert_eq!(bits(400.02), bits(400.0) + 17);
        assert!(bits(1e6) < bits(400.0) + 50);
    }

    #[test]
    fn what_does_not_fit_leaves_the_writer_as_it_was() {
        let f = Format::bzflag();
        let q = f.quantise(&Motion::circular(Vec3::ZERO, 1.0, 25.0, 0.3), GlobalTime::ZERO).unwrap();
        let mut buffer = [0; 9];
        let mut w = BitWriter::new(&mut buffer);
        w.push(1, 3).unwrap();
        assert_eq!(emit_absolute(&f, &q, &mut w), Err(Full));
        assert_eq!(w.as_bytes(), [1]);
        emit_against(&f, &q, &q, &mut w).unwrap();
    }

    /// The bits are a promise to every other build and machine. If this fails on purpose, the version of the datagram
    /// must change.
    #[test]
    fn the_bits_are_pinned() {
        let f = Format::bzflag();
        let at = |m: &Motion, ms| f.quantise(m, GlobalTime::from_millis(ms)).unwrap();
        let hex =
            |body: Body| body.as_bytes().iter().map(|byte| std::format!("{byte:02x}")).collect::<std::string::String>();
        let old = at(&Motion::circular(Vec3::new(10.0, -20.0, 0.0), 0.5, 25.0, 0.0), 1_000);
        let arc = Motion::circular(Vec3::new(10.0, -20.0, 0.0), 0.5, 25.0, 0.0).advanced(0.3);
        let arc = Motion { attitude: arc.facing(0.5, -0.7).attitude, ..arc }.advanced(0.06);
        let jump = Motion::accelerated(arc.position, Vec3::new(20.0, 9.0, 18.5), f.gravity).facing(0.47, -0.7);
        let tumbling = arc.oriented(Quat::from_rotation_vector(Vec3::new(0.3, -0.2, 0.9)), Vec3::new(0.1, 0.2, 3.0));
        let bodies = [
            Body::absolute(&f, &old),
            Body::against(&f, &at(&arc, 1_360), &old),
            Body::against(&f, &at(&jump, 1_400), &at(&arc, 1_360)),
            Body::absolute(&f, &at(&tumbling, 1_360)),
            Body::against(&f, &at(&tumbling.advanced(0.5), 1_860), &at(&tumbling, 1_360)),
        ]
        .map(hex);
        assert_eq!(
            bodies,
            [
                "ec8b42a180c2510200",
                "3eefa80300",
                "9707f487f087ce0d09bd37a906",
                "1443f374939c0ff981fc43b8021ae5b0040000",
                "008000",
            ]
        );
        assert_eq!(f.fingerprint(), 1626403404);
    }

    #[test]
    fn a_law_that_is_not_in_the_format_is_refused() {
        let f = samples::formats()[0];
        let q = f.quantise(&Motion::custom(Vec3::ZERO, samples::LAWS[0], [1.0; 6]), GlobalTime::ZERO).unwrap();
        let body = Body::absolute(&f, &q);
        assert_eq!(read(&Format::default(), &body, &q, None), Err(WireError::UnknownLaw(3)));
    }
}

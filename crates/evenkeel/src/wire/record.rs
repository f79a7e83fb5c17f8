//! The body of a vector record: a [`Quantised`] as bits, alone or against a baseline.
//!
//! Writing and reading are one walk over the fields, [`Walk`], through a [`Port`] that either takes each number to the
//! wire or brings it from there; so the two cannot drift apart.

use super::bits::{BitReader, BitWriter, Full};
use super::format::{Format, on_lattice};
use super::quantised::{COURSE, Form, Kind, Orientations, Quantised, Quantity, wrap_steps};
use super::{LIMIT, WireError};
use crate::geometry::{Quat, Vec3};
use crate::motion::{Attitude, Course, LAW_PARAMETERS, Motion};

/// The most bytes a body takes.
pub const BODY_BYTES: usize = 240;

/// Writes `q` alone.
pub fn emit_absolute(f: &Format, q: &Quantised, w: &mut BitWriter<'_>) -> Result<(), Full> {
    let start = w.len_bits();
    let mut copy = *q;
    Walk { f, port: Write(w) }.absolute(&mut copy).map_err(|_| {
        w.truncate(start);
        Full
    })
}

/// Writes the differences between `q` and what `baseline` predicts for its tick. A lossless format writes `q` alone.
pub fn emit_against(f: &Format, q: &Quantised, baseline: &Quantised, w: &mut BitWriter<'_>) -> Result<(), Full> {
    if f.lossless {
        return emit_absolute(f, q, w);
    }
    let start = w.len_bits();
    let mut copy = *q;
    Walk { f, port: Write(w) }.against(&mut copy, baseline).map_err(|_| {
        w.truncate(start);
        Full
    })
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
    let mut walk = Walk { f, port: Read(r) };
    match baseline {
        Some(baseline) if !f.lossless => walk.against(&mut q, baseline)?,
        _ => walk.absolute(&mut q)?,
    }
    check(f, &q)?;
    Ok(q)
}

/// Whether `q` is what [`Format::quantise`] could have made.
fn check(f: &Format, q: &Quantised) -> Result<(), WireError> {
    if f.lossless {
        return if f.restore(q).is_valid() { Ok(()) } else { Err(WireError::NotCanonical) };
    }
    let in_range = |n: &i64| (-LIMIT..=LIMIT).contains(n);
    if !(q.position.iter().all(in_range) && q.course.iter().all(in_range) && q.turn.iter().all(in_range)) {
        return Err(WireError::OutOfRange);
    }
    let canonical = match q.kind {
        Kind::Accelerated => q.course[3..6] != f.gravity_numbers(),
        Kind::Spline => q.course[9] >= 1,
        _ => true,
    };
    let oriented = q.form != Form::Full || Orientations::of(f).holds([q.turn[1], q.turn[2], q.turn[3]]);
    if canonical && oriented { Ok(()) } else { Err(WireError::NotCanonical) }
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
    fn unsigned(&mut self, value: &mut u64, k: u32) -> Result<(), WireError>;
    fn signed(&mut self, value: &mut i64, k: u32) -> Result<(), WireError>;
}

struct Write<'p, 'a>(&'p mut BitWriter<'a>);
struct Read<'p, 'a>(&'p mut BitReader<'a>);

/// What a writer reports when it is full; [`emit_absolute`] turns it back.
impl From<Full> for WireError {
    fn from(_: Full) -> Self {
        Self::Truncated
    }
}

impl Port for Write<'_, '_> {
    const READS: bool = false;
    #[inline]
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError> {
        Ok(self.0.push(*value, bits)?)
    }
    #[inline]
    fn unsigned(&mut self, value: &mut u64, k: u32) -> Result<(), WireError> {
        Ok(self.0.exp_golomb(*value, k)?)
    }
    #[inline]
    fn signed(&mut self, value: &mut i64, k: u32) -> Result<(), WireError> {
        Ok(self.0.signed_exp_golomb(*value, k)?)
    }
}

impl Port for Read<'_, '_> {
    const READS: bool = true;
    #[inline]
    fn plain(&mut self, value: &mut u64, bits: u32) -> Result<(), WireError> {
        *value = self.0.pull(bits)?;
        Ok(())
    }
    #[inline]
    fn unsigned(&mut self, value: &mut u64, k: u32) -> Result<(), WireError> {
        *value = self.0.exp_golomb(k)?;
        Ok(())
    }
    #[inline]
    fn signed(&mut self, value: &mut i64, k: u32) -> Result<(), WireError> {
        *value = self.0.signed_exp_golomb(k)?;
        Ok(())
    }
}

struct Walk<'f, P> {
    f: &'f Format,
    port: P,
}

impl<P: Port> Walk<'_, P> {
    fn flag(&mut self, set: &mut bool) -> Result<(), WireError> {
        let mut bit = u64::from(*set);
        self.port.plain(&mut bit, 1)?;
        *set = bit == 1;
        Ok(())
    }

    fn shape(&mut self, q: &mut Quantised) -> Result<(), WireError> {
        let (mut kind, mut form, mut law) = (q.kind as u64, q.form as u64, u64::from(q.law));
        self.port.plain(&mut kind, 3)?;
        self.port.plain(&mut form, 2)?;
        q.kind = Kind::ALL[(kind & 7) as usize];
        q.form = *Form::ALL.get(form as usize).ok_or(WireError::NotCanonical)?;
        if q.kind == Kind::Custom {
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
            Form::Heading => {
                self.heading(&mut q.turn[0])?;
                self.scalar(&mut q.turn[1], rate_order(self.f))?;
            }
            Form::Full => {
                self.orientation(&mut q.turn)?;
                for rate in &mut q.turn[4..] {
                    self.scalar(rate, rate_order(self.f))?;
                }
            }
        }
        for (number, quantity) in q.course.iter_mut().zip(q.kind.layout()) {
            match *quantity {
                Quantity::Place(axis) => self.place(number, axis)?,
                other => self.scalar(number, order(self.f, other))?,
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

    /// A number that is often zero.
    fn scalar(&mut self, number: &mut i64, k: u32) -> Result<(), WireError> {
        let mut is_set = *number != 0;
        self.flag(&mut is_set)?;
        if !is_set {
            *number = 0;
            return Ok(());
        }
        self.port.signed(number, k)
    }

    fn heading(&mut self, steps: &mut i64) -> Result<(), WireError> {
        let turn = self.f.turn_steps();
        let mut up = steps.rem_euclid(turn) as u64;
        self.port.plain(&mut up, bits_for(turn as u64 - 1))?;
        *steps = wrap_steps(up as i64, turn);
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
    fn place(&mut self, steps: &mut i64, axis: usize) -> Result<(), WireError> {
        let (lower, span) = bounds(self.f, axis);
        let escape = span + 1;
        let above = steps.wrapping_sub(lower);
        let mut code = if (0..=span as i64).contains(&above) { above as u64 } else { escape };
        self.port.plain(&mut code, bits_for(escape))?;
        if code < escape {
            *steps = lower + code as i64;
            return Ok(());
        }
        self.port.signed(steps, bits_for(escape))
    }

    fn against(&mut self, q: &mut Quantised, baseline: &Quantised) -> Result<(), WireError> {
        let f = self.f;
        let old = f.restore(baseline);
        let dt = q.tick.saturating_sub(baseline.tick) as f64 * f.tick_secs();
        let mut other = (q.kind, q.form, q.law) != (baseline.kind, baseline.form, baseline.law);
        self.flag(&mut other)?;
        if other {
            self.shape(q)?;
        } else {
            (q.kind, q.form, q.law) = (baseline.kind, baseline.form, baseline.law);
        }
        let expected = old.advanced(dt);
        let mut changed = other;
        changed |= self.rates(q, &expected.attitude)?;
        changed |= self.course(q, &expected)?;
        let mut since = 0;
        if changed {
            if !P::READS {
                since = best_since(f, q, &old, dt);
            }
            self.port.unsigned(&mut since, 5)?;
        }
        let bridge = Bridge::new(f, q, &old, dt, since);
        self.attitude(q, &bridge)?;
        let place = bridge.position(f, q);
        self.position(q, place)
    }

    /// Turn rates; whether any is not as expected.
    fn rates(&mut self, q: &mut Quantised, expected: &Attitude) -> Result<bool, WireError> {
        let rate_steps = |rate: f64| on_lattice(rate / self.f.angular_velocity_step);
        let k = rate_order(self.f);
        match q.form {
            Form::None => Ok(false),
            Form::Heading => {
                let rate = rate_steps(expected.turn_rate());
                self.difference(&mut q.turn[1], rate, k)
            }
            Form::Full => {
                let spin = match expected {
                    Attitude::Full { angular_velocity, .. } => *angular_velocity,
                    _ => Vec3::new(0.0, 0.0, expected.turn_rate()),
                };
                let spin = <[f64; 3]>::from(spin).map(rate_steps);
                let mut changed = false;
                for (number, rate) in q.turn[4..].iter_mut().zip(spin) {
                    changed |= self.difference(number, rate, k)?;
                }
                Ok(changed)
            }
        }
    }

    fn course(&mut self, q: &mut Quantised, expected: &Motion) -> Result<bool, WireError> {
        let numbers = expected_course(q, expected);
        let mut changed = false;
        for ((number, expected), quantity) in q.course.iter_mut().zip(numbers).zip(q.kind.layout()) {
            let expected = on_lattice(expected / self.f.step(*quantity));
            changed |= self.difference(number, expected, order(self.f, *quantity))?;
        }
        Ok(changed)
    }

    /// A number that is often as expected, or zero, or turned round.
    fn difference(&mut self, number: &mut i64, expected: i64, k: u32) -> Result<bool, WireError> {
        let mut changed = *number != expected;
        self.flag(&mut changed)?;
        if !changed {
            *number = expected;
            return Ok(false);
        }
        if expected != 0 {
            let mut is_set = *number != 0;
            self.flag(&mut is_set)?;
            if !is_set {
                *number = 0;
                return Ok(true);
            }
        }
        self.port.signed(number, k)?;
        Ok(true)
    }

    fn attitude(&mut self, q: &mut Quantised, bridge: &Bridge) -> Result<(), WireError> {
        match q.form {
            Form::None => Ok(()),
            Form::Heading => {
                let turn = self.f.turn_steps();
                let expected = self.f.heading_steps(bridge.attitude.heading());
                let mut off = wrap_steps(q.turn[0].wrapping_sub(expected), turn);
                self.residual(&mut off)?;
                q.turn[0] = wrap_steps(expected.wrapping_add(off), turn);
                Ok(())
            }
            Form::Full => {
                let lattice = Orientations::of(self.f);
                let orientation = bridge.attitude.orientation();
                let likely = Orientations::largest(orientation) as u64;
                let mut index = q.turn[0] as u64;
                let mut other = index != likely;
                self.flag(&mut other)?;
                if other {
                    self.port.plain(&mut index, 2)?;
                } else {
                    index = likely;
                }
                q.turn[0] = index as i64;
                let expected = lattice.rounded(orientation, index as usize & 3);
                for (number, expected) in q.turn[1..4].iter_mut().zip(expected) {
                    let mut off = number.wrapping_sub(expected);
                    self.residual(&mut off)?;
                    *number = expected.wrapping_add(off);
                }
                Ok(())
            }
        }
    }

    /// A difference of which nothing is known but that it is small: its order is written before it.
    fn residual(&mut self, off: &mut i64) -> Result<(), WireError> {
        const ORDERS: [u32; 4] = [0, 2, 5, 9];
        let size = 64 - off.unsigned_abs().leading_zeros();
        let mut class = if size <= 1 {
            0
        } else if size <= 3 {
            1
        } else if size <= 7 {
            2
        } else {
            3
        };
        self.port.plain(&mut class, 2)?;
        self.port.signed(off, ORDERS[(class & 3) as usize])
    }

    fn position(&mut self, q: &mut Quantised, expected: [i64; 3]) -> Result<(), WireError> {
        for (number, expected) in q.position.iter_mut().zip(expected) {
            let mut off = number.wrapping_sub(expected);
            self.residual(&mut off)?;
            *number = expected.wrapping_add(off);
        }
        Ok(())
    }
}

/// The old path up to a moment, the new one from there: what a single change in between leads to.
struct Bridge {
    /// Where the old path ends.
    from: Vec3,
    attitude: Attitude,
    since: f64,
}

impl Bridge {
    fn new(f: &Format, q: &Quantised, old: &Motion, dt: f64, since: u64) -> Self {
        let since = since as f64 * f.tick_secs();
        let attitude = match (q.form, old.attitude.at(dt - since)) {
            (Form::Heading, before) => {
                let turn_rate = f.number_of(q.turn[1], f.angular_velocity_step);
                Attitude::Heading { heading: before.heading() + turn_rate * since, turn_rate }
            }
            (Form::Full, before) => {
                let [x, y, z] = [q.turn[4], q.turn[5], q.turn[6]].map(|r| f.number_of(r, f.angular_velocity_step));
                let angular_velocity = Vec3::new(x, y, z);
                let turned = before.orientation() * Quat::from_rotation_vector(angular_velocity * since);
                Attitude::Full { orientation: turned.normalized(), angular_velocity }
            }
            (Form::None, _) => Attitude::None,
        };
        Self { from: old.position_at(dt - since), attitude, since }
    }

    /// Where it leads, once `q` has everything but its position.
    fn position(&self, f: &Format, q: &Quantised) -> [i64; 3] {
        let mut place = self.from;
        if self.since != 0.0 {
            let new = f.restore(&Quantised { position: [0; 3], ..*q });
            place -= new.position_at(-self.since);
        }
        <[f64; 3]>::from(place).map(|v| on_lattice(v / f.position_step))
    }
}

/// How many ticks ago the change was, as far as it can be told.
fn best_since(f: &Format, q: &Quantised, old: &Motion, dt: f64) -> u64 {
    let seconds = if q.form == Form::Heading {
        let rate = old.attitude.turn_rate();
        let change = f.number_of(q.turn[1], f.angular_velocity_step) - rate;
        let off = crate::wrap_angle(f.heading_of(q.turn[0]) - old.attitude.heading() - rate * dt);
        if change != 0.0 { off / change } else { by_place(f, q, old, dt) }
    } else {
        by_place(f, q, old, dt)
    };
    on_lattice((seconds.clamp(0.0, dt.max(0.0))) / f.tick_secs()).max(0) as u64
}

fn by_place(f: &Format, q: &Quantised, old: &Motion, dt: f64) -> f64 {
    let expected = old.at(dt);
    let new = f.restore(q);
    let change = new.velocity_at(0.0) - expected.velocity;
    let off = new.position - expected.position;
    if change.length_squared() > 0.0 { off.dot(change) / change.length_squared() } else { 0.0 }
}

/// What the numbers of `q`'s course would be if the old path went on.
fn expected_course(q: &Quantised, expected: &Motion) -> [f64; COURSE] {
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
        Kind::Custom => {
            if let Course::Custom { law, parameters } = expected.course
                && law.0.id() == q.law
            {
                n[..LAW_PARAMETERS].copy_from_slice(&parameters);
            }
        }
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

/// The code's order for a quantity: so many low bits hold what is usual in a game.
fn order(f: &Format, quantity: Quantity) -> u32 {
    match quantity {
        Quantity::Velocity => order_for(8.0, f.velocity_step),
        Quantity::Acceleration => order_for(4.0, f.acceleration_step),
        Quantity::Place(_) => order_for(4.0, f.position_step),
        Quantity::Ticks => order_for(0.5, f.tick_secs()),
        Quantity::Parameter => order_for(4.0, f.parameter_step),
    }
}

fn rate_order(f: &Format) -> u32 {
    order_for(0.5, f.angular_velocity_step)
}

fn order_for(usual: f64, step: f64) -> u32 {
    bits_for((usual / step) as u64)
}

/// How many bits hold this number.
fn bits_for(largest: u64) -> u32 {
    64 - largest.leading_zeros()
}

/// An axis' lower bound and extent in steps.
fn bounds(f: &Format, axis: usize) -> (i64, u64) {
    let (lower, upper) = (<[f64; 3]>::from(f.lower)[axis], <[f64; 3]>::from(f.upper)[axis]);
    let (lower, upper) = (on_lattice(lower / f.position_step), on_lattice(upper / f.position_step));
    (lower, upper.saturating_sub(lower).max(0) as u64)
}

//! The body of a vector record: a [`Quantised`] as bits, alone or against a baseline.
//!
//! Writing and reading are one walk over the fields, [`Walk`], through a [`Port`] that either takes each number to the
//! wire or brings it from there; so the two cannot drift apart.

use super::bits::{BitReader, BitWriter, Full, Gather, unzigzag, zigzag};
use super::format::{Format, on_lattice};
use super::predict::{Bridge, Expected, Swing, likely_since, since_unit};
use super::quantised::{COURSE, Form, Kind, Orientations, Quantised, Quantity, Turn};
use super::{LIMIT, LOSSLESS_LIMIT, WireError};
use crate::geometry::Quat;

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

/// How a body against a baseline is written; said at its front.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Manner {
    /// Kind, form and law are the baseline's.
    same: bool,
    /// Height, and what of the course is about up and down, is as expected and not written.
    level: bool,
    /// Every number is written by its difference from what is expected, because none is as expected.
    free: bool,
}

impl Manner {
    const OTHER: Self = Self { same: false, level: false, free: false };
    /// From the likeliest on: each takes a bit more than the one before, the last two the same.
    const ALL: [Self; 5] = [
        Self { same: true, level: true, free: false },
        Self { same: true, level: false, free: true },
        Self { same: true, level: true, free: true },
        Self { same: true, level: false, free: false },
        Self::OTHER,
    ];

    /// The one that fits `q` best.
    fn of(f: &Format, q: &Quantised, baseline: &Quantised, expected: &Expected) -> Self {
        if (q.kind, q.form, q.law) != (baseline.kind, baseline.form, baseline.law) {
            return Self::OTHER;
        }
        let mut level = q.position[2] == expected.height;
        for (i, number) in q.course[..q.kind.layout().len()].iter().enumerate() {
            level &= !q.kind.is_vertical(i) || *number == expected.course[i];
        }
        // Usual values have short codes of their own.
        let free = !is_set(&f.usual_speeds) && !is_set(&f.usual_turn_rates) && Self::all_change(q, expected);
        // What has no numbers at all is level first of all.
        let numbers = q.kind != Kind::Stationary || q.form != Form::None;
        let free = free && (numbers || !level);
        Self { same: true, level, free }
    }

    /// Whether every number is neither as expected nor zero, up and down apart.
    fn all_change(q: &Quantised, expected: &Expected) -> bool {
        let changes = |(number, expected): (&i64, &i64)| number != expected && *number != 0;
        let course = &q.course[..q.kind.layout().len()];
        q.turn[q.form.rates()].iter().zip(&expected.rates).all(changes)
            && course.iter().zip(&expected.course).enumerate().all(|(i, n)| q.kind.is_vertical(i) || changes(n))
    }
}

/// What is known of a number before it is written.
struct Guess {
    /// What it is if nothing has changed.
    expected: i64,
    /// In its unit; zero for none.
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
/// Differences up to this, as zigzags, are little.
const NEAR_MOST: u64 = 8;
/// No entry at all.
const NO_ENTRY: u64 = 4;

impl Guess {
    /// Zero and the usual values. One that is not set stands for the expected value turned round.
    #[inline]
    fn entries(&self) -> [i64; 4] {
        let per_unit = 1.0 / self.step;
        let entry = |usual: f64| if usual == 0.0 { -self.expected } else { on_lattice(usual * per_unit) };
        [0, entry(self.usual[0]), entry(self.usual[1]), entry(self.usual[2])]
    }

    #[inline]
    fn has_usual(&self) -> bool {
        is_set(&self.usual)
    }

    /// How the writer puts a number that is not as expected, and the entry it is or is near to.
    #[inline(always)]
    fn choice(&self, number: i64, entries: &[i64; 4]) -> ((u64, u32), u64) {
        let entry = entry_of(entries, |entry| entry == number);
        if entry != NO_ENTRY {
            return (USUAL, entry);
        }
        let near = |other: i64| zigzag(number.wrapping_sub(other)) <= NEAR_MOST;
        if near(self.expected) {
            return (NEAR, NO_ENTRY);
        }
        if !self.has_usual() {
            return (ANY, NO_ENTRY);
        }
        match entry_of(entries, near) {
            NO_ENTRY => (ANY, NO_ENTRY),
            entry => (NEAR, entry),
        }
    }
}

/// Whether there are usual values.
#[inline]
fn is_set(usual: &[f64; 3]) -> bool {
    usual.iter().any(|value| *value != 0.0)
}

/// The first entry that is wanted; found without a branch to mispredict.
#[inline(always)]
fn entry_of(entries: &[i64; 4], wanted: impl Fn(i64) -> bool) -> u64 {
    (0..4).rev().fold(NO_ENTRY, |best, i| if wanted(entries[i]) { i as u64 } else { best })
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
        self.law(q)
    }

    fn law(&mut self, q: &mut Quantised) -> Result<(), WireError> {
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
        self.rates(q, [0; 3], false)?;
        for (i, quantity) in q.kind.layout().iter().enumerate() {
            match *quantity {
                Quantity::Place(axis) => self.place(&mut q.course[i], axis)?,
                _ => drop(self.course_number(q, i, (0, usual_size(*quantity)), false)?),
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
        let mut manner = Manner::OTHER;
        if P::READS {
            manner = self.front(manner, q, baseline)?;
        }
        let expected = Expected::new(self.f, q, baseline, self.turn);
        if !P::READS {
            manner = self.front(Manner::of(self.f, q, baseline, &expected), q, baseline)?;
        }
        let turns = self.rates(q, expected.rates, manner.free)?;
        let mut changed = turns | !manner.same;
        for (i, quantity) in q.kind.layout().iter().enumerate() {
            if manner.level && q.kind.is_vertical(i) {
                q.course[i] = expected.course[i];
                continue;
            }
            let usual = if *quantity == Quantity::Velocity { 0.7 * expected.way } else { usual_size(*quantity) };
            changed |= self.course_number(q, i, (expected.course[i], usual), manner.free)?;
        }
        let (since, faces) = if changed { self.change(q, &expected, turns)? } else { (0.0, false) };
        let bridge = Bridge::new(self.f, q, &expected, since);
        if !faces {
            self.attitude(q, &bridge, expected.dt)?;
        }
        let [x, y, z] = bridge.position(self.f, q, self.turn);
        if !manner.level {
            return self.position(q, [x, y, z], expected.way);
        }
        q.position[2] = expected.height;
        self.level_position(q, [x, y], expected.way).map(drop)
    }

    /// The manner, and kind, form and law.
    #[inline]
    fn front(&mut self, said: Manner, q: &mut Quantised, baseline: &Quantised) -> Result<Manner, WireError> {
        let mut manner = Manner::OTHER;
        for likely in &Manner::ALL[..4] {
            if !self.flag(said != *likely)? {
                manner = *likely;
                break;
            }
        }
        if manner.same {
            (q.kind, q.form, q.law) = (baseline.kind, baseline.form, baseline.law);
            return Ok(manner);
        }
        let mut kind = q.kind as u64;
        self.port.plain(&mut kind, 3)?;
        q.kind = Kind::ALL[(kind & 7) as usize];
        if self.flag(q.form != baseline.form)? {
            let mut form = q.form as u64;
            self.port.plain(&mut form, 2)?;
            q.form = *Form::ALL.get(form as usize).ok_or(WireError::NotCanonical)?;
        } else {
            q.form = baseline.form;
        }
        self.law(q)?;
        Ok(manner)
    }

    /// How long ago, in seconds, the motion changed; and whether that has said the heading too.
    ///
    /// What drives along its heading changes at once, and the writer says when. All else changes evenly, for all one
    /// knows: that leads to the same place as a change halfway.
    #[inline]
    fn change(&mut self, q: &mut Quantised, expected: &Expected, turns: bool) -> Result<(f64, bool), WireError> {
        let told = match (q.kind, q.form) {
            // A spline's own shape needs its start, which is not known yet.
            (Kind::Spline, _) => return Ok((0.0, false)),
            (Kind::Circular, Form::Heading) if turns => self.swing(q, expected)?.map(|since| (since, true)),
            (Kind::Circular, _) => self.since(q, expected)?.map(|since| (since, false)),
            _ => None,
        };
        Ok(told.unwrap_or((0.5 * expected.dt, false)))
    }

    /// The heading, if a single change of the turn rate explains it, and how long ago that was.
    #[inline]
    fn swing(&mut self, q: &mut Quantised, expected: &Expected) -> Result<Option<f64>, WireError> {
        let swing = Swing::new(self.f, q, self.turn, expected);
        let mut number = if P::READS { 0 } else { swing.number_of(q.turn[0]) };
        if !self.flag(number < swing.headings)? {
            return Ok(None);
        }
        self.limited(&mut number, swing.headings)?;
        q.turn[0] = swing.heading(number);
        Ok(Some(swing.since(number)))
    }

    /// How long ago, in seconds, the one change was that explains where `q` is, if there is one.
    #[inline]
    fn since(&mut self, q: &Quantised, expected: &Expected) -> Result<Option<f64>, WireError> {
        let unit = since_unit(self.f);
        let most = on_lattice(expected.dt / unit).clamp(0, LONGEST_SINCE) as u64 + 1;
        let mut units = 0;
        if !P::READS {
            units = on_lattice(likely_since(self.f, q, self.turn, expected) / unit) as u64;
        }
        if !self.flag((1..=most).contains(&units))? {
            return Ok(None);
        }
        units = units.wrapping_sub(1);
        self.limited(&mut units, most)?;
        Ok(Some((units + 1) as f64 * unit))
    }

    /// A number below `range` (at least 1), all of them about as likely: the first take a bit less than the others.
    #[inline(always)]
    fn limited(&mut self, value: &mut u64, range: u64) -> Result<(), WireError> {
        let bits = range.ilog2();
        let short = (2 << bits) - range;
        if !P::READS {
            let over = value.saturating_sub(short);
            let code = if *value < short { *value } else { (short + over / 2) | ((over & 1) << bits) };
            return self.port.plain(&mut { code }, bits + u32::from(*value >= short));
        }
        self.port.plain(value, bits)?;
        if *value >= short {
            *value = short + (*value - short) * 2 + u64::from(self.flag(false)?);
        }
        Ok(())
    }

    /// Turn rate or angular velocity; whether any is not as expected.
    #[inline(always)]
    fn rates(&mut self, q: &mut Quantised, expected: [i64; 3], free: bool) -> Result<bool, WireError> {
        let (f, step) = (self.f, self.f.angular_velocity_step);
        let usual = if q.form == Form::Heading { f.usual_turn_rates } else { [0.0; 3] };
        let order = order_for(if is_set(&usual) { 0.6 } else { 1.0 }, step);
        let mut changed = false;
        for (number, expected) in q.turn[q.form.rates()].iter_mut().zip(expected) {
            changed |= self.number(number, Guess { expected, usual, step, order }, free)?;
        }
        Ok(changed)
    }

    /// A number of the course, of which `usual` is the usual size or difference; whether it is not as expected.
    #[inline(always)]
    fn course_number(
        &mut self,
        q: &mut Quantised,
        i: usize,
        (expected, usual): (i64, f64),
        free: bool,
    ) -> Result<bool, WireError> {
        let (f, quantity) = (self.f, q.kind.layout()[i]);
        let step = f.step(quantity);
        let mut guess = Guess { expected, usual: [0.0; 3], step, order: order_for(usual, step) };
        if q.kind == Kind::Circular && i == 0 && is_set(&f.usual_speeds) {
            guess.usual = f.usual_speeds;
            guess.order = order_for(usual_size(quantity), step);
        }
        self.number(&mut q.course[i], guess, free)
    }

    /// A number that is often as expected or has a usual value, unless it is free; whether it is not as expected.
    #[inline(always)]
    fn number(&mut self, number: &mut i64, guess: Guess, free: bool) -> Result<bool, WireError> {
        if free {
            self.difference(number, guess.expected, guess.order)?;
            return Ok(*number != guess.expected);
        }
        let (mut choice, mut entry, mut entries) = (SAME, NO_ENTRY, [0; 4]);
        if !P::READS {
            if *number == guess.expected {
                return self.choice(SAME).map(|_| false);
            }
            entries = guess.entries();
            (choice, entry) = guess.choice(*number, &entries);
        }
        choice = self.choice(choice)?;
        if P::READS && (choice == USUAL || choice == NEAR) {
            entries = guess.entries();
        }
        match choice {
            SAME => *number = guess.expected,
            USUAL => *number = self.usual(entry, &entries, &guess)?,
            NEAR => self.near(number, entry, &entries, &guess)?,
            _ if guess.has_usual() => self.signed(number, guess.order)?,
            _ => self.difference(number, guess.expected, guess.order)?,
        }
        Ok(*number != guess.expected)
    }

    /// Which of the usual values a number is. It cannot be the one that is expected.
    #[inline(always)]
    fn usual(&mut self, entry: u64, entries: &[i64; 4], guess: &Guess) -> Result<i64, WireError> {
        if !guess.has_usual() {
            return Ok(entries[usize::from(self.flag(entry != 0)?)]);
        }
        let without = entry_of(entries, |entry| entry == guess.expected);
        let mut code = entry - u64::from(entry > without);
        self.limited(&mut code, if without == NO_ENTRY { 4 } else { 3 })?;
        Ok(entries[(code + u64::from(code >= without)) as usize & 3])
    }

    /// A number that is a little off what is expected, or off one of the usual values.
    #[inline]
    fn near(&mut self, number: &mut i64, mut entry: u64, entries: &[i64; 4], guess: &Guess) -> Result<(), WireError> {
        let mut from = guess.expected;
        if guess.has_usual() && self.flag(entry != NO_ENTRY)? {
            self.port.plain(&mut entry, 2)?;
            from = entries[entry as usize & 3];
        }
        let mut off = zigzag(number.wrapping_sub(from)).wrapping_sub(1);
        self.port.golomb(&mut off, 1)?;
        *number = from.wrapping_add(unzigzag(off.wrapping_add(1)));
        Ok(())
    }

    /// A number by its difference from what is expected.
    #[inline(always)]
    fn difference(&mut self, number: &mut i64, expected: i64, order: u32) -> Result<(), WireError> {
        let mut off = number.wrapping_sub(expected);
        self.signed(&mut off, order)?;
        *number = expected.wrapping_add(off);
        Ok(())
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

    fn attitude(&mut self, q: &mut Quantised, bridge: &Bridge, dt: f64) -> Result<(), WireError> {
        match q.form {
            Form::None => Ok(()),
            Form::Heading => self.heading_off(&mut q.turn[0], bridge.attitude.heading(), dt),
            Form::Full => self.orientation_off(&mut q.turn, bridge.attitude.orientation()),
        }
    }

    #[inline]
    fn heading_off(&mut self, steps: &mut i64, expected: f64, dt: f64) -> Result<(), WireError> {
        let f = self.f;
        let turn = self.turn;
        let expected = turn.steps(expected);
        let mut off = [turn.wrap(steps.wrapping_sub(expected))];
        self.residuals(&mut off, [order_for(2.5e-4, f.angle_step), order_for(0.5 * libm::fabs(dt), f.angle_step)])?;
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
    fn position(&mut self, q: &mut Quantised, [x, y, z]: [i64; 3], way: f64) -> Result<(), WireError> {
        let k = self.level_position(q, [x, y], way)?;
        let mut off = q.position[2].wrapping_sub(z);
        // Most things stay on the ground.
        if self.flag(off != 0)? {
            self.signed(&mut off, k)?;
        } else {
            off = 0;
        }
        q.position[2] = z.wrapping_add(off);
        Ok(())
    }

    /// Its x and y. Returns the order used.
    #[inline]
    fn level_position(&mut self, q: &mut Quantised, expected: [i64; 2], way: f64) -> Result<u32, WireError> {
        let step = self.f.position_step;
        let mut off = [0, 1].map(|i| q.position[i].wrapping_sub(expected[i]));
        let k = self.residuals(&mut off, [order_for(0.02, step), order_for(0.125 * way, step)])?;
        (0..2).for_each(|i| q.position[i] = expected[i].wrapping_add(off[i]));
        Ok(k)
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

/// No change is told that was more units ago than this.
const LONGEST_SINCE: i64 = 1 << 20;

/// No code has a higher order: with it, none is longer than 73 bits.
const ORDER_MOST: u32 = 32;

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
/// needs no division. What a strange baseline makes usual ends at [`ORDER_MOST`].
#[inline]
fn order_for(usual: f64, step: f64) -> u32 {
    let exponent = |x: f64| (x.to_bits() >> 52) as u32 & 0x7FF;
    exponent(usual).saturating_sub(exponent(step)).min(ORDER_MOST)
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
    use crate::motion::{Course, Motion};
    use crate::time::GlobalTime;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Ages of a baseline in ticks, from the same tick to far away on either side.
    fn age() -> impl Strategy<Value = i64> {
        prop_oneof![Just(0), 1..2_000i64, -2_000..0i64, any::<i64>().prop_map(|t| t >> 8)]
    }

    /// The body of `q`, alone or against a baseline, and its length in bits.
    fn written(f: &Format, q: &Quantised, baseline: Option<&Quantised>) -> (Vec<u8>, usize) {
        let mut buffer = [0; BODY_BYTES];
        let mut w = BitWriter::new(&mut buffer);
        let emitted = match baseline {
            Some(baseline) => emit_against(f, q, baseline, &mut w),
            None => emit_absolute(f, q, &mut w),
        };
        emitted.expect("no body is longer than BODY_BYTES");
        (w.as_bytes().to_vec(), w.len_bits())
    }

    /// What a reader gets of `q`, written alone or against a baseline.
    fn read(f: &Format, q: &Quantised, baseline: Option<&Quantised>) -> Result<Quantised, WireError> {
        let (bytes, bits) = written(f, q, baseline);
        let mut r = BitReader::new(&bytes);
        let parsed = parse_body(f, &mut r, q.tick, baseline)?;
        assert_eq!(r.position_bits(), bits);
        Ok(parsed)
    }

    /// Speeds as they are, are nearly, or are not usual.
    fn speed() -> impl Strategy<Value = f64> {
        prop_oneof![Just(25.0), Just(-12.5), Just(0.0), 24.95..25.05f64, -0.05..0.05f64, -30.0..30.0f64]
    }

    /// The same for turn rates.
    fn rate() -> impl Strategy<Value = f64> {
        use core::f64::consts::FRAC_PI_4;
        prop_oneof![Just(FRAC_PI_4), Just(-FRAC_PI_4), Just(0.0), 0.78..0.79f64, -0.01..0.01f64, -1.0..1.0f64]
    }

    fn often_none() -> impl Strategy<Value = f64> {
        prop_oneof![3 => Just(0.0), 1 => -1.0..1.0f64]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn every_motion_survives_alone(f in samples::format(), m in samples::motion(), t in 0..i64::MAX >> 8) {
            let q = f.quantise(&m, GlobalTime::from_nanos(t)).unwrap();
            prop_assert_eq!(read(&f, &q, None), Ok(q));
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
            prop_assert_eq!(read(&f, &q, Some(&baseline)), Ok(q));
            prop_assert_eq!(read(&f, &q, None), Ok(q));
        }

        #[test]
        fn a_motion_that_goes_on_is_nearly_free(m in samples::everyday(), ms in 1..1_500i64) {
            let f = samples::formats()[0];
            let baseline = f.quantise(&m, GlobalTime::ZERO).unwrap();
            let later = f.restore(&baseline).advanced(ms as f64 / 1e3);
            prop_assume!(core::mem::discriminant(&later.course) == core::mem::discriminant(&m.course));
            let q = f.quantise(&later, GlobalTime::from_millis(ms)).unwrap();
            prop_assert_eq!(read(&f, &q, Some(&baseline)), Ok(q));
            let (_, bits) = written(&f, &q, Some(&baseline));
            prop_assert!(bits <= 45, "{bits} {q:?}");
        }

        #[test]
        fn a_tank_survives_whatever_it_does(
            speeds in [speed(), speed()],
            rates in [rate(), rate()],
            [climb, fallen] in [often_none(), often_none()],
            (before, after) in (0..600i64, 0..600i64),
        ) {
            for f in samples::formats() {
                let old = Motion::circular(Vec3::new(10.0, -20.0, 0.0), 3.0, speeds[0], rates[0]);
                let turning = old.advanced(before as f64 / 1e3).attitude.heading();
                let new = Motion::circular(old.position_at(before as f64 / 1e3), turning, speeds[1], rates[1]);
                let mut new = new.advanced(after as f64 / 1e3);
                new.position.z += fallen;
                if let Course::Circular { climb: c, .. } = &mut new.course {
                    *c = climb;
                }
                let baseline = f.quantise(&old, GlobalTime::ZERO).unwrap();
                let q = f.quantise(&new, GlobalTime::from_millis(before + after)).unwrap();
                prop_assert_eq!(read(&f, &q, Some(&baseline)), Ok(q));
                if f.usual_turn_rates[0] != 0.0 && climb == 0.0 && fallen == 0.0 {
                    let (_, bits) = written(&f, &q, Some(&baseline));
                    prop_assert!(bits <= 70, "{bits} {q:?}");
                }
            }
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
                prop_assert_eq!(read(&f, &q, None), Ok(q));
                if let Some(baseline) = baseline {
                    prop_assert_eq!(read(&f, &q, Some(baseline)), Ok(q));
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
                assert_eq!(read(&f, q, None), Ok(*q));
                for baseline in &all {
                    assert_eq!(read(&f, q, Some(baseline)), Ok(*q));
                }
            }
        }
    }

    #[test]
    fn outside_the_bounds_costs_an_escape_and_no_more() {
        let f = Format::bzflag();
        let bits = |x: f64| {
            let q = f.quantise(&Motion::stationary(Vec3::new(x, 0.0, 0.0)), GlobalTime::ZERO).unwrap();
            assert_eq!(read(&f, &q, None), Ok(q));
            written(&f, &q, None).1
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

    #[test]
    fn what_stays_where_it_is_takes_four_bits_and_the_low_ones() {
        for f in samples::formats().into_iter().filter(|f| !f.lossless) {
            let m = Motion::stationary(Vec3::new(1.0, 2.0, 3.0));
            let (old, q) = (f.quantise(&m, GlobalTime::ZERO).unwrap(), f.quantise(&m, GlobalTime::from_millis(300)));
            let bits = 4 + 2 * order_for(0.02, f.position_step) as usize;
            assert_eq!(written(&f, &q.unwrap(), Some(&old)).1, bits);
        }
    }

    /// The bits are a promise to every other build and machine. If this fails on purpose, the version of the datagram
    /// must change.
    #[test]
    fn the_bits_are_pinned() {
        let f = Format::bzflag();
        let at = |m: &Motion, ms| f.quantise(m, GlobalTime::from_millis(ms)).unwrap();
        let plainly = |m: &Motion, ms| Format::default().quantise(m, GlobalTime::from_millis(ms)).unwrap();
        let hex = |(bytes, _): (Vec<u8>, usize)| {
            bytes.iter().map(|byte| std::format!("{byte:02x}")).collect::<std::string::String>()
        };
        let old = at(&Motion::circular(Vec3::new(10.0, -20.0, 0.0), 0.5, 25.0, 0.0), 1_000);
        let arc = Motion::circular(Vec3::new(10.0, -20.0, 0.0), 0.5, 25.0, 0.0).advanced(0.3);
        let arc = Motion { attitude: arc.facing(0.5, -0.7).attitude, ..arc }.advanced(0.06);
        let jump = Motion::accelerated(arc.position, Vec3::new(20.0, 9.0, 18.5), f.gravity).facing(0.47, -0.7);
        let tumbling = arc.oriented(Quat::from_rotation_vector(Vec3::new(0.3, -0.2, 0.9)), Vec3::new(0.1, 0.2, 3.0));
        let ran = Motion::linear(Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, -5.0, 0.5)).facing(1.0, 0.2);
        let runs = Motion::linear(Vec3::new(2.1, 0.8, 3.1), Vec3::new(4.6, -4.1, 0.4)).facing(1.1, 0.6);
        let bodies = [
            written(&f, &old, None),
            written(&f, &at(&arc, 1_360), Some(&old)),
            written(&f, &at(&jump, 1_400), Some(&at(&arc, 1_360))),
            written(&f, &at(&tumbling, 1_360), None),
            written(&f, &at(&tumbling.advanced(0.5), 1_860), Some(&at(&tumbling, 1_360))),
            written(&Format::default(), &plainly(&runs, 1_250), Some(&plainly(&ran, 1_000))),
        ]
        .map(hex);
        assert_eq!(
            bodies,
            [
                "ec8b425040e1280100",
                "debb1a07",
                "3f7ef9beb67f9a3e84befaf453",
                "1443f374939c0f9983ec13ee008d72580200",
                "004000",
                "01191e5a13a0ee26",
            ]
        );
        let agreement = crate::wire::Agreement { format: f, ..Default::default() };
        assert_eq!(agreement.fingerprint(), 12_244_103_870_194_650_880);
    }

    #[test]
    fn a_law_that_is_not_in_the_format_is_refused() {
        let f = samples::formats()[0];
        let q = f.quantise(&Motion::custom(Vec3::ZERO, samples::LAWS[0], [1.0; 6]), GlobalTime::ZERO).unwrap();
        let (bytes, _) = written(&f, &q, None);
        let parsed = parse_body(&Format::default(), &mut BitReader::new(&bytes), q.tick, None);
        assert_eq!(parsed, Err(WireError::UnknownLaw(3)));
    }
}

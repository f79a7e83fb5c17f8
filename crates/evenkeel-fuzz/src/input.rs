//! Taking a script apart. What is missing at its end is zero, and so are formats, numbers and times made of it.

use evenkeel::motion::LAW_PARAMETERS;
use evenkeel::wire::{Format, Laws};
use evenkeel::{Duration, Law, Vec3};

pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    /// As many bytes as asked for, or as there are.
    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.take(N);
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// Bytes with their length before them.
    pub(crate) fn chunk(&mut self) -> &'a [u8] {
        let length = self.u16();
        self.take(usize::from(length))
    }

    /// A span of time: everyday ones in few bytes, any in nine.
    pub(crate) fn span(&mut self) -> Duration {
        match self.byte() % 4 {
            0 => Duration::from_millis(i64::from(self.byte())),
            1 => Duration::from_micros(i64::from(self.u16()) * 100),
            2 => Duration::from_millis(-i64::from(self.byte())),
            _ => Duration::from_nanos(self.i64()),
        }
    }

    /// A number: everyday ones in few bytes, any in nine.
    pub(crate) fn number(&mut self) -> f64 {
        match self.byte() % 4 {
            0 => 0.0,
            1 => f64::from(self.u16() as i16) / 64.0,
            2 => f64::from(self.byte() as i8) * 1e9,
            _ => f64::from_bits(self.i64() as u64),
        }
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }

    /// One of some formats that are valid, the extremes among them.
    pub(crate) fn format(&mut self) -> Format {
        match self.byte() % 5 {
            0 => Format::default(),
            1 => Format::bzflag(),
            2 => Format::lossless(),
            3 => self.odd_format(1.0),
            _ => self.odd_format(0.0),
        }
    }

    /// The same, with a law of motion besides.
    pub(crate) fn format_with_laws(&mut self) -> Format {
        Format { laws: Laws::new(&LAWS), ..self.format() }
    }

    /// Any steps; `far` times the farthest bounds.
    fn odd_format(&mut self, far: f64) -> Format {
        let mut step = || 10f64.powf(f64::from(self.byte()) / 255.0 * 9.0 - 6.0).clamp(1e-6, 1e3);
        let steps = [step(), step(), step(), step(), step(), step()];
        Format {
            position_step: steps[0],
            velocity_step: steps[1],
            acceleration_step: steps[2],
            angle_step: steps[3],
            angular_velocity_step: steps[4],
            parameter_step: steps[5],
            lower: Vec3::new(-1e9, -1e9, -1e9) * far,
            upper: Vec3::new(1e9, 1e9, 1e9) * far,
            quaternion_bits: 4 + u32::from(self.byte() % 21),
            time_step: Duration::from_nanos(1 + i64::from(self.u32() % 1_000_000_000)),
            usual_speeds: [25.0 * far, -1e6, 1e-3],
            gravity: Vec3::new(0.0, 0.0, -f64::from(self.byte())),
            ..Format::default()
        }
    }
}

static LAWS: [&dyn Law; 1] = [&Drift];

/// Constant velocity and numbers that do nothing.
struct Drift;

impl Law for Drift {
    fn id(&self) -> u8 {
        3
    }
    fn displacement(&self, p: &[f64; LAW_PARAMETERS], dt: f64) -> Vec3 {
        Vec3::new(p[0], p[1], p[2]) * dt
    }
    fn velocity(&self, p: &[f64; LAW_PARAMETERS], _: f64) -> Vec3 {
        Vec3::new(p[0], p[1], p[2])
    }
    fn advanced(&self, p: &[f64; LAW_PARAMETERS], _: f64) -> [f64; LAW_PARAMETERS] {
        *p
    }
}

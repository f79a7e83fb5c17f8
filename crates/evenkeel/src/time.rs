//! Integer time: [`Duration`], [`Instant`] (one host's own clock) and [`GlobalTime`] (the session's clock).
//!
//! All three count nanoseconds in an `i64`, which spans 292 years either way. Integers make equal inputs give equal
//! bytes, whatever the machine. An [`Instant`] has no meaning outside the host that read it and never travels; the
//! [`Clock`](crate::clock::Clock) turns one into a [`GlobalTime`], which does.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A signed span of time in nanoseconds.
///
/// Signed, unlike [`core::time::Duration`], because clock offsets and relative errors have a direction.
///
/// ```
/// use evenkeel::Duration;
/// let tick = Duration::from_secs_f64(1.0 / 60.0);
/// assert_eq!(tick.as_micros(), 16_666);
/// assert_eq!((Duration::from_millis(5) - Duration::from_millis(8)).as_millis(), -3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of whole nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A span of whole microseconds (saturating).
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of whole milliseconds (saturating).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of whole seconds (saturating).
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// The nearest span to a number of seconds. Not-a-number gives zero; what is too large saturates.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(libm::round(secs * 1e9) as i64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whole microseconds, rounded toward zero.
    pub const fn as_micros(self) -> i64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded toward zero.
    pub const fn as_millis(self) -> i64 {
        self.0 / 1_000_000
    }

    /// Seconds as a floating-point number.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds as a floating-point number.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span without its direction.
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// Whether the span points backwards.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The span times a factor, to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self(libm::round(self.0 as f64 * factor) as i64)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Duration {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<i64> for Duration {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for Duration {
    type Output = Self;
    fn div(self, divisor: i64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.as_millis_f64())
    }
}

macro_rules! point_in_time {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $name(i64);

        impl $name {
            /// The clock's origin.
            pub const ZERO: Self = Self(0);
            /// The latest point there is.
            pub const MAX: Self = Self(i64::MAX);
            /// The earliest point there is.
            pub const MIN: Self = Self(i64::MIN);

            /// The point so many nanoseconds after the origin.
            pub const fn from_nanos(nanos: i64) -> Self {
                Self(nanos)
            }

            /// The point so many milliseconds after the origin (saturating).
            pub const fn from_millis(millis: i64) -> Self {
                Self(millis.saturating_mul(1_000_000))
            }

            /// The point nearest to so many seconds after the origin.
            pub fn from_secs_f64(secs: f64) -> Self {
                Self(Duration::from_secs_f64(secs).as_nanos())
            }

            /// Nanoseconds since the origin.
            pub const fn as_nanos(self) -> i64 {
                self.0
            }

            /// Seconds since the origin.
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / 1e9
            }

            /// How long after `earlier` this is; negative if it is before.
            pub const fn since(self, earlier: Self) -> Duration {
                Duration::from_nanos(self.0.saturating_sub(earlier.0))
            }
        }

        impl Add<Duration> for $name {
            type Output = Self;
            fn add(self, span: Duration) -> Self {
                Self(self.0.saturating_add(span.as_nanos()))
            }
        }

        impl Sub<Duration> for $name {
            type Output = Self;
            fn sub(self, span: Duration) -> Self {
                Self(self.0.saturating_sub(span.as_nanos()))
            }
        }

        impl AddAssign<Duration> for $name {
            fn add_assign(&mut self, span: Duration) {
                *self = *self + span;
            }
        }

        impl Sub for $name {
            type Output = Duration;
            fn sub(self, earlier: Self) -> Duration {
                self.since(earlier)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({} s)"), self.as_secs_f64())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} s", self.as_secs_f64())
            }
        }
    };
}

point_in_time! {
    /// A reading of one host's own monotone clock. It stays on that host: it is never written on the wire.
    ///
    /// ```
    /// use evenkeel::{Duration, Instant};
    /// let start = Instant::from_millis(10);
    /// assert_eq!((start + Duration::from_millis(5)).since(start).as_millis(), 5);
    /// ```
    Instant
}

point_in_time! {
    /// A reading of the session's clock, the same everywhere up to the clock's published uncertainty.
    ///
    /// ```
    /// use evenkeel::{Duration, GlobalTime};
    /// let shown = GlobalTime::from_secs_f64(2.5) - Duration::from_millis(100); // with 100 ms of lag
    /// assert_eq!(shown.as_secs_f64(), 2.4);
    /// ```
    GlobalTime
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.1).as_nanos(), 100_000_000);
        assert_eq!(Duration::from_secs_f64(-1e-9).as_nanos(), -1);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(GlobalTime::MAX + Duration::from_secs(1), GlobalTime::MAX);
        assert_eq!(GlobalTime::MIN.since(GlobalTime::MAX).as_nanos(), i64::MIN);
        assert_eq!(Duration::from_secs(i64::MAX), Duration::MAX);
    }
}

//! How a sender is set up.

use crate::constraint::Constraint;
use crate::lag::{Lag, LagError};
use crate::ledger::Placing;
use crate::motion::MotionKind;
use crate::policy::{Base, Policy};
use crate::time::Duration;
use crate::trigger::Threshold;
use crate::wire::{Format, FormatError};
use alloc::boxed::Box;
use core::fmt;

/// How a [`Sender`](super::Sender) is set up. Start from the default and change what matters.
pub struct SenderConfig {
    /// Precision and bounds on the wire, as agreed with the receivers. Default: [`Format::default`].
    pub format: Format,
    /// Who is told what and when. Default: [`Base`], everything to everybody.
    pub policy: Box<dyn Policy>,
    /// How the receivers place what they are sent: the books depend on it. Default: global time, no lag, extrapolation for
    /// at most 3 s. A policy that sends every k-th vector needs k heartbeats within that.
    pub placing: Placing,
    /// The largest datagram, in bytes; at least [`SenderConfig::LEAST_DATAGRAM`]. Default: 1200.
    pub max_datagram: usize,
    /// How many entities it may own at once. Default: 65,536.
    pub max_entities: usize,
    /// How many receivers it may serve at once. Default: 4,096.
    pub max_receivers: usize,
    /// How far back [`seen_by`](super::Sender::seen_by) answers and late receipts still correct the books;
    /// three round trips and a second at least. Default: 2 s.
    pub history: Duration,
    /// Over how long the past fades in [`PairView::recent`](crate::ledger::PairView::recent); `None` for never.
    /// Policies measure rates, and adapt, over fixed parts of it; `None` counts as 20 s there. Default: 20 s.
    pub window: Option<Duration>,
    /// Whether export errors are booked. Without, [`fairness`](super::Sender::fairness) knows what was sent but no errors, and
    /// only policies that read none make sense; [`seen_by`](super::Sender::seen_by) works as ever. Default: yes.
    pub books: bool,
    /// Whether an entity's newest vector is sent again when the last one sent is lost. The papers leave that to the
    /// heartbeat. Default: yes.
    pub resend_lost: bool,
    /// Whoever has been sent nothing about an entity for this long gets its next vector whatever the policy says: for games that
    /// take silence for a lost connection. Heartbeats bound how much longer that may take. Default: `None`, the policy alone decides.
    pub longest_silence: Option<Duration>,
    /// Whether reception times are believed as claimed, because receivers are one's own. Default: no.
    pub trust_receipts: bool,
    /// Makes the nonces unpredictable: give every sender random bytes of its own where receivers might lie. Default: zeros.
    pub secret: [u8; 16],
    /// The world's say in extrapolation. Receivers must have the same.
    pub constraint: Option<Box<dyn Constraint>>,
}

impl SenderConfig {
    /// No datagram size below this is accepted: the largest record must fit.
    pub const LEAST_DATAGRAM: usize = 320;

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.format.validate().map_err(ConfigError::Format)?;
        if self.max_datagram < Self::LEAST_DATAGRAM {
            return Err(ConfigError::DatagramTooSmall { least: Self::LEAST_DATAGRAM });
        }
        Lag::constant(self.placing.lag).map_err(ConfigError::Lag)?;
        if self.history.is_negative() {
            return Err(ConfigError::Negative("history"));
        }
        if self.placing.max_age <= Duration::ZERO {
            return Err(ConfigError::Negative("max_age"));
        }
        Ok(())
    }
}

impl Default for SenderConfig {
    /// Every vector to everybody, in the default format, placed by global time, in datagrams of 1200 bytes.
    fn default() -> Self {
        Self {
            format: Format::default(),
            policy: Box::new(Base),
            placing: Placing::default(),
            max_datagram: 1200,
            max_entities: 65_536,
            max_receivers: 4_096,
            history: Duration::from_secs(2),
            window: Some(Duration::from_secs(20)),
            books: true,
            resend_lost: true,
            longest_silence: None,
            trust_receipts: false,
            secret: [0; 16],
            constraint: None,
        }
    }
}

/// How one entity is exported.
///
/// ```
/// use evenkeel::{EntityConfig, MotionKind, Threshold};
/// let tank = EntityConfig { kind: MotionKind::Circular, ..Threshold::within(0.1).into() };
/// # let _ = tank;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EntityConfig {
    /// When a new vector is due.
    pub threshold: Threshold,
    /// Which motion its vectors carry.
    pub kind: MotionKind,
}

impl From<Threshold> for EntityConfig {
    fn from(threshold: Threshold) -> Self {
        Self { threshold, kind: MotionKind::Auto }
    }
}

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The format is not usable.
    Format(FormatError),
    /// The lag cannot be.
    Lag(LagError),
    /// The largest record would not fit.
    DatagramTooSmall {
        /// The smallest size that works.
        least: usize,
    },
    /// A span of time is negative, or zero where it must not be.
    Negative(&'static str),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => write!(f, "the wire format is not usable: {error}"),
            Self::Lag(error) => error.fmt(f),
            Self::DatagramTooSmall { least } => write!(f, "max_datagram must be at least {least} bytes"),
            Self::Negative(name) => write!(f, "{name} is negative, or zero where it must not be"),
        }
    }
}

impl core::error::Error for ConfigError {}

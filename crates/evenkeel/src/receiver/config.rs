//! How a receiver is set up.

use super::Smoothing;
use crate::constraint::Constraint;
use crate::ledger::Placing;
use crate::time::Duration;
use alloc::boxed::Box;

/// How a [`Receiver`](super::Receiver) is set up. Start from the default and change what matters.
pub struct ReceiverConfig {
    /// Clock rule, lag and the bound on extrapolation. Senders must know the same.
    pub placing: Placing,
    /// What [`Receiver::place`](super::Receiver::place) answers for a vector older than the bound. Default: it freezes.
    pub beyond: Beyond,
    /// How jumps are hidden. Default: they are not.
    pub smoothing: Smoothing,
    /// How far back [`Receiver::recall`](super::Receiver::recall) answers. Default: 1 s.
    pub history: Duration,
    /// Senders at once. Default: 4,096.
    pub max_senders: usize,
    /// Entities at once, over all senders. Default: 65,536.
    pub max_entities: usize,
    /// The largest receipt, in bytes. Default: 1200.
    pub max_datagram: usize,
    /// Receipts are sent no more often than this. Default: 20 ms.
    pub receipt_interval: Duration,
    /// After this long without a datagram a sender counts as silent. Default: 5 s.
    pub silent_after: Duration,
    /// Whether an entity is taken only from the owner that [`Receiver::grant`](super::Receiver::grant) named. If not, the first to speak owns it.
    /// Default: no.
    pub require_grants: bool,
    /// The world's say in extrapolation. Senders must have the same.
    pub constraint: Option<Box<dyn Constraint>>,
}

impl Default for ReceiverConfig {
    /// Global time, no lag, no smoothing; entities freeze after three seconds without a vector.
    fn default() -> Self {
        Self {
            placing: Placing::default(),
            beyond: Beyond::Freeze,
            smoothing: Smoothing::None,
            history: Duration::from_secs(1),
            max_senders: 4_096,
            max_entities: 65_536,
            max_datagram: 1200,
            receipt_interval: Duration::from_millis(20),
            silent_after: Duration::from_secs(5),
            require_grants: false,
            constraint: None,
        }
    }
}

/// What is shown of an entity whose vector is older than extrapolation may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Beyond {
    /// It stays where it was at the bound, marked as [`Placement::frozen`](super::Placement::frozen).
    #[default]
    Freeze,
    /// It is not shown: [`PlaceError::TooOld`](super::PlaceError::TooOld).
    Hide,
}

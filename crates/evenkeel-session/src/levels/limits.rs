//! How much is sent and held.

use super::{Level, wire};
use crate::protocol::MAX_MESSAGE;

/// How much one end of a connection sends and holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelLimits {
    /// The largest datagram, in bytes: at least 64. Default: 1,100, which WebTransport carries everywhere.
    pub max_datagram: usize,
    /// The longest `Ordered` or `Unordered` message, in bytes. Default: 64 KiB.
    pub max_message: usize,
    /// Bytes of `Quickest` messages that are not acknowledged. Default: 16 KiB.
    pub quickest_bytes: usize,
    /// Bytes of messages that must arrive and are not acknowledged, of others that wait to be sent, and of those that wait for the
    /// game, each. Default: 1 MiB.
    pub queued_bytes: usize,
    /// Pairs of party and channel of which it is known what was newest. Default: 1,024.
    pub newest_streams: usize,
}

impl Default for LevelLimits {
    fn default() -> Self {
        Self {
            max_datagram: 1_100,
            max_message: MAX_MESSAGE,
            quickest_bytes: 16 * 1024,
            queued_bytes: 1024 * 1024,
            newest_streams: 1_024,
        }
    }
}

/// What a connection carries on a stream of its own at most, less the envelope.
const LONGEST_UNORDERED: usize = 32 * 1024 - 16;

impl LevelLimits {
    /// The longest message at a level, in bytes.
    ///
    /// ```
    /// use evenkeel_session::levels::{Level, LevelLimits};
    /// assert_eq!(LevelLimits::default().longest(Level::Ordered), 65_536);
    /// assert_eq!(LevelLimits::default().longest(Level::Quickest), 1_073);
    /// ```
    pub fn longest(&self, level: Level) -> usize {
        match level {
            Level::Ordered => self.max_message,
            Level::Unordered => self.max_message.min(LONGEST_UNORDERED),
            Level::Quickest => self.max_datagram.saturating_sub(wire::QUICKEST_OVERHEAD),
            Level::Unreliable | Level::Newest(_) => self.max_datagram.saturating_sub(wire::DATAGRAM_OVERHEAD),
        }
    }
}

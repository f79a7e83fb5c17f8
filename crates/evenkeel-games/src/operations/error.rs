//! What can be wrong with a recording.

use super::{MAX_OPERATIONS, MAX_TICKS};
use crate::game::SetupError;
use alloc::string::String;
use core::fmt;
use evenkeel::GlobalTime;

/// Why operations are no recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingError {
    /// The game does not start like that.
    Setup(SetupError),
    /// There are too many ticks.
    Ticks(u32),
    /// There are too many operations.
    Operations,
    /// There is no such player.
    Player {
        /// Whose operation it is said to be.
        player: u32,
        /// How many players there are.
        players: u32,
    },
    /// An operation is before the one that precedes it, or before the game starts.
    Time {
        /// When it is.
        at: GlobalTime,
        /// When the one before it was.
        after: GlobalTime,
    },
    /// An operation's sequence is not above that of the player's operation before.
    Sequence {
        /// Whose operation it is.
        player: u32,
        /// Its sequence.
        sequence: u32,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Ticks(ticks) => write!(f, "a recording has at most {MAX_TICKS} ticks, not {ticks}"),
            Self::Operations => write!(f, "a recording has at most {MAX_OPERATIONS} operations"),
            Self::Player { player, players } => {
                write!(f, "there is no player {player} among {players}, counted from 0")
            }
            Self::Time { at, after } => {
                let (at, after) = (at.as_secs_f64(), after.as_secs_f64());
                write!(f, "time goes backwards ({at:.6} s after {after:.6} s). Sort the rows by t_s.")
            }
            Self::Sequence { player, sequence } => {
                write!(f, "player {player} comes with sequence {sequence} again or too late: it must rise")
            }
        }
    }
}

impl core::error::Error for RecordingError {}

/// Why a text is no recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl core::error::Error for ParseError {}

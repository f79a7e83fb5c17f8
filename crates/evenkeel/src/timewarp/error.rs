//! What a timewarp refuses.

use crate::time::Duration;
use core::fmt;

/// Why an operation was refused. Nothing changed, but for the count of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// It takes effect later than operations are taken.
    FromTheFuture {
        /// By how much.
        by: Duration,
    },
    /// It came so late that its tick is no longer in the history.
    BeforeHistory {
        /// By how much.
        by: Duration,
    },
    /// The authority has said what the state after its tick is, with or without it.
    Overruled {
        /// How long before the overruled tick it is.
        by: Duration,
    },
    /// It is known already.
    Duplicate,
    /// Another operation has the same issuer and sequence.
    Conflict,
    /// The simulation does not permit it to its issuer.
    NotPermitted,
    /// Its issuer has too many operations.
    TooManyOperations {
        /// The configured limit.
        limit: usize,
    },
    /// Too many issuers have operations.
    TooManyIssuers {
        /// The configured limit.
        limit: usize,
    },
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromTheFuture { by } => {
                write!(f, "the operation is {by} too far in the future: use less lag, or raise ahead")
            }
            Self::BeforeHistory { by } => {
                write!(f, "the operation is {by} older than the history: raise history, or resynchronise")
            }
            Self::Overruled { by } => {
                write!(
                    f,
                    "the operation is {by} before a state that the authority has given: it is in there, or nowhere"
                )
            }
            Self::Duplicate => write!(f, "the operation is known already"),
            Self::Conflict => {
                write!(f, "another operation has the same issuer and sequence: never use a sequence twice")
            }
            Self::NotPermitted => write!(f, "the simulation does not permit the operation to its issuer"),
            Self::TooManyOperations { limit } => {
                write!(f, "more than {limit} operations of one issuer: raise max_operations_per_issuer")
            }
            Self::TooManyIssuers { limit } => write!(f, "more than {limit} issuers: raise max_issuers"),
        }
    }
}

impl core::error::Error for OperationError {}

/// Why time could not advance. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdvanceError {
    /// Time went backwards.
    TimeWentBackwards {
        /// By how much.
        by: Duration,
    },
    /// There are too many ticks to catch up with in one call.
    TooFarBehind {
        /// How many there are.
        ticks: i64,
        /// How many `max_catch_up` allows.
        limit: i64,
    },
}

impl fmt::Display for AdvanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeWentBackwards { by } => write!(f, "time went backwards by {by}"),
            Self::TooFarBehind { ticks, limit } => write!(
                f,
                "{ticks} ticks behind, {limit} are allowed: advance in smaller portions, raise max_catch_up, or overrule \
                 with a recent state"
            ),
        }
    }
}

impl core::error::Error for AdvanceError {}

/// Why a state was not taken. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverruleError {
    /// What came after it is no longer known, or a newer state has overruled it.
    BeforeHistory {
        /// How many ticks too old it is.
        by: i64,
    },
    /// Its tick is too far in the future.
    FromTheFuture {
        /// How many ticks.
        by: i64,
    },
}

impl fmt::Display for OverruleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeHistory { by } => {
                write!(f, "the state is {by} ticks older than what can be replayed: give a newer one, or raise history")
            }
            Self::FromTheFuture { by } => {
                write!(f, "the state is {by} ticks too far in the future: check the clock, or raise ahead")
            }
        }
    }
}

impl core::error::Error for OverruleError {}

//! What a receiver answers: places, errors, events.

use crate::geometry::Vec3;
use crate::ids::{EntityId, HostId};
use crate::lag::LagError;
use crate::motion::{Attitude, State};
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::DatagramError;
use crate::wire::{Difference, FormatError};
use core::fmt;

/// Where an entity is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Where.
    pub position: Vec3,
    /// How fast.
    pub velocity: Vec3,
    /// Facing where.
    pub attitude: Attitude,
    /// How long its vector has been extrapolated.
    pub age: Duration,
    /// How far off it may be, roughly: how far new vectors usually move it, and its speed times the clock's uncertainty.
    pub uncertainty: f64,
    /// How far smoothing keeps it from where it should be.
    pub smoothing_error: f64,
    /// Whether extrapolation has ended.
    pub frozen: bool,
}

impl Placement {
    /// Where and how it is, without how far to trust that.
    pub fn state(&self) -> State {
        State { position: self.position, velocity: self.velocity, attitude: self.attitude }
    }
}

/// Why an entity cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceError {
    /// Nothing is known of it, or it has been retired.
    Unknown(EntityId),
    /// Its first vector takes effect later.
    NotYet(EntityId),
    /// That was longer ago than is remembered.
    Forgotten(EntityId),
    /// It had gone by then: the answer of [`Receiver::recall`](super::Receiver::recall) about entities that were here.
    Gone {
        /// Which.
        entity: EntityId,
        /// Since when.
        since: GlobalTime,
    },
    /// Its vector is too old, and [`Beyond::Hide`](super::Beyond::Hide) was chosen.
    TooOld(EntityId),
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(id) => write!(f, "{id} is not known here"),
            Self::NotYet(id) => write!(f, "{id} is not shown yet"),
            Self::Forgotten(id) => write!(f, "where {id} was then is forgotten: ask for a longer history"),
            Self::Gone { entity, since } => write!(f, "{entity} has been gone since {since}"),
            Self::TooOld(id) => write!(f, "{id} has not been heard of for too long"),
        }
    }
}

impl core::error::Error for PlaceError {}

/// Something a receiver's application may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceiverEvent {
    /// An entity is here, for the first time or again.
    Appeared {
        /// Which.
        entity: EntityId,
        /// Whose.
        owner: HostId,
    },
    /// An entity is gone, or none of our business any more.
    Retired {
        /// Which.
        entity: EntityId,
    },
    /// An entity changed hands.
    OwnerChanged {
        /// Which.
        entity: EntityId,
        /// The new owner.
        owner: HostId,
    },
    /// A sender spoke of an entity that it does not own. That record was ignored.
    NotOwner {
        /// Which.
        entity: EntityId,
        /// Who.
        from: HostId,
    },
    /// A sender has not been heard for a while; its entities freeze.
    SenderSilent {
        /// Who.
        sender: HostId,
    },
    /// A sender holds something else to be agreed. Nothing that it says is taken until the two agree.
    Disagreement {
        /// Who.
        with: HostId,
        /// In which field, and both values.
        difference: Difference,
    },
    /// More entities than configured: this one was ignored.
    TooManyEntities {
        /// Which.
        entity: EntityId,
    },
}

/// Why a datagram or a command was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReceiverError {
    /// Nobody of that name was added.
    UnknownSender(HostId),
    /// It was added already.
    DuplicateSender(HostId),
    /// No more senders fit.
    TooManySenders {
        /// The configured limit.
        limit: usize,
    },
    /// The format is not usable.
    Format(FormatError),
    /// The sender's agreement is not this receiver's.
    Disagreement(Difference),
    /// Time went backwards.
    TimeWentBackwards {
        /// By how much.
        by: Duration,
    },
    /// The lag cannot be.
    Lag(LagError),
    /// It is not a usable datagram.
    Datagram(DatagramError),
}

impl fmt::Display for ReceiverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSender(id) => write!(f, "{id} is not a sender: call add_sender first"),
            Self::DuplicateSender(id) => write!(f, "{id} is a sender already"),
            Self::TooManySenders { limit } => write!(f, "more than {limit} senders: raise max_senders"),
            Self::Format(error) => write!(f, "the wire format is not usable: {error}"),
            Self::Disagreement(difference) => write!(f, "the sender's agreement is not ours: {difference}"),
            Self::TimeWentBackwards { by } => write!(f, "time went backwards by {by}"),
            Self::Lag(error) => error.fmt(f),
            Self::Datagram(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReceiverError {}

impl From<DatagramError> for ReceiverError {
    fn from(error: DatagramError) -> Self {
        Self::Datagram(error)
    }
}

/// Why a datagram with vectors was refused, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refused {
    /// Not of the sender's present stream: [`DatagramError::Foreign`], [`DatagramError::Replayed`], another version.
    Foreign,
    /// The two ends hold different things to be agreed: [`DatagramError::Disagreement`].
    Disagreement,
    /// The vector that a record was coded against is not here: [`DatagramError::NoBaseline`].
    NoBaseline,
    /// What was decoded is not what was written: [`DatagramError::Check`].
    Check,
    /// The contents do not parse: [`DatagramError::Malformed`].
    Malformed,
}

impl From<&DatagramError> for Refused {
    fn from(error: &DatagramError) -> Self {
        match error {
            DatagramError::NoBaseline(_) => Self::NoBaseline,
            DatagramError::Check => Self::Check,
            DatagramError::Malformed(_) => Self::Malformed,
            DatagramError::Disagreement { .. } => Self::Disagreement,
            _ => Self::Foreign,
        }
    }
}

/// How many datagrams of a sender were refused, by cause. The last three are the ones that an honest sender's never are, unless the two
/// ends have come apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Refusals {
    /// See [`Refused::Foreign`].
    pub foreign: u64,
    /// See [`Refused::Disagreement`].
    pub disagreement: u64,
    /// See [`Refused::NoBaseline`].
    pub no_baseline: u64,
    /// See [`Refused::Check`].
    pub check: u64,
    /// See [`Refused::Malformed`].
    pub malformed: u64,
}

impl Refusals {
    /// How many in all.
    pub fn total(&self) -> u64 {
        self.by_cause().iter().map(|(_, count)| count).sum()
    }

    /// How many were the sender's own, but could not be decoded.
    pub fn undecodable(&self) -> u64 {
        self.no_baseline + self.check + self.malformed
    }

    /// Each cause by its name.
    pub fn by_cause(&self) -> [(&'static str, u64); 5] {
        [
            ("foreign", self.foreign),
            ("disagreement", self.disagreement),
            ("no_baseline", self.no_baseline),
            ("check", self.check),
            ("malformed", self.malformed),
        ]
    }

    /// Adds those of another sender or receiver.
    pub fn add(&mut self, other: &Self) {
        self.foreign += other.foreign;
        self.disagreement += other.disagreement;
        self.no_baseline += other.no_baseline;
        self.check += other.check;
        self.malformed += other.malformed;
    }

    pub(super) fn count(&mut self, cause: Refused) {
        *match cause {
            Refused::Foreign => &mut self.foreign,
            Refused::Disagreement => &mut self.disagreement,
            Refused::NoBaseline => &mut self.no_baseline,
            Refused::Check => &mut self.check,
            Refused::Malformed => &mut self.malformed,
        } += 1;
    }
}

/// What a datagram brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Handled {
    /// Vectors that are now the newest of their entities.
    pub vectors: usize,
    /// Records that were late or repeated.
    pub ignored: usize,
    /// Records that were not the sender's to write, of more entities than fit, or of entities that are gone.
    pub refused: usize,
    /// Whether the whole datagram had come before.
    pub duplicate: bool,
    /// When the sender sent it, unless it brought nothing new: a one-way stamp for the clock, if the sender is the session's
    /// reference, and how long it took, for [`LagTable::handle_delay`](crate::lag::LagTable::handle_delay): `now.since(sent)`.
    pub sent: Option<GlobalTime>,
}

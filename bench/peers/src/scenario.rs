//! The scenarios of the load half: what the entities do, and how the receivers are connected.

use crate::connections::Connections;

/// What the entities do, and over which connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Everybody turns in every tick.
    AllDue,
    /// A tenth turns; a game that decides for itself tells only that.
    TenthDue,
    /// A tenth turns, all move, and all positions are told.
    AllMove,
    /// Everybody keeps its course, and a game that decides for itself tells nothing.
    Idle,
    /// Everybody turns in every tick; receivers are 20 ms away.
    AllDueNear,
    /// Everybody turns in every tick; receivers are 20 to 220 ms away.
    AllDueFar,
    /// Everybody turns in every tick; receivers are 20 ms away and 2 % of the datagrams are lost.
    AllDueLossy,
}

impl Scenario {
    /// In the order they are run.
    pub const ALL: [Self; 7] =
        [Self::AllDue, Self::TenthDue, Self::AllMove, Self::Idle, Self::AllDueNear, Self::AllDueFar, Self::AllDueLossy];

    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllDue => "all due",
            Self::TenthDue => "10 % due",
            Self::AllMove => "all move, 10 % turn",
            Self::Idle => "nothing due",
            Self::AllDueNear => "all due, 20 ms",
            Self::AllDueFar => "all due, 20 to 220 ms",
            Self::AllDueLossy => "all due, 20 ms, 2 % loss",
        }
    }

    /// How the receivers are connected.
    pub fn connections(self) -> Connections {
        match self {
            Self::AllDue | Self::TenthDue | Self::AllMove | Self::Idle => Connections::Lockstep,
            Self::AllDueNear => Connections::Near,
            Self::AllDueFar => Connections::Far,
            Self::AllDueLossy => Connections::Lossy,
        }
    }

    /// Whether everything is due in every tick.
    pub fn is_all_due(self) -> bool {
        matches!(self, Self::AllDue | Self::AllDueNear | Self::AllDueFar | Self::AllDueLossy)
    }

    /// Whether an entity takes another course in this tick.
    pub fn turns(self, entity: u32, tick: u32) -> bool {
        match self {
            Self::TenthDue | Self::AllMove => (entity + tick).is_multiple_of(10),
            Self::Idle => false,
            Self::AllDue | Self::AllDueNear | Self::AllDueFar | Self::AllDueLossy => true,
        }
    }

    /// Whether a game that decides for itself what to send would send this.
    pub fn due(self, entity: u32, tick: u32) -> bool {
        self == Self::AllMove || self.turns(entity, tick)
    }
}

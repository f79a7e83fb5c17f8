//! What a recording holds: [`Header`] and [`Event`].

use evenkeel::{GlobalTime, Motion, Vec3};

/// What a recording says about the run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The version of the program that recorded, such as `evenkeel 0.1.0`.
    pub program: String,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// Whatever else it takes to repeat the run, as keys and values.
    pub settings: Vec<(String, String)>,
    /// The names of the hosts; their position is the number that events use.
    pub hosts: Vec<String>,
    /// The names of the entities; their position is the number that events use.
    pub entities: Vec<String>,
}

impl Header {
    /// The value of a setting.
    ///
    /// ```
    /// use evenkeel_link::recording::Header;
    /// let settings = vec![("policy".to_string(), "even".to_string())];
    /// let header = Header { settings, ..Header::default() };
    /// assert_eq!(header.setting("policy"), Some("even"));
    /// ```
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// Something that happened in a run. Hosts and entities are numbers, named by the [`Header`] (or not).
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Where an entity really is, at its owner.
    Real {
        /// Which.
        entity: u32,
        /// When.
        at: GlobalTime,
        /// Where it is.
        position: Vec3,
        /// How fast it goes.
        velocity: Vec3,
        /// Which way it faces.
        heading: f64,
    },
    /// A DR vector was generated and became the exported path.
    Exported {
        /// Whose.
        entity: u32,
        /// The vector's number.
        sequence: u64,
        /// When.
        generated: GlobalTime,
        /// What it says.
        motion: Motion,
    },
    /// A DR vector was sent.
    Sent {
        /// Whose.
        entity: u32,
        /// The vector's number.
        sequence: u64,
        /// To which host.
        to: u32,
        /// When.
        at: GlobalTime,
    },
    /// A DR vector was received.
    Received {
        /// Whose.
        entity: u32,
        /// The vector's number.
        sequence: u64,
        /// By which host.
        by: u32,
        /// When.
        at: GlobalTime,
    },
    /// A DR vector was lost on its way, as far as the recorder knows.
    Lost {
        /// Whose.
        entity: u32,
        /// The vector's number.
        sequence: u64,
        /// To which host it was under way.
        to: u32,
        /// When it was sent.
        at: GlobalTime,
    },
    /// Where a host shows an entity.
    Placed {
        /// Which.
        entity: u32,
        /// Which host.
        by: u32,
        /// When.
        at: GlobalTime,
        /// Where.
        position: Vec3,
        /// Which way it faces.
        heading: f64,
    },
    /// Anything worth a remark.
    Note {
        /// When.
        at: GlobalTime,
        /// The remark.
        text: String,
    },
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> GlobalTime {
        match *self {
            Self::Exported { generated, .. } => generated,
            Self::Real { at, .. }
            | Self::Sent { at, .. }
            | Self::Received { at, .. }
            | Self::Lost { at, .. }
            | Self::Placed { at, .. }
            | Self::Note { at, .. } => at,
        }
    }
}

/// The byte before each event that says which it is.
pub(super) mod tag {
    pub const END: u8 = 0;
    pub const REAL: u8 = 1;
    pub const EXPORTED: u8 = 2;
    pub const SENT: u8 = 3;
    pub const RECEIVED: u8 = 4;
    pub const LOST: u8 = 5;
    pub const PLACED: u8 = 6;
    pub const NOTE: u8 = 7;
}

//! How a seat is set up, what it tells, and why it refuses.

use crate::levels::{Level, LevelError};
use crate::protocol::{Entity, MessageError, PeerOffer, Player, Refusal};
use evenkeel::wire::Difference;
use evenkeel::{EntityId, HostId, SenderError, Smoothing};
use std::fmt;

/// How a [`Seat`](super::Seat) is set up. Start from [`SeatConfig::named`] and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatConfig {
    /// Which session. Default: "main".
    pub session: String,
    /// What others shall call the player.
    pub name: String,
    /// The operator's leave to join: the bytes of the text that `evenkeel token issue` prints. Default: none.
    pub token: Vec<u8>,
    /// How jumps of others are hidden. Default: they are not.
    pub smoothing: Smoothing,
    /// The largest datagram, in bytes. Default: 1,100.
    pub max_datagram: usize,
    /// Random bytes of this host's own. `evenkeel_net::Client` makes some if they are all zero.
    pub secret: [u8; 16],
    /// How others can reach this player directly. Default: they cannot.
    pub peer: Option<PeerOffer>,
}

impl SeatConfig {
    /// A player of this name, the rest as by default.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            session: "main".into(),
            name: name.into(),
            token: Vec::new(),
            smoothing: Smoothing::None,
            max_datagram: 1_100,
            secret: [0; 16],
            peer: None,
        }
    }
}

/// Something a player's game may want to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SeatEvent {
    /// The server let us in. Who and what is here follows as events of their own; what has gone meanwhile, too.
    Welcome {
        /// Our number.
        you: HostId,
        /// Whether we were here before and have what we had. If not, everything of before is gone, one's own entities too: make
        /// them anew.
        again: bool,
    },
    /// The server does not let us in, or has sent us away. [`Refusal::Full`] and [`Refusal::Ending`] are tried again; the others
    /// are final.
    Refused(Refusal),
    /// The connection to the server was lost; another is tried for. Meanwhile the others go on as they were last seen, for as long
    /// as the session extrapolates; those who are reached directly go on as ever.
    Lost {
        /// Why.
        why: String,
    },
    /// A player is here.
    Came(Player),
    /// A player left.
    Left {
        /// Who.
        host: HostId,
        /// Why.
        why: String,
    },
    /// There is an entity of somebody else's, or it is somebody else's now: the same one may be told of more than once.
    Made(Entity),
    /// An entity is ours from now on: [`adopt`](super::Seat::adopt) it, give it on, or unmake it.
    Given(Entity),
    /// An entity is no more, or may not be seen any more. It may be one's own: then it is not ours any more either.
    Gone {
        /// Which.
        entity: EntityId,
    },
    /// The other end holds something else to be agreed: nothing that it says is shown, until the two agree.
    Disagreement {
        /// Who.
        with: HostId,
        /// In which field, and both values.
        difference: Difference,
    },
    /// There is a direct connection to another player, or none any more: what it sends then comes through the server.
    Linked {
        /// To whom.
        host: HostId,
        /// Whether there is.
        directly: bool,
    },
    /// Whose clock is the session's from now on.
    Leader {
        /// Whose.
        host: HostId,
    },
    /// A message of the game.
    Message {
        /// From whom; [`SERVER`](crate::protocol::SERVER) for the server.
        from: HostId,
        /// How it came.
        level: Level,
        /// What.
        bytes: Vec<u8>,
    },
    /// The server lets nobody in any more, and may end soon.
    Ending {
        /// Why.
        why: String,
    },
    /// The session goes on at another server, and this player goes there by itself. There is nothing to do: everything goes on
    /// meanwhile.
    Moving {
        /// Where.
        url: String,
    },
    /// This player is there, as who it was and with what it had. It follows the [`Welcome`](Self::Welcome).
    Moved {
        /// Where.
        url: String,
    },
    /// This player could not go there, and stays.
    Stayed {
        /// Why.
        why: String,
    },
}

impl SeatEvent {
    /// So many bytes it holds besides itself.
    pub(super) fn holds(&self) -> usize {
        match self {
            Self::Refused(Refusal::Token(why) | Refusal::Expelled(why)) => why.len(),
            Self::Lost { why } | Self::Left { why, .. } | Self::Ending { why } | Self::Stayed { why } => why.len(),
            Self::Moving { url } | Self::Moved { url } => url.len(),
            Self::Came(player) => player.name.len(),
            Self::Made(entity) | Self::Given(entity) => entity.about.len(),
            Self::Message { bytes, .. } => bytes.len(),
            Self::Welcome { .. }
            | Self::Refused(_)
            | Self::Gone { .. }
            | Self::Linked { .. }
            | Self::Disagreement { .. }
            | Self::Leader { .. } => 0,
        }
    }
}

/// Why a command was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SeatError {
    /// The server has not let us in, or the session's time is not known yet.
    NotReady,
    /// The connection to the server is lost, and another is tried for: what has to go through the server can be said again after
    /// the next [`Welcome`](SeatEvent::Welcome).
    Lost,
    /// No more entities can be named.
    TooManyEntities,
    /// It was not given to us.
    NotGiven(EntityId),
    /// The sender refused it.
    Sender(SenderError),
    /// The message cannot be sent.
    Message(MessageError),
    /// The game's message cannot be sent, or read.
    Level(LevelError),
    /// What the server said in its welcome cannot be used.
    Welcome(String),
}

impl fmt::Display for SeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => write!(f, "not in the session yet: wait for the welcome and for the clock"),
            Self::Lost => write!(f, "the connection to the server is lost: try again once it is back"),
            Self::TooManyEntities => write!(f, "this host has named all the entities it can"),
            Self::NotGiven(entity) => write!(f, "{entity} was not given to this host"),
            Self::Sender(error) => error.fmt(f),
            Self::Message(error) => error.fmt(f),
            Self::Level(error) => error.fmt(f),
            Self::Welcome(why) => write!(f, "the server's welcome cannot be used: {why}"),
        }
    }
}

impl std::error::Error for SeatError {}

impl From<SenderError> for SeatError {
    fn from(error: SenderError) -> Self {
        Self::Sender(error)
    }
}

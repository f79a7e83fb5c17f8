//! What hosts say to each other besides the heart's datagrams: joining, leaving, and who owns what.
//!
//! Messages travel in order on a reliable stream, each a frame of its own. Datagrams of the heart, told apart by their first byte,
//! travel beside them. The game's own messages and datagrams begin with [`APPLICATION`], as nothing else does: see
//! [`levels`](crate::levels).

mod peers;
mod place;
mod sessions;

pub use peers::{Introduction, MAX_ADDRESSES, Model, PeerOffer, addresses};
pub use place::{MAX_CERTIFICATES, MAX_URL, Place};
pub use sessions::{
    Filter, InfoError, MAX_LISTED, MAX_TAG_NAME, MAX_TAG_VALUE, MAX_TAGS, SessionInfo, Tags, check_tags,
};

use evenkeel::lag::LagChange;
use evenkeel::wire::{AGREEMENT_BYTES, Agreement, BitReader, BitWriter, FormatError};
use evenkeel::{ClockRule, EntityId, HostId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the protocol. Hosts of different versions do not talk.
pub const VERSION: u16 = 2;
/// The server's name. Players are numbered from 1.
pub const SERVER: HostId = HostId(0);
/// The first byte of a message or a datagram that is the game's own.
pub const APPLICATION: u8 = 0xA0;
/// The first byte of a datagram that the server passes on unread between two players: the other's number follows, four bytes,
/// little end first, and then the datagram itself.
pub const PASSED_ON: u8 = 0xA1;
/// No message is longer, in bytes.
pub const MAX_MESSAGE: usize = 64 * 1024;
/// What a game says about an entity is no longer, in bytes.
pub const MAX_ABOUT: usize = 1024;
/// Names are no longer, in bytes.
pub const MAX_NAME: usize = 64;

/// Entities are named by who made them: a host's are numbered from its own number times this on.
pub const ENTITIES_PER_HOST: u32 = 1 << 16;

/// A name for the `number`th entity that a host makes.
///
/// ```
/// use evenkeel_session::protocol::entity_of;
/// use evenkeel::{EntityId, HostId};
/// assert_eq!(entity_of(HostId(2), 5), Some(EntityId(0x2_0005)));
/// assert_eq!(entity_of(HostId(2), 70_000), None);
/// ```
pub fn entity_of(host: HostId, number: u32) -> Option<EntityId> {
    let first = host.0.checked_mul(ENTITIES_PER_HOST)?;
    (number < ENTITIES_PER_HOST).then_some(EntityId(first + number))
}

/// Who made an entity.
pub fn maker_of(entity: EntityId) -> HostId {
    HostId(entity.0 / ENTITIES_PER_HOST)
}

/// What a player says to the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToServer {
    /// The first message: may I come in?
    Hello {
        /// The protocol spoken: [`VERSION`].
        version: u16,
        /// Which session.
        session: String,
        /// What others shall call the player.
        name: String,
        /// The operator's leave to join, if the server wants one.
        token: Vec<u8>,
        /// For a player who was here before and lost the connection: its number and its secret.
        rejoin: Option<(HostId, u64)>,
        /// How others can reach the player directly, if they can.
        peer: Option<PeerOffer>,
    },
    /// There is a new entity of mine.
    Make {
        /// Its name, one of the player's own.
        entity: EntityId,
        /// What the game wants others to know of it.
        about: Vec<u8>,
    },
    /// An entity of mine is no more.
    Unmake {
        /// Which.
        entity: EntityId,
    },
    /// An entity of mine shall be somebody else's.
    Give {
        /// Which.
        entity: EntityId,
        /// Whose.
        to: HostId,
    },
    /// There is a direct connection to another player, or there is none any more.
    Linked {
        /// To whom.
        peer: HostId,
        /// Whether there is.
        up: bool,
    },
    /// Farewell.
    Bye,
    /// Before hello: which sessions are there?
    List(Filter),
    /// The last word before going where the server said: I am in there.
    Moved,
    /// I cannot go where the server said, and stay.
    Stays {
        /// Why not.
        why: String,
    },
}

/// What the server says to a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToPlayer {
    /// Come in.
    Welcome(Box<Welcome>),
    /// No.
    Refused(Refusal),
    /// Who and what is here besides; it follows the welcome, in as many parts as it takes.
    Present {
        /// Some of the other players.
        players: Vec<Player>,
        /// Some of the entities, the player's own included.
        entities: Vec<Entity>,
        /// Whether that was all.
        last: bool,
    },
    /// Somebody came.
    Came(Player),
    /// Somebody left.
    Left {
        /// Who.
        host: HostId,
        /// Why.
        why: String,
    },
    /// There is a new entity, or it has another owner.
    Entity(Entity),
    /// An entity is no more.
    Gone {
        /// Which.
        entity: EntityId,
    },
    /// An entity is yours from now on.
    Given(Entity),
    /// Somebody to talk to directly.
    Meet(Introduction),
    /// Whose clock is the session's from now on.
    Leader {
        /// Whose.
        host: HostId,
    },
    /// Everything is shown later, or sooner, from then on.
    Lag(LagChange),
    /// What arrives from now on is extrapolated by this rule.
    Rule(ClockRule),
    /// The server lets nobody in any more, and may end soon.
    Ending {
        /// Why.
        why: String,
    },
    /// These sessions are there, by name.
    Sessions {
        /// Some, or all of them.
        sessions: Vec<SessionInfo>,
        /// Whether there are others: ask again, for those [after](Filter::after) the last.
        more: bool,
    },
    /// The session goes on elsewhere: go there, with your number and your secret.
    Move(Place),
}

/// All that a player needs to take part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The player's number.
    pub you: HostId,
    /// Proves later that one was here.
    pub secret: u64,
    /// What all in the session must hold alike: how motions are written and placed. As [`encode_agreement`] writes it.
    pub agreement: Vec<u8>,
    /// Who sends movement to whom.
    pub model: Model,
    /// By which policy, and with which budget, owners send to each other: names as
    /// [`by_name`](evenkeel::policy::by_name) and [`Budget`](evenkeel::Budget) read them.
    pub peers_policy: (String, String),
    /// Whose clock is the session's.
    pub leader: HostId,
    /// Whether the player was here before, and has what it had.
    pub again: bool,
}

/// A player, as others know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// Its number.
    pub host: HostId,
    /// Its name.
    pub name: String,
}

/// An entity, as others know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its name.
    pub entity: EntityId,
    /// Who moves it.
    pub owner: HostId,
    /// The how-manieth owner that is.
    pub epoch: u32,
    /// What the game wants others to know of it.
    pub about: Vec<u8>,
}

/// Why a player may not come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It speaks another version.
    Version {
        /// What the server speaks.
        ours: u16,
    },
    /// There is no such session here.
    NoSuchSession,
    /// The session is full.
    Full,
    /// The name is empty or too long.
    Name,
    /// The token is missing or no good.
    Token(String),
    /// The server is about to end.
    Ending,
    /// Players of this session must be able to talk to each other directly.
    PeersOnly,
    /// It was in, and was sent away for what it did.
    Expelled(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { ours } => {
                write!(f, "the server speaks protocol version {ours}, this side {VERSION}: update the older one")
            }
            Self::NoSuchSession => write!(f, "the server has no session of that name"),
            Self::Full => write!(f, "the session is full: try again later"),
            Self::Name => write!(f, "a name must have between 1 and {MAX_NAME} bytes"),
            Self::Token(why) => write!(f, "the join token is not accepted: {why}"),
            Self::Expelled(why) => write!(f, "the server has sent this player away: {why}"),
            Self::PeersOnly => {
                write!(f, "this session is peer to peer: join with a program that others can connect to (`Peer`)")
            }
            Self::Ending => write!(f, "the server is shutting down: try again later"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// It is longer than it may be: [`MAX_MESSAGE`], mostly.
    TooLong,
    /// It does not parse, or something follows it.
    Malformed,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a message is longer than {MAX_MESSAGE} bytes"),
            Self::Malformed => write!(f, "a message does not parse"),
        }
    }
}

impl std::error::Error for MessageError {}

/// A message as bytes.
pub fn encode<M: Serialize>(message: &M) -> Result<Vec<u8>, MessageError> {
    encode_within(message, MAX_MESSAGE)
}

/// The same for what may be of another length.
pub fn encode_within<M: Serialize>(message: &M, longest: usize) -> Result<Vec<u8>, MessageError> {
    let bytes = postcard::to_allocvec(message).map_err(|_| MessageError::Malformed)?;
    if bytes.len() > longest { Err(MessageError::TooLong) } else { Ok(bytes) }
}

/// A message from bytes: all of them, and nothing else.
///
/// ```
/// use evenkeel_session::protocol::{MessageError, ToServer, decode, encode};
/// let bytes = encode(&ToServer::Bye)?;
/// assert_eq!(decode::<ToServer>(&bytes)?, ToServer::Bye);
/// assert_eq!(decode::<ToServer>(b"\xff\xff"), Err(MessageError::Malformed));
/// # Ok::<(), MessageError>(())
/// ```
pub fn decode<'a, M: Deserialize<'a>>(bytes: &'a [u8]) -> Result<M, MessageError> {
    decode_within(bytes, MAX_MESSAGE)
}

/// The same for what may be of another length.
pub fn decode_within<'a, M: Deserialize<'a>>(bytes: &'a [u8], longest: usize) -> Result<M, MessageError> {
    if bytes.len() > longest {
        return Err(MessageError::TooLong);
    }
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(MessageError::Malformed),
    }
}

/// An agreement as bytes.
pub fn encode_agreement(agreement: &Agreement) -> Vec<u8> {
    let mut buffer = [0; AGREEMENT_BYTES];
    let mut w = BitWriter::new(&mut buffer);
    // An agreement always fits: that is what AGREEMENT_BYTES is.
    let _ = agreement.emit(&mut w);
    w.as_bytes().to_vec()
}

/// An agreement from bytes.
pub fn decode_agreement(bytes: &[u8]) -> Result<Agreement, FormatError> {
    Agreement::parse(&mut BitReader::new(bytes))
}

/// A datagram for another player that the server shall pass on unread; the other gets it with the sender's number.
pub fn pass_on(party: HostId, datagram: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + datagram.len());
    bytes.push(PASSED_ON);
    bytes.extend_from_slice(&party.0.to_le_bytes());
    bytes.extend_from_slice(datagram);
    bytes
}

/// Whom a datagram that is passed on is for, or from whom it is, and what it is.
pub fn passed_on(bytes: &[u8]) -> Option<(HostId, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (party, datagram) = rest.split_first_chunk::<4>()?;
    (first == PASSED_ON).then(|| (HostId(u32::from_le_bytes(*party)), datagram))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::wire::Format;
    use proptest::prelude::*;

    #[test]
    fn agreements_travel() {
        for format in [Format::default(), Format::bzflag(), Format::lossless()] {
            let agreement = Agreement { format, ..Agreement::default() };
            assert_eq!(decode_agreement(&encode_agreement(&agreement)), Ok(agreement));
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        let long = ToServer::Make { entity: EntityId(1), about: vec![0; MAX_MESSAGE] };
        assert_eq!(encode(&long), Err(MessageError::TooLong));
    }

    proptest! {
        #[test]
        fn nothing_begins_like_a_message_of_the_game(rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let bytes: Vec<u8> = [APPLICATION].into_iter().chain(rest).collect();
            prop_assert!(decode::<ToServer>(&bytes).is_err() && decode::<ToPlayer>(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(message) = decode::<ToServer>(&bytes) {
                prop_assert_eq!(decode::<ToServer>(&encode(&message).unwrap()), Ok(message));
            }
            if let Ok(message) = decode::<ToPlayer>(&bytes) {
                prop_assert_eq!(decode::<ToPlayer>(&encode(&message).unwrap()), Ok(message));
            }
        }
    }
}

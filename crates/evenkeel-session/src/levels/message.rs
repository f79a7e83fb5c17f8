//! What a message is: how it travels, and who is at its other end.

use evenkeel::HostId;

/// One of a game's channels for what only matters until there is something newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u8);

/// How a message travels. See [`levels`](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Surely and in order.
    Ordered,
    /// Surely, and without waiting for others.
    Unordered,
    /// Once, and it may be lost.
    Unreliable,
    /// Once, and dropped if something newer was handed out on the channel.
    Newest(Channel),
    /// Surely, and as soon as the network can: repeated until acknowledged. For what is short and cannot wait.
    Quickest,
}

impl Level {
    /// Its name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Unordered => "unordered",
            Self::Unreliable => "unreliable",
            Self::Newest(_) => "newest",
            Self::Quickest => "quickest",
        }
    }

    /// Whether its messages travel in datagrams, and so must fit into one.
    ///
    /// ```
    /// use evenkeel_session::levels::Level;
    /// assert!(Level::Quickest.in_datagrams() && !Level::Unordered.in_datagrams());
    /// ```
    pub fn in_datagrams(self) -> bool {
        !matches!(self, Self::Ordered | Self::Unordered)
    }
}

/// Who is at the other end of a message, beyond the server: to whom it goes, or where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// All other players.
    Everybody,
    /// One host; [`SERVER`](crate::protocol::SERVER) for the server.
    Host(HostId),
}

impl From<HostId> for Party {
    fn from(host: HostId) -> Self {
        Self::Host(host)
    }
}

/// A message, and who is at its other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// To the server: for whom. From the server: from whom.
    pub party: Party,
    /// The message.
    pub bytes: Vec<u8>,
}

impl Envelope {
    /// For, or from, one host.
    pub fn to(host: HostId, bytes: Vec<u8>) -> Self {
        Self { party: Party::Host(host), bytes }
    }

    /// For all other players.
    pub fn to_everybody(bytes: Vec<u8>) -> Self {
        Self { party: Party::Everybody, bytes }
    }
}

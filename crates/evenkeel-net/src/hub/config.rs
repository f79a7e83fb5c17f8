//! How a server's session is set up.

use super::scope::Scope;
use super::{Gate, Open};
use crate::protocol::{Entity, Model, Tags};
use evenkeel::policy::{Base, Policy};
use evenkeel::wire::Format;
use evenkeel::{Duration, HostId, Placing};

/// Decides who gets what a player leaves behind when it leaves: a player, the server, or nobody, and it goes.
pub type Heir = Box<dyn FnMut(&Entity) -> Option<HostId> + Send>;

/// How a [`Hub`](super::Hub) is set up. Start from the default and change what matters.
pub struct HubConfig {
    /// The session's name. Default: "main".
    pub session: String,
    /// What the game says about the session to those who have not joined: within the bounds of
    /// [`check_tags`](crate::protocol::check_tags). Default: nothing.
    pub tags: Tags,
    /// Whether to tell those who have not joined that they need a token. The gate decides for itself. Default: no.
    pub token_needed: bool,
    /// Precision and bounds on the wire. Default: [`Format::default`].
    pub format: Format,
    /// Who is told what and when. Default: everything to everybody.
    pub policy: Box<dyn Policy>,
    /// How players place what they are told. Default: global time, no lag, extrapolation for at most 10 s: a policy that sends a
    /// fraction of all vectors leaves out heartbeats too.
    pub placing: Placing,
    /// Who sends movement to whom. Default: everybody to the server, and the server to everybody.
    pub model: Model,
    /// By which policy, and with which budget, players send to each other where they do: as
    /// [`by_name`](evenkeel::policy::by_name) and [`Budget`](evenkeel::Budget) read them. Default: `base`.
    pub peers_policy: (String, String),
    /// Decides who may see what, and how much it matters to them. It says nothing about what players send each other directly.
    /// Default: everybody sees everything.
    pub scope: Option<Scope>,
    /// Decides who gets what a player leaves behind. Default: nobody.
    pub heir: Option<Heir>,
    /// The session's time when this host's clock shows zero. Default: zero, or what makes it the time since 1970 for a
    /// [`Server`](crate::Server): so that time goes on after a restart.
    pub origin: Option<Duration>,
    /// Decides who may come in. Default: everybody, with 64 entities each.
    pub gate: Box<dyn Gate>,
    /// Players at once. Default: 1,000.
    pub max_players: usize,
    /// Connections at once that have not said hello. Default: 256.
    pub max_guests: usize,
    /// How long a connection may take to say hello. Default: 5 s.
    pub hello_within: Duration,
    /// How long the place of a player is kept whose connection was lost. Default: 10 s.
    pub rejoin_within: Duration,
    /// How far back the server can [recall](evenkeel::Receiver::recall) where things were, and
    /// [`seen_by`](super::Hub::seen_by) remembers what players were shown; three round trips and a second at least,
    /// for the sake of the books. Memory grows with it. Default: 2 s.
    pub history: Duration,
    /// Datagrams a second that one player may send. Default: 1,000.
    pub datagrams_per_second: u32,
    /// Messages a second that one player may send. Default: 200.
    pub messages_per_second: u32,
    /// Bytes of messages a second that one player may send, and twice as many at once. Default: 256 KiB.
    pub bytes_per_second: u32,
    /// The largest datagram, in bytes. Default: 1,100, which WebTransport carries everywhere.
    pub max_datagram: usize,
    /// Random bytes of the server's own: numbers that players must not guess are made of them. A
    /// [`Server`](crate::Server) makes some if they are all zero.
    pub secret: [u8; 16],
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            session: "main".into(),
            tags: Tags::new(),
            token_needed: false,
            format: Format::default(),
            policy: Box::new(Base),
            placing: Placing { max_age: Duration::from_secs(10), ..Placing::default() },
            model: Model::ClientServer,
            peers_policy: ("base".into(), String::new()),
            scope: None,
            heir: None,
            origin: None,
            gate: Box::new(Open { max_entities: 64 }),
            max_players: 1_000,
            max_guests: 256,
            hello_within: Duration::from_secs(5),
            rejoin_within: Duration::from_secs(10),
            history: Duration::from_secs(2),
            datagrams_per_second: 1_000,
            messages_per_second: 200,
            bytes_per_second: 256 * 1024,
            max_datagram: 1_100,
            secret: [0; 16],
        }
    }
}

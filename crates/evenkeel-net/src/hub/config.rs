//! How a server's session is set up.

use super::{Gate, Open};
use evenkeel::policy::{Base, Policy};
use evenkeel::wire::Format;
use evenkeel::{Duration, Placing};

/// How a [`Hub`](super::Hub) is set up. Start from the default and change what matters.
pub struct HubConfig {
    /// The session's name. Default: "main".
    pub session: String,
    /// Precision and bounds on the wire. Default: [`Format::default`].
    pub format: Format,
    /// Who is told what and when. Default: everything to everybody.
    pub policy: Box<dyn Policy>,
    /// How players place what they are told. Default: global time, no lag, extrapolation for at most 10 s: a policy that sends a
    /// fraction of all vectors leaves out heartbeats too.
    pub placing: Placing,
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
    /// Datagrams a second that one player may send. Default: 1,000.
    pub datagrams_per_second: u32,
    /// Messages a second that one player may send. Default: 200.
    pub messages_per_second: u32,
    /// The largest datagram, in bytes. Default: 1,100, which WebTransport carries everywhere.
    pub max_datagram: usize,
    /// Random bytes of the server's own: numbers that players must not guess are made of them.
    pub secret: [u8; 16],
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            session: "main".into(),
            format: Format::default(),
            policy: Box::new(Base),
            placing: Placing { max_age: Duration::from_secs(10), ..Placing::default() },
            gate: Box::new(Open { max_entities: 64 }),
            max_players: 1_000,
            max_guests: 256,
            hello_within: Duration::from_secs(5),
            rejoin_within: Duration::from_secs(10),
            datagrams_per_second: 1_000,
            messages_per_second: 200,
            max_datagram: 1_100,
            secret: [0; 16],
        }
    }
}

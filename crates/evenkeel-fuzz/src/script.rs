//! Writing scripts: the operations that drive a state machine, as bytes.
//!
//! Any bytes are a script. An operation's number is taken modulo the number of operations, and what is missing at the end
//! is zero. A span of time is written as in [`Script::span`].

use evenkeel::Duration;

/// What a receiver's script may ask for.
pub mod receiver {
    /// Time passes: a span, which may be negative.
    pub const WAIT: u8 = 0;
    /// A datagram arrives: from which sender, how long, its bytes.
    pub const DATAGRAM: u8 = 1;
    /// A datagram with a proper head arrives: from which sender, how far its number is from the last, how long before now
    /// it was sent, how many bytes of records, those.
    pub const RECORDS: u8 = 2;
    /// Receipts are collected.
    pub const TRANSMIT: u8 = 3;
    /// Events and updates are collected.
    pub const EVENTS: u8 = 4;
    /// An entity is granted to a sender, or the grant is withdrawn.
    pub const GRANT: u8 = 5;
    /// A sender is removed, or added again.
    pub const SENDER: u8 = 6;
    /// Smoothing, the clock's uncertainty and the lag change.
    pub const SETTINGS: u8 = 7;
    /// How many there are.
    pub const COUNT: u8 = 8;
}

/// What a sender's script may ask for.
pub mod sender {
    /// Time passes: a span, which may be negative.
    pub const WAIT: u8 = 0;
    /// An entity is observed: which, what the pose holds, the numbers of the pose.
    pub const OBSERVE: u8 = 1;
    /// Datagrams are collected.
    pub const TRANSMIT: u8 = 2;
    /// A receipt arrives: from whom, how long, its bytes.
    pub const DATAGRAM: u8 = 3;
    /// A receipt for a datagram that was sent arrives: which, how long it claims to have taken, how long ago the receipt was
    /// sent, and whether all was taken.
    pub const RECEIPT: u8 = 4;
    /// An entity is added: which, its threshold.
    pub const ADD_ENTITY: u8 = 5;
    /// An entity is removed.
    pub const REMOVE_ENTITY: u8 = 6;
    /// A receiver is added, or removed if it is there.
    pub const RECEIVER: u8 = 7;
    /// An entity's relevance to a receiver changes.
    pub const RELEVANCE: u8 = 8;
    /// An entity is released and adopted again.
    pub const HAND_OVER: u8 = 9;
    /// A vector is relayed: which entity, a velocity and an acceleration, how long ago it was generated.
    pub const RELAY: u8 = 10;
    /// How many there are.
    pub const COUNT: u8 = 11;
}

/// What a clock's script may ask for.
pub mod clock {
    /// Time passes: a span, which may be negative.
    pub const WAIT: u8 = 0;
    /// A ping is sent if one is due.
    pub const PING: u8 = 1;
    /// The answer to the ping before last arrives: two spans on top of true time for its stamps.
    pub const PONG: u8 = 2;
    /// Any bytes arrive as a pong.
    pub const BYTES: u8 = 3;
    /// A stamped datagram arrives: a span on top of true time.
    pub const STAMP: u8 = 4;
    /// An echo arrives: how long ago this host sent it, and a span on top of true time.
    pub const ECHO: u8 = 5;
    /// The game asks for the time.
    pub const NOW: u8 = 6;
    /// How many there are.
    pub const COUNT: u8 = 7;
}

/// What a timewarp's script may ask for. An operation is written as its issuer, how long before now it takes effect, its
/// sequence, and the act.
pub mod timewarp {
    /// Time passes: a span, which may be negative.
    pub const WAIT: u8 = 0;
    /// The simulation is advanced to the present.
    pub const ADVANCE: u8 = 1;
    /// An operation comes.
    pub const OPERATION: u8 = 2;
    /// An operation that was accepted comes again: how many before the last, and whether it says something else.
    pub const AGAIN: u8 = 3;
    /// An operation comes to the other site alone.
    pub const ELSEWHERE: u8 = 4;
    /// The authority gives a state: how many ticks from the present, and what it is.
    pub const OVERRULE: u8 = 5;
    /// The other site's briefing is taken.
    pub const BRIEFING: u8 = 6;
    /// How many there are.
    pub const COUNT: u8 = 7;
}

/// What a script for two ends of a connection may ask for. An end is 0 or 1.
pub mod levels {
    /// Time passes: a span, which may be negative.
    pub const WAIT: u8 = 0;
    /// A message is sent: by which end, its level (modulo 5, the channel above that), for whom, how many bytes.
    pub const SEND: u8 = 1;
    /// What is to be sent is collected: from which end.
    pub const TRANSMIT: u8 = 2;
    /// Something else is sent: from which end, how much may go along with it.
    pub const ALONG: u8 = 3;
    /// Something arrives: which of all that is under way, and whether it will come again.
    pub const DELIVER: u8 = 4;
    /// Something is lost: which of all that is under way.
    pub const LOSE: u8 = 5;
    /// The game collects its messages: at which end.
    pub const MESSAGES: u8 = 6;
    /// Any bytes arrive: by which way, how long, they.
    pub const BYTES: u8 = 7;
    /// The round trip is told: to which end, a span.
    pub const ROUND_TRIP: u8 = 8;
    /// How many there are.
    pub const COUNT: u8 = 9;
}

/// A script being written.
#[derive(Clone, Debug, Default)]
pub struct Script(pub Vec<u8>);

impl Script {
    /// Plain bytes: configuration, an operation, an argument.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self
    }

    /// A span of time: tenths of a millisecond where they will do, otherwise all nanoseconds.
    pub fn span(&mut self, span: Duration) -> &mut Self {
        let tenths = span.as_micros() / 100;
        match u16::try_from(tenths) {
            Ok(short) if Duration::from_micros(tenths * 100) == span => self.bytes(&[1]).bytes(&short.to_le_bytes()),
            _ => self.bytes(&[3]).bytes(&span.as_nanos().to_le_bytes()),
        }
    }

    /// A number, all of it.
    pub fn number(&mut self, number: f64) -> &mut Self {
        self.bytes(&[3]).bytes(&number.to_le_bytes())
    }

    /// Bytes with their length before them; at most 65,535.
    pub fn chunk(&mut self, bytes: &[u8]) -> &mut Self {
        let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
        self.bytes(&(bytes.len() as u16).to_le_bytes()).bytes(bytes)
    }
}

//! Connections that carry datagrams and messages: WebTransport over HTTP/3, or a WebSocket where UDP is blocked.
//!
//! Programs and browsers speak the same: [`Listener`] accepts both, [`connect`] is for programs. A [`Connection`] carries
//! unreliable datagrams, reliable, ordered messages, and reliable ones that wait for no other, and stamps all of them when
//! they arrive, not when the game asks.
//!
//! On the wire:
//!
//! - **WebTransport.** Datagrams are WebTransport datagrams. The client opens one bidirectional stream; on it, each
//!   message is a little-endian `u32` length and that many bytes. A length with its highest bit set announces a farewell:
//!   the remaining bits count the bytes of a reason in UTF-8, after which nothing follows. (QUIC's own close carries the
//!   reason too, but browsers do not show that one to the page.) Each unordered message has a unidirectional stream for
//!   itself, opened by whoever sends it: length and bytes as above, then the end of the stream.
//! - **WebSocket.** Binary frames; the first byte is 0 for a datagram, 1 for a message, 2 for an unordered one. The reason is in the close frame.
//!
//! An [`Endpoint`] is one UDP socket that dials and accepts at once, for peers. A [`Conditioner`] in it makes the network as
//! bad as a test needs it.
//!
//! Everything that a peer can make grow is bounded by [`Limits`], and what is given up is counted in [`Statistics`].
//!
//! ```
//! use evenkeel_net::transport::{Identity, ListenConfig, Listener, Trust, What, connect};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(86_400))?;
//! let hash = identity.hash();
//! let listener = Listener::bind(ListenConfig::new("127.0.0.1:0".parse()?, identity)).await?;
//! let url = format!("https://{}/arena", listener.local_address());
//!
//! let client = connect(&url, Trust::Hashes(vec![hash])).await?;
//! let mut player = listener.accept().await.expect("not shutting down");
//! assert_eq!(player.path(), "/arena");
//! client.send_message(b"hello".to_vec())?;
//! let hello = player.receive().await.expect("it is there");
//! assert_eq!(hello.what, What::Message(b"hello".to_vec().into()));
//! listener.shutdown("that was all").await;
//! # Ok(())
//! # }
//! ```

mod arrivals;
mod bell;
mod conditioner;
mod congestion;
mod connect;
mod connection;
mod endpoint;
mod error;
mod gate;
mod identity;
mod listen;
mod pinned;
mod queue;
mod session;
mod socket;
mod trust;
mod unordered;
mod websocket;
mod webtransport;

pub(crate) use bell::Bell;
pub use conditioner::{Conditioner, ConditionerStatistics};
pub(crate) use connect::check;
pub use connect::{ConnectConfig, connect, connect_with};
pub use connection::{Arrived, Carrier, Connection, Receiver, Sender, Statistics, What};
pub use endpoint::{Endpoint, EndpointConfig};
pub use error::{Closed, Error, SendError};
pub use evenkeel_link::{Conditions, ConditionsError};
pub use gate::Rate;
pub(crate) use gate::source;
pub use identity::Identity;
pub use listen::{ListenConfig, Listener};
pub use trust::Trust;

use std::time::Duration;

/// How much a connection holds in memory, in either direction.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest message, in bytes. A peer that announces a longer one is cut off.
    pub message: usize,
    /// Bytes of messages that wait to be sent; beyond, [`SendError::Full`].
    pub outgoing_messages: usize,
    /// The longest message that waits for no other, in bytes. A peer that announces a longer one is cut off.
    pub unordered: usize,
    /// How many of these may be under way at once, in either direction; more wait to be sent. Times the longest, it is
    /// what they may take of memory besides `incoming_messages`.
    pub unordered_at_once: u32,
    /// Bytes that wait to be sent beyond which a datagram is refused with [`SendError::Full`]: one that would wait for
    /// long is stale when it arrives.
    pub outgoing_datagrams: usize,
    /// Bytes of messages that wait for the game; beyond (by at most one message), the stream is not read.
    pub incoming_messages: usize,
    /// Datagrams that wait for the game; beyond, the oldest is dropped.
    pub incoming_datagrams: usize,
    /// How long a datagram waits for the game at most; then it is dropped as stale. So whoever was held up for a while comes
    /// to what is new soon, and memory does not grow meanwhile.
    pub incoming_age: Duration,
    /// Bytes that may be under way unacknowledged even if QUIC's congestion control thinks that this is too much. Should
    /// be what is sent during the longest black-out after which datagrams are to flow again at once; and it is what
    /// other traffic on a crowded path has to bear per round trip.
    pub least_window: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 256 * 1024,
            outgoing_messages: 1024 * 1024,
            unordered: 32 * 1024,
            unordered_at_once: 32,
            outgoing_datagrams: 64 * 1024,
            incoming_messages: 512 * 1024,
            incoming_datagrams: 512,
            incoming_age: Duration::from_millis(500),
            least_window: 32 * 1024,
        }
    }
}

/// How long a closing connection may take to deliver what is queued and to say why it closes.
const LINGER: Duration = Duration::from_secs(1);

//! What BZFlag's clients and server say to each other (protocol `BZFS0221`), without any input or output.
//!
//! After a [hello](client_hello), both sides send [`Frame`]s: over TCP as a stream, which a [`FrameReader`] cuts, and
//! over UDP several to a datagram, which [`frames`] does. What a frame means is read by the `parse` of the message it
//! is said to be, such as [`TankUpdate`], and written by its `emit`: the very same bytes. A relay passes on untouched
//! whatever it does not know, or cannot read.
//!
//! Everything here takes bytes of strangers: what is wrong with them is a [`MessageError`] that says what and where.
//!
//! ```
//! use evenkeel_bzflag::message::{Code, LagPing, MessageError, frames};
//! let mut datagram = Vec::new();
//! LagPing(7).emit(&mut datagram);
//! LagPing(8).emit(&mut datagram);
//! for (frame, number) in frames(&datagram).zip([7, 8]) {
//!     let frame = frame?;
//!     assert_eq!(frame.code, Code::LAG_PING);
//!     assert_eq!(LagPing::parse(frame)?, LagPing(number));
//! }
//! # Ok::<(), MessageError>(())
//! ```

mod bytes;
mod code;
mod error;
mod frame;
mod hello;
mod link;
mod players;
mod shot;
mod status;
mod tank;
mod text;
mod variables;
mod vars;

pub use code::Code;
pub use error::MessageError;
pub use frame::{Frame, FrameReader, HEAD_BYTES, MAX_PAYLOAD, frames};
pub use hello::{CLIENT_HELLO, ServerHello, VERSION, client_hello};
pub use link::{LagPing, UdpLinkRequest};
pub use players::{AddPlayer, Alive, Enter, Killed, PlayerScore, RemovePlayer, Score};
pub use shot::{ShotBegin, ShotEnd};
pub use status::Status;
pub use tank::{Precision, TankUpdate};
pub use text::Text;
pub use variables::Variables;
pub use vars::SetVar;

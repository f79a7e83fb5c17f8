//! Evenkeel on real sockets: sessions, servers and clients over QUIC and WebTransport.
//!
//! Thin: it moves bytes and time between sockets and the heart, and decides nothing about fairness.
//!
//! - [`Server`], [`Client`], [`Peer`]: both halves of a session on real sockets;
//! - [`discovery`]: sessions on the local network, announced and found;
//! - [`hub`]: the server's half of a session, without sockets;
//! - [`levels`]: the game's own messages, at five levels of service;
//! - [`lobby`]: several sessions behind one set of connections, and a list of them;
//! - [`metrics`]: a session in numbers, over HTTP;
//! - [`protocol`]: what hosts say to each other besides the heart's datagrams;
//! - [`report`]: a session in numbers;
//! - [`seat`]: a player's half;
//! - [`token`]: who may join what, signed by the operator;
//! - [`transport`]: connections that carry datagrams and messages, over WebTransport or a WebSocket.

#![forbid(unsafe_code)]

mod background;
mod client;
pub mod discovery;
mod events;
pub mod hub;
pub mod levels;
mod listing;
pub mod lobby;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod protocol;
pub mod report;
pub mod seat;
mod server;
mod ticking;
pub mod token;
pub mod transport;

pub use client::{Client, ClientConfig, Frame, HostClock, LinkState, Peer, PeerConfig, StartError};
pub use listing::{ListError, list_sessions};
pub use server::{ConditionError, Server, ServerConfig, ServerError, Watcher};

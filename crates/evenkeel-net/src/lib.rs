//! Evenkeel on real sockets: sessions, servers and clients over QUIC and WebTransport.
//!
//! Thin: it moves bytes and time between sockets and the heart, and decides nothing about fairness.
//!
//! - [`Server`], [`Client`]: both halves of a session on real sockets;
//! - [`hub`]: the server's half of a session, without sockets;
//! - [`metrics`]: a session in numbers, over HTTP;
//! - [`protocol`]: what hosts say to each other besides the heart's datagrams;
//! - [`report`]: a session in numbers;
//! - [`seat`]: a player's half;
//! - [`token`]: who may join what, signed by the operator;
//! - [`transport`]: connections that carry datagrams and messages, over WebTransport or a WebSocket.

#![forbid(unsafe_code)]

mod client;
pub mod hub;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod protocol;
pub mod report;
pub mod seat;
mod server;
mod ticking;
pub mod token;
pub mod transport;

pub use client::{Client, LinkState};
pub use server::{Server, ServerError, Watcher};

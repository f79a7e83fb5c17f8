//! Evenkeel on real sockets: sessions, servers and clients over QUIC and WebTransport.
//!
//! Thin: it moves bytes and time between sockets and the heart, and decides nothing about fairness.
//!
//! - [`token`]: who may join what, signed by the operator;
//! - [`transport`]: connections that carry datagrams and messages, over WebTransport or a WebSocket.

#![forbid(unsafe_code)]

pub mod token;
pub mod transport;

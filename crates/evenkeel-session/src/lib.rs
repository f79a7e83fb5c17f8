//! A player's half of an Evenkeel session, without sockets.
//!
//! - [`protocol`]: what hosts say to each other besides the heart's datagrams;
//! - [`levels`]: the game's own messages, at five levels of service;
//! - [`events`]: what waits until the game asks;
//! - [`seat`]: a player's part in a session, as a state machine.
//!
//! Bytes and this host's time go in, bytes come out: programs carry them with `evenkeel-net`, which has the server's half too and
//! shows all of this as its own; a page in a browser carries them with the browser's own WebTransport.

#![forbid(unsafe_code)]

pub mod events;
pub mod levels;
pub mod protocol;
pub mod seat;

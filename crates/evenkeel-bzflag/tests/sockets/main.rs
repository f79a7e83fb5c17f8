//! The relay on real sockets, between a server and clients that are made up here.

mod bad;
mod conditions;
mod play;
mod world;

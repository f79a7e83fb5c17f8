//! The demo from outside: its page, its feed, recordings.
#![allow(clippy::unwrap_used)]

mod client;
mod feed;
mod pages;
mod recordings;

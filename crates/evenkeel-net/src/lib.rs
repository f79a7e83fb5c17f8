//! Evenkeel on real sockets: sessions, servers and clients over QUIC and WebTransport.
//!
//! Thin: it moves bytes and time between sockets and the heart, and decides nothing about fairness.
//!
//! # A whole small game
//!
//! Ada drives a tank, Ben fires at whatever he sees, and the server decides. Usually each is a program of its own; here all three
//! take turns in one loop, without tokio. Within a tokio runtime, `start` takes the place of `spawn`.
//!
//! ```
//! use evenkeel::{Pose, Threshold, Vec3};
//! use evenkeel_net::hub::{HubConfig, HubEvent};
//! use evenkeel_net::levels::Level;
//! use evenkeel_net::protocol::SERVER;
//! use evenkeel_net::seat::{SeatConfig, SeatEvent};
//! use evenkeel_net::transport::{Identity, ListenConfig, Trust};
//! use evenkeel_net::{Client, ClientConfig, Server, ServerConfig};
//! use std::time::Duration;
//!
//! // The server makes itself a certificate. Players are given its address and the hash of that.
//! let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(14 * 24 * 3600))?;
//! let hash = identity.hash_text();
//! let listen = ListenConfig::new("127.0.0.1:0".parse()?, identity);
//! let server = Server::spawn(ServerConfig::new(listen, HubConfig::default()))?;
//! let url = format!("https://{}/", server.address());
//!
//! let trust = Trust::in_hash(&hash)?;
//! let ada = Client::spawn(ClientConfig::new(&url, trust.clone(), SeatConfig::named("Ada")))?;
//! let ben = Client::spawn(ClientConfig::new(&url, trust, SeatConfig::named("Ben")))?;
//! let (mut tank, mut x, mut over) = (None, 0.0, false);
//! for _frame in 0..20 * 60 {
//!     std::thread::sleep(Duration::from_millis(16));
//!
//!     // Ada makes her tank once she is in, and says in every frame where it is. Others are told when they need it.
//!     for event in ada.frame().events {
//!         match event {
//!             SeatEvent::Message { from: SERVER, bytes, .. } => over = bytes == b"hit",
//!             SeatEvent::Welcome { again: false, .. } => tank = None, // a new session: make it anew
//!             SeatEvent::Refused(why) => return Err(why.into()),
//!             _ => {}
//!         }
//!     }
//!     if ada.is_ready() {
//!         let tank = match tank {
//!             Some(tank) => tank,
//!             None => *tank.insert(ada.make(Threshold::within(0.1), b"a tank".to_vec())?),
//!         };
//!         x += 10.0 * 0.016;
//!         ada.observe(tank, Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::new(10.0, 0.0, 0.0)))?;
//!     }
//!
//!     // Ben is told where to show everything of others', and fires.
//!     for (entity, seen) in ben.frame().placed {
//!         println!("{entity} is at {:.1} m", seen.position.x);
//!         ben.send(SERVER, Level::Quickest, b"fire".to_vec())?;
//!     }
//!
//!     // The server hears of it, and tells everybody.
//!     while let Some(event) = server.poll_event() {
//!         match event {
//!             HubEvent::Came { name, .. } => println!("{name} came"),
//!             HubEvent::Message { bytes, .. } if bytes == b"fire" => server.broadcast(Level::Ordered, b"hit")?,
//!             _ => {}
//!         }
//!     }
//!     if over {
//!         break;
//!     }
//! }
//! # if let Some(trouble) = ada.trouble().or(ben.trouble()) { println!("{trouble}") }
//! assert!(over);
//! ada.leave_blocking();
//! server.stop_blocking("the game is over");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Whose shot counts is the game's to say: [`Hub::seen_by`](hub::Hub::seen_by) tells what Ben was being shown when he fired. Join
//! tokens: [`TokenGate`](hub::TokenGate). Programs of their own are in `examples/`: `minimal_server`, `minimal_client`,
//! `frame_loop` and `peer`.
//!
//! # What is where
//!
//! - [`Server`], [`Client`], [`Peer`]: both halves of a session on real sockets;
//! - [`discovery`]: sessions on the local network, announced and found;
//! - [`hub`]: the server's half of a session, without sockets;
//! - [`levels`]: the game's own messages, at five levels of service;
//! - [`lobby`]: several sessions behind one set of connections, and a list of them;
//! - [`metrics`]: a session in numbers, over HTTP;
//! - [`part`]: either half;
//! - [`protocol`]: what hosts say to each other besides the heart's datagrams;
//! - [`report`]: a session in numbers;
//! - [`seat`]: a player's half;
//! - [`token`]: who may join what, signed by the operator;
//! - [`transport`]: connections that carry datagrams and messages, over WebTransport or a WebSocket.
//!
//! [`levels`], [`protocol`] and [`seat`] are the crate `evenkeel-session`, which builds for browsers too.

#![forbid(unsafe_code)]

#[cfg(feature = "sockets")]
mod background;
#[cfg(feature = "sockets")]
mod client;
#[cfg(feature = "sockets")]
pub mod discovery;
pub mod hub;
#[cfg(feature = "sockets")]
mod listing;
#[cfg(feature = "sockets")]
pub mod lobby;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod part;
pub mod report;
mod secret;
#[cfg(feature = "sockets")]
mod server;
mod session;
#[cfg(feature = "sockets")]
mod ticking;
pub mod token;
#[cfg(feature = "sockets")]
pub mod transport;

#[cfg(feature = "sockets")]
pub use client::{Client, ClientConfig, Frame, HostClock, LinkState, Peer, PeerConfig, StartError};
pub use evenkeel_session::{levels, protocol, seat};
#[cfg(feature = "sockets")]
pub use listing::{ListError, list_sessions, list_sessions_blocking};
pub use secret::secret;
#[cfg(feature = "sockets")]
pub use server::{ConditionError, Server, ServerConfig, ServerError, Watcher};
pub use session::Session;

//! The stage: everything of the demo but HTTP. A server with two sessions on real sockets, bots and receivers as real clients, a
//! referee, and what is measured of it all.
//!
//! - `house`: the server, its sessions, and the session's time;
//! - `roles`, `cast`, `link`: who takes part, and their connections;
//! - `craft`, `truth`: what bots steer, and where it really is;
//! - `people`: who joins from outside;
//! - `shots`, `referee`: who hits whom, by whose picture;
//! - `gauge`, `meter`, `losses`, `second`: what is shown against what is, in numbers;
//! - `show`: the loop that drives it all.

mod cast;
mod craft;
mod gauge;
mod house;
mod link;
mod losses;
mod meter;
mod people;
mod referee;
mod roles;
mod second;
mod shots;
mod show;
mod truth;

use crate::feed::{Frame, State, Text};
use crate::settings::{Settings, SettingsError};
use evenkeel_net::{ServerError, transport};
use house::{House, LEFT, SESSIONS};
use serde_json::Value;
use show::{Order, Show};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// So many texts wait at most for somebody who does not read them.
const MAX_TEXTS: usize = 256;

/// How a [`Stage`] is set up.
#[derive(Clone, Debug)]
pub struct StageConfig {
    /// What is set at the beginning.
    pub settings: Settings,
    /// Where the server listens (UDP); port 0 for any.
    pub address: SocketAddr,
    /// Where it listens for WebSockets, if at all.
    pub websocket: Option<SocketAddr>,
    /// Bots, networks and policies follow from it.
    pub seed: u64,
    /// More names and addresses for the certificate, besides this machine's own names for itself.
    pub lan_names: Vec<String>,
}

/// Why there is no stage.
#[derive(Debug)]
#[non_exhaustive]
pub enum StageError {
    /// The settings cannot be.
    Settings(SettingsError),
    /// There is no certificate.
    Identity(transport::Error),
    /// The server cannot start.
    Server(ServerError),
}

impl StageError {
    /// The address that is in use or cannot be used, if it is for that: another port may do.
    pub fn taken(&self) -> Option<SocketAddr> {
        match self {
            Self::Server(ServerError::Transport(transport::Error::Bind { address, .. })) => Some(*address),
            _ => None,
        }
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Identity(error) => write!(f, "no certificate could be made: {error}"),
            Self::Server(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StageError {}

/// How to join the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// The session that is played.
    pub session: &'static str,
    /// The server's port (UDP).
    pub port: u16,
    /// Its port for WebSockets, if it has one.
    pub websocket_port: Option<u16>,
    /// The SHA-256 hashes of its certificates.
    pub hashes: Vec<[u8; 32]>,
}

/// What the loop and those outside have in common.
struct Shared {
    wanted: Mutex<Wanted>,
    state: watch::Sender<Arc<State>>,
    frames: watch::Sender<Arc<Frame>>,
    texts: broadcast::Sender<Arc<Text>>,
}

/// What somebody has asked for.
#[derive(Clone)]
struct Wanted {
    settings: Settings,
    /// Grows with every change.
    version: u64,
    /// Grows with every change after which windows begin anew.
    resets: u64,
}

impl Shared {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The demo without its page. It ends when it is dropped; [`stop`](Self::stop) waits for that.
pub struct Stage {
    shared: Arc<Shared>,
    orders: mpsc::Sender<Order>,
    task: JoinHandle<()>,
    play: Play,
}

impl Stage {
    /// Starts the server, and lets bots and receivers join. Must be called within a tokio runtime.
    pub async fn start(config: StageConfig) -> Result<Self, StageError> {
        let mut settings = config.settings.patched(&Value::Object(Default::default())).map_err(StageError::Settings)?;
        roles::cast_networks(&config.settings, &mut settings);
        let config = StageConfig { settings, ..config };
        let house = House::open(&config).await?;
        let play = Play {
            session: SESSIONS[LEFT],
            port: house.port(),
            websocket_port: house.websocket_port(),
            hashes: vec![house.hash()],
        };
        let shared = Arc::new(Shared {
            wanted: Mutex::new(Wanted { settings: config.settings.clone(), version: 0, resets: 0 }),
            state: watch::Sender::new(Arc::new(State {
                generation: 0,
                settings: config.settings,
                crafts: Vec::new(),
                views: Vec::new(),
                scores: Vec::new(),
                recording: false,
                opened: None,
            })),
            frames: watch::Sender::new(Arc::default()),
            texts: broadcast::Sender::new(MAX_TEXTS),
        });
        let (orders, taken) = mpsc::channel(4);
        let task = tokio::spawn(Show::new(shared.clone(), house, config.seed).run(taken));
        Ok(Self { shared, orders, task, play })
    }

    /// How to join the game.
    pub fn play(&self) -> Play {
        self.play.clone()
    }

    /// What the demo is made of at present.
    pub fn state(&self) -> Arc<State> {
        self.shared.state.borrow().clone()
    }

    /// Pictures, fifty a second.
    pub fn frames(&self) -> watch::Receiver<Arc<Frame>> {
        self.shared.frames.subscribe()
    }

    /// Texts for the page, from now on.
    pub fn texts(&self) -> broadcast::Receiver<Arc<Text>> {
        self.shared.texts.subscribe()
    }

    /// Changes settings, as a merge patch says. It acts with the next picture.
    pub fn set(&self, patch: &Value) -> Result<(), SettingsError> {
        let mut wanted = self.shared.wanted();
        let mut settings = wanted.settings.patched(patch)?;
        if let Some(stranger) = settings.players.keys().find(|name| !wanted.settings.players.contains_key(*name)) {
            let here: Vec<&str> = wanted.settings.players.keys().map(String::as_str).collect();
            return Err(SettingsError(format!("there is no player `{stranger}`; there are {}", here.join(", "))));
        }
        roles::cast_networks(&wanted.settings, &mut settings);
        let Wanted { version, resets, .. } = *wanted;
        *wanted = Wanted { settings, version: version + 1, resets: resets + 1 };
        Ok(())
    }

    /// Begins the windows anew.
    pub fn reset(&self) {
        let mut wanted = self.shared.wanted();
        (wanted.version, wanted.resets) = (wanted.version + 1, wanted.resets + 1);
    }

    /// The server dies and comes back on the same ports, with the same certificate. For tests.
    pub async fn restart_server(&self) {
        let (done, back) = oneshot::channel();
        if self.orders.send(Order::Restart(done)).await.is_ok() {
            let _ = back.await;
        }
    }

    /// Ends it, and waits until it has.
    pub async fn stop(self) {
        let _ = self.orders.send(Order::Stop).await;
        let _ = self.task.await;
    }
}

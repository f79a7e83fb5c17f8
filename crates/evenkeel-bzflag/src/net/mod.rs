//! The relay on real sockets.
//!
//! One task owns everything and decides; others only read and write. Each client has a stream and a datagram socket of its own
//! to the server, so that to the server it is a client like any other.

mod engine;
mod greeting;
mod link;
mod queue;

use crate::message::TankUpdate;
use crate::relay::RelayConfig;
use crate::summary::Summary;
use engine::{Command, Engine};
use evenkeel::{Duration, GlobalTime, HostId};
use evenkeel_link::Conditions;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use tokio::sync::{mpsc, oneshot};

/// How a [`Service`] is set up.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where the game's server is.
    pub server: SocketAddr,
    /// Conditions that clients are put under, both ways, by the players' names. For testing.
    pub conditions: Vec<(String, Conditions)>,
    /// So many clients are served at once at most.
    pub most_clients: usize,
    /// Whoever has not been greeted by the server after so long is no client of the game. Ten seconds are plenty.
    pub handshake: Duration,
    /// Who decides, and how.
    pub relay: RelayConfig,
}

/// Where updates of tanks go that are to be recorded, with when they were received.
pub type Tap = SyncSender<(GlobalTime, TankUpdate)>;

/// A relay that runs.
///
/// ```no_run
/// use evenkeel::Duration;
/// use evenkeel_bzflag::{RelayConfig, Service, ServiceConfig};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let service = Service::start(ServiceConfig {
///     listen: "0.0.0.0:5154".parse()?,
///     server: "127.0.0.1:5155".parse()?,
///     conditions: vec![("far away".into(), "delay=200ms".parse()?)],
///     most_clients: 64,
///     handshake: Duration::from_secs(10),
///     relay: RelayConfig::default(),
/// })
/// .await?;
/// tokio::time::sleep(std::time::Duration::from_secs(300)).await;
/// for decider in service.stop().await.deciders {
///     println!("{}: {:.2} m", decider.name, decider.mean_m);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Service {
    address: SocketAddr,
    commands: mpsc::Sender<Command>,
}

impl Service {
    /// Begins to serve clients.
    pub async fn start(config: ServiceConfig) -> io::Result<Self> {
        let (commands, receiver) = mpsc::channel(8);
        let engine = Engine::bind(config, receiver).await?;
        let address = engine.local_addr()?;
        tokio::spawn(engine.run());
        Ok(Self { address, commands })
    }

    /// Where clients connect.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// From now on every update of a tank goes there, once; see [`Relay::set_tap`](crate::Relay::set_tap). What there is no room for
    /// is lost, and said.
    pub async fn tap(&self, tap: Tap) {
        // The task lives as long as anybody can ask.
        let _ = self.commands.send(Command::Tap(tap)).await;
    }

    /// What came of it so far.
    pub async fn summary(&self) -> Summary {
        self.ask(Command::Summary).await
    }

    /// Closes every connection, and tells what came of it.
    pub async fn stop(self) -> Summary {
        self.ask(Command::Stop).await
    }

    async fn ask(&self, command: impl FnOnce(oneshot::Sender<Summary>) -> Command) -> Summary {
        let (answer, summary) = oneshot::channel();
        // The task lives as long as anybody can ask.
        let _ = self.commands.send(command(answer)).await;
        summary.await.unwrap_or_default()
    }
}

//! The server with its two sessions, and the session's time.

use super::roles::is_reserved;
use super::{StageConfig, StageError};
use crate::settings::{Network, Settings, World};
use evenkeel::{Duration, GlobalTime, Instant, LagChange, Placing};
use evenkeel_net::hub::{Asking, Gate, Hub, HubConfig, Pass};
use evenkeel_net::protocol::Refusal;
use evenkeel_net::transport::{Conditioner, Identity, ListenConfig, Rate, Trust};
use evenkeel_net::{Server, ServerConfig, ServerError};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The sessions by world.
pub(super) const SESSIONS: [&str; 2] = ["left", "right"];
/// The session that is played.
pub(super) const LEFT: usize = 0;
/// The same movement by another policy.
pub(super) const RIGHT: usize = 1;

/// Browsers accept hashes only of certificates that live no longer than two weeks.
const VALID: std::time::Duration = std::time::Duration::from_secs(14 * 24 * 3600);
/// Players in a session: bots, receivers, and people.
const MAX_PLAYERS: usize = 40;
/// A craft, one that has just been hit, and one to spare.
const MAX_ENTITIES: u32 = 4;
/// All bots come at once, and after a restart again.
const HANDSHAKES: Rate = Rate { burst: 160, per_second: 20.0 };
/// How far a vector is extrapolated: with a third of all vectors, heartbeats come every third second.
const MAX_AGE: Duration = Duration::from_secs(10);
/// Longer than both lags together.
const HISTORY: Duration = Duration::from_millis(2_500);
/// So often it is tried to listen again after a restart.
const TRIES: u32 = 100;
const BETWEEN_TRIES: std::time::Duration = std::time::Duration::from_millis(50);

/// The session's time, by this machine's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    instant: std::time::Instant,
    global: GlobalTime,
}

impl Time {
    /// As the server has it.
    fn of(server: &Server) -> Self {
        server.with(|hub, now| Self { global: hub.now(now), instant: std::time::Instant::now() })
    }

    /// Now.
    pub(super) fn now(&self) -> GlobalTime {
        let passed = self.instant.elapsed().as_nanos();
        self.global + Duration::from_nanos(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

/// The server.
pub(super) struct House {
    server: Option<Server>,
    listen: ListenConfig,
    seed: u64,
    /// By this word the cast is let in under its names.
    token: Vec<u8>,
    pub(super) time: Time,
}

impl House {
    /// Opens it, as it is set.
    pub(super) async fn open(config: &StageConfig) -> Result<Self, StageError> {
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
        let own = config.address.ip();
        names.extend((!own.is_unspecified() && !own.is_loopback()).then(|| own.to_string()));
        names.extend(config.lan_names.iter().cloned());
        let identity = Identity::self_made(names, VALID).map_err(StageError::Identity)?;
        let mut listen = ListenConfig {
            websocket: config.websocket,
            handshakes_per_source: HANDSHAKES,
            max_connections: 256,
            conditioner: Some(Conditioner::new(config.seed)),
            ..ListenConfig::new(config.address, identity)
        };
        // As hard to guess as the keys of a hash map.
        let token = [0, 1].map(|n| RandomState::new().hash_one(n).to_be_bytes()).concat();
        let server = start(listen.clone(), sessions(&config.settings, config.seed, &token)?).await;
        let server = server.map_err(StageError::Server)?;
        // It is to come back where it was.
        listen.address = server.address();
        listen.websocket = server.websocket_address().or(listen.websocket);
        Ok(Self { time: Time::of(&server), server: Some(server), listen, seed: config.seed, token })
    }

    /// The server dies without a word, and comes back on the same ports.
    pub(super) async fn reopen(&mut self, settings: &Settings) -> Result<(), StageError> {
        self.server = None;
        let mut tries = 0;
        loop {
            tries += 1;
            match start(self.listen.clone(), sessions(settings, self.seed, &self.token)?).await {
                Ok(server) => {
                    self.time = Time::of(&server);
                    self.server = Some(server);
                    return Ok(());
                }
                // The system takes a moment to let go of the ports.
                Err(_) if tries < TRIES => tokio::time::sleep(BETWEEN_TRIES).await,
                Err(error) => return Err(StageError::Server(error)),
            }
        }
    }

    pub(super) async fn close(self) {
        if let Some(server) = self.server {
            server.stop("the demo ends").await;
        }
    }

    pub(super) fn now(&self) -> GlobalTime {
        self.time.now()
    }

    /// Where bots connect to.
    pub(super) fn url(&self) -> String {
        let mut address = self.listen.address;
        if address.ip().is_unspecified() {
            let any = if address.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { Ipv6Addr::LOCALHOST.into() };
            address.set_ip(any);
        }
        format!("https://{address}/")
    }

    pub(super) fn trust(&self) -> Trust {
        Trust::Hashes(vec![self.hash()])
    }

    pub(super) fn token(&self) -> Vec<u8> {
        self.token.clone()
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        self.listen.identity.hash()
    }

    pub(super) fn port(&self) -> u16 {
        self.listen.address.port()
    }

    pub(super) fn websocket_port(&self) -> Option<u16> {
        self.listen.websocket.as_ref().map(SocketAddr::port)
    }

    /// Looks at a session, or does something to it; nothing while there is no server.
    pub(super) fn with<R>(&self, world: usize, act: impl FnOnce(&mut Hub, Instant) -> R) -> Option<R> {
        self.server.as_ref()?.with_session(SESSIONS.get(world)?, act)
    }

    /// Puts a network between the server and a player, the same both ways: an unequal path would fool any clock.
    pub(super) fn condition(&self, player: &str, network: &Network) {
        let (Some(server), Ok(conditions)) = (&self.server, network.conditions()) else { return };
        if let Err(error) = server.set_condition(player, conditions.clone(), conditions) {
            tracing::warn!(player, %error, "its network stays as it was");
        }
    }

    /// A player's network is its own again.
    pub(super) fn release(&self, player: &str) {
        if let Some(server) = &self.server {
            server.clear_condition(player);
        }
    }

    /// Decides by a policy from now on, in a world, without debts from before.
    pub(super) fn set_policy(&self, world: usize, how: &World) {
        if let Ok(policy) = how.policy(self.seed) {
            self.with(world, |hub, now| {
                hub.set_policy(policy);
                hub.clear_books(now)
            });
        }
    }

    /// Extrapolates by another rule from now on.
    pub(super) fn set_rule(&self, settings: &Settings) {
        for world in [LEFT, RIGHT] {
            self.with(world, |hub, now| hub.set_rule(settings.clock.into(), now));
        }
    }

    /// Shows things later, or sooner.
    pub(super) fn set_lag(&self, change: LagChange) {
        for world in [LEFT, RIGHT] {
            self.with(world, |hub, now| hub.set_lag(change, now));
        }
    }
}

/// On a thread of its own: it ends with everything that belongs to it, the ports included, whatever is still under way.
async fn start(listen: ListenConfig, sessions: Vec<HubConfig>) -> Result<Server, ServerError> {
    let config = ServerConfig { listen, sessions, host_clock: None };
    let started = tokio::task::spawn_blocking(move || Server::spawn(config)).await;
    started.unwrap_or_else(|error| Err(ServerError::Thread(std::io::Error::other(error))))
}

/// Lets everybody in, but nobody from outside under a name of the cast: networks and numbers go by names.
fn gate(token: Vec<u8>) -> Box<dyn Gate> {
    Box::new(move |asking: &Asking<'_>| {
        if is_reserved(asking.name) && asking.token != token {
            return Err(Refusal::Token(format!("`{}` is a bot's or a receiver's name: choose another", asking.name)));
        }
        Ok(Pass::with_entities(MAX_ENTITIES))
    })
}

/// Both sessions, as they are set. The right one is there also while nobody is in it.
fn sessions(settings: &Settings, seed: u64, token: &[u8]) -> Result<Vec<HubConfig>, StageError> {
    let placing = Placing { rule: settings.clock.into(), lag: settings.movement_lag(), max_age: MAX_AGE };
    let worlds = [&settings.left, settings.right.as_ref().unwrap_or(&settings.left)];
    let session = |(name, world): (&str, &World)| {
        let policy = world.policy(seed).map_err(StageError::Settings)?;
        Ok(HubConfig {
            session: name.into(),
            policy,
            placing,
            history: HISTORY,
            gate: gate(token.to_vec()),
            max_players: MAX_PLAYERS,
            max_guests: 2 * MAX_PLAYERS,
            ..HubConfig::default()
        })
    };
    SESSIONS.into_iter().zip(worlds).map(session).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cast_has_names_of_the_cast() {
        let mut gate = gate(b"word".to_vec());
        let mut admits = |name, token| gate.admit(&Asking { token, session: "left", name, rejoining: None }).is_ok();
        assert!(admits("bot 7", b"word") && admits("Ada", b"") && admits("Ada", b"?"));
        assert!(!admits("bot 7", b"") && !admits("800 ms", b"?"));
    }
}

//! One UDP socket, which may dial and accept at once.

use super::arrivals::Arrivals;
use super::conditioner::Conditioner;
use super::connect::{ConnectConfig, Target};
use super::socket::Socket;
use super::{Connection, Error, LINGER};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How to bind an [`Endpoint`].
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Where. Port 0 takes any free one.
    pub address: SocketAddr,
    /// With which key a restarted program on the same port tells the peers of the old one that their connections are
    /// gone. If none is given, they find out by the idle time-out.
    pub reset_key: Option<[u8; 64]>,
    /// A bad network, for testing.
    pub conditioner: Option<Conditioner>,
}

impl EndpointConfig {
    /// Bound there, and nothing special.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, reset_key: None, conditioner: None }
    }
}

/// One UDP socket: it dials, and a [`Listener`](super::Listener) [on it](super::Listener::on) accepts. Peers that dial
/// each other at once from the ports on which they accept open the way through each other's firewalls.
///
/// Clones are the same socket. It is closed when all of them, and all connections on it, are gone.
#[derive(Clone)]
pub struct Endpoint {
    quic: quinn::Endpoint,
    local: SocketAddr,
    arrivals: Arc<Arrivals>,
    listening: Arc<AtomicBool>,
}

impl Endpoint {
    /// Binds the socket. Must be called within a tokio runtime.
    pub fn bind(config: EndpointConfig) -> Result<Self, Error> {
        let bind = || {
            let arrivals = Arc::new(Arrivals::new());
            let socket = Socket::bind(config.address, arrivals.clone(), config.conditioner)?;
            let local = socket.local_addr()?;
            let (settings, runtime) = (settings(config.reset_key), Arc::new(quinn::TokioRuntime));
            let quic = quinn::Endpoint::new_with_abstract_socket(settings, None, socket, runtime)?;
            Ok(Self { quic, local, arrivals, listening: Arc::default() })
        };
        bind().map_err(|source| Error::Bind { address: config.address, protocol: "UDP", source })
    }

    /// Where it is bound.
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Connects to `https://host:port/path`. Where to bind is known already: what the settings say about that does not
    /// count.
    pub async fn connect(&self, url: &str, config: &ConnectConfig) -> Result<Connection, Error> {
        let target = Target::parse(url)?;
        if target.is_websocket() {
            return Err(Error::Setting(format!("{url} is for TCP, and an endpoint is UDP: connect without one")));
        }
        target.reach(Some(self), config).await
    }

    /// Connects to a peer whose address is known, asking for a path such as `/`. The peer's certificate should be known
    /// by its hash.
    pub async fn dial(&self, address: SocketAddr, path: &str, config: &ConnectConfig) -> Result<Connection, Error> {
        let target = Target::parse(&format!("https://{address}/{}", path.trim_start_matches('/')))?;
        target.reach(Some(self), config).await
    }

    pub(super) fn can_reach(&self, address: SocketAddr) -> bool {
        // A socket that is bound to every address of the newer protocol takes the older one's, too.
        self.local.is_ipv4() == address.is_ipv4() || self.local.ip().is_unspecified() && self.local.is_ipv6()
    }

    pub(super) fn quic(&self) -> &quinn::Endpoint {
        &self.quic
    }

    pub(super) fn arrivals(&self) -> Arc<Arrivals> {
        self.arrivals.clone()
    }

    /// Takes the right to accept, which only one can have.
    pub(super) fn begin_to_accept(&self, server: quinn::ServerConfig) -> Result<(), Error> {
        if self.listening.swap(true, Ordering::Relaxed) {
            return Err(Error::Setting("somebody accepts on this endpoint already".into()));
        }
        self.quic.set_server_config(Some(server));
        Ok(())
    }

    /// Gives the right to accept back.
    pub(super) fn cease_to_accept(&self) {
        self.quic.set_server_config(None);
        self.listening.store(false, Ordering::Relaxed);
    }

    /// Gives the endpoint of a single connection time to tell the peer.
    pub(super) async fn settle(&self) {
        let _ = tokio::time::timeout(LINGER, self.quic.wait_idle()).await;
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("local", &self.local).finish_non_exhaustive()
    }
}

/// A restarted program must be able to disown the connections of the old one. For that, it needs the old key, and
/// connection IDs that it does not recognise must not be ignored: QUIC's default is to mark them with a secret that dies
/// with the process. Answers to garbage are shorter than the garbage. Nor must they be rare: all clients of the old one speak at
/// about the same time, and QUIC's default answers one of them every 20 ms and leaves the others to their next packet.
fn settings(reset_key: Option<[u8; 64]>) -> quinn::EndpointConfig {
    let Some(key) = reset_key else { return quinn::EndpointConfig::default() };
    let mut settings = quinn::EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &key)));
    settings.cid_generator(|| Box::new(RandomIds(SystemRandom::new()))).min_reset_interval(Duration::ZERO);
    settings
}

struct RandomIds(SystemRandom);

impl RandomIds {
    const LENGTH: usize = 8;
}

impl quinn::ConnectionIdGenerator for RandomIds {
    fn generate_cid(&mut self) -> quinn::ConnectionId {
        let mut id = [0; Self::LENGTH];
        // Without randomness there is no TLS either, and no connection that this could harm.
        let _ = self.0.fill(&mut id);
        quinn::ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        Self::LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

//! The server's side: from a port to connections.

use super::arrivals::Arrivals;
use super::conditioner::Conditioner;
use super::connection::{Connection, Core, Living, Wire, obey};
use super::gate::{Gate, Rate};
use super::session::{ALPN, NO_ERROR, Session};
use super::webtransport::{self, Role};
use super::{Endpoint, EndpointConfig, Error, Identity, LINGER, Limits, websocket};
use quinn::crypto::rustls::QuicServerConfig;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// How to listen.
#[derive(Clone, Debug)]
pub struct ListenConfig {
    /// Where to listen for WebTransport (UDP). Port 0 takes any free one.
    pub address: SocketAddr,
    /// Where to listen for WebSockets (TCP), if at all. Browsers accept no hashes here: they want a certificate from an
    /// authority.
    pub websocket: Option<SocketAddr>,
    /// Who the server is.
    pub identity: Identity,
    /// How many connections there may be, handshakes included.
    pub max_connections: u32,
    /// How many handshakes one source may ask for.
    pub handshakes_per_source: Rate,
    /// How long a handshake may take.
    pub handshake_timeout: Duration,
    /// After how much silence a peer counts as gone. The shorter of both sides' holds.
    pub idle_timeout: Duration,
    /// After how much silence to make a sound. Well below the idle time-out.
    pub keep_alive: Duration,
    /// Whether a client has to show that it can be reached at its address before anything is spent on it (QUIC's
    /// Retry). It takes one round trip more, and without it the limit per source holds nobody who forges addresses.
    pub retry: bool,
    /// With which key a restarted server on the same port tells the clients of the old one that their connections are
    /// gone. If none is given, it is derived from the identity's key: the same identity is enough.
    pub reset_key: Option<[u8; 64]>,
    /// How much each connection may hold in memory.
    pub limits: Limits,
    /// A bad network, for testing. It acts on WebTransport only.
    pub conditioner: Option<Conditioner>,
}

impl ListenConfig {
    /// What suits a game, without WebSockets.
    pub fn new(address: SocketAddr, identity: Identity) -> Self {
        Self {
            address,
            websocket: None,
            identity,
            max_connections: 1024,
            handshakes_per_source: Rate::default(),
            handshake_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(2),
            retry: true,
            reset_key: None,
            limits: Limits::default(),
            conditioner: None,
        }
    }
}

/// Accepts connections. Those it has accepted outlive it.
pub struct Listener {
    config: ListenConfig,
    shared: Arc<Shared>,
    tls: watch::Sender<TlsAcceptor>,
    endpoint: Endpoint,
    /// Whether nobody else has the endpoint.
    alone: bool,
    websocket: Option<SocketAddr>,
    accepted: Mutex<mpsc::Receiver<Connection>>,
    tasks: Vec<JoinHandle<()>>,
}

/// What the tasks that accept have in common.
struct Shared {
    gate: Gate,
    refused: AtomicU64,
    room: Arc<Semaphore>,
    max_connections: u32,
    accepted: mpsc::Sender<Connection>,
    shutdown: watch::Sender<Option<String>>,
    retry: bool,
    handshake_timeout: Duration,
    pace: websocket::Pace,
    limits: Limits,
}

impl Listener {
    /// Binds the ports and begins to accept. Must be called within a tokio runtime.
    pub async fn bind(config: ListenConfig) -> Result<Self, Error> {
        let reset_key = config.reset_key.unwrap_or_else(|| config.identity.secret("stateless reset"));
        let endpoint = Endpoint::bind(EndpointConfig {
            address: config.address,
            reset_key: Some(reset_key),
            conditioner: config.conditioner.clone(),
        })?;
        Self::start(endpoint, config, true)
    }

    /// Accepts on a socket that is there already and may dial as well. What the settings say about the socket (the
    /// address, the reset key, the conditioner) does not count then. Only one can accept on an endpoint.
    pub async fn on(endpoint: &Endpoint, config: ListenConfig) -> Result<Self, Error> {
        Self::start(endpoint.clone(), config, false)
    }

    fn start(endpoint: Endpoint, config: ListenConfig, alone: bool) -> Result<Self, Error> {
        let server = server_config(&config, &config.identity)?;
        let tcp = config.websocket.map(bind_tcp).transpose()?;
        let websocket = tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let (tls, acceptor) = watch::channel(acceptor(&config.identity)?);

        endpoint.begin_to_accept(server)?;
        let (sender, receiver) = mpsc::channel(config.max_connections.max(1) as usize);
        let shared = Arc::new(Shared::new(&config, sender));
        let mut tasks = vec![tokio::spawn(accept_quic(shared.clone(), endpoint.clone()))];
        if let Some(tcp) = tcp {
            tasks.push(tokio::spawn(accept_tcp(shared.clone(), tcp, acceptor)));
        }
        Ok(Self { config, shared, tls, endpoint, alone, websocket, accepted: Mutex::new(receiver), tasks })
    }

    /// Where it listens for WebTransport.
    pub fn local_address(&self) -> SocketAddr {
        self.endpoint.local_address()
    }

    /// Where it listens for WebSockets.
    pub fn websocket_address(&self) -> Option<SocketAddr> {
        self.websocket
    }

    /// How many connections there are, handshakes included.
    pub fn connections(&self) -> usize {
        (self.shared.max_connections as usize).saturating_sub(self.shared.room.available_permits())
    }

    /// How many handshakes were refused so far: too many from one source, or no room.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// The next connection; none once shutting down.
    pub async fn accept(&self) -> Option<Connection> {
        let mut shutdown = self.shared.shutdown.subscribe();
        let mut accepted = self.accepted.lock().await;
        tokio::select! {
            biased;
            _ = shutdown.wait_for(Option::is_some) => None,
            connection = accepted.recv() => connection,
        }
    }

    /// Shows another certificate from now on: self-made ones do not live long. Connections that exist are not touched.
    ///
    /// Who derives the [reset key](ListenConfig::reset_key) from the identity should know that the old one stays in use
    /// until the server is restarted, and that the restarted one then has another.
    pub fn renew(&self, identity: &Identity) -> Result<(), Error> {
        let server = server_config(&self.config, identity)?;
        self.tls.send_replace(acceptor(identity)?);
        self.endpoint.quic().set_server_config(Some(server));
        Ok(())
    }

    /// Stops accepting, lets every connection deliver what it has queued, tells every peer the reason, and returns when
    /// all are gone: within about two seconds.
    pub async fn shutdown(&self, reason: &str) {
        self.shared.shutdown.send_replace(Some(reason.to_owned()));
        // Each connection holds one permit: whoever has all of them is alone.
        let alone = self.shared.room.acquire_many(self.shared.max_connections);
        let _ = tokio::time::timeout(LINGER + LINGER / 2, alone).await;
        if self.alone {
            self.endpoint.quic().close(NO_ERROR, reason.as_bytes());
            let _ = tokio::time::timeout(LINGER / 2, self.endpoint.quic().wait_idle()).await;
        }
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.endpoint.cease_to_accept();
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    fn new(config: &ListenConfig, accepted: mpsc::Sender<Connection>) -> Self {
        Self {
            gate: Gate::new(config.handshakes_per_source, Instant::now()),
            refused: AtomicU64::new(0),
            room: Arc::new(Semaphore::new(config.max_connections as usize)),
            max_connections: config.max_connections,
            accepted,
            shutdown: watch::Sender::new(None),
            retry: config.retry,
            handshake_timeout: config.handshake_timeout,
            pace: websocket::Pace { idle: config.idle_timeout, keep_alive: config.keep_alive },
            limits: config.limits,
        }
    }

    /// A permit to go on, if this source has not asked too often and there is room.
    fn admit(&self, source: IpAddr) -> Option<OwnedSemaphorePermit> {
        let welcome = self.shutdown.borrow().is_none() && self.gate.pass(source, Instant::now());
        let permit = welcome.then(|| self.room.clone().try_acquire_owned().ok()).flatten();
        if permit.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        permit
    }

    /// Gives the connection to the application.
    fn introduce(&self, core: &Arc<Core>) {
        // There is a place for as many as there are permits. If the application is gone, dropping it closes it.
        let _ = self.accepted.try_send(Connection::new(core.clone()));
    }
}

async fn accept_quic(shared: Arc<Shared>, endpoint: Endpoint) {
    while let Some(incoming) = endpoint.quic().accept().await {
        // Retries only answer, with less than they were sent: nothing is kept, nothing amplified.
        if shared.retry && !incoming.remote_address_validated() && incoming.may_retry() {
            let _ = incoming.retry();
            continue;
        }
        match shared.admit(incoming.remote_address().ip()) {
            Some(permit) => drop(tokio::spawn(serve_quic(shared.clone(), incoming, endpoint.arrivals(), permit))),
            None => incoming.refuse(),
        }
    }
}

async fn serve_quic(
    shared: Arc<Shared>,
    incoming: quinn::Incoming,
    arrivals: Arc<Arrivals>,
    _permit: OwnedSemaphorePermit,
) {
    let handshake = async { Session::accept(incoming.await.ok()?, arrivals).await };
    let Ok(Some((wire, capsules, path))) = tokio::time::timeout(shared.handshake_timeout, handshake).await else {
        return;
    };
    let core = Core::new(shared.limits, path, Wire::WebTransport(wire));
    let _living = Living(core.clone());
    shared.introduce(&core);
    tokio::select! {
        () = webtransport::run(&core, capsules, Role::Server) => {}
        never = obey(&core, shared.shutdown.subscribe()) => match never {},
    }
}

async fn accept_tcp(shared: Arc<Shared>, tcp: TcpListener, tls: watch::Receiver<TlsAcceptor>) {
    loop {
        let Ok((stream, remote)) = tcp.accept().await else {
            // Out of descriptors, most likely: wait until some are free.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Dropping the stream refuses.
        if let Some(permit) = shared.admit(remote.ip()) {
            let tls = tls.borrow().clone();
            tokio::spawn(serve_tcp(shared.clone(), stream, remote, tls, permit));
        }
    }
}

async fn serve_tcp(
    shared: Arc<Shared>,
    stream: TcpStream,
    remote: SocketAddr,
    tls: TlsAcceptor,
    _permit: OwnedSemaphorePermit,
) {
    let handshake = websocket::accept(tls, stream, shared.limits);
    let Ok(Some((socket, path))) = tokio::time::timeout(shared.handshake_timeout, handshake).await else { return };
    let core = Core::new(shared.limits, path, websocket::wire(remote));
    let _living = Living(core.clone());
    shared.introduce(&core);
    tokio::select! {
        () = websocket::run(&core, socket, shared.pace) => {}
        never = obey(&core, shared.shutdown.subscribe()) => match never {},
    }
}

fn server_config(config: &ListenConfig, identity: &Identity) -> Result<quinn::ServerConfig, Error> {
    let tls = identity.tls(ALPN)?;
    let crypto = QuicServerConfig::try_from(tls).map_err(|error| Error::Certificate(error.to_string()))?;
    let mut server = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    server
        .transport_config(webtransport::quic(&config.limits, config.idle_timeout, config.keep_alive)?)
        // What has not been looked at yet is bounded too.
        .max_incoming(1024)
        .incoming_buffer_size(16 * 1024)
        .incoming_buffer_size_total(4 * 1024 * 1024);
    Ok(server)
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, Error> {
    Ok(TlsAcceptor::from(Arc::new(identity.tls(b"http/1.1")?)))
}

fn bind_tcp(address: SocketAddr) -> Result<TcpListener, Error> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restarted server wants its port back at once; accepted sockets inherit the buffer's size.
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(websocket::KERNEL_BUFFER)?;
        socket.bind(address)?;
        socket.listen(256)
    };
    bind().map_err(|source| Error::Bind { address, protocol: "TCP", source })
}

//! The client's side: from a URL to a connection.

use super::conditioner::Conditioner;
use super::connection::{Connection, Core, Living, Wire};
use super::session::{ALPN, Capsules, Session, asked_for, explain};
use super::webtransport::{self, Role};
use super::{Endpoint, EndpointConfig, Error, Limits, Trust, websocket};
use quinn::crypto::rustls::QuicClientConfig;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::http::Uri;
use url::Url;

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectConfig {
    /// Whom to believe.
    pub trust: Trust,
    /// From which address of this machine; if none, the system chooses.
    pub local: Option<IpAddr>,
    /// How long the whole of connecting may take.
    pub timeout: Duration,
    /// After how much silence the peer counts as gone. The shorter of both sides' holds.
    pub idle_timeout: Duration,
    /// After how much silence to make a sound. Well below the idle time-out.
    pub keep_alive: Duration,
    /// How much to hold in memory.
    pub limits: Limits,
    /// A bad network, for testing. It acts on WebTransport only.
    pub conditioner: Option<Conditioner>,
}

impl ConnectConfig {
    /// What suits a game.
    pub fn new(trust: Trust) -> Self {
        Self {
            trust,
            local: None,
            timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(2),
            limits: Limits::default(),
            conditioner: None,
        }
    }
}

/// Connects to `https://host:port/path` by WebTransport or to `wss://host:port/path` by WebSocket.
pub async fn connect(url: &str, trust: Trust) -> Result<Connection, Error> {
    connect_with(url, &ConnectConfig::new(trust)).await
}

/// Connects with more to say about it than whom to trust.
pub async fn connect_with(url: &str, config: &ConnectConfig) -> Result<Connection, Error> {
    Target::parse(url)?.reach(None, config).await
}

/// What is wrong with a URL and with whom to trust, as far as that can be told without connecting.
pub(crate) fn check(url: &str, config: &ConnectConfig) -> Result<(), Error> {
    Target::parse(url)?.url()?;
    config.trust.tls(&[ALPN]).map(drop)
}

/// Has a task of its own carry the connection, and do something else once it is over.
fn carry(core: Arc<Core>, capsules: Capsules, afterwards: impl Future<Output = ()> + Send + 'static) -> Connection {
    let living = Living(core.clone());
    tokio::spawn(async move {
        webtransport::run(&living.0, capsules, Role::Client).await;
        afterwards.await;
        drop(living);
    });
    Connection::new(core)
}

/// Where to connect to.
pub(super) struct Target {
    uri: Uri,
    host: String,
    port: u16,
    websocket: bool,
}

impl Target {
    pub fn parse(url: &str) -> Result<Self, Error> {
        let uri: Uri = url.parse().map_err(|error| Error::Url(format!("{url} is not a URL ({error})")))?;
        let websocket = match uri.scheme_str() {
            Some("https") => false,
            Some("wss") => true,
            _ => return Err(Error::Url(format!("{url} begins with neither https nor wss"))),
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(Error::Url(format!("{url} names no host")));
        }
        let port = uri.port_u16().unwrap_or(443);
        Ok(Self { uri, host, port, websocket })
    }

    fn url(&self) -> Result<Url, Error> {
        let url = self.uri.to_string();
        url.parse().map_err(|error| Error::Url(format!("{url} is not a URL ({error})")))
    }

    pub fn is_websocket(&self) -> bool {
        self.websocket
    }

    /// Connects, from an endpoint or else from one made for this, but takes no longer than allowed.
    pub async fn reach(&self, from: Option<&Endpoint>, config: &ConnectConfig) -> Result<Connection, Error> {
        let attempt = async {
            let addresses = self.resolve(from, config).await?;
            self.try_each(addresses, from, config).await
        };
        tokio::time::timeout(config.timeout, attempt).await.unwrap_or(Err(Error::TimedOut))
    }

    /// The host's addresses that can be reached.
    async fn resolve(&self, from: Option<&Endpoint>, config: &ConnectConfig) -> Result<Vec<SocketAddr>, Error> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port))
            .await
            .map_err(|error| Error::Unreachable(format!("{}: {error}", self.host)))?;
        let reachable = |address: &SocketAddr| match from {
            Some(endpoint) => endpoint.can_reach(*address),
            None => config.local.is_none_or(|local| local.is_ipv4() == address.is_ipv4()),
        };
        Ok(found.filter(reachable).collect())
    }

    /// Tries one address after the other.
    async fn try_each(
        &self,
        addresses: Vec<SocketAddr>,
        from: Option<&Endpoint>,
        config: &ConnectConfig,
    ) -> Result<Connection, Error> {
        let mut last = Error::Unreachable(format!("{} has no address that can be reached from here", self.host));
        let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        for address in addresses {
            // One address that swallows everything must not keep us from trying the next.
            match tokio::time::timeout(config.timeout / count, self.connect(address, from, config)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => last = error,
                Err(_) => last = Error::TimedOut,
            }
        }
        Err(last)
    }

    async fn connect(
        &self,
        address: SocketAddr,
        from: Option<&Endpoint>,
        config: &ConnectConfig,
    ) -> Result<Connection, Error> {
        if self.websocket {
            return self.by_websocket(address, config).await;
        }
        if let Some(endpoint) = from {
            let (core, capsules) = self.by_webtransport(endpoint, address, config).await?;
            return Ok(carry(core, capsules, async {}));
        }
        let own = EndpointConfig::new(local(config.local, address));
        let endpoint = Endpoint::bind(EndpointConfig { conditioner: config.conditioner.clone(), ..own })?;
        let (core, capsules) = self.by_webtransport(&endpoint, address, config).await?;
        Ok(carry(core, capsules, async move { endpoint.settle().await }))
    }

    async fn by_webtransport(
        &self,
        endpoint: &Endpoint,
        address: SocketAddr,
        config: &ConnectConfig,
    ) -> Result<(Arc<Core>, Capsules), Error> {
        let url = self.url()?;
        let tls = config.trust.tls(&[ALPN])?;
        let crypto = QuicClientConfig::try_from(tls).map_err(|error| Error::Certificate(error.to_string()))?;
        let mut client = quinn::ClientConfig::new(Arc::new(crypto));
        client.transport_config(webtransport::quic(&config.limits, config.idle_timeout, config.keep_alive)?);
        let connecting = endpoint
            .quic()
            .connect_with(client, address, &self.host)
            .map_err(|error| Error::Unreachable(error.to_string()))?;
        let path = asked_for(&url);
        let (session, capsules) =
            Session::connect(connecting.await.map_err(explain)?, url, endpoint.arrivals()).await?;
        Ok((Core::new(config.limits, path, Wire::WebTransport(session)), capsules))
    }

    async fn by_websocket(&self, address: SocketAddr, config: &ConnectConfig) -> Result<Connection, Error> {
        let tls = TlsConnector::from(Arc::new(config.trust.tls(&[b"http/1.1"])?));
        let stream = open(address, local(config.local, address))
            .await
            .map_err(|error| Error::Unreachable(format!("{address}: {error}")))?;
        let socket = websocket::connect(stream, tls, &self.uri, config.limits).await?;
        let core = Core::new(config.limits, websocket::asked_for(&self.uri), websocket::wire(address));
        let living = Living(core.clone());
        let pace = websocket::Pace { idle: config.idle_timeout, keep_alive: config.keep_alive };
        tokio::spawn(async move {
            websocket::run(&living.0, socket, pace).await;
            drop(living);
        });
        Ok(Connection::new(core))
    }
}

fn local(wanted: Option<IpAddr>, remote: SocketAddr) -> SocketAddr {
    let any = if remote.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    SocketAddr::new(wanted.unwrap_or(any), 0)
}

async fn open(address: SocketAddr, local: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_send_buffer_size(websocket::KERNEL_BUFFER)?;
    socket.bind(local)?;
    socket.connect(address).await
}

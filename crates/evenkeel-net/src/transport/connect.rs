//! The client's side: from a URL to a connection.

use super::connection::{Connection, Core, Living, Wire};
use super::webtransport::{self, Role};
use super::{Error, Limits, Trust, websocket};
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::http::Uri;
use wtransport::config::{DnsLookupFuture, DnsResolver};

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
        }
    }
}

/// Connects to `https://host:port/path` by WebTransport or to `wss://host:port/path` by WebSocket.
pub async fn connect(url: &str, trust: Trust) -> Result<Connection, Error> {
    connect_with(url, &ConnectConfig::new(trust)).await
}

/// Connects with more to say about it than whom to trust.
pub async fn connect_with(url: &str, config: &ConnectConfig) -> Result<Connection, Error> {
    let target = Target::parse(url)?;
    let attempt = async {
        let addresses = target.resolve(config.local).await?;
        let mut last = Error::Unreachable(format!("{} has no address that can be reached from here", target.host));
        let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        for address in addresses {
            // One address that swallows everything must not keep us from trying the next.
            match tokio::time::timeout(config.timeout / count, target.connect(address, config)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => last = error,
                Err(_) => last = Error::TimedOut,
            }
        }
        Err(last)
    };
    tokio::time::timeout(config.timeout, attempt).await.unwrap_or(Err(Error::TimedOut))
}

struct Target {
    uri: Uri,
    host: String,
    port: u16,
    websocket: bool,
}

impl Target {
    fn parse(url: &str) -> Result<Self, Error> {
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

    /// The host's addresses that can be reached from the local one.
    async fn resolve(&self, local: Option<IpAddr>) -> Result<Vec<SocketAddr>, Error> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port))
            .await
            .map_err(|error| Error::Unreachable(format!("{}: {error}", self.host)))?;
        Ok(found.filter(|address| local.is_none_or(|local| local.is_ipv4() == address.is_ipv4())).collect())
    }

    async fn connect(&self, address: SocketAddr, config: &ConnectConfig) -> Result<Connection, Error> {
        if self.websocket {
            self.by_websocket(address, config).await
        } else {
            self.by_webtransport(address, config).await
        }
    }

    async fn by_webtransport(&self, address: SocketAddr, config: &ConnectConfig) -> Result<Connection, Error> {
        let local = local(config.local, address);
        let tls = config.trust.tls(&[wtransport::tls::WEBTRANSPORT_ALPN])?;
        let mut settings = wtransport::ClientConfig::builder()
            .with_bind_address(local)
            .with_custom_tls(tls)
            .dns_resolver(Known(address))
            .build();
        let quic = webtransport::quic(&config.limits, config.idle_timeout, config.keep_alive)?;
        settings.quic_config_mut().transport_config(quic);
        let endpoint = wtransport::Endpoint::client(settings).map_err(|source| Error::Bind {
            address: local,
            protocol: "UDP",
            source,
        })?;
        let wire = endpoint.connect(self.uri.to_string()).await.map_err(webtransport::explain)?;
        let core = Core::new(config.limits, websocket::asked_for(&self.uri), Wire::WebTransport(wire));
        let living = Living(core.clone());
        tokio::spawn(async move {
            webtransport::run(&living.0, Role::Client).await;
            webtransport::settle(&endpoint).await;
            drop(living);
        });
        Ok(Connection::new(core))
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

/// The address is known already.
#[derive(Debug)]
struct Known(SocketAddr);

impl DnsResolver for Known {
    fn resolve(&self, _: &str) -> Pin<Box<dyn DnsLookupFuture>> {
        let address = self.0;
        let known: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async move { Ok(Some(address)) });
        Box::pin(known)
    }
}

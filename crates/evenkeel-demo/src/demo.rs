//! The whole: a stage and a site.

use crate::settings::Settings;
use crate::site::{self, Lan, Link, RunningSite};
use crate::stage::{Stage, StageConfig, StageError};
use evenkeel_net::transport::{self, Identity};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpListener;

/// The certificate for other devices is made anew with every start.
const VALID: Duration = Duration::from_secs(13 * 24 * 3600);

/// How a demo starts.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// What it begins with.
    pub settings: Settings,
    /// Where the page is, over HTTP. Browsers let a page play only if it comes from this machine or over HTTPS.
    pub address: SocketAddr,
    /// The port of the page over HTTPS, on all addresses, for other devices on the network.
    pub lan: Option<u16>,
    /// Of everything random.
    pub seed: u64,
}

impl Default for DemoConfig {
    /// On this machine only, at port 8080.
    fn default() -> Self {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
        Self { settings: Settings::default(), address, lan: None, seed: 1 }
    }
}

/// Why there is no demo.
#[derive(Debug)]
pub enum DemoError {
    /// No port is to be had.
    Listen(transport::Error),
    /// No certificate can be made.
    Identity(transport::Error),
    /// The game cannot start.
    Stage(StageError),
    /// The site cannot start.
    Site(std::io::Error),
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) | Self::Identity(error) => error.fmt(f),
            Self::Stage(error) => error.fmt(f),
            Self::Site(error) => write!(f, "the page cannot be served: {error}"),
        }
    }
}

impl std::error::Error for DemoError {}

/// A demo that runs until it is stopped.
pub struct Demo {
    address: SocketAddr,
    site: RunningSite,
    notices: Vec<String>,
}

impl Demo {
    /// Starts it. A port that is in use is left to whoever uses it, and one of the next 20 taken.
    pub async fn start(config: DemoConfig) -> Result<Self, DemoError> {
        let mut notices = Vec::new();
        let listener = listen(config.address, &mut notices).await?;
        let address = address_of(&listener)?;
        let lan = match config.lan {
            Some(port) => Some(lan(port, &mut notices).await?),
            None => None,
        };
        let everywhere = lan.as_ref().map(|_| IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let game = SocketAddr::new(everywhere.unwrap_or(config.address.ip()), 0);
        let lan_names = lan.iter().flat_map(|lan| &lan.addresses).map(Ipv4Addr::to_string).collect();
        let seed = config.seed;
        let stage = StageConfig { settings: config.settings, address: game, websocket: Some(game), seed, lan_names };
        let stage = Stage::start(stage).await.map_err(DemoError::Stage)?;
        let site = RunningSite::start(stage, listener, lan, seed).map_err(DemoError::Site)?;
        Ok(Self { address, site, notices })
    }

    /// Where to open the page.
    pub fn url(&self) -> String {
        site::url(self.address)
    }

    /// Where other devices find it, if they may.
    pub fn links(&self) -> &[Link] {
        self.site.links()
    }

    /// What is otherwise than it was asked for.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Sends everybody home.
    pub async fn stop(self) {
        if let Some(stage) = self.site.stop().await {
            stage.stop().await;
        }
    }
}

async fn listen(address: SocketAddr, notices: &mut Vec<String>) -> Result<TcpListener, DemoError> {
    let failed = |source| DemoError::Listen(transport::Error::Bind { address, protocol: "TCP", source });
    let listener = site::listen(address).await.map_err(failed)?;
    let (wanted, port) = (address.port(), address_of(&listener)?.port());
    if wanted != 0 && port != wanted {
        notices.push(format!("Port {wanted} is in use: {port} instead."));
    }
    Ok(listener)
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, DemoError> {
    listener.local_addr().map_err(DemoError::Site)
}

async fn lan(port: u16, notices: &mut Vec<String>) -> Result<Lan, DemoError> {
    let listener = listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port), notices).await?;
    let addresses = site::addresses();
    if addresses.is_empty() {
        notices.push("This machine is on no network: other devices cannot open the page.".into());
    }
    let names = ["localhost", "127.0.0.1"].map(String::from).into_iter();
    let names = names.chain(addresses.iter().map(Ipv4Addr::to_string));
    let identity = Identity::self_made(names, VALID).map_err(DemoError::Identity)?;
    Ok(Lan { listener, identity, addresses })
}

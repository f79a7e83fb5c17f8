//! The page and what it talks to: HTTP on this machine, HTTPS for others on its network.

mod command;
mod door;
mod feed;
mod files;
mod guard;
mod hello;
mod lan;
mod recordings;
mod screen;

pub use feed::{MAX_COMMAND_BYTES, MAX_PAGES};
pub use lan::Link;

use crate::recording::Recordings;
use crate::stage::Stage;
use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use door::Door;
use evenkeel_net::transport::Identity;
use screen::Screen;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub(crate) use door::listen;
pub(crate) use lan::addresses;

/// What all pages share.
struct Site {
    screen: Screen,
    recordings: Arc<Recordings>,
    links: Vec<Link>,
    /// For pages.
    places: Arc<Semaphore>,
    /// For recordings that are being sent.
    sending: Semaphore,
    /// One recording is opened at a time.
    opening: Mutex<()>,
}

/// A site that runs.
pub(crate) struct RunningSite {
    links: Vec<Link>,
    recordings: Arc<Recordings>,
    servers: Vec<JoinHandle<()>>,
    stop: oneshot::Sender<()>,
    screen: JoinHandle<Stage>,
}

/// Where the site is for others on the network, and who it is.
pub(crate) struct Lan {
    pub(crate) listener: TcpListener,
    pub(crate) identity: Identity,
    pub(crate) addresses: Vec<Ipv4Addr>,
}

impl RunningSite {
    /// Shows a stage to whoever comes.
    pub(crate) fn start(stage: Stage, listener: TcpListener, lan: Option<Lan>, seed: u64) -> io::Result<Self> {
        let recordings = Arc::new(Recordings::new()?);
        let mut doors = vec![Door::open(listener, None)?];
        let mut links = Vec::new();
        if let Some(Lan { listener, identity, addresses }) = lan {
            let port = listener.local_addr()?.port();
            let tls = identity.tls(b"http/1.1").map_err(io::Error::other)?;
            links = addresses.into_iter().map(|address| Link::new(address, port)).collect();
            doors.push(Door::open(listener, Some(TlsAcceptor::from(Arc::new(tls))))?);
        }
        let (screen, stop, task) = Screen::start(stage, recordings.clone(), seed);
        let (places, opening) = (Arc::new(Semaphore::new(MAX_PAGES)), Mutex::new(()));
        let sending = Semaphore::new(recordings::MAX_SENDING);
        let site = Site { screen, recordings: recordings.clone(), links: links.clone(), places, sending, opening };
        let routes = routes(Arc::new(site));
        let serve = |door: Door| {
            let routes = routes.clone();
            // It only ends when it is stopped.
            tokio::spawn(async move { drop(axum::serve(door, routes).await) })
        };
        Ok(Self { links, recordings, servers: doors.into_iter().map(serve).collect(), stop, screen: task })
    }

    /// Where other devices find the page.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Stops showing, and gives the stage back.
    pub(crate) async fn stop(self) -> Option<Stage> {
        self.servers.iter().for_each(JoinHandle::abort);
        self.recordings.close();
        // Pages end with the screen.
        let _ = self.stop.send(());
        self.screen.await.ok()
    }
}

fn routes(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(files::index))
        .route("/{name}", get(files::file))
        .route("/feed", get(feed::feed))
        .route("/recordings", axum::routing::post(recordings::post))
        .route("/recordings/{name}", get(recordings::get))
        .layer(from_fn(guard::guard))
        .with_state(site)
}

/// The address of a listener as one opens it in a browser.
pub(crate) fn url(address: SocketAddr) -> String {
    let port = address.port();
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://localhost:{port}"),
        _ => format!("http://{address}"),
    }
}

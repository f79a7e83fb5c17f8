//! Finding sessions on the local network, and being found: DNS-SD over multicast DNS, as printers are.
//!
//! A server [announces](Announcement) its sessions as `_evenkeel._udp.local.`; players [browse](Browser) for them. Both run on a
//! thread of their own, and no method waits.
//!
//! **What is found on the network is hearsay.** Anybody on it can announce anything: a session that is not there, a name that is
//! somebody else's, a certificate of their own. The hash in an announcement pins the certificate of whoever announced it, so nobody
//! else can step in between; it does not say who that is. Show what is found to the player, let the player choose, and keep tokens
//! that are worth something for servers whose hash or name is known from elsewhere.
//!
//! ```no_run
//! use evenkeel_net::discovery::{Browser, Sighting};
//! let mut browser = Browser::start()?;
//! loop {
//!     while let Some(sighting) = browser.poll() {
//!         match sighting {
//!             Sighting::Found(found) => println!("{} at {}", found.session.name, found.url),
//!             Sighting::Gone { instance } => println!("{instance} is gone"),
//!         }
//!     }
//!     std::thread::sleep(std::time::Duration::from_millis(100));
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), evenkeel_net::discovery::DiscoveryError>(())
//! ```

mod announce;
mod browse;
mod txt;

pub use announce::{Announcement, MAX_ANNOUNCED};
pub use browse::{Browser, Found, MAX_FOUND, Sighting};

use crate::protocol::InfoError;
use mdns_sd::{DaemonEvent, IfKind, Receiver, ServiceDaemon};
use std::fmt;
use std::net::IpAddr;

/// What sessions are announced as.
pub const SERVICE: &str = "_evenkeel._udp.local.";

/// Where to announce and to browse. The default is what everybody else does: all networks, port 5353.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Only the networks on which this machine has these addresses; all if there are none.
    pub interfaces: Vec<IpAddr>,
    /// The UDP port of multicast DNS. On another one, only those who agreed on it find each other.
    pub port: u16,
}

impl Default for Network {
    fn default() -> Self {
        Self { interfaces: Vec::new(), port: mdns_sd::MDNS_PORT }
    }
}

impl Network {
    fn daemon(&self) -> Result<Daemon, DiscoveryError> {
        let daemon = ServiceDaemon::new_with_port(self.port)?;
        let monitor = daemon.monitor()?;
        if !self.interfaces.is_empty() {
            daemon.disable_interface(IfKind::All)?;
            daemon.enable_interface(self.interfaces.clone())?;
        }
        Ok(Daemon { daemon, monitor, trouble: None })
    }
}

/// The thread that speaks multicast DNS. It ends when this is dropped, and takes back what it announced.
struct Daemon {
    daemon: ServiceDaemon,
    monitor: Receiver<DaemonEvent>,
    trouble: Option<String>,
}

impl Daemon {
    /// What last went wrong in the background.
    fn trouble(&mut self) -> Option<&str> {
        for event in self.monitor.try_iter() {
            if let DaemonEvent::Error(error) = event {
                self.trouble = Some(error.to_string());
            }
        }
        self.trouble.as_deref()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // If it takes no command now, it has ended already.
        let _ = self.daemon.shutdown();
    }
}

/// Why nothing can be announced or found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// A session's name or tags are not as they must be.
    Info(InfoError),
    /// There are more sessions than can be announced.
    TooMany,
    /// Multicast DNS cannot be spoken here, for this reason.
    Unavailable(String),
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Info(error) => error.fmt(f),
            Self::TooMany => write!(f, "no more than {MAX_ANNOUNCED} sessions can be announced: leave some out"),
            Self::Unavailable(why) => write!(
                f,
                "sessions cannot be announced or found on the local network ({why}): connect by address instead"
            ),
        }
    }
}

impl std::error::Error for DiscoveryError {}

impl From<mdns_sd::Error> for DiscoveryError {
    fn from(error: mdns_sd::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

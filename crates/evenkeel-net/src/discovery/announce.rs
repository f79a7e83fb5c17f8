//! Being found.

use super::{Daemon, DiscoveryError, Network, SERVICE, txt};
use crate::protocol::SessionInfo;
use mdns_sd::{IfKind, ServiceInfo};
use siphasher::sip::SipHasher24;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::time::{Duration, Instant};

/// So many sessions are announced at most by one server.
pub const MAX_ANNOUNCED: usize = 32;
/// So much of a session's name is in the name of its announcement, in bytes: that has 63 at most.
const SHOWN: usize = 40;
/// How long to wait at most for an announcement to be taken back.
const FAREWELL: Duration = Duration::from_secs(1);

/// Tells the local network of a server's sessions for as long as it lives. They are taken back when it is dropped, in the
/// background: whoever ends the program right after that waits for [`withdraw`](Self::withdraw) instead.
///
/// Everybody on the network can read it, names and tags included.
pub struct Announcement {
    daemon: Daemon,
    network: Network,
    port: u16,
    hash: [u8; 32],
    /// What is announced, under which full name.
    announced: BTreeMap<String, (String, SessionInfo)>,
}

impl Announcement {
    /// Announces sessions of a server that listens on this UDP port of all addresses of this machine, and shows the certificate
    /// with this [hash](crate::transport::Identity::hash).
    ///
    /// ```no_run
    /// # async fn run(server: evenkeel_net::Server, identity: evenkeel_net::transport::Identity)
    /// # -> Result<(), evenkeel_net::discovery::DiscoveryError> {
    /// use evenkeel_net::discovery::Announcement;
    /// let mut announcement = Announcement::start(&server.sessions(), server.address().port(), identity.hash())?;
    /// loop {
    ///     tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    ///     announcement.update(&server.sessions())?;
    /// }
    /// # }
    /// ```
    pub fn start(sessions: &[SessionInfo], port: u16, hash: [u8; 32]) -> Result<Self, DiscoveryError> {
        Self::start_on(Network::default(), sessions, port, hash)
    }

    /// Announces sessions on some networks only.
    pub fn start_on(
        network: Network,
        sessions: &[SessionInfo],
        port: u16,
        hash: [u8; 32],
    ) -> Result<Self, DiscoveryError> {
        check(sessions)?;
        let daemon = network.daemon()?;
        let mut announcement = Self { daemon, network, port, hash, announced: BTreeMap::new() };
        announcement.update(sessions)?;
        Ok(announcement)
    }

    /// Announces these sessions from now on. Nothing is sent about those that are as they were: call it every few seconds.
    pub fn update(&mut self, sessions: &[SessionInfo]) -> Result<(), DiscoveryError> {
        check(sessions)?;
        let stays = |name: &String| sessions.iter().any(|session| session.name == *name);
        let gone: Vec<String> = self.announced.keys().filter(|name| !stays(name)).cloned().collect();
        for name in gone {
            if let Some((full_name, _)) = self.announced.get(&name) {
                self.daemon.daemon.unregister(full_name)?;
            }
            self.announced.remove(&name);
        }
        for session in sessions {
            if self.announced.get(&session.name).is_none_or(|(_, known)| known != session) {
                let service = self.service(session)?;
                let full_name = service.get_fullname().to_owned();
                self.daemon.daemon.register(service)?;
                self.announced.insert(session.name.clone(), (full_name, session.clone()));
            }
        }
        Ok(())
    }

    /// What last went wrong in the background, such as a network that takes no multicasts.
    pub fn trouble(&mut self) -> Option<&str> {
        self.daemon.trouble()
    }

    /// Takes everything back and waits, for a second at most, until that is said.
    pub fn withdraw(self) {
        let until = Instant::now() + FAREWELL;
        let pending: Vec<_> =
            self.announced.values().filter_map(|(name, _)| self.daemon.daemon.unregister(name).ok()).collect();
        for said in pending {
            let _ = said.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }

    fn service(&self, session: &SessionInfo) -> Result<ServiceInfo, DiscoveryError> {
        let shown = &session.name[..session.name.floor_char_boundary(SHOWN)];
        let instance = format!("{shown} {:016x}", self.number(&session.name));
        let host = format!("evenkeel-{:016x}.local.", self.number(""));
        let properties = txt::write(session, &self.hash);
        let service = ServiceInfo::new(SERVICE, &instance, &host, (), self.port, &properties[..])?;
        let mut service = service.enable_addr_auto();
        // The names have a number in them that nobody else's have: there is no need to ask whether they are taken.
        service.set_requires_probe(false);
        if !self.network.interfaces.is_empty() {
            service.set_interfaces(self.network.interfaces.iter().copied().map(IfKind::from).collect());
        }
        Ok(service)
    }

    /// A number that no other server's session has, and no other session of this server.
    fn number(&self, name: &str) -> u64 {
        let mut hasher = SipHasher24::new();
        hasher.write(&self.hash);
        hasher.write_u16(self.port);
        hasher.write(name.as_bytes());
        hasher.finish()
    }
}

fn check(sessions: &[SessionInfo]) -> Result<(), DiscoveryError> {
    if sessions.len() > MAX_ANNOUNCED {
        return Err(DiscoveryError::TooMany);
    }
    sessions.iter().try_for_each(|session| session.check().map_err(DiscoveryError::Info))
}

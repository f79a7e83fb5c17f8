//! Finding sessions.

use super::{Daemon, DiscoveryError, Network, SERVICE, txt};
use crate::protocol::SessionInfo;
use crate::transport::Trust;
use mdns_sd::{Receiver, ResolvedService, ScopedIp, ServiceEvent};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// So many sessions are known at once at most; beyond, others are overlooked.
pub const MAX_FOUND: usize = 256;
/// So many addresses of one server are looked at.
const MAX_ADDRESSES: usize = 8;
/// Names of announcements are no longer, in bytes.
const MAX_INSTANCE: usize = 512;
/// So much of what happened on the network is looked at in one call.
const AT_ONCE: usize = 64;

/// A session that somebody on the local network says is there. See the [module](super) about how far to believe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The name of its announcement: whatever is found or gone under the same name is the same.
    pub instance: String,
    /// What to connect to, by the likeliest address.
    pub url: String,
    /// All addresses it may be reached at, the likeliest first.
    pub addresses: Vec<SocketAddr>,
    /// The SHA-256 hash of its certificate.
    pub hash: [u8; 32],
    /// What it says of the session.
    pub session: SessionInfo,
}

impl Found {
    /// Believes whoever has the certificate that was announced, and nobody else.
    pub fn trust(&self) -> Trust {
        Trust::Hashes(vec![self.hash])
    }
}

/// Something happened on the local network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// There is a session, or it has changed.
    Found(Box<Found>),
    /// A session that was found is there no more.
    Gone {
        /// The name of its announcement.
        instance: String,
    },
}

/// Looks for sessions on the local network for as long as it lives.
pub struct Browser {
    daemon: Daemon,
    events: Receiver<ServiceEvent>,
    found: BTreeMap<String, Found>,
    /// What was found once and may be gone: to be told so.
    lost: Vec<String>,
}

impl Browser {
    /// Looks on all networks.
    pub fn start() -> Result<Self, DiscoveryError> {
        Self::start_on(&Network::default())
    }

    /// Looks on some networks only.
    pub fn start_on(network: &Network) -> Result<Self, DiscoveryError> {
        let daemon = network.daemon()?;
        let events = daemon.daemon.browse(SERVICE)?;
        Ok(Self { daemon, events, found: BTreeMap::new(), lost: Vec::new() })
    }

    /// What has happened since, one at a time. It does not wait: call it every frame, or every second, until it answers `None`.
    pub fn poll(&mut self) -> Option<Sighting> {
        if let Some(instance) = self.lost.pop() {
            return Some(Sighting::Gone { instance });
        }
        for _ in 0..AT_ONCE {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(mdns_sd::TryRecvError::Empty) => return None,
                Err(mdns_sd::TryRecvError::Disconnected) => return self.begin_anew(),
            };
            if let Some(sighting) = self.handle(event) {
                return Some(sighting);
            }
        }
        None
    }

    /// More happened than could wait to be looked at, and nobody knows what: whatever is still there is found again.
    fn begin_anew(&mut self) -> Option<Sighting> {
        self.events = self.daemon.daemon.browse(SERVICE).ok()?;
        self.lost = std::mem::take(&mut self.found).into_keys().collect();
        self.lost.pop().map(|instance| Sighting::Gone { instance })
    }

    /// The sessions that are there, as far as is known.
    pub fn found(&self) -> impl ExactSizeIterator<Item = &Found> {
        self.found.values()
    }

    /// What last went wrong in the background, such as a network that takes no multicasts.
    pub fn trouble(&mut self) -> Option<&str> {
        self.daemon.trouble()
    }

    fn handle(&mut self, event: ServiceEvent) -> Option<Sighting> {
        match event {
            ServiceEvent::ServiceResolved(service) => self.resolved(&service),
            ServiceEvent::ServiceRemoved(_, instance) => self.forget(&instance),
            _ => None,
        }
    }

    fn resolved(&mut self, service: &ResolvedService) -> Option<Sighting> {
        let Some(found) = read(service) else {
            // It was something before, perhaps, and is nothing now.
            return self.forget(&service.fullname);
        };
        let known = self.found.get(&found.instance);
        if known == Some(&found) || (known.is_none() && self.found.len() >= MAX_FOUND) {
            return None;
        }
        self.found.insert(found.instance.clone(), found.clone());
        Some(Sighting::Found(Box::new(found)))
    }

    fn forget(&mut self, instance: &str) -> Option<Sighting> {
        self.found.remove(instance).map(|found| Sighting::Gone { instance: found.instance })
    }
}

/// An announcement, if it makes sense.
fn read(service: &ResolvedService) -> Option<Found> {
    let properties = service.txt_properties.iter().map(|property| (property.key(), property.val().unwrap_or_default()));
    let txt::Claim { session, hash } = txt::read(properties.collect::<Vec<_>>().into_iter())?;
    if service.fullname.len() > MAX_INSTANCE {
        return None;
    }
    let addresses = addresses(service.addresses.iter().map(ScopedIp::to_ip_addr), service.port);
    let url = format!("https://{}/", addresses.first()?);
    Some(Found { instance: service.fullname.clone(), url, addresses, hash, session })
}

/// Where to connect to: what other machines have before this one's own, what is everywhere before what is not.
fn addresses(ips: impl Iterator<Item = IpAddr>, port: u16) -> Vec<SocketAddr> {
    let mut usable: Vec<IpAddr> = ips.filter(|ip| is_usable(*ip) && port != 0).collect();
    usable.sort_by_key(|ip| (ip.is_loopback(), ip.is_ipv6(), *ip));
    usable.dedup();
    usable.truncate(MAX_ADDRESSES);
    usable.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()
}

/// Whether it is the address of one machine, and says by itself where that is.
fn is_usable(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !(ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast()),
        // Those of one link only mean nothing in a URL.
        IpAddr::V6(ip) => !(ip.is_unspecified() || ip.is_multicast() || ip.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_address_comes_first_and_useless_ones_not_at_all() {
        let ips = ["fe80::1", "::1", "127.0.0.1", "fd00::2", "0.0.0.0", "224.0.0.251", "192.168.1.7", "192.168.1.7"];
        let ips = || ips.iter().map(|ip| ip.parse().unwrap());
        let text: Vec<String> = addresses(ips(), 4433).iter().map(ToString::to_string).collect();
        assert_eq!(text, ["192.168.1.7:4433", "[fd00::2]:4433", "127.0.0.1:4433", "[::1]:4433"]);
        assert!(addresses(ips(), 0).is_empty());
        let many = (0..100).map(|n| IpAddr::from([10, 0, 0, n]));
        assert_eq!(addresses(many, 1).len(), MAX_ADDRESSES);
    }
}

//! Where players and servers are, and how long packets take between them.

use crate::study::measure::millis;
use anyhow::Result;
use evenkeel::{Duration, GlobalTime, HostId};
use evenkeel_link::{Changes, Conditions, Jitter, Topology};

/// Players live in four regions in a row, equally far from each other.
const REGIONS: u32 = 4;
/// Four in each region.
pub(super) const PLAYERS: u32 = 4 * REGIONS;
/// From players to their own region, one way, in turn.
const ACCESS_MS: [f64; 4] = [10.0, 20.0, 30.0, 40.0];
/// How much of the jitter between regions there is within them.
const ACCESS_JITTER: f64 = 0.25;
/// Hosts from this number on are servers.
const FIRST_SERVER: u32 = 100;

/// Servers, players and the network between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Map {
    /// How many servers there are, 1 to 4.
    pub(super) servers: usize,
    /// From the first region to the last, one way: with two servers or more, the longest delay between servers.
    pub(super) delay_ms: f64,
    /// What packets between regions take more or less, at most.
    pub(super) jitter_ms: f64,
}

impl Map {
    /// The regions that have a server. A single one stands where players have the least delay on average; several always
    /// include both ends.
    fn sites(&self) -> &'static [u32] {
        match self.servers {
            1 => &[1],
            2 => &[0, 3],
            3 => &[0, 1, 3],
            _ => &[0, 1, 2, 3],
        }
    }

    /// The hosts that are servers, in order.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostId> + use<> {
        (0..self.sites().len() as u32).map(|server| HostId(FIRST_SERVER + server))
    }

    /// Which server a host is.
    pub(super) fn server(host: HostId) -> Option<usize> {
        host.0.checked_sub(FIRST_SERVER).map(|server| server as usize)
    }

    /// The server that is nearest to a player.
    pub(super) fn home(&self, player: HostId) -> HostId {
        let region = player.0 % REGIONS;
        let nearest = self.sites().iter().zip(self.hosts()).min_by_key(|(site, _)| site.abs_diff(region));
        nearest.map_or(HostId(FIRST_SERVER), |(_, host)| host)
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        self.delay_ms * f64::from(a.abs_diff(b)) / f64::from(REGIONS - 1)
    }

    fn conditions(&self, delay_ms: f64, jitter_ms: f64) -> Conditions {
        let path = Conditions::delay(millis(delay_ms));
        if jitter_ms > 0.0 { path.with_jitter(Jitter::Uniform { plus_minus: millis(jitter_ms) }) } else { path }
    }

    /// The network.
    pub(super) fn topology(&self) -> Result<Topology> {
        let mut topology = Topology::default();
        let sites = || self.sites().iter().zip(self.hosts());
        for (site, host) in sites() {
            for (other, peer) in sites().filter(|(_, peer)| *peer != host) {
                topology.set(host.0, peer.0, self.conditions(self.between(*site, *other), self.jitter_ms))?;
            }
            for player in 0..PLAYERS {
                let (region, neighbour) = (player % REGIONS, player / REGIONS);
                let access = ACCESS_MS[((region + neighbour) % REGIONS) as usize];
                let distance = self.between(*site, region);
                let jitter = if distance > 0.0 { self.jitter_ms } else { ACCESS_JITTER * self.jitter_ms };
                let path = self.conditions(access + distance, jitter);
                topology.connect(player, host.0, path.clone(), path)?;
            }
        }
        Ok(topology)
    }

    /// From some moment on, and for so long, packets from the first server to the last take so much longer.
    pub(super) fn spike(&self, topology: &mut Topology, at: GlobalTime, lasts: Duration, more: Duration) -> Result<()> {
        let (from, to) = (FIRST_SERVER, FIRST_SERVER + self.sites().len() as u32 - 1);
        let changes = Changes::Steps(vec![(at, more), (at + lasts, Duration::ZERO)]);
        let conditions = topology.conditions(from, to).with_changes(changes);
        Ok(topology.set(from, to, conditions)?)
    }
}

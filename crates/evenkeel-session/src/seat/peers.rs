//! Other players who are talked to without the server in between, and whose clock is the session's.

use super::{Seat, SeatEvent, ToSend};
use crate::protocol::{Introduction, Model, SERVER, ToServer, pass_on};
use evenkeel::clock::{ClockConfig, ClockState};
use evenkeel::{Clock, Duration, GlobalTime, HostId, Instant};
use std::collections::{BTreeMap, VecDeque};

/// How long to try before the server is asked to pass things on.
const OPEN_WITHIN: Duration = Duration::from_millis(1_500);

/// How a player is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It is being tried; nothing is sent meanwhile.
    Opening { until: Instant },
    /// Through the server, which does not read it.
    PassedOn,
    /// Directly.
    Direct,
}

/// Players who can be reached directly, or might.
#[derive(Debug, Default)]
pub(super) struct Peers {
    links: BTreeMap<HostId, Way>,
    introductions: VecDeque<Introduction>,
    departed: VecDeque<HostId>,
}

impl Peers {
    fn is_direct(&self, host: HostId) -> bool {
        self.links.get(&host) == Some(&Way::Direct)
    }

    fn is_reached(&self, host: HostId) -> bool {
        matches!(self.links.get(&host), Some(Way::Direct | Way::PassedOn))
    }

    /// Another session: everybody is somebody else, even under the same number.
    pub(super) fn begin_anew(&mut self) {
        self.introductions.clear();
        self.departed.extend(std::mem::take(&mut self.links).into_keys());
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let opening = |way: &Way| match way {
            Way::Opening { until } => Some(*until),
            Way::PassedOn | Way::Direct => None,
        };
        self.links.values().filter_map(opening).min()
    }
}

impl Seat {
    /// Somebody to connect to directly: dial its addresses, expect it to dial ours, and show each other the ticket.
    pub fn poll_introduction(&mut self) -> Option<Introduction> {
        self.peers.introductions.pop_front()
    }

    /// Somebody who has left: its connection, if there is one, is of no use any more.
    pub fn poll_departed(&mut self) -> Option<HostId> {
        self.peers.departed.pop_front()
    }

    /// Who is reached directly at present.
    pub fn linked(&self) -> impl Iterator<Item = HostId> + '_ {
        self.peers.links.iter().filter(|(_, way)| **way == Way::Direct).map(|(host, _)| *host)
    }

    /// Whose clock is the session's, once one is in.
    pub fn leader(&self) -> Option<HostId> {
        self.leader
    }

    /// The server has somebody for us.
    pub(super) fn meet(&mut self, introduction: Introduction, now: Instant) {
        // Where the server passes everything on by its policy, nobody has to wait.
        let peers_only = self.model() == Some(Model::PeerToPeer);
        let until = if peers_only { now + OPEN_WITHIN } else { Instant::MAX };
        self.peers.links.entry(introduction.host).or_insert(Way::Opening { until });
        self.peers.introductions.push_back(introduction);
    }

    /// There is a direct connection to a player.
    pub fn handle_linked(&mut self, host: HostId, now: Instant) {
        let before = self.peers.links.insert(host, Way::Direct);
        if before == Some(Way::Direct) || self.inside.is_none() {
            return;
        }
        if before != Some(Way::PassedOn) {
            self.reach(host, now);
        }
        self.reroute(host);
        let _ = self.say(&ToServer::Linked { peer: host, up: true });
        self.tell(SeatEvent::Linked { host, directly: true });
    }

    /// The direct connection to a player has ended.
    pub fn handle_unlinked(&mut self, host: HostId, now: Instant) {
        if !self.peers.is_direct(host) {
            return;
        }
        // With a server that passes everything on by its policy there is nothing left to do here.
        let way =
            if self.model() == Some(Model::PeerToPeer) { Way::PassedOn } else { Way::Opening { until: Instant::MAX } };
        self.peers.links.insert(host, way);
        if way != Way::PassedOn {
            self.unreach(host);
        }
        self.reroute(host);
        let _ = self.say(&ToServer::Linked { peer: host, up: false });
        self.tell(SeatEvent::Linked { host, directly: false });
        if self.alone && self.leader == Some(host) {
            self.elect(now);
        }
    }

    /// The server is gone, perhaps for good: whoever is left decides by itself whose clock it is.
    pub(super) fn handle_alone(&mut self, now: Instant) {
        self.alone = true;
        let reached = |leader: HostId| Some(leader) == self.you() || self.peers.is_direct(leader);
        if self.model() == Some(Model::PeerToPeer) && self.leader.is_some_and(|leader| !reached(leader)) {
            self.elect(now);
        }
    }

    /// The lowest number among those who are still there; all who see each other come to the same answer.
    fn elect(&mut self, now: Instant) {
        let lowest = self.linked().chain(self.you()).min();
        if let Some(leader) = lowest.filter(|leader| Some(*leader) != self.leader) {
            self.follow(leader, now);
        }
    }

    /// A player left.
    pub(super) fn lose_peer(&mut self, host: HostId) {
        if self.peers.links.remove(&host).is_some() {
            self.peers.departed.push_back(host);
        }
        if let Some(inside) = &mut self.inside {
            inside.forget_peer(host);
        }
    }

    /// Time passes: what does not open is passed on.
    pub(super) fn advance_peers(&mut self, now: Instant) {
        if self.model() != Some(Model::PeerToPeer) {
            return;
        }
        let overdue = |way: &Way| matches!(way, Way::Opening { until } if *until <= now);
        let closed: Vec<HostId> = self.peers.links.iter().filter(|(_, w)| overdue(w)).map(|(host, _)| *host).collect();
        for host in closed {
            self.peers.links.insert(host, Way::PassedOn);
            self.reach(host, now);
            self.tell(SeatEvent::Linked { host, directly: false });
        }
    }

    fn reach(&mut self, host: HostId, now: Instant) {
        let time = self.clock.now(now).unwrap_or(GlobalTime::MIN);
        if let Some(inside) = &mut self.inside {
            inside.add_peer(host, time);
        }
    }

    fn unreach(&mut self, host: HostId) {
        if let Some(inside) = &mut self.inside {
            inside.remove_peer(host);
        }
    }

    fn reroute(&mut self, host: HostId) {
        let via = self.via(host);
        if let Some(inside) = &mut self.inside {
            inside.reroute(host, via);
        }
    }

    /// Who tells about what a player owns.
    pub(super) fn via(&self, owner: HostId) -> HostId {
        match self.model() {
            Some(Model::PeerToPeer) => owner,
            Some(Model::Hybrid) if self.peers.is_direct(owner) => owner,
            _ => SERVER,
        }
    }

    /// How a datagram gets to a host.
    pub(super) fn route(&self, to: HostId, bytes: Vec<u8>) -> Option<ToSend> {
        match self.peers.links.get(&to) {
            _ if to == SERVER => Some(ToSend::Datagram(bytes)),
            Some(Way::Direct) => Some(ToSend::ToPeer(to, bytes)),
            Some(Way::PassedOn) => Some(ToSend::Datagram(pass_on(to, &bytes))),
            Some(Way::Opening { .. }) | None => None,
        }
    }

    /// The session's clock is another's from now on. Time goes on meanwhile, and never runs backwards.
    pub(super) fn follow(&mut self, leader: HostId, now: Instant) {
        if self.leader == Some(leader) {
            return;
        }
        self.leader = Some(leader);
        self.echoes = super::echo::Echoes::default();
        self.pongs.clear();
        if self.you() == Some(leader) {
            if self.clock.lead(now).is_err() {
                // The first of all: its time is the session's.
                self.clock = Clock::reference(Duration::ZERO);
            }
        } else if self.clock.is_reference() || self.clock.state() != ClockState::Unsynchronised {
            self.clock_seed = self.clock_seed.wrapping_add(1);
            self.clock.follow(ClockConfig { seed: self.clock_seed, ..ClockConfig::default() }, now);
        }
        self.tell(SeatEvent::Leader { host: leader });
    }

    /// Whether there is a way to a host at present.
    pub(super) fn is_reached(&self, host: HostId) -> bool {
        (host == SERVER && !self.alone) || self.peers.is_reached(host)
    }
}

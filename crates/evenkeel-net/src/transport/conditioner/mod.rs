//! A bad network on demand, beneath QUIC. **For testing only.**

mod port;
mod pump;

pub(super) use port::Port;
use port::{Packet, Way};

use evenkeel::GlobalTime;
use evenkeel_link::{Conditions, ConditionsError, Link, Outcome, Topology};
use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// So many packets may be under way at once; more are given up.
const CAPACITY: usize = 32_768;

/// So many remote addresses are told apart; the others are one to the model.
const REMOTES: usize = 4096;

/// This side, to the model.
const HERE: u32 = 0;

/// All remote addresses beyond those that are told apart, to the model.
const THE_REST: u32 = u32::MAX;

/// A bad network on demand: delays, loses, doubles and reorders the UDP packets of the endpoints that it is given to, as
/// [`Conditions`] say. **For testing only.**
///
/// It acts beneath QUIC, so that handshakes, datagrams, streams and retransmissions all meet it. Everything can be
/// changed while connections run; what is under way already stays so. The model, and with it the fate of a packet that
/// is sent at a given moment, is `evenkeel-link`'s. As long as conditions are ideal, which they are to begin with,
/// packets go straight through.
///
/// A packet between two endpoints that both have a conditioner meets the outgoing conditions of the one and the incoming
/// ones of the other. WebSockets are not touched: TCP belongs to the system.
///
/// Packets come out by a thread that sleeps until the moment, not by timers of the runtime, which are a millisecond
/// coarse.
#[derive(Clone)]
pub struct Conditioner {
    shared: Arc<Shared>,
}

/// What a [`Conditioner`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConditionerStatistics {
    /// Packets that went straight through.
    pub passed: u64,
    /// Packets that were taken in to come out later.
    pub delayed: u64,
    /// Packets lost, as the conditions have it.
    pub lost: u64,
    /// Packets that did not fit into the queue of a rate limit.
    pub crowded_out: u64,
    /// Copies made, as the conditions have it.
    pub duplicated: u64,
    /// Packets and copies that are still to come out.
    pub waiting: u64,
    /// Packets and copies given up because too many were under way, or because the system did not take them.
    pub given_up: u64,
}

struct Shared {
    start: Instant,
    /// Whether any conditions are other than ideal: if not, no lock is needed.
    active: AtomicBool,
    passed: AtomicU64,
    given_up: AtomicU64,
    state: Mutex<State>,
    /// The next packet may be due earlier than the pump thinks.
    sooner: Condvar,
}

struct State {
    link: Link<Packet>,
    default: Both,
    remotes: HashMap<(IpAddr, u16), Remote>,
    rest: Remote,
    /// No two packets are sent in the same nanosecond: they would share their fate.
    last: GlobalTime,
    pumping: bool,
}

/// One remote address.
struct Remote {
    host: u32,
    /// If it does not follow the default.
    own: Option<Both>,
    /// Whether packets go straight through, by way.
    straight: [bool; 2],
}

#[derive(Clone, Default)]
struct Both {
    outgoing: Conditions,
    incoming: Conditions,
}

impl Both {
    fn checked(outgoing: Conditions, incoming: Conditions) -> Result<Self, ConditionsError> {
        outgoing.validate()?;
        incoming.validate()?;
        Ok(Self { outgoing, incoming })
    }

    fn straight(&self) -> [bool; 2] {
        let ideal = Conditions::ideal();
        [self.outgoing == ideal, self.incoming == ideal]
    }
}

impl Conditioner {
    /// An ideal network, until told otherwise. The seed is what the fates of packets follow from.
    pub fn new(seed: u64) -> Self {
        let state = State {
            link: Link::new(Topology::default(), seed).with_capacity(CAPACITY),
            default: Both::default(),
            remotes: HashMap::new(),
            rest: Remote { host: THE_REST, own: None, straight: [true; 2] },
            last: GlobalTime::ZERO,
            pumping: false,
        };
        let shared = Shared {
            start: Instant::now(),
            active: AtomicBool::new(false),
            passed: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
            state: Mutex::new(state),
            sooner: Condvar::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What holds for all remote addresses for which nothing else was [set](Self::set).
    pub fn set_default(&self, outgoing: Conditions, incoming: Conditions) -> Result<(), ConditionsError> {
        let both = Both::checked(outgoing, incoming)?;
        let State { link, default, remotes, rest, .. } = &mut *self.shared.lock();
        *default = both;
        for remote in remotes.values_mut().chain([&mut *rest]).filter(|remote| remote.own.is_none()) {
            remote.follow(default, link)?;
        }
        self.shared.look(default, remotes);
        Ok(())
    }

    /// What holds for one remote address.
    pub fn set(&self, remote: SocketAddr, outgoing: Conditions, incoming: Conditions) -> Result<(), ConditionsError> {
        let both = Both::checked(outgoing, incoming)?;
        let State { link, default, remotes, .. } = &mut *self.shared.lock();
        let host = remotes.len() as u32 + 1;
        let known = remotes.entry(key(remote)).or_insert(Remote { host, own: None, straight: [true; 2] });
        known.follow(&both, link)?;
        known.own = Some(both);
        self.shared.look(default, remotes);
        Ok(())
    }

    /// One remote address follows the default again.
    pub fn clear(&self, remote: SocketAddr) {
        let State { link, default, remotes, .. } = &mut *self.shared.lock();
        if let Some(known) = remotes.get_mut(&key(remote)) {
            known.own = None;
            // What has been checked before is right now.
            let _ = known.follow(default, link);
        }
        self.shared.look(default, remotes);
    }

    /// What it has done so far.
    pub fn statistics(&self) -> ConditionerStatistics {
        let state = self.shared.lock();
        let link = state.link.statistics();
        let kept_out = link.lost + link.dropped_by_queue + link.dropped_by_capacity;
        ConditionerStatistics {
            passed: self.shared.passed.load(Ordering::Relaxed),
            delayed: link.sent.saturating_sub(kept_out),
            lost: link.lost,
            crowded_out: link.dropped_by_queue,
            duplicated: link.duplicated,
            waiting: state.link.in_flight() as u64,
            given_up: link.dropped_by_capacity + self.shared.given_up.load(Ordering::Relaxed),
        }
    }

    /// Whether any packet may be touched at all.
    fn is_active(&self) -> bool {
        self.shared.active.load(Ordering::Relaxed)
    }

    /// Counts a packet that was not touched.
    fn passed(&self, packets: usize) {
        self.shared.passed.fetch_add(packets as u64, Ordering::Relaxed);
    }

    /// Takes a packet in, unless it is to go straight through.
    fn take(&self, way: Way, remote: SocketAddr, bytes: usize, packet: impl FnOnce() -> Packet) -> bool {
        let mut state = self.shared.lock();
        let Some(host) = state.detour(way, remote) else { return false };
        if !state.pumping {
            // Without a thread nothing would come out again.
            state.pumping = pump::start(&self.shared);
            if !state.pumping {
                return false;
            }
        }
        let now = self.shared.now().max(state.last + evenkeel::Duration::from_nanos(1));
        state.last = now;
        let next = state.link.poll_timeout();
        let (from, to) = if way == Way::Out { (HERE, host) } else { (host, HERE) };
        if let Outcome::UnderWay { arrives } = state.link.send(now, from, to, bytes, packet())
            && next.is_none_or(|next| arrives < next)
        {
            self.shared.sooner.notify_one();
        }
        true
    }
}

impl fmt::Debug for Conditioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Conditioner").field(&self.statistics()).finish()
    }
}

impl Shared {
    fn now(&self) -> GlobalTime {
        GlobalTime::from_nanos(i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock; were it to, the state would still be in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether there is anything to do.
    fn look(&self, default: &Both, remotes: &HashMap<(IpAddr, u16), Remote>) {
        let ideal = default.straight() == [true; 2] && remotes.values().all(|remote| remote.straight == [true; 2]);
        self.active.store(!ideal, Ordering::Relaxed);
    }
}

impl State {
    /// The number of the host for the model, unless packets to or from there go straight through.
    fn detour(&mut self, way: Way, address: SocketAddr) -> Option<u32> {
        let key = key(address);
        if !self.remotes.contains_key(&key) && self.remotes.len() < REMOTES {
            let mut remote = Remote { host: self.remotes.len() as u32 + 1, own: None, straight: [true; 2] };
            // What has been checked before is right now.
            let _ = remote.follow(&self.default, &mut self.link);
            self.remotes.insert(key, remote);
        }
        let remote = self.remotes.get(&key).unwrap_or(&self.rest);
        (!remote.straight[way as usize]).then_some(remote.host)
    }
}

impl Remote {
    fn follow(&mut self, both: &Both, link: &mut Link<Packet>) -> Result<(), ConditionsError> {
        link.set_conditions(HERE, self.host, both.outgoing.clone())?;
        link.set_conditions(self.host, HERE, both.incoming.clone())?;
        self.straight = both.straight();
        Ok(())
    }
}

/// An address is the same however it is written.
fn key(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

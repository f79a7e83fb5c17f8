//! Ground truth: where every client shows every tank, against where the tank was.
//!
//! What a client has been sent is known, when it arrives is known, and the game's rule of placing is fixed: so is where the client shows
//! a tank, to within one of its frames. Nothing here is known to what decides: that knows measured delays only.

mod sums;
mod view;

pub use sums::{Shots, Sums};

use crate::rules::{Rules, grounded, half_a_frame};
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Motion, State};
use evenkeel_link::Path;
use std::collections::{BTreeMap, VecDeque};
use view::View;

/// How often errors are looked at.
const STEP: Duration = Duration::from_millis(20);

/// By then everything about a moment is known: what the slowest tank's client sent and what the slowest client was sent.
const HORIZON: Duration = Duration::from_secs(4);

/// After a longer pause than this, what was seen meanwhile is not judged.
const CATCH_UP: Duration = Duration::from_secs(60);

/// What so many clients saw that are gone is kept.
const MOST_GONE: usize = 256;

/// Every client speaks of its living tank at least once a second; of one that does not for twice as long nothing is known.
const QUIET: Duration = Duration::from_secs(2);

/// So many points of a true path are kept at most: dense ones for well over the horizon.
const POINTS: usize = 4096;

/// Measures what every decider's clients see.
pub struct Gauge {
    rules: Rules,
    /// How much sooner than it arrives an update counts, on average.
    early: Duration,
    tanks: BTreeMap<EntityId, Truth>,
    clients: BTreeMap<HostId, Way>,
    /// Per decider.
    sights: Vec<Sight>,
    shots: BTreeMap<HostId, Shots>,
    judged: Option<GlobalTime>,
    names: BTreeMap<HostId, String>,
}

/// The true path of one tank's life.
struct Truth {
    own: Option<HostId>,
    points: VecDeque<(GlobalTime, Motion)>,
    died: Option<GlobalTime>,
}

/// The way to a client.
#[derive(Default)]
struct Way {
    /// The conditions it is put under, if it is.
    conditions: Option<Path>,
    /// What it takes otherwise.
    one_way: Duration,
}

#[derive(Default)]
struct Sight {
    views: BTreeMap<(HostId, EntityId), View>,
    sums: BTreeMap<HostId, Sums>,
}

impl Gauge {
    /// For so many deciders, whose clients draw so many frames per second.
    pub fn new(deciders: usize, frames_per_second: f64) -> Self {
        Self {
            rules: Rules::default(),
            early: half_a_frame(frames_per_second),
            tanks: BTreeMap::new(),
            clients: BTreeMap::new(),
            sights: (0..deciders).map(|_| Sight::default()).collect(),
            shots: BTreeMap::new(),
            judged: None,
            names: BTreeMap::new(),
        }
    }

    pub(crate) fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// A client joins, under this name in tables.
    pub(crate) fn add_client(&mut self, client: HostId, name: &str) {
        self.clients.entry(client).or_default();
        self.names.insert(client, name.to_owned());
    }

    /// A client is gone. What it saw stays counted, unless many have gone since.
    pub(crate) fn remove_client(&mut self, client: HostId) {
        self.clients.remove(&client);
        let gone: Vec<HostId> = self.names.keys().filter(|host| !self.clients.contains_key(host)).copied().collect();
        let forgotten = &gone[..gone.len().saturating_sub(MOST_GONE)];
        self.names.retain(|host, _| !forgotten.contains(host));
        self.shots.retain(|host, _| !forgotten.contains(host));
        for sight in &mut self.sights {
            sight.views.retain(|(viewer, _), _| *viewer != client);
            sight.sums.retain(|host, _| !forgotten.contains(host));
        }
    }

    /// The conditions that a client is put under.
    pub fn set_conditions(&mut self, client: HostId, path: Path) {
        self.clients.entry(client).or_default().conditions = Some(path);
    }

    /// Whether a client is put under conditions.
    pub(crate) fn is_conditioned(&self, client: HostId) -> bool {
        self.clients.get(&client).is_some_and(|way| way.conditions.is_some())
    }

    /// What the way to a client takes that is under no conditions.
    pub(crate) fn set_one_way(&mut self, client: HostId, one_way: Duration) {
        if let Some(way) = self.clients.get_mut(&client) {
            way.one_way = one_way;
        }
    }

    /// Where a tank is. Its life begins with the first.
    pub(crate) fn truth(&mut self, tank: EntityId, own: Option<HostId>, motion: Motion, at: GlobalTime) {
        let truth = self.tanks.entry(tank).or_insert_with(|| Truth { own, points: VecDeque::new(), died: None });
        if truth.points.back().is_some_and(|(last, _)| *last >= at) {
            return;
        }
        if truth.points.len() == POINTS {
            truth.points.pop_front();
        }
        truth.points.push_back((at, motion));
    }

    /// A tank's life ends.
    pub(crate) fn died(&mut self, tank: EntityId, at: GlobalTime) {
        if let Some(truth) = self.tanks.get_mut(&tank) {
            truth.died.get_or_insert(at);
        }
    }

    /// A decider's client is sent an update of so many bytes.
    pub(crate) fn told(
        &mut self,
        decider: usize,
        client: HostId,
        tank: EntityId,
        update: (Motion, usize),
        now: GlobalTime,
    ) {
        let Some(way) = self.clients.get(&client) else { return };
        let sight = &mut self.sights[decider];
        let sums = sight.sums.entry(client).or_default();
        sums.updates += 1;
        sums.bytes += update.1 as u64;
        if let Some(arrival) = way.arrival(now) {
            sight.views.entry((client, tank)).or_default().arrives(update.0, arrival, self.early);
        }
    }

    /// Every decider's client is sent a shot.
    pub(crate) fn shot(&mut self, client: HostId, tank: EntityId, muzzle: [f32; 3], now: GlobalTime) {
        let arrival = self.clients.get(&client).and_then(|way| way.arrival(now));
        let Some(arrival) = arrival else { return };
        for sight in &mut self.sights {
            if let Some(view) = sight.views.get_mut(&(client, tank)) {
                view.shot(muzzle, &self.rules, arrival, self.early);
            }
        }
    }

    /// A client is sent a shot that was fired at `made` with this speed; what if it were sent that far ahead?
    pub(crate) fn shot_error(
        &mut self,
        client: HostId,
        speed: f64,
        made: GlobalTime,
        ahead: Duration,
        now: GlobalTime,
    ) {
        let Some(way) = self.clients.get(&client) else { return };
        let Some(arrival) = way.arrival(now) else { return };
        let late = (arrival - self.early).since(made);
        let shots = self.shots.entry(client).or_default();
        shots.count += 1;
        shots.error += speed * late.as_secs_f64().abs();
        shots.advanced_error += speed * (late - ahead).as_secs_f64().abs();
        shots.jumped += speed * ahead.as_secs_f64().max(0.0);
    }

    /// What a client saw of shots, by name.
    pub fn shots(&self) -> impl Iterator<Item = (&str, &Shots)> {
        self.shots.iter().map(|(client, shots)| (self.names.get(client).map_or("", String::as_str), shots))
    }

    /// Judges everything about which all is known by now.
    pub(crate) fn judge(&mut self, now: GlobalTime) {
        let until = now - HORIZON;
        let mut t = self.judged.unwrap_or(until).max(until - CATCH_UP);
        while t + STEP <= until {
            t += STEP;
            self.judge_moment(t);
        }
        self.judged = Some(t);
        self.forget(t);
    }

    /// What the clients of a decider saw, by name.
    pub fn seen(&self, decider: usize) -> impl Iterator<Item = (&str, &Sums)> {
        self.sights[decider].sums.iter().map(|(client, sums)| (self.names.get(client).map_or("", String::as_str), sums))
    }

    fn judge_moment(&mut self, t: GlobalTime) {
        for (tank, truth) in &self.tanks {
            let Some(real) = truth.at(t) else { continue };
            for client in self.clients.keys().filter(|client| truth.own != Some(**client)) {
                for sight in &mut self.sights {
                    let sums = sight.sums.entry(*client).or_default();
                    match sight.views.get(&(*client, *tank)).and_then(|view| view.place(t)) {
                        Some(shown) => sums.add(shown.position.distance(real.position), STEP.as_secs_f64()),
                        None => sums.unseen_seconds += STEP.as_secs_f64(),
                    }
                }
            }
        }
    }

    fn forget(&mut self, t: GlobalTime) {
        self.tanks.retain(|_, truth| truth.died.is_none_or(|died| died > t));
        for truth in self.tanks.values_mut() {
            while truth.points.get(1).is_some_and(|(at, _)| *at <= t) {
                truth.points.pop_front();
            }
        }
        for sight in &mut self.sights {
            sight.views.retain(|(_, tank), _| self.tanks.contains_key(tank));
            sight.views.values_mut().for_each(|view| view.forget_before(t));
        }
    }
}

impl Truth {
    fn at(&self, t: GlobalTime) -> Option<State> {
        if self.died.is_some_and(|died| died <= t) {
            return None;
        }
        let (at, motion) = self.points.iter().rfind(|(at, _)| *at <= t)?;
        // Where one that says nothing any more really is, nobody knows.
        (t.since(*at) <= QUIET).then(|| grounded(motion.at(t.since(*at).as_secs_f64())))
    }
}

impl Way {
    fn arrival(&self, now: GlobalTime) -> Option<GlobalTime> {
        match &self.conditions {
            Some(path) => path.fate(now).arrival(),
            None => Some(now + self.one_way),
        }
    }
}

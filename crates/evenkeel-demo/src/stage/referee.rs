//! The referee: hears of shots, decides by what the server knows, and says so.

use super::shots::{Ballistics, Case};
use crate::settings::GameName;
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Instant, Lag};
use evenkeel_games::arena;
use evenkeel_games::spaceship;
use evenkeel_games::words::{Hit, Shot, Word};
use evenkeel_net::hub::Hub;
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::SERVER;
use std::collections::{BTreeMap, VecDeque};

/// Shots that are decided about at once; more are not heard.
const MAX_TRIALS: usize = 512;
/// A shot may be fired this much in the future, by clocks that are a little off.
const EARLY: Duration = Duration::from_millis(100);
/// A shot that was fired longer ago comes too late.
const LATE: Duration = Duration::from_secs(3);
/// How far from where its craft is known to be a shot may be fired, besides the craft's own size: in its radii.
const ASTRAY: f64 = 6.0;
/// How finely the referee looks.
const SLICE: Duration = Duration::from_millis(20);

/// What was decided about a shot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) shooter: HostId,
    pub(super) number: u32,
    pub(super) target: Option<HostId>,
}

struct Trial {
    shooter: HostId,
    shot: Shot,
    case: Case<HostId>,
}

/// See the [module](self).
pub(super) struct Referee {
    laws: Ballistics,
    trials: Vec<Trial>,
    /// When each player's last shots were fired.
    fired: BTreeMap<HostId, VecDeque<GlobalTime>>,
    /// Until when nobody who was hit is hit again.
    out: BTreeMap<HostId, GlobalTime>,
}

impl Referee {
    pub(super) fn new(game: GameName) -> Self {
        Self { laws: Ballistics::of(game), trials: Vec::new(), fired: BTreeMap::new(), out: BTreeMap::new() }
    }

    /// How many shots in how long are possible, and for how long who is hit is out.
    fn limits(&self) -> (usize, Duration, Duration) {
        match self.laws.game() {
            GameName::Tanks => (arena::SLOTS, arena::RELOAD, arena::OUT),
            GameName::Ships => (1, spaceship::RELOAD, spaceship::OUT),
        }
    }

    /// Somebody announces a shot. What cannot be is not heard. Answers the shot if it is.
    pub(super) fn hear(&mut self, hub: &Hub, from: HostId, shot: Shot, now: GlobalTime) -> Option<Shot> {
        let age = now.since(shot.at);
        if age < Duration::ZERO - EARLY || age > LATE || self.trials.len() >= MAX_TRIALS {
            return None;
        }
        let craft = crafts(hub).find(|(owner, _)| *owner == from)?.1;
        // What it says of itself may still be on its way; then where it is now must do.
        let known = hub.receiver().recall(craft, shot.at).or_else(|_| hub.receiver().recall(craft, now)).ok()?;
        let (radius, (most, within, _)) = (self.laws.radius(), self.limits());
        if known.position.distance(shot.position) > (1.0 + ASTRAY) * radius {
            return None;
        }
        let fired = self.fired.entry(from).or_default();
        // A tenth less: steps and clocks are not that exact.
        if fired.len() >= most && fired.front().is_some_and(|first| shot.at.since(*first) < within.mul_f64(0.9)) {
            return None;
        }
        fired.push_back(shot.at);
        while fired.len() > most {
            fired.pop_front();
        }
        self.trials.push(Trial { shooter: from, shot, case: Case::open(shot.at) });
        Some(shot)
    }

    /// Decides up to a time what can be decided, and announces who is hit.
    pub(super) fn judge(&mut self, hub: &mut Hub, instant: Instant, until: GlobalTime, lag: &Lag) -> Vec<Verdict> {
        let targets: Vec<(HostId, EntityId)> = crafts(hub).collect();
        let out_for = self.limits().2;
        let Self { laws, trials, out, .. } = self;
        out.retain(|_, back| *back > until);
        let mut verdicts = Vec::new();
        trials.retain_mut(|Trial { shooter, shot, case }| {
            while case.outcome.is_none() && case.since() < until {
                let moment = until.min(case.since() + SLICE);
                let there = targets.iter().filter(|(host, _)| host != shooter && !out.contains_key(host));
                let placed = there.filter_map(|(host, entity)| {
                    Some((*host, hub.receiver().recall(*entity, lag.shown(moment)).ok()?.position))
                });
                let before = case.since();
                case.look(shot, laws, moment, placed);
                if case.since() == before {
                    break;
                }
            }
            let Some(target) = case.outcome else { return true };
            verdicts.push(Verdict { shooter: *shooter, number: shot.number, target });
            if let Some(target) = target {
                out.insert(target, until + out_for);
            }
            false
        });
        for Verdict { shooter, number, target } in &verdicts {
            if let Some(target) = *target {
                let hit = Word::Hit(Hit { shooter: *shooter, target, shot: *number });
                // It is short enough.
                let _ = hub.broadcast(Level::Unordered, &hit.emit(), instant);
            }
        }
        verdicts
    }

    /// Whether somebody was hit, and is not back yet.
    pub(super) fn is_out(&self, host: HostId) -> bool {
        self.out.contains_key(&host)
    }

    /// Forgets who is not here any more.
    pub(super) fn forget_but(&mut self, present: &[HostId]) {
        self.fired.retain(|host, _| present.contains(host));
    }
}

/// Who has which craft.
fn crafts(hub: &Hub) -> impl Iterator<Item = (HostId, EntityId)> + '_ {
    hub.entities().filter(|made| made.owner != SERVER).map(|made| (made.owner, made.entity))
}

//! A game that every player's host executes for itself: operations travel, come late, and are executed after all.
//!
//! What a host should have come to is known from outside: the same operations, executed in order by the plain game.

use super::account::Account;
use super::copies::Copies;
use anyhow::Result;
use evenkeel::timewarp::{Timewarp, TimewarpConfig, TimewarpEvent};
use evenkeel::{Duration, GlobalTime, HostId, Operation, Simulation, Tick};
use evenkeel_games::{Game, Recording, Setup};
use evenkeel_link::{Conditions, Path, path_id};

/// For so long after the last tick that counts, operations may still come in. No network here takes as long.
const TAIL: Duration = Duration::from_secs(3);

/// Every so many ticks it is looked how large a saved state is.
const SAVED_EVERY: i64 = 50;

/// How operations travel, and how long things wait.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::study) struct Terms {
    /// The way from any host to any other.
    pub(in crate::study) network: Conditions,
    /// How long after it was issued an operation takes effect. A whole number of ticks.
    pub(in crate::study) lag: Duration,
    /// How long after its tick a verdict is announced: each of these is tried.
    pub(in crate::study) verdict_lags: Vec<Duration>,
    /// How far back operations may still come in.
    pub(in crate::study) history: Duration,
}

/// A game as all of its operations, each executed at its time, make it.
pub(in crate::study) struct Truth<G: Game> {
    /// When each was issued, and the operation as it takes effect.
    operations: Vec<(GlobalTime, Operation<G::Act>)>,
    /// How it starts.
    start: G,
    /// By tick; there is none at the first, which has no step.
    digests: Vec<u64>,
    /// What was decided by the last tick that counts.
    verdicts: Vec<(Tick, G::Verdict)>,
    /// The last tick that counts.
    until: Tick,
}

impl Terms {
    /// How many states are kept: one for each tick of the history.
    pub(in crate::study) fn states(&self, step: Duration) -> i64 {
        Tick::at_or_after(GlobalTime::ZERO + self.history, step).0
    }
}

impl<G: Game> Truth<G> {
    /// A recorded game in which operations take effect so much later than they were issued.
    pub(in crate::study) fn new(recording: &Recording<G>, lag: Duration) -> Result<Self> {
        let start = recording.start()?;
        let step = start.step_length();
        let setup = recording.setup();
        let until = Tick::at_or_after(Tick(setup.ticks.into()).time(step) + lag, step);
        let end = Tick::at_or_after(until.time(step) + TAIL, step);
        let lagged = |operation: &Operation<G::Act>| Operation { at: operation.at + lag, ..operation.clone() };
        let lagged: Vec<Operation<G::Act>> = recording.operations().iter().map(lagged).collect();
        let issued = recording.operations().iter().map(|operation| operation.at);
        let operations = issued.zip(lagged.iter().cloned()).collect();
        let longer = Recording::<G>::new(Setup { ticks: end.0 as u32, ..setup.clone() }, lagged)?;
        let (mut digests, mut verdicts) = (vec![start.digest()], Vec::new());
        let mut replay = longer.replay()?;
        while let Some(tick) = replay.advance() {
            digests.push(replay.game().digest());
            if tick <= until {
                verdicts.extend(replay.verdicts().iter().map(|verdict| (tick, verdict.clone())));
            }
        }
        Ok(Self { operations, start, digests, verdicts, until })
    }

    /// How long the game is played, in seconds.
    pub(in crate::study) fn seconds(&self) -> f64 {
        self.until.time(self.start.step_length()).since(GlobalTime::ZERO).as_secs_f64()
    }

    /// What all hosts together made of it, by verdict lag.
    pub(in crate::study) fn play(&self, terms: &Terms, seed: u64) -> Result<Vec<Account>> {
        let mut all = vec![Account::default(); terms.verdict_lags.len()];
        for host in (0..self.start.players()).map(HostId) {
            let one = self.play_at(host, terms, seed)?;
            all.iter_mut().zip(&one).for_each(|(sum, one)| *sum = sum.and(one));
        }
        Ok(all)
    }

    /// What one host made of it, by verdict lag.
    fn play_at(&self, host: HostId, terms: &Terms, seed: u64) -> Result<Vec<Account>> {
        let config = TimewarpConfig {
            history: terms.history,
            // Its own operations are known when they are issued.
            ahead: terms.lag + Duration::from_secs(1),
            ..TimewarpConfig::default()
        };
        let game = Copies::new(self.start.clone(), &terms.verdict_lags);
        let mut site = Site::new(Timewarp::new(game, config, GlobalTime::ZERO)?, self, terms.verdict_lags.len());
        let mut arrivals = self.arrivals(host, &terms.network, seed)?.into_iter().peekable();
        for tick in (1..self.digests.len()).map(|tick| Tick(tick as i64)) {
            let now = tick.time(self.start.step_length());
            while let Some((at, operation)) = arrivals.next_if(|(at, _)| *at <= now) {
                site.account.foreign += f64::from(operation.issuer != host);
                // Refusals are counted by the timewarp.
                let _ = site.warp.handle_operation(operation, at);
            }
            site.warp.advance(now)?;
            site.look(tick);
        }
        // The timewarp's own count has its tables in it, whose size is not the same in every run.
        site.account.saved_bytes *= terms.states(self.start.step_length()) as f64;
        Ok(site.close())
    }

    /// Every operation with the time it comes to a host, in that order.
    fn arrivals(&self, host: HostId, network: &Conditions, seed: u64) -> Result<Vec<(GlobalTime, Operation<G::Act>)>> {
        let path = |from: u32| Path::new(network.clone(), seed, path_id(from, host.0));
        let paths = (0..self.start.players()).map(path).collect::<Result<Vec<Path>, _>>()?;
        let mut arrivals: Vec<(GlobalTime, Operation<G::Act>)> = Vec::new();
        for (issued, operation) in &self.operations {
            let way = &paths[operation.issuer.0 as usize];
            let delay = if operation.issuer == host { Duration::ZERO } else { way.delay(*issued) };
            arrivals.push((*issued + delay, operation.clone()));
        }
        arrivals.sort_by_key(|(at, operation)| (*at, operation.issuer, operation.sequence));
        Ok(arrivals)
    }
}

/// One host, its game, and what is noted of it.
struct Site<'a, G: Game> {
    warp: Timewarp<Copies<'a, G>>,
    truth: &'a Truth<G>,
    /// What does not depend on the verdict lag.
    account: Account,
    /// By verdict lag, what was announced.
    heard: Vec<Heard<G>>,
    /// A saved state, to see how large it is.
    saved: G::Snapshot,
}

/// The announcements of one verdict lag.
struct Heard<G: Game> {
    account: Account,
    /// What was announced and not revoked.
    standing: Vec<(Tick, G::Verdict)>,
}

impl<'a, G: Game> Site<'a, G> {
    fn new(warp: Timewarp<Copies<'a, G>>, truth: &'a Truth<G>, verdict_lags: usize) -> Self {
        let heard = || Heard { account: Account::default(), standing: Vec::new() };
        let heard = (0..verdict_lags).map(|_| heard()).collect();
        Self { warp, truth, account: Account::default(), heard, saved: G::Snapshot::default() }
    }

    /// Notes what there is to see after a tick.
    fn look(&mut self, tick: Tick) {
        while let Some(event) = self.warp.poll_event() {
            match event {
                TimewarpEvent::Decided { tick, verdict: (lag, verdict), late } if tick <= self.truth.until => {
                    self.heard[lag].decided((tick, verdict), late);
                }
                TimewarpEvent::Revoked { tick, verdict: (lag, verdict) } if tick <= self.truth.until => {
                    self.heard[lag].revoked(&(tick, verdict), &self.truth.verdicts);
                }
                TimewarpEvent::Corrected { by, .. } => self.account.correct(by.length()),
                _ => {}
            }
        }
        if tick.0 % SAVED_EVERY == 0 {
            self.warp.simulation().save(&mut self.saved);
            self.account.saved_bytes = self.account.saved_bytes.max(G::snapshot_bytes(&self.saved) as f64);
        }
        if tick <= self.truth.until {
            self.account.ticks += 1.0;
            self.account.apart += f64::from(self.warp.digest() != self.truth.digests[tick.0 as usize]);
        }
    }

    /// The whole account by verdict lag, once everything has come in.
    fn close(mut self) -> Vec<Account> {
        let (stats, account) = (self.warp.stats(), &mut self.account);
        account.late = stats.late as f64;
        account.refused = stats.refused.total() as f64;
        account.rollbacks = stats.rollbacks as f64;
        account.replayed = stats.replayed as f64;
        account.deepest = stats.deepest as f64;
        account.seconds = self.truth.seconds();
        account.hosts = 1.0;
        let last = self.truth.digests.last().copied();
        account.ended_elsewhere = f64::from(Some(self.warp.digest()) != last);
        self.heard.into_iter().map(|heard| self.account.and(&heard.close(&self.truth.verdicts))).collect()
    }
}

impl<G: Game> Heard<G> {
    fn decided(&mut self, verdict: (Tick, G::Verdict), late: bool) {
        self.account.announced += 1.0;
        self.account.announced_late += f64::from(late);
        self.standing.push(verdict);
    }

    fn revoked(&mut self, verdict: &(Tick, G::Verdict), truth: &[(Tick, G::Verdict)]) {
        self.account.revoked += 1.0;
        self.account.untrue += f64::from(truth.iter().all(|(_, stands)| *stands != verdict.1));
        if let Some(index) = self.standing.iter().position(|one| one == verdict) {
            self.standing.swap_remove(index);
        }
    }

    fn close(self, truth: &[(Tick, G::Verdict)]) -> Account {
        let unhealed = difference(self.standing, truth) as f64;
        Account { verdicts: truth.len() as f64, unhealed, ..self.account }
    }
}

/// How many verdicts are only in one of two lists, whatever their order.
fn difference<V: PartialEq>(mut found: Vec<V>, expected: &[V]) -> usize {
    let mut missing = 0;
    for verdict in expected {
        match found.iter().position(|other| other == verdict) {
            Some(index) => drop(found.swap_remove(index)),
            None => missing += 1,
        }
    }
    missing + found.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_games::operations::record;
    use evenkeel_games::{Arena, TankPilot};

    fn truth(lag_ms: i64) -> Truth<Arena> {
        let setup = Setup { rules: Default::default(), players: 4, seed: 2, ticks: 1_500 };
        let recording = record::<Arena, TankPilot>(setup).unwrap();
        Truth::new(&recording, Duration::from_millis(lag_ms)).unwrap()
    }

    fn terms(network: &str, lag_ms: i64, history_ms: i64) -> Terms {
        Terms {
            network: network.parse().unwrap(),
            lag: Duration::from_millis(lag_ms),
            verdict_lags: vec![Duration::ZERO],
            history: Duration::from_millis(history_ms),
        }
    }

    #[test]
    fn late_operations_cost_something_and_are_healed() {
        let found = truth(0).play(&terms("delay=200ms,jitter=uniform:80ms", 0, 1_000), 1).unwrap()[0];
        assert!(found.late > 0.5 * found.foreign && found.rollbacks > 0.0 && found.corrections > 0.0, "{found:?}");
        assert!(found.apart > 0.0 && found.announced_late > 0.0 && found.verdicts > 0.0, "{found:?}");
        assert_eq!((found.unhealed, found.ended_elsewhere, found.refused), (0.0, 0.0, 0.0));
    }

    #[test]
    fn with_a_lag_as_long_as_the_delay_nothing_is_ever_late() {
        let found = truth(200).play(&terms("delay=200ms", 200, 1_000), 1).unwrap()[0];
        assert_eq!((found.late, found.apart, found.revoked, found.announced_late), (0.0, 0.0, 0.0, 0.0));
        assert_eq!((found.unhealed, found.ended_elsewhere), (0.0, 0.0));
    }

    #[test]
    fn what_comes_from_before_the_history_stays_wrong() {
        let found = truth(0).play(&terms("delay=200ms", 0, 100), 1).unwrap()[0];
        assert!(found.refused > 0.5 * found.foreign, "{found:?}");
        assert!(found.ended_elsewhere == found.hosts && found.unhealed > 0.0, "{found:?}");
    }
}

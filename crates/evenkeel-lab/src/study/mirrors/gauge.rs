//! What is measured of a game on servers.

use super::map::PLAYERS;
use super::play::DIGEST_EVERY;
use anyhow::Result;
use evenkeel::{DecisionPoint, Duration, GlobalTime, HostId, Operation, Tick, TimewarpEvent, Vec3};
use evenkeel_games::Game;

/// What came of a game.
#[derive(Clone, Debug, Default)]
pub(super) struct Take {
    /// By player, the mean response time in ms.
    pub(super) response_ms: Vec<f64>,
    pub(super) minutes: f64,
    pub(super) servers: f64,
    /// Over all servers: verdicts that were announced.
    pub(super) decided: f64,
    /// Verdicts revoked or announced late.
    pub(super) paradoxes: f64,
    /// Of these, those about a tick at which all servers had the same state.
    pub(super) paradoxes_in_agreement: f64,
    /// Operations that came after their tick was executed, as a share of those that peers sent.
    pub(super) late_share: f64,
    pub(super) rollbacks: f64,
    /// Ticks executed again.
    pub(super) replayed: f64,
    /// The mean distance between the same craft at two servers at the same tick.
    pub(super) inconsistency: f64,
    /// The share of ticks at which not all servers had the same state.
    pub(super) inconsistent_share: f64,
    /// The share of servers that ended like the execution in order, in states and in verdicts.
    pub(super) healed: f64,
    /// The same in states alone, and since the last briefing.
    pub(super) healed_states: f64,
    /// Operations that were missed for good.
    pub(super) missed: f64,
    pub(super) briefings: f64,
    /// From the first operation that was missed to the last briefing, in seconds.
    pub(super) apart_s: f64,
}

impl Take {
    /// Over players.
    pub(super) fn response(&self) -> f64 {
        self.response_ms.iter().sum::<f64>() / self.response_ms.len().max(1) as f64
    }

    /// The standard deviation over players.
    pub(super) fn response_std(&self) -> f64 {
        let (mean, n) = (self.response(), self.response_ms.len().max(1) as f64);
        (self.response_ms.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>() / n).sqrt()
    }

    /// Of the worst-off player.
    pub(super) fn critical_response(&self) -> f64 {
        self.response_ms.iter().copied().fold(0.0, f64::max)
    }

    /// At each server.
    pub(super) fn paradoxes_per_minute(&self) -> f64 {
        self.paradoxes / self.minutes / self.servers
    }

    pub(super) fn paradox_share(&self) -> f64 {
        self.paradoxes / self.decided.max(1.0)
    }

    /// At each server.
    pub(super) fn rollbacks_per_s(&self) -> f64 {
        self.rollbacks / (60.0 * self.minutes) / self.servers
    }

    /// Ticks per rollback.
    pub(super) fn depth(&self) -> f64 {
        self.replayed / self.rollbacks.max(1.0)
    }
}

type Verdicts<G> = Vec<(Tick, <G as evenkeel::Simulation>::Verdict)>;

/// Watches servers.
pub(super) struct Gauge<G: Game> {
    take: Take,
    /// By player, the sum of response times and their count.
    responses: Vec<(Duration, i64)>,
    /// By tick, whether all servers had the same state.
    agreed: Vec<bool>,
    apart: f64,
    /// By server, the verdicts that stand.
    verdicts: Vec<Verdicts<G>>,
    first_missed: Option<GlobalTime>,
    last_briefed: GlobalTime,
}

impl<G: Game> Gauge<G> {
    pub(super) fn new(servers: usize, seconds: f64) -> Self {
        Self {
            take: Take { minutes: seconds / 60.0, servers: servers as f64, ..Take::default() },
            responses: vec![(Duration::ZERO, 0); PLAYERS as usize],
            agreed: vec![true],
            apart: 0.0,
            verdicts: vec![Vec::new(); servers],
            first_missed: None,
            last_briefed: GlobalTime::ZERO,
        }
    }

    pub(super) fn responded(&mut self, player: HostId, after: Duration) {
        let (sum, count) = &mut self.responses[player.0 as usize];
        *sum += after;
        *count += 1;
    }

    pub(super) fn desynchronised(&mut self, since: GlobalTime) {
        self.take.missed += 1.0;
        self.first_missed.get_or_insert(since);
    }

    pub(super) fn briefed(&mut self, now: GlobalTime) {
        self.take.briefings += 1.0;
        self.last_briefed = now;
        self.take.apart_s = self.first_missed.map_or(0.0, |since| now.since(since).as_secs_f64());
    }

    /// Compares the servers at the next tick, as each of them has it now.
    pub(super) fn look(&mut self, mirrors: &[DecisionPoint<G>]) {
        let mut digests = mirrors.iter().map(|mirror| mirror.timewarp().digest());
        let first = digests.next();
        let agreed = digests.all(|digest| Some(digest) == first);
        self.agreed.push(agreed);
        if !agreed {
            let places: Vec<Vec<Option<Vec3>>> = mirrors.iter().map(|mirror| places(mirror.simulation())).collect();
            self.apart += apart(&places);
        }
    }

    pub(super) fn hear(&mut self, server: usize, event: TimewarpEvent<G::Verdict>) {
        let paradox = match event {
            TimewarpEvent::Decided { tick, verdict, late } => {
                self.verdicts[server].push((tick, verdict));
                late.then_some(tick)
            }
            TimewarpEvent::Revoked { tick, verdict } => {
                let found = self.verdicts[server].iter().rposition(|standing| *standing == (tick, verdict.clone()));
                found.map(|index| self.verdicts[server].swap_remove(index));
                Some(tick)
            }
            _ => None,
        };
        let agreed = paradox.is_some_and(|tick| self.agreed.get(tick.0 as usize).copied().unwrap_or(false));
        self.take.paradoxes_in_agreement += f64::from(agreed);
    }

    /// The end: how the servers compare with the execution of all operations in order.
    pub(super) fn close(
        mut self,
        mut mirrors: Vec<DecisionPoint<G>>,
        start: &G,
        stamped: Vec<Operation<G::Act>>,
    ) -> Result<Take> {
        let step = start.step_length();
        let truth = in_order(start.clone(), stamped, mirrors[0].timewarp().tick());
        let take = &mut self.take;
        for (mirror, verdicts) in mirrors.iter_mut().zip(&mut self.verdicts) {
            let mut agrees_from = |from: GlobalTime| {
                let mut kept = truth.digests.iter().filter(|(tick, _)| tick.time(step) >= from);
                kept.all(|(tick, digest)| mirror.digest_at(*tick).is_none_or(|own| own == *digest))
            };
            let (always, since) = (agrees_from(GlobalTime::ZERO), agrees_from(self.last_briefed));
            let last = mirror.timewarp().digest() == truth.last;
            take.healed_states += f64::from(last && since) / take.servers;
            take.healed += f64::from(last && always && same(verdicts, &truth.verdicts)) / take.servers;
            let stats = mirror.stats();
            take.decided += stats.decided as f64;
            take.paradoxes += stats.paradoxes() as f64;
            take.rollbacks += stats.rollbacks as f64;
            take.replayed += stats.replayed as f64;
            take.late_share += stats.late as f64;
        }
        let from_peers = truth.operations as f64 * (take.servers - 1.0).max(1.0);
        take.late_share /= from_peers;
        let (ticks, pairs) = (self.agreed.len() as f64, (take.servers * (take.servers - 1.0) / 2.0).max(1.0));
        take.inconsistency = self.apart / ticks / pairs / f64::from(PLAYERS);
        take.inconsistent_share = self.agreed.iter().filter(|agreed| !**agreed).count() as f64 / ticks;
        let mean = |(sum, count): &(Duration, i64)| 1e3 * sum.as_secs_f64() / *count as f64;
        take.response_ms = self.responses.iter().filter(|(_, count)| *count > 0).map(mean).collect();
        Ok(self.take)
    }
}

fn places<G: Game>(game: &G) -> Vec<Option<Vec3>> {
    (0..game.players()).map(|player| game.state(HostId(player)).map(|state| state.position)).collect()
}

/// The sum of distances between the same craft at any two servers, where both have it in the game.
fn apart(places: &[Vec<Option<Vec3>>]) -> f64 {
    let pairs = places.iter().enumerate().flat_map(|(n, a)| places[n + 1..].iter().map(move |b| (a, b)));
    let distance = |(a, b): (&Option<Vec3>, &Option<Vec3>)| Some(a.as_ref()?.distance(*b.as_ref()?));
    pairs.flat_map(|(a, b)| a.iter().zip(b).filter_map(distance)).sum()
}

/// What everybody should come to.
struct Truth<G: Game> {
    digests: Vec<(Tick, u64)>,
    last: u64,
    verdicts: Verdicts<G>,
    operations: usize,
}

/// All operations executed at their ticks, by issuer and then by sequence, plainly.
fn in_order<G: Game>(mut game: G, mut operations: Vec<Operation<G::Act>>, until: Tick) -> Truth<G> {
    let step = game.step_length();
    let tick_of = |operation: &Operation<G::Act>| Tick::at_or_after(operation.at, step);
    operations.sort_by_key(|operation| (tick_of(operation), operation.issuer, operation.sequence));
    let mut due = operations.iter().peekable();
    let (mut digests, mut all, mut reached) = (Vec::new(), Vec::new(), Vec::new());
    for tick in (1..=until.0).map(Tick) {
        game.step(&mut reached);
        while let Some(operation) = due.next_if(|operation| tick_of(operation) <= tick) {
            game.apply(operation.issuer, &operation.act, &mut reached);
        }
        all.extend(reached.drain(..).map(|verdict| (tick, verdict)));
        if tick.0 % i64::from(DIGEST_EVERY) == 0 {
            digests.push((tick, game.digest()));
        }
    }
    Truth { digests, last: game.digest(), verdicts: all, operations: operations.len() }
}

/// Whether the same verdicts were reached at the same ticks, whatever order they were announced in.
fn same<V: PartialEq>(found: &mut Vec<(Tick, V)>, expected: &[(Tick, V)]) -> bool {
    let complete = expected.iter().all(|verdict| {
        let index = found.iter().position(|standing| standing == verdict);
        index.map(|index| found.swap_remove(index)).is_some()
    });
    complete && found.is_empty()
}

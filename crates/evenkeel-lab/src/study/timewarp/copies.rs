//! A game whose every verdict is announced several times, each time with another verdict lag: one run instead of many.

use evenkeel::{Duration, EntityId, HostId, Simulation, State};
use evenkeel_games::Game;

/// A game and its verdict lags. A verdict is the game's with the number of a lag.
pub(super) struct Copies<'a, G: Game> {
    game: G,
    lags: &'a [Duration],
    reached: Vec<G::Verdict>,
}

impl<'a, G: Game> Copies<'a, G> {
    pub(super) fn new(game: G, lags: &'a [Duration]) -> Self {
        Self { game, lags, reached: Vec::new() }
    }

    fn copy(&mut self, verdicts: &mut Vec<(usize, G::Verdict)>) {
        for verdict in self.reached.drain(..) {
            verdicts.extend((0..self.lags.len()).map(|lag| (lag, verdict.clone())));
        }
    }
}

impl<G: Game> Simulation for Copies<'_, G> {
    type Act = G::Act;
    type Snapshot = G::Snapshot;
    type Verdict = (usize, G::Verdict);

    fn step_length(&self) -> Duration {
        self.game.step_length()
    }

    fn save(&self, into: &mut G::Snapshot) {
        self.game.save(into);
    }

    fn restore(&mut self, from: &G::Snapshot) {
        self.game.restore(from);
    }

    fn step(&mut self, verdicts: &mut Vec<Self::Verdict>) {
        self.game.step(&mut self.reached);
        self.copy(verdicts);
    }

    fn apply(&mut self, issuer: HostId, act: &G::Act, verdicts: &mut Vec<Self::Verdict>) {
        self.game.apply(issuer, act, &mut self.reached);
        self.copy(verdicts);
    }

    fn digest(&self) -> u64 {
        self.game.digest()
    }

    fn permits(&self, issuer: HostId, act: &G::Act) -> bool {
        self.game.permits(issuer, act)
    }

    fn verdict_lag(&self, verdict: &Self::Verdict, usual: Duration) -> Duration {
        self.lags.get(verdict.0).copied().unwrap_or(usual)
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        self.game.places(out);
    }

    fn snapshot_bytes(snapshot: &G::Snapshot) -> usize {
        G::snapshot_bytes(snapshot)
    }
}

//! What is measured at a terminal.

use super::play::OWN;
use evenkeel::{Duration, Operation, Prediction, PredictionEvent, Simulation, Tick, Vec3};
use evenkeel_games::Arena;
use evenkeel_games::arena::{Act, Saved, Tank};

/// What came of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Take {
    pub(super) minutes: f64,
    /// The mean response time with prediction, in ms.
    pub(super) response_ms: f64,
    /// The same without: as the authority tells.
    pub(super) told_ms: f64,
    /// States taken from the authority.
    pub(super) states: f64,
    /// Of these, those that revoked a prediction of one's own tank,
    pub(super) revocations: f64,
    /// and those that did because it was hit, or was not, or came back elsewhere.
    pub(super) by_hits: f64,
    /// The mean and the largest distance of revocations that moved the tank within one life, in m.
    pub(super) moved_mean: f64,
    pub(super) moved_max: f64,
    /// The mean distance from where other tanks are to where they are shown, dead reckoned, in m.
    pub(super) reckoned: f64,
    /// The same as the authority told last.
    pub(super) told: f64,
}

impl Take {
    pub(super) fn per_minute(&self) -> f64 {
        self.revocations / self.minutes
    }

    pub(super) fn hits_per_minute(&self) -> f64 {
        self.by_hits / self.minutes
    }

    /// Because operations came late to the authority, or not at all.
    pub(super) fn others_per_minute(&self) -> f64 {
        (self.revocations - self.by_hits) / self.minutes
    }

    /// Of the authority's states.
    pub(super) fn share(&self) -> f64 {
        self.revocations / self.states.max(1.0)
    }
}

/// Where tanks are, of those that are in the game.
type Places = Vec<Option<Vec3>>;

pub(super) struct Gauge {
    take: Take,
    /// Sum and count of response times, with prediction and without.
    responses: [(Duration, i64); 2],
    moved: Vec<f64>,
    /// By tick: as predicted, and as told last.
    shown: Vec<[Places; 2]>,
    /// The last state that was told, and its tick.
    last: Arena,
    last_tick: Tick,
    /// When the own tank was last shown to come back into the game.
    back: Tick,
}

impl Gauge {
    pub(super) fn new(start: &Arena) -> Self {
        Self {
            take: Take::default(),
            responses: [(Duration::ZERO, 0); 2],
            moved: Vec::new(),
            shown: Vec::new(),
            last: start.clone(),
            last_tick: Tick(0),
            back: Tick(0),
        }
    }

    pub(super) fn responded(&mut self, predicted: Duration, told: Option<Duration>) {
        // What is lost is never shown without prediction: neither counts.
        let Some(told) = told else { return };
        for ((sum, count), span) in self.responses.iter_mut().zip([predicted, told]) {
            *sum += span;
            *count += 1;
        }
    }

    /// A state was taken. `before`: the own tank as it was predicted.
    pub(super) fn corrected(&mut self, before: &Tank, terminal: &mut Prediction<Arena>, (tick, state): (Tick, &Saved)) {
        self.last.restore(state);
        // Where a tank comes back depends on where the others are. Until a state tells, that is a guess.
        let guessed_back = self.back > self.last_tick;
        self.last_tick = tick;
        let events = std::iter::from_fn(|| terminal.poll_event());
        let moved = events.filter_map(|event| match event {
            PredictionEvent::Revoked { by, .. } => Some(by.length()),
            _ => None,
        });
        let moved = moved.last();
        let after = terminal.simulation().tank(OWN).copied().unwrap_or(*before);
        let hit = before.is_alive() != after.is_alive() || before.deaths != after.deaths;
        let revoked = hit || moved.is_some();
        let hit = hit || (guessed_back && revoked);
        self.take.states += 1.0;
        self.take.revocations += f64::from(revoked);
        self.take.by_hits += f64::from(hit);
        self.moved.extend(moved.filter(|_| !hit));
    }

    /// Notes what the terminal shows.
    pub(super) fn look(&mut self, terminal: &Prediction<Arena>) {
        let alive = |places: &Places| places[OWN.0 as usize].is_some();
        let was_alive = self.shown.last().is_none_or(|shown| alive(&shown[0]));
        if !was_alive && terminal.simulation().tank(OWN).is_some_and(Tank::is_alive) {
            self.back = Tick(self.shown.len() as i64 + 1);
        }
        self.shown.push([places(terminal.simulation()), places(&self.last)]);
    }

    /// The end: where everybody really was, by all operations that the authority got.
    pub(super) fn close(self, game: Arena, executed: Vec<Operation<Act>>) -> Take {
        let real = in_order(game.clone(), executed, self.shown.len());
        let seconds = self.shown.len() as f64 * game.step_length().as_secs_f64();
        let [reckoned, told] = [0, 1].map(|which| {
            let shown = self.shown.iter().map(|shown| &shown[which]);
            mean(real.iter().zip(shown).flat_map(|(real, shown)| distances(real, shown)))
        });
        let [response_ms, told_ms] = self.responses.map(|(sum, count)| 1e3 * sum.as_secs_f64() / count as f64);
        Take {
            minutes: seconds / 60.0,
            response_ms,
            told_ms,
            moved_mean: mean(self.moved.iter().copied()),
            moved_max: self.moved.iter().copied().fold(0.0, f64::max),
            reckoned,
            told,
            ..self.take
        }
    }
}

fn places(game: &Arena) -> Places {
    game.tanks().iter().map(|tank| tank.is_alive().then_some(tank.position)).collect()
}

/// From where the others are to where they are shown, of those that are in the game at both places.
fn distances(real: &Places, shown: &Places) -> impl Iterator<Item = f64> {
    let both = real.iter().zip(shown).enumerate().filter(|(player, _)| *player != OWN.0 as usize);
    both.filter_map(|(_, (real, shown))| Some(real.as_ref()?.distance(*shown.as_ref()?)))
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Where tanks are at each tick from the first on, if all operations are executed in order.
fn in_order(mut game: Arena, mut operations: Vec<Operation<Act>>, ticks: usize) -> Vec<Places> {
    let step = game.step_length();
    let tick_of = |operation: &Operation<Act>| Tick::at_or_after(operation.at, step);
    operations.sort_by_key(|operation| (tick_of(operation), operation.issuer, operation.sequence));
    let mut due = operations.iter().peekable();
    let mut one = |tick: i64| {
        game.step(&mut Vec::new());
        while let Some(operation) = due.next_if(|operation| tick_of(operation) <= Tick(tick)) {
            game.apply(operation.issuer, &operation.act, &mut Vec::new());
        }
        places(&game)
    };
    (1..=ticks as i64).map(&mut one).collect()
}

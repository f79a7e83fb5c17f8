//! Compares, fifty times a second, what every receiver shows with what is.

use super::link::Look;
use super::losses::Losses;
use super::meter::{Meter, WINDOW};
use super::shots::{Ballistics, Case};
use super::truth::Track;
use crate::feed::Verdicts;
use crate::settings::GameName;
use evenkeel::{GlobalTime, Lag, Vec3};
use evenkeel_games::words::Shot;

/// Shots that are followed at once; of more, no account is kept.
const MAX_FLIGHTS: usize = 256;
/// A verdict is waited for so long after a shot was fired.
const PATIENCE: evenkeel::Duration = evenkeel::Duration::from_secs(8);

/// A craft, wherever it comes from.
pub(super) struct Body<'a> {
    pub(super) id: u32,
    pub(super) track: &'a Track,
    /// Whether it is really known where it is.
    pub(super) measured: bool,
}

/// What a receiver shows in a world.
pub(super) struct Sight {
    /// Its own craft, by index.
    pub(super) own: Option<usize>,
    /// Nothing while it has no connection.
    pub(super) look: Option<Look>,
}

/// One receiver's numbers in one world.
#[derive(Default)]
pub(super) struct Account {
    pub(super) error: Meter,
    /// For each craft in the game 1 if it is not shown, else 0.
    pub(super) unseen: Meter,
    pub(super) losses: Losses,
    pub(super) clock: Meter,
    pub(super) uncertainty_ms: Option<f64>,
    /// Shots that are over, and about how many of them its picture was right.
    shots: (u32, u32),
}

impl Account {
    pub(super) fn agreement(&self) -> Option<f64> {
        let (all, right) = self.shots;
        (all > 0).then(|| f64::from(right) / f64::from(all))
    }
}

/// A shot, and what it does by every picture.
struct Flight {
    shooter: u32,
    shot: Shot,
    truth: Case<u32>,
    /// By world and receiver.
    seen: Vec<Vec<Case<u32>>>,
    verdict: Option<Option<u32>>,
}

/// See the [module](self).
pub(super) struct Gauge {
    laws: Ballistics,
    /// By world and receiver.
    pub(super) accounts: Vec<Vec<Account>>,
    flights: Vec<Flight>,
    pub(super) verdicts: Verdicts,
    seconds: usize,
    last: Option<GlobalTime>,
}

impl Gauge {
    /// Begins, with so many receivers in so many worlds.
    pub(super) fn new(game: GameName, worlds: usize, views: usize) -> Self {
        let accounts = (0..worlds).map(|_| (0..views).map(|_| Account::default()).collect()).collect();
        let laws = Ballistics::of(game);
        Self { laws, accounts, flights: Vec::new(), verdicts: Verdicts::default(), seconds: 0, last: None }
    }

    /// How long the window is, in seconds.
    pub(super) fn window_s(&self) -> f64 {
        self.seconds.min(WINDOW) as f64
    }

    /// A second is over.
    pub(super) fn second(&mut self) {
        self.seconds += 1;
    }

    /// A shot was fired.
    pub(super) fn fired(&mut self, shooter: u32, shot: Shot) {
        if self.flights.len() < MAX_FLIGHTS {
            let open = Case::open(shot.at);
            let seen = self.accounts.iter().map(|world| vec![open; world.len()]).collect();
            self.flights.push(Flight { shooter, shot, truth: open, seen, verdict: None });
        }
    }

    /// The referee has decided.
    pub(super) fn decided(&mut self, shooter: u32, number: u32, target: Option<u32>) {
        let about = |flight: &&mut Flight| (flight.shooter, flight.shot.number) == (shooter, number);
        if let Some(flight) = self.flights.iter_mut().find(about) {
            flight.verdict = Some(target);
        }
    }

    /// Compares what is shown with what is. `sights` by world and receiver.
    pub(super) fn measure(&mut self, bodies: &[Body<'_>], sights: &[Vec<Sight>], lag: &Lag, now: GlobalTime) {
        let dt = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().clamp(0.0, 0.1));
        for (accounts, sights) in self.accounts.iter_mut().zip(sights) {
            for (account, sight) in accounts.iter_mut().zip(sights) {
                let (errors, unseen) = errors(bodies, sight, lag, now);
                account.error.note(&errors, dt);
                account.unseen.note(&unseen, dt);
                let Some(look) = &sight.look else { continue };
                if let Some(clock) = look.clock {
                    account.clock.note(&[clock.since(look.at).abs().as_millis_f64()], dt);
                }
                account.uncertainty_ms = look.uncertainty.map(|span| span.as_millis_f64());
            }
        }
        self.follow_shots(bodies, sights, lag, now);
    }

    fn follow_shots(&mut self, bodies: &[Body<'_>], sights: &[Vec<Sight>], lag: &Lag, now: GlobalTime) {
        let shown = lag.shown(now);
        let truth = places(bodies, |body| body.track.at(shown).map(|state| state.position));
        let own = own_time(self.laws.game(), lag, now);
        let sees = |sight: &Sight| {
            let look = sight.look.as_ref();
            let place = |index: usize, body: &Body<'_>| match look {
                _ if sight.own == Some(index) => body.track.at(own).map(|state| state.position),
                Some(look) => look.seen.get(index).copied().flatten().map(|seen| seen.state.position),
                None => None,
            };
            let all = bodies.iter().enumerate();
            all.filter_map(|(index, body)| Some((body.id, place(index, body)?))).collect::<Vec<_>>()
        };
        let pictures: Vec<Vec<Vec<(u32, Vec3)>>> =
            sights.iter().map(|world| world.iter().map(sees).collect()).collect();
        for Flight { shooter, shot, truth: case, seen, .. } in &mut self.flights {
            let others = |places: &[(u32, Vec3)]| -> Vec<(u32, Vec3)> {
                places.iter().copied().filter(|(id, _)| id != shooter).collect()
            };
            case.look(shot, &self.laws, now, others(&truth).into_iter());
            for (cases, pictures) in seen.iter_mut().zip(&pictures) {
                for (case, picture) in cases.iter_mut().zip(pictures) {
                    case.look(shot, &self.laws, now, others(picture).into_iter());
                }
            }
        }
        self.settle(now);
    }

    /// Takes account of shots that are over by everybody's picture.
    fn settle(&mut self, now: GlobalTime) {
        let Self { flights, accounts, verdicts, .. } = self;
        flights.retain(|flight| {
            let over =
                flight.truth.outcome.is_some() && flight.seen.iter().flatten().all(|case| case.outcome.is_some());
            let late = now.since(flight.shot.at) > PATIENCE;
            if !(late || over && flight.verdict.is_some()) {
                return true;
            }
            let Some(truth) = flight.truth.outcome else { return false };
            if let Some(verdict) = flight.verdict {
                verdicts.decided += 1;
                verdicts.wrong += u64::from(verdict != truth);
            }
            for (accounts, cases) in accounts.iter_mut().zip(&flight.seen) {
                for (account, case) in accounts.iter_mut().zip(cases) {
                    account.shots.0 += u32::from(case.outcome.is_some());
                    account.shots.1 += u32::from(case.outcome == Some(truth));
                }
            }
            false
        });
    }

    /// Where shots are to be drawn, and whose they are.
    pub(super) fn shots(&self, now: GlobalTime) -> impl Iterator<Item = (u32, Vec3)> + '_ {
        let under_way = self.flights.iter().filter(move |flight| self.is_drawn(flight));
        under_way
            .flat_map(move |flight| self.laws.marks(&flight.shot, now).into_iter().map(|place| (flight.shooter, place)))
    }

    /// A beam that has struck is still to be seen.
    fn is_drawn(&self, flight: &Flight) -> bool {
        let struck = flight.truth.outcome.is_some() || flight.verdict.is_some();
        !struck || self.laws.game() == GameName::Ships
    }
}

/// When one's own craft is shown as it is: at once in a tank, with all the others in a ship.
pub(super) fn own_time(game: GameName, lag: &Lag, now: GlobalTime) -> GlobalTime {
    match game {
        GameName::Tanks => now,
        GameName::Ships => lag.shown(now),
    }
}

/// How far off a receiver shows the crafts of others; and for each of them that is in the game 1 if it is not shown, else 0:
/// what is not seen has no error, and is not without one either.
fn errors(bodies: &[Body<'_>], sight: &Sight, lag: &Lag, now: GlobalTime) -> (Vec<f64>, Vec<f64>) {
    let shown = lag.shown(sight.look.as_ref().map_or(now, |look| look.at));
    let (mut errors, mut unseen) = (Vec::new(), Vec::new());
    for (index, body) in bodies.iter().enumerate().filter(|(_, body)| body.measured) {
        let Some(truth) = body.track.at(shown).filter(|_| sight.own != Some(index)) else { continue };
        let seen = sight.look.as_ref().and_then(|look| look.seen.get(index).copied().flatten());
        errors.extend(seen.map(|seen| truth.position.distance(seen.state.position)));
        unseen.push(f64::from(u8::from(seen.is_none())));
    }
    (errors, unseen)
}

fn places(bodies: &[Body<'_>], place: impl Fn(&Body<'_>) -> Option<Vec3>) -> Vec<(u32, Vec3)> {
    bodies.iter().filter_map(|body| Some((body.id, place(body)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::link::Seen;
    use super::super::truth::onwards;
    use super::*;
    use evenkeel::{Motion, State};

    fn at(x: f64) -> State {
        Motion::linear(Vec3::new(x, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.0)).at(0.0)
    }

    #[test]
    fn what_is_not_seen_is_not_without_error() {
        let now = GlobalTime::from_millis(1_000);
        let (mut there, out) = (Track::default(), Track::default());
        there.note(now, Some(onwards(at(3.0))));
        let bodies = [&there, &there, &there, &out].map(|track| Body { id: 1, track, measured: true });
        let mut gauge = Gauge::new(GameName::Tanks, 1, 1);
        let mut measure = |look: Option<Look>| {
            gauge.measure(&bodies, &[vec![Sight { own: Some(0), look }]], &Lag::default(), now);
            let account = &mut gauge.accounts[0][0];
            (account.error.second(), account.error.window(), account.unseen.second())
        };
        let look = |seen| Some(Look { at: now, clock: None, uncertainty: None, seen });
        assert_eq!(measure(None), (None, None, Some(1.0)), "no connection");
        assert_eq!(measure(look(vec![None; 4])), (None, None, Some(1.0)), "nothing to be seen");
        let seen = Some(Seen { state: at(5.0), frozen: false });
        assert_eq!(measure(look(vec![None, None, seen, None])), (Some(2.0), Some(2.0), Some(0.5)), "one of two");
    }
}

//! Recordings made: bots play against each other, everybody seeing everything at once.

use super::{Recording, RecordingError, Setup};
use crate::game::Game;
use crate::noise::Noise;
use crate::pilots::{Pilot, View};
use alloc::vec::Vec;
use evenkeel::{GlobalTime, HostId, Operation, Simulation, State, Tick};

/// Lets one bot per player play a game, and records what they do.
///
/// They see the game as it is at each tick, and act at some moment before the next one, whole microseconds after it: no player
/// keeps step with the game.
pub fn record<G: Game, P: Pilot<G>>(setup: Setup<G::Rules>) -> Result<Recording<G>, RecordingError> {
    super::check_setup::<G>(&setup)?;
    let mut game = G::start(&setup.rules, setup.players, setup.seed).map_err(RecordingError::Setup)?;
    let mut seats: Vec<Seat<P>> =
        (0..setup.players).map(|player| Seat::new(setup.seed, HostId(player), &game)).collect();
    let (mut operations, mut verdicts) = (Vec::new(), Vec::new());
    for tick in (0..setup.ticks).map(|tick| Tick(tick.into())) {
        let from = operations.len();
        let shown = everybody(&game);
        seats.iter_mut().for_each(|seat| seat.play(&game, &shown, tick, &mut operations));
        verdicts.clear();
        game.step(&mut verdicts);
        for Operation { issuer, act, .. } in &operations[from..] {
            game.apply(*issuer, act, &mut verdicts);
        }
        // By issuer and sequence as they were executed; by time in the recording.
        operations[from..].sort_by_key(|operation| operation.at);
    }
    Recording::new(setup, operations)
}

/// Everybody in the game, as it is.
fn everybody<G: Game>(game: &G) -> Vec<(HostId, State)> {
    let players = (0..game.players()).map(HostId);
    players.filter_map(|player| Some((player, game.state(player)?))).collect()
}

/// A bot and its hand on the keys.
struct Seat<P> {
    player: HostId,
    pilot: P,
    moments: Noise,
    sequence: u32,
}

impl<P> Seat<P> {
    fn new<G: Game>(seed: u64, player: HostId, game: &G) -> Self
    where
        P: Pilot<G>,
    {
        let moments = Noise::new(seed, 0x3E_0000_0000 | u64::from(player.0));
        Self { player, pilot: P::seated(seed, player, game), moments, sequence: 0 }
    }

    fn play<G: Game>(&mut self, game: &G, shown: &[(HostId, State)], tick: Tick, out: &mut Vec<Operation<G::Act>>)
    where
        P: Pilot<G>,
    {
        let now = tick.time(game.step_length());
        let view = View { own: game.state(self.player), shown };
        for act in self.pilot.act(&view, now) {
            let at = self.moment(game, tick, now);
            out.push(Operation { at, issuer: self.player, sequence: self.sequence, act });
            self.sequence += 1;
        }
    }

    /// A moment after this tick and not after the next.
    fn moment(&self, game: &impl Simulation, tick: Tick, now: GlobalTime) -> GlobalTime {
        let micros = game.step_length().as_micros().max(1);
        let after = 1 + (self.moments.uniform(tick.0 as u64) * micros as f64) as i64;
        now + evenkeel::Duration::from_micros(after.min(micros))
    }
}

//! What going back costs: executing the last ticks again, as a multiple of executing them plainly.

use anyhow::{Context, Result};
use evenkeel::timewarp::{Timewarp, TimewarpConfig};
use evenkeel::{Duration, GlobalTime, HostId, Operation, Simulation, Tick};
use evenkeel_games::Arena;
use evenkeel_games::arena::{Act, Rules};
use evenkeel_link::Noise;
use std::hint::black_box;
use std::time::Instant;

const TANKS: u32 = 1_000;
/// Sixty ticks a second.
const STEP: Duration = Duration::from_nanos(16_666_667);
/// How far back an operation is: 300 ms.
const DEPTH: i64 = 18;
/// Operations in every tick: everybody does something every second or two.
const OPERATIONS: u32 = 10;
/// Half the side of the arena in metres: BZFlag's own.
const HALF_SIDE: u16 = 400;
/// Until the history is full and shots are under way.
const WARM_UP: i64 = 120;

/// 1,000 tanks at 60 Hz, going back 300 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rollback {
    /// Milliseconds to go back 18 ticks and execute them again.
    pub ms_again: f64,
    /// Milliseconds to execute the same 18 ticks with the same operations and nothing else.
    pub ms_plain: f64,
    /// Milliseconds of a tick in the timewarp, its state saved.
    pub ms_per_tick: f64,
    /// Bytes that a history of a second takes.
    pub history_bytes: usize,
}

impl Rollback {
    /// The figure with a target: at most 1.5.
    pub fn ratio(&self) -> f64 {
        self.ms_again / self.ms_plain
    }
}

/// Measures it, as medians of so many rounds.
pub fn rollback(rounds: u32) -> Result<Rollback> {
    let rules = Rules { step_length: STEP, half_side: HALF_SIDE, inertia: false };
    let game = Arena::new(rules, TANKS, 1)?;
    let mut load = Load { warp: Timewarp::new(game, TimewarpConfig::default(), GlobalTime::ZERO)?, made: Vec::new() };
    for tick in 1..=WARM_UP {
        load.tick(Tick(tick))?;
    }
    let (mut again, mut plain, mut forward) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..i64::from(rounds) {
        let tick = Tick(WARM_UP + 1 + round);
        forward.push(load.tick(tick)?);
        // Whichever comes second finds the tanks in the cache: they take turns.
        if round % 2 == 0 {
            plain.push(load.plainly(tick)?);
            again.push(load.again(tick, round)?);
        } else {
            again.push(load.again(tick, round)?);
            plain.push(load.plainly(tick)?);
        }
    }
    let history_bytes = load.warp.memory_bytes();
    let [ms_again, ms_plain, ms_per_tick] = [again, plain, forward].map(|times| median(times) * 1e3);
    Ok(Rollback { ms_again, ms_plain, ms_per_tick, history_bytes })
}

/// A timewarp, and the operations it was given.
struct Load {
    warp: Timewarp<Arena>,
    made: Vec<(Tick, Operation<Act>)>,
}

impl Load {
    /// Goes on by a tick in which some players do something. Answers how long that took, in seconds.
    fn tick(&mut self, tick: Tick) -> Result<f64> {
        let noise = Noise::new(1, 0xB0_7A);
        for n in 0..OPERATIONS {
            let draw = |lane: u32| noise.uniform(tick.0 * i64::from(OPERATIONS) + i64::from(n), lane);
            let percent = |lane| (draw(lane) * 200.0 - 100.0) as i8;
            let act = if draw(0) < 0.3 { Act::Fire } else { Act::Drive { speed: percent(1), turn: percent(2) } };
            // Nobody does two things in one tick: a player of each block.
            let issuer = n * (TANKS / OPERATIONS) + (draw(3) * f64::from(TANKS / OPERATIONS)) as u32;
            self.give(tick, issuer, tick.0 as u32, act)?;
        }
        let started = Instant::now();
        self.warp.advance(tick.time(STEP))?;
        let took = started.elapsed().as_secs_f64();
        while self.warp.poll_event().is_some() {}
        Ok(took)
    }

    fn give(&mut self, tick: Tick, issuer: u32, sequence: u32, act: Act) -> Result<()> {
        let operation = Operation { at: tick.time(STEP), issuer: HostId(issuer), sequence, act };
        self.warp.handle_operation(operation, self.warp.tick().time(STEP))?;
        self.made.push((tick, operation));
        Ok(())
    }

    /// An operation comes in that is 18 ticks old.
    fn again(&mut self, tick: Tick, round: i64) -> Result<f64> {
        let turn = if round % 4 < 2 { 70 } else { -70 };
        let (issuer, sequence) = ((round * 7 % i64::from(TANKS)) as u32, 1_000_000 + round as u32);
        self.give(Tick(tick.0 - DEPTH), issuer, sequence, Act::Drive { speed: 80, turn })?;
        let started = Instant::now();
        let advanced = self.warp.advance(tick.time(STEP))?;
        let took = started.elapsed().as_secs_f64();
        debug_assert_eq!(advanced.replayed, DEPTH);
        while self.warp.poll_event().is_some() {}
        Ok(took)
    }

    /// The same ticks from the same state by the game alone.
    fn plainly(&mut self, tick: Tick) -> Result<f64> {
        let from = Tick(tick.0 - DEPTH);
        self.made.retain(|(at, _)| *at >= from);
        self.made.sort_by_key(|(at, operation)| (*at, operation.issuer, operation.sequence));
        let mut game = self.warp.look_back(from, Arena::clone).context("within the history")?;
        let mut later = self.made.iter().skip_while(|(at, _)| *at <= from).peekable();
        let mut verdicts = Vec::new();
        let started = Instant::now();
        for now in (from.0 + 1..=tick.0).map(Tick) {
            game.step(&mut verdicts);
            while let Some((_, operation)) = later.next_if(|(at, _)| *at == now) {
                game.apply(operation.issuer, &operation.act, &mut verdicts);
            }
        }
        let took = started.elapsed().as_secs_f64();
        anyhow::ensure!(game.digest() == self.warp.digest(), "executed plainly, the game takes another course");
        black_box(verdicts);
        Ok(took)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long it takes is not a test's to say.
    #[test]
    fn both_sides_execute_the_same_game() {
        let measured = rollback(4).unwrap();
        assert!(measured.ratio() > 0.0 && measured.history_bytes > 0, "{measured:?}");
    }
}

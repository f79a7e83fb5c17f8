//! One player's terminal and the authority that has the last word.

use super::case::Case;
use super::gauge::{Gauge, Take};
use crate::study::measure::millis;
use anyhow::{Context, Result};
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, Operation, Prediction, PredictionConfig, Simulation, Tick, Timewarp,
    TimewarpConfig,
};
use evenkeel_games::arena::{Act, Saved};
use evenkeel_games::{Arena, Recording};
use evenkeel_link::{Conditions, Delivery, Link, Topology};
use std::rc::Rc;

/// Whose terminal it is.
pub(super) const OWN: HostId = HostId(0);
/// The authority.
const SERVER: HostId = HostId(100);
/// Everybody else's one-way delay to the authority, in ms.
const OTHERS_DELAY_MS: f64 = 30.0;
/// The authority sends its state every so many ticks.
pub(super) const STATE_EVERY: i64 = 2;
/// What is allowed for on top of the delay, in ticks, before the authority sends what it knows of a tick.
const MARGIN: i64 = 1;
/// The size of a packet matters to nobody here.
const BYTES: usize = 32;

/// What travels.
#[derive(Clone)]
enum Packet {
    Operation(Operation<Act>),
    State(Tick, Rc<Saved>),
}

struct World {
    link: Link<Packet>,
    authority: Timewarp<Arena>,
    terminal: Prediction<Arena>,
    lag: Duration,
    step: Duration,
    /// How old the states are that the authority sends, so that the player's operations are in them.
    hold: i64,
    /// All operations that the authority has got.
    executed: Vec<Operation<Act>>,
    gauge: Gauge,
}

/// Plays a recording with one player at a distance.
pub(super) fn play(recording: &Recording<Arena>, case: &Case, seed: u64) -> Result<Take> {
    let mut world = World::new(&recording.start()?, case, seed)?;
    let mut issued = recording.operations().iter().peekable();
    for tick in (1..=i64::from(recording.setup().ticks)).map(Tick) {
        let now = tick.time(world.step);
        while let Some(operation) = issued.next_if(|operation| operation.at <= now) {
            world.issue(operation)?;
        }
        while let Some(delivery) = world.link.poll(now) {
            world.deliver(delivery)?;
        }
        world.authority.advance(now)?;
        while world.authority.poll_event().is_some() {}
        if tick.0 % STATE_EVERY == 0 {
            world.send_state(now);
        }
        world.terminal.advance(now)?;
        world.gauge.look(&world.terminal);
    }
    let World { gauge, executed, .. } = world;
    Ok(gauge.close(recording.start()?, executed))
}

impl World {
    fn new(game: &Arena, case: &Case, seed: u64) -> Result<Self> {
        let (step, lag) = (game.step_length(), millis(case.lag_ms));
        let mut topology = Topology::uniform(Conditions::delay(millis(OTHERS_DELAY_MS)))?;
        topology.connect(OWN.0, SERVER.0, case.conditions(), case.conditions())?;
        let config = PredictionConfig { lag, ..PredictionConfig::of(OWN, EntityId(OWN.0)) };
        let wait = (case.delay() - lag).max(Duration::ZERO);
        Ok(Self {
            link: Link::new(topology, seed),
            authority: Timewarp::new(game.clone(), TimewarpConfig::default(), GlobalTime::ZERO)?,
            terminal: Prediction::new(game.clone(), config, GlobalTime::ZERO)?,
            lag,
            step,
            hold: Tick::at_or_after(GlobalTime::ZERO + wait, step).0 + MARGIN,
            executed: Vec::new(),
            gauge: Gauge::new(game),
        })
    }

    /// A player does something. Stamps are the player's own: when it was done, and the lag.
    fn issue(&mut self, recorded: &Operation<Act>) -> Result<()> {
        let (player, at) = (recorded.issuer, recorded.at);
        let operation = match player {
            OWN => self.terminal.act(recorded.act, at)?,
            _ => Operation { at: at + self.lag, ..*recorded },
        };
        self.link.send(at, player.0, SERVER.0, BYTES, Packet::Operation(operation));
        if player == OWN {
            let shown = Tick::at_or_after(operation.at, self.step).time(self.step);
            let told = self.told(&operation, at).map(|told| told.since(at));
            self.gauge.responded(shown.since(at), told);
        }
        Ok(())
    }

    /// When a terminal that shows only what it is told would show an operation: the authority gets it, and its next state
    /// travels back. Nothing if the operation is lost.
    fn told(&mut self, operation: &Operation<Act>, issued: GlobalTime) -> Option<GlobalTime> {
        let known = self.link.path(OWN.0, SERVER.0).fate(issued).arrival()?.max(operation.at);
        let period = self.step * STATE_EVERY;
        let first = Tick::at_or_after(known, period);
        // A state that is lost is made up for by the next.
        (0..50).find_map(|n| self.link.path(SERVER.0, OWN.0).fate(Tick(first.0 + n).time(period)).arrival())
    }

    fn deliver(&mut self, delivery: Delivery<Packet>) -> Result<()> {
        match delivery.payload {
            Packet::Operation(operation) => {
                self.authority.handle_operation(operation, delivery.arrived).context("an operation is refused")?;
                self.executed.push(operation);
            }
            Packet::State(tick, state) => {
                let before = *self.terminal.simulation().tank(OWN).context("a player has a tank")?;
                // Jitter may bring an older state after a newer one: it is refused, and changes nothing.
                if self.terminal.handle_state(tick, &state, delivery.arrived).is_ok() {
                    self.gauge.corrected(&before, &mut self.terminal, (tick, &state));
                }
            }
        }
        Ok(())
    }

    fn send_state(&mut self, now: GlobalTime) {
        let tick = Tick(self.authority.tick().0 - self.hold);
        let mut state = Saved::default();
        if self.authority.look_back(tick, |game| game.save(&mut state)).is_some() {
            self.link.send(now, SERVER.0, OWN.0, BYTES, Packet::State(tick, Rc::new(state)));
        }
    }
}

//! The game "spaceship": ships accelerate, decelerate, turn, and shoot at each other with laser beams.
//!
//! Lengths are pixels. A ship flies where its nose points, from standing still up to [`TOP_SPEED`]; nothing slows it down but
//! its pilot. A beam is a straight line of [`BEAM_LENGTH`] from the nose, there and gone within a tick. A ship that is hit
//! loses a life point, and at 0 it is removed: its player has lost.
//!
//! The field has no edge. A wrap-around would make distances jump by the width of the screen, and a wall would change motions
//! that nobody operated. Without an edge, everything that dead reckoning cannot foresee is an operation, so that what is off
//! is owed to the network and the filter alone. Pilots turn back where the screen ([`FIELD`]) ends.
//!
//! All beams of a tick strike at once, at the beginning of the next step: nobody shoots first for having a lower number.

mod ship;
mod solo;

pub use ship::{Ship, Turn};
pub use solo::{OUT, Solo};

use crate::game::{self, Game, SetupError};
use crate::touch;
use alloc::string::String;
use alloc::vec::Vec;
use evenkeel::determinism::digest;
use evenkeel::{Duration, EntityId, HostId, Pose, Simulation, State};

/// The width and height of the screen, whose middle is the origin. Pixels.
pub const FIELD: (f64, f64) = (800.0, 600.0);
/// How fast a ship can get. Pixels per second.
pub const TOP_SPEED: f64 = 160.0;
/// How fast it accelerates and decelerates. Pixels per second squared.
pub const THRUST: f64 = 80.0;
/// How fast it turns: 120 degrees per second, in radians per second.
pub const TURN_RATE: f64 = core::f64::consts::TAU / 3.0;
/// How far from a ship's middle it can be hit, and how far ahead its nose is. Pixels.
pub const RADIUS: f64 = 10.0;
/// How far a beam reaches from the nose. Pixels.
pub const BEAM_LENGTH: f64 = 220.0;
/// How long a ship cannot fire after it has fired.
pub const RELOAD: Duration = Duration::from_millis(400);

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How long a step is.
    pub step_length: Duration,
    /// How many life points a ship has at the start, above 0.
    pub life: u8,
}

impl Default for Rules {
    /// Steps of 20 ms, 10 life points.
    fn default() -> Self {
        Self { step_length: Duration::from_millis(20), life: 10 }
    }
}

/// What a player does: keys that are held, and one that is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Begins or ceases to accelerate.
    Accelerate(bool),
    /// Begins or ceases to decelerate.
    Decelerate(bool),
    /// Begins to turn another way, or none.
    Turn(Turn),
    /// Fires the laser, if it is ready.
    Fire,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A beam hit.
    Hit {
        /// Whose beam.
        shooter: HostId,
        /// Whose ship.
        target: HostId,
        /// How many life points the ship has left.
        life_left: u8,
    },
    /// A ship has no life points left and is out of the game.
    Removed {
        /// Whose ship.
        ship: HostId,
    },
}

/// The game. Player `n` is `HostId(n)`, and its ship is `EntityId(n)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spaceship {
    rules: Rules,
    ships: Vec<Ship>,
}

impl Spaceship {
    /// The game as it starts: ships stand on a circle around the middle of the field and face it.
    pub fn new(rules: Rules, players: u32) -> Result<Self, SetupError> {
        Self::check(&rules, players)?;
        Ok(Self { rules, ships: (0..players).map(|number| Ship::new(number, players, rules.life)).collect() })
    }

    /// What was chosen.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The ships by player, those that were removed too.
    pub fn ships(&self) -> &[Ship] {
        &self.ships
    }

    /// A player's ship, also if it was removed.
    pub fn ship(&self, player: HostId) -> Option<&Ship> {
        self.ships.get(player.0 as usize)
    }

    fn living(&self, player: HostId) -> Option<&Ship> {
        self.ship(player).filter(|ship| ship.is_alive())
    }

    fn dt(&self) -> f64 {
        self.rules.step_length.as_secs_f64()
    }

    /// The first ship in the way of a ship's beam.
    fn target(&self, shooter: usize) -> Option<usize> {
        let (from, to) = self.ships[shooter].beam()?;
        let others = self.ships.iter().enumerate().filter(|(n, ship)| *n != shooter && ship.is_alive());
        let touched = others.filter_map(|(n, ship)| Some((touch::circle(from, to, ship.position, RADIUS)?, n)));
        touched.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, n)| n)
    }

    /// Lets all beams of the tick strike at once.
    fn strike(&mut self, verdicts: &mut Vec<Verdict>) {
        let firing = (0..self.ships.len()).filter(|&n| self.ships[n].fires);
        let hits: Vec<(usize, usize)> = firing.filter_map(|n| Some((n, self.target(n)?))).collect();
        // Also where the ship is removed by a beam of the same tick: it must not fire for ever.
        self.ships.iter_mut().for_each(|ship| ship.fires = false);
        for (shooter, target) in hits {
            let ship = &mut self.ships[target];
            // The last point can be lost to one beam only.
            if !ship.is_alive() {
                continue;
            }
            ship.life -= 1;
            let (shooter, target) = (HostId(shooter as u32), HostId(target as u32));
            verdicts.push(Verdict::Hit { shooter, target, life_left: ship.life });
            if !ship.is_alive() {
                verdicts.push(Verdict::Removed { ship: target });
            }
        }
    }
}

impl Simulation for Spaceship {
    type Act = Act;
    type Snapshot = Vec<Ship>;
    type Verdict = Verdict;

    fn step_length(&self) -> Duration {
        self.rules.step_length
    }

    fn save(&self, into: &mut Self::Snapshot) {
        into.clone_from(&self.ships);
    }

    fn restore(&mut self, from: &Self::Snapshot) {
        self.ships.clone_from(from);
    }

    fn step(&mut self, verdicts: &mut Vec<Verdict>) {
        self.strike(verdicts);
        let dt = self.dt();
        for ship in self.ships.iter_mut().filter(|ship| ship.is_alive()) {
            ship.fly(dt);
        }
    }

    fn apply(&mut self, issuer: HostId, act: &Act, _verdicts: &mut Vec<Verdict>) {
        let reload = game::steps(RELOAD, self.rules.step_length);
        let Some(ship) = self.ships.get_mut(issuer.0 as usize).filter(|ship| ship.is_alive()) else {
            return;
        };
        match *act {
            Act::Accelerate(held) => ship.accelerates = held,
            Act::Decelerate(held) => ship.decelerates = held,
            Act::Turn(turn) => ship.turn = turn,
            Act::Fire if ship.reload == 0 => (ship.fires, ship.reload) = (true, reload),
            Act::Fire => {}
        }
    }

    fn digest(&self) -> u64 {
        digest(|hasher| self.ships.iter().for_each(|ship| ship.write(hasher)))
    }

    fn permits(&self, issuer: HostId, _act: &Act) -> bool {
        self.ship(issuer).is_some()
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        let players = (0..self.players()).map(HostId);
        out.extend(players.filter_map(|player| Some((EntityId(player.0), self.state(player)?))));
    }

    fn snapshot_bytes(snapshot: &Self::Snapshot) -> usize {
        size_of::<Self::Snapshot>() + snapshot.capacity() * size_of::<Ship>()
    }
}

impl Game for Spaceship {
    const NAME: &'static str = "spaceship";
    type Rules = Rules;

    fn check(rules: &Rules, players: u32) -> Result<(), SetupError> {
        game::check(players, rules.step_length)?;
        if rules.life > 0 { Ok(()) } else { Err(SetupError::Rule("life")) }
    }

    /// The seed changes nothing: ships start on a circle.
    fn start(rules: &Rules, players: u32, _seed: u64) -> Result<Self, SetupError> {
        Self::new(*rules, players)
    }

    fn players(&self) -> u32 {
        self.ships.len() as u32
    }

    /// With the acceleration and the turn rate that the next step will have. `MotionKind::Turning` extrapolates them exactly.
    fn pose(&self, player: HostId) -> Option<Pose> {
        Some(Ship::pose(&self.living(player)?.motion(self.dt())))
    }

    fn state(&self, player: HostId) -> Option<State> {
        self.living(player).map(Ship::state)
    }

    fn write_rules(rules: &Rules) -> Vec<(&'static str, i64)> {
        [("step_ns", rules.step_length.as_nanos()), ("life", rules.life.into())].into()
    }

    fn read_rule(rules: &mut Rules, name: &str, value: i64) -> bool {
        match (name, u8::try_from(value)) {
            ("step_ns", _) => rules.step_length = Duration::from_nanos(value),
            ("life", Ok(life)) => rules.life = life,
            _ => return false,
        }
        true
    }

    fn write_act(act: &Act) -> (&'static str, String) {
        let held = |held: bool| String::from(if held { "1" } else { "0" });
        match *act {
            Act::Accelerate(on) => ("accelerate", held(on)),
            Act::Decelerate(on) => ("decelerate", held(on)),
            Act::Turn(Turn::None) => ("turn", "none".into()),
            Act::Turn(Turn::Left) => ("turn", "left".into()),
            Act::Turn(Turn::Right) => ("turn", "right".into()),
            Act::Fire => ("fire", String::new()),
        }
    }

    fn read_act(name: &str, value: &str) -> Option<Act> {
        Some(match (name, value) {
            ("accelerate", "1") => Act::Accelerate(true),
            ("accelerate", "0") => Act::Accelerate(false),
            ("decelerate", "1") => Act::Decelerate(true),
            ("decelerate", "0") => Act::Decelerate(false),
            ("turn", "none") => Act::Turn(Turn::None),
            ("turn", "left") => Act::Turn(Turn::Left),
            ("turn", "right") => Act::Turn(Turn::Right),
            ("fire", "") => Act::Fire,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;

//! A tank arena with the dynamics of BZFlag.
//!
//! Lengths are metres. A tank drives at up to 25 m/s, backwards at up to 12.5 m/s, and turns at up to 45 degrees per second:
//! at once, as in BZFlag, or with inertia. Shots fly straight at 100 m/s for 3.5 s, and every tank has three that it can have
//! under way. A tank that is hit is out for 5 s and comes back at a place that follows from the state.
//!
//! A tank is a circle of radius 3 m, half a tank's length, to shots and obstacles alike. A tank that would get into an
//! obstacle stays where it is; tanks do not get in each other's way. Of all shots of a step, those that strike earlier in it
//! come first.

mod field;
mod grid;
mod shot;
mod solo;
mod spawn;
mod tank;

pub use field::{Field, Obstacle};
pub use shot::Shot;
pub use solo::Solo;
pub use tank::Tank;

use crate::game::{self, Game, SetupError};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use evenkeel::determinism::digest;
use evenkeel::{Duration, EntityId, HostId, Pose, Simulation, State};
use grid::Grid;

/// Metres per second, forwards.
pub const FULL_SPEED: f64 = 25.0;
/// Metres per second, backwards.
pub const REVERSE_SPEED: f64 = 12.5;
/// Radians per second.
pub const TURN_RATE: f64 = core::f64::consts::FRAC_PI_4;
/// What a tank with inertia can do to its speed. Metres per second, per second.
pub const ACCELERATION: f64 = 20.0;
/// What a tank with inertia can do to its turn rate. Radians per second, per second.
pub const TURN_ACCELERATION: f64 = 3.0;
/// How far from its middle a tank can be hit and hits obstacles, and how far ahead its muzzle is. Metres.
pub const RADIUS: f64 = 3.0;
/// Metres per second.
pub const SHOT_SPEED: f64 = 100.0;
/// How long a shot flies.
pub const SHOT_LIFE: Duration = Duration::from_millis(3_500);
/// How long a shot's slot takes to reload.
pub const RELOAD: Duration = Duration::from_millis(3_500);
/// How many shots a tank can have under way.
pub const SLOTS: usize = 3;
/// How long a tank that was hit is out.
pub const OUT: Duration = Duration::from_secs(5);
/// Half the side of the smallest arena. Metres.
pub const MIN_HALF_SIDE: u16 = 50;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How long a step is.
    pub step_length: Duration,
    /// Half the side of the arena in metres, at least [`MIN_HALF_SIDE`]. BZFlag's own is 400.
    pub half_side: u16,
    /// Whether tanks follow their drivers' wishes only so fast.
    pub inertia: bool,
}

impl Default for Rules {
    /// Steps of 20 ms, an arena of 300 m by 300 m, no inertia.
    fn default() -> Self {
        Self { step_length: Duration::from_millis(20), half_side: 150, inertia: false }
    }
}

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// From now on drives like this. Whole percentages, so that they are the same everywhere.
    Drive {
        /// -100 (backwards) to 100 (forwards); what is beyond counts as that.
        speed: i8,
        /// -100 (clockwise) to 100 (counter-clockwise); what is beyond counts as that.
        turn: i8,
    },
    /// Fires a shot, if a slot is loaded.
    Fire,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A shot hit a tank, which is out.
    Hit {
        /// Who shot.
        shooter: HostId,
        /// Whose tank was hit.
        target: HostId,
        /// The shot's number among the shooter's.
        shot: u32,
    },
}

/// Everything that changes in the course of the game.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Saved {
    tanks: Vec<Tank>,
    shots: Vec<Shot>,
}

/// The game. Player `n` is `HostId(n)`, and its tank is `EntityId(n)`.
#[derive(Clone, Debug)]
pub struct Arena {
    rules: Rules,
    seed: u64,
    field: Field,
    now: Saved,
    /// Where tanks are, for shots to find. Made anew in every step: no part of the state.
    grid: Grid,
}

impl Arena {
    /// The game as it starts, tanks at places that follow from the seed.
    pub fn new(rules: Rules, players: u32, seed: u64) -> Result<Self, SetupError> {
        Self::check(&rules, players)?;
        let field = Field::new(rules.half_side.into());
        let grid = Grid::new(field.half_side());
        let mut arena = Self { rules, seed, field, now: Saved::default(), grid };
        for player in 0..players {
            let (position, heading) = spawn::place(seed, player, 0, &arena.field, &arena.now.tanks);
            arena.now.tanks.push(Tank::new(position, heading));
        }
        Ok(arena)
    }

    /// What was chosen.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The walls.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// The tanks by player, those that are out too.
    pub fn tanks(&self) -> &[Tank] {
        &self.now.tanks
    }

    /// A player's tank, also if it is out.
    pub fn tank(&self, player: HostId) -> Option<&Tank> {
        self.now.tanks.get(player.0 as usize)
    }

    /// The shots that are under way, in the order they were fired.
    pub fn shots(&self) -> &[Shot] {
        &self.now.shots
    }

    fn living(&self, player: HostId) -> Option<&Tank> {
        self.tank(player).filter(|tank| tank.is_alive())
    }

    fn drive(&mut self) {
        for n in 0..self.now.tanks.len() {
            let tank = &mut self.now.tanks[n];
            if tank.step(&self.rules, &self.field) {
                let (player, deaths) = (n as u32, tank.deaths);
                let (position, heading) = spawn::place(self.seed, player, deaths, &self.field, &self.now.tanks);
                self.now.tanks[n].come_back(position, heading, &self.rules);
            }
        }
    }

    /// Moves the shots, and lets those that meet a tank strike.
    fn shoot(&mut self, verdicts: &mut Vec<Verdict>) {
        let Self { now: Saved { tanks, shots }, grid, field, .. } = self;
        if shots.is_empty() {
            return;
        }
        grid.fill(tanks);
        let dt = self.rules.step_length.as_secs_f64();
        let mut strikes: Vec<shot::Strike> = shots.iter_mut().filter_map(|s| s.fly(dt, field, grid, tanks)).collect();
        strikes.sort_by(|a, b| a.along.total_cmp(&b.along).then(a.shooter.cmp(&b.shooter)).then(a.shot.cmp(&b.shot)));
        let out = game::steps(OUT, self.rules.step_length);
        for strike in strikes {
            // A second shot strikes a wreck.
            if tanks[strike.target].is_alive() {
                tanks[strike.target].die(out);
                tanks[strike.shooter as usize].kills += 1;
                let (shooter, target) = (HostId(strike.shooter), HostId(strike.target as u32));
                verdicts.push(Verdict::Hit { shooter, target, shot: strike.shot });
            }
        }
        shots.retain(Shot::is_under_way);
    }
}

impl Simulation for Arena {
    type Act = Act;
    type Snapshot = Saved;
    type Verdict = Verdict;

    fn step_length(&self) -> Duration {
        self.rules.step_length
    }

    fn save(&self, into: &mut Saved) {
        into.tanks.clone_from(&self.now.tanks);
        into.shots.clone_from(&self.now.shots);
    }

    fn restore(&mut self, from: &Saved) {
        self.now.tanks.clone_from(&from.tanks);
        self.now.shots.clone_from(&from.shots);
    }

    fn step(&mut self, verdicts: &mut Vec<Verdict>) {
        self.drive();
        self.shoot(verdicts);
    }

    fn apply(&mut self, issuer: HostId, act: &Act, _verdicts: &mut Vec<Verdict>) {
        let Some(tank) = self.now.tanks.get_mut(issuer.0 as usize) else {
            return;
        };
        match *act {
            Act::Drive { speed, turn } => tank.want(speed, turn, &self.rules),
            Act::Fire => {
                let reload = game::steps(RELOAD, self.rules.step_length);
                let life = game::steps(SHOT_LIFE, self.rules.step_length);
                if tank.fire(reload) {
                    self.now.shots.push(Shot::from_muzzle(issuer.0, tank, life));
                }
            }
        }
    }

    fn digest(&self) -> u64 {
        digest(|hasher| {
            self.now.tanks.iter().for_each(|tank| tank.write(hasher));
            hasher.write_u64(self.now.shots.len() as u64);
            self.now.shots.iter().for_each(|shot| shot.write(hasher));
        })
    }

    fn permits(&self, issuer: HostId, _act: &Act) -> bool {
        self.tank(issuer).is_some()
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        let players = (0..self.players()).map(HostId);
        out.extend(players.filter_map(|player| Some((EntityId(player.0), self.state(player)?))));
    }

    fn snapshot_bytes(snapshot: &Saved) -> usize {
        let (tanks, shots) = (snapshot.tanks.capacity(), snapshot.shots.capacity());
        size_of::<Saved>() + tanks * size_of::<Tank>() + shots * size_of::<Shot>()
    }
}

impl Game for Arena {
    const NAME: &'static str = "arena";
    type Rules = Rules;

    fn check(rules: &Rules, players: u32) -> Result<(), SetupError> {
        game::check(players, rules.step_length)?;
        if rules.half_side >= MIN_HALF_SIDE { Ok(()) } else { Err(SetupError::Rule("half_side_m")) }
    }

    fn start(rules: &Rules, players: u32, seed: u64) -> Result<Self, SetupError> {
        Self::new(*rules, players, seed)
    }

    fn players(&self) -> u32 {
        self.now.tanks.len() as u32
    }

    fn pose(&self, player: HostId) -> Option<Pose> {
        self.state(player).map(Pose::from)
    }

    fn state(&self, player: HostId) -> Option<State> {
        Some(self.living(player)?.state(&self.rules, &self.field))
    }

    fn write_rules(rules: &Rules) -> Vec<(&'static str, i64)> {
        let (step, half_side) = (rules.step_length.as_nanos(), rules.half_side.into());
        [("step_ns", step), ("half_side_m", half_side), ("inertia", rules.inertia.into())].into()
    }

    fn read_rule(rules: &mut Rules, name: &str, value: i64) -> bool {
        match (name, u16::try_from(value)) {
            ("step_ns", _) => rules.step_length = Duration::from_nanos(value),
            ("half_side_m", Ok(half_side)) => rules.half_side = half_side,
            ("inertia", Ok(inertia @ 0..=1)) => rules.inertia = inertia == 1,
            _ => return false,
        }
        true
    }

    fn write_act(act: &Act) -> (&'static str, String) {
        match *act {
            Act::Drive { speed, turn } => ("drive", format!("{speed} {turn}")),
            Act::Fire => ("fire", String::new()),
        }
    }

    fn read_act(name: &str, value: &str) -> Option<Act> {
        match name {
            "drive" => {
                let (speed, turn) = value.split_once(' ')?;
                Some(Act::Drive { speed: speed.parse().ok()?, turn: turn.parse().ok()? })
            }
            "fire" if value.is_empty() => Some(Act::Fire),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;

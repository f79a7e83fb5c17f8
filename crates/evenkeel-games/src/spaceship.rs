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

use crate::game::{self, Game, SetupError};
use crate::touch;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hasher;
use evenkeel::determinism::digest;
use evenkeel::{Attitude, Course, Duration, EntityId, HostId, Motion, Pose, Simulation, State, Vec3};

/// The width and height of the screen, whose middle is the origin. Pixels.
pub const FIELD: (f64, f64) = (800.0, 600.0);
/// How fast a ship can get. Pixels per second.
pub const TOP_SPEED: f64 = 160.0;
/// How fast it accelerates and decelerates. Pixels per second squared.
pub const THRUST: f64 = 80.0;
/// How fast it turns: 120 degrees per second, in radians per second.
pub const TURN_RATE: f64 = core::f64::consts::TAU / 3.0;
/// How far from a ship's middle it can be hit, and how far ahead its nose is. Pixels.
pub const RADIUS: f64 = 12.0;
/// How far a beam reaches from the nose. Pixels.
pub const BEAM_LENGTH: f64 = 250.0;
/// How long a ship cannot fire after it has fired.
pub const RELOAD: Duration = Duration::from_millis(400);
/// How far from the middle of the field ships start. Pixels.
const START_RADIUS: f64 = 200.0;

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

/// Which way a ship turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Turn {
    /// Straight on.
    #[default]
    None,
    /// Counter-clockwise.
    Left,
    /// Clockwise.
    Right,
}

impl Turn {
    /// Radians per second.
    pub fn rate(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Left => TURN_RATE,
            Self::Right => -TURN_RATE,
        }
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

/// A ship.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ship {
    /// Where its middle is. Pixels.
    pub position: Vec3,
    /// Where its nose points, radians counter-clockwise from x.
    pub heading: f64,
    /// How fast it flies where its nose points. Pixels per second.
    pub speed: f64,
    /// Whether its pilot holds the key to accelerate.
    pub accelerates: bool,
    /// Whether its pilot holds the key to decelerate.
    pub decelerates: bool,
    /// Which way its pilot turns it.
    pub turn: Turn,
    /// Life points; removed at 0.
    pub life: u8,
    /// Steps until the laser is ready.
    pub reload: u32,
    /// Whether its laser fires at this tick.
    pub fires: bool,
}

impl Ship {
    fn new(number: u32, of: u32, life: u8) -> Self {
        // On a circle around the middle, noses inwards.
        let bearing = core::f64::consts::TAU * f64::from(number) / f64::from(of);
        Self {
            position: Vec3::from_heading(bearing) * -START_RADIUS,
            heading: evenkeel::wrap_angle(bearing),
            speed: 0.0,
            accelerates: false,
            decelerates: false,
            turn: Turn::None,
            life,
            reload: 0,
            fires: false,
        }
    }

    /// Whether it is still in the game.
    pub fn is_alive(&self) -> bool {
        self.life > 0
    }

    /// The beam of this tick, from end to end, if its laser fires.
    pub fn beam(&self) -> Option<(Vec3, Vec3)> {
        let ahead = Vec3::from_heading(self.heading);
        let nose = self.position + ahead * RADIUS;
        self.fires.then(|| (nose, nose + ahead * BEAM_LENGTH))
    }

    /// The speed after so many seconds, if the keys stay as they are.
    fn speed_after(&self, dt: f64) -> f64 {
        let thrust = THRUST * (f64::from(u8::from(self.accelerates)) - f64::from(u8::from(self.decelerates)));
        (self.speed + thrust * dt).clamp(0.0, TOP_SPEED)
    }

    /// How it goes on in the next step: exactly what dead reckoning with a turning acceleration extrapolates.
    fn motion(&self, dt: f64) -> Motion {
        let ahead = Vec3::from_heading(self.heading);
        let acceleration = ahead * ((self.speed_after(dt) - self.speed) / dt);
        Motion {
            position: self.position,
            course: Course::Turning { velocity: ahead * self.speed, acceleration },
            attitude: Attitude::Heading { heading: self.heading, turn_rate: self.turn.rate() },
        }
    }

    fn fly(&mut self, dt: f64) {
        let motion = self.motion(dt);
        self.position = motion.position_at(dt);
        self.heading = motion.attitude.at(dt).heading();
        self.speed = self.speed_after(dt);
        self.reload = self.reload.saturating_sub(1);
    }

    fn write(&self, hasher: &mut dyn Hasher) {
        for number in [self.position.x, self.position.y, self.heading, self.speed] {
            hasher.write_u64(number.to_bits());
        }
        hasher.write_u32(self.reload);
        let turn = match self.turn {
            Turn::None => 0,
            Turn::Left => 1,
            Turn::Right => 2,
        };
        for small in [self.accelerates.into(), self.decelerates.into(), turn, self.life, self.fires.into()] {
            hasher.write_u8(small);
        }
    }
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
        game::check(players, rules.step_length)?;
        if rules.life == 0 {
            return Err(SetupError::Rule("life"));
        }
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

    /// The seed changes nothing: ships start on a circle.
    fn start(rules: &Rules, players: u32, _seed: u64) -> Result<Self, SetupError> {
        Self::new(*rules, players)
    }

    fn players(&self) -> u32 {
        self.ships.len() as u32
    }

    /// With the acceleration and the turn rate that the next step will have. `MotionKind::Turning` extrapolates them exactly.
    fn pose(&self, player: HostId) -> Option<Pose> {
        let motion = self.living(player)?.motion(self.dt());
        let Course::Turning { velocity, acceleration } = motion.course else { return None };
        let pose = Pose::at(motion.position).facing(motion.attitude.heading()).turning(motion.attitude.turn_rate());
        Some(pose.moving(velocity).accelerating(acceleration))
    }

    fn state(&self, player: HostId) -> Option<State> {
        let ship = self.living(player)?;
        Some(State {
            position: ship.position,
            velocity: Vec3::from_heading(ship.heading) * ship.speed,
            attitude: Attitude::Heading { heading: ship.heading, turn_rate: ship.turn.rate() },
        })
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
mod tests {
    use super::*;
    use evenkeel::MotionKind;

    fn duel() -> Spaceship {
        Spaceship::new(Rules { life: 2, ..Rules::default() }, 2).unwrap()
    }

    fn run(game: &mut Spaceship, steps: u32) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        (0..steps).for_each(|_| game.step(&mut verdicts));
        verdicts
    }

    fn act(game: &mut Spaceship, player: u32, act: Act) {
        game.apply(HostId(player), &act, &mut Vec::new());
    }

    /// Brings the first two ships within reach of each other's beams.
    fn approach(game: &mut Spaceship) {
        for player in 0..2 {
            act(game, player, Act::Accelerate(true));
        }
        run(game, 80);
    }

    #[test]
    fn a_ship_gets_to_its_top_speed_and_stops_without_reversing() {
        let mut game = duel();
        act(&mut game, 0, Act::Accelerate(true));
        run(&mut game, 150);
        assert_eq!(game.ships[0].speed, TOP_SPEED);
        assert!((game.ships[0].position.x - (-200.0 + 160.0 + 160.0)).abs() < 1e-9);
        act(&mut game, 0, Act::Accelerate(false));
        act(&mut game, 0, Act::Decelerate(true));
        run(&mut game, 150);
        assert_eq!(game.ships[0].speed, 0.0);
        assert_eq!(game.ships[1], duel().ships[1]);
    }

    #[test]
    fn dead_reckoning_foresees_what_nobody_operates() {
        let mut game = duel();
        act(&mut game, 0, Act::Accelerate(true));
        act(&mut game, 0, Act::Turn(Turn::Left));
        run(&mut game, 10);
        let foreseen = game.pose(HostId(0)).unwrap().motion(MotionKind::Turning).at(1.0);
        run(&mut game, 50);
        let state = game.state(HostId(0)).unwrap();
        assert!(foreseen.position.distance(state.position) < 1e-9);
        assert!(foreseen.velocity.distance(state.velocity) < 1e-9);
        assert!(foreseen.attitude.angle_to(&state.attitude) < 1e-12);
    }

    #[test]
    fn beams_take_life_until_the_ship_is_removed() {
        let mut game = duel();
        act(&mut game, 0, Act::Fire);
        assert_eq!(run(&mut game, 30), [], "out of reach");
        approach(&mut game);
        act(&mut game, 0, Act::Fire);
        assert!(game.ships[0].beam().is_some());
        let hit = |life_left| Verdict::Hit { shooter: HostId(0), target: HostId(1), life_left };
        assert_eq!(run(&mut game, 1), [hit(1)]);
        act(&mut game, 0, Act::Fire);
        assert_eq!(run(&mut game, 19), [], "not ready");
        act(&mut game, 0, Act::Fire);
        assert_eq!(run(&mut game, 1), [hit(0), Verdict::Removed { ship: HostId(1) }]);
        assert!(game.pose(HostId(1)).is_none() && game.pose(HostId(0)).is_some());
        let mut places = Vec::new();
        game.places(&mut places);
        assert_eq!(places.len(), 1);
        let before = game.clone();
        act(&mut game, 1, Act::Fire);
        assert_eq!(game, before, "who has lost does nothing");
    }

    #[test]
    fn beams_of_one_tick_strike_at_once() {
        let mut game = Spaceship::new(Rules { life: 1, ..Rules::default() }, 2).unwrap();
        approach(&mut game);
        act(&mut game, 0, Act::Fire);
        act(&mut game, 1, Act::Fire);
        let removed: Vec<Verdict> =
            run(&mut game, 1).into_iter().filter(|v| matches!(v, Verdict::Removed { .. })).collect();
        assert_eq!(removed.len(), 2);
        assert!(game.ships.iter().all(|ship| ship.beam().is_none()));
    }

    #[test]
    fn only_players_are_permitted() {
        let mut game = duel();
        assert!(game.permits(HostId(1), &Act::Fire) && !game.permits(HostId(2), &Act::Fire));
        let before = game.clone();
        act(&mut game, 2, Act::Fire);
        assert_eq!(game, before);
    }

    #[test]
    fn games_that_cannot_be_played_are_refused() {
        let refused = |rules, players| Spaceship::new(rules, players).unwrap_err();
        let rules = Rules::default();
        assert_eq!(refused(rules, 0), SetupError::Players(0));
        assert_eq!(refused(Rules { life: 0, ..rules }, 2), SetupError::Rule("life"));
        let error = refused(Rules { step_length: Duration::ZERO, ..rules }, 2);
        assert_eq!(alloc::format!("{error}"), "a step takes 1 ms to 250 ms, not 0 ms");
    }
}

//! One player's own ship.

use super::{RADIUS, RELOAD, Rules, Ship, Spaceship, Turn};
use crate::game::{self, Game, SetupError};
use crate::solo::Craft;
use crate::words::Shot;
use evenkeel::{Duration, GlobalTime, Pose, State, Vec3};

/// How long a ship that was hit is out, where owners move their ships.
pub const OUT: Duration = Duration::from_secs(5);
/// So many places there are to start from.
const PLACES: u32 = 16;

/// One player's own ship, moved by its owner: a [`Craft`]. One beam puts it out, for a while.
#[derive(Clone, Debug)]
pub struct Solo {
    rules: Rules,
    player: u32,
    ship: Ship,
    out: u32,
    fired: u32,
    deaths: u32,
}

impl Solo {
    /// A ship at a place that follows from the player's number.
    pub fn new(rules: Rules, player: u32) -> Result<Self, SetupError> {
        Spaceship::check(&rules, 1)?;
        Ok(Self { rules, player, ship: start(player, 0), out: 0, fired: 0, deaths: 0 })
    }

    /// The ship itself, also if it is out.
    pub fn ship(&self) -> &Ship {
        &self.ship
    }

    fn dt(&self) -> f64 {
        self.rules.step_length.as_secs_f64()
    }
}

/// Neighbours in number are not neighbours in place, and who comes back does so elsewhere.
fn start(player: u32, deaths: u32) -> Ship {
    let place = player.wrapping_mul(5).wrapping_add(deaths.wrapping_mul(7)) % PLACES;
    Ship::new(place, PLACES, 1)
}

impl Craft for Solo {
    fn step_length(&self) -> Duration {
        self.rules.step_length
    }

    fn want(&mut self, speed: i8, turn: i8) {
        (self.ship.accelerates, self.ship.decelerates) = (speed > 0, speed < 0);
        self.ship.turn = match turn.signum() {
            1 => Turn::Left,
            -1 => Turn::Right,
            _ => Turn::None,
        };
    }

    fn fire(&mut self, at: GlobalTime) -> Option<Shot> {
        if self.out > 0 || self.ship.reload > 0 {
            return None;
        }
        self.ship.reload = game::steps(RELOAD, self.rules.step_length);
        self.fired += 1;
        let heading = self.ship.heading;
        let position = self.ship.position + Vec3::from_heading(heading) * RADIUS;
        Some(Shot { number: self.fired, at, position, heading })
    }

    fn step(&mut self) {
        if self.out == 0 {
            self.ship.fly(self.dt());
            return;
        }
        self.out -= 1;
        if self.out == 0 {
            let Ship { accelerates, decelerates, turn, .. } = self.ship;
            self.ship = Ship { accelerates, decelerates, turn, ..start(self.player, self.deaths) };
        }
    }

    fn hit(&mut self) {
        if self.out == 0 {
            self.out = game::steps(OUT, self.rules.step_length);
            self.deaths += 1;
        }
    }

    fn state(&self) -> Option<State> {
        (self.out == 0).then(|| self.ship.state())
    }

    fn pose_after(&self, span: Duration) -> Pose {
        if self.out > 0 {
            return Pose::at(self.ship.position).moving(Vec3::ZERO).facing(self.ship.heading).turning(0.0);
        }
        Ship::pose(&self.ship.motion(self.dt()).advanced(span.as_secs_f64()))
    }

    fn out(&self) -> Duration {
        self.rules.step_length * i64::from(self.out)
    }

    fn loaded(&self) -> usize {
        usize::from(self.ship.reload == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spaceship::Act;
    use evenkeel::{HostId, Simulation};

    #[test]
    fn it_flies_as_in_the_game() {
        let mut solo = Solo::new(Rules::default(), 0).unwrap();
        let mut game = Spaceship::new(Rules::default(), 1).unwrap();
        for step in 0..500u32 {
            let (speed, turn) =
                (if step < 150 { 100 } else { -(step as i8 & 1) }, [0, 100, -100][step as usize / 60 % 3]);
            solo.want(speed, turn);
            let turn = [Turn::Right, Turn::None, Turn::Left][(turn.signum() + 1) as usize];
            for act in [Act::Accelerate(speed > 0), Act::Decelerate(speed < 0), Act::Turn(turn)] {
                game.apply(HostId(0), &act, &mut std::vec![]);
            }
            assert_eq!((solo.state(), Some(solo.pose())), (game.state(HostId(0)), game.pose(HostId(0))));
            solo.step();
            game.step(&mut std::vec![]);
            assert_eq!(solo.ship().position, game.ships()[0].position);
        }
    }

    #[test]
    fn who_is_hit_stands_and_comes_back_elsewhere() {
        let mut solo = Solo::new(Rules::default(), 3).unwrap();
        solo.want(100, 0);
        (0..50).for_each(|_| solo.step());
        let beam = solo.fire(GlobalTime::ZERO).expect("it is ready");
        assert!((beam.beam().0.distance(solo.ship().position) - RADIUS).abs() < 1e-9);
        assert!(solo.fire(GlobalTime::ZERO).is_none(), "not loaded");
        let place = solo.ship().position;
        solo.hit();
        (1..250).for_each(|_| solo.step());
        assert_eq!((solo.pose().position(), solo.state()), (place, None));
        solo.step();
        assert!(solo.state().expect("it is back").position.distance(place) > 1.0);
    }
}

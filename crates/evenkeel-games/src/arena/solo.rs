//! One player's own tank.

use super::{Arena, Field, OUT, RELOAD, Rules, Tank, spawn};
use crate::game::{self, Game, SetupError};
use crate::solo::Craft;
use crate::words;
use evenkeel::{Duration, GlobalTime, MotionKind, Pose, State, Vec3};

/// One player's own tank on the field, moved by its owner. It knows nothing of the others: a [`Craft`].
#[derive(Clone, Debug)]
pub struct Solo {
    rules: Rules,
    player: u32,
    seed: u64,
    field: Field,
    tank: Tank,
}

impl Solo {
    /// A tank at a place that follows from the seed and the player's number.
    pub fn new(rules: Rules, player: u32, seed: u64) -> Result<Self, SetupError> {
        Arena::check(&rules, 1)?;
        let field = Field::new(rules.half_side.into());
        let (position, heading) = spawn::place(seed, player, 0, &field, &[]);
        Ok(Self { rules, player, seed, field, tank: Tank::new(position, heading) })
    }

    /// The tank itself, also if it is out.
    pub fn tank(&self) -> &Tank {
        &self.tank
    }

    /// The walls.
    pub fn field(&self) -> &Field {
        &self.field
    }
}

impl Craft for Solo {
    fn step_length(&self) -> Duration {
        self.rules.step_length
    }

    fn want(&mut self, speed: i8, turn: i8) {
        let inertia = self.rules.inertia;
        // Who is out keeps its hands on the levers, and stands all the same.
        let rules = Rules { inertia: inertia || !self.tank.is_alive(), ..self.rules };
        self.tank.want(speed, turn, &rules);
    }

    fn fire(&mut self, at: GlobalTime) -> Option<words::Shot> {
        let reload = game::steps(RELOAD, self.rules.step_length);
        self.tank.fire(reload).then(|| {
            let shot = super::Shot::from_muzzle(self.player, &self.tank, 0);
            words::Shot { number: shot.number, at, position: shot.position, heading: self.tank.heading }
        })
    }

    fn step(&mut self) {
        if self.tank.step(&self.rules, &self.field) {
            let (position, heading) = spawn::place(self.seed, self.player, self.tank.deaths, &self.field, &[]);
            self.tank.come_back(position, heading, &self.rules);
        }
    }

    fn hit(&mut self) {
        if self.tank.is_alive() {
            self.tank.die(game::steps(OUT, self.rules.step_length));
        }
    }

    fn state(&self) -> Option<State> {
        self.tank.is_alive().then(|| self.tank.state(&self.rules, &self.field))
    }

    fn pose_after(&self, span: Duration) -> Pose {
        let Some(state) = self.state() else {
            return Pose::at(self.tank.position).moving(Vec3::ZERO).facing(self.tank.heading).turning(0.0);
        };
        Pose::from(Pose::from(state).motion(MotionKind::Auto).at(span.as_secs_f64()))
    }

    fn out(&self) -> Duration {
        self.rules.step_length * i64::from(self.tank.out)
    }

    fn loaded(&self) -> usize {
        self.tank.loaded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Act, SLOTS};
    use evenkeel::{HostId, Simulation};

    #[test]
    fn it_drives_and_fires_as_in_the_game() {
        for inertia in [false, true] {
            let rules = Rules { inertia, ..Rules::default() };
            let (mut solo, mut game) = (Solo::new(rules, 0, 7).unwrap(), Arena::new(rules, 1, 7).unwrap());
            for step in 0..2_000u32 {
                let (speed, turn) = ((step % 201) as i8, (step / 7 % 201) as i8);
                solo.want(speed, turn);
                game.apply(HostId(0), &Act::Drive { speed, turn }, &mut std::vec![]);
                let fired = solo.fire(GlobalTime::ZERO);
                let under_way = game.shots().len();
                game.apply(HostId(0), &Act::Fire, &mut std::vec![]);
                assert_eq!(fired.map(|shot| shot.position), game.shots().get(under_way).map(|shot| shot.position));
                solo.step();
                game.step(&mut std::vec![]);
                assert_eq!(Some(solo.tank()), game.tank(HostId(0)));
                assert_eq!(solo.state(), game.state(HostId(0)));
                assert_eq!(solo.pose().position(), solo.tank().position);
            }
        }
    }

    #[test]
    fn who_is_hit_stands_and_comes_back_elsewhere() {
        let mut solo = Solo::new(Rules::default(), 5, 7).unwrap();
        solo.want(100, 100);
        solo.step();
        let place = solo.tank().position;
        solo.hit();
        solo.hit();
        assert_eq!((solo.tank().deaths, solo.out()), (1, OUT));
        solo.want(100, 0);
        for _ in 1..250 {
            solo.step();
            let pose = solo.pose_after(Duration::from_millis(15));
            assert_eq!((pose.position(), pose.attitude().turn_rate()), (place, 0.0));
            assert!(solo.state().is_none() && solo.fire(GlobalTime::ZERO).is_none());
        }
        solo.step();
        let back = solo.state().expect("it is back");
        assert!(back.position.distance(place) > 1.0 && back.velocity.length() > 24.0);
        assert_eq!(solo.loaded(), SLOTS);
    }

    #[test]
    fn between_steps_it_goes_on() {
        let mut solo = Solo::new(Rules::default(), 5, 7).unwrap();
        solo.want(100, 60);
        (0..10).for_each(|_| solo.step());
        let foreseen = solo.pose_after(Duration::from_millis(20));
        solo.step();
        assert!(foreseen.position().distance(solo.pose().position()) < 1e-9);
        assert!((foreseen.attitude().heading() - solo.tank().heading).abs() < 1e-9);
    }
}

//! A thousand entities for the measurement of servers: who keeps its course, and who takes another.

use crate::contender::TICK;
use evenkeel::{Motion, Pose, Vec3};
use evenkeel_link::Noise;
use std::f64::consts::{PI, TAU};

/// One entity on its course.
#[derive(Clone)]
struct Walker {
    course: Motion,
    /// The tick at which it took it.
    since: u32,
    position: Vec3,
}

/// All of them.
#[derive(Clone)]
pub struct Crowd {
    walkers: Vec<Walker>,
    noise: Noise,
    tick: u32,
}

impl Crowd {
    /// So many, each somewhere on a grid 500 m wide.
    pub fn new(entities: u32, seed: u64) -> Self {
        let noise = Noise::new(seed, 0);
        let walker = |i: u32| {
            let position = Vec3::new(f64::from(i % 32) * 16.0 - 250.0, f64::from(i / 32) * 16.0 - 250.0, 0.0);
            Walker { course: Motion::circular(position, 0.0, 20.0, 0.0), since: 0, position }
        };
        Self { walkers: (0..entities).map(walker).collect(), noise, tick: 0 }
    }

    /// Time goes on by a tick. Those for whom `turns` holds have gone another way since the last.
    pub fn step(&mut self, turns: impl Fn(u32, u32) -> bool) {
        self.tick += 1;
        let (tick, noise) = (self.tick, self.noise);
        for (i, walker) in (0..).zip(&mut self.walkers) {
            if turns(i, tick) {
                let draw = |lane| noise.uniform(i64::from(i) << 32 | i64::from(tick), lane);
                walker.turn(tick, [draw(0), draw(1), draw(2)]);
            }
            walker.position = walker.course.position_at(f64::from(tick - walker.since) * TICK.as_secs_f64());
        }
    }

    /// How many ticks have passed.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Where everybody is now.
    pub fn poses(&self) -> impl Iterator<Item = (u32, Pose)> {
        let pose = |(i, walker): (u32, &Walker)| {
            let seconds = f64::from(self.tick - walker.since) * TICK.as_secs_f64();
            (i, Pose::from(walker.course.at(seconds)))
        };
        (0..).zip(&self.walkers).map(pose)
    }
}

impl Walker {
    /// Another heading, at least a quarter turn away, another speed and another turn rate. What no format rounds stays
    /// as it is, so that nobody leaves an exported path but by turning.
    fn turn(&mut self, tick: u32, draw: [f64; 3]) {
        let heading = self.course.attitude.heading() + PI / 2.0 + draw[0] * PI;
        let speed = ((15.0 + 10.0 * draw[1]) * 100.0).round() / 100.0;
        let turn_rate = ((draw[2] - 0.5) * 1600.0).round() / 1000.0;
        let position = self.position + Vec3::from_heading(heading) * (speed * TICK.as_secs_f64());
        *self = Self {
            course: Motion::circular(position, heading.rem_euclid(TAU), speed, turn_rate),
            since: tick,
            position,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_turns_leaves_the_old_course_at_once_and_nobody_else_does() {
        let mut crowd = Crowd::new(50, 7);
        for tick in 1..200 {
            let before: Vec<Pose> = crowd.poses().map(|(_, pose)| pose).collect();
            crowd.step(|entity, tick| (entity + tick).is_multiple_of(3));
            for ((id, pose), before) in crowd.poses().zip(before) {
                let expected = before.motion(evenkeel::MotionKind::Auto).position_at(TICK.as_secs_f64());
                let off = pose.position().distance(expected);
                assert_eq!(off > 0.12, (id + tick).is_multiple_of(3), "{id} is {off} m off in tick {tick}");
            }
        }
    }
}

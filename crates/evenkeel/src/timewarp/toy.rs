//! A small game for tests: the order of its operations matters, and both steps and operations come to verdicts.

use crate::determinism;
use crate::geometry::Vec3;
use crate::ids::{EntityId, HostId};
use crate::motion::{Attitude, State};
use crate::simulation::{Operation, Simulation, Tick};
use crate::time::{Duration, GlobalTime};
use std::vec::Vec;

pub(crate) const STEP: Duration = Duration::from_millis(20);
pub(crate) const PLAYERS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
struct Body {
    x: f64,
    v: f64,
    heading: f64,
    health: i32,
}

/// Bodies on a line. Each player has one; body n belongs to host n.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Toy {
    bodies: Vec<Body>,
    luck: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    Steer(f64),
    Shoot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Hit { by: u32, target: u32 },
    Goal(u32),
}

impl Default for Toy {
    fn default() -> Self {
        let body = |n| Body { x: f64::from(n), v: 0.0, heading: 0.0, health: 3 };
        Self { bodies: (0..PLAYERS).map(body).collect(), luck: 1 }
    }
}

impl Toy {
    pub(crate) fn x(&self, body: u32) -> f64 {
        self.bodies[body as usize].x
    }
}

impl Simulation for Toy {
    type Act = Act;
    type Snapshot = Self;
    type Verdict = Verdict;

    fn step_length(&self) -> Duration {
        STEP
    }

    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }

    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }

    fn step(&mut self, verdicts: &mut Vec<Verdict>) {
        self.luck = self.luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for (n, body) in self.bodies.iter_mut().enumerate() {
            body.x += body.v * STEP.as_secs_f64();
            body.heading = libm::sin(body.x);
            if body.x > 5.0 {
                body.x = 0.0;
                verdicts.push(Verdict::Goal(n as u32));
            }
        }
    }

    fn apply(&mut self, issuer: HostId, act: &Act, verdicts: &mut Vec<Verdict>) {
        let by = issuer.0;
        match *act {
            Act::Steer(a) => self.bodies[by as usize].v = 0.5 * self.bodies[by as usize].v + a,
            Act::Shoot => {
                self.luck = self.luck.rotate_left(by + 1) ^ 0x9E37;
                let from = self.x(by);
                for (n, body) in self.bodies.iter_mut().enumerate() {
                    if n as u32 != by && libm::fabs(body.x - from) < 1.05 + (self.luck % 7) as f64 * 0.1 {
                        body.health -= 1;
                        body.x -= 0.25;
                        verdicts.push(Verdict::Hit { by, target: n as u32 });
                    }
                }
            }
        }
    }

    fn digest(&self) -> u64 {
        determinism::digest(|hasher| {
            hasher.write_u64(self.luck);
            for body in &self.bodies {
                [body.x, body.v, body.heading].iter().for_each(|n| hasher.write_u64(n.to_bits()));
                hasher.write_i32(body.health);
            }
        })
    }

    fn permits(&self, issuer: HostId, _: &Act) -> bool {
        issuer.0 < PLAYERS
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        out.extend(self.bodies.iter().zip(0..).filter(|(body, _)| body.health > 0).map(|(body, n)| {
            let attitude = Attitude::Heading { heading: body.heading, turn_rate: 0.0 };
            let state =
                State { position: Vec3::new(body.x, 0.0, 0.0), velocity: Vec3::new(body.v, 0.0, 0.0), attitude };
            (EntityId(n), state)
        }));
    }
}

/// An operation that is executed at a tick.
pub(crate) fn operation(tick: i64, issuer: u32, sequence: u32, act: Act) -> Operation<Act> {
    Operation { at: time(tick), issuer: HostId(issuer), sequence, act }
}

pub(crate) fn time(tick: i64) -> GlobalTime {
    Tick(tick).time(STEP)
}

/// The state and the verdicts that everybody should come to, by plain execution.
pub(crate) fn in_order(operations: &[Operation<Act>], until: i64) -> (Toy, Vec<(Tick, Verdict)>) {
    let mut sorted = operations.to_vec();
    sorted.sort_by_key(|o| (Tick::at_or_after(o.at, STEP), o.issuer, o.sequence));
    sorted.dedup_by_key(|o| (o.issuer, o.sequence));
    let (mut toy, mut all, mut reached) = (Toy::default(), Vec::new(), Vec::new());
    for tick in 0..=until {
        if tick > 0 {
            toy.step(&mut reached);
        }
        for o in sorted.iter().filter(|o| Tick::at_or_after(o.at, STEP) == Tick(tick)) {
            toy.apply(o.issuer, &o.act, &mut reached);
        }
        all.extend(reached.drain(..).map(|verdict| (Tick(tick), verdict)));
    }
    (toy, all)
}

//! What going back in time costs: a rollback of 300 ms against plainly stepping as many ticks, and the memory of the past.
//!
//! `cargo run --release -p evenkeel --example timewarp_cost`
//!
//! What to look for: the ratio. Both are measured in turn within one run, so that the machine's mood cancels out.

use evenkeel::timewarp::{Timewarp, TimewarpConfig};
use evenkeel::{
    Attitude, Duration, EntityId, GlobalTime, HostId, Operation, Simulation, State, Tick, Vec3, determinism,
};
use std::error::Error;
use std::time::Instant;

const ENTITIES: usize = 1_000;
const TICKS: i64 = 18;
const RUNS: usize = 301;

#[derive(Clone, Copy)]
struct Car {
    position: Vec3,
    speed: f64,
    heading: f64,
    turn_rate: f64,
}

/// Cars on a plane.
#[derive(Clone, Default)]
struct Cars(Vec<Car>);

impl Simulation for Cars {
    type Act = (usize, f64);
    type Snapshot = Self;
    type Verdict = usize;

    fn step_length(&self) -> Duration {
        Duration::from_nanos(16_666_667)
    }

    fn save(&self, into: &mut Self) {
        into.0.clone_from(&self.0); // its memory is used again
    }

    fn restore(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }

    fn step(&mut self, _: &mut Vec<usize>) {
        let dt = self.step_length().as_secs_f64();
        for car in &mut self.0 {
            car.heading += car.turn_rate * dt;
            let (sin, cos) = libm::sincos(car.heading);
            car.position += Vec3::new(cos, sin, 0.0) * (car.speed * dt);
        }
    }

    fn apply(&mut self, _: HostId, (car, turn_rate): &(usize, f64), _: &mut Vec<usize>) {
        self.0[*car].turn_rate = *turn_rate;
    }

    fn digest(&self) -> u64 {
        determinism::digest(|hasher| {
            for car in &self.0 {
                let Vec3 { x, y, z } = car.position;
                [x, y, z, car.speed, car.heading, car.turn_rate].iter().for_each(|n| hasher.write_u64(n.to_bits()));
            }
        })
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        out.extend(self.0.iter().zip(0..).map(|(car, n)| {
            let attitude = Attitude::Heading { heading: car.heading, turn_rate: car.turn_rate };
            (EntityId(n), State { position: car.position, velocity: Vec3::ZERO, attitude })
        }));
    }

    fn snapshot_bytes(snapshot: &Self) -> usize {
        size_of::<Self>() + snapshot.0.capacity() * size_of::<Car>()
    }
}

fn cars() -> Cars {
    let car = |n| Car { position: Vec3::new(n as f64, 0.0, 0.0), speed: 10.0, heading: n as f64 * 0.1, turn_rate: 0.3 };
    Cars((0..ENTITIES).map(car).collect())
}

fn median(mut micros: Vec<f64>) -> f64 {
    micros.sort_by(f64::total_cmp);
    micros[micros.len() / 2]
}

fn measure(snapshot_every: u32) -> Result<(), Box<dyn Error>> {
    let mut plain = cars();
    let step = plain.step_length();
    let config = TimewarpConfig { snapshot_every, ..TimewarpConfig::default() };
    let mut warp = Timewarp::new(cars(), config, GlobalTime::ZERO)?;
    let mut tick = Tick(90);
    warp.advance(tick.time(step))?; // the history is full
    let (mut stepping, mut going_back) = (Vec::new(), Vec::new());
    let mut verdicts = Vec::new();
    for run in 0..RUNS {
        let start = Instant::now();
        for _ in 0..TICKS {
            plain.step(&mut verdicts);
        }
        stepping.push(start.elapsed().as_secs_f64() * 1e6);

        let at = Tick(tick.0 - TICKS).time(step);
        let act = (run % ENTITIES, 0.5 + run as f64 * 1e-3);
        warp.handle_operation(Operation { at, issuer: HostId(1), sequence: run as u32, act }, tick.time(step))?;
        let start = Instant::now();
        let advanced = warp.advance(tick.time(step))?;
        going_back.push(start.elapsed().as_secs_f64() * 1e6);
        assert!(advanced.stepped == 0 && advanced.replayed >= TICKS);

        while warp.poll_event().is_some() {}
        tick = tick.next();
        warp.advance(tick.time(step))?;
    }
    let (stepping, going_back) = (median(stepping), median(going_back));
    println!(
        "a state every {snapshot_every:2} ticks: {TICKS} ticks of {ENTITIES} entities: plainly {stepping:.0} µs, by rollback \
         {going_back:.0} µs, ratio {:.2}; the past takes {} KiB",
        going_back / stepping,
        warp.memory_bytes() / 1024
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    [1, 2, 6].into_iter().try_for_each(measure)
}

//! Players come and go while evening moves around the world: what is gained and what it costs to keep the servers near them.
//!
//! `cargo run --release -p evenkeel-sites --example churn`

use std::{collections::VecDeque, time::Duration};

use evenkeel_sites::{
    Objective, Request, Site,
    live::{Keeper, Settings},
    solve,
};

const SITES: usize = 100;
/// How many play at the same time.
const PLAYERS: usize = 60;
const EVENTS: usize = 500;
/// How long all events take together: a day.
const DAY_S: f64 = 86_400.0;
/// How far it is around the world, in milliseconds.
const AROUND: f32 = 300.0;

/// Numbers from 0 to 1 that repeat themselves.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Round trips: the distance, up to a third as long again, and a few milliseconds.
    fn times(&mut self, from: (f32, f32), to: &[(f32, f32)]) -> Vec<f32> {
        let far = |b: &(f32, f32)| (from.0 - b.0).hypot(from.1 - b.1);
        to.iter().map(|b| far(b) * (1.0 + self.next() / 3.0) + 5.0 * self.next()).collect()
    }
}

/// Somebody comes, with these round-trip times, or the one who has played longest goes.
enum Event {
    Join(String, Vec<f32>),
    Leave(String),
}

struct World {
    sites: Vec<Site>,
    between: Vec<f32>,
    /// The first of them fill the world, before the day begins.
    events: Vec<Event>,
}

impl World {
    fn new() -> Self {
        let mut numbers = Numbers(7);
        let places: Vec<_> = (0..SITES).map(|_| (numbers.next() * AROUND, numbers.next() * 100.0)).collect();
        let between = places.iter().flat_map(|a| numbers.times(*a, &places)).collect();
        let sites = (0..SITES).map(|s| Site::new(format!("site {s}"))).collect();
        let (mut events, mut here) = (Vec::new(), VecDeque::new());
        for e in 0..PLAYERS + EVENTS {
            if e > PLAYERS && e % 2 == 1 {
                events.extend(here.pop_front().map(Event::Leave));
                continue;
            }
            let evening = AROUND * e.saturating_sub(PLAYERS) as f32 / EVENTS as f32;
            // Most play in the evening, within a sixth of the world; one in ten plays anywhere at any time.
            let spread = if numbers.next() < 0.1 { AROUND } else { AROUND / 6.0 };
            let x = (evening + (numbers.next() - 0.5) * spread).rem_euclid(AROUND);
            let name = format!("player {e}");
            here.push_back(name.clone());
            let place = (x, numbers.next() * 100.0);
            events.push(Event::Join(name, numbers.times(place, &places)));
        }
        Self { sites, between, events }
    }

    fn keeper(&self, request: Request, hysteresis: f64) -> Result<Keeper, Box<dyn std::error::Error>> {
        let settings = Settings { hysteresis, ..Settings::default() };
        Ok(Keeper::new(self.sites.clone(), self.between.clone(), request, settings)?)
    }
}

fn happens(keeper: &mut Keeper, event: &Event) -> Result<(), Box<dyn std::error::Error>> {
    match event {
        Event::Join(name, row) => keeper.join(name, 1.0, row)?,
        Event::Leave(name) => keeper.leave(name)?,
    }
    Ok(())
}

/// The objective after every event of the day, and how many servers were started.
struct Day {
    values: Vec<f64>,
    starts: usize,
}

/// Always the best servers, whatever it takes.
fn solving(world: &World, request: Request) -> Result<Day, Box<dyn std::error::Error>> {
    let mut keeper = world.keeper(request, 0.0)?;
    let (mut day, mut running) = (Day { values: Vec::new(), starts: 0 }, Vec::new());
    for (e, event) in world.events.iter().enumerate() {
        happens(&mut keeper, event)?;
        if e + 1 >= PLAYERS {
            let answer = solve(keeper.problem(), &request)?;
            if e >= PLAYERS {
                day.starts += answer.plan.servers.iter().filter(|s| !running.contains(*s)).count();
                day.values.push(answer.value);
            }
            running = answer.plan.servers;
        }
    }
    Ok(day)
}

/// What is advised.
fn keeping(world: &World, request: Request, hysteresis: f64) -> Result<Day, Box<dyn std::error::Error>> {
    let mut keeper = world.keeper(request, hysteresis)?;
    let mut day = Day { values: Vec::new(), starts: 0 };
    for (e, event) in world.events.iter().enumerate() {
        happens(&mut keeper, event)?;
        if e + 1 < PLAYERS {
            continue;
        }
        let now = Duration::from_secs_f64(DAY_S * (e + 1 - PLAYERS) as f64 / EVENTS as f64);
        if let Some(change) = keeper.advise(now) {
            keeper.accept(&change, now)?;
            day.starts += if e >= PLAYERS { change.start.len() } else { 0 };
        }
        if e >= PLAYERS {
            day.values.push(keeper.value()?);
        }
    }
    Ok(day)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::new();
    println!("{SITES} sites, {PLAYERS} players at a time, {EVENTS} events in a day; solving again at every event is 1");
    println!("| objective | hysteresis | objective, mean | worst | server starts | of |");
    println!("|---|---|---|---|---|---|");
    for (name, objective) in [("critical", Objective::Critical), ("mean", Objective::Mean)] {
        let request = Request { objective, max_servers: Some(6), ..Request::default() };
        let best = solving(&world, request)?;
        for percent in [0, 1, 3, 10] {
            let kept = keeping(&world, request, f64::from(percent) / 100.0)?;
            let ratios = || kept.values.iter().zip(&best.values).map(|(kept, best)| kept / best);
            let mean = ratios().sum::<f64>() / kept.values.len() as f64;
            let (worst, starts) = (ratios().fold(0.0, f64::max), kept.starts as f64 / best.starts as f64);
            println!(
                "| {name} | {percent} % | {mean:.4} | {worst:.4} | {starts:.3} | {} / {} |",
                kept.starts, best.starts
            );
        }
    }
    Ok(())
}

//! What one event costs compared with solving again, with many sites and players at random places.
//!
//! `cargo run --release -p evenkeel-sites --example join [sites] [players]`

use std::time::{Duration, Instant};

use evenkeel_sites::{
    Request, Site,
    live::{Keeper, KeeperError, Settings},
    solve,
};

/// How often each is measured.
const SOLVES: usize = 5;
const EVENTS: usize = 200;
/// How often advice is asked for.
const LOOKS: usize = 40;
/// No event may cost a larger part of solving again.
const MOST: f64 = 0.1;

/// Numbers from 0 to 1 that repeat themselves.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Round trips from a random place: the distance, up to half as long again, and a few milliseconds.
    fn row(&mut self, to: &[(f32, f32)]) -> Vec<f32> {
        let (x, y) = (self.next() * 200.0, self.next() * 100.0);
        to.iter().map(|b| (x - b.0).hypot(y - b.1) * (1.0 + self.next() / 2.0) + 5.0 * self.next()).collect()
    }
}

fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed().as_secs_f64(), done)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = std::env::args().skip(1).map(|size| size.parse::<usize>());
    let (m, n) = (sizes.next().unwrap_or(Ok(600))?, sizes.next().unwrap_or(Ok(1000))?);
    let mut numbers = Numbers(1);
    let places: Vec<_> = (0..m).map(|_| (numbers.next() * 200.0, numbers.next() * 100.0)).collect();
    let far = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).hypot(a.1 - b.1);
    let between = places.iter().flat_map(|a| places.iter().map(move |b| far(*a, *b) * 1.2)).collect();
    let sites = (0..m).map(|s| Site::new(format!("site {s}"))).collect();
    let mut keeper = Keeper::new(sites, between, Request::default(), Settings::default())?;
    for p in 0..n {
        keeper.join(&format!("player {p}"), 1.0, &numbers.row(&places))?;
    }
    let now = Duration::from_secs(1);
    if let Some(change) = keeper.advise(Duration::ZERO) {
        keeper.accept(&change, Duration::ZERO)?;
    }

    let (mut solves, mut joins, mut leaves, mut looks) = (vec![], vec![], vec![], vec![]);
    let mut event = |keeper: &mut Keeper, i: usize| -> Result<(), KeeperError> {
        let (name, row) = (format!("guest {i}"), numbers.row(&places));
        let (time, done) = seconds(|| keeper.join(&name, 1.0, &row));
        joins.push(time);
        done?;
        let (time, done) = seconds(|| keeper.leave(&format!("player {}", i % n)));
        leaves.push(time);
        done
    };
    for i in 0..EVENTS.min(n) {
        event(&mut keeper, i)?;
        if i % (EVENTS / SOLVES) == 0 {
            let (time, answer) = seconds(|| solve(keeper.problem(), &Request::default()));
            solves.push(time);
            answer?;
        }
        if i % (EVENTS / LOOKS) == 0 {
            // After the pause, but before it is time to solve everything again.
            looks.push(seconds(|| keeper.advise(now + Settings::default().pause)).0);
        }
    }
    let servers = keeper.servers().len();
    let solved = median(solves);
    println!("{m} sites, {n} players, {servers} servers; solving again: {:.1} ms", solved * 1e3);
    let mut worst: f64 = 0.0;
    for (what, times) in [("join", joins), ("leave", leaves), ("advice", looks)] {
        let (count, time) = (times.len(), median(times));
        // Advice is asked for now and then, not with every event.
        worst = if what == "advice" { worst } else { worst.max(time / solved) };
        println!("{what:>8}: {:9.4} ms, {:.6} of it (median of {count})", time * 1e3, time / solved);
    }
    if worst > MOST { Err(format!("{worst:.3} is more than {MOST}").into()) } else { Ok(()) }
}

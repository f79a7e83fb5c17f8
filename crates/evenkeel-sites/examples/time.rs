//! How long it takes: players and sites at random places, with detours.
//!
//! `cargo run --release -p evenkeel-sites --example time [sites] [players]`

use std::time::Instant;

use evenkeel_sites::{Lag, Objective, Player, Problem, Request, Rule, Site, Strategy, random_central, solve};

/// Numbers from 0 to 1 that repeat themselves.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Round trips are the distance, up to half as long again, and a few milliseconds.
    fn times(&mut self, from: &[(f32, f32)], to: &[(f32, f32)]) -> Vec<f32> {
        let mut times = Vec::with_capacity(from.len() * to.len());
        for a in from {
            for b in to {
                times.push((a.0 - b.0).hypot(a.1 - b.1) * (1.0 + self.next() / 2.0) + 5.0 * self.next());
            }
        }
        times
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = std::env::args().skip(1).map(|size| size.parse::<usize>());
    let (m, n) = (sizes.next().unwrap_or(Ok(600))?, sizes.next().unwrap_or(Ok(48))?);
    let mut numbers = Numbers(1);
    let mut places = |count| (0..count).map(|_| (numbers.next() * 200.0, numbers.next() * 100.0)).collect::<Vec<_>>();
    let (at, of) = (places(m), places(n));
    let (rtt, between) = (numbers.times(&of, &at), numbers.times(&at, &at));
    let sites = (0..m).map(|s| Site::new(format!("site {s}"))).collect();
    let players = (0..n).map(|p| Player::new(format!("player {p}"))).collect();
    let problem = Problem::new(players, sites, rtt, between)?;

    let by_lot = random_central(&problem, Lag::default())?;
    println!("{m} sites, {n} players; a server by lot: mean {:.1}, critical {:.1} ms", by_lot.mean, by_lot.max);
    let any = Request::default();
    let common = Request { lag: Lag::new(Rule::Common, 1.0)?, ..any };
    let some = Request { max_servers: Some(6), ..any };
    ask(&problem, "central", Request { strategy: Strategy::CentralCritical, ..any });
    ask(&problem, "heuristic", Request { strategy: Strategy::Heuristic, ..any });
    let best = ask(&problem, "critical", any);
    ask(&problem, "critical, common lag", common);
    ask(&problem, "critical, 2 servers", Request { max_servers: Some(2), ..any });
    ask(&problem, "mean", Request { objective: Objective::Mean, ..some });
    ask(&problem, "p95", Request { objective: Objective::Percentile(0.95), ..some });
    ask(&problem, "mean and deviation", Request { objective: Objective::MeanPlusStd, ..some });
    ask(&problem, "mean and critical", Request { objective: Objective::HalfMeanHalfMax, ..some });
    for slack in [1.0, 1.02, 1.1] {
        let limit = best.map(|best| best * slack);
        ask(&problem, "fewest servers", Request { objective: Objective::Servers, critical_limit: limit, ..any });
    }
    Ok(())
}

fn ask(problem: &Problem, what: &str, request: Request) -> Option<f64> {
    let start = Instant::now();
    let answer = solve(problem, &request);
    let seconds = start.elapsed().as_secs_f64();
    match answer {
        Ok(answer) => {
            let (value, gap, servers) = (answer.value, answer.gap * 100.0, answer.plan.servers.len());
            println!("{what:>22}: {value:8.3}, gap {gap:6.3} %, {servers:2} servers, {seconds:6.2} s");
            Some(value)
        }
        Err(error) => {
            println!("{what:>22}: {error}, {seconds:6.2} s");
            None
        }
    }
}

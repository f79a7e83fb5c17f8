//! Where to put servers for players on three continents.

use evenkeel_sites::{Player, Problem, Request, Site, Strategy, solve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sites = ["Frankfurt", "Virginia", "Tokyo"].map(Site::new).to_vec();
    let players = ["Ada in Vienna", "Bo in Boston", "Chi in Osaka"].map(Player::new).to_vec();
    let rtt = vec![15.0, 100.0, 245.0, 95.0, 15.0, 165.0, 240.0, 160.0, 10.0];
    let between = vec![0.0, 90.0, 235.0, 90.0, 0.0, 155.0, 235.0, 155.0, 0.0];
    let problem = Problem::new(players, sites, rtt, between)?;
    for strategy in [Strategy::CentralMean, Strategy::Heuristic, Strategy::Best] {
        let answer = solve(&problem, &Request { strategy, ..Request::default() })?;
        let names: Vec<&str> = answer.plan.servers.iter().map(|&s| problem.sites()[s].name.as_str()).collect();
        let (critical, gap) = (answer.assessment.max, answer.gap * 100.0);
        println!("{}: {names:?}, critical {critical} ms, at most {gap:.1} % from the best", strategy.name());
    }
    Ok(())
}

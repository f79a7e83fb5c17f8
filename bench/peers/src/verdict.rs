//! What was aimed at, and what came of it: also where it is missed.

use crate::equal::{Findings, Match, Point};
use crate::lineup::Ours;
use crate::load::{Cost, Scenario};

/// One target.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was aimed at.
    pub target: String,
    /// Whether it is reached.
    pub holds: bool,
    /// The numbers.
    pub found: String,
}

/// A figure of which ours may be a part of the peers' at most.
struct Share {
    what: &'static str,
    scenario: Scenario,
    most: f64,
    of: fn(&Cost) -> f64,
}

const SHARES: [Share; 3] = [
    Share {
        what: "server CPU, everything due: at most 1/3",
        scenario: Scenario::AllDue,
        most: 1.0 / 3.0,
        of: |c| c.mean,
    },
    Share {
        what: "bytes per update: at most 1/2",
        scenario: Scenario::AllDue,
        most: 0.5,
        of: |c| c.bytes_per_update.unwrap_or(f64::NAN),
    },
    Share { what: "server CPU, nothing due: at most 1/10", scenario: Scenario::Idle, most: 0.1, of: |c| c.mean },
];

/// The targets about servers: each of our rows beside each of the peers as they come and quantised.
pub fn of_costs(costs: &[Cost]) -> Vec<Verdict> {
    let is_ours = |cost: &&Cost| cost.name.starts_with("Evenkeel");
    let mut verdicts = Vec::new();
    for share in &SHARES {
        let these = || costs.iter().filter(|cost| cost.scenario == share.scenario);
        for ours in these().filter(is_ours) {
            for peer in these().filter(|cost| !is_ours(cost)) {
                let ratio = (share.of)(ours) / (share.of)(peer);
                verdicts.push(Verdict {
                    target: format!("{} of {}", share.what, peer.name),
                    holds: ratio <= share.most,
                    found: format!("{}: {ratio:.2}", ours.name),
                });
            }
        }
    }
    verdicts
}

type Figure = (&'static str, fn(&Point) -> f64);

const FIGURES: [Figure; 3] = [
    ("mean error", |p| p.outcome.mean),
    ("p99 error", |p| p.outcome.p99),
    ("spread of the receivers' means", |p| p.outcome.std),
];

/// The targets about what is shown, at equal bytes: lower than the peer at every rate.
pub fn of_tracks(findings: &Findings) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for peer in &findings.peers {
        let matches: Vec<&Match> = findings.matches.iter().filter(|one| one.name == peer.name).collect();
        for (n, policy) in Ours::ALL.into_iter().enumerate() {
            for (figure, of) in FIGURES {
                let ratios: Vec<f64> = matches.iter().map(|one| of(&one.ours[n].1) / of(&one.peer)).collect();
                let lower = ratios.iter().filter(|ratio| **ratio < 1.0).count();
                let (least, most) = ratios.iter().fold((f64::INFINITY, 0f64), |(a, b), r| (a.min(*r), b.max(*r)));
                verdicts.push(Verdict {
                    target: format!("{figure} below {} at equal bytes", peer.name),
                    holds: lower == ratios.len(),
                    found: format!(
                        "{}: {least:.2} to {most:.2} of it, lower at {lower} of {} rates",
                        policy.name(),
                        ratios.len()
                    ),
                });
            }
        }
    }
    verdicts
}

//! What was aimed at, and what came of it: also where it is missed.

use crate::cost::Cost;
use crate::equal::{Findings, Fit, Point};
use crate::lineup::{Ours, hertz};
use crate::scenario::Scenario;

/// One target.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was aimed at, and by whom.
    pub target: String,
    /// Whether it is reached.
    pub holds: bool,
    /// The numbers.
    pub found: String,
}

/// A figure of which ours may be a part of the peers' at most.
struct Share {
    what: &'static str,
    scenarios: &'static [Scenario],
    most: f64,
    of: fn(&Cost) -> f64,
}

const SHARES: [Share; 6] = [
    Share {
        what: "everything due: at most 1/3 of the peers' server CPU",
        scenarios: &[Scenario::AllDue],
        most: 1.0 / 3.0,
        of: |cost| cost.mean,
    },
    Share {
        what: "everything due at 20 ms: at most 1/3 of the peers' server CPU",
        scenarios: &[Scenario::AllDueNear],
        most: 1.0 / 3.0,
        of: |cost| cost.mean,
    },
    Share {
        what: "everything due at 20 to 220 ms and with loss: at most the peers' server CPU",
        scenarios: &[Scenario::AllDueFar, Scenario::AllDueLossy],
        most: 1.0,
        of: |cost| cost.mean,
    },
    Share {
        what: "everything due: at most 1/2 of the peers' bytes per update",
        scenarios: &[Scenario::AllDue],
        most: 0.5,
        of: |cost| cost.bytes_per_update.unwrap_or(f64::NAN),
    },
    Share {
        what: "10 % due: at most 1/3 of the peers' server CPU",
        scenarios: &[Scenario::TenthDue],
        most: 1.0 / 3.0,
        of: |cost| cost.mean,
    },
    Share {
        what: "nothing due: at most 1/10 of the peers' server CPU",
        scenarios: &[Scenario::Idle],
        most: 0.1,
        of: |cost| cost.mean,
    },
];

/// How many times its mean tick the longest tick of a server may take.
const LONGEST: f64 = 2.0;
/// How many times the heart's cost the same in Bevy may come to, and what the two are called.
const IN_BEVY: f64 = 1.3;
const HEART: &str = "Evenkeel";
const BEVY: &str = "Evenkeel in Bevy";

/// The targets about servers, for each of our rows. The peers count as they come; the numbers have them quantised too.
/// Where there is nothing to compare with there is no verdict.
pub fn of_costs(costs: &[Cost]) -> Vec<Verdict> {
    let mut ours: Vec<&'static str> = Vec::new();
    for cost in costs.iter().filter(|cost| is_ours(cost)) {
        if !ours.contains(&cost.name) {
            ours.push(cost.name);
        }
    }
    let shares = SHARES.iter().flat_map(|share| ours.iter().filter_map(move |name| of_share(share, name, costs)));
    let longest = ours.iter().filter_map(|name| longest(name, costs));
    shares.chain(longest).chain(in_bevy(costs)).collect()
}

fn of_share(share: &Share, ours: &str, costs: &[Cost]) -> Option<Verdict> {
    let (mut found, mut holds) = (Vec::new(), true);
    for &scenario in share.scenarios {
        let here = || costs.iter().filter(|cost| cost.scenario == scenario);
        let own = here().find(|cost| cost.name == ours)?;
        for peer in here().filter(|cost| !is_ours(cost)) {
            let ratio = (share.of)(own) / (share.of)(peer);
            let place = if share.scenarios.len() > 1 { format!(" ({})", scenario.name()) } else { String::new() };
            found.push(format!("{ratio:.2} of {}{place}", peer.name));
            // What is not a number does not hold either.
            holds &= peer.name.contains("quantised") || ratio <= share.most;
        }
    }
    let target = format!("{ours}, {}", share.what);
    (!found.is_empty()).then(|| Verdict { target, holds, found: found.join("; ") })
}

/// Whether no tick takes much longer than the others: a server must keep its deadline in every one.
fn longest(ours: &str, costs: &[Cost]) -> Option<Verdict> {
    let rows = || costs.iter().filter(|cost| cost.name == ours && cost.scenario.is_all_due());
    let found: Vec<String> =
        rows().map(|row| format!("{:.2} ({})", row.longest / row.mean, row.scenario.name())).collect();
    (!found.is_empty()).then(|| Verdict {
        target: format!("{ours}, everything due: the longest tick at most twice the mean"),
        holds: rows().all(|row| row.longest <= LONGEST * row.mean),
        found: found.join("; "),
    })
}

/// What the plugin adds to the heart.
fn in_bevy(costs: &[Cost]) -> Option<Verdict> {
    let of = |name, scenario| costs.iter().find(|cost| cost.name == name && cost.scenario == scenario);
    let pairs = Scenario::ALL.into_iter().filter_map(|scenario| Some((of(BEVY, scenario)?, of(HEART, scenario)?)));
    let ratios: Vec<(Scenario, f64)> = pairs.map(|(bevy, heart)| (bevy.scenario, bevy.mean / heart.mean)).collect();
    let found: Vec<String> =
        ratios.iter().map(|(scenario, ratio)| format!("{ratio:.2} ({})", scenario.name())).collect();
    (!found.is_empty()).then(|| Verdict {
        target: format!("{BEVY}: at most 30 % on top of the heart's server CPU"),
        holds: ratios.iter().all(|(_, ratio)| *ratio <= IN_BEVY),
        found: found.join("; "),
    })
}

fn is_ours(cost: &Cost) -> bool {
    cost.name.starts_with("Evenkeel")
}

/// Something to judge by, and its name.
pub type Figure = (&'static str, fn(&Point) -> f64);

const FIGURES: [Figure; 3] = [
    ("mean error", |point| point.outcome.mean),
    ("p99 error", |point| point.outcome.p99),
    ("spread of the receivers' means", |point| point.outcome.std),
];

/// The targets about what is shown of a game, at equal bytes: lower than every peer at every rate.
pub fn of_tracks(game: &str, findings: &Findings) -> Vec<Verdict> {
    let policies = Ours::ALL.into_iter().enumerate();
    policies.flat_map(|(n, policy)| FIGURES.map(|figure| lower(game, findings, n, policy, figure))).collect()
}

fn lower(game: &str, findings: &Findings, n: usize, policy: Ours, (what, of): Figure) -> Verdict {
    let ratios = findings.matches.iter().map(|one| (one, of(&one.ours[n].1) / of(&one.peer)));
    // Who needs more bytes has not won.
    let (below, above): (Vec<_>, Vec<_>) = ratios.partition(|(one, ratio)| *ratio < 1.0 && one.ours[n].2 != Fit::More);
    let least = below.iter().map(|(_, ratio)| *ratio).fold(1.0, f64::min);
    let most = below.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    let missed = above.iter().map(|(one, ratio)| {
        let more = if one.ours[n].2 == Fit::More { ", with more bytes" } else { "" };
        format!("{ratio:.2} of {} at {:.0} Hz{more}", one.name, hertz(one.peer.knob as u32))
    });
    let mut found = format!("lower in {} of {} cases: {least:.2} to {most:.2}", below.len(), findings.matches.len());
    if !above.is_empty() {
        found.push_str(&format!("; not lower: {}", missed.collect::<Vec<_>>().join("; ")));
    }
    Verdict {
        target: format!("{}, {game} at equal bytes: lower {what}", policy.name()),
        holds: above.is_empty(),
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(name: &'static str, scenario: Scenario, mean: f64) -> Cost {
        Cost {
            name,
            scenario,
            median: mean,
            mean,
            p99: mean,
            longest: mean,
            nanos_per_pair: mean,
            bytes_per_second: 0.0,
            bytes_per_second_back: 0.0,
            bytes_per_update: Some(mean),
            heap_per_pair: None,
        }
    }

    #[test]
    fn a_target_is_missed_if_one_peer_is_cheaper() {
        let cost = |name, mean| cost(name, Scenario::AllDue, mean);
        let costs = [cost("one", 3.0), cost("other", 2.5), cost("other, quantised", 0.1), cost("Evenkeel", 1.0)];
        let [cpu, bytes, longest] = &of_costs(&costs)[..] else { panic!() };
        assert!(!cpu.holds && bytes.holds && longest.holds, "{cpu:?} {bytes:?}");
        assert_eq!(cpu.found, "0.33 of one; 0.40 of other; 10.00 of other, quantised");
        assert!(of_costs(&costs[..3]).is_empty());
        let alone = of_costs(&costs[3..]);
        assert!(alone.len() == 1 && alone[0].target.contains("longest"), "{alone:?}");
    }

    #[test]
    fn a_target_about_two_scenarios_is_missed_in_either() {
        let (far, lossy) = (Scenario::AllDueFar, Scenario::AllDueLossy);
        for (ours, holds) in [([1.0, 1.0], true), ([1.1, 0.5], false), ([0.5, 1.1], false), ([f64::NAN, 1.0], false)] {
            let costs = [
                cost("one", far, 1.0),
                cost("Evenkeel", far, ours[0]),
                cost("one", lossy, 1.0),
                cost("Evenkeel", lossy, ours[1]),
            ];
            let verdict = &of_costs(&costs)[0];
            assert!(verdict.holds == holds && verdict.target.contains("220"), "{verdict:?}");
        }
    }

    #[test]
    fn one_long_tick_in_any_row_misses_the_target() {
        let rows = |longest| {
            let near = Cost { longest, ..cost("Evenkeel", Scenario::AllDueNear, 1.0) };
            // Where not everything is due, nobody asks.
            let idle = Cost { longest: 50.0, ..cost("Evenkeel", Scenario::Idle, 1.0) };
            of_costs(&[cost("Evenkeel", Scenario::AllDue, 1.0), near, idle])[0].clone()
        };
        assert!(rows(2.0).holds && !rows(2.1).holds);
        assert_eq!(rows(2.1).found, "1.00 (all due); 2.10 (all due, 20 ms)");
    }

    #[test]
    fn bevy_is_compared_with_the_heart_in_every_scenario() {
        let rows = |bevy| {
            let costs = [
                cost(HEART, Scenario::AllDue, 1.0),
                cost(BEVY, Scenario::AllDue, 1.0),
                cost(HEART, Scenario::Idle, 2.0),
                cost(BEVY, Scenario::Idle, bevy),
            ];
            of_costs(&costs).pop().unwrap()
        };
        assert!(rows(2.5).holds && !rows(2.7).holds);
        assert_eq!(rows(2.5).found, "1.00 (all due); 1.25 (nothing due)");
    }
}

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
    scenario: Scenario,
    most: f64,
    of: fn(&Cost) -> f64,
}

const SHARES: [Share; 3] = [
    Share {
        what: "everything due: at most 1/3 of the peers' server CPU",
        scenario: Scenario::AllDue,
        most: 1.0 / 3.0,
        of: |cost| cost.mean,
    },
    Share {
        what: "everything due: at most 1/2 of the peers' bytes per update",
        scenario: Scenario::AllDue,
        most: 0.5,
        of: |cost| cost.bytes_per_update.unwrap_or(f64::NAN),
    },
    Share {
        what: "nothing due: at most 1/10 of the peers' server CPU",
        scenario: Scenario::Idle,
        most: 0.1,
        of: |cost| cost.mean,
    },
];

/// The targets about servers, for each of our rows. The peers count as they come; the numbers have them quantised too.
pub fn of_costs(costs: &[Cost]) -> Vec<Verdict> {
    let verdict = |share: &Share, ours: &Cost| {
        let peers = costs.iter().filter(|cost| cost.scenario == share.scenario && !is_ours(cost));
        let ratios: Vec<(&str, f64)> = peers.map(|peer| (peer.name, (share.of)(ours) / (share.of)(peer))).collect();
        let found = ratios.iter().map(|(name, ratio)| format!("{ratio:.2} of {name}")).collect::<Vec<_>>();
        Verdict {
            target: format!("{}, {}", ours.name, share.what),
            holds: ratios.iter().filter(|(name, _)| !name.contains("quantised")).all(|(_, ratio)| *ratio <= share.most),
            found: found.join("; "),
        }
    };
    let rows = |share: &Share| -> Vec<Verdict> {
        let ours = costs.iter().filter(|cost| cost.scenario == share.scenario && is_ours(cost));
        ours.map(|ours| verdict(share, ours)).collect()
    };
    SHARES.iter().flat_map(rows).collect()
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

    #[test]
    fn a_target_is_missed_if_one_peer_is_cheaper() {
        let cost = |name, mean| Cost {
            name,
            scenario: Scenario::AllDue,
            median: mean,
            mean,
            p99: mean,
            longest: mean,
            nanos_per_pair: mean,
            bytes_per_second: 0.0,
            bytes_per_second_back: 0.0,
            bytes_per_update: Some(mean),
            heap_per_pair: None,
        };
        let costs = [cost("one", 3.0), cost("other", 2.5), cost("other, quantised", 0.1), cost("Evenkeel", 1.0)];
        let [cpu, bytes] = &of_costs(&costs)[..] else { panic!() };
        assert!(!cpu.holds && bytes.holds, "{cpu:?} {bytes:?}");
        assert_eq!(cpu.found, "0.33 of one; 0.40 of other; 10.00 of other, quantised");
    }
}

//! One receiver of three lies to be served better. What does it gain, and at whose cost?
//!
//! Everything is measured from ground truth: what the liar really shows, not what it says. The liar is the nearest receiver,
//! which is served least and has most to gain.

mod lies;
mod runs;
mod tables;

use super::{Band, Brief, Claim, Entry, Finding, Observation, Size, Study, Watch};
use crate::experiment::Progress;
use anyhow::Result;
use evenkeel::Duration;
use lies::Guise;
use runs::{Case, Scenes, Taken};

pub(super) const ENTRY: Entry = Entry {
    name: "liar",
    question: "What does a receiver gain that lies about what it received and when?",
    reproduces: "paper section 2: a receiver could skew the delay estimate to gain an advantage",
    needs: &[],
    run,
};

/// One receiver's way there: its delay and jitter in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Network {
    name: &'static str,
    delays_ms: [f64; 3],
    jitter_ms: f64,
}

const FAR: [f64; 3] = [800.0, 500.0, 200.0];
const NEAR: [f64; 3] = [150.0, 100.0, 50.0];
const NETWORKS: [Network; 4] = [
    Network { name: "800/500/200 ms", delays_ms: FAR, jitter_ms: 0.0 },
    Network { name: "800/500/200 ± 100 ms", delays_ms: FAR, jitter_ms: 100.0 },
    Network { name: "150/100/50 ms", delays_ms: NEAR, jitter_ms: 0.0 },
    Network { name: "150/100/50 ± 100 ms", delays_ms: NEAR, jitter_ms: 100.0 },
];
/// The nearest lies.
const LIAR: usize = 2;
const POLICIES: [&str; 4] = ["credits", "lottery-pa", "schedule-drop", "even"];
const HALF_A_SECOND: Duration = Duration::from_millis(500);
const SECOND: Duration = Duration::from_secs(1);

/// Policies that learn take about a minute to settle; shorter runs say more about that than about lies.
const LEAST_SECONDS: f64 = 200.0;

/// What receivers do, by name.
const GUISES: [(&str, Guise); 8] = [
    ("adds 1 s to its times", Guise::Adds(SECOND)),
    ("adds 200 ms to its times", Guise::Adds(Duration::from_millis(200))),
    ("adds 1 s to receptions alone", Guise::Contradicts(SECOND)),
    ("holds receipts for 0.5 s", Guise::Holds(HALF_A_SECOND)),
    ("holds for 0.5 s, adds 0.25 s", Guise::Pretends(HALF_A_SECOND)),
    ("withholds every 2nd receipt", Guise::Withholds),
    ("acknowledges what was lost (5 %)", Guise::Acknowledges),
    ("honest, way back 5 x slower", Guise::Asymmetric(5)),
];
/// What is also told to a sender that believes everything.
const BELIEVED: [usize; 4] = [0, 1, 4, 7];

/// The paper's sentence, for a sender without defences.
const PAPER: Claim = Claim {
    id: "paper-cheat-delay-gains",
    says: &[(
        "paper, section 2",
        "a receiver could skew the delay estimate at the sender to make the sender believe that the delay between the sender \
         and the receiver is high thereby gaining undue advantage",
    )],
    measure: "true export error of the 200 ms receiver that claims a second more, divided by the same when it is honest; \
              the sender believes everything",
    band: Band::Below(1.0),
    always: false,
};

/// What we ask of ourselves.
const OURS: Claim = Claim {
    id: "ours-second-gains-little",
    says: &[("our own aim", "a liar that adds a second to its reports improves its own error by at most 10 %")],
    measure: "true export error of the nearest receiver that claims a second more, divided by the same when it is honest",
    band: Band::AtLeast(0.9),
    always: false,
};

/// The policies that the paper's sentence is checked with.
const PAPER_POLICIES: [&str; 3] = ["schedule-paper", "lottery-one", "credits-pa"];

fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let Size { seeds, seconds, seed } = brief.size;
    // Most lies are not the papers' cells: a third of the seeds for half the time are enough, but no run is so short that
    // policies are still finding their feet.
    let small = Size { seeds: seeds.div_ceil(3), seconds: (seconds / 2.0).max(LEAST_SECONDS).min(seconds), seed };
    let (cases, paper_cases) = (all_cases(), paper_cases());
    let (small_scenes, scenes) = (Scenes::new(small)?, Scenes::new(brief.size)?);
    watch(Progress::Expect(cases.len() as u64 * small.seeds + paper_cases.len() as u64 * seeds));
    let taken = small_scenes.run(&cases, watch)?;
    let paper = scenes.run(&paper_cases, watch)?;
    let results = Results { cases, taken };
    Ok(Study {
        name: ENTRY.name,
        settings: settings(small, brief.size),
        summary: tables::summary(&results),
        exhibits: tables::exhibits(&results),
        findings: vec![paper_finding(&paper_cases, &paper), our_finding(&results)],
        rows: Vec::new(),
        simulated_seconds: small_scenes.simulated(results.cases.len()) + scenes.simulated(paper_cases.len()),
    })
}

fn settings(small: Size, full: Size) -> Vec<(String, String)> {
    let list = [
        ("motion", "tank, one entity".to_owned()),
        ("networks", NETWORKS.map(|network| network.name).join("; ")),
        ("liar", "the nearest of three receivers".into()),
        ("policies", POLICIES.join(", ")),
        ("budget", "1/3 of base where a policy takes one".into()),
        ("seeds", format!("{} from {} on", small.seeds, small.seed)),
        ("seconds", small.seconds.to_string()),
        ("the paper's claim", format!("{} seeds of {} s", full.seeds, full.seconds)),
    ];
    list.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// What came of all cases.
struct Results {
    cases: Vec<Case>,
    /// By case, one for each seed.
    taken: Vec<Vec<Taken>>,
}

impl Results {
    /// What came of one case; nothing if it was not run.
    fn of(&self, wanted: &Case) -> &[Taken] {
        self.cases.iter().position(|case| case == wanted).map_or(&[], |index| &self.taken[index])
    }

    /// What came of a lie, and of the same without it.
    fn pair(&self, case: &Case) -> (&[Taken], &[Taken]) {
        (self.of(case), self.of(&case.honestly()))
    }
}

/// Every lie and the truth, on every network, under every policy; some of it told to a sender that believes everything.
fn all_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |case: Case| {
        for case in [case.honestly(), case] {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
    };
    for network in 0..NETWORKS.len() {
        for policy in POLICIES {
            for (index, (_, guise)) in GUISES.into_iter().enumerate() {
                let case = Case::new(network, policy, guise);
                add(case);
                if BELIEVED.contains(&index) {
                    add(case.believed());
                }
            }
        }
    }
    cases
}

fn paper_cases() -> Vec<Case> {
    let of = |policy| {
        let lie = Case::new(0, policy, GUISES[0].1);
        [lie.honestly().believed(), lie.believed(), lie.honestly(), lie]
    };
    PAPER_POLICIES.into_iter().flat_map(of).collect()
}

fn ratios(lying: &[Taken], honest: &[Taken]) -> Vec<f64> {
    lying.iter().zip(honest).map(|(lying, honest)| lying.liar / honest.liar).collect()
}

fn paper_finding(cases: &[Case], taken: &[Vec<Taken>]) -> Finding {
    let mut observations = Vec::new();
    let mut defended = Vec::new();
    for (case, of) in cases.chunks(4).zip(taken.chunks(4)) {
        observations.push(Observation::new(format!("{}, jitter 0", case[0].policy), ratios(&of[1], &of[0])));
        let ours = Observation::new("", ratios(&of[3], &of[2])).median();
        defended.push(format!("{} {ours:.2}", case[0].policy));
    }
    Finding::new(PAPER, observations)
        .remarking(format!("With the bounds that Evenkeel puts on claimed reception times: {}.", defended.join(", ")))
}

fn our_finding(results: &Results) -> Finding {
    let mut observations = Vec::new();
    for (index, network) in NETWORKS.iter().enumerate() {
        for policy in POLICIES {
            let (lying, honest) = results.pair(&Case::new(index, policy, GUISES[0].1));
            observations.push(Observation::new(format!("{policy}, {}", network.name), ratios(lying, honest)));
        }
    }
    Finding::new(OURS, observations).remarking(
        "What is claimed is booked within what the sender's own round trips allow. The closer a policy keeps errors together, \
         the more a plausible claim still moves it; jitter widens what is plausible.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Verdict;

    const SIZE: Size = Size { seeds: 6, seconds: 200.0, seed: 1 };

    fn taken(cases: &[Case]) -> Vec<Vec<Taken>> {
        Scenes::new(SIZE).unwrap().run(cases, &|_| {}).unwrap()
    }

    #[test]
    fn the_paper_is_right_that_whoever_is_believed_gains_by_lying() {
        let cases = paper_cases();
        let finding = paper_finding(&cases, &taken(&cases));
        assert_eq!(finding.verdict(), Verdict::Holds, "{:?}", finding.observations);
    }

    #[test]
    fn lies_are_noticed_where_they_can_be_and_the_honest_are_not_doubted() {
        let of = |guise| Case::new(0, "credits", guise);
        let guises = [Guise::Adds(SECOND), Guise::Pretends(HALF_A_SECOND), Guise::Withholds, Guise::Acknowledges];
        let all = taken(&[of(Guise::Honest)].into_iter().chain(guises.map(of)).collect::<Vec<_>>());
        let total = |n: usize, of: fn(&Taken) -> u64| all[n].iter().map(of).sum::<u64>();
        let (bounded, forged, lost) = (
            [0, 1, 2, 3, 4].map(|n| total(n, |t| t.doubts.bounded)),
            [0, 1, 2, 3, 4].map(|n| total(n, |t| t.doubts.forged)),
            [0, 1, 2, 3, 4].map(|n| total(n, |t| t.doubts.lost)),
        );
        assert!(bounded[0] == 0 && bounded[1] > 100 && bounded[2] == 0, "{bounded:?}");
        assert!(forged[..4] == [0; 4] && forged[4] > 10, "{forged:?}");
        assert!(lost[0] == 0 && lost[3] > 100, "{lost:?}");
    }

    #[test]
    fn acknowledging_what_was_lost_gains_nothing() {
        let lie = Case::new(0, "credits", Guise::Acknowledges);
        let all = taken(&[lie, lie.honestly()]);
        let sum = |taken: &[Taken]| taken.iter().map(|taken| taken.liar).sum::<f64>();
        assert!((sum(&all[0]) / sum(&all[1]) - 1.0).abs() < 0.05, "{all:?}");
    }
}

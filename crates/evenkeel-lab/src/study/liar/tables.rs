//! What came of the lies, to look at.

use super::runs::{Case, Taken};
use super::{BELIEVED, GUISES, NETWORKS, POLICIES, Results};
use crate::study::Exhibit;

/// The answer, in a few sentences.
pub(super) fn summary(results: &Results) -> String {
    let best = |guise: usize, believed: bool| {
        let all = (0..NETWORKS.len()).flat_map(|network| POLICIES.map(|policy| (network, policy)));
        let of = |(network, policy)| ratio(results, &case(network, policy, guise, believed), |taken| taken.liar);
        all.map(of).fold(f64::INFINITY, f64::min)
    };
    let (lies, control) = GUISES.split_at(GUISES.len() - 1);
    let dearest = (1..lies.len()).min_by(|a, b| best(*a, false).total_cmp(&best(*b, false))).unwrap_or(0);
    format!(
        "Adding a second to its reports brings a liar to {:.2} of its true error at best ({:.2} if the sender believed \
         everything). The most that any other lie achieves is {:.2} ({}). {}: {:.2} at best.",
        best(0, false),
        best(0, true),
        best(dearest, false),
        lies[dearest].0,
        capital(control[0].0),
        best(GUISES.len() - 1, false),
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Tables and plots, in the order to look at them.
pub(super) fn exhibits(results: &Results) -> Vec<Exhibit> {
    let all: Vec<usize> = (0..GUISES.len()).collect();
    vec![
        bars(results),
        table(
            "The liar's own error",
            "Its true export error with the lie, divided by the same without. Below 1 the lie pays.",
            results,
            &all,
            false,
            &|taken| taken.liar,
        ),
        table(
            "The others' error",
            "The mean true export error of the two honest receivers with the lie, divided by the same without. Above 1 they pay \
             for it.",
            results,
            &all,
            false,
            &|taken| taken.others,
        ),
        table(
            "Vectors sent to the liar",
            "With the lie, divided by the same without.",
            results,
            &all,
            false,
            &|taken| taken.vectors as f64,
        ),
        doubts(results),
        table(
            "If the sender believed everything: the liar's own error",
            "The same lies to a sender that books every reception time as it is claimed, which is what the papers assume; divided \
             by the honest case with the same sender.",
            results,
            &BELIEVED,
            true,
            &|taken| taken.liar,
        ),
    ]
}

fn case(network: usize, policy: &'static str, guise: usize, believed: bool) -> Case {
    let case = Case::new(network, policy, GUISES[guise].1);
    if believed { case.believed() } else { case }
}

fn sum(taken: &[Taken], of: impl Fn(&Taken) -> f64) -> f64 {
    taken.iter().map(of).sum()
}

/// With the lie, divided by without, over all seeds.
fn ratio(results: &Results, case: &Case, of: impl Fn(&Taken) -> f64) -> f64 {
    let (lying, honest) = results.pair(case);
    sum(lying, &of) / sum(honest, &of)
}

fn bars(results: &Results) -> Exhibit {
    let of = |policy: &'static str| {
        let value = |guise| ratio(results, &case(0, policy, guise, false), |taken| taken.liar);
        (policy.to_owned(), (0..GUISES.len()).map(value).collect())
    };
    Exhibit::Bars {
        title: format!("What lying does to the liar's own error, {}", NETWORKS[0].name),
        note: "True export error with the lie, divided by the same without.".into(),
        x: "what the nearest receiver does".into(),
        y: "error with / without the lie".into(),
        groups: GUISES.iter().map(|(name, _)| (*name).to_owned()).collect(),
        bars: POLICIES.map(of).to_vec(),
    }
}

fn table(
    title: &str,
    note: &str,
    results: &Results,
    guises: &[usize],
    believed: bool,
    of: &dyn Fn(&Taken) -> f64,
) -> Exhibit {
    let mut rows = Vec::new();
    for (number, network) in NETWORKS.iter().enumerate() {
        for guise in guises {
            let cell = |policy| format!("{:.2}", ratio(results, &case(number, policy, *guise, believed), of));
            rows.push(
                [network.name, GUISES[*guise].0].map(str::to_owned).into_iter().chain(POLICIES.map(cell)).collect(),
            );
        }
    }
    let head = ["network", "the nearest receiver"].into_iter().chain(POLICIES).map(str::to_owned).collect();
    Exhibit::Table { title: title.into(), note: note.into(), head, rows }
}

/// What the sender noticed of each lie, over all policies.
fn doubts(results: &Results) -> Exhibit {
    let mut rows = Vec::new();
    for (number, network) in NETWORKS.iter().enumerate() {
        let names = GUISES.iter().enumerate().map(|(guise, (name, _))| (*name, guise, false));
        for (name, guise, honest) in [("honest", 0, true)].into_iter().chain(names) {
            let of = |policy| {
                let case = case(number, policy, guise, false);
                results.of(&if honest { case.honestly() } else { case })
            };
            let all: Vec<Taken> = POLICIES.into_iter().flat_map(of).copied().collect();
            let share = |of: fn(&Taken) -> u64| {
                format!("{:.1}", 100.0 * sum(&all, |taken| of(taken) as f64) / sum(&all, |taken| taken.vectors as f64))
            };
            rows.push(vec![
                network.name.into(),
                name.into(),
                share(|taken| taken.doubts.bounded),
                share(|taken| taken.doubts.forged),
                share(|taken| taken.doubts.lost),
            ]);
        }
    }
    let head = ["network", "the nearest receiver", "bounded", "forged", "lost"].map(str::to_owned).to_vec();
    Exhibit::Table {
        title: "What the sender noticed".into(),
        note: "Per hundred vectors sent to the liar, over all four policies: claimed reception times that its own round trips do \
               not allow and that were booked at the bound instead; receipts for datagrams that were never seen there; \
               datagrams counted as lost."
            .into(),
        head,
        rows,
    }
}

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
        ranges(
            "The liar's own error",
            "Its true export error with the lie, divided by the same without; from the best to the worst of the four networks. \
             Below 1 the lie pays.",
            &all,
            &|case| ratio(results, &case, |taken| taken.liar),
        ),
        ranges(
            "The others' error",
            "The mean true export error of the two honest receivers with the lie, divided by the same without. Above 1 they pay \
             for it.",
            &all,
            &|case| ratio(results, &case, |taken| taken.others),
        ),
        ranges("Vectors sent to the liar", "With the lie, divided by the same without.", &all, &|case| {
            ratio(results, &case, |taken| taken.vectors as f64)
        }),
        doubts(results),
        ranges(
            "If the sender believed everything: the liar's own error",
            "The same lies to a sender that books every reception time as it is claimed, which is what the papers assume; divided \
             by the honest case with the same sender.",
            &BELIEVED,
            &|case| ratio(results, &case.believed(), |taken| taken.liar),
        ),
        by_network(results),
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

/// A row for every guise, a column for every policy: the range over all networks.
fn ranges(title: &str, note: &str, guises: &[usize], value: &dyn Fn(Case) -> f64) -> Exhibit {
    let row = |guise: &usize| {
        let cell = |policy| range((0..NETWORKS.len()).map(|network| value(case(network, policy, *guise, false))));
        [GUISES[*guise].0.to_owned()].into_iter().chain(POLICIES.map(cell)).collect()
    };
    let head = ["the nearest receiver"].into_iter().chain(POLICIES).map(str::to_owned).collect();
    Exhibit::Table { title: title.into(), note: note.into(), head, rows: guises.iter().map(row).collect() }
}

fn range(values: impl Iterator<Item = f64>) -> String {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    format!("{least:.2} to {most:.2}")
}

/// The liar's own error on every network.
fn by_network(results: &Results) -> Exhibit {
    let mut rows = Vec::new();
    for (number, network) in NETWORKS.iter().enumerate() {
        for (guise, (name, _)) in GUISES.iter().enumerate() {
            let value = |policy| ratio(results, &case(number, policy, guise, false), |taken| taken.liar);
            let cells = POLICIES.map(|policy| format!("{:.2}", value(policy)));
            rows.push([network.name, name].map(str::to_owned).into_iter().chain(cells).collect());
        }
    }
    let head = ["network", "the nearest receiver"].into_iter().chain(POLICIES).map(str::to_owned).collect();
    let (title, note) = ("The liar's own error on each network".into(), "With the lie, divided by without.".into());
    Exhibit::Table { title, note, head, rows }
}

/// What the sender noticed of each lie, over all policies and networks.
fn doubts(results: &Results) -> Exhibit {
    let all = || (0..NETWORKS.len()).flat_map(|network| POLICIES.map(|policy| (network, policy)));
    let row = |name: &str, guise: Option<usize>| {
        let of = |(network, policy)| {
            let case = case(network, policy, guise.unwrap_or(0), false);
            results.of(&if guise.is_none() { case.honestly() } else { case })
        };
        let taken: Vec<Taken> = all().flat_map(of).copied().collect();
        let share = |of: fn(&Taken) -> u64| {
            format!("{:.1}", 100.0 * sum(&taken, |taken| of(taken) as f64) / sum(&taken, |taken| taken.vectors as f64))
        };
        let doubts = [share(|t| t.doubts.bounded), share(|t| t.doubts.forged), share(|t| t.doubts.lost)];
        [name.to_owned()].into_iter().chain(doubts).collect()
    };
    let lies = GUISES.iter().enumerate().map(|(guise, (name, _))| row(name, Some(guise)));
    Exhibit::Table {
        title: "What the sender noticed".into(),
        note: "Per hundred vectors sent to the liar, over all policies and networks: claimed reception times that the sender's own \
               round trips do not allow and that were booked at the bound instead; receipts for datagrams that cannot have \
               been seen; datagrams counted as lost. What no sender can tell from an honest receiver: receipts that are \
               held look like a slow way back, held and added to like a longer way both ways, and withheld like loss."
            .into(),
        head: ["the nearest receiver", "bounded", "forged", "lost"].map(str::to_owned).to_vec(),
        rows: [row("honest", None)].into_iter().chain(lies).collect(),
    }
}

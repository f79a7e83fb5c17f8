//! Making everybody wait alike: what it costs, and what it makes of responses and errors.

use super::claims::{SEED_EQUALISE_ERRORS, SEED_EQUALISE_ERRORS_PRICE, SEED_EQUALISE_PRICE, SEED_EQUALISE_RESPONSES};
use super::sweep::{Figure, MOTIONS, NEAR_MS, Network, settings};
use crate::experiment::Settings;
use crate::study::cells::{Cell, Take, average, number, table};
use crate::study::measure::millis;
use crate::study::{Brief, Exhibit, Finding, Observation, Watch};
use crate::world::statistics;
use anyhow::Result;
use evenkeel::lag::{Equalised, equalise};
use evenkeel::{Duration, HostId};
use evenkeel_link::Noise;

/// Response times to pad to, besides that of the slowest.
const TARGETS_MS: [f64; 5] = [60.0, 100.0, 150.0, 200.0, 300.0];
/// Players whose round trips are drawn anew with every seed.
const PLAYERS: u32 = 16;

/// The base case at its delays, and with everybody's information delayed to the slowest's, by motion.
pub(super) struct Padded {
    cells: Vec<(&'static str, Cell, Cell)>,
    pub(super) simulated_seconds: f64,
}

pub(super) fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Padded> {
    let slowest = NEAR_MS.iter().copied().fold(0.0, f64::max);
    let pair = |motion: crate::workload::Motion| -> Result<_> {
        let own = Settings { policies: vec!["base".into()], ..settings(brief, Network::Near, motion, 0.0) };
        let padded = own.clone().over(&[slowest; NEAR_MS.len()], 0.0, 0.0);
        Ok((motion.name(), Cell::run("", &own, false, watch)?, Cell::run("", &padded, false, watch)?))
    };
    let cells: Vec<_> = MOTIONS.into_iter().map(pair).collect::<Result<_>>()?;
    let simulated_seconds = cells.iter().map(|(_, own, padded)| own.simulated_seconds + padded.simulated_seconds).sum();
    Ok(Padded { cells, simulated_seconds })
}

/// Players by their round trips.
fn players(round_trips_ms: impl IntoIterator<Item = f64>) -> Vec<(HostId, Duration)> {
    (1..).map(HostId).zip(round_trips_ms.into_iter().map(millis)).collect()
}

/// Mean and standard deviation of response times, as they are and padded, in milliseconds.
fn responses(equalised: &Equalised) -> [(f64, f64); 2] {
    let statistics = |of: fn(&evenkeel::lag::Padded) -> Duration| {
        let (mean, std, _) = statistics(equalised.players.iter().map(|player| of(player).as_millis_f64()));
        (mean, std)
    };
    [statistics(|player| player.response), statistics(|player| player.response + player.pad)]
}

pub(super) fn exhibits(padded: &Padded) -> Vec<Exhibit> {
    vec![target_table(), player_table(), error_table(padded)]
}

/// What each chosen response time costs and leaves.
fn target_table() -> Exhibit {
    let row = |target: Option<f64>| {
        let equalised = equalise(&players(NEAR_MS), target.map(millis));
        let [_, (mean, std)] = responses(&equalised);
        let beyond = equalised.players.iter().filter(|player| player.beyond > Duration::ZERO).count();
        let figures = [equalised.mean_price, equalised.largest_price, equalised.spread].map(Duration::as_millis_f64);
        let name = target.map_or_else(|| "the slowest's (250)".into(), |target| format!("{target:.0}"));
        let figures = [mean, std].into_iter().chain(figures).map(|ms| format!("{ms:.0}"));
        [name].into_iter().chain(figures).chain([beyond.to_string()]).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![row(Some(0.0))];
    rows[0][0] = "none: as they are".into();
    rows.extend(TARGETS_MS.iter().map(|target| row(Some(*target))));
    rows.push(row(None));
    let head = [
        "padded to (ms)",
        "mean response",
        "std",
        "mean price",
        "largest price",
        "slowest less quickest",
        "players beyond",
    ];
    let note = "Eight players with round trips of 20 to 250 ms whose actions take effect after a round trip, padded to a \
                response time; everything in milliseconds. Whoever cannot make it is not padded.";
    table("Equal response times and their price", note, &head, rows)
}

/// Who pays how much.
fn player_table() -> Exhibit {
    let [all, playable] = [None, Some(millis(150.0))].map(|target| equalise(&players(NEAR_MS), target));
    let row = |(a, b): (&evenkeel::lag::Padded, &evenkeel::lag::Padded)| {
        let all = [a.response, a.pad, b.pad, b.beyond].map(|span| format!("{:.0}", span.as_millis_f64()));
        [format!("player {}", a.host.0)].into_iter().chain(all).collect()
    };
    let rows = all.players.iter().zip(&playable.players).map(row).collect();
    let head = ["player", "response", "price, padded to 250", "price, padded to 150", "beyond 150"];
    table("What equal waiting costs each player (ms)", "Padded to the slowest, and to 150 ms.", &head, rows)
}

/// What delaying information to the slowest does to errors.
fn error_table(padded: &Padded) -> Exhibit {
    let row = |name: &str, what: &str, cell: &Cell| {
        let metres = Figure::ALL.map(|(_, figure)| number(average(&cell.values("base", |take| figure.of(take)))));
        [name.to_owned(), what.to_owned()].into_iter().chain(metres).collect::<Vec<String>>()
    };
    let both = |(name, own, padded): &(&'static str, Cell, Cell)| {
        [row(name, "20-250 ms, as they are", own), row(name, "all delayed to 250 ms", padded)]
    };
    let head = ["motion", "delays", "mean (m)", "std (m)", "max (m)"];
    let note = "Export error of the base case without lag, if information for nearer receivers is delayed until everybody has \
                the farthest's delay. Averages over seeds.";
    table("Equal errors and their price", note, &head, padded.cells.iter().flat_map(both).collect())
}

/// The sentence of the paper on managing latency about equalisation, for response times and for errors.
pub(super) fn findings(brief: &Brief, padded: &Padded) -> Vec<Finding> {
    let draw = |seed: u64| {
        let noise = Noise::new(seed, 0xE9);
        let trips = (0..PLAYERS).map(|i| 20.0 + 230.0 * noise.uniform(i64::from(i), 0));
        responses(&equalise(&players(trips), None))
    };
    let seeds: Vec<[(f64, f64); 2]> = brief.size.each_seed().map(draw).collect();
    let drawn = |of: fn(&[(f64, f64); 2]) -> f64| {
        vec![Observation::new("16 players, round trips of 20 to 250 ms", seeds.iter().map(of).collect())]
    };
    let errors = |figure: Figure| {
        let one = |(name, own, padded): &(&'static str, Cell, Cell)| {
            let takes = padded.takes("base").iter().zip(own.takes("base"));
            Observation::new(*name, takes.map(|(a, b): (&Take, &Take)| figure.of(a) / figure.of(b)).collect())
        };
        padded.cells.iter().map(one).collect()
    };
    vec![
        Finding::new(SEED_EQUALISE_RESPONSES, drawn(|[own, padded]| padded.1 / own.1))
            .remarking("Everybody is padded to the slowest player's response time."),
        Finding::new(SEED_EQUALISE_PRICE, drawn(|[own, padded]| padded.0 / own.0)),
        Finding::new(SEED_EQUALISE_ERRORS, errors(Figure::Std))
            .remarking("Information for the nearer receivers is delayed until everybody has the farthest's delay."),
        Finding::new(SEED_EQUALISE_ERRORS_PRICE, errors(Figure::Mean)),
    ]
}

//! What was found, for people and for programs.

use crate::cost::Cost;
use crate::equal::{Curve, Findings, Fit, Match, Point};
use crate::games::{self, Game};
use crate::lineup::{Ours, Variant, hertz};
use crate::load::Size;
use crate::machine;
use crate::scenario::Scenario;
use crate::tracks::{Ground, Outcome};
use crate::verdict::Verdict;
use evenkeel_lab::report::Sheet;
use evenkeel_lab::study::Exhibit;
use evenkeel_link::Conditions;
use serde_json::{Map, Value, json};

/// The version of the JSON form.
const JSON_VERSION: u32 = 1;

/// How to read the tables.
const NOTE: &str = "CPU is the server's thread time per tick: median, mean, 99th percentile, longest. A pair is an entity \
    and a receiver; heap/pair is the most bytes that a server held at the end of a tick, per pair. \
    Bytes are per second and receiver, those on the wire with 28 for IPv4 and UDP in every datagram; bytes are equal \
    within 2 %, but where a star says that ours has no setting that sends so many, or so few. Errors are in metres, or in \
    the units of the traces that were named; \
    the spread is the standard deviation of the receivers' means. Of ours, the policy, the threshold, the heartbeat \
    and the time between two datagrams; `even` sends 70 % of what is due. README.md says how everything is measured.";

/// A whole run.
pub struct Report {
    /// What the servers had to do.
    pub size: Size,
    /// What it cost them.
    pub costs: Vec<Cost>,
    /// The peers on recorded games.
    pub variants: Vec<Variant>,
    /// The way to each receiver.
    pub paths: Vec<Conditions>,
    /// What was shown of each game, if that was measured.
    pub shown: Vec<Shown>,
    /// What was aimed at.
    pub verdicts: Vec<Verdict>,
}

/// What was shown of a game.
pub struct Shown {
    /// The game.
    pub game: Game,
    /// What was found on it.
    pub findings: Findings,
}

fn table(title: String, head: &[&str], rows: Vec<Vec<String>>) -> Exhibit {
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Exhibit::Table { title, note: String::new(), head, rows }
}

impl Report {
    /// Tables and verdicts.
    pub fn to_text(&self) -> String {
        let mut exhibits: Vec<Exhibit> = Vec::new();
        if !self.costs.is_empty() {
            exhibits.extend(Scenario::ALL.map(|scenario| self.cost_table(scenario)));
        }
        if !self.shown.is_empty() {
            exhibits.push(self.games_table());
        }
        for Shown { game, findings } in &self.shown {
            exhibits.extend(self.variants.iter().map(|variant| self.match_table(game, findings, variant)));
            let ours = Ours::ALL.into_iter().zip(&findings.ours);
            exhibits.extend(ours.map(|(policy, curve)| self.curve_table(game, policy, curve)));
        }
        let sheet = Sheet { note: NOTE.into(), exhibits, ..Sheet::default() };
        let verdicts: String = self.verdicts.iter().map(Verdict::line).collect();
        format!(" {}\n\n{}\n{verdicts}", self.heading(), sheet.to_text())
    }

    fn heading(&self) -> String {
        let versions =
            machine::versions().iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>();
        format!("{}; {}; {}", versions.join(", "), machine::processor(), machine::date())
    }

    fn cost_table(&self, scenario: Scenario) -> Exhibit {
        let Size { entities, receivers, ticks, .. } = self.size;
        let head = ["", "median", "mean", "p99", "longest", "ns/pair", "kB/s", "back", "B/update", "heap/pair"];
        let row = |cost: &Cost| {
            vec![
                cost.name.to_owned(),
                format!("{:.2}", cost.median * 1e3),
                format!("{:.2}", cost.mean * 1e3),
                format!("{:.2}", cost.p99 * 1e3),
                format!("{:.2}", cost.longest * 1e3),
                format!("{:.0}", cost.nanos_per_pair),
                format!("{:.1}", cost.bytes_per_second / 1e3),
                format!("{:.1}", cost.bytes_per_second_back / 1e3),
                cost.bytes_per_update.map_or("-".into(), |bytes| format!("{bytes:.1}")),
                cost.heap_per_pair.map_or("-".into(), |bytes| format!("{bytes:.0}")),
            ]
        };
        let rows = self.costs.iter().filter(|cost| cost.scenario == scenario).map(row).collect();
        let what = scenario.name();
        let title = format!("Serving {entities} entities to {receivers} receivers, {what}: CPU ms of {ticks} ticks");
        table(title, &head, rows)
    }

    /// The recordings, their units, and which of them tuned what.
    fn games_table(&self) -> Exhibit {
        let row = |game: &Game, name: &String, ground: &Ground| {
            let (unit, format) = (game.unit(), &game.format);
            vec![
                name.clone(),
                ground.lives().to_string(),
                format!("{:.0}", ground.seconds()),
                format!("{}{unit}", game.threshold),
                format!("{}{unit}, {}{unit}/s", tidy(format.position_step), tidy(format.velocity_step)),
                games::tuned(name).to_owned(),
            ]
        };
        let rows = |Shown { game, .. }: &Shown| -> Vec<Vec<String>> {
            game.traces.iter().zip(&game.grounds).map(|(name, ground)| row(game, name, ground)).collect()
        };
        let head = ["", "lives", "seconds", "threshold at knob 0", "quantised to", "what was tuned on it"];
        table("Recorded games".into(), &head, self.shown.iter().flat_map(rows).collect())
    }

    /// One point as a row: bytes, errors, and the mean at each receiver.
    fn row(&self, name: String, outcome: &Outcome) -> Vec<String> {
        let mut row = vec![name];
        row.extend([outcome.mean_of(|seen| seen.bytes), outcome.wire_bytes()].map(|bytes| format!("{bytes:.0}")));
        row.extend([outcome.mean, outcome.p99, outcome.std].map(|metres| format!("{metres:.3}")));
        row.extend(outcome.receivers.iter().map(|seen| format!("{:.2}", seen.mean)));
        row
    }

    fn tracks_table(&self, game: &Game, title: String, rows: Vec<Vec<String>>) -> Exhibit {
        let mut head = ["", "B/s", "on wire"].map(String::from).to_vec();
        head.extend([format!("mean{}", game.unit()), format!("p99{}", game.unit()), "spread".into()]);
        head.extend(self.paths.iter().map(|path| format!("{:.0} ms", path.delay.as_millis_f64())));
        Exhibit::Table { title, note: String::new(), head, rows }
    }

    /// A peer at each of its rates, and ours at as many bytes below it.
    fn match_table(&self, game: &Game, findings: &Findings, variant: &Variant) -> Exhibit {
        let rows = findings.matches.iter().filter(|one| one.name == variant.name).flat_map(|one| {
            let peer = self.row(format!("{:.0} Hz", hertz(one.peer.knob as u32)), &one.peer.outcome);
            let ours = one.ours.iter().map(|(policy, point, fit)| {
                let mark = if *fit == Fit::Equal { "" } else { " *" };
                self.row(format!("  {}{mark}", policy.describe(game, point.knob)), &point.outcome)
            });
            [peer].into_iter().chain(ours).collect::<Vec<_>>()
        });
        let title = format!("{}{} ({}), and Evenkeel at as many bytes", game.prefix(), variant.name, variant.why);
        self.tracks_table(game, title, rows.collect())
    }

    fn curve_table(&self, game: &Game, policy: Ours, curve: &Curve) -> Exhibit {
        let row = |point: &Point| self.row(policy.describe(game, point.knob), &point.outcome);
        self.tracks_table(game, format!("{}{}", game.prefix(), curve.name), curve.points.iter().map(row).collect())
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let curves = |Shown { game, findings }: &Shown| -> Vec<Value> {
            findings.peers.iter().chain(&findings.ours).map(|curve| curve_to_json(game, curve)).collect()
        };
        let matches = |Shown { game, findings }: &Shown| -> Vec<Value> {
            findings.matches.iter().map(|one| match_to_json(game, one)).collect()
        };
        json!({
            "version": JSON_VERSION,
            "date": machine::date(),
            "machine": machine::processor(),
            "load_average": machine::load_average(),
            "versions": named(machine::versions().into_iter()),
            "settings": named(self.variants.iter().map(|variant| (variant.name, variant.why))),
            "load": {
                "entities": self.size.entities,
                "receivers": self.size.receivers,
                "ticks": self.size.ticks,
                "ticks_in_a_row": self.size.block,
                "rows": self.costs.iter().map(cost_to_json).collect::<Vec<_>>(),
            },
            "traces": self.shown.iter().flat_map(|shown| &shown.game.traces).collect::<Vec<_>>(),
            "games": self.shown.iter().map(|shown| game_to_json(&shown.game)).collect::<Vec<_>>(),
            "paths": self.paths.iter().map(Conditions::to_string).collect::<Vec<_>>(),
            "curves": self.shown.iter().flat_map(curves).collect::<Vec<_>>(),
            "equal_bytes": self.shown.iter().flat_map(matches).collect::<Vec<_>>(),
            "verdicts": self.verdicts.iter().map(verdict_to_json).collect::<Vec<_>>(),
        })
    }
}

impl Verdict {
    fn line(&self) -> String {
        let holds = if self.holds { "holds" } else { "does not hold" };
        format!(" {holds:<14} {}\n{:16}{}\n", self.target, "", self.found)
    }
}

fn named<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn verdict_to_json(Verdict { target, holds, found }: &Verdict) -> Value {
    json!({ "target": target, "holds": holds, "found": found })
}

fn cost_to_json(cost: &Cost) -> Value {
    json!({
        "name": cost.name,
        "scenario": cost.scenario.name(),
        "cpu_ms_median": cost.median * 1e3,
        "cpu_ms_mean": cost.mean * 1e3,
        "cpu_ms_p99": cost.p99 * 1e3,
        "cpu_ms_longest": cost.longest * 1e3,
        "ns_per_pair": cost.nanos_per_pair,
        "bytes_per_second": cost.bytes_per_second,
        "bytes_per_second_back": cost.bytes_per_second_back,
        "bytes_per_update": cost.bytes_per_update,
        "heap_bytes_per_pair": cost.heap_per_pair,
    })
}

fn point_to_json(point: &Point) -> Value {
    let Outcome { receivers, mean, p99, std, max } = &point.outcome;
    let receivers = receivers.iter().map(|seen| {
        json!({
            "mean": seen.mean,
            "p99": seen.p99,
            "unseen": seen.unseen,
            "bytes_per_second": seen.bytes,
            "wire_bytes_per_second": seen.wire_bytes,
            "datagrams_per_second": seen.datagrams,
            "bytes_per_second_back": seen.bytes_back,
        })
    });
    json!({
        "knob": point.knob, "mean": mean, "p99": p99, "std": std, "max": max,
        "wire_bytes_per_second": point.outcome.wire_bytes(), "receivers": receivers.collect::<Vec<_>>(),
    })
}

/// A step without the digits that division left behind.
fn tidy(step: f64) -> f64 {
    format!("{step:.6e}").parse().unwrap_or(step)
}

fn game_to_json(game: &Game) -> Value {
    let traces = game.traces.iter().zip(&game.grounds).map(|(name, ground)| {
        json!({ "name": name, "lives": ground.lives(), "seconds": ground.seconds(), "tuned": games::tuned(name) })
    });
    json!({
        "name": game.label(),
        "threshold": game.threshold,
        "position_step": tidy(game.format.position_step),
        "velocity_step": tidy(game.format.velocity_step),
        "traces": traces.collect::<Vec<_>>(),
    })
}

fn curve_to_json(game: &Game, curve: &Curve) -> Value {
    json!({ "game": game.label(), "name": curve.name, "points": curve.points.iter().map(point_to_json).collect::<Vec<_>>() })
}

fn match_to_json(game: &Game, one: &Match) -> Value {
    let ours = |(policy, point, fit): &(Ours, Point, Fit)| {
        json!({
            "name": policy.name(),
            "setting": policy.describe(game, point.knob),
            "bytes": format!("{fit:?}").to_lowercase(),
            "point": point_to_json(point),
        })
    };
    let ours: Vec<Value> = one.ours.iter().map(ours).collect();
    json!({ "game": game.label(), "name": one.name, "peer": point_to_json(&one.peer), "ours": ours })
}

//! Strategies side by side, over many problems.

use super::text::paragraph;
use super::{Row, json::settings, objective_name};
use crate::report::VERSION;
use crate::report::axis::Axis;
use crate::report::page::{self, key, swatch, table};
use crate::report::svg::{Plot, colour, escape};
use anyhow::Result;
use evenkeel_sites::{Objective, Strategy};
use serde_json::{Value, json};
use std::fmt::Write;

/// What came of strategies over many problems.
pub struct Series {
    settings: Vec<(String, String)>,
    objective: Objective,
    problems: usize,
    rows: Vec<Summary>,
}

/// What came of one strategy: means over the problems.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The strategy's name.
    pub strategy: &'static str,
    /// For how many problems it had a plan.
    pub plans: usize,
    /// For how many problems no other was better.
    pub wins: usize,
    /// In the order of [`COLUMNS`].
    values: [f64; 8],
}

/// What is averaged.
const COLUMNS: [&str; 8] = ["servers", "mean_ms", "std_ms", "p95_ms", "max_ms", "value_ms", "gap", "seconds"];
/// Plans whose objectives differ by less than this are equally good.
const SAME: f64 = 1e-9;

fn values(Row { answer, seconds }: &Row) -> [f64; 8] {
    let all = &answer.assessment;
    let servers = answer.plan.servers.len() as f64;
    [servers, all.mean, all.std, all.p95, all.max, answer.value, answer.gap, *seconds]
}

impl Series {
    /// Of these strategies, in this order, and the rows of each problem.
    pub fn new(
        settings: Vec<(String, String)>,
        objective: Objective,
        strategies: &[Strategy],
        problems: &[Vec<Row>],
    ) -> Self {
        let summary = |strategy: &Strategy| {
            let mut summary = Summary { strategy: strategy.name(), ..Summary::default() };
            for rows in problems {
                let best = rows.iter().map(|row| row.answer.value).fold(f64::INFINITY, f64::min);
                for row in rows.iter().filter(|row| row.answer.strategy == *strategy) {
                    summary.plans += 1;
                    summary.wins += usize::from(row.answer.value <= best * (1.0 + SAME));
                    summary.values.iter_mut().zip(values(row)).for_each(|(sum, value)| *sum += value);
                }
            }
            let count = summary.plans.max(1) as f64;
            summary.values.iter_mut().for_each(|sum| *sum /= count);
            summary
        };
        Self { settings, objective, problems: problems.len(), rows: strategies.iter().map(summary).collect() }
    }

    fn heading(&self) -> String {
        format!("means over {} problems; objective: {}", self.problems, objective_name(self.objective))
    }

    /// A table.
    pub fn to_text(&self) -> String {
        let mut out = paragraph(&self.heading());
        let _ = writeln!(
            out,
            "\n {:<28} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>8} {:>6}",
            "strategy", "servers", "mean", "std", "p95", "max", "gap, %", "seconds", "wins"
        );
        for Summary { strategy, wins, values: [servers, mean, std, p95, max, _, gap, seconds], .. } in &self.rows {
            let gap = 100.0 * gap;
            let _ = writeln!(
                out,
                " {strategy:<28} {servers:>7.1} {mean:>7.1} {std:>7.1} {p95:>7.1} {max:>7.1} {gap:>6.2} {seconds:>8.3} {wins:>6}"
            );
        }
        out
    }

    /// An object with `version`, `settings`, `objective`, `problems` and `rows`. Only `seconds` differ from run to run.
    pub fn to_json(&self) -> Value {
        let row = |summary: &Summary| {
            let mut row = json!({ "strategy": summary.strategy, "plans": summary.plans, "wins": summary.wins });
            COLUMNS.iter().zip(summary.values).for_each(|(name, value)| row[*name] = value.into());
            row
        };
        json!({
            "version": VERSION,
            "settings": settings(&self.settings),
            "objective": objective_name(self.objective),
            "problems": self.problems,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// One line per strategy.
    pub fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["strategy", "plans", "wins"].iter().chain(&COLUMNS))?;
        for Summary { strategy, plans, wins, values } in &self.rows {
            let head = [(*strategy).to_owned(), plans.to_string(), wins.to_string()];
            writer.write_record(head.into_iter().chain(values.iter().map(f64::to_string)))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// A page that needs nothing else.
    pub fn to_html(&self) -> String {
        let mut page = page::head("Evenkeel: ways of placing servers");
        let mut put = |part: &str| page.push_str(part);
        put("<h1>Ways of placing servers</h1>\n");
        put(&format!("<p class=\"note\">evenkeel {VERSION}, {}</p>\n", escape(&self.heading())));
        let head = ["strategy", "servers", "mean", "std", "p95", "max", "value", "gap, %", "seconds", "wins", "plans"];
        let cells = |Summary { strategy, plans, wins, values }: &Summary| {
            let mut cells = vec![(*strategy).to_owned()];
            cells.extend(values[..6].iter().map(|value| format!("{value:.1}")));
            cells.extend([format!("{:.2}", 100.0 * values[6]), format!("{:.3}", values[7])]);
            cells.extend([wins.to_string(), plans.to_string()]);
            cells
        };
        put(&table(&head, self.rows.iter().map(cells)));
        put(
            "<p class=\"note\">Milliseconds. Value and gap are of the objective. Wins: how often no other strategy was better.</p>\n\
             <h2>Response times</h2>\n",
        );
        put(&key(self.rows.iter().enumerate().map(|(n, row)| (swatch(colour(n)), row.strategy))));
        put(&self.bars());
        put("<h2>Settings</h2>\n");
        put(&page::settings(&self.settings));
        put(page::END);
        page
    }

    fn bars(&self) -> String {
        let longest = self.rows.iter().map(|row| row.values[4]).fold(0.0, f64::max);
        let mut plot = Plot::new(760.0, 340.0, Axis::up_to(1.0), Axis::up_to(longest));
        let names = ["mean", "standard deviation", "95th percentile", "slowest"];
        let of = |column: usize| self.rows.iter().map(|row| row.values[1 + column]).collect();
        let groups: Vec<_> = names.iter().enumerate().map(|(n, name)| (*name, of(n))).collect();
        plot.bars(&groups, "response times, per strategy", "ms");
        plot.finish("Response times, per strategy")
    }
}

//! A page that needs nothing else.

use super::{Placement, Row, objective_name};
use crate::report::VERSION;
use crate::report::axis::Axis;
use crate::report::page::{self, key, table};
use crate::report::svg::{Pen, Plot, escape};

/// A curve of more points than this shows no more.
const POINTS: usize = 2_000;

impl Placement {
    /// The page.
    pub fn to_html(&self) -> String {
        let mut page = page::head("Evenkeel: where servers stand");
        let mut put = |part: &str| page.push_str(part);
        put("<h1>Where servers stand</h1>\n");
        put(&format!("<p class=\"note\">evenkeel {VERSION}, {}</p>\n", escape(&self.heading())));
        put(&format!("<p class=\"verdict\">{}</p>\n", escape(&self.advice())));
        put(&format!("<p>{} {}</p>\n", escape(&self.fairness()), escape(&self.lateness())));
        put(&self.map());
        put(&format!("<p class=\"note\">{}</p>\n", self.map_note()));
        put("<h2>Servers</h2>\n");
        put(&self.server_table());
        put("<h2>Strategies</h2>\n");
        put(&self.strategy_table());
        put(&self.note());
        put("<h2>Response times</h2>\n");
        put(&self.distribution());
        put("<p class=\"note\">How many of the players are answered within a time.</p>\n<h2>Settings</h2>\n");
        put(&page::settings(&self.settings));
        put(page::END);
        page
    }

    fn note(&self) -> String {
        let mut note = format!(
            "<p class=\"note\">Milliseconds. Value, bound and gap are of the objective, {}: no plan has a value below the bound, and \
             the gap says how far a plan may be from the best.",
            escape(&objective_name(self.objective))
        );
        for (strategy, why) in &self.left_out {
            note.push_str(&format!(" No plan for {}: {}.", strategy.name(), escape(why)));
        }
        note + "</p>\n"
    }

    fn server_table(&self) -> String {
        let Some(answer) = self.answer() else { return String::new() };
        let (plan, loads) = (&answer.plan, answer.plan.loads(&self.problem));
        let rows = plan.servers.iter().zip(&plan.lags).zip(loads);
        let cells =
            |((s, lag), load): ((&usize, &f64), f64)| vec![self.name(*s).into(), format!("{lag:.1}"), load.to_string()];
        table(&["server", "lag, ms", "players"], rows.map(cells))
    }

    fn strategy_table(&self) -> String {
        let head = ["strategy", "servers", "mean", "std", "p95", "max", "value", "bound", "gap, %", "seconds"];
        let cells = |Row { answer, seconds }: &Row| {
            let all = &answer.assessment;
            let mut cells = vec![answer.strategy.name().to_owned(), answer.plan.servers.len().to_string()];
            let figures = [all.mean, all.std, all.p95, all.max, answer.value, answer.bound];
            cells.extend(figures.map(|value| format!("{value:.1}")));
            cells.extend([format!("{:.2}", 100.0 * answer.gap), format!("{seconds:.2}")]);
            cells
        };
        table(&head, self.rows.iter().map(cells))
    }

    /// For every time, how many are answered within it.
    fn distribution(&self) -> String {
        let longest = self.rows.iter().map(|row| row.answer.assessment.max).fold(0.0, f64::max);
        let mut plot = Plot::new(760.0, 340.0, Axis::up_to(longest), Axis::exactly(100.0));
        plot.y_axis("players, %");
        plot.x_axis("response time, ms");
        for (n, row) in self.rows.iter().enumerate() {
            plot.curve(self.steps(row).into_iter(), &Pen::of(n));
        }
        let names = self.rows.iter().enumerate().map(|(n, row)| (Pen::of(n).sample(), row.answer.strategy.name()));
        key(names) + &plot.finish("Part of the players answered within a time, per strategy")
    }

    fn steps(&self, row: &Row) -> Vec<(f64, f64)> {
        let weights = self.problem.players().iter().map(|player| player.weight);
        let mut all: Vec<(f64, f64)> = row.answer.plan.responses(&self.problem).into_iter().zip(weights).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (whole, every) = (self.problem.weight() / 100.0, all.len().div_ceil(POINTS));
        let (mut points, mut below) = (vec![(0.0, 0.0)], 0.0);
        for (n, (response, weight)) in all.iter().enumerate() {
            let shown = n % every == 0 || n + 1 == all.len();
            shown.then(|| points.push((*response, below / whole)));
            below += weight;
            shown.then(|| points.push((*response, below / whole)));
        }
        points
    }
}

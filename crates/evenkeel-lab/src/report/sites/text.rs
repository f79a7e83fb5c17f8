//! For people: the answer first.

use super::{Placement, Row, in_ms, objective_name};
use crate::report::words::{COLUMNS, wrapped};
use evenkeel_sites::{Answer, Strategy};
use std::fmt::Write;

/// More servers than these are not listed one by one.
const LISTED: usize = 16;
/// Nor are more than these named in a sentence.
const NAMED: usize = 6;
/// Names are cut after so many letters.
const LETTERS: usize = 48;

pub(super) fn cut(name: &str) -> String {
    let all = name.chars().count();
    if all <= LETTERS { name.to_owned() } else { name.chars().take(LETTERS - 1).chain(['…']).collect() }
}

/// Words as one would say them: a, b and c.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Lines with a space before them, no longer than a terminal is wide.
pub(super) fn paragraph(text: &str) -> String {
    wrapped(text, COLUMNS - 1).iter().map(|line| format!(" {line}\n")).collect()
}

impl Placement {
    /// Servers with their lags and players, a table of strategies, and what to do.
    pub fn to_text(&self) -> String {
        let mut out = paragraph(&self.heading());
        out.push('\n');
        if let Some(answer) = self.answer() {
            out.push_str(&self.servers(answer));
            out.push('\n');
        }
        out.push_str(&self.table());
        for (strategy, why) in &self.left_out {
            out.push_str(&paragraph(&format!("No plan for {}: {why}.", strategy.name())));
        }
        out.push('\n');
        out.push_str(&paragraph(&format!("{} {}", self.fairness(), self.lateness())));
        out + &paragraph(&self.advice())
    }

    pub(super) fn heading(&self) -> String {
        let (players, sites) = (self.problem.players().len(), self.problem.sites().len());
        let weight = self.problem.weight();
        let stand_for = if weight == players as f64 { String::new() } else { format!(" who stand for {weight}") };
        format!("{players} players{stand_for}, {sites} sites; objective: {}", objective_name(self.objective))
    }

    fn servers(&self, answer: &Answer) -> String {
        let (plan, loads) = (&answer.plan, answer.plan.loads(&self.problem));
        let names: Vec<String> = plan.servers.iter().map(|s| cut(self.name(*s))).collect();
        let title = format!("servers: {}", names.len());
        let width = names.iter().chain([&title]).map(|name| name.chars().count()).max().unwrap_or(0);
        let mut out = format!(" {title:<width$} {:>8} {:>9}\n", "lag, ms", "players");
        for ((name, lag), load) in names.iter().zip(&plan.lags).zip(&loads).take(LISTED) {
            let _ = writeln!(out, " {name:<width$} {lag:>8.1} {load:>9}");
        }
        if names.len() > LISTED {
            let _ = writeln!(out, " and {} more: see --json", names.len() - LISTED);
        }
        out
    }

    fn table(&self) -> String {
        let mut out = format!(
            " {:<28} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>8}",
            "strategy", "servers", "mean", "std", "p95", "max", "bound", "gap, %", "seconds"
        );
        let late = self.is_late();
        out.push_str(if late { "   late\n" } else { "\n" });
        for Row { answer, seconds } in &self.rows {
            let all = &answer.assessment;
            let _ = write!(
                out,
                " {:<28} {:>7} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>6.2} {seconds:>8.2}",
                answer.strategy.name(),
                answer.plan.servers.len(),
                all.mean,
                all.std,
                all.p95,
                all.max,
                answer.bound,
                100.0 * answer.gap,
            );
            if late {
                let _ = write!(out, " {:>6.1}", answer.plan.inconsistency(&self.problem).mean);
            }
            out.push('\n');
        }
        out
    }

    /// What it would cost to make all equal.
    pub(super) fn fairness(&self) -> String {
        let Some(answer) = self.answer() else { return String::new() };
        let (before, equal) = (answer.assessment.mean, answer.assessment.equalise());
        format!(
            "To pad everybody to the slowest costs {:.1} ms of the mean: {:.1} ms for all instead of {before:.1}.",
            equal.price, equal.to
        )
    }

    /// What comes of it that servers do not wait for each other as long as they should; nothing if they do.
    pub(super) fn lateness(&self) -> String {
        let late = self.answer().map(|answer| answer.plan.inconsistency(&self.problem)).unwrap_or_default();
        if late.worst == 0.0 {
            return String::new();
        }
        format!(
            "Servers wait for a part of the lag only: actions come {:.1} ms too late on average, {:.1} ms at worst.",
            late.mean, late.worst
        )
    }

    /// What to do, in a sentence.
    pub fn advice(&self) -> String {
        let Some(answer) = self.answer() else { return String::new() };
        let servers = &answer.plan.servers;
        let mut names: Vec<String> = servers.iter().take(NAMED).map(|s| cut(self.name(*s))).collect();
        if servers.len() > NAMED {
            names.push(format!("{} more", servers.len() - NAMED));
        }
        let plural = if servers.len() == 1 { "a server" } else { "servers" };
        let sure = match answer.gap {
            _ if answer.proven => "no plan is better".to_owned(),
            gap => format!("no plan is better by more than {:.2} %", (100.0 * gap).max(0.01)),
        };
        format!("Put {plural} at {}: {}; {sure}.", listed(&names), self.gain(answer))
    }

    /// What is gained over the best single server.
    fn gain(&self, answer: &Answer) -> String {
        if !in_ms(self.objective) {
            return format!("the slowest player is answered within {:.1} ms", answer.assessment.max);
        }
        let what = format!("the objective is {:.1} ms", answer.value);
        let central = |row: &&Row| matches!(row.answer.strategy, Strategy::CentralMean | Strategy::CentralCritical);
        let single = self.rows.iter().filter(central).map(|row| row.answer.value).min_by(f64::total_cmp);
        match single {
            Some(single) if single > answer.value => {
                let less = 100.0 * (1.0 - answer.value / single);
                format!("{what}, {less:.1} % less than with the best single server ({single:.1} ms)")
            }
            _ => what,
        }
    }
}

//! The advice as text and for programs.

use super::{Advice, Alternative};
use crate::experiment::budget_text;
use crate::report::VERSION;
use serde_json::{Value, json};
use std::fmt::Write;

/// How wide a terminal is taken to be.
const COLUMNS: usize = 100;

impl Advice {
    /// Three sentences, and the alternatives.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for sentence in self.sentences() {
            wrap(&sentence, &mut out);
        }
        out.push('\n');
        out + &self.table()
    }

    /// One line for each alternative, the recommended one marked.
    fn table(&self) -> String {
        let width = self.alternatives.iter().map(|other| other.policy.chars().count()).max().unwrap_or(0).max(6);
        let mut out = format!(
            "   {:>7}  {:<width$} {:>8} {:>9} {:>8} {:>8} {:>9}\n",
            "lag", "policy", "vectors", "mean", "std", "max", "response"
        );
        for (index, other) in self.alternatives.iter().enumerate() {
            let Alternative { lag, policy, vectors, mean, std, max, affordable } = other;
            let mark = if index == self.chosen { '>' } else { ' ' };
            let ms = format!("{:.0} ms", lag.as_millis_f64());
            let dear = if *affordable { "" } else { "  over the budget" };
            let _ = writeln!(
                out,
                " {mark} {ms:>7}  {policy:<width$} {vectors:>8.0} {mean:>7.3} m {std:>8.3} {max:>8.3} {ms:>9}{dear}"
            );
        }
        out
    }

    /// An object with `version`, `recommendation`, `sentences` and `rows`.
    pub fn to_json(&self) -> Value {
        let best = self.recommended();
        json!({
            "version": VERSION,
            "recommendation": {
                "movement_lag_ms": best.lag.as_millis_f64(),
                "verdict_lag_ms": self.verdicts.lag.as_millis_f64(),
                "policy": best.policy,
                "budget": budget_text(self.budget),
                "timewarp": self.needs_timewarp(),
                "prediction": self.needs_prediction(),
            },
            "sentences": self.sentences(),
            "rows": self.alternatives.iter().enumerate().map(|(index, other)| self.row(index, other)).collect::<Vec<_>>(),
        })
    }

    fn row(&self, index: usize, other: &Alternative) -> Value {
        json!({
            "lag_ms": other.lag.as_millis_f64(),
            "policy": other.policy,
            "vectors": other.vectors,
            "mean_m": other.mean,
            "std_m": other.std,
            "max_m": other.max,
            "response_ms": other.lag.as_millis_f64(),
            "affordable": other.affordable,
            "recommended": index == self.chosen,
        })
    }
}

/// A sentence on lines of its own, none too long.
fn wrap(sentence: &str, out: &mut String) {
    let mut used = 0;
    for word in sentence.split_whitespace() {
        let length = word.chars().count();
        let breaks = used > 0 && used + 1 + length > COLUMNS - 1;
        if breaks {
            out.push('\n');
            used = 0;
        }
        out.push(' ');
        out.push_str(word);
        used += 1 + length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_a_terminal() {
        let mut out = String::new();
        wrap(&"some words and more of them ".repeat(20), &mut out);
        assert!(out.lines().count() > 4 && out.lines().all(|line| line.chars().count() <= COLUMNS), "{out}");
    }
}

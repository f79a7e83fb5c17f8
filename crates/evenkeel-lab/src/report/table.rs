//! Findings as a table to read, and what it says in words.

use crate::experiment::{Findings, Row};
use std::fmt::Write;

/// Rows count as equal in vectors if they are this close.
const SAME_COUNT: f64 = 0.05;

/// One line per policy.
pub fn to_table(findings: &Findings) -> String {
    let width = findings.rows.iter().map(|row| row.policy.chars().count()).max().unwrap_or(0).max(8);
    let mut out = format!(
        " {:<width$} {:>9} {:>12} {:>7} {:>7}   {:<14} {:>8} {:>7}\n",
        "policy", "vectors", "export error", "std", "max", "worst receiver", "real", "spread"
    );
    for (i, row) in findings.rows.iter().enumerate() {
        let unit = if i == 0 { " m" } else { "  " };
        let worst = row.worst().map_or_else(String::new, |worst| format!("{} ms", worst.delay_ms));
        let _ = writeln!(
            out,
            " {:<width$} {:>9} {:>10.3}{unit} {:>7.3} {:>7.3}   {worst:<14} {:>8} {:>7.3}",
            row.policy,
            thousands(row.vectors_sent),
            row.mean,
            row.std,
            row.max,
            figure(row.real_mean),
            row.spread,
        );
    }
    for row in &findings.rows {
        if let Some(off) = row.off_budget() {
            let _ = writeln!(
                out,
                " `{}` is {:+.1} % off what its budget allows: compare with care.",
                row.policy,
                100.0 * off
            );
        }
    }
    out
}

/// A figure, or a dash if it is unknown.
pub(super) fn figure(value: f64) -> String {
    if value.is_nan() { "-".into() } else { format!("{value:.3}") }
}

/// A figure to three digits or so, or a dash if it is unknown.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value.is_nan() => "-".into(),
        _ if value.is_infinite() => if value > 0.0 { "∞" } else { "-∞" }.into(),
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.0995 || size == 0.0 => format!("{value:.2}"),
        _ if size >= 0.000_995 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// Which columns of a table hold figures: those after the first that have nothing else.
pub(super) fn figure_columns(columns: usize, rows: &[Vec<String>]) -> Vec<bool> {
    let starts = |c: char| c.is_ascii_digit() || "-+±∞≈<>".contains(c);
    let is_figure = |cell: &String| cell.is_empty() || (cell.starts_with(starts) && !cell.contains('/'));
    (0..columns).map(|n| n > 0 && rows.iter().all(|row| row.get(n).is_none_or(is_figure))).collect()
}

/// A whole number with gaps.
pub(super) fn thousands(number: f64) -> String {
    let digits = format!("{:.0}", number.max(0.0));
    let gap = |(i, digit): (usize, char)| {
        let gap = i > 0 && (digits.len() - i).is_multiple_of(3);
        gap.then_some(' ').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(gap).collect()
}

/// What the best row gains over every k-th update, in a sentence; empty if there is nothing to compare.
pub fn verdict(findings: &Findings) -> String {
    let kth = findings.rows.iter().find(|row| row.policy.starts_with("base/"));
    let Some(kth) = kth else { return String::new() };
    let k = kth.policy.trim_start_matches("base/");
    let same = |row: &&Row| {
        row.policy != kth.policy && (row.vectors_sent / kth.vectors_sent.max(1.0) - 1.0).abs() <= SAME_COUNT
    };
    let score = |row: &Row| row.mean + row.std;
    let best = findings.rows.iter().filter(same).min_by(|a, b| score(a).total_cmp(&score(b)));
    if let Some(best) = best {
        return format!(
            "At 1/{k} of the updates: `{}` is {} than sending every {} update and {}.",
            best.policy,
            accuracy(best.mean, kth.mean),
            ordinal(k),
            fairness(best.std, kth.std)
        );
    }
    match findings.rows.iter().find(|row| row.policy == "base") {
        Some(base) if base.mean > 0.0 => format!(
            "Sending every {} update instead of all makes the export error {:.1} times as large, and {:.1} times as unequal.",
            ordinal(k),
            kth.mean / base.mean,
            kth.std / base.std.max(f64::MIN_POSITIVE)
        ),
        _ => String::new(),
    }
}

fn accuracy(mean: f64, reference: f64) -> String {
    let change = 100.0 * (1.0 - mean / reference.max(f64::MIN_POSITIVE));
    if change >= 0.0 { format!("{change:.0} % more accurate") } else { format!("{:.0} % less accurate", -change) }
}

fn fairness(std: f64, reference: f64) -> String {
    let (ratio, inverse) = (reference / std.max(f64::MIN_POSITIVE), std / reference.max(f64::MIN_POSITIVE));
    match ratio {
        r if r > 100.0 => "more than 100 times as fair".into(),
        r if r >= 1.05 => format!("{r:.1} times as fair"),
        r if r > 1.0 / 1.05 => "as fair".into(),
        _ => format!("{inverse:.1} times as unfair"),
    }
}

fn ordinal(k: &str) -> String {
    match k {
        "1" => "single".into(),
        "2" => "second".into(),
        "3" => "third".into(),
        k => format!("{k}th"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Settings, run};

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            ["0", "999", "1 000", "1 234 567"],
            [0.0, 999.0, 1e3, 1_234_567.0].map(thousands).each_ref().map(String::as_str)
        );
    }

    #[test]
    fn short_figures_have_about_three_digits() {
        let all = [0.0, 1234.5, 12.345, 0.9, 0.01234, 2e-7, f64::NAN].map(short);
        assert_eq!(all, ["0.00", "1234", "12.3", "0.90", "0.0123", "2.0e-7", "-"]);
    }

    /// The whole way from a motion to the page, to be seen when it changes.
    #[test]
    fn a_small_table_looks_like_this() {
        let settings = Settings { seconds: Some(30.0), ..Settings::default() };
        let findings = run(&settings, &|_| {}).unwrap();
        let table = to_table(&findings);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with(" policy     vectors export error     std     max   worst receiver"), "{table}");
        assert!(lines[1].starts_with(" base ") && lines[1].contains("800 ms"), "{table}");
        let [base, third] = &findings.rows[..] else { panic!() };
        for (value, about) in [(base.mean, 2.18), (base.std, 1.66), (third.mean, 10.0), (third.vectors_sent, 189.0)] {
            assert!((value / about - 1.0).abs() < 0.2, "{value} is not about {about}:\n{table}");
        }
        let words = verdict(&findings);
        assert!(words.starts_with("Sending every third update instead of all makes the export error"), "{words}");
    }
}

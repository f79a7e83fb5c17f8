//! Findings as a table to read, and what it says in words.

use crate::experiment::{Findings, Row};
use std::fmt::Write;

/// Rows count as equal in vectors if they are this close.
const SAME_COUNT: f64 = 0.05;
/// Beyond this, how many times as much does not matter.
const MOST_TIMES: f64 = 100.0;
/// A standard deviation that is a smaller share of the mean than this is rounding.
const NEXT_TO_NOTHING: f64 = 1e-6;

/// One line per policy.
pub fn to_table(findings: &Findings) -> String {
    let width = findings.rows.iter().map(|row| row.policy.chars().count()).max().unwrap_or(0).max(8);
    let bounded = findings.rows.iter().any(|row| row.bound.is_some());
    let mut out = format!(
        " {:<width$} {:>9} {:>12} {:>7} {:>7}   {:<14} {:>8} {:>7}{}\n",
        "policy",
        "vectors",
        "export error",
        "std",
        "max",
        "worst receiver",
        "real",
        "spread",
        if bounded { "   bound  gap closed" } else { "" }
    );
    for (i, row) in findings.rows.iter().enumerate() {
        let unit = if i == 0 { " m" } else { "  " };
        let worst = row.worst().map_or_else(String::new, |worst| format!("{} ms", worst.delay_ms));
        let _ = writeln!(
            out,
            " {:<width$} {:>9} {:>10.3}{unit} {:>7.3} {:>7.3}   {worst:<14} {:>8} {:>7.3}{}",
            row.policy,
            thousands(row.vectors_sent),
            row.mean,
            row.std,
            row.max,
            figure(row.real_mean),
            row.spread,
            row.bound.map_or_else(String::new, |bound| format!(" {bound:>7.3} {:>11}", percent(row.gap_closed))),
        );
    }
    if let Some(words) = bound_words(findings) {
        let _ = writeln!(out, " {words}");
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
        if row.refused.total() > 0 {
            let causes = row.refused.by_cause().into_iter().filter(|(_, count)| *count > 0);
            let causes: Vec<_> = causes.map(|(cause, count)| format!("{count} {cause}")).collect();
            let _ = writeln!(out, " `{}`: receivers refused datagrams ({}).", row.policy, causes.join(", "));
        }
    }
    out
}

/// What the columns about the bound say; nothing if there are none.
pub(super) fn bound_words(findings: &Findings) -> Option<&'static str> {
    let any = |of: fn(&Row) -> Option<f64>| findings.rows.iter().any(|row| of(row).is_some());
    let words = if any(|row| row.gap_closed) {
        "Bound: no policy with so many vectors has less. Gap closed: from `tolerance` (0 %) to the bound (100 %)."
    } else {
        "Bound: no policy with so many vectors has less."
    };
    any(|row| row.bound).then_some(words)
}

/// A share in percent, or a dash if it is unknown.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.0} %", 100.0 * share))
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

/// What the best rows gain over every k-th update, in a sentence; empty if there is nothing to compare.
pub fn verdict(findings: &Findings) -> String {
    let kth = findings.rows.iter().find(|row| row.policy.starts_with("base/"));
    let Some(kth) = kth else { return String::new() };
    let same = |row: &&Row| {
        row.policy != kth.policy && (row.vectors_sent / kth.vectors_sent.max(1.0) - 1.0).abs() <= SAME_COUNT
    };
    let rivals: Vec<&Row> = findings.rows.iter().filter(same).collect();
    let base = findings.rows.iter().find(|row| row.policy == "base");
    about_rivals(&rivals, kth).or_else(|| about_base(base?, kth)).unwrap_or_default()
}

/// Of rows with as many vectors as every k-th update: the most accurate and the fairest, which may be two.
fn about_rivals(rivals: &[&Row], kth: &Row) -> Option<String> {
    let accurate = rivals.iter().min_by(|a, b| a.mean.total_cmp(&b.mean).then(a.std.total_cmp(&b.std)))?;
    let fairest = rivals.iter().min_by(|a, b| a.std.total_cmp(&b.std))?;
    let k = kth.policy.trim_start_matches("base/");
    let (name, more, every) = (&accurate.policy, change(accurate.mean, kth.mean), ordinal(k));
    let fair = |row: &Row| fairness(row.std, kth.std);
    let words = if kth.receivers.len() == 1 {
        format!("`{name}` is {more} accurate than sending every {every} update.")
    } else if accurate.std <= fairest.std {
        format!("`{name}` is {more} accurate than sending every {every} update and {}.", fair(accurate))
    } else {
        format!(
            "`{name}` is the most accurate ({more} than sending every {every} update), `{}` the fairest ({}).",
            fairest.policy,
            fair(fairest)
        )
    };
    Some(format!("At 1/{k} of the updates: {words}"))
}

/// What every k-th update loses; nothing to say if there is no error at all.
fn about_base(base: &Row, kth: &Row) -> Option<String> {
    let every = ordinal(kth.policy.trim_start_matches("base/"));
    // Next to nothing, anything is many times as much.
    let unequal = match kth.std / base.std {
        _ if base.std <= base.mean * NEXT_TO_NOTHING => String::new(),
        times if times > MOST_TIMES => format!(", and more than {MOST_TIMES} times as unequal"),
        times => format!(", and {times:.1} times as unequal"),
    };
    let times = kth.mean / base.mean;
    let words = format!(
        "Sending every {every} update instead of all makes the export error {times:.1} times as large{unequal}."
    );
    (base.mean > 0.0).then_some(words)
}

/// How much more or less accurate, as in "5 % more than".
fn change(mean: f64, reference: f64) -> String {
    let percent = 100.0 * (1.0 - mean / reference);
    match percent {
        _ if reference <= 0.0 => if mean > 0.0 { "less" } else { "no more" }.into(),
        percent if percent >= 0.0 => format!("{percent:.0} % more"),
        percent => format!("{:.0} % less", -percent),
    }
}

fn fairness(std: f64, reference: f64) -> String {
    match reference / std {
        // Both are zero.
        ratio if ratio.is_nan() => "as fair".into(),
        ratio if ratio > MOST_TIMES => format!("more than {MOST_TIMES} times as fair"),
        ratio if ratio >= 1.05 => format!("{ratio:.1} times as fair"),
        ratio if ratio > 1.0 / 1.05 => "as fair".into(),
        ratio if ratio < 1.0 / MOST_TIMES => "less fair".into(),
        ratio => format!("{:.1} times as unfair", 1.0 / ratio),
    }
}

fn ordinal(k: &str) -> String {
    let teen = ["11", "12", "13"].iter().any(|teen| k.ends_with(teen));
    match k {
        "1" => "single".into(),
        "2" => "second".into(),
        "3" => "third".into(),
        k if teen => format!("{k}th"),
        k if k.ends_with('1') => format!("{k}st"),
        k if k.ends_with('2') => format!("{k}nd"),
        k if k.ends_with('3') => format!("{k}rd"),
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

    /// What is said about rows with these names, means and standard deviations, and so many receivers.
    fn words(receivers: usize, rows: &[(&str, f64, f64)]) -> String {
        let settings = Settings { seconds: Some(5.0), ..Settings::default() };
        let mut findings = run(&settings, &|_| {}).unwrap();
        let mut model = findings.rows.remove(0);
        model.receivers = vec![model.receivers[0].clone(); receivers];
        let row = |(name, mean, std): &(&str, f64, f64)| Row {
            policy: (*name).to_owned(),
            vectors_sent: if *name == "base" { 300.0 } else { 100.0 },
            mean: *mean,
            std: *std,
            ..model.clone()
        };
        findings.rows = rows.iter().map(row).collect();
        verdict(&findings)
    }

    #[test]
    fn the_most_accurate_and_the_fairest_may_be_two() {
        let third = ("base/3", 2.0, 1.4);
        let two = [("base", 1.0, 0.7), third, ("tolerance", 0.7, 0.9), ("even", 1.0, 0.5)];
        assert_eq!(
            words(3, &two),
            "At 1/3 of the updates: `tolerance` is the most accurate (65 % more than sending every third update), `even` \
             the fairest (2.8 times as fair)."
        );
        assert_eq!(
            words(3, &[third, ("even", 1.0, 0.7)]),
            "At 1/3 of the updates: `even` is 50 % more accurate than sending every third update and 2.0 times as fair."
        );
        assert_eq!(
            words(1, &two),
            "At 1/3 of the updates: `tolerance` is 65 % more accurate than sending every third update."
        );
        assert_eq!(words(3, &[("base", 1.0, 0.7)]), "");
    }

    #[test]
    fn nothing_is_a_silly_multiple_of_nothing() {
        assert_eq!(
            words(3, &[("base/21", 0.0, 0.0), ("even", 1.0, 0.5)]),
            "At 1/21 of the updates: `even` is less accurate than sending every 21st update and less fair."
        );
        assert_eq!(
            words(2, &[("base", 1.0, 0.0), ("base/12", 3.0, 0.5)]),
            "Sending every 12th update instead of all makes the export error 3.0 times as large."
        );
        assert_eq!(["4", "11", "22", "113", "101"].map(ordinal), ["4th", "11th", "22nd", "113th", "101st"]);
    }
}

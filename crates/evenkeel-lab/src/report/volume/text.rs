//! Everything that was found, for a terminal of a hundred columns.

use super::super::table::figure_columns;
use super::super::words::{COLUMNS, wrapped};
use super::html::described;
use super::{Volume, claims, counts_text};
use crate::study::{Exhibit, Study};
use std::fmt::Write;

/// No column of a table is made narrower than this.
const NARROWEST: usize = 8;

impl Volume {
    /// All tables and verdicts; of several experiments, answers and verdicts only.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let alone = self.studies.len() == 1;
        for study in &self.studies {
            out.push_str(&section(study, alone));
        }
        if self.findings().next().is_some() {
            let _ = writeln!(out, "Claims: {}.", counts_text(&self.counts()));
        }
        out
    }
}

fn section(study: &Study, tables: bool) -> String {
    let (question, _) = described(study);
    let mut out = format!("{}: {question}\n", study.name);
    for line in wrapped(&study.summary, COLUMNS - 2) {
        let _ = writeln!(out, "  {line}");
    }
    out.push('\n');
    let plots = study.exhibits.iter().filter(|exhibit| !matches!(exhibit, Exhibit::Table { .. })).count();
    for exhibit in study.exhibits.iter().filter(|_| tables) {
        if let Exhibit::Table { title, head, rows, .. } = exhibit {
            let _ = writeln!(out, "  {title}\n{}", table(head, rows));
        }
    }
    if tables && plots > 0 {
        let _ = writeln!(out, "  ({plots} more as pictures: --report DIR)\n");
    }
    let width = study.findings.iter().map(|finding| finding.claim.id.chars().count()).max().unwrap_or(0);
    for finding in &study.findings {
        let (verdict, id) = (finding.verdict().to_string(), finding.claim.id);
        let _ =
            writeln!(out, "  {verdict:<22} {id:<width$} {}, must be {}", claims::range(finding), finding.claim.band);
    }
    if !study.findings.is_empty() {
        out.push('\n');
    }
    out
}

/// A table within the columns there are: the widest columns are broken into lines.
pub(in crate::report) fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let length = |row: &[String], column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let width = |n: usize| rows.iter().map(|row| length(row, n)).fold(length(head, n), usize::max);
    let mut widths: Vec<usize> = (0..head.len()).map(width).collect();
    while widths.iter().sum::<usize>() + 2 * widths.len() > COLUMNS - 2 {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => break,
        }
    }
    let right = figure_columns(head.len(), rows);
    let mut out = line(head, &widths, &right);
    rows.iter().for_each(|row| out.push_str(&line(row, &widths, &right)));
    out
}

/// One row, as many lines as its longest cell needs.
fn line(row: &[String], widths: &[usize], right: &[bool]) -> String {
    let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for n in 0..height {
        let mut text = String::from("   ");
        for ((cell, width), right) in cells.iter().zip(widths).zip(right) {
            let part = cell.get(n).map_or("", String::as_str);
            let _ = if *right { write!(text, " {part:>width$} ") } else { write!(text, " {part:<width$} ") };
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn verdicts_are_listed_and_nothing_is_too_wide() {
        let mut volume = sample();
        volume.studies.truncate(1);
        let text = volume.to_text();
        assert!(text.contains("  holds with conditions  lower"), "{text}");
        assert!(text.contains("0.55 to 1.20, must be < 1") && text.contains("nothing measured"), "{text}");
        assert!(text.contains("<even>") && text.contains("(4 more as pictures: --report DIR)"), "{text}");
        assert!(text.ends_with("Claims: 1 holds, 1 holds with conditions, 1 does not hold.\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(!sample().to_text().contains("<even>"), "of several only the answers");
    }

    #[test]
    fn wide_tables_are_broken_into_lines() {
        let long =
            "a cell with a great many words in it, more than a terminal has columns to show in one line of text alone";
        let text =
            table(&["a".into(), "b".into()], &[vec![long.into(), "1.5".into()], vec!["x".into(), "10.25".into()]]);
        assert!(text.lines().count() > 3 && text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }
}

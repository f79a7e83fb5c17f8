//! Findings as one page that needs nothing else.

use super::VERSION;
use super::axis::Axis;
use super::page::{self, key, swatch, table};
use super::svg::{Pen, Plot, colour, escape, shade};
use super::table::{bound_words, figure, percent, thousands, verdict};
use crate::experiment::{Findings, Row};
use std::fmt::Write;

/// The page.
pub fn to_html(findings: &Findings) -> String {
    let mut page = page::head("Evenkeel: policies compared");
    let mut put = |part: &str| page.push_str(part);
    put(&format!(
        "<h1>Policies compared</h1>\n<p class=\"note\">evenkeel {VERSION}, {}</p>\n",
        escape(&heading(findings))
    ));
    let words = verdict(findings);
    if !words.is_empty() {
        put(&format!("<p class=\"verdict\">{}</p>\n", escape(&words)));
    }
    put(&results(&findings.rows));
    put(NOTE);
    if let Some(words) = bound_words(findings) {
        put(&format!("<p class=\"note\">{}</p>\n", escape(words)));
    }
    put("<h2>Accuracy and fairness</h2>\n<p class=\"note\">Down is fairer, left is more accurate.</p>\n");
    put(&trade_off(&findings.rows));
    put("<h2>Each receiver</h2>\n");
    put(&key(findings.rows.iter().enumerate().map(|(n, row)| (swatch(colour(n)), row.policy.as_str()))));
    put(&by_receiver(&findings.rows));
    put(&receivers(&findings.rows));
    put("<h2>Over time</h2>\n");
    put(&over_time(&findings.rows));
    put(&senders(&findings.rows));
    put("<h2>Settings</h2>\n");
    put(&page::settings(&findings.settings));
    put(page::END);
    page
}

const NOTE: &str = "<p class=\"note\">Export error: mean distance in metres between what the base case exports and what a \
receiver shows; mean, standard deviation (std) and maximum over receivers, averaged over senders and seeds. Real: the same \
against where things really are. Spread: largest distance between two receivers' views of one thing at one moment, mean over \
time. Flips: how often per minute another receiver becomes the worst off, by the error of the last second.</p>\n";

fn heading(findings: &Findings) -> String {
    let of = |wanted: &str| findings.settings.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let what = of("trace").or(of("motion")).unwrap_or("");
    let seed = of("seed").unwrap_or("");
    match of("seeds") {
        None | Some("1") => format!("{what}, seed {seed}"),
        Some(seeds) => format!("{what}, {seeds} seeds from {seed} on"),
    }
}

fn results(rows: &[Row]) -> String {
    let bounded = rows.iter().any(|row| row.bound.is_some());
    let mut head = vec![
        "policy",
        "vectors",
        "kB",
        "export error",
        "std",
        "max",
        "worst receiver",
        "real",
        "real std",
        "real max",
        "spread",
        "flips",
    ];
    head.extend(["bound", "gap closed"].into_iter().filter(|_| bounded));
    let row = |row: &Row| {
        let worst = row.worst().map_or_else(String::new, |worst| format!("{} ms", worst.delay_ms));
        let mut cells = vec![row.policy.clone(), thousands(row.vectors_sent), format!("{:.0}", row.bytes_sent / 1e3)];
        cells.extend([row.mean, row.std, row.max].map(figure));
        cells.push(worst);
        cells.extend([row.real_mean, row.real_std, row.real_max, row.spread].map(figure));
        cells.push(format!("{:.1}", row.flips));
        if bounded {
            cells.extend([row.bound.map_or_else(|| "-".into(), figure), percent(row.gap_closed)]);
        }
        cells
    };
    table(&head, rows.iter().map(row))
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn trade_off(rows: &[Row]) -> String {
    let x = Axis::up_to(largest(rows.iter().map(|row| row.mean)));
    let y = Axis::up_to(largest(rows.iter().map(|row| row.std)));
    let mut plot = Plot::new(760.0, 380.0, x, y);
    plot.y_axis("standard deviation over receivers, m");
    plot.x_axis("mean export error, m");
    let points: Vec<_> = rows.iter().map(|row| (row.mean, row.std, row.policy.clone())).collect();
    plot.points(&points);
    plot.finish("Mean export error against its standard deviation, per policy")
}

fn delay_names(rows: &[Row]) -> Vec<String> {
    rows.first().map_or(Vec::new(), |row| row.receivers.iter().map(|r| format!("{} ms", r.delay_ms)).collect())
}

fn by_receiver(rows: &[Row]) -> String {
    let errors = rows.iter().flat_map(|row| &row.receivers).map(|receiver| receiver.export_error);
    let mut plot = Plot::new(760.0, 340.0, Axis::up_to(1.0), Axis::up_to(largest(errors)));
    let names = delay_names(rows);
    let errors = |n: usize| rows.iter().map(|row| row.receivers[n].export_error).collect();
    let groups: Vec<_> = names.iter().enumerate().map(|(n, name)| (name.as_str(), errors(n))).collect();
    plot.bars(&groups, "receiver, by one-way delay", "export error, m");
    plot.finish("Export error of each receiver, per policy")
}

fn receivers(rows: &[Row]) -> String {
    let head = ["policy", "delay, ms", "export error", "real", "vectors"];
    let lines = rows.iter().flat_map(|row| {
        row.receivers.iter().map(|receiver| {
            let mut cells = vec![row.policy.clone(), receiver.delay_ms.to_string()];
            cells.extend([receiver.export_error, receiver.real_error].map(figure));
            cells.push(thousands(receiver.vectors));
            cells
        })
    });
    format!("<details><summary>As a table</summary>\n{}</details>\n", table(&head, lines))
}

/// Receivers by delay, each with its place in that order.
fn nearest_first(row: &Row) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.receivers.len()).collect();
    order.sort_by(|a, b| row.receivers[*a].delay_ms.total_cmp(&row.receivers[*b].delay_ms));
    order
}

fn over_time(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let (order, names) = (nearest_first(first), delay_names(rows));
    let shades =
        order.iter().enumerate().map(|(n, receiver)| (swatch(&shade(n, order.len())), names[*receiver].as_str()));
    let mut out = key(shades);
    let top = largest(rows.iter().flat_map(|row| row.timeline.receivers.iter().flatten().copied()));
    out.push_str("<div class=\"many\">\n");
    for row in rows {
        let step = row.timeline.step_s;
        let points = row.timeline.receivers.iter().map(Vec::len).max().unwrap_or(0);
        let mut plot = Plot::new(500.0, 260.0, Axis::exactly(points as f64 * step), Axis::up_to(top));
        plot.y_axis("export error, m");
        plot.x_axis("seconds");
        for (n, receiver) in order.iter().enumerate() {
            let values = row.timeline.receivers[*receiver].iter().enumerate();
            plot.curve(values.map(|(n, value)| ((n as f64 + 0.5) * step, *value)), &Pen::new(shade(n, order.len())));
        }
        let title = format!("Export error over time under {}", row.policy);
        let _ =
            writeln!(out, "<figure><figcaption>{}</figcaption>{}</figure>", escape(&row.policy), plot.finish(&title));
    }
    out + "</div>\n"
}

fn senders(rows: &[Row]) -> String {
    if rows.iter().all(|row| row.senders.len() < 2) {
        return String::new();
    }
    let head = ["policy", "sender", "vectors", "export error", "std", "max"];
    let lines = rows.iter().flat_map(|row| {
        row.senders.iter().map(|sender| {
            let mut cells = vec![row.policy.clone(), sender.name.clone(), thousands(sender.vectors)];
            cells.extend([sender.mean, sender.std, sender.max].map(figure));
            cells
        })
    });
    format!("<h2>Each sender</h2>\n<details><summary>As a table</summary>\n{}</details>\n", table(&head, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Settings, run};

    #[test]
    fn equal_settings_give_equal_pages_that_load_nothing() {
        let settings = Settings { seconds: Some(20.0), ..Settings::default() }.over(&[80.0, 40.0], 10.0, 0.02);
        let [once, again] = [(); 2].map(|()| to_html(&run(&settings, &|_| {}).unwrap()));
        assert_eq!(once, again);
        assert!(!once.contains("http") && !once.contains("NaN"), "{once}");
        assert_eq!(once.matches("<svg").count(), 4);
        assert_eq!(once.matches("<svg").count(), once.matches("</svg>").count());
    }
}

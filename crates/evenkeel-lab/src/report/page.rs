//! What every page has: its style, tables, legends.

use super::svg::escape;
use super::table::figure_columns;
use std::fmt::Write;

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2329; background: #fff; max-width: 74rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.note { color: #59636e; max-width: 46rem; } p.verdict { font-size: 1.1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #dde1e6; }
td { white-space: nowrap; } th.text, td.text { text-align: left; white-space: normal; } th { font-weight: 600; vertical-align: bottom; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #3a434d; }
.settings td, .settings th { text-align: left; } .settings td:first-child { white-space: nowrap; vertical-align: top; }
.grid { stroke: #e3e7eb; } .axis { stroke: #59636e; }
.key span { display: inline-block; margin-right: 1.2rem; white-space: nowrap; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .35rem; vertical-align: -1px; }
.key svg { margin-right: .35rem; vertical-align: 1px; }
.wide { overflow-x: auto; }
.many { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1.5rem; }
figure { margin: 1.6rem 0; } .many figure { margin: 0; } figcaption { font-weight: 600; }
a { color: #0b5cad; } h3 { font-size: 1rem; margin-top: 1.6rem; } .small { color: #59636e; font-size: .85rem; }
section { border-top: 2px solid #1d2329; margin-top: 3rem; } section > h2 { font-size: 1.35rem; margin-top: .8rem; }
p.question { font-style: italic; margin-top: -.6rem; } nav li { margin: .25rem 0; }
.tag { display: inline-block; padding: .05rem .55rem; border-radius: .7rem; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.holds { background: #dafbe1; color: #116329; } .partly { background: #fff3c4; color: #7a4d00; } .fails { background: #ffdfdc; color: #a40e26; }
ul.claims { list-style: none; padding: 0; } ul.claims li { margin: .3rem 0; }
table.claims th, table.claims td { text-align: left; vertical-align: top; white-space: normal; } table.claims p { margin: 0 0 .4rem; min-width: 14rem; }
table.conditions td { padding: .05rem .5rem .05rem 0; border: 0; font-size: .85rem; } table.conditions .no { color: #a40e26; }
table.claims table.conditions td + td { white-space: nowrap; } code { font-size: .9rem; } table.claims td:first-child { min-width: 9rem; }
@media (max-width: 40rem) { body { padding: 0 .8rem; margin: 1rem auto; } th, td { padding: .3rem .45rem; }
 .plot { overflow-x: auto; } .plot svg { max-width: none; width: 40rem; } }
@media print { body { font-size: 9.5pt; max-width: none; margin: 0; padding: 0; } .wide { overflow: visible; }
 figure, svg, tr { break-inside: avoid; } h2, h3, figcaption { break-after: avoid; } * { print-color-adjust: exact; } a { color: inherit; } }
";

/// How a page ends.
pub(super) const END: &str = "</html>\n";

/// How a page begins.
pub(super) fn head(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n"
    )
}

/// A table: figures to the right, text to the left. On a narrow screen it scrolls by itself.
pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let figures = figure_columns(head.len(), &rows);
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        let class =
            |column: usize| if figures.get(column).is_some_and(|figure| *figure) { "" } else { " class=\"text\"" };
        cells.enumerate().map(|(n, cell)| format!("<{tag}{}>{}</{tag}>", class(n), escape(cell))).collect::<String>()
    };
    let titles = cells("th", &mut head.iter().copied());
    let mut out = format!("<div class=\"wide\"><table>\n<thead><tr>{titles}</tr></thead>\n");
    for row in rows {
        let _ = writeln!(out, "<tr>{}</tr>", cells("td", &mut row.iter().map(String::as_str)));
    }
    out + "</table></div>\n"
}

/// A patch of colour for a legend.
pub(super) fn swatch(colour: &str) -> String {
    format!("<i style=\"background:{colour}\"></i>")
}

/// A legend: what stands for each name.
pub(super) fn key<'a>(entries: impl Iterator<Item = (String, &'a str)>) -> String {
    let entry = |(sign, name): (String, &str)| format!("<span>{sign}{}</span>", escape(name));
    format!("<p class=\"key\">{}</p>\n", entries.map(entry).collect::<String>())
}

/// Settings by name.
pub(super) fn settings(settings: &[(String, String)]) -> String {
    let rows = table(&["setting", "value"], settings.iter().map(|(name, value)| vec![name.clone(), value.clone()]));
    format!("<div class=\"settings\">\n{rows}</div>\n")
}

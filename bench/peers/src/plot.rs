//! One picture of a run: errors over bytes, and what serving costs.

use crate::cost::Cost;
use crate::equal::{Curve, Findings, Point};
use crate::machine;
use crate::report::{Report, Shown};
use crate::scenario::Scenario;
use crate::svg::{Axis, Canvas, Frame, Pen, short};
use crate::verdict::Figure;

const WIDTH: f64 = 1290.0;
/// Without the games' rows.
const HEIGHT: f64 = 500.0;
/// Of each row of panels.
const ROW: f64 = 420.0;
/// Room for one line of the legend.
const LINE: f64 = 19.0;

/// Replicon is warm, lightyear green, ours blue and bold.
const PENS: [(&str, &str, &str, f64); 11] = [
    ("replicon", "#f2a65a", "", 1.6),
    ("replicon, quantised", "#e07a1f", "", 1.6),
    ("replicon, extrapolated", "#d1495b", "5 3", 1.6),
    ("replicon, quantised, extrapolated", "#a4243b", "5 3", 1.6),
    ("replicon, quantised, perfect clock", "#6d1a36", "", 2.2),
    ("lightyear", "#8fc99a", "", 1.6),
    ("lightyear, quantised", "#3f9b57", "", 1.6),
    ("lightyear, quantised, tuned", "#1e6b3a", "5 3", 1.6),
    ("lightyear, quantised, smooth", "#5b7f63", "2 3", 1.6),
    ("Evenkeel, base", "#1f6feb", "", 3.0),
    ("Evenkeel, even", "#0b3d91", "7 3", 3.0),
];

/// Of the bars, in the order of the contenders.
const BARS: [&str; 8] = ["#f2a65a", "#e07a1f", "#8fc99a", "#3f9b57", "#1f6feb", "#79b0ff", "#0b3d91", "#8a94a0"];

fn pen(name: &str) -> Pen {
    let known = PENS.iter().find(|(known, ..)| *known == name);
    known.map_or(Pen { colour: "#8a94a0", dashes: "", width: 1.6 }, |&(_, colour, dashes, width)| Pen {
        colour,
        dashes,
        width,
    })
}

/// The picture.
pub fn draw(report: &Report) -> String {
    let rows = report.shown.len() as f64;
    let below = if report.costs.is_empty() { 0.0 } else { 2.0 * ROW };
    let mut canvas = Canvas::new(WIDTH, HEIGHT + rows * ROW + below);
    canvas.text((64.0, 38.0), "head", "Evenkeel beside bevy_replicon and lightyear");
    let versions = machine::versions().iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>();
    canvas.text(
        (64.0, 60.0),
        "sub",
        &format!("{}; {}; {}", versions.join(", "), machine::processor(), machine::date()),
    );
    let panel =
        |column: f64, row: f64| Frame { x: 64.0 + column * 415.0, y: 110.0 + row * ROW, width: 340.0, height: 300.0 };
    let figures: [Figure; 3] = [
        ("mean error", |p| p.outcome.mean),
        ("99 % of all moments are below", |p| p.outcome.p99),
        ("spread of receivers' means (std)", |p| p.outcome.std),
    ];
    for (row, Shown { game, findings }) in report.shown.iter().enumerate() {
        let unit = if game.unit().is_empty() { "" } else { ", metres" };
        for (n, (title, of)) in figures.into_iter().enumerate() {
            let title = format!("{}{title}{unit}", game.prefix());
            errors(&mut canvas, panel(n as f64, row as f64), findings, &title, of);
        }
    }
    if let Some(Shown { findings, .. }) = report.shown.first() {
        legend(&mut canvas, findings, 110.0 + rows * ROW);
    }
    if !report.costs.is_empty() {
        serving(&mut canvas, |row| Frame { width: 755.0, ..panel(0.0, rows + row) }, report);
    }
    canvas.finish()
}

fn errors(canvas: &mut Canvas, frame: Frame, findings: &Findings, title: &str, of: fn(&Point) -> f64) {
    let curves = || findings.peers.iter().chain(&findings.ours);
    let points = || curves().flat_map(|curve| &curve.points);
    let axes = [Axis::about(points().map(|p| p.outcome.wire_bytes())), Axis::about(points().map(of))];
    canvas.axes(frame, axes, title, "bytes per second and receiver, on the wire");
    for curve in curves() {
        let points: Vec<(f64, f64)> = curve.points.iter().map(|p| (p.outcome.wire_bytes(), of(p))).collect();
        canvas.curve(frame, axes, &points, pen(curve.name));
    }
}

fn legend(canvas: &mut Canvas, findings: &Findings, top: f64) {
    let (x, mut y) = (894.0, top);
    canvas.text((x, y - 14.0), "title", "Who is who");
    for Curve { name, .. } in findings.ours.iter().chain(&findings.peers) {
        y += LINE;
        canvas.line((x, y - 4.0), (x + 34.0, y - 4.0), pen(name));
        canvas.text((x + 44.0, y), "", name);
    }
    let notes = [
        "Recorded games. Receivers are 20, 60, 120 and",
        "250 ms away, with jitter and 1 % loss, for everybody.",
        "quantised: in the bits of Evenkeel's quantiser.",
        "perfect clock: extrapolated since the server's tick,",
        "by a clock that replicon does not bring.",
    ];
    for note in notes {
        y += LINE;
        canvas.text((x, y + 8.0), "sub", note);
    }
}

/// A panel of bars: a group for each of these scenarios, a bar for each contender.
fn bars(canvas: &mut Canvas, frame: Frame, report: &Report, title: &str, groups: &[Scenario], of: fn(&Cost) -> f64) {
    let here = |scenario| report.costs.iter().filter(move |cost| cost.scenario == scenario);
    let y = Axis::about(groups.iter().flat_map(|scenario| here(*scenario)).map(of));
    canvas.text((frame.x, frame.y - 14.0), "title", title);
    canvas.levels(frame, y);
    let room = frame.width / groups.len() as f64;
    for (group, &scenario) in groups.iter().enumerate() {
        let left = frame.x + room * group as f64;
        let these: Vec<&Cost> = here(scenario).collect();
        let width = room * 0.86 / these.len().max(1) as f64;
        for (n, one) in these.iter().enumerate() {
            let (x, height) = (left + room * 0.07 + width * n as f64, Canvas::height_of(frame, y, of(one)));
            let top = frame.y + frame.height - height;
            canvas.bar(Frame { x, y: top, width: width - 3.0, height }, BARS[n % BARS.len()]);
            canvas.text((x + (width - 3.0) / 2.0, top - 4.0), "value middle", &value(of(one)));
        }
        canvas.text((left + room / 2.0, frame.y + frame.height + 18.0), "name middle", scenario.name());
    }
}

/// What is written on a bar, short enough for its width.
fn value(value: f64) -> String {
    if value >= 1000.0 { format!("{:.1}k", value / 1000.0) } else { short((value * 100.0).round() / 100.0) }
}

/// The three panels of what serving costs, one beneath the other.
fn serving(canvas: &mut Canvas, panel: impl Fn(f64) -> Frame, report: &Report) {
    let (due, others): (Vec<_>, Vec<_>) = Scenario::ALL.into_iter().partition(|scenario| scenario.is_all_due());
    let lockstep = [&due[..1], &others[..]].concat();
    let size = format!("{} entities, {} receivers", report.size.entities, report.size.receivers);
    let mean = |cost: &Cost| cost.mean * 1e3;
    bars(canvas, panel(0.0), report, &format!("Server CPU per tick, ms (mean): {size}"), &lockstep, mean);
    bars(canvas, panel(1.0), report, "Server CPU per tick, ms (mean), everything due, by delay and loss", &due, mean);
    let heap = |cost: &Cost| cost.heap_per_pair.unwrap_or(f64::NAN);
    bars(canvas, panel(2.0), report, "Heap of the server, bytes per entity and receiver, everything due", &due, heap);
    bar_names(canvas, panel(2.0), report);
}

fn bar_names(canvas: &mut Canvas, frame: Frame, report: &Report) {
    let names = report.costs.iter().filter(|cost| cost.scenario == Scenario::AllDue).map(|cost| cost.name);
    for (n, name) in names.enumerate() {
        let (x, y) = (frame.x + (n % 4) as f64 * 190.0, frame.y + frame.height + 46.0 + (n / 4) as f64 * LINE);
        canvas.bar(Frame { x, y: y - 10.0, width: 12.0, height: 12.0 }, BARS[n % BARS.len()]);
        canvas.text((x + 18.0, y), "", name);
    }
}

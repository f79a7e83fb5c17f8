//! Tables and plots of a study, on a page.

use super::super::axis::Axis;
use super::super::page::{key, swatch, table};
use super::super::svg::{Pen, Plot, colour, escape};
use crate::study::{Exhibit, Series};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
/// A curve with more points than a plot has pixels is thinned.
const MOST_POINTS: usize = 700;
/// A curve with so few points shows where they are.
const FEW_POINTS: usize = 20;

/// A figure with its title and what there is to know to read it.
pub(in crate::report) fn to_html(exhibit: &Exhibit) -> String {
    let (body, note) = match exhibit {
        Exhibit::Table { note, head, rows, .. } => {
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            (table(&head, rows.iter().cloned()), note)
        }
        Exhibit::Curves { title, note, x, y, series } => (curves(title, (x, y), series), note),
        Exhibit::Clouds { title, note, x, y, series } => (clouds(title, (x, y), series), note),
        Exhibit::Bars { title, note, x, y, groups, bars: all } => (bars(title, (x, y), groups, all), note),
        Exhibit::Points { title, note, x, y, points: all } => (points(title, (x, y), all), note),
    };
    let note = if note.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>\n", escape(note)) };
    format!("<figure>\n<figcaption>{}</figcaption>\n{note}{body}</figure>\n", escape(exhibit.title()))
}

fn curves(title: &str, (x, y): (&str, &str), series: &[Series]) -> String {
    let values: Vec<Vec<f64>> = series.iter().map(|s| s.points.iter().map(|(_, y)| *y).collect()).collect();
    let along = Axis::along(series.iter().flat_map(|s| s.points.iter().map(|(x, _)| *x)));
    let mut plot = Plot::new(WIDTH, HEIGHT, along, Axis::over_curves(&values));
    plot.y_axis(y);
    plot.x_axis(x);
    for (n, curve) in series.iter().enumerate() {
        let every = curve.points.len().div_ceil(MOST_POINTS).max(1);
        plot.curve(curve.points.iter().copied().step_by(every), &Pen::of(n));
        if curve.points.len() <= FEW_POINTS {
            plot.dots(curve.points.iter().copied(), &Pen::of(n));
        }
    }
    let names = series.iter().enumerate().map(|(n, curve)| (Pen::of(n).sample(), curve.name.as_str()));
    key(names) + &plot.finish(title)
}

fn clouds(title: &str, (x, y): (&str, &str), series: &[Series]) -> String {
    let all = || series.iter().flat_map(|cloud| cloud.points.iter().copied());
    let (along, up) = (Axis::over(all().map(|(x, _)| x)), Axis::over(all().map(|(_, y)| y)));
    let mut plot = Plot::new(WIDTH, HEIGHT, along, up);
    plot.y_axis(y);
    plot.x_axis(x);
    for (n, cloud) in series.iter().enumerate() {
        plot.dots(cloud.points.iter().copied(), &Pen::of(n));
    }
    let names = series.iter().enumerate().map(|(n, cloud)| (swatch(colour(n)), cloud.name.as_str()));
    key(names) + &plot.finish(title)
}

fn bars(title: &str, (x, y): (&str, &str), groups: &[String], bars: &[(String, Vec<f64>)]) -> String {
    let values = bars.iter().flat_map(|(_, values)| values.iter().copied());
    let mut plot = Plot::new(WIDTH, HEIGHT, Axis::up_to(1.0), Axis::over(values));
    let of = |group: usize| bars.iter().map(|(_, values)| values.get(group).copied().unwrap_or(f64::NAN)).collect();
    let groups: Vec<(&str, Vec<f64>)> = groups.iter().enumerate().map(|(n, name)| (name.as_str(), of(n))).collect();
    plot.bars(&groups, x, y);
    let names = bars.iter().enumerate().map(|(n, (name, _))| (swatch(colour(n)), name.as_str()));
    key(names) + &plot.finish(title)
}

fn points(title: &str, (x, y): (&str, &str), points: &[(f64, f64, String)]) -> String {
    let known: Vec<_> = points.iter().filter(|(x, y, _)| x.is_finite() && y.is_finite()).cloned().collect();
    let over = |of: fn(&(f64, f64, String)) -> f64| Axis::over(known.iter().map(of));
    let mut plot = Plot::new(WIDTH, HEIGHT, over(|point| point.0), over(|point| point.1));
    plot.y_axis(y);
    plot.x_axis(x);
    plot.points(&known);
    plot.finish(title)
}

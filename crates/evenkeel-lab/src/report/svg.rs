//! A small writer of plots as SVG.

use super::axis::Axis;
use super::table::short;
use super::words::wrapped;
use std::fmt::Write;

pub(super) const LEFT: f64 = 58.0;
pub(super) const RIGHT: f64 = 18.0;
pub(super) const TOP: f64 = 14.0;
pub(super) const BOTTOM: f64 = 46.0;
/// Colours that people with any colour vision can tell apart.
const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31"];
/// What tells apart those that share a colour.
const DASHES: [&str; 3] = ["", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\""];
/// About how wide a letter is.
pub(super) const LETTER: f64 = 6.4;
/// How high a line of text is.
const LINE: f64 = 15.0;
/// From near to far.
const SCALE: [[f64; 3]; 4] = [[68.0, 1.0, 84.0], [49.0, 104.0, 142.0], [53.0, 183.0, 121.0], [224.0, 160.0, 0.0]];

/// A colour for the n-th of several things without an order.
pub(super) fn colour(n: usize) -> &'static str {
    PALETTE[n % PALETTE.len()]
}

/// What a curve is drawn with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pen {
    colour: String,
    dash: &'static str,
}

impl Pen {
    /// A pen of this colour.
    pub(super) fn new(colour: String) -> Self {
        Self { colour, dash: "" }
    }

    /// A pen for the n-th of many things: dashed where colours begin again.
    pub(super) fn of(n: usize) -> Self {
        Self { colour: colour(n).to_owned(), dash: DASHES[n / PALETTE.len() % DASHES.len()] }
    }

    /// How it looks, as a stroke to stand in a legend.
    pub(super) fn sample(&self) -> String {
        let Self { colour, dash } = self;
        format!(
            "<svg width=\"26\" height=\"10\" aria-hidden=\"true\"><line x1=\"1\" y1=\"5\" x2=\"25\" y2=\"5\" \
             stroke=\"{colour}\" stroke-width=\"2.5\"{dash}/></svg>"
        )
    }
}

/// A colour for the n-th of `count` things in order.
pub(super) fn shade(n: usize, count: usize) -> String {
    let at = if count > 1 { n as f64 / (count - 1) as f64 } else { 0.0 } * (SCALE.len() - 1) as f64;
    let low = (at.floor() as usize).min(SCALE.len() - 2);
    let part = |i: usize| SCALE[low][i] + (SCALE[low + 1][i] - SCALE[low][i]) * (at - low as f64);
    format!("#{:02x}{:02x}{:02x}", part(0) as u8, part(1) as u8, part(2) as u8)
}

/// Text as it may stand in a page.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// How the names of groups are written below them.
enum Names {
    /// Upright, on several lines.
    Lines(Vec<Vec<String>>),
    /// Slanted: there are too many to stand side by side.
    Slanted,
}

impl Names {
    fn fit(names: &[&str], room: f64) -> Self {
        let letters = (room / LETTER) as usize;
        let fits = names.iter().flat_map(|name| name.split_whitespace()).all(|word| word.chars().count() <= letters);
        if !fits {
            return Self::Slanted;
        }
        Self::Lines(names.iter().map(|name| wrapped(name, letters)).collect())
    }

    /// How much height they take.
    fn height(&self, names: &[&str]) -> f64 {
        match self {
            Self::Lines(lines) => lines.iter().map(Vec::len).max().unwrap_or(1) as f64 * LINE,
            Self::Slanted => {
                let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
                6.0 + (longest * LETTER * 0.64).max(LINE)
            }
        }
    }
}

/// Left, right, top and bottom.
pub(super) type Area = [f64; 4];

/// A plot with its axes.
pub(super) struct Plot {
    width: f64,
    height: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
    body: String,
}

impl Plot {
    /// A plot of this size over these axes.
    pub(super) fn new(width: f64, height: f64, x: Axis, y: Axis) -> Self {
        Self { width, height, bottom: BOTTOM, x, y, body: String::new() }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + self.x.part(value) * (self.width - LEFT - RIGHT)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.floor() - self.y.part(value) * (self.floor() - TOP)
    }

    /// Where the plot ends and its names begin.
    pub(super) fn floor(&self) -> f64 {
        self.height - self.bottom
    }

    pub(super) fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        self.put(format_args!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" class="{class}"/>"#));
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = escape(text);
        self.put(format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#));
    }

    /// Horizontal grid lines with their values, and what they mean.
    pub(super) fn y_axis(&mut self, name: &str) {
        let ground = self.y.floor();
        for (value, label) in self.y.ticks() {
            let y = self.y(value);
            self.line((LEFT, y), (self.width - RIGHT, y), if value == ground { "axis" } else { "grid" });
            self.text((LEFT - 6.0, y + 4.0), "end", &label);
        }
        let (x, y) = (14.0, (self.floor() + TOP) / 2.0);
        let name = escape(name);
        self.put(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">{name}</text>"#
        ));
    }

    /// Values below the plot, and what they mean.
    pub(super) fn x_axis(&mut self, name: &str) {
        for (value, label) in self.x.ticks() {
            let (x, y) = (self.x(value), self.floor());
            self.line((x, y), (x, y + 4.0), "axis");
            self.text((x, y + 17.0), "middle", &label);
        }
        self.x_name(name);
    }

    fn x_name(&mut self, name: &str) {
        self.text(((LEFT + self.width - RIGHT) / 2.0, self.height - 8.0), "middle", name);
    }

    /// Points with their names beside them, kept apart from each other.
    pub(super) fn points(&mut self, points: &[(f64, f64, String)]) {
        let places: Vec<(f64, f64)> = points.iter().map(|(x, y, _)| (self.x(*x), self.y(*y))).collect();
        let mut taken: Vec<Area> = places.iter().map(|(x, y)| [x - 5.0, x + 5.0, y - 5.0, y + 5.0]).collect();
        for (n, (x, y)) in places.iter().enumerate() {
            let colour = colour(n);
            self.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="5" fill="{colour}"/>"#));
        }
        for ((x, y), (.., name)) in places.iter().zip(points) {
            let width = name.chars().count() as f64 * LETTER;
            // To the right if it fits nowhere.
            let beside = [x + 9.0, x + 9.0 + width, y - 6.0, y + 6.0];
            let area = self.free_area((*x, *y), width, &taken).unwrap_or(beside);
            self.text((area[0], area[3] - 2.0), "start", name);
            taken.push(area);
        }
    }

    /// Where a name of this width fits beside a point: as near as may be.
    pub(super) fn free_area(&self, (x, y): (f64, f64), width: f64, taken: &[Area]) -> Option<Area> {
        let area = |left: f64, down: f64| [left, left + width, y + down - 6.0, y + down + 6.0];
        let inside = |a: &Area| a[0] >= LEFT && a[1] <= self.width && a[2] >= 0.0 && a[3] <= self.floor() - 1.0;
        let apart = |a: &Area, b: &Area| a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2];
        let free = |a: &Area| inside(a) && taken.iter().all(|other| apart(a, other));
        let sides = [x + 9.0, x - 9.0 - width];
        let steps = (0..6).flat_map(|step| [-13.0 * f64::from(step), 13.0 * f64::from(step)]);
        let mut all = steps.flat_map(|down| sides.map(|left| area(left, down)));
        all.find(free)
    }

    /// Groups of bars with their vertical axis: each group has a name and a bar for every series.
    pub(super) fn bars(&mut self, groups: &[(&str, Vec<f64>)], x_name: &str, y_name: &str) {
        let room = (self.width - LEFT - RIGHT) / groups.len().max(1) as f64;
        let labels: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
        let names = Names::fit(&labels, room);
        // Long names take room of their own, not of the plot's.
        let extra = names.height(&labels) - LINE;
        (self.height, self.bottom) = (self.height + extra, self.bottom + extra);
        self.y_axis(y_name);
        for (g, (label, values)) in groups.iter().enumerate() {
            let left = LEFT + room * (g as f64 + 0.1);
            self.group(left, room * 0.8, values);
            self.group_name(left + room * 0.4, label, &names, g);
        }
        self.x_name(x_name);
    }

    fn group(&mut self, left: f64, room: f64, values: &[f64]) {
        let (width, ground) = (room / values.len().max(1) as f64, self.y(self.y.floor()));
        for (n, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let (x, end, colour) = (left + width * n as f64, self.y(*value), colour(n));
            let (y, height, width) = (end.min(ground), (ground - end).abs(), (width - 1.0).max(0.5));
            let value = short(*value);
            self.put(format_args!(
                r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"><title>{value}</title></rect>"#
            ));
        }
    }

    fn group_name(&mut self, x: f64, name: &str, names: &Names, group: usize) {
        let y = self.floor() + 17.0;
        match names {
            Names::Lines(lines) => {
                for (n, line) in lines[group].iter().enumerate() {
                    self.text((x, y + n as f64 * LINE), "middle", line);
                }
            }
            Names::Slanted => {
                let (y, name) = (y - 4.0, escape(name));
                self.put(format_args!(
                    r#"<text x="{x:.1}" y="{y:.1}" text-anchor="end" transform="rotate(-40 {x:.1} {y:.1})">{name}</text>"#
                ));
            }
        }
    }

    /// A line through points, broken where there is no value.
    pub(super) fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, pen: &Pen) {
        let mut run: Vec<String> = Vec::new();
        for (x, y) in points.chain([(f64::NAN, f64::NAN)]) {
            if x.is_finite() && y.is_finite() {
                run.push(format!("{:.1},{:.1}", self.x(x), self.y(y)));
                continue;
            }
            let (through, Pen { colour, dash }) = (run.join(" "), pen);
            if run.len() == 1 {
                let (x, y) = through.split_once(',').unwrap_or_default();
                self.put(format_args!(r#"<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>"#));
            } else if !run.is_empty() {
                self.put(format_args!(
                    r#"<polyline points="{through}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>"#
                ));
            }
            run.clear();
        }
    }

    /// A dot at every point that has a value.
    pub(super) fn dots(&mut self, points: impl Iterator<Item = (f64, f64)>, Pen { colour, .. }: &Pen) {
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let (x, y) = (self.x(x), self.y(y));
            self.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="2.5" fill="{colour}"/>"#));
        }
    }

    /// The whole picture.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { width, height, body, .. } = self;
        let title = escape(title);
        format!(
            "<div class=\"plot\"><svg viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" \
             role=\"img\" aria-label=\"{title}\">\n{body}</svg></div>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_broken_or_slanted() {
        assert!(matches!(Names::fit(&["one two", "three"], 60.0), Names::Lines(_)));
        assert!(matches!(Names::fit(&["unbreakable-name"], 40.0), Names::Slanted));
    }

    #[test]
    fn curves_break_where_there_is_no_value_and_pens_differ() {
        let mut plot = Plot::new(300.0, 200.0, Axis::up_to(4.0), Axis::up_to(1.0));
        let points = [(0.0, 0.1), (1.0, 0.2), (2.0, f64::NAN), (3.0, 0.3)];
        plot.curve(points.into_iter(), &Pen::of(9));
        let picture = plot.finish("t");
        assert_eq!((picture.matches("<polyline").count(), picture.matches("<circle").count()), (1, 1), "{picture}");
        assert!(picture.contains("stroke-dasharray") && !picture.contains("NaN"));
        assert!(Pen::of(1) != Pen::of(9));
    }

    #[test]
    fn names_of_points_do_not_lie_on_each_other() {
        let mut plot = Plot::new(400.0, 300.0, Axis::up_to(10.0), Axis::up_to(10.0));
        let points: Vec<_> = (0..5).map(|n| (5.0 + 0.1 * f64::from(n), 5.0, format!("name {n}"))).collect();
        plot.points(&points);
        let picture = plot.finish("t");
        let mut places: Vec<&str> = picture.lines().filter(|line| line.starts_with("<text")).collect();
        places.iter_mut().for_each(|line| *line = line.split(" text-anchor").next().unwrap_or(""));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 5, "{picture}");
    }

    #[test]
    fn shades_go_from_near_to_far_and_text_is_escaped() {
        assert_eq!(
            (shade(0, 3).as_str(), shade(2, 3).as_str(), shade(0, 1).as_str()),
            ("#440154", "#e0a000", "#440154")
        );
        assert_eq!(escape("a<b&\"c\""), "a&lt;b&amp;&quot;c&quot;");
    }
}

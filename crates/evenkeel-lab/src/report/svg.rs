//! A small writer of plots as SVG.

use std::fmt::Write;

const LEFT: f64 = 58.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Colours that people with any colour vision can tell apart.
const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31"];
/// From near to far.
const SCALE: [[f64; 3]; 4] = [[68.0, 1.0, 84.0], [49.0, 104.0, 142.0], [53.0, 183.0, 121.0], [224.0, 160.0, 0.0]];

/// A colour for the n-th of several things without an order.
pub(super) fn colour(n: usize) -> &'static str {
    PALETTE[n % PALETTE.len()]
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

/// The next round step that divides a range into about five.
fn step(range: f64) -> f64 {
    let rough = range.max(1e-9) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough * 0.999).unwrap_or(rough)
}

fn tick_label(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// A plot with its axes from zero to the largest value.
pub(super) struct Plot {
    width: f64,
    height: f64,
    x_max: f64,
    y_max: f64,
    body: String,
}

impl Plot {
    /// A plot of this size for values up to these; both axes get some room above.
    pub(super) fn new(width: f64, height: f64, x_max: f64, y_max: f64) -> Self {
        let room = |max: f64| if max > 0.0 { max * 1.08 } else { 1.0 };
        Self { width, height, x_max: room(x_max), y_max: room(y_max), body: String::new() }
    }

    /// The same without room to the right.
    pub(super) fn tight(self, x_max: f64) -> Self {
        Self { x_max: x_max.max(1e-9), ..self }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + value / self.x_max * (self.width - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.height - BOTTOM - value / self.y_max * (self.height - TOP - BOTTOM)
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        self.put(format_args!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" class="{class}"/>"#));
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = escape(text);
        self.put(format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#));
    }

    /// Horizontal grid lines with their values, and what they mean.
    pub(super) fn y_axis(&mut self, name: &str) {
        let step = step(self.y_max);
        let mut value = 0.0;
        while value <= self.y_max {
            let y = self.y(value);
            self.line((LEFT, y), (self.width - RIGHT, y), if value == 0.0 { "axis" } else { "grid" });
            self.text((LEFT - 6.0, y + 4.0), "end", &tick_label(value, step));
            value += step;
        }
        let (x, y) = (14.0, (self.height - BOTTOM + TOP) / 2.0);
        let name = escape(name);
        self.put(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">{name}</text>"#
        ));
    }

    /// Values below the plot, and what they mean.
    pub(super) fn x_axis(&mut self, name: &str) {
        let step = step(self.x_max);
        let mut value = 0.0;
        while value <= self.x_max {
            let (x, y) = (self.x(value), self.height - BOTTOM);
            self.line((x, y), (x, y + 4.0), "axis");
            self.text((x, y + 17.0), "middle", &tick_label(value, step));
            value += step;
        }
        self.x_name(name);
    }

    fn x_name(&mut self, name: &str) {
        self.text(((LEFT + self.width - RIGHT) / 2.0, self.height - 8.0), "middle", name);
    }

    /// Points with their names beside them, kept apart from each other.
    pub(super) fn points(&mut self, points: &[(f64, f64, String)]) {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|a, b| points[*b].1.total_cmp(&points[*a].1));
        let mut lowest = f64::NEG_INFINITY;
        for n in order {
            let (x, y) = (self.x(points[n].0), self.y(points[n].1));
            let colour = colour(n);
            self.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="5" fill="{colour}"/>"#));
            let label = (y + 4.0).max(lowest + 14.0);
            lowest = label;
            if x > self.width * 0.75 {
                self.text((x - 9.0, label), "end", &points[n].2);
            } else {
                self.text((x + 9.0, label), "start", &points[n].2);
            }
        }
    }

    /// Groups of bars: each group has a name and a bar for every series.
    pub(super) fn bars(&mut self, groups: &[(String, Vec<f64>)], name: &str) {
        let room = (self.width - LEFT - RIGHT) / groups.len().max(1) as f64;
        for (g, (label, values)) in groups.iter().enumerate() {
            let left = LEFT + room * (g as f64 + 0.1);
            let width = room * 0.8 / values.len().max(1) as f64;
            for (n, value) in values.iter().enumerate() {
                let (x, y, colour) = (left + width * n as f64, self.y(*value), colour(n));
                let (height, width) = (self.height - BOTTOM - y, (width - 1.0).max(0.5));
                self.put(format_args!(
                    r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"><title>{value:.3}</title></rect>"#
                ));
            }
            self.text((left + room * 0.4, self.height - BOTTOM + 17.0), "middle", label);
        }
        self.x_name(name);
    }

    /// A line through values at equal steps.
    pub(super) fn curve(&mut self, step: f64, values: &[f64], colour: &str) {
        let mut points = String::new();
        for (n, value) in values.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", self.x((n as f64 + 0.5) * step), self.y(*value));
        }
        let points = points.trim_end();
        self.put(format_args!(r#"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>"#));
    }

    /// The whole picture.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { width, height, body, .. } = self;
        let title = escape(title);
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-label=\"{title}\">\n{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_labels_have_the_digits_they_need() {
        assert_eq!([0.9, 4.2, 23.0, 1000.0].map(step), [0.2, 1.0, 5.0, 200.0]);
        assert_eq!([tick_label(0.2, 0.2), tick_label(10.0, 5.0), tick_label(0.05, 0.01)], ["0.2", "10", "0.05"]);
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

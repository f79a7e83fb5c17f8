//! Panels of a figure: axes, curves and bars as SVG.

use std::fmt::Write;

/// Where a panel stands, in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

/// A logarithmic axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// With a bit of room about these values.
    pub fn about(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = positive.fold((f64::INFINITY, 0f64), |(a, b), v| (a.min(v), b.max(v)));
        if high == 0.0 { Self { low: 1.0, high: 10.0 } } else { Self { low: low / 1.25, high: high * 1.25 } }
    }

    fn part(&self, value: f64) -> f64 {
        (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
    }

    /// One, two and five of every decade, as far as they fit.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let steps: &[f64] = if self.high / self.low > 300.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// What a curve is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Its colour.
    pub colour: &'static str,
    /// Its dashes; none if empty.
    pub dashes: &'static str,
    /// Its width.
    pub width: f64,
}

impl Pen {
    fn stroke(&self) -> String {
        let Self { colour, dashes, width } = self;
        format!(r#"stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}""#)
    }
}

/// A figure as it grows.
pub struct Canvas {
    body: String,
    width: f64,
    height: f64,
}

impl Canvas {
    /// An empty one.
    pub fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// Text; `class` says how it looks.
    pub fn text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(format_args!(r#"<text x="{x:.1}" y="{y:.1}" class="{class}">{text}</text>"#));
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), pen: Pen) {
        let stroke = pen.stroke();
        self.put(format_args!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {stroke}/>"#));
    }

    /// A filled rectangle.
    pub fn bar(&mut self, frame: Frame, colour: &str) {
        let Frame { x, y, width, height } = frame;
        self.put(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="1.5" fill="{colour}"/>"#
        ));
    }

    /// The axes of a panel of curves, its title and its grid.
    pub fn axes(&mut self, frame: Frame, [x, y]: [Axis; 2], title: &str, x_name: &str) {
        let grid = Pen { colour: "#e4e7eb", dashes: "", width: 1.0 };
        let Frame { x: left, y: top, width, height } = frame;
        self.text((left, top - 14.0), "title", title);
        for tick in x.ticks() {
            let at = left + x.part(tick) * width;
            self.line((at, top), (at, top + height), grid);
            self.text((at, top + height + 17.0), "tick middle", &short(tick));
        }
        self.levels(frame, y);
        self.text((left + width / 2.0, top + height + 36.0), "name middle", x_name);
    }

    /// The horizontal grid of a panel.
    pub fn levels(&mut self, frame: Frame, y: Axis) {
        let Frame { x: left, y: top, width, height } = frame;
        for tick in y.ticks() {
            let at = top + height - y.part(tick) * height;
            self.line((left, at), (left + width, at), Pen { colour: "#e4e7eb", dashes: "", width: 1.0 });
            self.text((left - 8.0, at + 4.0), "tick end", &short(tick));
        }
        let ground = Pen { colour: "#8a94a0", dashes: "", width: 1.0 };
        self.line((left, top + height), (left + width, top + height), ground);
    }

    /// A line through points, with a dot at each.
    pub fn curve(&mut self, frame: Frame, [x, y]: [Axis; 2], points: &[(f64, f64)], pen: Pen) {
        let place = |(a, b): &(f64, f64)| {
            (frame.x + x.part(*a) * frame.width, frame.y + frame.height - y.part(*b) * frame.height)
        };
        let places: Vec<(f64, f64)> = points.iter().map(place).collect();
        let through = places.iter().map(|(a, b)| format!("{a:.1},{b:.1}")).collect::<Vec<_>>().join(" ");
        let (stroke, Pen { colour, width, .. }) = (pen.stroke(), pen);
        self.put(format_args!(r#"<polyline points="{through}" fill="none" stroke-linejoin="round" {stroke}/>"#));
        for (a, b) in places {
            self.put(format_args!(r#"<circle cx="{a:.1}" cy="{b:.1}" r="{:.1}" fill="{colour}"/>"#, width + 0.8));
        }
    }

    /// How high above the ground of a panel a value stands.
    pub fn height_of(frame: Frame, y: Axis, value: f64) -> f64 {
        y.part(value) * frame.height
    }

    /// The whole picture.
    pub fn finish(self) -> String {
        let Self { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">\n\
             <style>text {{ font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 12px; fill: #24292f }} \
             .head {{ font-size: 19px; font-weight: 600 }} .title {{ font-size: 14px; font-weight: 600 }} \
             .sub, .name {{ fill: #57606a }} \
             .tick {{ font-size: 11px; fill: #57606a }} .value {{ font-size: 9.5px; fill: #57606a }} \
             .middle {{ text-anchor: middle }} .end {{ text-anchor: end }}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
        )
    }
}

/// A number with no more digits than it needs.
pub fn short(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{}k", v / 1000.0),
        v if v >= 10.0 => format!("{v:.0}"),
        v => format!("{}", (v * 1000.0).round() / 1000.0),
    }
}

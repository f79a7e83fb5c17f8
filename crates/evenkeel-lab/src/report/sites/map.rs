//! A picture like a map: sites, servers, and who plays where.

use super::Placement;
use super::text::cut;
use crate::report::axis::Axis;
use crate::report::svg::{Area, BOTTOM, LEFT, LETTER, Plot, RIGHT, TOP, colour, escape};
use evenkeel_sites::{Answer, layout};

/// A picture of more than these would only be slow to draw.
const SITES: usize = 1_500;
const PLAYERS: usize = 3_000;
const WIDTH: f64 = 1_000.0;

/// Where everything is drawn.
struct Places {
    sites: Vec<[f64; 2]>,
    players: Vec<[f64; 2]>,
    /// Whether distances are about round-trip times in milliseconds.
    in_ms: bool,
}

impl Placement {
    /// The picture of the answer.
    pub(super) fn map(&self) -> String {
        let Some(answer) = self.answer() else { return String::new() };
        let places = self.drawn_places();
        let mut plot = canvas(&places, &answer.plan.servers);
        let at = |plot: &Plot, place: [f64; 2]| (plot.x(place[0]), plot.y(place[1]));
        let step = places.sites.len().div_ceil(SITES);
        for (s, place) in places.sites.iter().enumerate().step_by(step) {
            let (x, y) = at(&plot, *place);
            // What is far from everybody would only make the rest small.
            if !(LEFT..WIDTH - RIGHT).contains(&x) || !(TOP..plot.floor()).contains(&y) {
                continue;
            }
            let name = escape(self.name(s));
            plot.put(format_args!(
                r##"<rect x="{:.1}" y="{:.1}" width="5" height="5" fill="#fff" stroke="#a8b0b9"><title>{name}</title></rect>"##,
                x - 2.5, y - 2.5
            ));
        }
        self.draw_players(&mut plot, answer, &places);
        self.draw_servers(&mut plot, answer, &places);
        if places.in_ms {
            scale(&mut plot, &places);
        }
        plot.finish("Sites, servers and players")
    }

    /// What the picture is made of.
    pub(super) fn map_note(&self) -> String {
        let by = if self.located() {
            "Sites are where their table says; players stand near the sites that they reach soonest."
        } else {
            "Distances are about round-trip times: near is fast. Directions mean nothing."
        };
        format!(
            "{by} Filled squares are servers, with how long they wait; empty ones are sites without. A player has the colour of its \
             server."
        )
    }

    fn located(&self) -> bool {
        !self.places.is_empty() && self.places.iter().all(Option::is_some)
    }

    fn drawn_places(&self) -> Places {
        let problem = &self.problem;
        if self.located() {
            let sites: Vec<[f64; 2]> = self.places.iter().flatten().map(|p| [p.longitude, p.latitude]).collect();
            let near = |p: usize| aside(p, near(problem.row(p), &sites), &sites);
            return Places { players: (0..problem.players().len()).map(near).collect(), sites, in_ms: false };
        }
        let m = problem.sites().len();
        let round_trip = |i: usize| (2.0 * problem.between(i / m, i % m)) as f32;
        let sites = layout(m, &(0..m * m).map(round_trip).collect::<Vec<_>>()).unwrap_or_default();
        let place = |p: usize| placed(problem.row(p), &sites);
        Places { players: (0..problem.players().len()).map(place).collect(), sites, in_ms: true }
    }

    fn draw_players(&self, plot: &mut Plot, answer: &Answer, places: &Places) {
        let responses = answer.plan.responses(&self.problem);
        let step = places.players.len().div_ceil(PLAYERS);
        let shown = || (0..places.players.len()).step_by(step);
        let seat = |p: usize| answer.plan.assignment[p] as usize;
        let paint = |p: usize| colour(answer.plan.servers.binary_search(&seat(p)).unwrap_or(0));
        for p in shown() {
            let ([a, b], [c, d]) = (places.players[p], places.sites[seat(p)]);
            let (x1, y1, x2, y2) = (plot.x(a), plot.y(b), plot.x(c), plot.y(d));
            let paint = paint(p);
            plot.put(format_args!(
                r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{paint}" stroke-width="0.7" opacity="0.45"/>"#
            ));
        }
        for p in shown() {
            let (x, y, paint) = (plot.x(places.players[p][0]), plot.y(places.players[p][1]), paint(p));
            let (name, response) = (escape(&self.problem.players()[p].name), responses[p]);
            plot.put(format_args!(
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{paint}" stroke="#fff" stroke-width="0.6"><title>{name}: {response:.1} ms</title></circle>"##
            ));
        }
    }

    fn draw_servers(&self, plot: &mut Plot, answer: &Answer, places: &Places) {
        let servers = &answer.plan.servers;
        let at: Vec<(f64, f64)> =
            servers.iter().map(|s| (plot.x(places.sites[*s][0]), plot.y(places.sites[*s][1]))).collect();
        let around = |(x, y): &(f64, f64), r: f64| [x - r, x + r, y - r, y + r];
        let mut taken: Vec<Area> = at.iter().map(|place| around(place, 8.0)).collect();
        for (n, (x, y)) in at.iter().enumerate() {
            let paint = colour(n);
            plot.put(format_args!(
                r##"<rect x="{:.1}" y="{:.1}" width="12" height="12" fill="{paint}" stroke="#1d2329" stroke-width="1.5"/>"##,
                x - 6.0, y - 6.0
            ));
        }
        // Names first keep off players; where there is no such place, off each other alone.
        let dots = places.players.iter().take(PLAYERS).map(|[x, y]| around(&(plot.x(*x), plot.y(*y)), 4.0));
        let crowded: Vec<Area> = dots.collect();
        for ((s, lag), place) in servers.iter().zip(&answer.plan.lags).zip(&at) {
            let label = format!("{} ({lag:.0} ms)", cut(self.name(*s)));
            let width = label.chars().count() as f64 * LETTER * 1.08;
            let all = [&taken[..], &crowded].concat();
            let area = plot.free_area(*place, width, &all).or_else(|| plot.free_area(*place, width, &taken));
            let area = area.unwrap_or([place.0 + 9.0, place.0 + 9.0 + width, place.1 - 6.0, place.1 + 6.0]);
            let (x, y, label) = (area[0], area[3] - 2.0, escape(&label));
            plot.put(format_args!(
                r##"<text x="{x:.1}" y="{y:.1}" font-weight="bold" stroke="#fff" stroke-width="3" paint-order="stroke">{label}</text>"##
            ));
            taken.push(area);
        }
    }
}

/// A plot in which players and servers fit, with equal scales.
fn canvas(places: &Places, servers: &[usize]) -> Plot {
    let all = || servers.iter().map(|s| &places.sites[*s]).chain(&places.players);
    let range = |axis: usize| {
        let each = all().map(|place| place[axis]);
        each.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((left, right), (bottom, top)) = (range(0), range(1));
    let (wide, high) = ((right - left).max(1e-3) * 1.2, (top - bottom).max(1e-3) * 1.2);
    let room = WIDTH - LEFT - RIGHT;
    let height = (room * high / wide).clamp(320.0, 720.0);
    let unit = (wide / room).max(high / height);
    let axis = |low: f64, high: f64, pixels: f64| {
        let (middle, half) = ((low + high) / 2.0, unit * pixels / 2.0);
        Axis::between(middle - half, middle + half)
    };
    Plot::new(WIDTH, height + TOP + BOTTOM, axis(left, right, room), axis(bottom, top, height))
}

/// How long some milliseconds are, at the lower edge.
fn scale(plot: &mut Plot, places: &Places) {
    let Some([left, _]) = places.sites.first().copied() else { return };
    let ms_per_pixel = 1.0 / (plot.x(left + 1.0) - plot.x(left));
    let round = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0];
    let ms = round.into_iter().rev().find(|ms| ms / ms_per_pixel <= 200.0).unwrap_or(1.0);
    let (x, y) = (LEFT, plot.floor() + 26.0);
    let end = x + ms / ms_per_pixel;
    plot.put(format_args!(r##"<path d="M{x:.1} {:.1}v4h{:.1}v-4" fill="none" stroke="#1d2329"/>"##, y - 4.0, end - x));
    plot.text((end + 6.0, y + 3.0), "start", &format!("{ms} ms"));
}

/// The nearest few sites by round-trip time, with how much each counts.
fn nearest(row: &[f32], few: usize) -> Vec<(usize, f64)> {
    let mut all: Vec<usize> = (0..row.len()).filter(|s| row[*s].is_finite()).collect();
    all.sort_by(|a, b| row[*a].total_cmp(&row[*b]));
    all.truncate(few);
    all.into_iter().map(|s| (s, f64::from(row[s]).max(1.0).powi(-2))).collect()
}

/// Near the sites that are reached soonest.
fn near(row: &[f32], sites: &[[f64; 2]]) -> [f64; 2] {
    let some = nearest(row, 3);
    let all: f64 = some.iter().map(|(_, weight)| weight).sum();
    let part = |axis: usize| some.iter().map(|(s, weight)| sites[*s][axis] * weight).sum::<f64>() / all.max(1e-12);
    [part(0), part(1)]
}

/// A little aside, so that players of one place do not hide each other.
fn aside(p: usize, [x, y]: [f64; 2], sites: &[[f64; 2]]) -> [f64; 2] {
    let span = sites.iter().map(|site| (site[0] - sites[0][0]).abs()).fold(1.0, f64::max);
    let (angle, far) = (2.4 * p as f64, span * (0.012 + 0.004 * (p % 6) as f64));
    [x + far * libm::cos(angle), y + far * libm::sin(angle)]
}

/// Where the distances to all sites fit best: steps of majorisation, near sites counting most.
fn placed(row: &[f32], sites: &[[f64; 2]]) -> [f64; 2] {
    let mut at = near(row, sites);
    let some = nearest(row, 64);
    let all: f64 = some.iter().map(|(_, weight)| weight).sum();
    for _ in 0..20 {
        let mut next = [0.0; 2];
        for (s, weight) in &some {
            let (dx, dy) = (at[0] - sites[*s][0], at[1] - sites[*s][1]);
            let stretch = f64::from(row[*s]) / libm::hypot(dx, dy).max(1e-6);
            next[0] += weight * (sites[*s][0] + dx * stretch) / all;
            next[1] += weight * (sites[*s][1] + dy * stretch) / all;
        }
        at = next;
    }
    at
}

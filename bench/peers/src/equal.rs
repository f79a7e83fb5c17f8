//! At equal bytes: the peers at each of their rates, and ours tuned until it sends as much.

use crate::games::Game;
use crate::lineup::{EVERY, Ours, Variant};
use crate::parts::Writing;
use crate::tracks::{self, Outcome};
use anyhow::Result;
use evenkeel_link::Conditions;

/// So near to each other are equal bytes.
const EQUAL: f64 = 0.02;
/// How our own curve is sampled: the first sends whatever moves in every tick.
const KNOBS: [f64; 13] = [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// Runs to come near enough.
const TRIES: usize = 8;

/// A contender at one of its settings.
#[derive(Clone, Debug)]
pub struct Point {
    /// Ticks between two updates of a peer, or our own knob.
    pub knob: f64,
    /// What came of it.
    pub outcome: Outcome,
}

/// A contender over all its settings.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Who.
    pub name: &'static str,
    /// By falling bytes.
    pub points: Vec<Point>,
}

/// How near ours could be brought to a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As many, within 2 %.
    Equal,
    /// Fewer: it has no use for so many.
    Fewer,
    /// More: none of its settings sends so few.
    More,
}

impl Fit {
    fn of(point: &Point, bytes: f64) -> Self {
        match point.outcome.wire_bytes() / bytes - 1.0 {
            off if off > EQUAL => Self::More,
            off if off < -EQUAL => Self::Fewer,
            _ => Self::Equal,
        }
    }
}

/// A peer at one rate, and ours at as many bytes.
#[derive(Clone, Debug)]
pub struct Match {
    /// The peer.
    pub name: &'static str,
    /// At this rate.
    pub peer: Point,
    /// Ours, and whether it could be brought to as many bytes.
    pub ours: Vec<(Ours, Point, Fit)>,
}

/// What was found on the recorded games.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The peers.
    pub peers: Vec<Curve>,
    /// Ours.
    pub ours: Vec<Curve>,
    /// Side by side.
    pub matches: Vec<Match>,
}

/// Where everything is run.
pub struct Arena<'a> {
    /// The recorded game.
    pub game: &'a Game,
    /// The way to each receiver.
    pub paths: &'a [Conditions],
}

impl Arena<'_> {
    fn ours(&self, ours: Ours, knob: f64) -> Result<Point> {
        let enter = |now| ours.enter(self.game, self.paths.len(), knob, now);
        Ok(Point { knob, outcome: tracks::run(&enter, &self.game.grounds, self.paths)? })
    }

    fn peer(&self, variant: &Variant, every: u32) -> Result<Point> {
        let enter = |_| Ok(variant.enter(self.paths.len(), every));
        // Peers that quantise do it as we do.
        let _writing = Writing::in_format(self.game.format);
        Ok(Point { knob: f64::from(every), outcome: tracks::run(&enter, &self.game.grounds, self.paths)? })
    }

    /// Ours at this many bytes per second, from the settings on its curve that send a bit more and a bit less.
    fn tuned(&self, ours: Ours, curve: &Curve, bytes: f64) -> Result<Point> {
        let below = curve.points.iter().position(|point| point.outcome.wire_bytes() < bytes);
        let (mut more, mut less) = match below {
            Some(0) => return Ok(curve.points[0].clone()),
            None => return Ok(curve.points[curve.points.len() - 1].clone()),
            Some(n) => (curve.points[n - 1].clone(), curve.points[n].clone()),
        };
        for _ in 0..TRIES {
            if let Some(point) = [&more, &less].into_iter().find(|point| Fit::of(point, bytes) == Fit::Equal) {
                return Ok(point.clone());
            }
            let next = self.ours(ours, between(&more, &less, bytes))?;
            let end = if next.outcome.wire_bytes() >= bytes { &mut more } else { &mut less };
            *end = next;
        }
        // Bytes come in steps here: the one that sends less.
        Ok(less)
    }
}

/// The knob at which so many bytes are to be expected, by the logarithms of both; never close to either end, so
/// that steps do not stop the search.
fn between(more: &Point, less: &Point, bytes: f64) -> f64 {
    let [high, low] = [more, less].map(|point| point.outcome.wire_bytes().ln());
    let share = ((high - bytes.ln()) / (high - low)).clamp(0.1, 0.9);
    more.knob * (1.0 - share) + less.knob * share
}

/// These peers at all their rates, or at a few of them if it must be quick, and ours beside them.
pub fn run(arena: &Arena<'_>, variants: &[Variant], quick: bool, progress: &dyn Fn(&str)) -> Result<Findings> {
    let rates: Vec<u32> = EVERY.into_iter().filter(|every| !quick || [1, 3, 12].contains(every)).collect();
    let mut ours = Vec::new();
    for policy in Ours::ALL {
        progress(policy.name());
        let points = KNOBS.iter().map(|knob| arena.ours(policy, *knob)).collect::<Result<_>>()?;
        ours.push(Curve { name: policy.name(), points });
    }
    let (mut peers, mut matches) = (Vec::new(), Vec::new());
    for variant in variants {
        progress(variant.name);
        let points = rates.iter().map(|every| arena.peer(variant, *every)).collect::<Result<Vec<_>>>()?;
        for peer in &points {
            let tuned = |(policy, curve): (Ours, &Curve)| {
                let bytes = peer.outcome.wire_bytes();
                let point = arena.tuned(policy, curve, bytes)?;
                let fit = Fit::of(&point, bytes);
                Ok((policy, point, fit))
            };
            let ours = Ours::ALL.into_iter().zip(&ours).map(tuned).collect::<Result<_>>()?;
            matches.push(Match { name: variant.name, peer: peer.clone(), ours });
        }
        peers.push(Curve { name: variant.name, points });
    }
    Ok(Findings { peers, ours, matches })
}

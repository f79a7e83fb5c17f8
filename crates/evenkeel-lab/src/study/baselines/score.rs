//! What a way of showing comes to, by one yardstick for all.

use super::showing::{DELAYS_MS, Showing, Stage, Way};
use crate::experiment::paths;
use anyhow::Result;
use evenkeel::Vec3;

/// Who gets more than this share of the messages too late cannot take part.
const EXCLUDED: f64 = 0.5;

/// One way of showing with one seed.
#[derive(Clone, Debug)]
pub(super) struct Score {
    /// By receiver, the mean distance between real and shown; not a number for those who cannot take part.
    pub(super) errors: Vec<f64>,
    /// The mean distance between what the owner sees and what those who take part see, at the same instant.
    pub(super) from_owner: f64,
    /// The mean over time of the largest distance between two receivers' images.
    pub(super) spread: f64,
    /// By receiver, how far behind the present the image is meant to be, in ms.
    pub(super) behind_ms: Vec<f64>,
    /// After how long a player sees an action of its own, in ms.
    pub(super) response_ms: f64,
    /// Messages a second to each receiver.
    pub(super) messages: f64,
    /// By receiver, the share of messages too late.
    pub(super) late: Vec<f64>,
}

impl Score {
    fn new(stage: &Stage, showing: Showing) -> Self {
        let takes_part = |late: &f64| *late <= EXCLUDED;
        let real: Vec<Option<Vec3>> = stage.film().real.iter().map(|place| Some(*place)).collect();
        let from = |image: &[Option<Vec3>]| -> Vec<f64> {
            let each = showing.shown.iter().zip(&showing.late);
            each.map(|(frames, late)| if takes_part(late) { distance(frames, image) } else { f64::NAN }).collect()
        };
        let owner = showing.owner.as_deref().unwrap_or(&real);
        Self {
            errors: from(&real),
            from_owner: mean_of_finite(&from(owner)),
            spread: spread(&showing, takes_part),
            behind_ms: showing.behind_ms,
            response_ms: showing.response_ms,
            messages: showing.messages,
            late: showing.late,
        }
    }

    /// The mean error of those who take part.
    pub(super) fn mean(&self) -> f64 {
        mean_of_finite(&self.errors)
    }

    /// The delays of those who cannot take part.
    pub(super) fn excluded(&self) -> Vec<f64> {
        let all = DELAYS_MS.iter().zip(&self.late);
        all.filter(|(_, late)| **late > EXCLUDED).map(|(delay, _)| *delay).collect()
    }
}

fn mean_of_finite(values: &[f64]) -> f64 {
    let there = values.iter().filter(|value| value.is_finite());
    let (sum, count) = there.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The mean distance between two images over the frames that have both.
fn distance(a: &[Option<Vec3>], b: &[Option<Vec3>]) -> f64 {
    let pairs = a.iter().zip(b).filter_map(|(a, b)| Some((*a)?.distance((*b)?)));
    mean_of_finite(&pairs.collect::<Vec<_>>())
}

/// The largest distance between two images, averaged over the frames on which all who take part show something.
fn spread(showing: &Showing, takes_part: impl Fn(&f64) -> bool) -> f64 {
    let there: Vec<_> = showing
        .shown
        .iter()
        .zip(&showing.late)
        .filter(|(_, late)| takes_part(late))
        .map(|(frames, _)| frames)
        .collect();
    let frames = there.iter().map(|frames| frames.len()).min().unwrap_or(0);
    let (mut sum, mut count) = (0.0, 0.0);
    for frame in 0..frames {
        let Some(images) = there.iter().map(|frames| frames[frame]).collect::<Option<Vec<_>>>() else { continue };
        let others = |(i, a): (usize, &Vec3)| images[..i].iter().map(|b| a.distance(*b)).fold(0.0, f64::max);
        sum += images.iter().enumerate().map(others).fold(0.0, f64::max);
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

/// All ways with one seed, in the order of [`Way::ALL`].
pub(super) fn scores(jitter_ms: f64, seconds: f64, seed: u64) -> Result<Vec<Score>> {
    let stage = Stage::new(&paths(&DELAYS_MS, jitter_ms, 0.0), jitter_ms, seconds, seed)?;
    Ok(Way::ALL.iter().map(|(_, way)| Score::new(&stage, stage.show(*way))).collect())
}

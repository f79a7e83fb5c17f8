//! What somebody who drives a tank says of it, and how that is written.

use bevy::prelude::*;
use std::collections::BTreeMap;

/// More tanks are not told of, nor more who listen told.
pub const MOST: usize = 32;
/// What is older is forgotten, in seconds.
pub const MAX_AGE: f64 = 1.0;
/// A sample's size, with its name: a moment, and six numbers.
pub const SIZE: usize = 4 + 8 + 6 * 4;

/// What somebody who drives a tank says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// By the wall's clock.
    pub at: f64,
    /// In metres.
    pub place: Vec2,
    /// In radians.
    pub heading: f32,
    /// In metres a second.
    pub velocity: Vec2,
    /// In radians a second.
    pub turning: f32,
}

impl Sample {
    fn bytes(&self) -> impl Iterator<Item = u8> + use<> {
        let Self { at, place, heading, velocity, turning } = *self;
        let numbers = [place.x, place.y, heading, velocity.x, velocity.y, turning];
        at.to_le_bytes().into_iter().chain(numbers.into_iter().flat_map(f32::to_le_bytes))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (at, rest) = bytes.split_first_chunk()?;
        let mut numbers = [0.0; 6];
        for (number, bytes) in numbers.iter_mut().zip(rest.chunks_exact(4)) {
            *number = f32::from_le_bytes(bytes.try_into().ok()?);
        }
        let [x, y, heading, u, v, turning] = numbers;
        let at = f64::from_le_bytes(*at);
        let sane = at.is_finite() && numbers.iter().all(|number| number.is_finite());
        sane.then_some(Self { at, place: vec2(x, y), heading, velocity: vec2(u, v), turning })
    }

    /// A frame or two later.
    pub fn then(&self, now: f64) -> (Vec2, f32) {
        let seconds = (now - self.at).clamp(0.0, MAX_AGE) as f32;
        let turned = self.turning * seconds;
        (self.place + Vec2::from_angle(turned / 2.0).rotate(self.velocity) * seconds, self.heading + turned)
    }
}

/// Samples with their names, as they are sent.
pub fn written(samples: &BTreeMap<u32, Sample>) -> Vec<u8> {
    let samples = samples.iter().take(MOST);
    samples.flat_map(|(name, sample)| name.to_le_bytes().into_iter().chain(sample.bytes())).collect()
}

/// The same, read back: without those that make no sense.
pub fn read(bytes: &[u8]) -> impl Iterator<Item = (u32, Sample)> {
    bytes.chunks_exact(SIZE).take(MOST).filter_map(|chunk| {
        let (name, rest) = chunk.split_first_chunk()?;
        Some((u32::from_le_bytes(*name), Sample::read(rest)?))
    })
}

//! A shot as its owner announces it. Where it is at any time follows from that and from the walls.

use super::bytes::Reader;
use crate::arena::{Field, SHOT_LIFE, SHOT_SPEED};
use crate::spaceship::BEAM_LENGTH;
use crate::touch;
use alloc::vec::Vec;
use evenkeel::{Duration, GlobalTime, Vec3};

/// A beam is there and gone within a moment; for this long it is shown.
pub const BEAM_SHOWN: Duration = Duration::from_millis(120);

/// A shot, or a beam: its owner tells everybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Its number among the shooter's, from 1.
    pub number: u32,
    /// When it was fired, in the session's time.
    pub at: GlobalTime,
    /// Where the muzzle was, on the ground.
    pub position: Vec3,
    /// Where it was fired to, radians counter-clockwise from x.
    pub heading: f64,
}

impl Shot {
    fn ahead(&self, distance: f64) -> Vec3 {
        self.position + Vec3::from_heading(self.heading) * distance
    }

    /// Where it would be without walls, at most at the end of its life.
    fn reach(&self, at: GlobalTime) -> Vec3 {
        let age = at.since(self.at).max(Duration::ZERO).min(SHOT_LIFE);
        self.ahead(age.as_secs_f64() * SHOT_SPEED)
    }

    /// Where a tank's shot is at a time; nothing before it was fired, behind the first wall, and when its life is over.
    ///
    /// ```
    /// use evenkeel::{GlobalTime, Vec3};
    /// use evenkeel_games::arena::Field;
    /// use evenkeel_games::words::Shot;
    /// let (field, at) = (Field::new(100.0), GlobalTime::from_millis);
    /// let shot = Shot { number: 1, at: at(5_000), position: Vec3::new(-50.0, 0.0, 0.0), heading: 0.0 };
    /// assert_eq!(shot.place(&field, at(5_300)), Some(Vec3::new(-20.0, 0.0, 0.0)));
    /// assert_eq!((shot.place(&field, at(4_999)), shot.place(&field, at(5_421))), (None, None));
    /// ```
    pub fn place(&self, field: &Field, at: GlobalTime) -> Option<Vec3> {
        let age = at.since(self.at);
        let flies = !age.is_negative() && age < SHOT_LIFE;
        let place = self.reach(at);
        (flies && field.meets(self.position, place).is_none()).then_some(place)
    }

    /// The way that a tank's shot goes between two times, if any: from the first, or from the muzzle, to the second or the first wall.
    pub fn way(&self, field: &Field, since: GlobalTime, until: GlobalTime) -> Option<(Vec3, Vec3)> {
        if until < self.at || until < since || since.since(self.at) >= SHOT_LIFE {
            return None;
        }
        let (from, to) = (self.reach(since), self.reach(until));
        if field.meets(self.position, from).is_some() {
            return None;
        }
        let end = field.meets(from, to).map_or(to, |along| from + (to - from) * along);
        Some((from, end))
    }

    /// A ship's beam, from end to end.
    pub fn beam(&self) -> (Vec3, Vec3) {
        (self.position, self.ahead(BEAM_LENGTH))
    }

    /// Whether it is over, as a shot and as a beam, so that it can be forgotten.
    pub fn is_over(&self, at: GlobalTime) -> bool {
        at.since(self.at) >= SHOT_LIFE
    }

    pub(super) fn emit(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.at.as_nanos().to_le_bytes());
        [self.position.x, self.position.y, self.heading].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Option<Self> {
        let (number, at) = (r.u32()?, GlobalTime::from_nanos(i64::from_le_bytes(r.take()?)));
        let position = Vec3::new(r.finite()?, r.finite()?, 0.0);
        Some(Self { number, at, position, heading: r.finite()? })
    }
}

/// How far along a way, 0 to 1, it first touches a craft of this radius; nothing if it misses.
///
/// ```
/// use evenkeel::Vec3;
/// use evenkeel_games::words::strikes;
/// let way = (Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
/// assert_eq!(strikes(way, Vec3::new(7.0, 0.0, 0.0), 3.0), Some(0.4));
/// assert_eq!(strikes(way, Vec3::new(7.0, 4.0, 0.0), 3.0), None);
/// ```
pub fn strikes(way: (Vec3, Vec3), place: Vec3, radius: f64) -> Option<f64> {
    touch::circle(way.0, way.1, place, radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: i64) -> GlobalTime {
        GlobalTime::from_millis(millis)
    }

    proptest! {
        /// Wherever it is at a time, its way leads there, and nowhere else.
        #[test]
        fn ways_are_made_of_places(
            (x, y, heading) in (-140.0..140.0f64, -140.0..140.0f64, -4.0..4.0f64),
            times in prop::collection::vec(0i64..200, 1..40),
        ) {
            let field = Field::new(150.0);
            let shot = Shot { number: 1, at: at(1_000), position: Vec3::new(x, y, 0.0), heading };
            let (mut now, mut end) = (900, shot.position);
            for step in times {
                let (since, until) = (at(now), at(now + step));
                if let Some((from, to)) = shot.way(&field, since, until) {
                    prop_assert!(from.distance(end) < 1e-9);
                    end = to;
                }
                if let Some(place) = shot.place(&field, until) {
                    prop_assert!(place.distance(end) < 1e-9);
                }
                now += step;
            }
        }
    }

    #[test]
    fn extreme_times_do_no_harm() {
        let field = Field::new(150.0);
        for fired in [GlobalTime::MIN, GlobalTime::MAX] {
            let shot = Shot { number: 1, at: fired, position: Vec3::ZERO, heading: 0.0 };
            for now in [GlobalTime::MIN, GlobalTime::ZERO, GlobalTime::MAX] {
                let _ = (shot.place(&field, now), shot.way(&field, now, GlobalTime::MAX), shot.is_over(now));
            }
        }
    }
}

//! Showing corrections softly.

use crate::geometry::{Vec3, wrap_angle};
use crate::ids::EntityId;
use crate::receiver::Smoothing;
use crate::time::GlobalTime;
use hashbrown::HashMap;

/// How many entities fade at once.
const CAPACITY: usize = 65_536;

#[derive(Clone, Copy)]
struct Fading {
    offset: Vec3,
    angle: f64,
    since: GlobalTime,
}

/// Offsets between where things were shown and where they really are, fading: corrections become glides instead of jumps.
///
/// Feed it with [`TimewarpEvent::Corrected`](super::TimewarpEvent::Corrected) and add [`offset`](Self::offset) to what is
/// shown. The simulation never knows.
///
/// ```
/// use evenkeel::{Duration, EntityId, GlobalTime, Smoothing, Vec3, timewarp::Soften};
/// let mut soften = Soften::new(Smoothing::Blend { over: Duration::from_millis(100), snap_beyond: 5.0 });
/// let at = GlobalTime::from_millis;
/// soften.correct(EntityId(1), Vec3::new(1.0, 0.0, 0.0), 0.0, at(0)); // the entity went 1 to the right
/// assert_eq!(soften.offset(EntityId(1), at(0)).0.x, -1.0); // and is still shown where it was
/// assert_eq!(soften.offset(EntityId(1), at(50)).0.x, -0.5);
/// assert_eq!(soften.offset(EntityId(1), at(100)).0.x, 0.0);
/// ```
pub struct Soften {
    smoothing: Smoothing,
    fading: HashMap<EntityId, Fading>,
    snapped: u64,
}

impl Soften {
    /// Nothing fades yet.
    pub fn new(smoothing: Smoothing) -> Self {
        Self { smoothing, fading: HashMap::new(), snapped: 0 }
    }

    /// An entity was moved and turned. What is left of earlier corrections is kept.
    pub fn correct(&mut self, entity: EntityId, by: Vec3, turned: f64, now: GlobalTime) {
        let (offset, angle) = self.offset(entity, now);
        if self.fading.len() >= CAPACITY && !self.fading.contains_key(&entity) {
            self.forget_finished(now);
            if self.fading.len() >= CAPACITY {
                self.snapped += 1;
                return;
            }
        }
        self.fading.insert(entity, Fading { offset: offset - by, angle: wrap_angle(angle - turned), since: now });
    }

    /// What to add to an entity's position and heading when it is shown.
    pub fn offset(&self, entity: EntityId, now: GlobalTime) -> (Vec3, f64) {
        let Some(fading) = self.fading.get(&entity) else { return (Vec3::ZERO, 0.0) };
        let share = self.smoothing.share(now.since(fading.since), fading.offset.length());
        (fading.offset * share, fading.angle * share)
    }

    /// Forgets what has faded. Call it now and then, once a second, say; it is called when there is no room.
    pub fn forget_finished(&mut self, now: GlobalTime) {
        let smoothing = self.smoothing;
        self.fading.retain(|_, fading| smoothing.share(now.since(fading.since), fading.offset.length()) > 0.0);
    }

    /// How many corrections were not softened because too many entities were fading.
    pub fn snapped(&self) -> u64 {
        self.snapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn corrections_add_up_and_what_is_shown_never_jumps() {
        let mut soften = Soften::new(Smoothing::Blend { over: Duration::from_millis(100), snap_beyond: 5.0 });
        let (entity, at) = (EntityId(3), GlobalTime::from_millis);
        soften.correct(entity, Vec3::new(2.0, 0.0, 0.0), 1.0, at(0));
        let before = soften.offset(entity, at(50));
        soften.correct(entity, Vec3::new(0.0, 1.0, 0.0), 0.0, at(50));
        let after = soften.offset(entity, at(50));
        assert_eq!(after.0, before.0 - Vec3::new(0.0, 1.0, 0.0), "the entity went where its picture did not");
        assert_eq!(after.1, before.1);
        soften.forget_finished(at(150));
        assert!(soften.fading.is_empty());
    }

    #[test]
    fn a_respawn_is_not_softened() {
        let mut soften = Soften::new(Smoothing::Blend { over: Duration::from_millis(100), snap_beyond: 5.0 });
        soften.correct(EntityId(3), Vec3::new(6.0, 0.0, 0.0), 1.0, GlobalTime::ZERO);
        assert_eq!(soften.offset(EntityId(3), GlobalTime::ZERO), (Vec3::ZERO, 0.0));
    }
}

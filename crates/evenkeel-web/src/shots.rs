//! Everybody's shots under way.

use evenkeel::{Duration, GlobalTime, HostId};
use evenkeel_games::words::Shot;

/// So many shots of one shooter are shown at most: more than can be under way.
const PER_SHOOTER: usize = 16;
/// So many shots are shown at most.
const IN_ALL: usize = 512;
/// So far ahead of our clock another's may be.
const AHEAD: Duration = Duration::from_secs(1);

/// Shots, and who fired them.
#[derive(Debug, Default)]
pub(crate) struct Shots(Vec<(HostId, Shot)>);

impl Shots {
    /// Somebody has fired. What is over, comes again, or is more than there can be is left out.
    pub(crate) fn add(&mut self, shooter: HostId, shot: Shot, now: GlobalTime) {
        let of_shooter = self.0.iter().filter(|(other, _)| *other == shooter);
        let known = of_shooter.clone().any(|(_, other)| other.number == shot.number);
        let timely = !shot.is_over(now) && shot.at.since(now) <= AHEAD;
        if timely && !known && of_shooter.count() < PER_SHOOTER && self.0.len() < IN_ALL {
            self.0.push((shooter, shot));
        }
    }

    /// A shot has hit.
    pub(crate) fn remove(&mut self, shooter: HostId, number: u32) {
        self.0.retain(|(other, shot)| *other != shooter || shot.number != number);
    }

    /// Forgets what is over at a time.
    pub(crate) fn forget(&mut self, shown: GlobalTime) {
        self.0.retain(|(_, shot)| !shot.is_over(shown));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(HostId, Shot)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::Vec3;

    #[test]
    fn shots_are_bounded_and_end() {
        let (mut shots, at) = (Shots::default(), GlobalTime::from_millis);
        let shot = |number: u32, fired| Shot { number, at: fired, position: Vec3::ZERO, heading: 0.0 };
        shots.add(HostId(1), shot(0, at(0)), at(3_500));
        shots.add(HostId(1), shot(0, at(5_000)), at(3_500));
        assert_eq!(shots.0.len(), 0, "over, or not to be believed");
        for number in 0..10_000u32 {
            shots.add(HostId(number / 100), shot(number % 50, at(1_000)), at(1_000));
        }
        assert_eq!(shots.0.len(), IN_ALL);
        assert_eq!(shots.iter().filter(|(shooter, _)| *shooter == HostId(3)).count(), PER_SHOOTER);
        shots.remove(HostId(3), 4);
        assert_eq!(shots.iter().filter(|(shooter, _)| *shooter == HostId(3)).count(), PER_SHOOTER - 1);
        shots.forget(at(4_500));
        assert_eq!(shots.0.len(), 0);
    }
}

//! Who a shot hits, by somebody's picture of where everything is.

use crate::settings::GameName;
use evenkeel::{GlobalTime, Vec3};
use evenkeel_games::arena::{self, Field};
use evenkeel_games::spaceship;
use evenkeel_games::words::{Shot, strikes};

/// What holds for shots in a game.
pub(super) struct Ballistics {
    game: GameName,
    field: Field,
}

impl Ballistics {
    pub(super) fn of(game: GameName) -> Self {
        Self { game, field: Field::new(arena::Rules::default().half_side.into()) }
    }

    pub(super) fn game(&self) -> GameName {
        self.game
    }

    /// How far from its middle a craft is hit.
    pub(super) fn radius(&self) -> f64 {
        match self.game {
            GameName::Tanks => arena::RADIUS,
            GameName::Ships => spaceship::RADIUS,
        }
    }

    /// The way it goes between two times; nothing once it is over.
    fn way(&self, shot: &Shot, since: GlobalTime, until: GlobalTime) -> Option<(Vec3, Vec3)> {
        match self.game {
            GameName::Tanks => shot.way(&self.field, since, until),
            // A beam is there for a moment: the first that is looked at.
            GameName::Ships => (since <= shot.at).then(|| shot.beam()),
        }
    }

    /// Where to draw it.
    pub(super) fn marks(&self, shot: &Shot, now: GlobalTime) -> Vec<Vec3> {
        /// A beam is drawn as so many dots.
        const DOTS: u32 = 12;
        match self.game {
            GameName::Tanks => shot.place(&self.field, now).into_iter().collect(),
            GameName::Ships if now.since(shot.at) < evenkeel_games::words::BEAM_SHOWN => {
                let (from, to) = shot.beam();
                (0..DOTS).map(|n| from + (to - from) * (f64::from(n) / f64::from(DOTS - 1))).collect()
            }
            GameName::Ships => Vec::new(),
        }
    }
}

/// A shot as somebody sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case<T> {
    /// It was looked at up to this time.
    since: GlobalTime,
    /// Once it is decided: who is hit, if anybody.
    pub(super) outcome: Option<Option<T>>,
}

impl<T: Copy> Case<T> {
    pub(super) fn open(since: GlobalTime) -> Self {
        Self { since, outcome: None }
    }

    /// Up to when it was looked at.
    pub(super) fn since(&self) -> GlobalTime {
        self.since
    }

    /// Looks on up to a time, at which everybody else is at these places.
    pub(super) fn look(
        &mut self,
        shot: &Shot,
        laws: &Ballistics,
        until: GlobalTime,
        targets: impl Iterator<Item = (T, Vec3)>,
    ) {
        if self.outcome.is_some() || until < shot.at {
            return;
        }
        let way = laws.way(shot, self.since, until);
        let first = way.and_then(|way| {
            let struck = targets.filter_map(|(target, place)| Some((strikes(way, place, laws.radius())?, target)));
            struck.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, target)| target)
        });
        self.since = until;
        if way.is_none() || first.is_some() {
            self.outcome = Some(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> GlobalTime {
        GlobalTime::from_millis(millis)
    }

    /// Fired at 1 s from the west towards a wall in the east.
    fn shot() -> Shot {
        Shot { number: 1, at: at(1_000), position: Vec3::new(-100.0, 20.0, 0.0), heading: 0.0 }
    }

    fn outcome(game: GameName, targets: &[(u32, Vec3)]) -> Option<Option<u32>> {
        let laws = Ballistics::of(game);
        let mut case = Case::open(shot().at);
        for tick in 0..300 {
            case.look(&shot(), &laws, at(980 + 20 * tick), targets.iter().copied());
        }
        case.outcome
    }

    #[test]
    fn the_first_in_the_way_is_hit() {
        let (near, far) = ((1, Vec3::new(-60.0, 21.0, 0.0)), (2, Vec3::new(-40.0, 20.0, 0.0)));
        for game in [GameName::Tanks, GameName::Ships] {
            assert_eq!(outcome(game, &[far, near]), Some(Some(1)), "{game:?}");
            assert_eq!(outcome(game, &[(3, Vec3::new(-60.0, 40.0, 0.0))]), Some(None), "{game:?}");
        }
        let hidden = (4, Vec3::new(120.0, 20.0, 0.0));
        let before = (5, Vec3::new(95.0, 20.0, 0.0));
        assert_eq!(outcome(GameName::Tanks, &[hidden]), Some(None), "behind a wall");
        assert_eq!(outcome(GameName::Tanks, &[hidden, before]), Some(Some(5)), "before it");
    }
}

//! The player's own craft: in steps of the game, as it is told to others, and as it is shown to its driver.

use evenkeel::lag::OwnView;
use evenkeel::{Duration, EntityConfig, EntityId, GlobalTime, HostId, Lag, MotionKind, Pose, State, Threshold, Tick};
use evenkeel_games::words::{GameKind, Rules, Shot};
use evenkeel_games::{Craft, SetupError, solo};

/// So many steps are caught up with; after a longer pause the craft goes on from where it was.
const MAX_CATCH_UP: i64 = 250;
/// Who drives by a longer lag than this drives into walls: beyond, one's own craft is shown at once.
const LONGEST_LAG: Duration = Duration::from_millis(250);

/// The player's own craft.
pub(crate) struct OwnCraft {
    pub(crate) entity: EntityId,
    pub(crate) craft: Box<dyn Craft>,
    view: OwnView,
    tick: Tick,
}

impl OwnCraft {
    pub(crate) fn new(entity: EntityId, rules: &Rules, you: HostId, now: GlobalTime) -> Result<Self, SetupError> {
        let craft = solo::craft(rules, you)?;
        let tick = Tick::at_or_before(now, craft.step_length());
        Ok(Self { entity, craft, view: OwnView::default(), tick })
    }

    /// When the last step was.
    fn time(&self) -> GlobalTime {
        self.tick.time(self.craft.step_length())
    }

    /// Goes on until now. Wishes count from the next step on, so that movement between steps is as foreseen.
    pub(crate) fn advance(&mut self, wanted: (i8, i8), now: GlobalTime) {
        let last = Tick::at_or_before(now, self.craft.step_length());
        self.tick = self.tick.max(Tick(last.0.saturating_sub(MAX_CATCH_UP)));
        while self.tick < last {
            self.tick = self.tick.next();
            self.craft.step();
            self.craft.want(wanted.0, wanted.1);
            self.view.record(self.craft.pose(), self.time());
        }
    }

    /// Where it really is.
    pub(crate) fn pose(&self, now: GlobalTime) -> Pose {
        self.craft.pose_after(now.since(self.time()).max(Duration::ZERO))
    }

    pub(crate) fn fire(&mut self) -> Option<Shot> {
        let time = self.time();
        self.craft.fire(time)
    }

    /// Where its driver is shown it, and whether that is at once although there is a lag.
    pub(crate) fn shown(&self, lag: &Lag, now: GlobalTime) -> (State, bool) {
        let lagged = lag.at(now) <= LONGEST_LAG;
        match self.view.shown(lag, now).filter(|_| lagged) {
            Some(state) => (state, false),
            None => (self.pose(now).motion(MotionKind::Auto).at(0.0), lag.at(now) > Duration::ZERO),
        }
    }
}

/// How a craft's movement is told to others.
pub(crate) fn filter(rules: &Rules) -> EntityConfig {
    let kind = match rules.game {
        GameKind::Tanks => MotionKind::Auto,
        GameKind::Ships => MotionKind::Turning,
    };
    EntityConfig { threshold: Threshold::within(rules.distance).turning(rules.degrees.to_radians()), kind }
}

//! One player's own craft, moved by its owner alone, as in BZFlag: no operations travel, only movement does.
//!
//! Owners tell where their crafts are and what they fire ([`words`](crate::words)); a referee says who was hit. The dynamics are
//! those of the games.
//!
//! ```
//! use evenkeel::GlobalTime;
//! use evenkeel_games::{Craft, arena};
//! let mut tank = arena::Solo::new(arena::Rules::default(), 3, 42)?;
//! tank.want(100, -50);
//! (0..50).for_each(|_| tank.step());
//! let shot = tank.fire(GlobalTime::from_millis(1_000)).expect("it is loaded");
//! assert_eq!((shot.number, tank.loaded()), (1, 2));
//! tank.hit();
//! assert!(tank.state().is_none() && tank.fire(GlobalTime::from_millis(1_000)).is_none());
//! # Ok::<(), evenkeel_games::SetupError>(())
//! ```

use crate::game::SetupError;
use crate::words::{GameKind, Rules, Shot};
use crate::{arena, spaceship};
use alloc::boxed::Box;
use evenkeel::{Duration, GlobalTime, HostId, Pose, State};

/// A player's own craft.
pub trait Craft {
    /// How long a step is.
    fn step_length(&self) -> Duration;

    /// What its driver wants from now on: -100 to 100 each, as [`arena::Act::Drive`] has them. What is beyond counts as that.
    fn want(&mut self, speed: i8, turn: i8);

    /// Fires, if it is in the game and loaded. `at` is the session's time of the last step.
    fn fire(&mut self, at: GlobalTime) -> Option<Shot>;

    /// Goes on for a step.
    fn step(&mut self);

    /// The referee says that it was hit: it is out for a while, and comes back elsewhere. Who is out is not hit again.
    fn hit(&mut self);

    /// How it is to be shown; nothing while it is out.
    fn state(&self) -> Option<State>;

    /// For a sender to export, so long after the last step. While it is out it stands where it was hit.
    fn pose_after(&self, span: Duration) -> Pose;

    /// For a sender to export, at a step.
    fn pose(&self) -> Pose {
        self.pose_after(Duration::ZERO)
    }

    /// How long it is still out; zero while it is in the game.
    fn out(&self) -> Duration;

    /// How many shots it could fire.
    fn loaded(&self) -> usize;
}

/// A player's own craft in whichever game is played.
pub fn craft(rules: &Rules, player: HostId) -> Result<Box<dyn Craft>, SetupError> {
    Ok(match rules.game {
        GameKind::Tanks => Box::new(arena::Solo::new(rules.arena(), player.0, rules.seed)?),
        GameKind::Ships => Box::new(spaceship::Solo::new(spaceship::Rules::default(), player.0)?),
    })
}

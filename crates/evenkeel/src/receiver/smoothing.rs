//! Hiding the jump when a new vector moves an entity.

use crate::time::Duration;

/// How the jump to a new vector is hidden. Smoothing looks better and is less accurate: what it adds in error is reported
/// with every placement.
///
/// ```
/// use evenkeel::{Duration, Smoothing};
/// let soft = Smoothing::Blend { over: Duration::from_millis(150), snap_beyond: 5.0 };
/// # let _ = soft;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Smoothing {
    /// The entity jumps: exact at once.
    #[default]
    None,
    /// The old place fades into the new one.
    Blend {
        /// How long that takes.
        over: Duration,
        /// Larger jumps than this are not hidden: they are respawns, not corrections.
        snap_beyond: f64,
    },
}

impl Smoothing {
    /// How much of an offset is left after a time: 1 at the start, then smoothly down to 0.
    pub(crate) fn share(self, since: Duration, offset: f64) -> f64 {
        match self {
            Self::Blend { over, snap_beyond } if since < over && offset <= snap_beyond => {
                let left = 1.0 - since.max(Duration::ZERO).as_secs_f64() / over.as_secs_f64();
                left * left * (3.0 - 2.0 * left)
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_jump_goes_from_all_to_nothing() {
        let blend = Smoothing::Blend { over: Duration::from_millis(100), snap_beyond: 5.0 };
        assert_eq!(blend.share(Duration::ZERO, 1.0), 1.0);
        assert_eq!(blend.share(Duration::from_millis(50), 1.0), 0.5);
        assert_eq!(blend.share(Duration::from_millis(100), 1.0), 0.0);
        assert_eq!(blend.share(Duration::ZERO, 6.0), 0.0, "a respawn snaps");
        assert_eq!(Smoothing::None.share(Duration::ZERO, 1.0), 0.0);
    }
}

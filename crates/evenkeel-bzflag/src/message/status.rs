//! What a tank is doing, as a set of bits: [`Status`].

/// What a tank is doing.
///
/// ```
/// use evenkeel_bzflag::message::Status;
/// let status = Status::ALIVE | Status::FALLING;
/// assert!(status.contains(Status::FALLING));
/// assert!(!status.contains(Status::FALLING | Status::PAUSED));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status(pub i16);

impl Status {
    /// It lives. All else is about living tanks, but [`EXPLODING`](Self::EXPLODING).
    pub const ALIVE: Self = Self(1);
    /// It pauses, and cannot be hit.
    pub const PAUSED: Self = Self(2);
    /// It was hit and is blowing up.
    pub const EXPLODING: Self = Self(4);
    /// It was teleported just now.
    pub const TELEPORTING: Self = Self(8);
    /// Its flag is in use.
    pub const FLAG_ACTIVE: Self = Self(16);
    /// It goes through a wall.
    pub const CROSSING_WALL: Self = Self(32);
    /// It jumps or falls: gravity pulls at it.
    pub const FALLING: Self = Self(64);
    /// It stands on something that carries it: see [`TankUpdate::driver`](super::TankUpdate::driver).
    pub const ON_DRIVER: Self = Self(128);
    /// What its player asks of it is said: see [`TankUpdate::user`](super::TankUpdate::user).
    pub const USER_INPUTS: Self = Self(256);
    /// Its jets are on: see [`TankUpdate::jump_jets`](super::TankUpdate::jump_jets).
    pub const JUMP_JETS: Self = Self(512);
    /// It is heard: see [`TankUpdate::sounds`](super::TankUpdate::sounds).
    pub const SOUND: Self = Self(1024);

    /// Whether all of `bits` are set.
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// This, with all of `bits` set or not.
    pub const fn with(self, bits: Self, set: bool) -> Self {
        Self(if set { self.0 | bits.0 } else { self.0 & !bits.0 })
    }
}

impl std::ops::BitOr for Status {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_and_taken_away_alone() {
        let status = Status(-1).with(Status::SOUND, false);
        assert_eq!(status, Status(-1025));
        assert!(status.contains(Status::ALIVE | Status::JUMP_JETS) && !status.contains(Status::ALIVE | Status::SOUND));
        assert_eq!(status.with(Status::SOUND, true), Status(-1));
    }
}

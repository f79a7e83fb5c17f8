//! The game's own rules of placing: how a client moves a tank on from what it was told last.
//!
//! A client's loop is: tick, move everything to the tick, draw, read what has arrived. What it reads counts from the tick of the frame
//! at whose end it is read, so that it is first drawn a frame later, as if it had arrived when that frame began: half a frame *before*
//! it did, on average. What it says of its own tank goes out after drawing, too, with the stamp of the tick: a frame old.

use crate::message::{Status, TankUpdate, Variables};
use evenkeel::{Attitude, Constraint, Course, Duration, EntityId, Motion, State, Vec3};

/// Below this rate of turning, in radians per second, a client takes a tank's path for straight.
const STRAIGHT: f64 = 0.001;

/// What of the game's variables bears on where tanks are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Downwards is negative, metres per second squared (`_gravity`).
    pub gravity: f64,
    /// How far before a tank's middle its shots begin (`_muzzleFront`).
    pub muzzle_front: f64,
    /// How far above its bottom (`_muzzleHeight`).
    pub muzzle_height: f64,
    /// Whether clients say where they are on every frame (`_positionTolerance` below zero): then what they send is their true path.
    pub dense: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { gravity: -9.8, muzzle_front: 4.42, muzzle_height: 1.57, dense: false }
    }
}

impl Rules {
    /// What the game's variables make of it. One that is not known, or no number, is as the game has it by itself.
    pub fn of(variables: &Variables) -> Self {
        let usual = Self::default();
        let number = |name, usual| variables.number(name).unwrap_or(usual);
        Self {
            gravity: number("_gravity", usual.gravity),
            muzzle_front: number("_muzzleFront", usual.muzzle_front),
            muzzle_height: number("_muzzleHeight", usual.muzzle_height),
            dense: number("_positionTolerance", 0.09) < 0.0,
        }
    }

    /// How a client moves a tank on that it was told this of.
    ///
    /// ```
    /// use evenkeel::Vec3;
    /// use evenkeel_bzflag::Rules;
    /// use evenkeel_bzflag::message::{Status, TankUpdate};
    /// let driving = TankUpdate { velocity: [25.0, 0.0, 0.0], ..TankUpdate::of(3) };
    /// assert_eq!(Rules::default().motion(&driving).position_at(2.0), Vec3::new(50.0, 0.0, 0.0));
    /// let jumping = TankUpdate { velocity: [0.0, 0.0, 19.0], status: Status(Status::ALIVE.0 | Status::FALLING.0), ..driving };
    /// assert!((Rules::default().motion(&jumping).position_at(1.0).z - 14.1).abs() < 1e-9);
    /// ```
    pub fn motion(&self, update: &TankUpdate) -> Motion {
        let position = vec3(update.position);
        let velocity = vec3(update.velocity);
        let (heading, turn_rate) = (f64::from(update.azimuth), f64::from(update.angular_velocity));
        if update.status.contains(Status::PAUSED) {
            return Motion::stationary(position).facing(heading, 0.0);
        }
        if update.status.contains(Status::FALLING) {
            let gravity = Vec3::new(0.0, 0.0, self.gravity);
            return Motion::accelerated(position, velocity, gravity).facing(heading, turn_rate);
        }
        if turn_rate.abs() <= STRAIGHT {
            return Motion::linear(position, velocity).facing(heading, 0.0);
        }
        let speed = velocity.dot(Vec3::from_heading(heading));
        let course = Course::Circular { speed, climb: velocity.z };
        Motion { position, course, attitude: Attitude::Heading { heading, turn_rate } }
    }

    /// The update that says how a tank moves that many seconds on: an update with the motion's numbers.
    pub fn update(&self, motion: &Motion, seconds: f64, like: &TankUpdate) -> TankUpdate {
        let state = grounded(motion.at(seconds));
        TankUpdate {
            stamp: like.stamp + seconds as f32,
            position: floats(state.position),
            velocity: floats(state.velocity),
            azimuth: state.attitude.heading() as f32,
            angular_velocity: state.attitude.turn_rate() as f32,
            ..*like
        }
    }
}

/// Nothing falls through the ground; roofs are not known here, and not to the game's dead reckoning either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground;

impl Constraint for Ground {
    fn id(&self) -> u64 {
        u64::from_be_bytes(*b"bzground")
    }

    fn constrain(&self, _tank: EntityId, state: &mut State) {
        *state = grounded(*state);
    }
}

/// The state, at rest on the ground if it is below it.
pub(crate) fn grounded(mut state: State) -> State {
    if state.position.z < 0.0 && state.velocity.z <= 0.0 {
        state.position.z = 0.0;
        state.velocity.z = 0.0;
    }
    state
}

/// How old what a client says of its own tank is when it goes out, if it draws so many frames per second.
pub(crate) fn frame(frames_per_second: f64) -> Duration {
    Duration::from_secs_f64(1.0 / frames_per_second)
}

/// How much sooner than it is read a client counts what it reads, on average, and how much later than it arrives it is read, if it
/// draws so many frames per second.
pub(crate) fn half_a_frame(frames_per_second: f64) -> Duration {
    Duration::from_secs_f64(0.5 / frames_per_second)
}

pub(crate) fn vec3(numbers: [f32; 3]) -> Vec3 {
    let [x, y, z] = numbers.map(f64::from);
    Vec3::new(x, y, z)
}

fn floats(v: Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::SetVar;
    use proptest::prelude::*;

    fn update() -> impl Strategy<Value = TankUpdate> {
        let number = -300.0f32..300.0;
        let speed = -30.0f32..30.0;
        let status = prop_oneof![Just(1i16), Just(1 | 64), Just(1 | 2)];
        (
            (number.clone(), number, 0.0f32..50.0),
            (speed.clone(), speed.clone(), speed),
            -3.0f32..3.0,
            -1.0f32..1.0,
            status,
        )
            .prop_map(|(p, v, azimuth, angular_velocity, status)| TankUpdate {
                status: Status(status),
                position: [p.0, p.1, p.2],
                velocity: [v.0, v.1, if status == 65 { v.2 } else { 0.0 }],
                azimuth,
                angular_velocity,
                ..TankUpdate::of(1)
            })
    }

    proptest! {
        /// A client that counts an advanced update from the moment it was advanced to is where one would be that had been told in time.
        #[test]
        fn an_advanced_update_is_the_same_path(update in update(), ahead in 0.0..1.0f64, after in 0.0..1.0f64) {
            let rules = Rules::default();
            let motion = rules.motion(&update);
            let told = rules.motion(&rules.update(&motion, ahead, &update));
            let (there, here) = (grounded(motion.at(ahead + after)), grounded(told.at(after)));
            // What has touched down lies still, which the game sees as soon as it has read it.
            prop_assume!(motion.position_at(ahead).z >= 0.0);
            // An arc is driven along the heading: what moves otherwise turns on the spot of its arc, as it does in the game.
            prop_assert!(there.position.distance(here.position) < 1e-2, "{there:?} {here:?}");
        }
    }

    #[test]
    fn rules_follow_the_games_variables() {
        let mut variables = Variables::default();
        assert_eq!(Rules::of(&variables), Rules::default());
        variables.set(&SetVar(vec![
            (b"_gravity", b"nonsense"),
            (b"_muzzleHeight", b""),
            (b"_positionTolerance", b"-1"),
        ]));
        assert_eq!(Rules::of(&variables), Rules { dense: true, ..Rules::default() });
        variables.set(&SetVar(vec![(b"_tankRadius", b"4.32"), (b"_muzzleFront", b"_tankRadius * 2")]));
        assert_eq!(Rules::of(&variables).muzzle_front, 8.64);
    }
}

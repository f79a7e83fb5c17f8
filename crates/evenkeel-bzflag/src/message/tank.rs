//! How a tank moves: [`TankUpdate`], the DR vector of the game.

use super::bytes::{Bytes, emit_with, put_floats, put_shorts};
use super::{Code, Frame, MessageError, Status};
use std::f64::consts::{PI, TAU};

/// Which of the two messages says how a tank moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `pu`: numbers as they are.
    Full,
    /// `ps`: positions to 2 cm, velocities to 1 cm/s, the azimuth to 0.1 mrad and the turn rate to 1 mrad/s. It is 16
    /// bytes shorter, and what the game takes unless told otherwise.
    Small,
}

/// How a tank moves: a DR vector, as the game's clients send them.
///
/// Metres, seconds and radians; the origin is in the middle of the world and `z` is up. Receivers ignore an update whose
/// `order` is not higher than the last one's, and count its motion from when it arrives.
///
/// ```
/// use evenkeel_bzflag::message::{MessageError, Precision, Status, TankUpdate, frames};
/// let update = TankUpdate { position: [10.0, -5.0, 0.0], velocity: [25.0, 0.0, 0.0], ..TankUpdate::of(3) };
/// let mut datagram = Vec::new();
/// update.emit(&mut datagram);
/// update.with_precision(Precision::Small).emit(&mut datagram);
/// for frame in frames(&datagram) {
///     let read = TankUpdate::parse(frame?)?;
///     assert_eq!((read.player, read.velocity), (3, [25.0, 0.0, 0.0]));
/// }
/// # Ok::<(), MessageError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TankUpdate {
    /// When, on the clock of the sender's frames, in seconds.
    pub stamp: f32,
    /// Whose tank.
    pub player: u8,
    /// The sender's number of it.
    pub order: i32,
    /// What the tank is doing. The bits that announce the options below follow them when it is emitted.
    pub status: Status,
    /// Where it is.
    pub position: [f32; 3],
    /// How fast it goes.
    pub velocity: [f32; 3],
    /// Which way it faces, counter-clockwise from `x`.
    pub azimuth: f32,
    /// How fast it turns.
    pub angular_velocity: f32,
    /// How far its jets are on, 32766 being fully.
    pub jump_jets: Option<i16>,
    /// What carries it.
    pub driver: Option<i32>,
    /// What its player asks of it: a speed in cm/s and a turn rate in mrad/s.
    pub user: Option<[i16; 2]>,
    /// What is heard of it.
    pub sounds: Option<u8>,
    /// Which message it came as, and is to go as.
    pub precision: Precision,
}

impl TankUpdate {
    /// A living tank that stands in the middle of the world, to begin with.
    pub fn of(player: u8) -> Self {
        Self {
            stamp: 0.0,
            player,
            order: 0,
            status: Status::ALIVE,
            position: [0.0; 3],
            velocity: [0.0; 3],
            azimuth: 0.0,
            angular_velocity: 0.0,
            jump_jets: None,
            driver: None,
            user: None,
            sounds: None,
            precision: Precision::Full,
        }
    }

    /// Reads either of the two messages.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let small = frame.code == Code::TANK_UPDATE_SMALL;
        let mut bytes = frame.expect(if small { frame.code } else { Code::TANK_UPDATE })?;
        let mut update = Self {
            stamp: bytes.f32("the time stamp")?,
            player: bytes.u8("the player")?,
            order: bytes.i32("the order")?,
            status: Status(bytes.i16("the status")?),
            ..Self::of(0)
        };
        if small {
            update.read_small(&mut bytes)?
        } else {
            update.read_full(&mut bytes)?
        }
        update.read_options(&mut bytes)?;
        bytes.end().map(|()| update)
    }

    /// Appends it as a whole frame: that of its precision, or the full one if its numbers do not fit the small one.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let small = self.small().filter(|_| self.precision == Precision::Small);
        let code = if small.is_some() { Code::TANK_UPDATE_SMALL } else { Code::TANK_UPDATE };
        emit_with(out, code, |out| {
            put_floats(out, &[self.stamp]);
            out.push(self.player);
            out.extend_from_slice(&self.order.to_be_bytes());
            put_shorts(out, &[self.emitted_status().0]);
            match small {
                Some(shorts) => put_shorts(out, &shorts),
                None => {
                    put_floats(out, &self.position);
                    put_floats(out, &self.velocity);
                    put_floats(out, &[self.azimuth, self.angular_velocity]);
                }
            }
            self.put_options(out);
        });
    }

    /// The same in another precision; in full if its numbers do not fit the small one. They are rounded when it is
    /// emitted, to the nearest: that is half as far off as the game's own rounding towards zero.
    pub fn with_precision(self, precision: Precision) -> Self {
        let fits = precision == Precision::Full || self.small().is_some();
        Self { precision: if fits { precision } else { Precision::Full }, ..self }
    }

    fn read_full(&mut self, bytes: &mut Bytes<'_>) -> Result<(), MessageError> {
        self.precision = Precision::Full;
        self.position = bytes.vector("the position")?;
        self.velocity = bytes.vector("the velocity")?;
        self.azimuth = bytes.f32("the azimuth")?;
        self.angular_velocity = bytes.f32("the turn rate")?;
        Ok(())
    }

    fn read_small(&mut self, bytes: &mut Bytes<'_>) -> Result<(), MessageError> {
        self.precision = Precision::Small;
        self.position = bytes.shorts("the position")?.map(|short| widen(short, DISTANCE));
        self.velocity = bytes.shorts("the velocity")?.map(|short| widen(short, SPEED));
        self.azimuth = (f64::from(bytes.i16("the azimuth")?) * PI / f64::from(SCALE)) as f32;
        self.angular_velocity = widen(bytes.i16("the turn rate")?, TURN_RATE);
        Ok(())
    }

    fn read_options(&mut self, bytes: &mut Bytes<'_>) -> Result<(), MessageError> {
        if self.status.contains(Status::JUMP_JETS) {
            self.jump_jets = Some(bytes.i16("the jump jets")?);
        }
        if self.status.contains(Status::ON_DRIVER) {
            self.driver = Some(bytes.i32("the driver")?);
        }
        if self.status.contains(Status::USER_INPUTS) {
            self.user = Some(bytes.shorts("the player's input")?);
        }
        if self.status.contains(Status::SOUND) {
            self.sounds = Some(bytes.u8("the sounds")?);
        }
        Ok(())
    }

    fn put_options(&self, out: &mut Vec<u8>) {
        if let Some(scale) = self.jump_jets {
            put_shorts(out, &[scale]);
        }
        if let Some(driver) = self.driver {
            out.extend_from_slice(&driver.to_be_bytes());
        }
        if let Some(user) = self.user {
            put_shorts(out, &user);
        }
        out.extend(self.sounds);
    }

    fn emitted_status(&self) -> Status {
        self.status
            .with(Status::JUMP_JETS, self.jump_jets.is_some())
            .with(Status::ON_DRIVER, self.driver.is_some())
            .with(Status::USER_INPUTS, self.user.is_some())
            .with(Status::SOUND, self.sounds.is_some())
    }

    /// The numbers of the small message, if they fit.
    fn small(&self) -> Option<[i16; 8]> {
        let [x, y, z] = self.position.map(|number| narrow(number, DISTANCE));
        let [vx, vy, vz] = self.velocity.map(|number| narrow(number, SPEED));
        Some([x?, y?, z?, vx?, vy?, vz?, narrow_angle(self.azimuth)?, narrow(self.angular_velocity, TURN_RATE)?])
    }
}

// A short of this stands for the largest number of its kind, in the game's own arithmetic: a receiver of a small message
// comes to the very numbers that are read here.
const SCALE: f32 = 32766.0;
const DISTANCE: f32 = 0.02 * SCALE;
const SPEED: f32 = 0.01 * SCALE;
const TURN_RATE: f32 = 0.001 * SCALE;

fn widen(short: i16, largest: f32) -> f32 {
    f32::from(short) * largest / SCALE
}

/// The nearest short. To round towards zero, as the game does, would not give back what [`widen`] was given.
fn narrow(number: f32, largest: f32) -> Option<i16> {
    nearest(f64::from(number) * f64::from(SCALE) / f64::from(largest))
}

/// The nearest short for an angle, which is turned once or more if it does not fit as it is.
fn narrow_angle(angle: f32) -> Option<i16> {
    let angle = f64::from(angle);
    let short = |angle: f64| nearest(angle * f64::from(SCALE) / PI);
    short(angle).or_else(|| short((angle + PI).rem_euclid(TAU) - PI))
}

fn nearest(number: f64) -> Option<i16> {
    let rounded = number.round();
    (f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&rounded).then_some(rounded as i16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(update: &TankUpdate) -> Vec<u8> {
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<TankUpdate, MessageError> {
        let (head, payload) = bytes.split_at(4);
        TankUpdate::parse(Frame { code: Code(u16::from_be_bytes([head[2], head[3]])), payload })
    }

    #[test]
    fn every_short_comes_back_as_it_was() {
        for short in i16::MIN..=i16::MAX {
            let mut bytes = emitted(&TankUpdate::of(1).with_precision(Precision::Small));
            assert_eq!(bytes.len(), 4 + 27);
            bytes[4 + 11..4 + 27].copy_from_slice(&short.to_be_bytes().repeat(8));
            assert_eq!(emitted(&parse(&bytes).unwrap()), bytes, "{short}");
        }
    }

    #[test]
    fn small_numbers_are_the_games() {
        let mut bytes = emitted(&TankUpdate::of(1).with_precision(Precision::Small));
        bytes[4 + 11..4 + 27].copy_from_slice(&[0x7f, 0xfe].repeat(8));
        let update = parse(&bytes).unwrap();
        assert_eq!(update.position, [655.32; 3]);
        assert_eq!(update.velocity, [327.66; 3]);
        assert_eq!(update.azimuth, PI as f32);
        assert_eq!(update.angular_velocity, 0.001 * 32766.0);
    }

    #[test]
    fn what_does_not_fit_the_small_message_goes_in_full() {
        let fits = TankUpdate { position: [655.34, -655.36, 0.0], azimuth: 100.0, ..TankUpdate::of(1) };
        assert_eq!(fits.with_precision(Precision::Small).precision, Precision::Small);
        for wrong in [
            TankUpdate { position: [0.0, 655.36, 0.0], ..fits },
            TankUpdate { velocity: [0.0, 0.0, -327.7], ..fits },
            TankUpdate { angular_velocity: 33.0, ..fits },
            TankUpdate { position: [f32::NAN, 0.0, 0.0], ..fits },
        ] {
            assert_eq!(wrong.with_precision(Precision::Small).precision, Precision::Full);
            let forced = emitted(&TankUpdate { precision: Precision::Small, ..wrong });
            assert_eq!(forced, emitted(&wrong));
        }
    }

    #[test]
    fn angles_are_turned_to_fit() {
        for (angle, expected) in [(1.0, 1.0), (4.0, 4.0 - TAU), (-4.0, TAU - 4.0), (7.0, 7.0 - TAU), (3.0 * PI, -PI)] {
            let update = TankUpdate { azimuth: angle as f32, ..TankUpdate::of(1) };
            let read = parse(&emitted(&update.with_precision(Precision::Small))).unwrap();
            assert!((f64::from(read.azimuth) - expected).abs() < 5e-5, "{angle}: {}", read.azimuth);
        }
    }

    #[test]
    fn the_layout_is_the_games() {
        let update = TankUpdate {
            stamp: 1.5,
            player: 7,
            order: 0x0102_0304,
            status: Status::ALIVE,
            position: [1.0, 2.0, 3.0],
            velocity: [-1.0, 0.0, 0.5],
            azimuth: 0.25,
            angular_velocity: -0.5,
            jump_jets: Some(0x1112),
            driver: Some(0x2122_2324),
            user: Some([0x3132, 0x4142]),
            sounds: Some(0x51),
            precision: Precision::Full,
        };
        let mut expected = b"\x00\x36pu\x3f\xc0\x00\x00\x07\x01\x02\x03\x04\x07\x81".to_vec();
        for number in [1.0f32, 2.0, 3.0, -1.0, 0.0, 0.5, 0.25, -0.5] {
            expected.extend(number.to_be_bytes());
        }
        expected.extend(b"\x11\x12\x21\x22\x23\x24\x31\x32\x41\x42\x51");
        assert_eq!(emitted(&update), expected);
        assert_eq!(parse(&expected), Ok(TankUpdate { status: update.emitted_status(), ..update }));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = emitted(&TankUpdate { sounds: Some(1), ..TankUpdate::of(1) });
        let truncated = MessageError::Truncated { what: "the sounds", at: 43, needed: 1, left: 0 };
        assert_eq!(parse(&good[..47]), Err(truncated));
        assert_eq!(parse(&[&good[..], &[0]].concat()), Err(MessageError::Trailing { at: 44, left: 1 }));
        for (what, at) in [("the time stamp", 0), ("the position", 19), ("the velocity", 23), ("the turn rate", 39)] {
            for wrong in [f32::NAN, f32::INFINITY] {
                let mut bytes = good.clone();
                bytes[4 + at..8 + at].copy_from_slice(&wrong.to_be_bytes());
                assert_eq!(parse(&bytes), Err(MessageError::NotFinite { what, at }));
            }
        }
        let other = Frame { code: Code::ALIVE, payload: &good[4..] };
        let error = MessageError::WrongCode { expected: Code::TANK_UPDATE, found: Code::ALIVE };
        assert_eq!(TankUpdate::parse(other), Err(error));
    }

    proptest! {
        #[test]
        fn what_is_read_is_emitted_to_the_bit(small: bool, status: i16, body: [u8; 64]) {
            let code = if small { Code::TANK_UPDATE_SMALL } else { Code::TANK_UPDATE };
            let has = |bits| usize::from(Status(status).contains(bits));
            let options = has(Status::JUMP_JETS) * 2 + has(Status::ON_DRIVER) * 4 + has(Status::USER_INPUTS) * 4;
            let length = if small { 27 } else { 43 } + options + has(Status::SOUND);
            let mut payload = body[..length].to_vec();
            payload[9..11].copy_from_slice(&status.to_be_bytes());
            let mut whole = Vec::new();
            Frame { code, payload: &payload }.emit(&mut whole);
            match parse(&whole) {
                Ok(update) => prop_assert_eq!(emitted(&update), whole),
                Err(error) => prop_assert!(matches!(error, MessageError::NotFinite { .. }), "{}", error),
            }
        }

        #[test]
        fn small_is_off_by_half_a_step_at_most(x in -655.0f32..655.0, v in -327.0f32..327.0, turn in -32.0f32..32.0) {
            let update = TankUpdate { position: [x; 3], velocity: [v; 3], angular_velocity: turn, ..TankUpdate::of(1) };
            let read = parse(&emitted(&update.with_precision(Precision::Small))).unwrap();
            prop_assert!((read.position[1] - x).abs() < 0.0101);
            prop_assert!((read.velocity[1] - v).abs() < 0.0051);
            prop_assert!((read.angular_velocity - turn).abs() < 0.00051);
        }

        #[test]
        fn any_bytes_are_read_or_refused(small: bool, payload: Vec<u8>) {
            let code = if small { Code::TANK_UPDATE_SMALL } else { Code::TANK_UPDATE };
            let _ = TankUpdate::parse(Frame { code, payload: &payload });
        }
    }
}

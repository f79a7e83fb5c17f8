//! Shots.

use super::bytes::{emit_with, put_floats, put_shorts};
use super::{Code, Frame, MessageError};

/// A shot was fired. Whoever receives it also puts the shooter's tank where the shot says it stood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShotBegin {
    /// When, on the clock of the sender's frames, in seconds.
    pub stamp: f32,
    /// Who fired it.
    pub player: u8,
    /// Which of the player's shots.
    pub shot: u16,
    /// Where it begins: at the end of the barrel.
    pub position: [f32; 3],
    /// How fast it goes.
    pub velocity: [f32; 3],
    /// How far it has flown already, in seconds.
    pub elapsed: f32,
    /// The shooter's team.
    pub team: i16,
    /// The letters of the shooter's flag, zeros if there is none.
    pub flag: [u8; 2],
    /// How long it flies, in seconds.
    pub lifetime: f32,
}

impl ShotBegin {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::SHOT_BEGIN)?;
        let shot = Self {
            stamp: bytes.f32("the time stamp")?,
            player: bytes.u8("the player")?,
            shot: bytes.u16("the shot")?,
            position: bytes.vector("the position")?,
            velocity: bytes.vector("the velocity")?,
            elapsed: bytes.f32("the elapsed time")?,
            team: bytes.i16("the team")?,
            flag: bytes.array("the flag")?,
            lifetime: bytes.f32("the lifetime")?,
        };
        bytes.end().map(|()| shot)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::SHOT_BEGIN, |out| {
            put_floats(out, &[self.stamp]);
            out.push(self.player);
            out.extend_from_slice(&self.shot.to_be_bytes());
            put_floats(out, &self.position);
            put_floats(out, &self.velocity);
            put_floats(out, &[self.elapsed]);
            put_shorts(out, &[self.team]);
            out.extend_from_slice(&self.flag);
            put_floats(out, &[self.lifetime]);
        });
    }
}

/// A shot ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShotEnd {
    /// Who fired it.
    pub player: u8,
    /// Which of the player's shots.
    pub shot: i16,
    /// Why: 0 if it hit something.
    pub reason: u16,
}

impl ShotEnd {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::SHOT_END)?;
        let end =
            Self { player: bytes.u8("the player")?, shot: bytes.i16("the shot")?, reason: bytes.u16("the reason")? };
        bytes.end().map(|()| end)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::SHOT_END, |out| {
            out.push(self.player);
            put_shorts(out, &[self.shot]);
            out.extend_from_slice(&self.reason.to_be_bytes());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shots_are_emitted_as_they_were_read(payload: [u8; 43], end: [u8; 5]) {
            let mut whole = Vec::new();
            Frame { code: Code::SHOT_BEGIN, payload: &payload }.emit(&mut whole);
            let mut out = Vec::new();
            match ShotBegin::parse(Frame { code: Code::SHOT_BEGIN, payload: &payload }) {
                Ok(shot) => {
                    shot.emit(&mut out);
                    prop_assert_eq!(&out, &whole);
                }
                Err(error) => prop_assert!(matches!(error, MessageError::NotFinite { .. }), "{}", error),
            }

            out.clear();
            ShotEnd::parse(Frame { code: Code::SHOT_END, payload: &end }).unwrap().emit(&mut out);
            prop_assert_eq!(&out[4..], &end[..]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(payload: Vec<u8>) {
            let read = ShotBegin::parse(Frame { code: Code::SHOT_BEGIN, payload: &payload });
            prop_assert!(read.is_err() || payload.len() == 43);
            let read = ShotEnd::parse(Frame { code: Code::SHOT_END, payload: &payload });
            prop_assert_eq!(read.is_ok(), payload.len() == 5);
        }
    }
}

//! Who plays, lives and leads.

use super::bytes::{Bytes, emit_with, put_floats, put_shorts};
use super::{Code, Frame, MessageError, Text};

/// A client wants to join. Its message goes on with what proves who it is, which is between it and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enter {
    /// 0 for a tank, 1 for a robot: see [`AddPlayer::kind`].
    pub kind: u16,
    /// The team it asks for.
    pub team: i16,
    /// The player's name.
    pub callsign: Text<32>,
    /// What the player has to say.
    pub motto: Text<128>,
}

impl Enter {
    /// Reads what is not secret.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::ENTER)?;
        Ok(Self {
            kind: bytes.u16("the kind of player")?,
            team: bytes.i16("the team")?,
            callsign: Text(bytes.array("the callsign")?),
            motto: Text(bytes.array("the motto")?),
        })
    }
}

/// What a player has won and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerScore {
    /// How many others it destroyed.
    pub wins: u16,
    /// How often it was destroyed.
    pub losses: u16,
    /// How many of its own team it destroyed.
    pub team_kills: u16,
}

impl PlayerScore {
    fn read(bytes: &mut Bytes<'_>) -> Result<Self, MessageError> {
        Ok(Self { wins: bytes.u16("wins")?, losses: bytes.u16("losses")?, team_kills: bytes.u16("team kills")? })
    }

    fn put(&self, out: &mut Vec<u8>) {
        [self.wins, self.losses, self.team_kills].iter().for_each(|n| out.extend_from_slice(&n.to_be_bytes()));
    }
}

/// There is a new player, or one that was there before the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddPlayer {
    /// Its number.
    pub player: u8,
    /// 0 for a tank, 1 for a robot.
    pub kind: u16,
    /// Its team, 5 for those who only look on.
    pub team: i16,
    /// What it has won and lost.
    pub score: PlayerScore,
    /// Its name.
    pub callsign: Text<32>,
    /// What it has to say.
    pub motto: Text<128>,
}

impl AddPlayer {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::ADD_PLAYER)?;
        let added = Self {
            player: bytes.u8("the player")?,
            kind: bytes.u16("the kind of player")?,
            team: bytes.i16("the team")?,
            score: PlayerScore::read(&mut bytes)?,
            callsign: Text(bytes.array("the callsign")?),
            motto: Text(bytes.array("the motto")?),
        };
        bytes.end().map(|()| added)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::ADD_PLAYER, |out| {
            out.push(self.player);
            out.extend_from_slice(&self.kind.to_be_bytes());
            put_shorts(out, &[self.team]);
            self.score.put(out);
            out.extend_from_slice(&self.callsign.0);
            out.extend_from_slice(&self.motto.0);
        });
    }
}

/// A player is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovePlayer(pub u8);

impl RemovePlayer {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::REMOVE_PLAYER)?;
        let removed = Self(bytes.u8("the player")?);
        bytes.end().map(|()| removed)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::REMOVE_PLAYER, |out| out.push(self.0));
    }
}

/// A tank comes to life, as the server says it. (A client asks for it by the same message without a payload.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alive {
    /// Whose.
    pub player: u8,
    /// Where.
    pub position: [f32; 3],
    /// Which way it faces.
    pub azimuth: f32,
}

impl Alive {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::ALIVE)?;
        let alive = Self {
            player: bytes.u8("the player")?,
            position: bytes.vector("the position")?,
            azimuth: bytes.f32("the azimuth")?,
        };
        bytes.end().map(|()| alive)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::ALIVE, |out| {
            out.push(self.player);
            put_floats(out, &self.position);
            put_floats(out, &[self.azimuth]);
        });
    }
}

/// A tank was destroyed, as the server says it. (A client says so of itself, without the victim.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Killed {
    /// Whose.
    pub victim: u8,
    /// By whom; players have numbers below 244.
    pub killer: u8,
    /// How: 1 by a shot.
    pub reason: i16,
    /// By which of the killer's shots.
    pub shot: i16,
    /// The letters of the killer's flag, zeros if there is none.
    pub flag: [u8; 2],
    /// What it drove into, if it was that.
    pub driver: Option<i32>,
}

impl Killed {
    /// The reason of a tank that drove into something deadly.
    pub const BY_DRIVER: i16 = 0x7064;

    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::KILLED)?;
        let mut killed = Self {
            victim: bytes.u8("the victim")?,
            killer: bytes.u8("the killer")?,
            reason: bytes.i16("the reason")?,
            shot: bytes.i16("the shot")?,
            flag: bytes.array("the flag")?,
            driver: None,
        };
        if killed.reason == Self::BY_DRIVER {
            killed.driver = Some(bytes.i32("the driver")?);
        }
        bytes.end().map(|()| killed)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::KILLED, |out| {
            out.extend_from_slice(&[self.victim, self.killer]);
            put_shorts(out, &[self.reason, self.shot]);
            out.extend_from_slice(&self.flag);
            self.driver.iter().for_each(|driver| out.extend_from_slice(&driver.to_be_bytes()));
        });
    }
}

/// The scores that changed, by player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score(pub Vec<(u8, PlayerScore)>);

impl Score {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::SCORE)?;
        let mut scores = Vec::new();
        for _ in 0..bytes.u8("the number of scores")? {
            scores.push((bytes.u8("the player")?, PlayerScore::read(&mut bytes)?));
        }
        bytes.end().map(|()| Self(scores))
    }

    /// Appends it as a whole frame, of no more scores than fit: 145.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let scores = &self.0[..self.0.len().min(145)];
        emit_with(out, Code::SCORE, |out| {
            out.push(scores.len() as u8);
            for (player, score) in scores {
                out.push(*player);
                score.put(out);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Emit = Box<dyn Fn(&mut Vec<u8>)>;

    /// Reads a frame by its code, and says how to emit it again.
    fn read(frame: Frame<'_>) -> Result<Emit, MessageError> {
        Ok(match frame.code {
            Code::ADD_PLAYER => AddPlayer::parse(frame).map(|m| Box::new(move |out: &mut _| m.emit(out)))?,
            Code::REMOVE_PLAYER => RemovePlayer::parse(frame).map(|m| Box::new(move |out: &mut _| m.emit(out)))?,
            Code::ALIVE => Alive::parse(frame).map(|m| Box::new(move |out: &mut _| m.emit(out)))?,
            Code::KILLED => Killed::parse(frame).map(|m| Box::new(move |out: &mut _| m.emit(out)))?,
            _ => Score::parse(frame).map(|m| Box::new(move |out: &mut _| m.emit(out)))?,
        })
    }

    const CODES: [Code; 5] = [Code::ADD_PLAYER, Code::REMOVE_PLAYER, Code::ALIVE, Code::KILLED, Code::SCORE];

    #[test]
    fn a_deadly_driver_is_said_only_of_those_it_killed() {
        let shot = Killed { victim: 1, killer: 2, reason: 1, shot: 3, flag: *b"GM", driver: None };
        let mut out = Vec::new();
        shot.emit(&mut out);
        assert_eq!(out, b"\0\x08kl\x01\x02\0\x01\0\x03GM");
        let payload = b"\x01\x02pd\0\x03GM\0\0\0\x09";
        let killed = Killed::parse(Frame { code: Code::KILLED, payload }).unwrap();
        assert_eq!(killed, Killed { reason: Killed::BY_DRIVER, driver: Some(9), ..shot });
    }

    #[test]
    fn the_name_is_read_from_who_enters_and_nothing_after_the_motto() {
        let mut payload = vec![0, 0, 0, 5];
        payload.extend(Text::<32>::new("tester").0);
        payload.extend(Text::<128>::new("hello").0);
        let enter = Enter::parse(Frame { code: Code::ENTER, payload: &payload }).unwrap();
        assert_eq!((enter.kind, enter.team, enter.callsign.to_string().as_str()), (0, 5, "tester"));
        payload.extend([b'?'; 83]);
        assert_eq!(Enter::parse(Frame { code: Code::ENTER, payload: &payload }), Ok(enter));
    }

    #[test]
    fn scores_beyond_a_frame_are_left_out() {
        let mut out = Vec::new();
        Score(vec![(1, PlayerScore::default()); 200]).emit(&mut out);
        assert_eq!(out.len(), 4 + 1 + 145 * 7);
    }

    proptest! {
        #[test]
        fn what_is_read_is_emitted_to_the_bit(which in 0usize..5, mut payload in prop::collection::vec(any::<u8>(), 171)) {
            let code = CODES[which];
            let length = match code {
                Code::ADD_PLAYER => 171,
                Code::REMOVE_PLAYER => 1,
                Code::ALIVE => 17,
                Code::KILLED => if payload[2..4] == *b"pd" { 12 } else { 8 },
                _ => {
                    payload[0] %= 24;
                    1 + 7 * usize::from(payload[0])
                }
            };
            let frame = Frame { code, payload: &payload[..length] };
            match read(frame) {
                Ok(emit) => {
                    let (mut whole, mut out) = (Vec::new(), Vec::new());
                    frame.emit(&mut whole);
                    emit(&mut out);
                    prop_assert_eq!(out, whole);
                }
                Err(error) => prop_assert!(matches!(error, MessageError::NotFinite { .. }), "{}", error),
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(payload: Vec<u8>) {
            for code in CODES {
                let _ = read(Frame { code, payload: &payload });
            }
            let _ = Enter::parse(Frame { code: Code::ENTER, payload: &payload });
        }
    }
}

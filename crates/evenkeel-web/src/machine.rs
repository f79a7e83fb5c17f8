//! A player behind bytes and whole numbers, for callers that know nothing of Rust.

use crate::player::Player;
use evenkeel::Instant;
use evenkeel_session::seat::ToSend;

/// No input is longer, in bytes.
const MAX_INPUT: usize = 1024 * 1024;
/// The bytes of a secret.
const SECRET: usize = 16;

/// What bytes are, by the numbers that WebSockets' frames have too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At once or not at all.
    Datagram = 0,
    /// Surely and in order.
    Message = 1,
    /// Surely, and without waiting for others.
    Unordered = 2,
}

/// A player, once there is one, and buffers to talk to it. Answers of 0 are good and of 1 are not: the output says why, in UTF-8.
#[derive(Default)]
pub struct Machine {
    player: Option<Player>,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Machine {
    /// Room for the input of the next call, at most a mebibyte.
    pub fn input(&mut self, length: usize) -> &mut [u8] {
        self.input.clear();
        self.input.resize(length.min(MAX_INPUT), 0);
        &mut self.input
    }

    /// The output of the last call.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The player, once there is one.
    pub fn player(&self) -> Option<&Player> {
        self.player.as_ref()
    }

    /// Makes a player. Input: 16 random bytes, the session's name of so many bytes, and the player's.
    pub fn join(&mut self, session_length: usize) -> i32 {
        let names = self.input.split_first_chunk::<SECRET>();
        let made = names.ok_or("there is no secret".into()).and_then(|(secret, names)| {
            let (session, name) = names.split_at_checked(session_length).ok_or("there is no name")?;
            let text = |bytes| core::str::from_utf8(bytes).map_err(|error| error.to_string());
            Player::new(text(session)?, text(name)?, *secret).map_err(|error| error.to_string())
        });
        self.player = None;
        let made = made.map(|player| self.player = Some(player));
        self.answer(made)
    }

    /// There is a connection, the first or another.
    pub fn connected(&mut self) -> i32 {
        let done = self.player.as_mut().map_or(Ok(()), Player::connected);
        self.answer(done)
    }

    /// The connection was lost. Input: why, in UTF-8.
    pub fn lost(&mut self, now: i64) {
        let why = String::from_utf8_lossy(&self.input);
        if let Some(player) = &mut self.player {
            player.lost(&why, Instant::from_nanos(now));
        }
    }

    /// Something arrived: the input is a [`Kind`] of bytes.
    pub fn handle(&mut self, kind: i32, now: i64) -> i32 {
        let (Some(player), now) = (&mut self.player, Instant::from_nanos(now)) else { return 0 };
        let done = match kind {
            0 => {
                player.datagram(&self.input, now);
                Ok(())
            }
            1 => player.message(&self.input, now),
            _ => player.unordered(&self.input, now),
        };
        self.answer(done)
    }

    /// The next thing to send: its [`Kind`], or -1. Output: the bytes.
    pub fn poll(&mut self, now: i64) -> i32 {
        let next = self.player.as_mut().and_then(|player| player.poll(Instant::from_nanos(now)));
        let (kind, bytes) = match next {
            Some(ToSend::Datagram(bytes)) => (Kind::Datagram as i32, bytes),
            Some(ToSend::Message(bytes)) => (Kind::Message as i32, bytes),
            Some(ToSend::Unordered(bytes)) => (Kind::Unordered as i32, bytes),
            // Nobody is introduced to a player who offers no address.
            Some(ToSend::ToPeer(..)) | None => (-1, Vec::new()),
        };
        self.output = bytes;
        kind
    }

    /// After how many nanoseconds to poll again if nothing else happens before, or -1.
    pub fn timeout(&self, now: i64) -> i64 {
        let next = self.player.as_ref().and_then(Player::timeout);
        next.map_or(-1, |next| next.since(Instant::from_nanos(now)).as_nanos().max(0))
    }

    /// What the driver wants: -100 to 100 each.
    pub fn keys(&mut self, speed: i32, turn: i32) {
        let percent = |number: i32| number.clamp(-100, 100) as i8;
        if let Some(player) = &mut self.player {
            player.keys(percent(speed), percent(turn));
        }
    }

    /// Fires, if it can. Answers 1 if it did.
    pub fn fire(&mut self, now: i64) -> i32 {
        self.player.as_mut().is_some_and(|player| player.fire(Instant::from_nanos(now))).into()
    }

    /// Lets time pass for the player's own craft.
    pub fn step(&mut self, now: i64) {
        if let Some(player) = &mut self.player {
            player.step(Instant::from_nanos(now));
        }
    }

    /// Draws. Output: the numbers of [`Frame::numbers`](crate::Frame::numbers), little-endian. Answers how many.
    pub fn frame(&mut self, now: i64) -> i32 {
        let frame = self.player.as_mut().map(|player| player.frame(Instant::from_nanos(now)));
        let numbers = frame.map(|frame| frame.numbers()).unwrap_or_default();
        self.output.clear();
        self.output.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        numbers.len() as i32
    }

    /// Texts. Output: why things stand as they do, then host and name of each player: for each text a number (0 for the
    /// first), its length and its bytes, numbers as little-endian `u32`.
    pub fn texts(&mut self) {
        self.output.clear();
        let Some(player) = &self.player else { return };
        let names = player.names().map(|(host, name)| (host.0, name));
        for (number, text) in core::iter::once((0, player.status().1)).chain(names) {
            self.output.extend(number.to_le_bytes());
            self.output.extend((text.len() as u32).to_le_bytes());
            self.output.extend(text.as_bytes());
        }
    }

    /// Says farewell: poll, and close.
    pub fn leave(&mut self) {
        if let Some(player) = &mut self.player {
            player.leave();
        }
    }

    fn answer<E: ToString>(&mut self, done: Result<(), E>) -> i32 {
        self.output.clear();
        match done {
            Ok(()) => 0,
            Err(error) => {
                self.output.extend(error.to_string().into_bytes());
                1
            }
        }
    }
}

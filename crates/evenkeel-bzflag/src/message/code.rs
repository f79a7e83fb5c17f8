//! Which message a frame holds: [`Code`].

use std::fmt;

/// The kind of a message: two letters.
///
/// ```
/// use evenkeel_bzflag::message::Code;
/// assert_eq!(Code::TANK_UPDATE.to_string(), "pu");
/// assert_eq!(Code(0x0102).to_string(), "0x0102");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl Code {
    /// The server took the player in.
    pub const ACCEPT: Self = Self(0x6163);
    /// There is a new player, or one that was there before.
    pub const ADD_PLAYER: Self = Self(0x6170);
    /// A tank comes to life.
    pub const ALIVE: Self = Self(0x616c);
    /// A flag was dropped.
    pub const DROP_FLAG: Self = Self(0x6466);
    /// A client wants to join.
    pub const ENTER: Self = Self(0x656e);
    /// A client leaves.
    pub const EXIT: Self = Self(0x6578);
    /// What time it is in the game.
    pub const GAME_TIME: Self = Self(0x6774);
    /// A piece of the world.
    pub const GET_WORLD: Self = Self(0x6777);
    /// A guided missile turned.
    pub const GUIDED_MISSILE: Self = Self(0x676d);
    /// A flag was taken.
    pub const GRAB_FLAG: Self = Self(0x6766);
    /// A tank was destroyed.
    pub const KILLED: Self = Self(0x6b6c);
    /// The server asks for an echo, and the client's echo.
    pub const LAG_PING: Self = Self(0x7069);
    /// A chat message.
    pub const MESSAGE: Self = Self(0x6d67);
    /// A player pauses or goes on.
    pub const PAUSE: Self = Self(0x7061);
    /// The server did not take the player in.
    pub const REJECT: Self = Self(0x726a);
    /// A player is gone.
    pub const REMOVE_PLAYER: Self = Self(0x7270);
    /// Somebody's score changed.
    pub const SCORE: Self = Self(0x7363);
    /// Variables of the game.
    pub const SET_VAR: Self = Self(0x7376);
    /// A shot was fired.
    pub const SHOT_BEGIN: Self = Self(0x7362);
    /// A shot ended before its time.
    pub const SHOT_END: Self = Self(0x7365);
    /// The client must go.
    pub const SUPER_KILL: Self = Self(0x736b);
    /// How a tank moves, in full precision.
    pub const TANK_UPDATE: Self = Self(0x7075);
    /// How a tank moves, in short numbers.
    pub const TANK_UPDATE_SMALL: Self = Self(0x7073);
    /// A tank was teleported.
    pub const TELEPORT: Self = Self(0x7470);
    /// The other side's UDP arrives.
    pub const UDP_LINK_ESTABLISHED: Self = Self(0x6f67);
    /// A first packet over UDP.
    pub const UDP_LINK_REQUEST: Self = Self(0x6f66);
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.to_be_bytes() {
            [a, b] if a.is_ascii_graphic() && b.is_ascii_graphic() => write!(f, "{}{}", a as char, b as char),
            _ => write!(f, "0x{:04x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_shown_as_the_letters_they_are() {
        for (code, letters) in [
            (Code::ACCEPT, "ac"),
            (Code::ADD_PLAYER, "ap"),
            (Code::ALIVE, "al"),
            (Code::DROP_FLAG, "df"),
            (Code::ENTER, "en"),
            (Code::EXIT, "ex"),
            (Code::GAME_TIME, "gt"),
            (Code::GET_WORLD, "gw"),
            (Code::GUIDED_MISSILE, "gm"),
            (Code::GRAB_FLAG, "gf"),
            (Code::KILLED, "kl"),
            (Code::LAG_PING, "pi"),
            (Code::MESSAGE, "mg"),
            (Code::PAUSE, "pa"),
            (Code::REJECT, "rj"),
            (Code::REMOVE_PLAYER, "rp"),
            (Code::SCORE, "sc"),
            (Code::SET_VAR, "sv"),
            (Code::SHOT_BEGIN, "sb"),
            (Code::SHOT_END, "se"),
            (Code::SUPER_KILL, "sk"),
            (Code::TANK_UPDATE, "pu"),
            (Code::TANK_UPDATE_SMALL, "ps"),
            (Code::TELEPORT, "tp"),
            (Code::UDP_LINK_ESTABLISHED, "og"),
            (Code::UDP_LINK_REQUEST, "of"),
        ] {
            assert_eq!(code.to_string(), letters);
        }
    }
}

//! How the game's programs are started.

use super::{BedError, Tools};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// What the server is asked for.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The port on loopback; 0 chooses a free one from 5300 up.
    pub port: u16,
    /// Whether every client sends its exact state on every frame: the true paths, for a relay that decides who needs
    /// what. Otherwise the game's own dead reckoning decides.
    pub dense: bool,
    /// Further arguments of `bzfs`, after ours: `-worldsize 200`, for instance, brings the tanks together.
    pub extra: Vec<String>,
}

/// Whom a client plays for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Team {
    /// Everyone for himself.
    #[default]
    Rogue,
    Red,
    Green,
    Blue,
    Purple,
}

/// What a client is asked for.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The tank's name, 2 to 31 letters, digits, `-` or `_`.
    pub name: String,
    /// Where it connects: the server, or what stands before it.
    pub server: SocketAddr,
    /// How many more tanks, driven by the same client over connections of their own, it brings along (at most 100),
    /// in teams that the server chooses.
    pub robots: u32,
    /// Whom it plays for.
    pub team: Team,
}

impl ClientOptions {
    /// One tank of that name, for itself alone.
    pub fn new(name: impl Into<String>, server: SocketAddr) -> Self {
        Self { name: name.into(), server, robots: 0, team: Team::default() }
    }

    /// The name is also a folder, an argument and a word in logs.
    pub(super) fn check(&self) -> Result<(), BedError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(2..=31).contains(&self.name.len()) || !self.name.chars().all(plain) || self.name.starts_with('-') {
            let rule = "2 to 31 letters, digits, - or _, and no - in front";
            return Err(BedError::Options(format!("{:?} is no name for a tank: {rule}", self.name)));
        }
        if ["server", "watch"].contains(&self.name.as_str()) {
            return Err(BedError::Options(format!("{:?} is another program's name in the bed", self.name)));
        }
        if !self.server.is_ipv4() {
            return Err(BedError::Options(format!("{}: the game speaks IPv4 alone", self.server)));
        }
        if self.robots > 100 {
            return Err(BedError::Options(format!("{} robots: a client drives at most 100", self.robots)));
        }
        Ok(())
    }

    /// Sound, the list of public servers and the news are off; the folder is all that it reads and writes.
    pub(super) fn command(&self, tools: &Tools, folder: &Path, library: &Path) -> Command {
        let mut command = Command::new(&tools.bzflag);
        command.env("HOME", folder).env("LD_PRELOAD", library);
        command.env("EVENKEEL_EYES", folder.join(super::eyes::FILE));
        command.env("SDL_VIDEODRIVER", "dummy").env("SDL_AUDIODRIVER", "dummy");
        command.arg("-configdir").arg(folder);
        command.args(["-window", "96x72", "-nolist", "-nomotd", "-mute", "-e", "-team", self.team.argument()]);
        if self.robots > 0 {
            command.args(["-solo", &self.robots.to_string()]);
        }
        command.arg(format!("{}@{}", self.name, self.server));
        command
    }
}

impl ServerOptions {
    /// Without `-public`, so that it is announced to nobody. Its log tells who joins, whose UDP is up and who is
    /// removed, and why.
    pub(super) fn command(&self, tools: &Tools, port: u16) -> Command {
        let mut command = Command::new(&tools.bzfs);
        command.args(["-i", "127.0.0.1", "-p", &port.to_string(), "-ts", "-d", "-d"]);
        command.args(["-mp", "40", "-h", "-b", "-j", "-ms", "3", "-noMasterBanlist"]);
        if self.dense {
            for (variable, value) in
                [("_positionTolerance", "-1"), ("_updateThrottleRate", "0"), ("_noSmallPackets", "1")]
            {
                command.args(["-set", variable, value]);
            }
        }
        command.args(&self.extra);
        command
    }
}

impl Team {
    fn argument(self) -> &'static str {
        match self {
            Self::Rogue => "rogue",
            Self::Red => "red",
            Self::Green => "green",
            Self::Blue => "blue",
            Self::Purple => "purple",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_be_something_else_are_refused() {
        let server = "127.0.0.1:5300".parse().unwrap();
        for name in ["", "A", "../x", "a@b", "a:b", "-solo", "Ada Lovelace", "watch", &"x".repeat(32)] {
            assert!(matches!(ClientOptions::new(name, server).check(), Err(BedError::Options(_))), "{name}");
        }
        assert!(ClientOptions::new("Ada-1_b", server).check().is_ok());
        assert!(ClientOptions { robots: 101, ..ClientOptions::new("Ada", server) }.check().is_err());
        assert!(ClientOptions::new("Ada", "[::1]:5300".parse().unwrap()).check().is_err());
    }
}

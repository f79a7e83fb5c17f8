//! What the games have in common beyond [`Simulation`]: how they start, and how their rules and acts are written down.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use evenkeel::{Duration, HostId, Pose, Simulation, State};

/// The most players a game may have.
pub const MAX_PLAYERS: u32 = 4096;
/// The shortest step.
pub const MIN_STEP: Duration = Duration::from_millis(1);
/// The longest step.
pub const MAX_STEP: Duration = Duration::from_millis(250);

/// A game with one craft per player: player `n` is `HostId(n)`, and its craft is `EntityId(n)`.
pub trait Game: Simulation + Clone {
    /// The game's name.
    const NAME: &'static str;
    /// What can be chosen before it starts.
    type Rules: Clone + fmt::Debug + PartialEq + Default;

    /// Whether the game can be played like this, without starting it.
    fn check(rules: &Self::Rules, players: u32) -> Result<(), SetupError>;

    /// The game as it starts. Equal arguments give equal games.
    fn start(rules: &Self::Rules, players: u32, seed: u64) -> Result<Self, SetupError>;

    /// How many players there are, whether in the game or out of it.
    fn players(&self) -> u32;

    /// A player's craft for a sender to export; nothing while it is not in the game.
    fn pose(&self, player: HostId) -> Option<Pose>;

    /// A player's craft as it is shown; nothing while it is not in the game.
    fn state(&self, player: HostId) -> Option<State>;

    /// The rules as names and whole numbers.
    fn write_rules(rules: &Self::Rules) -> Vec<(&'static str, i64)>;

    /// Sets the rule of a name. False if there is none of this name, or none with this value.
    fn read_rule(rules: &mut Self::Rules, name: &str, value: i64) -> bool;

    /// An act as a name and a value, neither with a comma in it.
    fn write_act(act: &Self::Act) -> (&'static str, String);

    /// The act of a name and a value, if there is one: the inverse of [`write_act`](Self::write_act).
    fn read_act(name: &str, value: &str) -> Option<Self::Act>;
}

/// Why a game cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// There must be a player, and no more than [`MAX_PLAYERS`].
    Players(u32),
    /// Steps are from [`MIN_STEP`] to [`MAX_STEP`] long.
    StepLength(Duration),
    /// A rule of this name has a value that the game cannot be played with.
    Rule(&'static str),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Players(players) => write!(f, "a game has 1 to {MAX_PLAYERS} players, not {players}"),
            Self::StepLength(step) => write!(f, "a step takes {MIN_STEP} to {MAX_STEP}, not {step}"),
            Self::Rule(name) => write!(f, "the rule `{name}` has a value that the game cannot be played with"),
        }
    }
}

impl core::error::Error for SetupError {}

/// What every game checks before it starts.
pub(crate) fn check(players: u32, step_length: Duration) -> Result<(), SetupError> {
    if !(1..=MAX_PLAYERS).contains(&players) {
        return Err(SetupError::Players(players));
    }
    if !(MIN_STEP..=MAX_STEP).contains(&step_length) {
        return Err(SetupError::StepLength(step_length));
    }
    Ok(())
}

/// How many steps a span takes, rounded up.
pub(crate) fn steps(span: Duration, step_length: Duration) -> u32 {
    let (span, step) = (span.as_nanos().max(0), step_length.as_nanos().max(1));
    u32::try_from((span + step - 1) / step).unwrap_or(u32::MAX)
}

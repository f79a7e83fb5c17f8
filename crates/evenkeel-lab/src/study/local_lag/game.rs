//! The operations that are played back: the recorded duel, games of other seeds, and a single operation.

use crate::study::Brief;
use anyhow::{Context, Result, ensure};
use evenkeel::{Duration, GlobalTime, HostId, Operation, Simulation, Tick};
use evenkeel_games::operations::{Setup, record};
use evenkeel_games::spaceship::{Act, Rules};
use evenkeel_games::{Recording, ShipPilot, Spaceship};
use evenkeel_link::Noise;

/// "About one minute."
pub(super) const LONGEST_SECONDS: f64 = 60.0;
/// From here on is measured: the remote site has heard of everything by then, whatever the delay.
pub(super) const MEASURED_FROM: GlobalTime = GlobalTime::from_millis(2_000);
/// The project's own duel, for where there is no folder with data.
const DUEL: &str = include_str!("../../../../../data/operations/spaceship-duel.csv");
/// A ship that accelerates is at its top speed after two seconds, which nobody operates and no extrapolation foresees.
const LONE_ENDS_AFTER: Duration = Duration::from_millis(1_900);

/// Operations to be played back, and how far.
pub(super) struct Game {
    pub(super) recording: Recording<Spaceship>,
    /// The last tick that is measured.
    pub(super) last: Tick,
}

impl Game {
    /// The recorded duel, from the folder with data if it is there.
    pub(super) fn duel(brief: &Brief) -> Result<Self> {
        let path = brief.data.join("operations/spaceship-duel.csv");
        let text = if path.is_file() { std::fs::read(&path)? } else { DUEL.into() };
        let recording = Recording::parse(&text).with_context(|| format!("reading {}", path.display()))?;
        let game = Self::new(recording, brief.size.seconds);
        let seconds = game.end().as_secs_f64();
        ensure!(
            game.end() > MEASURED_FROM,
            "a duel of {seconds} s is too short: only what comes after 2 s is measured"
        );
        Ok(game)
    }

    /// Two bots of a seed. Nobody is shot out of the game, so that all games are equally long.
    pub(super) fn seeded(seed: u64, seconds: f64) -> Result<Self> {
        let rules = Rules { life: u8::MAX, ..Rules::default() };
        let ticks = (seconds.min(LONGEST_SECONDS) / rules.step_length.as_secs_f64()).ceil() as u32;
        Ok(Self::new(record::<Spaceship, ShipPilot>(Setup { rules, players: 2, seed, ticks })?, seconds))
    }

    /// A ship that stands still and begins to accelerate: the paper's figures 1 and 2. When, the seed says.
    pub(super) fn lone_operation(seed: u64) -> Result<Self> {
        let after = 1e3 * Noise::new(seed, 0x10AE).uniform(0, 0);
        let at = MEASURED_FROM + Duration::from_millis(100) + Duration::from_micros((1e3 * after) as i64);
        let rules = Rules::default();
        let ends = Tick::at_or_before(at + LONE_ENDS_AFTER, rules.step_length);
        let operation = Operation { at, issuer: HostId(0), sequence: 0, act: Act::Accelerate(true) };
        let setup = Setup { rules, players: 2, seed, ticks: u32::try_from(ends.0)? };
        Ok(Self::new(Recording::new(setup, vec![operation])?, LONGEST_SECONDS))
    }

    fn new(recording: Recording<Spaceship>, seconds: f64) -> Self {
        let most = (seconds.min(LONGEST_SECONDS) / recording.setup().rules.step_length.as_secs_f64()).ceil() as i64;
        let last = Tick(most.min(recording.setup().ticks.into()));
        Self { recording, last }
    }

    /// How long a step is.
    pub(super) fn step(&self) -> Duration {
        self.recording.setup().rules.step_length
    }

    /// When the last measured tick is.
    pub(super) fn end(&self) -> GlobalTime {
        self.last.time(self.step())
    }

    /// The game as it starts.
    pub(super) fn start(&self) -> Result<Spaceship> {
        let game = self.recording.start()?;
        debug_assert_eq!(game.step_length(), self.step());
        Ok(game)
    }
}

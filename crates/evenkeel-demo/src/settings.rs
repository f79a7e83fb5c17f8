//! What can be changed while the demo runs. See `docs/DEMO.md`.

use evenkeel::policy::by_name;
use evenkeel::{Budget, ClockRule, Duration, Policy};
use evenkeel_link::Conditions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The most bots.
pub const MAX_BOTS: u32 = 16;
/// The longest delay of a player, one way. Milliseconds.
pub const MAX_DELAY_MS: f64 = 2_000.0;
/// The longest lag. Milliseconds.
pub const MAX_LAG_MS: f64 = 1_000.0;
/// The most players with conditions of their own.
pub const MAX_PLAYERS: usize = 64;

/// Everything that can be changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What is played.
    pub game: GameName,
    /// Who takes part besides people.
    pub crowd: Crowd,
    /// How many bots drive; in the crowd of the internet at least eight.
    pub bots: u32,
    /// The session that is played.
    pub left: World,
    /// The same movement by another policy, or none.
    #[serde(default)]
    pub right: Option<World>,
    /// When owners generate a vector.
    pub threshold: Thresholds,
    /// From which moment vectors are extrapolated.
    pub clock: Clock,
    /// How long things wait.
    pub lag: Lags,
    /// What networks are made to be, by player.
    pub players: BTreeMap<String, Network>,
}

/// A game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GameName {
    /// Tanks in an arena.
    Tanks,
    /// Spaceships.
    Ships,
}

/// Who takes part besides people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crowd {
    /// Bots near the server drive; receivers at 200, 500 and 800 ms watch.
    Papers,
    /// Eight bots at 20 to 250 ms drive and watch; more bots than these are near the server.
    Internet,
}

/// How a session is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// A policy's name.
    pub policy: String,
    /// What it may spend: a third, unless it is said.
    #[serde(default = "third")]
    pub budget: String,
}

/// When owners generate a vector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Distance in the game's unit.
    pub distance: f64,
    /// Angle.
    pub degrees: f64,
}

/// From which moment vectors are extrapolated: [`ClockRule`], as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// From generation.
    Global,
    /// From arrival.
    Local,
    /// From arrival less the estimated delay.
    OneWay,
}

impl From<Clock> for ClockRule {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Global => Self::Global,
            Clock::Local => Self::Local,
            Clock::OneWay => Self::OneWay,
        }
    }
}

/// How long things wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lags {
    /// Movement, before it is shown. Milliseconds.
    pub movement_ms: f64,
    /// Verdicts, before they are decided. Milliseconds.
    pub verdicts_ms: f64,
}

/// What a player's network is made to be, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// One way. Milliseconds.
    pub delay_ms: f64,
    /// Mean of what comes on top by chance. Milliseconds.
    pub jitter_ms: f64,
    /// Per cent of packets.
    pub loss_percent: f64,
}

/// Why settings are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

impl Default for Settings {
    /// Every third vector on the left, `even` with as many on the right, in the crowd of the papers.
    fn default() -> Self {
        let world = |policy: &str| World { policy: policy.into(), budget: third() };
        Self {
            game: GameName::Tanks,
            crowd: Crowd::Papers,
            bots: 4,
            left: world("base/3"),
            right: Some(world("even")),
            threshold: Thresholds { distance: 0.5, degrees: 3.0 },
            clock: Clock::Global,
            lag: Lags { movement_ms: 0.0, verdicts_ms: 0.0 },
            players: BTreeMap::new(),
        }
    }
}

impl World {
    /// The policy itself.
    pub fn policy(&self, seed: u64) -> Result<Box<dyn Policy>, SettingsError> {
        let budget: Budget =
            self.budget.parse().map_err(|error| SettingsError(format!("budget `{}`: {error}", self.budget)))?;
        by_name(&self.policy, budget, seed).map_err(|error| SettingsError(error.to_string()))
    }
}

impl Network {
    /// Nothing in between.
    pub const NEAR: Self = Self { delay_ms: 5.0, jitter_ms: 0.0, loss_percent: 0.0 };

    /// So far away, and otherwise good.
    pub fn at(delay_ms: f64) -> Self {
        Self { delay_ms, ..Self::NEAR }
    }

    /// The same for the conditioner, one way.
    pub fn conditions(&self) -> Result<Conditions, SettingsError> {
        let text = format!("delay={}ms,jitter=exp:{}ms,loss={}%", self.delay_ms, self.jitter_ms, self.loss_percent);
        text.parse().map_err(|error| SettingsError(format!("{error}")))
    }

    fn check(&self, name: &str) -> Result<(), SettingsError> {
        within(&format!("delay of {name}"), self.delay_ms, 0.0, MAX_DELAY_MS, "ms")?;
        within(&format!("jitter of {name}"), self.jitter_ms, 0.0, 500.0, "ms")?;
        within(&format!("loss of {name}"), self.loss_percent, 0.0, 90.0, "%")
    }
}

impl Settings {
    /// These settings with some of them changed, as a merge patch (RFC 7396) says, if that can be.
    ///
    /// ```
    /// use evenkeel_demo::settings::Settings;
    /// let settings = Settings::default();
    /// let patch = serde_json::json!({"left": {"policy": "credits"}, "right": null});
    /// let changed = settings.patched(&patch)?;
    /// assert_eq!((changed.left.policy.as_str(), changed.left.budget.as_str()), ("credits", "1/3"));
    /// assert!(changed.right.is_none());
    /// let error = settings.patched(&serde_json::json!({"bots": 17})).unwrap_err();
    /// assert_eq!(error.to_string(), "bots must be 1 to 16, not 17");
    /// # Ok::<(), evenkeel_demo::settings::SettingsError>(())
    /// ```
    pub fn patched(&self, patch: &Value) -> Result<Self, SettingsError> {
        let mut value = serde_json::to_value(self).map_err(|error| SettingsError(error.to_string()))?;
        merge(&mut value, patch);
        let changed: Self =
            serde_json::from_value(value).map_err(|error| SettingsError(format!("settings: {error}")))?;
        changed.check()?;
        Ok(changed)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if !(1..=MAX_BOTS).contains(&self.bots) {
            return Err(SettingsError(format!("bots must be 1 to {MAX_BOTS}, not {}", self.bots)));
        }
        if self.players.len() > MAX_PLAYERS {
            return Err(SettingsError(format!("at most {MAX_PLAYERS} players can have networks of their own")));
        }
        self.left.policy(0)?;
        self.right.as_ref().map(|world| world.policy(0)).transpose()?;
        within("threshold", self.threshold.distance, 0.01, 100.0, "")?;
        within("threshold", self.threshold.degrees, 0.1, 180.0, "degrees")?;
        within("lag of movement", self.lag.movement_ms, 0.0, MAX_LAG_MS, "ms")?;
        within("lag of verdicts", self.lag.verdicts_ms, 0.0, MAX_LAG_MS, "ms")?;
        self.players.iter().try_for_each(|(name, network)| network.check(name))
    }

    /// How long movement waits.
    pub fn movement_lag(&self) -> Duration {
        Duration::from_secs_f64(self.lag.movement_ms / 1e3)
    }

    /// How long verdicts wait.
    pub fn verdict_lag(&self) -> Duration {
        Duration::from_secs_f64(self.lag.verdicts_ms / 1e3)
    }
}

/// A merge patch. Depth is that of the settings: what is deeper is not of their form, and refused when it is read.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert(Value::Null), change);
        }
    }
}

fn third() -> String {
    "1/3".into()
}

fn within(what: &str, number: f64, least: f64, most: f64, unit: &str) -> Result<(), SettingsError> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    Err(SettingsError(format!("{what} must be {least} to {most}{unit}, not {number}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_removes_and_what_was_off_can_be_switched_on_in_part() {
        let players = BTreeMap::from([("Ada".to_owned(), Network::NEAR), ("Bob".to_owned(), Network::at(100.0))]);
        let settings = Settings { players, right: None, ..Settings::default() };
        let without = settings.patched(&json!({"players": {"Ada": null, "nobody": null}})).unwrap();
        assert_eq!(without.players, BTreeMap::from([("Bob".to_owned(), Network::at(100.0))]));
        let on = settings.patched(&json!({"right": {"policy": "even"}})).unwrap();
        assert_eq!(on.right, Settings::default().right);
        assert_eq!(on.patched(&json!({"right": null})).unwrap(), settings);
        assert!(settings.patched(&json!({"bots": null})).unwrap_err().to_string().contains("bots"));
    }
}

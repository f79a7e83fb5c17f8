//! Who may come in.

use super::settings::Settings;
use anyhow::{Context, Result, ensure};
use evenkeel_net::hub::{Gate, Open, TokenGate};
use evenkeel_net::token::{KeyRing, Revocations};
use std::time::SystemTime;

/// A gate that wants tokens if there are keys, and none otherwise.
pub(super) fn gate(settings: &Settings) -> Result<Box<dyn Gate>> {
    let Some(file) = &settings.token_keys else {
        return Ok(Box::new(Open { max_entities: settings.max_entities.unwrap_or_default() }));
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("--token-keys {}", file.display()))?;
    let keys = KeyRing::parse(&text).map_err(|error| anyhow::anyhow!("{}, {error}", file.display()))?;
    ensure!(
        keys.keys().len() > 0,
        "{} has no key: write what `evenkeel token keys new` prints into it",
        file.display()
    );
    let gate = TokenGate::new(keys, settings.max_players.unwrap_or_default(), unix_now);
    Ok(match settings.revocations() {
        Some(file) => Box::new(gate.with_revocations(Revocations::at(file))?),
        None => Box::new(gate),
    })
}

/// The wall clock, in Unix seconds.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

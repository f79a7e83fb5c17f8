//! Who may come in.

use super::settings::Settings;
use anyhow::{Context, Result, ensure};
use evenkeel_net::hub::{Gate, Open, TokenGate};
use evenkeel_net::token::{KeyRing, Revocations};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// A door that wants tokens if there are keys, and none otherwise.
pub(super) enum Door {
    Open(Open),
    Guarded { file: PathBuf, gate: Arc<Mutex<TokenGate>> },
}

impl Door {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        let Some(file) = settings.token_keys.clone() else {
            return Ok(Self::Open(Open { max_entities: settings.max_entities.unwrap_or_default() }));
        };
        let mut gate = TokenGate::new(keys(&file)?, settings.max_players.unwrap_or_default(), unix_now);
        if let Some(revoked) = settings.revocations() {
            gate = gate.with_revocations(Revocations::at(revoked))?;
        }
        Ok(Self::Guarded { file, gate: Arc::new(Mutex::new(gate)) })
    }

    /// What the session asks.
    pub(super) fn gate(&self) -> Box<dyn Gate> {
        match self {
            Self::Open(open) => Box::new(*open),
            Self::Guarded { gate, .. } => Box::new(gate.clone()),
        }
    }

    /// Reads the keys again. Whoever is in stays in; if they cannot be read, those there are stay in force.
    pub(super) fn reload(&self) {
        let Self::Guarded { file, gate } = self else { return };
        match keys(file) {
            Ok(keys) => {
                tracing::info!(keys = keys.keys().len(), "the keys of tokens were read again");
                gate.lock().unwrap_or_else(PoisonError::into_inner).set_keys(keys);
            }
            Err(error) => tracing::error!("the keys of tokens cannot be read again: {error:#}"),
        }
    }
}

fn keys(file: &Path) -> Result<KeyRing> {
    let text = std::fs::read_to_string(file).with_context(|| format!("--token-keys {}", file.display()))?;
    let keys = KeyRing::parse(&text).map_err(|error| anyhow::anyhow!("{}, {error}", file.display()))?;
    ensure!(
        keys.keys().len() > 0,
        "{} has no key: write what `evenkeel token keys new` prints into it",
        file.display()
    );
    Ok(keys)
}

/// The wall clock, in Unix seconds.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

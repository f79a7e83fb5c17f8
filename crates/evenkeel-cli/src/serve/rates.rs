//! How much one player may send.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Rates {
    pub(super) datagrams: u32,
    pub(super) messages: u32,
    pub(super) handshakes: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self { datagrams: 1_000, messages: 200, handshakes: 4 }
    }
}

impl FromStr for Rates {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rates = Self::default();
        for part in text.split(',').map(str::trim) {
            let (key, value) = part
                .split_once('=')
                .with_context(|| format!("`{part}`: expected key=number, such as datagrams=1000"))?;
            let value: u32 = value.trim().parse().with_context(|| format!("`{part}`: expected a whole number"))?;
            ensure!(value > 0, "`{part}`: expected at least 1 a second");
            match key.trim() {
                "datagrams" => rates.datagrams = value,
                "messages" => rates.messages = value,
                "handshakes" => rates.handshakes = value,
                _ => bail!("`{part}`: the rates are datagrams, messages and handshakes"),
            }
        }
        Ok(rates)
    }
}

impl TryFrom<String> for Rates {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|error: anyhow::Error| format!("{error:#}"))
    }
}

impl From<Rates> for String {
    fn from(rates: Rates) -> Self {
        rates.to_string()
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "datagrams={},messages={},handshakes={}", self.datagrams, self.messages, self.handshakes)
    }
}

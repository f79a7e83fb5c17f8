//! A worse network for single players, for testing.

use anyhow::{Context, Result, bail, ensure};
use evenkeel_link::Conditions;
use evenkeel_net::Server;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::str::FromStr;

/// What is between the server and one player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Condition {
    /// The player's name.
    pub(crate) player: String,
    /// From the server to the player. Left out: nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outgoing: Option<String>,
    /// From the player to the server. Left out: nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) incoming: Option<String>,
}

impl FromStr for Condition {
    type Err = anyhow::Error;

    /// `player=NAME,CONDITIONS`, both ways alike.
    fn from_str(text: &str) -> Result<Self> {
        let named = text.trim().strip_prefix("player=").and_then(|rest| rest.split_once(','));
        let (player, rest) = named.with_context(|| format!("`{text}`: expected player=NAME,CONDITIONS"))?;
        let both = Some(rest.trim().to_owned());
        let condition = Self { player: player.trim().to_owned(), outgoing: both.clone(), incoming: both };
        condition.parse()?;
        Ok(condition)
    }
}

/// Both ways: to the player and from it.
pub(crate) struct Ways {
    pub(crate) outgoing: Option<Conditions>,
    pub(crate) incoming: Option<Conditions>,
}

impl Condition {
    pub(crate) fn parse(&self) -> Result<Ways> {
        let read = |text: &Option<String>| -> Result<Option<Conditions>> {
            let Some(text) = text else { return Ok(None) };
            Ok(Some(text.parse().with_context(|| format!("condition of player `{}`", self.player))?))
        };
        ensure!(!self.player.is_empty(), "a condition without a player: whose network is it?");
        let ways = Ways { outgoing: read(&self.outgoing)?, incoming: read(&self.incoming)? };
        if ways.outgoing.is_none() && ways.incoming.is_none() {
            bail!("condition of player `{}`: give outgoing, incoming or both", self.player);
        }
        Ok(ways)
    }
}

/// Refuses conditions that cannot be read, and two for one player.
pub(crate) fn check(conditions: &[Condition]) -> Result<()> {
    let mut players = BTreeSet::new();
    for condition in conditions {
        condition.parse()?;
        ensure!(players.insert(&condition.player), "player `{}` has two conditions: leave one", condition.player);
    }
    Ok(())
}

/// Puts the conditions between the server and those players.
pub(super) fn apply_conditions(server: &Server, conditions: &[Condition]) -> Result<()> {
    for condition in conditions {
        let Ways { outgoing, incoming } = condition.parse()?;
        let (outgoing, incoming) = (outgoing.unwrap_or_default(), incoming.unwrap_or_default());
        server.set_condition(&condition.player, outgoing.clone(), incoming.clone())?;
        let (player, outgoing, incoming) = (&condition.player, outgoing.to_string(), incoming.to_string());
        tracing::warn!(?player, outgoing, incoming, "this player's network is made worse, for testing");
    }
    Ok(())
}

//! A worse network for single players, for testing.

use super::{Server, Shared};
use crate::hub::Connection;
use crate::transport::{Conditions, ConditionsError};
use std::fmt;

/// Why a player's network is as it was.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConditionError {
    /// The server was started without a [`Conditioner`](crate::transport::Conditioner).
    NoConditioner,
    /// The conditions cannot be.
    Conditions(ConditionsError),
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConditioner => {
                write!(f, "the server was started without a conditioner: set ListenConfig::conditioner")
            }
            Self::Conditions(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConditionError {}

impl Server {
    /// Puts these conditions between the server and the player of that name, now and whenever it comes back: outgoing from the
    /// server's view. Only for testing, and only over UDP. The session does not know of it: it decides by what it measures.
    pub fn set_condition(
        &self,
        player: &str,
        outgoing: Conditions,
        incoming: Conditions,
    ) -> Result<(), ConditionError> {
        if self.shared.conditioner.is_none() {
            return Err(ConditionError::NoConditioner);
        }
        outgoing.validate().map_err(ConditionError::Conditions)?;
        incoming.validate().map_err(ConditionError::Conditions)?;
        let lobby = self.shared.lobby();
        let mut connections = self.shared.connections();
        connections.conditions.insert(player.to_owned(), (outgoing, incoming));
        let theirs: Vec<Connection> =
            connections.open.keys().copied().filter(|open| lobby.player_name(*open) == Some(player)).collect();
        for connection in theirs {
            self.shared.condition(&connections, connection, player);
        }
        Ok(())
    }

    /// Forgets the conditions of the player of that name: its network is again what it is for everybody.
    pub fn clear_condition(&self, player: &str) {
        let lobby = self.shared.lobby();
        let mut connections = self.shared.connections();
        if connections.conditions.remove(player).is_none() {
            return;
        }
        let Some(conditioner) = &self.shared.conditioner else { return };
        let theirs = connections.open.iter().filter(|(open, _)| lobby.player_name(**open) == Some(player));
        theirs.for_each(|(_, open)| conditioner.clear(open.sender.remote()));
    }
}

impl Shared {
    /// Puts a player's conditions, if it has any, on its connection.
    pub(super) fn condition(&self, connections: &super::Connections, connection: Connection, player: &str) {
        let rule = connections.conditions.get(player).zip(connections.open.get(&connection));
        if let (Some(((outgoing, incoming), open)), Some(conditioner)) = (rule, &self.conditioner) {
            // They were checked when they were given.
            let _ = conditioner.set(open.sender.remote(), outgoing.clone(), incoming.clone());
        }
    }
}

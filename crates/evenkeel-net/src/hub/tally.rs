//! What a hub counts for its report and nothing else.

use crate::levels::Level;
use crate::protocol::Refusal;
use crate::report::Traffic;
use evenkeel::{HostId, SenderEvent};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Who was not let in, by reason.
    pub(super) refusals: BTreeMap<&'static str, u64>,
    /// Datagrams without a receipt, by who should have got them. Only players who are here.
    lost: BTreeMap<HostId, u64>,
    /// Vectors that were given up because too many waited.
    pub(super) heart_full: u64,
    /// Receipts for what was never sent.
    pub(super) forged: u64,
    /// Datagrams that players got and could not decode.
    pub(super) undecoded: u64,
    /// Players who held something else to be agreed.
    pub(super) disagreements: u64,
    /// The game's own messages, by level.
    pub(super) messages: BTreeMap<&'static str, Traffic>,
}

impl Tally {
    pub(super) fn refused(&mut self, why: &Refusal) {
        let reason = match why {
            Refusal::Version { .. } => "version",
            Refusal::NoSuchSession => "session",
            Refusal::Full => "full",
            Refusal::Name => "name",
            Refusal::Token(_) => "token",
            Refusal::Ending => "ending",
            Refusal::PeersOnly => "peers_only",
            Refusal::Expelled(_) => "expelled",
        };
        *self.refusals.entry(reason).or_default() += 1;
    }

    pub(super) fn message_sent(&mut self, level: Level) {
        self.messages.entry(level.name()).or_default().sent += 1;
    }

    pub(super) fn message_received(&mut self, level: Level) {
        self.messages.entry(level.name()).or_default().received += 1;
    }

    pub(super) fn note(&mut self, event: SenderEvent) {
        match event {
            SenderEvent::DatagramLost { to } => *self.lost.entry(to).or_default() += 1,
            SenderEvent::QueueFull { .. } => self.heart_full += 1,
            SenderEvent::ForgedReceipt { .. } => self.forged += 1,
            SenderEvent::Undecoded { .. } => self.undecoded += 1,
            SenderEvent::Disagreement { with, difference } => {
                self.disagreements += 1;
                tracing::warn!(host = with.0, %difference, "a player is not served: it has agreed on something else");
            }
            _ => {}
        }
    }

    pub(super) fn lost(&self, host: HostId) -> u64 {
        self.lost.get(&host).copied().unwrap_or(0)
    }

    /// A player has left for good.
    pub(super) fn forget(&mut self, host: HostId) {
        self.lost.remove(&host);
    }
}

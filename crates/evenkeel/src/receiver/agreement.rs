//! What a receiver does about senders that hold something else to be agreed.

use super::Receiver;
use super::report::{Handled, ReceiverError, ReceiverEvent};
use super::source::Source;
use crate::constraint::constraint_id;
use crate::ledger::Placing;
use crate::sender::Transmit;
use crate::time::{Duration, GlobalTime};
use crate::wire::{Agreement, BitReader, BitWriter, By, Format};

/// A sender that disagrees is asked this often, however much it says.
const ASK_EVERY: Duration = Duration::from_secs(1);

impl Source {
    /// Sends the agreement and asks for the sender's, unless that was done just now.
    pub(super) fn ask(&mut self, now: GlobalTime) {
        if self.meeting.asked.is_none_or(|asked| now.since(asked) >= ASK_EVERY) {
            (self.meeting.asked, self.meeting.owed) = (Some(now), Some(true));
        }
    }
}

impl Receiver {
    /// What this receiver holds to be agreed with a sender that writes in this format.
    pub fn agreement(&self, format: &Format) -> Agreement {
        let placing = Placing { lag: self.lag.target(), ..self.config.placing };
        Agreement { format: *format, placing, constraint: constraint_id(self.config.constraint.as_deref()) }
    }

    /// Stands for how things are placed at present.
    pub(super) fn terms(&self) -> u8 {
        self.agreement(&Format::default()).terms()
    }

    /// A sender says what it holds to be agreed.
    pub(super) fn handle_agreement(
        &mut self,
        index: usize,
        r: &mut BitReader<'_>,
        now: GlobalTime,
    ) -> Result<Handled, ReceiverError> {
        let (asks, theirs) = Agreement::parse_alone(By::Sender, r)?;
        self.advance(now)?;
        let ours = self.agreement(&self.sources[index].format);
        let source = &mut self.sources[index];
        source.heard(now);
        if asks {
            source.meeting.owed.get_or_insert(false);
        }
        // A change of lag or rule may be on its way still: a sender that asks has waited for that.
        let difference = if asks { ours.difference(&theirs) } else { ours.fixed_difference(&theirs) };
        if core::mem::replace(&mut source.meeting.difference, difference) != difference
            && let Some(difference) = difference
        {
            self.events.push(ReceiverEvent::Disagreement { with: source.host, difference });
        }
        Ok(Handled::default())
    }

    /// Writes the agreement that a sender is owed.
    pub(super) fn write_agreement(&mut self, index: usize) -> Option<Transmit<'_>> {
        let asks = self.sources[index].meeting.owed.take()?;
        let agreement = self.agreement(&self.sources[index].format);
        let mut w = BitWriter::new(&mut self.buffer);
        agreement.emit_alone(By::Receiver, asks, &mut w).ok()?;
        let length = w.len_bytes();
        Some(Transmit { to: self.sources[index].host, bytes: &self.buffer[..length] })
    }
}

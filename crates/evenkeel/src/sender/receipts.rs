//! From receipts to settled books.

use super::outbox::{Carried, Claim};
use super::transmit::ACKNOWLEDGE_AFTER;
use super::{Sender, SenderError, SenderEvent, Timer};
use crate::ids::HostId;
use crate::ledger::{ClockRule, EntityIndex, ReceiverIndex};
use crate::policy::Settled;
use crate::time::{Duration, GlobalTime};
use crate::wire::BitReader;
use crate::wire::datagram::{DatagramError, LEAST_ENTRY_BITS, ReceiptEntry, ReceiptsHeader, end};
use core::fmt;

/// Why a datagram was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandleError {
    /// It comes from somebody unknown, or at an impossible time.
    Refused(SenderError),
    /// It is not a usable datagram.
    Datagram(DatagramError),
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Datagram(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for HandleError {}

impl From<SenderError> for HandleError {
    fn from(error: SenderError) -> Self {
        Self::Refused(error)
    }
}

impl From<DatagramError> for HandleError {
    fn from(error: DatagramError) -> Self {
        Self::Datagram(error)
    }
}

impl Sender {
    /// Takes in a receipt from a receiver. It is checked whole before any of it is used.
    pub fn handle_datagram(&mut self, from: HostId, bytes: &[u8], now: GlobalTime) -> Result<(), HandleError> {
        let receiver = self.receiver(from)?;
        let mut r = BitReader::new(bytes);
        let header = ReceiptsHeader::parse(&mut r)?;
        let mut entries = r.clone();
        for_each_entry(&mut r, |_| {})?;
        self.advance(now)?;
        if header.stream != self.outboxes[receiver.0].stream {
            // A late word about an earlier acquaintance.
            return Ok(());
        }
        for_each_entry(&mut entries, |entry| self.take_receipt(receiver, header.sent, entry))?;
        let outbox = &mut self.outboxes[receiver.0];
        let owed = outbox.acknowledgement_owed;
        outbox.heard(header.number, now);
        self.find_losses(receiver);
        if owed.is_none() {
            self.set_timer(now + ACKNOWLEDGE_AFTER, Timer::Acknowledge(from));
        }
        Ok(())
    }

    fn take_receipt(&mut self, receiver: ReceiverIndex, receipt_sent: GlobalTime, entry: ReceiptEntry) {
        let from = self.ledger.host(receiver);
        let (claim, number) = self.outboxes[receiver.0].claim(entry.number, entry.nonce);
        let sent = match claim {
            Claim::News { sent } => sent,
            Claim::Forged => return self.events.push(SenderEvent::ForgedReceipt { from }),
            Claim::Known { .. } | Claim::Forgotten => return,
        };
        // Both by the receiver's own clock, so that no synchronisation is needed to measure the round trip. Whoever contradicts
        // itself counts as having answered at once: nobody escapes the bounds by stamps that make no sense.
        let elapsed = self.now.since(sent);
        let kept = receipt_sent.since(sent + entry.delay);
        let kept = if kept < elapsed { kept.max(Duration::ZERO) } else { Duration::ZERO };
        let round_trip = elapsed - kept;
        self.ledger.receivers[receiver.0].path.observe_round_trip(round_trip, self.now);
        let claimed = match self.ledger.terms.placing.rule {
            ClockRule::Global => entry.delay,
            // Without a common clock the receiver's stamp says nothing: half the round trip is the best guess.
            ClockRule::Local | ClockRule::OneWay => round_trip / 2,
        };
        let booked = self.believe(receiver, claimed, round_trip).clamp(Duration::ZERO, elapsed);
        if booked != claimed {
            self.events.push(SenderEvent::ClaimBounded { from, claimed, booked });
        }
        self.ledger.receivers[receiver.0].path.observe_delay(booked);
        for index in self.outboxes[receiver.0].carried(number) {
            if let Some(Carried::Vector { entity, number }) = self.outboxes[receiver.0].carried_at(index) {
                self.settle(receiver, entity, number, sent, sent + booked, entry.complete);
            }
        }
    }

    /// The nearest delay to the claimed one that the sender's own round trips allow.
    fn believe(&self, receiver: ReceiverIndex, claimed: Duration, round_trip: Duration) -> Duration {
        let bound = self.ledger.path(receiver).longest_plausible(round_trip).filter(|_| !self.trust_receipts);
        bound.map_or(claimed, |bound| claimed.min(bound))
    }

    fn settle(
        &mut self,
        receiver: ReceiverIndex,
        entity: EntityIndex,
        number: u32,
        sent: GlobalTime,
        arrival: GlobalTime,
        taken: bool,
    ) {
        if self.ledger.entity_id(entity).is_none() {
            return;
        }
        let now = self.now;
        let (book, context) = self.ledger.split(entity, receiver);
        if book.record_arrival(number, sent, arrival, taken, context, now).is_some() {
            let settled = Settled { entity, receiver, vector: number, sent, arrival: Some(arrival) };
            self.policy.settled(&self.ledger, &settled);
        }
    }
}

/// Reads every entry of a receipt.
fn for_each_entry(r: &mut BitReader<'_>, mut take: impl FnMut(ReceiptEntry)) -> Result<(), DatagramError> {
    let mut before = None;
    while r.remaining_bits() >= LEAST_ENTRY_BITS {
        let entry = ReceiptEntry::parse(before, r)?;
        before = Some(entry.number);
        take(entry);
    }
    end(r)
}

//! From receipts to settled books.

use super::transmit::{ACKNOWLEDGE_AFTER, nonce};
use super::{Sender, SenderError, SenderEvent, Timer};
use crate::ids::HostId;
use crate::ledger::{Carried, Claim, ClockRule, Fate, ReceiverIndex};
use crate::policy::Settled;
use crate::time::{Duration, GlobalTime};
use crate::wire::BitReader;
use crate::wire::datagram::{
    DatagramError, KIND_AGREEMENT, LEAST_ENTRY_BITS, Proof, ReceiptEntry, ReceiptsHeader, Stamp, Taken, end,
};
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
    /// Takes in a receipt, or an agreement, from a receiver. It is checked whole before any of it is used.
    pub fn handle_datagram(&mut self, from: HostId, bytes: &[u8], now: GlobalTime) -> Result<(), HandleError> {
        let receiver = self.receiver(from)?;
        let mut r = BitReader::new(bytes);
        if bytes.first() == Some(&KIND_AGREEMENT) {
            return self.handle_agreement(receiver, &mut r, now);
        }
        let header = ReceiptsHeader::parse(&mut r)?;
        let mut entries = r.clone();
        let (mut last_number, mut last_delay) = (0, 0);
        let mut proof = Proof::new(&self.outboxes[receiver.0].stream);
        for_each_entry(&mut r, |entry| {
            (last_number, last_delay) = (entry.number, entry.delay);
            proof.add(entry.taken, self.nonce_of(receiver, entry.number));
        })?;
        self.advance(now)?;
        if header.stream != self.outboxes[receiver.0].stream.tag() as u8 {
            // A late word about an earlier acquaintance.
            return Ok(());
        }
        if header.proof != proof.value() {
            self.events.push(SenderEvent::ForgedReceipt { from });
            return Ok(());
        }
        self.compare_terms(receiver, header.terms);
        // By the receiver's clock: when the last entry arrived, and when the receipt left.
        let last = self.ledger.receivers[receiver.0].log.sent_at(last_number).map(|at| Stamp::at(at).after(last_delay));
        let left = last.map(|last| last.after(i64::try_from(header.held).unwrap_or(i64::MAX)));
        for_each_entry(&mut entries, |entry| self.take_receipt(receiver, left, entry))?;
        let was_owed = self.outboxes[receiver.0].acknowledgement_owed.is_some();
        let newer = self.outboxes[receiver.0].heard(header.number, now);
        self.find_losses(receiver);
        if newer && !was_owed {
            self.set_timer(now + ACKNOWLEDGE_AFTER, Timer::Acknowledge(from));
        }
        Ok(())
    }

    /// Takes in what a receipt, which left at a time by the receiver's clock, says of one datagram.
    fn take_receipt(&mut self, receiver: ReceiverIndex, left: Option<Stamp>, entry: ReceiptEntry) {
        let from = self.ledger.host(receiver);
        let decoded = entry.taken != Taken::None;
        let (claim, number) = self.ledger.receivers[receiver.0].log.claim(entry.number, decoded);
        let sent = match claim {
            Claim::News { sent } => sent,
            Claim::Forged if decoded => return self.events.push(SenderEvent::ForgedReceipt { from }),
            // What could not be decoded may have had any number.
            Claim::Forged | Claim::Known | Claim::Forgotten => return,
        };
        if !decoded {
            // Nothing proves that it was seen, so that its times count for nothing.
            return self.take_undecoded(receiver, number, sent);
        }
        // Both by the receiver's own clock, so that no synchronisation is needed to measure the round trip. A receiver that
        // contradicts itself counts as having answered at once: nobody escapes the bounds by stamps that make no sense.
        let elapsed = self.now.since(sent);
        let arrived = Stamp::at(sent).after(entry.delay);
        let kept = left.map_or(Duration::ZERO, |left| left.time().since(arrived.time()));
        let kept = if kept < elapsed { kept.max(Duration::ZERO) } else { Duration::ZERO };
        let round_trip = elapsed - kept;
        // If it is not known when the receipt left, neither is how long the receiver kept the news.
        if left.is_some() {
            self.ledger.receivers[receiver.0].path.observe_round_trip(round_trip, self.now);
        }
        let claimed = match self.ledger.terms.placing.rule {
            ClockRule::Global => arrived.time().since(sent),
            // Without a common clock the receiver's stamp says nothing: half the round trip is the best guess.
            ClockRule::Local | ClockRule::OneWay => round_trip / 2,
        };
        let booked = self.believe(receiver, claimed, round_trip).clamp(Duration::ZERO, elapsed);
        if (booked - claimed).abs() > Stamp::UNIT {
            self.events.push(SenderEvent::ClaimBounded { from, claimed, booked });
        }
        self.ledger.receivers[receiver.0].path.observe_delay(booked);
        let late = self.ledger.arrive(receiver, number, sent + booked, entry.taken == Taken::All).is_lost();
        if !self.policy.wants_settled() {
            return;
        }
        for at in self.ledger.receivers[receiver.0].log.carried(number) {
            let carried = self.ledger.carried_at(receiver, at);
            let Some(Carried::Vector { entity, number }) = carried else { continue };
            let settled = Settled { entity, receiver, vector: number, sent, arrival: Some(sent + booked), late };
            self.policy.settled(&self.ledger, &settled);
        }
    }

    /// A datagram arrived and could not be decoded: all that it carried is said again.
    fn take_undecoded(&mut self, receiver: ReceiverIndex, number: u64, sent: GlobalTime) {
        self.events.push(SenderEvent::Undecoded { by: self.ledger.host(receiver) });
        self.ledger.miss(receiver, number, Fate::Untaken);
        for at in self.ledger.receivers[receiver.0].log.carried(number) {
            if let Some(carried) = self.ledger.carried_at(receiver, at) {
                self.say_again(receiver, carried, sent);
            }
        }
    }

    /// The nonce of a datagram, by the low bits of its number.
    fn nonce_of(&self, receiver: ReceiverIndex, low_number: u16) -> u16 {
        let number = self.ledger.receivers[receiver.0].log.whole_number(low_number);
        nonce(&self.secret, self.ledger.host(receiver), self.outboxes[receiver.0].stream.id, number)
    }

    /// The nearest delay to the claimed one that the sender's own round trips allow.
    fn believe(&self, receiver: ReceiverIndex, claimed: Duration, round_trip: Duration) -> Duration {
        let bound = self.ledger.path(receiver).longest_plausible(round_trip).filter(|_| !self.trust_receipts);
        bound.map_or(claimed, |bound| claimed.min(bound))
    }
}

/// Reads every entry of a receipt.
fn for_each_entry(r: &mut BitReader<'_>, mut take: impl FnMut(ReceiptEntry)) -> Result<(), DatagramError> {
    let mut before = None;
    while r.remaining_bits() >= LEAST_ENTRY_BITS {
        let entry = ReceiptEntry::parse(before.as_ref(), r)?;
        before = Some(entry);
        take(entry);
    }
    end(r)
}

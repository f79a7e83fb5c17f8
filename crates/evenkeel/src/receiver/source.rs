//! What a receiver knows about one sender: which of its datagrams came, and which receipts it still owes.

use super::early::Early;
use super::report::Refusals;
use crate::delay::PathEstimate;
use crate::ids::HostId;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{
    Acknowledged, DatagramError, Form, Known, Proof, ReceiptEntry, ReceiptsHeader, Stamp, Stream, Taken, VectorsHeader,
    widen,
};
use crate::wire::{Agreement, BitWriter, Difference, Format};
use alloc::collections::VecDeque;

/// Entries not yet confirmed, at most. A sender that confirms nothing for that long has lost interest.
const MAX_PENDING: usize = 4_096;
/// Receipts remembered until the sender confirms one of them: fewer than their low bits tell apart, by some seconds' worth.
const MAX_RECEIPTS: usize = 128;
/// Receipts to a sender in one round trip, at most.
const RECEIPTS_PER_ROUND_TRIP: i64 = 64;
/// After so long without a datagram that fits the stream, the sender is asked to begin anew.
const OUT_OF_TOUCH: Duration = Duration::from_millis(500);
/// Datagrams of an earlier stream may come for so long.
const LATE: Duration = Duration::from_secs(2);
/// What is so many datagrams behind is not reported any more: the low bits of its number would mean another one.
const FORGOTTEN_BEHIND: u64 = 1 << 14;
/// Unconfirmed receipts are repeated this often.
const REPEAT_AFTER: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Source {
    pub(super) host: HostId,
    pub(super) format: Format,
    /// Of the agreement.
    pub(super) fingerprint: u64,
    /// What the sender is to be told of the agreement, and what it told last.
    pub(super) meeting: Meeting,
    /// Datagrams refused, by cause.
    pub(super) refusals: Refusals,
    pub(super) last_heard: GlobalTime,
    /// When its newest datagram was sent.
    pub(super) newest_sent: Option<GlobalTime>,
    pub(super) silent: bool,
    pub(super) path: PathEstimate,
    /// What it said of entities that are not known to be its own yet.
    pub(super) early: Early,
    /// The sender's current stream, once there has been a datagram.
    stream: Option<Stream>,
    /// When that replaced an earlier one.
    replaced: Option<GlobalTime>,
    arrivals: Arrivals,
    receipts: Receipts,
}

/// Which datagrams came: the highest number, and the 128 up to it as bits.
#[derive(Debug, Default)]
struct Arrivals {
    highest: Option<u64>,
    seen: u128,
    /// When the newest by number was sent, and when it arrived.
    newest: Option<(Stamp, GlobalTime)>,
}

/// How a receiver and a sender stand with each other about what is agreed.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// The agreement is to be sent, and the sender is to be asked for its own or not.
    pub(super) owed: Option<bool>,
    pub(super) asked: Option<GlobalTime>,
    /// In what the sender's differs, as far as it has said.
    pub(super) difference: Option<Difference>,
}

/// An arrival that the sender is to be told of.
#[derive(Clone, Copy, Debug)]
struct Pending {
    entry: ReceiptEntry,
    /// The whole number of the datagram.
    number: u64,
    arrived: Stamp,
    nonce: u16,
}

/// Whether a datagram is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    New { number: u64 },
    Duplicate,
}

#[derive(Debug, Default)]
struct Receipts {
    /// Arrivals the sender has not confirmed to know about, oldest first.
    pending: VecDeque<Pending>,
    /// How many entries were confirmed, or given up, so far.
    done: u64,
    next_number: u64,
    /// Receipts sent: (number, entries covered since the beginning, when).
    sent: VecDeque<(u64, u64, GlobalTime)>,
    /// Something came since the last receipt.
    fresh: bool,
    given_up: u64,
}

impl Source {
    pub(super) fn new(host: HostId, agreement: &Agreement, now: GlobalTime) -> Self {
        Self {
            host,
            fingerprint: agreement.fingerprint(),
            format: agreement.format,
            meeting: Meeting::default(),
            refusals: Refusals::default(),
            last_heard: now,
            newest_sent: None,
            silent: false,
            path: PathEstimate::default(),
            early: Early::default(),
            stream: None,
            replaced: None,
            arrivals: Arrivals::default(),
            receipts: Receipts::default(),
        }
    }

    /// What the short form of a header leaves out.
    pub(super) fn known(&self, now: GlobalTime) -> Option<Known> {
        let (stream, highest, (sent, arrived)) = (self.stream?, self.arrivals.highest?, self.arrivals.newest?);
        let expected = Stamp::at(sent.time() + now.since(arrived).max(Duration::ZERO));
        Some(Known { stream, highest, expected })
    }

    /// Whether nothing of the sender's has been understood for a while: short headers may mean nothing here any more.
    pub(super) fn lost_touch(&self, now: GlobalTime) -> bool {
        self.arrivals.newest.is_none_or(|(_, arrived)| now.since(arrived) > OUT_OF_TOUCH)
    }

    /// Whether a datagram is new. Changes nothing.
    pub(super) fn novelty(&self, header: &VectorsHeader) -> Result<Novelty, DatagramError> {
        let (theirs, ours) = (header.stream.agreement, self.fingerprint);
        if theirs != ours {
            return Err(DatagramError::Disagreement { theirs, ours });
        }
        let number = header.number;
        let Some(highest) = self.arrivals.highest.filter(|_| self.stream == Some(header.stream)) else {
            // A new stream: the sender has met us anew. An older one is over.
            let older = self.arrivals.newest.is_some_and(|(newest, _)| header.sent < newest);
            return if older { Err(DatagramError::Replayed) } else { Ok(Novelty::New { number }) };
        };
        if number > highest {
            return Ok(Novelty::New { number });
        }
        let behind = highest - number;
        let seen = behind >= 128 || self.arrivals.seen & (1 << behind) != 0;
        Ok(if seen { Novelty::Duplicate } else { Novelty::New { number } })
    }

    /// The records of a datagram could not be decoded, though its header seems to be the sender's own: the sender is told. Answers
    /// whether it is.
    pub(super) fn tell_undecoded(&mut self, header: &VectorsHeader, now: GlobalTime) -> bool {
        let near = self.arrivals.highest.is_none_or(|highest| header.number.abs_diff(highest) < 128);
        let own = match header.form {
            // Nothing but its seal speaks for a short header, and one in 64 others has the same.
            Form::Short => near,
            // The first datagrams of a stream are coded alone: this is none of a new one, unless nothing is known yet.
            Form::Full => self.stream.is_none_or(|stream| stream == header.stream),
        };
        if own {
            self.enter(header.stream, now);
            if header.form == Form::Full {
                // The next header may be short all the same.
                self.arrivals.note(header, false, now);
            }
            self.owe(header, Taken::None, now);
            self.heard(now);
        }
        own
    }

    /// Whether a datagram that could not be decoded may be a late one of the stream before.
    pub(super) fn may_be_late(&self, header: &VectorsHeader, now: GlobalTime) -> bool {
        header.form == Form::Short && self.replaced.is_some_and(|replaced| now.since(replaced) < LATE)
    }

    /// A stream of the sender's, which may be a new one.
    fn enter(&mut self, stream: Stream, now: GlobalTime) {
        if self.stream != Some(stream) {
            self.replaced = self.stream.map(|_| now);
            self.stream = Some(stream);
            (self.arrivals, self.receipts) = (Arrivals::default(), Receipts::default());
        }
    }

    fn owe(&mut self, header: &VectorsHeader, taken: Taken, now: GlobalTime) {
        let arrived = Stamp::at(now);
        let (number, delay) = (header.number, arrived.units_since(header.sent));
        let entry = ReceiptEntry { number: number as u16, taken, delay };
        self.receipts.owe(Pending { entry, number, arrived, nonce: header.nonce });
    }

    /// Notes a datagram that was used, and owes a receipt for it.
    pub(super) fn accept(&mut self, header: &VectorsHeader, taken: Taken, now: GlobalTime) {
        self.newest_sent = self.newest_sent.max(Some(header.sent.time()));
        self.enter(header.stream, now);
        self.arrivals.note(header, true, now);
        self.owe(header, taken, now);
        self.heard(now);
    }

    pub(super) fn heard(&mut self, now: GlobalTime) {
        self.last_heard = self.last_heard.max(now);
        self.silent = false;
    }

    /// The sender knows a receipt: what it covered need not be repeated.
    pub(super) fn confirm(&mut self, stream: u16, acknowledged: &Acknowledged, now: GlobalTime) {
        if self.stream.is_none_or(|ours| ours.tag() != stream) {
            return;
        }
        let receipts = &mut self.receipts;
        // The newest that it can be: those that follow were not sent yet.
        let Some(last) = receipts.next_number.checked_sub(1) else { return };
        let number = widen(u64::from(acknowledged.receipt), 8, last.saturating_sub(127));
        let Some(&(_, covered, at)) = receipts.sent.iter().find(|(n, ..)| *n == number) else { return };
        while receipts.done < covered && receipts.pending.pop_front().is_some() {
            receipts.done += 1;
        }
        while receipts.sent.front().is_some_and(|(n, ..)| *n <= number) {
            receipts.sent.pop_front();
        }
        let round_trip = now.since(at) - acknowledged.age;
        if acknowledged.age >= Duration::ZERO && round_trip > Duration::ZERO {
            self.path.observe_round_trip(round_trip, now);
            self.path.observe_delay(round_trip / 2);
        }
    }

    /// When the next receipt is due.
    pub(super) fn receipt_due(&self, interval: Duration) -> Option<GlobalTime> {
        let receipts = &self.receipts;
        if receipts.pending.is_empty() {
            return None;
        }
        let last = receipts.sent.back().map_or(GlobalTime::MIN, |(.., at)| *at);
        let interval = interval.max(self.path.round_trip().map_or(interval, |trip| trip / RECEIPTS_PER_ROUND_TRIP));
        // Nothing is later than the end of time, and what is due again at once would be due for ever.
        if last == GlobalTime::MAX {
            return None;
        }
        Some(last + if receipts.fresh { interval } else { REPEAT_AFTER.max(interval) })
    }

    /// Writes a receipt with everything unconfirmed, oldest first, as far as it fits. `terms` stand for how things are placed.
    pub(super) fn write_receipt(&mut self, terms: u8, buffer: &mut [u8], now: GlobalTime) -> Option<usize> {
        let receipts = &mut self.receipts;
        let stream = self.stream?;
        let number = receipts.next_number as u8;
        let mut count = receipts.pending.len().min(buffer.len());
        // How long the last entry has waited is said first, and which is the last turns out as they are written.
        let length = loop {
            let last = receipts.pending.get(count.checked_sub(1)?)?;
            let held = Stamp::at(now).units_since(last.arrived).max(0) as u64;
            let mut proof = Proof::new(&stream);
            receipts.pending.iter().take(count).for_each(|pending| proof.add(pending.entry.taken, pending.nonce));
            let (tag, proof) = (stream.tag() as u8, proof.value());
            let mut w = BitWriter::new(buffer);
            ReceiptsHeader { stream: tag, number, terms, proof, held }.emit(&mut w).ok()?;
            let mut before = None;
            let fits = receipts.pending.iter().take(count).take_while(|pending| {
                let fits = pending.entry.emit(before, &mut w).is_ok();
                before = Some(&pending.entry);
                fits
            });
            match fits.count() {
                all if all == count => break w.len_bytes(),
                fewer => count = fewer,
            }
        };
        if receipts.sent.len() == MAX_RECEIPTS {
            receipts.sent.pop_front();
        }
        receipts.sent.push_back((receipts.next_number, receipts.done + count as u64, now));
        receipts.next_number += 1;
        receipts.fresh = false;
        Some(length)
    }

    pub(super) fn receipts_given_up(&self) -> u64 {
        self.receipts.given_up
    }
}

impl Arrivals {
    /// A datagram has come, and was used or not: one that was not may come again.
    fn note(&mut self, header: &VectorsHeader, used: bool, now: GlobalTime) {
        let number = header.number;
        let highest = self.highest.unwrap_or(number);
        if number >= highest {
            let ahead = number - highest;
            self.seen = if ahead >= 128 { 0 } else { self.seen << ahead };
            (self.highest, self.newest) = (Some(number), Some((header.sent, now)));
        }
        let behind = highest.saturating_sub(number);
        self.seen |= u128::from(used) << behind;
    }
}

impl Receipts {
    fn owe(&mut self, pending: Pending) {
        let behind = |oldest: &Pending| oldest.number + FORGOTTEN_BEHIND <= pending.number;
        while self.pending.len() == MAX_PENDING || self.pending.front().is_some_and(behind) {
            self.pending.pop_front();
            self.done += 1;
            self.given_up += 1;
        }
        self.pending.push_back(pending);
        self.fresh = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::datagram::Form;

    fn header(number: u64, sent_ms: i64) -> VectorsHeader {
        let agreement = Agreement::default().fingerprint();
        let (stream, sent) = (Stream { id: 5, agreement }, Stamp::at(GlobalTime::from_millis(sent_ms)));
        VectorsHeader { form: Form::Short, stream, number, sent, nonce: number as u16, acknowledged: None, check: 0 }
    }

    #[test]
    fn datagrams_count_once_whatever_their_order() {
        let mut source = Source::new(HostId(1), &Agreement::default(), GlobalTime::ZERO);
        let mut taken = 0;
        for i in 0..120_000u64 {
            // Pairs swapped, every datagram twice.
            let n = i ^ 1;
            for _ in 0..2 {
                let header = header(n, n as i64);
                if let Ok(Novelty::New { number }) = source.novelty(&header) {
                    assert_eq!(number, n);
                    source.accept(&header, Taken::All, GlobalTime::from_millis(n as i64 + 50));
                    taken += 1;
                }
            }
        }
        // The very first comes after its successor, before anything is known about numbers below it.
        assert!(taken >= 120_000 - 1, "{taken}");
        assert!(!matches!(source.novelty(&header(7, 7)), Ok(Novelty::New { .. })));
    }

    #[test]
    fn a_receipt_is_repeated_until_confirmed() {
        let mut source = Source::new(HostId(1), &Agreement::default(), GlobalTime::ZERO);
        for n in 0..3 {
            source.accept(&header(n, n as i64), Taken::All, GlobalTime::from_millis(100));
        }
        let interval = Duration::from_millis(10);
        let mut buffer = [0; 200];
        let first = source.write_receipt(0, &mut buffer, GlobalTime::from_millis(100)).unwrap();
        let due = source.receipt_due(interval).unwrap();
        assert_eq!(due, GlobalTime::from_millis(350));
        assert!(source.write_receipt(0, &mut buffer, due).unwrap() >= first);
        source.accept(&header(3, 3), Taken::All, GlobalTime::from_millis(400));
        let acknowledged = Acknowledged { receipt: 0, age: Duration::from_millis(20) };
        source.confirm(header(0, 0).stream.tag(), &acknowledged, GlobalTime::from_millis(420));
        assert_eq!(source.path.round_trip(), Some(Duration::from_millis(300)));
        assert!(source.write_receipt(0, &mut buffer, due).unwrap() < first, "only the new one is left");
    }

    /// As many entries as fit, and how long the last of those has waited.
    #[test]
    fn a_receipt_that_is_full_says_how_long_its_own_last_entry_waited() {
        let mut source = Source::new(HostId(1), &Agreement::default(), GlobalTime::ZERO);
        for n in 0..500 {
            source.accept(&header(n, n as i64), Taken::All, GlobalTime::from_millis(100 + n as i64));
        }
        let mut buffer = [0; 100];
        let length = source.write_receipt(0, &mut buffer, GlobalTime::from_millis(600)).unwrap();
        let mut r = crate::wire::BitReader::new(&buffer[..length]);
        let held = ReceiptsHeader::parse(&mut r).unwrap().held;
        let mut last = None;
        while r.remaining_bits() >= crate::wire::datagram::LEAST_ENTRY_BITS {
            last = ReceiptEntry::parse(last.as_ref(), &mut r).ok();
        }
        let last = last.unwrap().number;
        assert!((40..90).contains(&last), "{last}");
        let waited = Stamp::at(GlobalTime::from_millis(600))
            .units_since(Stamp::at(GlobalTime::from_millis(100 + i64::from(last))));
        assert_eq!(held, waited as u64);
    }
}

//! What a receiver knows about one sender: which of its datagrams came, and which receipts it still owes.

use super::early::Early;
use crate::delay::PathEstimate;
use crate::ids::HostId;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{Acknowledged, DatagramError, ReceiptEntry, ReceiptsHeader, VectorsHeader, widen};
use crate::wire::{BitWriter, Format};
use alloc::collections::VecDeque;

/// Entries not yet confirmed, at most. A sender that confirms nothing for that long has lost interest.
const MAX_PENDING: usize = 4_096;
/// Receipts remembered until the sender confirms one of them.
const MAX_RECEIPTS: usize = 64;
/// Unconfirmed receipts are repeated this often.
const REPEAT_AFTER: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Source {
    pub(super) host: HostId,
    pub(super) format: Format,
    pub(super) fingerprint: u32,
    pub(super) last_heard: GlobalTime,
    /// When its newest datagram was sent.
    pub(super) newest_sent: Option<GlobalTime>,
    pub(super) silent: bool,
    pub(super) path: PathEstimate,
    /// What it said of entities that are not known to be its own yet.
    pub(super) early: Early,
    /// The sender's current stream, once there has been a datagram.
    stream: Option<u16>,
    arrivals: Arrivals,
    receipts: Receipts,
}

/// Which datagrams came: the highest number, and the 128 up to it as bits.
#[derive(Debug, Default)]
struct Arrivals {
    highest: Option<u64>,
    seen: u128,
    newest_stamp: Option<GlobalTime>,
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
    pending: VecDeque<ReceiptEntry>,
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
    pub(super) fn new(host: HostId, format: Format, now: GlobalTime) -> Self {
        Self {
            host,
            fingerprint: format.fingerprint(),
            format,
            last_heard: now,
            newest_sent: None,
            silent: false,
            path: PathEstimate::default(),
            early: Early::default(),
            stream: None,
            arrivals: Arrivals::default(),
            receipts: Receipts::default(),
        }
    }

    /// Whether a datagram is new. Changes nothing.
    pub(super) fn novelty(&self, header: &VectorsHeader) -> Result<Novelty, DatagramError> {
        let older = self.arrivals.newest_stamp.is_some_and(|newest| header.sent < newest);
        let Some(highest) = self.arrivals.highest.filter(|_| self.stream == Some(header.stream)) else {
            // A new stream: the sender has met us anew. An older one is over.
            let first = Novelty::New { number: u64::from(header.number) };
            return if older { Err(DatagramError::Replayed) } else { Ok(first) };
        };
        let number = widen(header.number, highest);
        if number > highest {
            // A sender's stamps only grow: a higher number with an older stamp is an old datagram wrapped round.
            return if older { Err(DatagramError::Replayed) } else { Ok(Novelty::New { number }) };
        }
        let behind = highest - number;
        let seen = behind >= 128 || self.arrivals.seen & (1 << behind) != 0;
        Ok(if seen { Novelty::Duplicate } else { Novelty::New { number } })
    }

    /// Notes a datagram that was used, and owes a receipt for it.
    pub(super) fn accept(&mut self, header: &VectorsHeader, number: u64, complete: bool, now: GlobalTime) {
        self.newest_sent = self.newest_sent.max(Some(header.sent));
        if self.stream != Some(header.stream) {
            self.stream = Some(header.stream);
            (self.arrivals, self.receipts) = (Arrivals::default(), Receipts::default());
        }
        let arrivals = &mut self.arrivals;
        let highest = arrivals.highest.unwrap_or(number);
        if number >= highest {
            let ahead = number - highest;
            arrivals.seen = if ahead >= 128 { 0 } else { arrivals.seen << ahead } | 1;
            arrivals.highest = Some(number);
            arrivals.newest_stamp = Some(header.sent);
        } else {
            arrivals.seen |= 1 << (highest - number);
        }
        let (nonce, delay) = (header.nonce, now.since(header.sent));
        let entry = ReceiptEntry { number: header.number, nonce, complete, delay };
        self.receipts.owe(entry);
        self.heard(now);
    }

    pub(super) fn heard(&mut self, now: GlobalTime) {
        self.last_heard = self.last_heard.max(now);
        self.silent = false;
    }

    /// The sender knows a receipt: what it covered need not be repeated.
    pub(super) fn confirm(&mut self, stream: u16, acknowledged: &Acknowledged, now: GlobalTime) {
        if self.stream != Some(stream) {
            return;
        }
        let receipts = &mut self.receipts;
        let number = widen(acknowledged.receipt, receipts.next_number);
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
        // Nothing is later than the end of time, and what is due again at once would be due for ever.
        if last == GlobalTime::MAX {
            return None;
        }
        Some(last + if receipts.fresh { interval } else { REPEAT_AFTER.max(interval) })
    }

    /// Writes a receipt with everything unconfirmed, oldest first, as far as it fits.
    pub(super) fn write_receipt(&mut self, buffer: &mut [u8], now: GlobalTime) -> Option<usize> {
        let receipts = &mut self.receipts;
        let mut w = BitWriter::new(buffer);
        let stream = self.stream?;
        ReceiptsHeader { stream, number: receipts.next_number as u16, sent: now }.emit(&mut w).ok()?;
        let mut before = None;
        let mut count = 0;
        for entry in &receipts.pending {
            let start = w.len_bits();
            if entry.emit(before, &mut w).is_err() {
                w.truncate(start);
                break;
            }
            before = Some(entry.number);
            count += 1;
        }
        if receipts.sent.len() == MAX_RECEIPTS {
            receipts.sent.pop_front();
        }
        receipts.sent.push_back((receipts.next_number, receipts.done + count, now));
        receipts.next_number += 1;
        receipts.fresh = false;
        Some(w.len_bytes())
    }

    pub(super) fn receipts_given_up(&self) -> u64 {
        self.receipts.given_up
    }
}

impl Receipts {
    fn owe(&mut self, entry: ReceiptEntry) {
        if self.pending.len() == MAX_PENDING {
            self.pending.pop_front();
            self.done += 1;
            self.given_up += 1;
        }
        self.pending.push_back(entry);
        self.fresh = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(number: u16, sent_ms: i64) -> VectorsHeader {
        let sent = GlobalTime::from_millis(sent_ms);
        VectorsHeader { fingerprint: 0, stream: 5, number, nonce: number ^ 0x5555, sent, acknowledged: None }
    }

    #[test]
    fn datagrams_count_once_whatever_their_order_and_across_the_wrap() {
        let mut source = Source::new(HostId(1), Format::default(), GlobalTime::ZERO);
        let mut taken = 0;
        for round in 0..3i64 {
            for i in 0..40_000i64 {
                // Pairs swapped, every datagram twice.
                let n = round * 40_000 + (i ^ 1);
                for _ in 0..2 {
                    let header = header(n as u16, n);
                    if let Ok(Novelty::New { number }) = source.novelty(&header) {
                        assert_eq!(number, n as u64);
                        source.accept(&header, number, true, GlobalTime::from_millis(n + 50));
                        taken += 1;
                    }
                }
            }
        }
        // The very first comes after its successor, before anything is known about numbers below it.
        assert!(taken >= 120_000 - 1, "{taken}");
        let old = header(7, 7);
        assert!(!matches!(source.novelty(&old), Ok(Novelty::New { .. })));
    }

    #[test]
    fn a_receipt_is_repeated_until_confirmed() {
        let mut source = Source::new(HostId(1), Format::default(), GlobalTime::ZERO);
        for n in 0..3 {
            source.accept(&header(n, i64::from(n)), u64::from(n), true, GlobalTime::from_millis(100));
        }
        let interval = Duration::from_millis(10);
        let mut buffer = [0; 200];
        let first = source.write_receipt(&mut buffer, GlobalTime::from_millis(100)).unwrap();
        let due = source.receipt_due(interval).unwrap();
        assert_eq!(due, GlobalTime::from_millis(350));
        assert_eq!(source.write_receipt(&mut buffer, due).unwrap(), first);
        source.accept(&header(3, 3), 3, true, GlobalTime::from_millis(400));
        let acknowledged = Acknowledged { receipt: 0, age: Duration::from_millis(20) };
        source.confirm(5, &acknowledged, GlobalTime::from_millis(420));
        assert_eq!(source.path.round_trip(), Some(Duration::from_millis(300)));
        assert!(source.write_receipt(&mut buffer, due).unwrap() < first, "only the new one is left");
    }
}

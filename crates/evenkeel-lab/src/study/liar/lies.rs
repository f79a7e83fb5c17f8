//! Lies that a receiver can tell, told on the wire: receipts are taken apart, changed, and put together again.

use crate::world::Tamper;
use evenkeel::wire::datagram::{DatagramError, Proof, ReceiptEntry, ReceiptsHeader, Stamp, VectorsHeader};
use evenkeel::wire::{BitReader, BitWriter, Full};
use evenkeel::{Duration, GlobalTime};
use std::collections::VecDeque;

/// No receipt is longer than this.
const LONGEST: usize = 8192;
/// What is left at the end of a datagram below this many bits is padding.
const PADDING: usize = 8;
/// A datagram is taken as lost when one so much later has come, as far as numbers go.
const MISSING_AFTER: u16 = 2;
/// So many datagrams in a row are made up at most; more were not sent.
const LONGEST_GAP: u16 = 64;
/// So many numbers are remembered as received.
const REMEMBERED: usize = 256;
/// So many datagrams are remembered as seen: any of them may be reported again.
const SEEN: usize = 4_096;
/// Any nonce is as likely as any other.
const GUESS: u16 = 0x5A5;

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guise {
    /// As it should.
    Honest,
    /// All its times are so much later, as by a clock that is ahead.
    Adds(Duration),
    /// It adds to reception times alone, so that receipts leave before what they report has come.
    Contradicts(Duration),
    /// It keeps receipts to itself for so long.
    Holds(Duration),
    /// It keeps receipts to itself for so long and adds half of that to all its times: a longer way, for all that anybody
    /// can tell.
    Pretends(Duration),
    /// It never reports every second datagram.
    Withholds,
    /// It reports what was lost as received.
    Acknowledges,
    /// As it should, but its way back is so many times slower.
    Asymmetric(u32),
}

impl Guise {
    /// Whether it lies at all.
    pub(super) fn lies(self) -> bool {
        !matches!(self, Self::Honest | Self::Asymmetric(_))
    }

    /// Who tells this lie as the receiver with this number.
    pub(super) fn liar(self, number: usize) -> Option<Box<dyn Tamper>> {
        self.lies().then(|| {
            let (settled, reported, seen) = (None, VecDeque::new(), VecDeque::new());
            Box::new(Liar { guise: self, number, settled, reported, seen }) as Box<dyn Tamper>
        })
    }
}

struct Liar {
    guise: Guise,
    number: usize,
    /// Up to which number everything is reported, received or not.
    settled: Option<u16>,
    /// What it has reported lately.
    reported: VecDeque<u16>,
    /// What it has seen lately.
    seen: VecDeque<VectorsHeader>,
}

impl Tamper for Liar {
    fn saw(&mut self, receiver: usize, bytes: &[u8]) {
        let header = VectorsHeader::parse_after(self.seen.back(), &mut BitReader::new(bytes));
        if let (true, Ok(header)) = (receiver == self.number, header) {
            self.seen.push_back(header);
            let forgotten = self.seen.len().saturating_sub(SEEN);
            self.seen.drain(..forgotten);
        }
    }

    fn instead(&mut self, receiver: usize, bytes: &[u8], now: GlobalTime) -> Vec<(GlobalTime, Vec<u8>)> {
        let truth = (now, bytes.to_vec());
        if receiver != self.number {
            return vec![truth];
        }
        // What is not a receipt stays as it is.
        let Ok((mut header, mut entries)) = parse(bytes) else { return vec![truth] };
        let leaves = self.change(&mut header, &mut entries, now);
        if entries.is_empty() {
            return Vec::new();
        }
        self.prove(&mut header, &entries);
        emit(&header, &entries).map_or(vec![truth], |bytes| vec![(leaves, bytes)])
    }
}

impl Liar {
    /// Changes a receipt. Answers when it leaves.
    fn change(&mut self, header: &mut ReceiptsHeader, entries: &mut Vec<ReceiptEntry>, now: GlobalTime) -> GlobalTime {
        let units = |span: Duration| span.as_nanos() / Stamp::UNIT.as_nanos();
        let later = |entries: &mut Vec<ReceiptEntry>, by| entries.iter_mut().for_each(|entry| entry.delay += units(by));
        match self.guise {
            Guise::Honest | Guise::Asymmetric(_) => {}
            Guise::Contradicts(by) => {
                later(entries, by);
                // The receipt leaves when it did before, as near as a receipt can say that.
                header.held = header.held.saturating_sub(units(by) as u64);
            }
            // When a receipt leaves is told by how long its last entry waited, so that it is later too.
            Guise::Adds(by) => later(entries, by),
            Guise::Holds(span) => return now + span,
            Guise::Pretends(span) => {
                later(entries, span / 2);
                return now + span;
            }
            Guise::Withholds => entries.retain(|entry| entry.number % 2 == 0),
            Guise::Acknowledges => self.acknowledge_lost(entries),
        }
        now
    }

    /// Puts in the proof that it has seen what it reports. Of what it has not seen it cannot know the nonce, and guesses.
    fn prove(&self, header: &mut ReceiptsHeader, entries: &[ReceiptEntry]) {
        let Some(stream) = self.seen.back().map(|seen| seen.stream) else { return };
        let mut proof = Proof::new(&stream);
        for entry in entries {
            let seen = self.seen.iter().rfind(|seen| seen.number as u16 == entry.number);
            proof.add(entry.taken, seen.map_or(GUESS, |seen| seen.nonce));
        }
        header.proof = proof.value();
    }

    /// Makes up an entry for every number that was left out.
    fn acknowledge_lost(&mut self, entries: &mut Vec<ReceiptEntry>) {
        self.reported.extend(entries.iter().map(|entry| entry.number));
        let forgotten = self.reported.len().saturating_sub(REMEMBERED);
        self.reported.drain(..forgotten);
        let Some(last) = entries.last().copied() else { return };
        let before = self.settled.unwrap_or(last.number.wrapping_sub(MISSING_AFTER));
        let until = last.number.wrapping_sub(MISSING_AFTER);
        let gap = until.wrapping_sub(before);
        if gap > LONGEST_GAP {
            // An old one, reported again.
            return;
        }
        for number in (1..=gap).map(|step| before.wrapping_add(step)) {
            if !self.reported.contains(&number) {
                entries.push(ReceiptEntry { number, ..last });
            }
        }
        entries.sort_by_key(|entry| entry.number.wrapping_sub(before) as i16);
        self.settled = Some(until);
    }
}

fn parse(bytes: &[u8]) -> Result<(ReceiptsHeader, Vec<ReceiptEntry>), DatagramError> {
    let mut r = BitReader::new(bytes);
    let header = ReceiptsHeader::parse(&mut r)?;
    let mut entries: Vec<ReceiptEntry> = Vec::new();
    while r.remaining_bits() >= PADDING {
        entries.push(ReceiptEntry::parse(entries.last(), &mut r)?);
    }
    Ok((header, entries))
}

fn emit(header: &ReceiptsHeader, entries: &[ReceiptEntry]) -> Result<Vec<u8>, Full> {
    let mut buffer = vec![0; LONGEST];
    let mut w = BitWriter::new(&mut buffer);
    header.emit(&mut w)?;
    let mut before = None;
    for entry in entries {
        entry.emit(before, &mut w)?;
        before = Some(entry);
    }
    Ok(w.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::wire::datagram::Taken;

    const SECOND: Duration = Duration::from_secs(1);

    fn units(span: Duration) -> i64 {
        span.as_nanos() / Stamp::UNIT.as_nanos()
    }

    fn receipt(numbers: &[u16]) -> Vec<u8> {
        let header = ReceiptsHeader { stream: 3, number: 7, terms: 0, proof: 5, held: 1_000 };
        let entry =
            |number: &u16| ReceiptEntry { number: *number, taken: Taken::All, delay: units(Duration::from_millis(80)) };
        emit(&header, &numbers.iter().map(entry).collect::<Vec<_>>()).unwrap()
    }

    fn told(guise: Guise, receipts: &[&[u16]]) -> Vec<(GlobalTime, ReceiptsHeader, Vec<ReceiptEntry>)> {
        let mut liar = guise.liar(1).unwrap();
        let now = GlobalTime::from_millis(1000);
        let all = receipts.iter().flat_map(|numbers| liar.instead(1, &receipt(numbers), now)).collect::<Vec<_>>();
        let read = |(at, bytes): (GlobalTime, Vec<u8>)| parse(&bytes).map(|(header, entries)| (at, header, entries));
        all.into_iter().map(|told| read(told).unwrap()).collect()
    }

    #[test]
    fn lies_are_told_as_they_are_named() {
        let (late, later) = (units(Duration::from_millis(80)), units(Duration::from_millis(80)) + units(SECOND));
        let (at, header, entries) = told(Guise::Adds(SECOND), &[&[4, 5]]).remove(0);
        assert_eq!((at, header.held), (GlobalTime::from_millis(1000), 1_000));
        assert!(entries.iter().all(|entry| entry.delay == later));
        let (_, header, entries) = told(Guise::Contradicts(SECOND), &[&[4]]).remove(0);
        assert_eq!((header.held, entries[0].delay), (0, later));
        let (at, _, entries) = told(Guise::Holds(SECOND), &[&[4]]).remove(0);
        assert_eq!((at, entries[0].delay), (GlobalTime::from_millis(2000), late));
        let withheld = told(Guise::Withholds, &[&[4, 5, 6], &[7]]);
        assert_eq!(withheld.len(), 1);
        assert_eq!(withheld[0].2.iter().map(|entry| entry.number).collect::<Vec<_>>(), [4, 6]);
    }

    #[test]
    fn what_was_lost_is_acknowledged_with_a_guess() {
        let all = told(Guise::Acknowledges, &[&[4], &[9], &[10, 11]]);
        let numbers: Vec<Vec<u16>> = all.iter().map(|(.., e)| e.iter().map(|entry| entry.number).collect()).collect();
        assert_eq!(numbers, [vec![4], vec![3, 5, 6, 7, 9], vec![8, 10, 11]]);
    }

    #[test]
    fn the_others_and_what_is_no_receipt_are_left_alone() {
        let mut liar = Guise::Adds(SECOND).liar(1).unwrap();
        let (now, bytes) = (GlobalTime::ZERO, receipt(&[1]));
        assert_eq!(liar.instead(0, &bytes, now), vec![(now, bytes)]);
        assert_eq!(liar.instead(1, &[1, 2, 3], now), vec![(now, vec![1, 2, 3])]);
        assert!(Guise::Honest.liar(0).is_none() && Guise::Asymmetric(5).liar(0).is_none());
    }
}

//! Records that were just written, for other receivers that are due the same: they are copied as a whole.

use crate::ids::VectorNumber;
use crate::ledger::{Ledger, ReceiverIndex, SheetId, Sheets};
use crate::time::GlobalTime;
use crate::wire::datagram::Digest;
use crate::wire::{BitReader, BitWriter, Full};
use alloc::vec::Vec;

use super::outbox::Outbox;

/// So many datagrams of one moment are kept to be copied.
const MOST: usize = 192;
/// Fewer records than this are written as fast as they are looked for. They are copied where books are compared.
const FEWEST: usize = if cfg!(any(test, evenkeel_oracle)) { 1 } else { 4 };

/// A vector that is due, and what a receiver has of the entity: everything that its record depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    place: u32,
    number: Option<VectorNumber>,
    acknowledged: Option<VectorNumber>,
}

impl Due {
    /// What stands at a place in a receiver's outbox, if it is the newest vector of an entity, to be sent for the first time.
    #[inline]
    fn waiting(ledger: &Ledger, outbox: &Outbox, receiver: ReceiverIndex, index: usize) -> Option<Self> {
        let entity = outbox.newest_at(index)?;
        let number = ledger.desk(entity, receiver).queued;
        Some(Self { place: entity.0 as u32, number, acknowledged: ledger.book(entity, receiver).acknowledged })
    }
}

/// The records of one datagram.
#[derive(Clone, Copy, Debug)]
struct Draft {
    sheet: SheetId,
    digest: Digest,
    header_bits: usize,
    first: Due,
    /// What did not fit any more.
    refused: Option<Due>,
    /// Where its bits begin, in bytes, and how many they are.
    bits_at: usize,
    len_bits: usize,
    /// Where the numbers of its baselines begin.
    acknowledged_at: usize,
}

/// The drafts of one moment.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    at: GlobalTime,
    drafts: Vec<Draft>,
    bits: Vec<u8>,
    acknowledged: Vec<Option<VectorNumber>>,
    /// Where to look first: receivers are told the same things in the same order.
    next: usize,
}

impl Drafts {
    /// Forgets what was written at another time.
    pub(super) fn begin(&mut self, now: GlobalTime, sheets: &mut Sheets) {
        if self.at != now {
            self.clear(sheets);
            self.at = now;
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, sheets: &mut Sheets) {
        self.drafts.drain(..).for_each(|draft| sheets.release(draft.sheet));
        self.bits.clear();
        self.acknowledged.clear();
        self.next = 0;
    }

    /// Keeps the records that a receiver was just sent, behind a header of so many bits; `refused` waits in its outbox still.
    pub(super) fn keep(
        &mut self,
        ledger: &mut Ledger,
        (outbox, receiver): (&Outbox, ReceiverIndex),
        (sheet, digest): (SheetId, Digest),
        header_bits: usize,
        w: &BitWriter<'_>,
    ) {
        let items = ledger.sheets.items(sheet);
        if self.drafts.len() == MOST || items.len() < FEWEST {
            return;
        }
        let refused = if outbox.is_empty() { None } else { Due::waiting(ledger, outbox, receiver, 0) };
        if refused.is_none() && !outbox.is_empty() {
            return;
        }
        let pairs = &ledger.receivers[receiver.0].pairs;
        let (bits_at, acknowledged_at) = (self.bits.len(), self.acknowledged.len());
        self.acknowledged.extend(items.iter().map(|item| pairs[item.place as usize].acknowledged));
        let first =
            Due { place: items[0].place, number: items[0].vector, acknowledged: self.acknowledged[acknowledged_at] };
        let len_bits = w.len_bits() - header_bits;
        self.copy_bits(w.as_bytes(), header_bits, len_bits);
        ledger.sheets.share(sheet);
        self.drafts.push(Draft { sheet, digest, header_bits, first, refused, bits_at, len_bits, acknowledged_at });
    }

    /// Keeps bits that begin anywhere in a byte.
    fn copy_bits(&mut self, bytes: &[u8], from: usize, len_bits: usize) {
        let mut r = BitReader::new(&bytes[from / 8..]);
        let mut left = (from % 8 + len_bits) as u32;
        let mut pull = |most: u32| {
            let now = left.min(most);
            left -= now;
            (now > 0).then(|| r.pull(now).unwrap_or(0))
        };
        if from % 8 > 0 {
            pull((from % 8) as u32);
        }
        while let Some(word) = pull(64) {
            self.bits.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Copies the records that a receiver is due, if another one was sent just the same. Answers their sheet, and what stands for them.
    pub(super) fn copy(
        &mut self,
        ledger: &Ledger,
        (outbox, receiver): (&Outbox, ReceiverIndex),
        w: &mut BitWriter<'_>,
    ) -> Option<(SheetId, Digest)> {
        let first = Due::waiting(ledger, outbox, receiver, 0).filter(|_| !self.drafts.is_empty())?;
        let count = self.drafts.len();
        let fits = |index: &usize| {
            let draft = &self.drafts[*index];
            draft.first == first && self.is_due(draft, ledger, (outbox, receiver), w)
        };
        let index = (0..count).map(|i| (self.next + i) % count).find(fits)?;
        self.next = index + 1;
        let Draft { sheet, digest, bits_at, len_bits, .. } = self.drafts[index];
        let start = w.len_bits();
        if copy_long(&self.bits[bits_at..], len_bits, w).is_err() {
            w.truncate(start);
            return None;
        }
        Some((sheet, digest))
    }

    /// Whether a receiver would be sent the same records, neither more nor fewer.
    fn is_due(
        &self,
        draft: &Draft,
        ledger: &Ledger,
        (outbox, receiver): (&Outbox, ReceiverIndex),
        w: &BitWriter<'_>,
    ) -> bool {
        let items = ledger.sheets.items(draft.sheet);
        let ends_alike = match draft.refused {
            None => outbox.len() == items.len() && draft.len_bits <= w.room_bits(),
            Some(_) if draft.header_bits != w.len_bits() => false,
            Some(_) => Due::waiting(ledger, outbox, receiver, items.len()) == draft.refused,
        };
        let book = &ledger.receivers[receiver.0];
        let number = book.log.next_number();
        let acknowledged = &self.acknowledged[draft.acknowledged_at..];
        let mut each = items.iter().zip(acknowledged).enumerate();
        ends_alike
            && each.all(|(index, (item, acknowledged))| {
                outbox.newest_at(index).is_some_and(|entity| {
                    let pair = &book.pairs[entity.0];
                    entity.0 as u32 == item.place
                        && pair.acknowledged == *acknowledged
                        && pair.before(number) == item.before
                        && ledger.desk(entity, receiver).queued == item.vector
                })
            })
    }
}

/// Copies many bits: all but the last few words without looking for the end.
fn copy_long(bits: &[u8], len_bits: usize, w: &mut BitWriter<'_>) -> Result<(), Full> {
    let whole = (len_bits / 64).saturating_sub(3) * 64;
    w.copy(bits, whole)?;
    w.copy(&bits[whole / 8..], len_bits - whole)
}

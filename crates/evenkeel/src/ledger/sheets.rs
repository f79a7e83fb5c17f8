//! What datagrams carried: kept once for all receivers that were sent the same.

use crate::ids::{EntityId, VectorNumber};
use alloc::vec::Vec;

/// Stands for no datagram: the first to carry an entity since the books of the pair began.
const NONE: u32 = u32::MAX;

/// Where an entity's vector before this one was sent: so many datagrams ago, and which of the things in that one. Receivers share a
/// sheet only if it is true of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    datagrams: u32,
    slot: u16,
}

impl Before {
    /// There is none.
    pub(crate) const NOTHING: Self = Self { datagrams: NONE, slot: 0 };

    /// In the datagram `datagrams` ago, at `slot`. Of what is too long ago nothing is known.
    pub(crate) fn new(datagrams: u32, slot: u16) -> Self {
        Self { datagrams, slot }
    }

    /// The datagram and the slot, as seen from the datagram with this number.
    pub(crate) fn seen_from(self, number: u64) -> Option<(u64, u16)> {
        if self.datagrams == NONE {
            return None;
        }
        Some((number.checked_sub(u64::from(self.datagrams))?, self.slot))
    }
}

/// One thing in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The entity's place; or, where there is no vector, which of the farewells.
    pub(crate) place: u32,
    pub(crate) vector: Option<VectorNumber>,
    pub(crate) before: Before,
}

/// What a receiver is told when an entity is gone, or out of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Farewell {
    pub(crate) entity: EntityId,
    pub(crate) epoch: u32,
    /// That of the last vector there was.
    pub(crate) tick: i64,
}

/// A sheet by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SheetId(u32);

#[derive(Debug, Default)]
struct Sheet {
    items: Vec<Item>,
    farewells: Vec<Farewell>,
    /// How many logs speak of it.
    users: u32,
}

/// All sheets that some log speaks of.
#[derive(Debug, Default)]
pub(crate) struct Sheets {
    sheets: Vec<Sheet>,
    /// Those that nobody uses.
    free: Vec<u32>,
}

impl Sheets {
    /// An empty sheet with one user.
    pub(crate) fn begin(&mut self) -> SheetId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.sheets.push(Sheet::default());
            self.sheets.len() as u32 - 1
        });
        self.sheets[place as usize].users = 1;
        SheetId(place)
    }

    /// There is one user more.
    pub(crate) fn share(&mut self, sheet: SheetId) {
        self.sheets[sheet.0 as usize].users += 1;
    }

    /// There is one user less.
    pub(crate) fn release(&mut self, sheet: SheetId) {
        let Sheet { items, farewells, users } = &mut self.sheets[sheet.0 as usize];
        *users -= 1;
        if *users == 0 {
            items.clear();
            farewells.clear();
            self.free.push(sheet.0);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, sheet: SheetId, item: Item) {
        self.sheets[sheet.0 as usize].items.push(item);
    }

    pub(crate) fn push_farewell(&mut self, sheet: SheetId, farewell: Farewell) {
        let Sheet { items, farewells, .. } = &mut self.sheets[sheet.0 as usize];
        items.push(Item { place: farewells.len() as u32, vector: None, before: Before::NOTHING });
        farewells.push(farewell);
    }

    #[inline]
    pub(crate) fn items(&self, sheet: SheetId) -> &[Item] {
        &self.sheets[sheet.0 as usize].items
    }

    pub(crate) fn farewell(&self, sheet: SheetId, item: &Item) -> Option<Farewell> {
        self.sheets[sheet.0 as usize].farewells.get(item.place as usize).copied()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let of = |sheet: &Sheet| {
            sheet.items.capacity() * size_of::<Item>() + sheet.farewells.capacity() * size_of::<Farewell>()
        };
        self.sheets.capacity() * size_of::<Sheet>()
            + self.free.capacity() * size_of::<u32>()
            + self.sheets.iter().map(of).sum::<usize>()
    }
}

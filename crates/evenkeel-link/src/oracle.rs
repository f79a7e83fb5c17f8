//! An oracle: every vector that a receiver decodes is, bit for bit, the one that its sender exported.
//!
//! It knows both ends, and neither asks it: the sender's vectors are noted as they are exported, and what receivers make of datagrams
//! is compared with them.

use evenkeel::wire::Quantised;
use evenkeel::{EntityId, HostId, Receiver, Sender, VectorNumber};
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// So many vectors are remembered of each entity: some seconds of the busiest.
const REMEMBERED: usize = 1_024;

/// What senders have exported of late.
#[derive(Debug, Default)]
pub struct Oracle {
    /// The number of the newest vector noted, by sender and place in its ledger.
    noted: HashMap<HostId, Vec<u32>>,
    /// By sender and entity, in order of generation.
    exported: HashMap<(HostId, EntityId), VecDeque<Quantised>>,
    checked: u64,
}

/// A vector that was decoded to something else than its sender exported.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Of which entity.
    pub entity: EntityId,
    /// What was decoded.
    pub decoded: Quantised,
    /// What was exported at that tick, if anything was.
    pub exported: Option<Quantised>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, decoded, exported } = self;
        write!(f, "{entity} was decoded as {decoded:?}, but exported as {exported:?}")
    }
}

impl std::error::Error for Mismatch {}

impl Oracle {
    /// Notes what a sender has exported since it was last asked. To be called before entities are removed and before what is
    /// exported may arrive.
    pub fn note(&mut self, host: HostId, sender: &Sender) {
        let ledger = sender.ledger();
        let noted = self.noted.entry(host).or_default();
        for (entity, index) in ledger.entities().filter_map(|index| Some((ledger.entity_id(index)?, index))) {
            let Some(newest) = ledger.newest(index) else { continue };
            if noted.len() <= index.0 {
                noted.resize(index.0 + 1, 0);
            }
            let before = std::mem::replace(&mut noted[index.0], newest.number.get());
            let numbers = (before + 1..=newest.number.get()).filter_map(VectorNumber::new);
            for vector in numbers.filter_map(|number| ledger.vector(index, number)) {
                let exported = self.exported.entry((host, entity)).or_default();
                exported.push_back(*vector.quantised());
                if exported.len() > REMEMBERED {
                    exported.pop_front();
                }
            }
        }
    }

    /// Compares what a receiver made of the last datagram, which came from this sender, with what was exported.
    pub fn check(&mut self, host: HostId, receiver: &Receiver) -> Result<(), Box<Mismatch>> {
        for record in receiver.last_records() {
            let Some(&decoded) = record.quantised() else { continue };
            self.checked += 1;
            let known = self.exported.get(&(host, record.entity));
            let exported = known.and_then(|all| all.iter().rev().find(|q| q.tick() == decoded.tick()).copied());
            if exported != Some(decoded) {
                return Err(Box::new(Mismatch { entity: record.entity, decoded, exported }));
            }
        }
        Ok(())
    }

    /// How many vectors were compared.
    pub fn checked(&self) -> u64 {
        self.checked
    }
}

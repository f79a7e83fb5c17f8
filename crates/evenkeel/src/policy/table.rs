//! What a policy remembers of each entity at each receiver.

use crate::ids::HostId;
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex};
use alloc::vec::Vec;

/// A value per entity and receiver. Rows carry the receivers' names, because the ledger renumbers receivers when one
/// leaves, and a row that is looked at rarely would otherwise miss that.
#[derive(Clone, Debug)]
pub(super) struct PairTable<T> {
    rows: Vec<Vec<(HostId, T)>>,
}

/// Brings a row of values with their receivers' names into the order of [`Ledger::receivers`]. Receivers that are new get a `fresh` value.
pub(super) fn follow<T>(row: &mut Vec<(HostId, T)>, ledger: &Ledger, fresh: impl Fn() -> T) {
    let receivers = ledger.receivers();
    let count = receivers.len();
    for receiver in receivers {
        let host = ledger.host(receiver);
        let place = receiver.0;
        if row.get(place).is_some_and(|(known, _)| *known == host) {
            continue;
        }
        match row.iter().skip(place).position(|(known, _)| *known == host) {
            Some(further) => row.swap(place, place + further),
            None => {
                row.push((host, fresh()));
                let last = row.len() - 1;
                row.swap(place, last);
            }
        }
    }
    row.truncate(count);
}

impl<T> Default for PairTable<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<T: Default> PairTable<T> {
    /// The values of an entity, in the order of [`Ledger::receivers`].
    pub(super) fn row(&mut self, ledger: &Ledger, entity: EntityIndex) -> &mut [(HostId, T)] {
        if self.rows.len() <= entity.0 {
            self.rows.resize_with(entity.0 + 1, Vec::new);
        }
        let row = &mut self.rows[entity.0];
        follow(row, ledger, T::default);
        row
    }

    /// One value.
    pub(super) fn get(&mut self, ledger: &Ledger, entity: EntityIndex, receiver: ReceiverIndex) -> Option<&mut T> {
        let host = ledger.host(receiver);
        let there =
            self.rows.get(entity.0).and_then(|row| row.get(receiver.0)).is_some_and(|(known, _)| *known == host);
        if !there {
            self.row(ledger, entity);
        }
        self.rows.get_mut(entity.0)?.get_mut(receiver.0).map(|(_, value)| value)
    }

    /// Forgets an entity.
    pub(super) fn entity_left(&mut self, entity: EntityIndex) {
        if let Some(row) = self.rows.get_mut(entity.0) {
            row.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntityId, GlobalTime, Threshold};
    use crate::{Sender, SenderConfig};

    #[test]
    fn values_follow_their_receivers() {
        let now = GlobalTime::ZERO;
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        sender.add_entity(EntityId(1), Threshold::default(), now).unwrap();
        for host in 0..4 {
            sender.add_receiver(HostId(host), now).unwrap();
        }
        let mut table = PairTable::<u32>::default();
        let entity = EntityIndex(0);
        for (host, value) in table.row(sender.ledger(), entity) {
            *value = host.0 + 10;
        }
        sender.remove_receiver(HostId(1)).unwrap();
        sender.add_receiver(HostId(7), now).unwrap();
        let row = table.row(sender.ledger(), entity);
        assert_eq!(row.iter().map(|(_, v)| *v).collect::<Vec<_>>(), [10, 13, 12, 0]);
        table.entity_left(entity);
        assert_eq!(table.get(sender.ledger(), entity, ReceiverIndex(1)), Some(&mut 0));
    }
}

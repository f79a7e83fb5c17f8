//! One budget for all receivers, or one for each.

use super::table::follow;
use crate::ids::HostId;
use crate::ledger::{Ledger, ReceiverIndex};
use alloc::vec;
use alloc::vec::Vec;

/// What a policy keeps for a budget: one value for all receivers, or one for each.
#[derive(Clone, Debug)]
pub(super) struct Pots<T> {
    each: bool,
    fresh: T,
    /// In the order of [`Ledger::receivers`] if each receiver has one.
    pots: Vec<(HostId, T)>,
}

impl<T: Clone> Pots<T> {
    /// One for all receivers, or one for `each`, all of them `fresh` to begin with.
    pub(super) fn new(each: bool, fresh: T) -> Self {
        let pots = if each { Vec::new() } else { vec![(HostId(0), fresh.clone())] };
        Self { each, fresh, pots }
    }

    /// Whether each receiver has one.
    pub(super) fn are_each(&self) -> bool {
        self.each
    }

    /// Follows the ledger's receivers. Call this before asking for one of them.
    pub(super) fn follow(&mut self, ledger: &Ledger) {
        if self.each {
            follow(&mut self.pots, ledger, || self.fresh.clone());
        }
    }

    pub(super) fn of(&self, receiver: ReceiverIndex) -> &T {
        &self.pots[if self.each { receiver.0 } else { 0 }].1
    }

    pub(super) fn of_mut(&mut self, receiver: ReceiverIndex) -> &mut T {
        &mut self.pots[if self.each { receiver.0 } else { 0 }].1
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.pots.iter().map(|(_, pot)| pot)
    }

    pub(super) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut T> {
        self.pots.iter_mut().map(|(_, pot)| pot)
    }

    /// All of them, each with the vectors and bytes sent so far to those it is for.
    pub(super) fn with_sent(&mut self, ledger: &Ledger) -> impl Iterator<Item = (&mut T, (u64, u64))> {
        let each = self.each;
        let sent = move |i| if each { ledger.sent_to(ReceiverIndex(i)) } else { ledger.sent() };
        self.iter_mut().enumerate().map(move |(i, pot)| (pot, sent(i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GlobalTime, Sender, SenderConfig};

    #[test]
    fn each_receiver_keeps_its_own_when_others_leave() {
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        (0..4).for_each(|host| sender.add_receiver(HostId(host), GlobalTime::ZERO).unwrap());
        let (mut each, mut shared) = (Pots::new(true, 0), Pots::new(false, 5));
        each.follow(sender.ledger());
        (0..4).for_each(|i| *each.of_mut(ReceiverIndex(i)) = i + 10);
        sender.remove_receiver(HostId(1)).unwrap();
        sender.add_receiver(HostId(7), GlobalTime::ZERO).unwrap();
        each.follow(sender.ledger());
        shared.follow(sender.ledger());
        assert_eq!(each.iter().copied().collect::<Vec<_>>(), [10, 13, 12, 0]);
        assert_eq!((*shared.of(ReceiverIndex(3)), shared.iter().len()), (5, 1));
    }
}

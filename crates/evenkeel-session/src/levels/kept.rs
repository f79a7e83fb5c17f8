//! What must arrive, kept until the other end has said that it did: by another connection it is sent again.

use super::{LevelError, Outgoing, RELIABLE_WINDOW as WINDOW};
use std::collections::VecDeque;

/// What a message costs besides its bytes: empty ones are not free.
const ENTRY: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    /// The number of the oldest that is not acknowledged.
    first: u32,
    /// From that one on.
    messages: VecDeque<Outgoing>,
    /// So many of them went by the present connection.
    sent: usize,
    cost: usize,
    most: usize,
}

fn cost_of(message: &Outgoing) -> usize {
    let (Outgoing::Ordered(bytes) | Outgoing::Unordered(bytes) | Outgoing::Datagram(bytes)) = message;
    bytes.len() + ENTRY
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        Self { first: 0, messages: VecDeque::new(), sent: 0, cost: 0, most }
    }

    /// As it was elsewhere; nothing of it went by a connection from here.
    pub(super) fn restore(first: u32, messages: Vec<Outgoing>, most: usize) -> Option<Self> {
        let cost = messages.iter().map(cost_of).sum();
        let fits = messages.len() <= WINDOW && (cost <= most || messages.len() == 1);
        fits.then(|| Self { first, messages: messages.into(), sent: 0, cost, most })
    }

    pub(super) fn first(&self) -> u32 {
        self.first
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = &Outgoing> {
        self.messages.iter()
    }

    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// The number that the next message will have.
    pub(super) fn upcoming(&self) -> u32 {
        self.first.wrapping_add(self.messages.len() as u32)
    }

    /// Takes one more. If there is none, anything fits.
    pub(super) fn push(&mut self, message: Outgoing) -> Result<(), LevelError> {
        let cost = cost_of(&message);
        let crowded = !self.messages.is_empty() && self.cost + cost > self.most;
        if crowded || self.messages.len() >= WINDOW {
            return Err(LevelError::Full);
        }
        self.cost += cost;
        self.messages.push_back(message);
        Ok(())
    }

    /// The next that has not gone by the present connection.
    pub(super) fn pop(&mut self) -> Option<Outgoing> {
        let next = self.messages.get(self.sent)?.clone();
        self.sent += 1;
        Some(next)
    }

    /// Whether something waits to go by the present connection.
    pub(super) fn waits(&self) -> bool {
        self.sent < self.messages.len()
    }

    /// There is another connection: all of it goes again.
    pub(super) fn begin_again(&mut self) {
        self.sent = 0;
    }

    /// All before that number has arrived. What comes late is no mistake.
    pub(super) fn acknowledge(&mut self, expected: u32) -> Result<(), LevelError> {
        let arrived = expected.wrapping_sub(self.first) as i32;
        // After another connection was made, what arrived by the one before has not gone by this one.
        if arrived > self.messages.len() as i32 {
            return Err(LevelError::Impossible);
        }
        for _ in 0..arrived {
            if let Some(message) = self.messages.pop_front() {
                self.cost -= cost_of(&message);
                self.first = self.first.wrapping_add(1);
                self.sent = self.sent.saturating_sub(1);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(n: u8) -> Outgoing {
        Outgoing::Ordered(vec![n; 36])
    }

    #[test]
    fn what_is_not_acknowledged_goes_again_in_order() {
        let mut kept = Kept { first: u32::MAX, ..Kept::new(1_000) };
        (0..4).for_each(|n| kept.push(message(n)).unwrap());
        assert_eq!([kept.pop(), kept.pop(), kept.pop()], [0, 1, 2].map(|n| Some(message(n))));
        kept.acknowledge(1).unwrap();
        kept.acknowledge(0).unwrap();
        assert_eq!(kept.pop(), Some(message(3)));
        kept.begin_again();
        assert_eq!([kept.pop(), kept.pop(), kept.pop()], [Some(message(2)), Some(message(3)), None]);
        assert_eq!((kept.acknowledge(4), kept.acknowledge(3), kept.cost()), (Err(LevelError::Impossible), Ok(()), 0));
    }

    #[test]
    fn it_keeps_so_much_and_no_more() {
        let mut kept = Kept::new(200);
        assert_eq!([0, 1, 2].map(|n| kept.push(message(n))), [Ok(()), Ok(()), Err(LevelError::Full)]);
        let mut kept = Kept::new(usize::MAX);
        let taken = (0..2 * WINDOW).filter(|_| kept.push(message(1)).is_ok()).count();
        assert_eq!(taken, WINDOW);
    }
}

//! A queue that holds so many bytes and no more.

use std::collections::VecDeque;

/// What an entry costs besides its bytes: empty messages are not free.
const ENTRY: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Queue<T> {
    entries: VecDeque<(T, usize)>,
    cost: usize,
    most: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), cost: 0, most }
    }

    /// Puts something of so many bytes at the end, or gives it back. A queue that is empty takes anything.
    pub(super) fn push(&mut self, entry: T, bytes: usize) -> Result<(), T> {
        let cost = bytes + ENTRY;
        if !self.entries.is_empty() && self.cost + cost > self.most {
            return Err(entry);
        }
        self.cost += cost;
        self.entries.push_back((entry, cost));
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let (entry, cost) = self.entries.pop_front()?;
        self.cost -= cost;
        Some(entry)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.cost = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn cost(&self) -> usize {
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_what_it_may_hold_and_gives_back_the_rest() {
        let mut queue = Queue::new(300);
        assert_eq!([queue.push('a', 100), queue.push('b', 100), queue.push('c', 0)], [Ok(()), Err('b'), Ok(())]);
        assert_eq!((queue.pop(), queue.pop(), queue.pop(), queue.cost()), (Some('a'), Some('c'), None, 0));
        assert_eq!(queue.push('d', 1_000), Ok(()), "what is longer than everything goes alone");
    }
}

//! A bounded queue of events: what nobody polls for must not grow without end.

use alloc::collections::VecDeque;

/// How many events wait at most, unless told otherwise.
const CAPACITY: usize = 256;

#[derive(Debug)]
pub(crate) struct Events<T> {
    queue: VecDeque<T>,
    capacity: usize,
    dropped: u64,
}

impl<T> Events<T> {
    pub(crate) fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// A queue in which at most so many events wait, at least one.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { queue: VecDeque::new(), capacity: capacity.max(1), dropped: 0 }
    }

    /// Adds an event; the oldest is given up, and counted, if nobody has asked for so many.
    pub(crate) fn push(&mut self, event: T) {
        if self.queue.len() >= self.capacity {
            self.queue.pop_front();
            self.dropped += 1;
        }
        self.queue.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.queue.pop_front()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

//! What an application is told, until it asks: so many events, so many bytes of them, and no more.

use std::collections::VecDeque;

/// So many wait at most.
const MOST: usize = 65_536;
/// So many bytes of them wait at most: an application that does not ask is not to be buried by what strangers send it.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Events that wait; the oldest are given up if there are too many.
#[derive(Debug)]
pub struct Events<E> {
    waiting: VecDeque<(E, usize)>,
    bytes: usize,
}

impl<E> Events<E> {
    /// None yet.
    pub fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0 }
    }

    /// Adds an event that holds so many bytes besides itself. Answers how many were given up for it.
    pub fn push(&mut self, event: E, holds: usize) -> u64 {
        let size = size_of::<(E, usize)>() + holds;
        self.bytes += size;
        self.waiting.push_back((event, size));
        let mut dropped = 0;
        while self.waiting.len() > MOST || self.bytes > MOST_BYTES {
            self.pop();
            dropped += 1;
        }
        dropped
    }

    /// The oldest that was not given up.
    pub fn pop(&mut self) -> Option<E> {
        let (event, size) = self.waiting.pop_front()?;
        self.bytes -= size;
        Some(event)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_given_up_when_there_are_too_many() {
        let mut events = Events::new();
        let dropped: u64 = (0..MOST + 10).map(|n| events.push(n, 0)).sum();
        assert_eq!((dropped, events.len(), events.pop()), (10, MOST, Some(10)));
    }

    #[test]
    fn the_oldest_are_given_up_when_they_are_too_large() {
        let mut events = Events::new();
        let dropped: u64 = (0..1_000).map(|n| events.push(n, 64 * 1024)).sum();
        assert!(events.bytes <= MOST_BYTES && events.len() > 200);
        assert_eq!(events.len() as u64 + dropped, 1_000);
        assert_eq!(events.pop(), Some(dropped));
        while events.pop().is_some() {}
        assert_eq!((events.bytes, events.push(7, MOST_BYTES - 100)), (0, 0), "there is room again");
    }
}

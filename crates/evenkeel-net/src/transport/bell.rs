//! One bell for many connections: whoever serves them all need not wait for each.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Rung by connections on which something has arrived. Each rings once until what it has was taken: so many names wait at most as
/// there are connections.
#[derive(Default)]
pub(crate) struct Bell {
    rung: Mutex<VecDeque<u64>>,
    came: Notify,
}

impl Bell {
    pub(super) fn ring(&self, name: u64) {
        let mut rung = self.rung();
        rung.push_back(name);
        // Whoever listens takes all it can: only the first has to wake it.
        let first = rung.len() == 1;
        drop(rung);
        if first {
            self.came.notify_one();
        }
    }

    /// Waits until somebody rings, and takes up to so many names, who rang first first. Nothing is lost when the future is dropped.
    pub(crate) async fn listen(&self, names: &mut Vec<u64>, most: usize) {
        while !self.take(names, most) {
            self.came.notified().await;
        }
    }

    /// Takes up to so many names, and answers whether there was one.
    fn take(&self, names: &mut Vec<u64>, most: usize) -> bool {
        let mut rung = self.rung();
        let count = rung.len().min(most);
        names.extend(rung.drain(..count));
        if !rung.is_empty() {
            self.came.notify_one();
        }
        count > 0
    }

    /// How many have rung and were not yet heard.
    pub(crate) fn waiting(&self) -> usize {
        self.rung().len()
    }

    fn rung(&self) -> MutexGuard<'_, VecDeque<u64>> {
        // No code panics while it holds the lock.
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Receivers by small numbers that are used again.
//!
//! A player's own number is used again only after all others were: as a label it would leave a time series behind for
//! everybody who ever came. There are never more slots than players at once.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Slots {
    by_host: BTreeMap<u32, usize>,
}

impl Slots {
    /// Frees the slots of those who are gone and gives the lowest free ones to those who came. Answers the slot of each.
    pub(super) fn of(&mut self, hosts: &[u32]) -> Vec<usize> {
        self.by_host.retain(|host, _| hosts.contains(host));
        let mut taken: std::collections::BTreeSet<usize> = self.by_host.values().copied().collect();
        let mut free = 0;
        let slot = |host: &u32| {
            *self.by_host.entry(*host).or_insert_with(|| {
                while !taken.insert(free) {
                    free += 1;
                }
                free
            })
        };
        hosts.iter().map(slot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stay_and_are_used_again() {
        let mut slots = Slots::default();
        assert_eq!(slots.of(&[7, 3, 9]), [0, 1, 2]);
        assert_eq!(slots.of(&[3, 9]), [1, 2]);
        assert_eq!(slots.of(&[3, 9, 500, 501]), [1, 2, 0, 3]);
        assert!(slots.of(&[]).is_empty());
        for host in 0..1_000 {
            assert!(slots.of(&[host, host + 1]).iter().all(|slot| *slot < 2));
        }
    }
}

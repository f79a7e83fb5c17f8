//! What happened in the game, as its own watcher tells.

use std::collections::BTreeMap;

/// What the server told of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often it joined.
    pub joined: u32,
    /// How often its tank came to life.
    pub spawned: u32,
    /// How often its tank was destroyed.
    pub died: u32,
    /// How many others its tank destroyed.
    pub killed: u32,
    /// How often it left or was removed.
    pub left: u32,
}

/// Counts the lines of a watcher, by player.
pub(super) fn tallies(log: &str) -> BTreeMap<String, Tally> {
    let mut tallies = BTreeMap::<String, Tally>::new();
    for line in log.lines() {
        // *** 'NAME' DEED, and the killer's name in quotes too.
        let Some((name, deed)) = line.strip_prefix("*** '").and_then(|rest| rest.split_once("' ")) else { continue };
        let tally = tallies.entry(name.into()).or_default();
        if deed.starts_with("joined") {
            tally.joined += 1;
        } else if deed.starts_with("left") {
            tally.left += 1;
        } else if deed.starts_with("has respawned") {
            tally.spawned += 1;
        } else if deed.starts_with("blew") {
            tally.died += 1;
        } else if let Some(by) = deed.strip_prefix("destroyed by '") {
            tally.died += 1;
            let killer = by.trim_end_matches(['.', '\'']);
            tallies.entry(killer.into()).or_default().killed += 1;
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_for_whom_they_tell_of() {
        let log = "Connecting to watch@127.0.0.1:5300\n*** 'watch' joined the game as Observer.\n\
                   \x20   [SERVER->] You are in observer mode.\n*** 'Ada' joined the game as Rogue.\n\
                   *** 'Ada' has respawned.\n*** 'Ada' destroyed by 'Bob'.\n*** 'Ada' has respawned.\n\
                   *** 'Ada' blew myself up.\n*** 'Ada' left the game.\n*** 'cut";
        let tallies = tallies(log);
        assert_eq!(tallies["Ada"], Tally { joined: 1, spawned: 2, died: 2, killed: 0, left: 1 });
        assert_eq!(tallies["Bob"], Tally { killed: 1, ..Tally::default() });
        assert_eq!(tallies.len(), 3);
    }
}

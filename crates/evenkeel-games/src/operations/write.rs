//! Recordings to text.

use super::Recording;
use crate::game::Game;
use alloc::string::String;
use core::fmt::Write;
use evenkeel::GlobalTime;

/// What a recording begins with.
pub(super) const MAGIC: &str = "# evenkeel operations 1";
/// The columns.
pub(super) const COLUMNS: &str = "t_s,player,sequence,act,value";

impl<G: Game> Recording<G> {
    /// The recording as text. Equal recordings give equal bytes.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> core::fmt::Result {
        let setup = self.setup();
        writeln!(text, "{MAGIC}\n# game: {}\n# players: {}\n# seed: {}", G::NAME, setup.players, setup.seed)?;
        writeln!(text, "# ticks: {}", setup.ticks)?;
        for (name, value) in G::write_rules(&setup.rules) {
            writeln!(text, "# {name}: {value}")?;
        }
        writeln!(text, "{COLUMNS}")?;
        for operation in self.operations() {
            let (act, value) = G::write_act(&operation.act);
            write_seconds(text, operation.at)?;
            writeln!(text, ",{},{},{act},{value}", operation.issuer.0, operation.sequence)?;
        }
        Ok(())
    }
}

/// Six decimals where they are enough, nine where not. Times in a recording are never negative.
fn write_seconds(text: &mut String, at: GlobalTime) -> core::fmt::Result {
    let nanos = at.as_nanos();
    let (whole, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if part % 1_000 == 0 { write!(text, "{whole}.{:06}", part / 1_000) } else { write!(text, "{whole}.{part:09}") }
}

//! Recorded games: what the policies make of paths that nobody drew for them.

mod bound;
mod cell;
mod show;
mod stream;
mod summary;

use super::{Brief, Entry, Size, Study, Watch};
use anyhow::Result;
use cell::{GAMES, Point};

pub(super) const ENTRY: Entry = Entry {
    name: "recorded",
    question: "What do the policies make of real games?",
    reproduces: "nothing: the papers' games were not kept; beyond them: recorded BZFlag games, a server and peer to peer",
    needs: &[GAMES[0], GAMES[1], stream::GAME],
    run,
};

/// No less of a trace is run than this, in seconds.
const SHORTEST: f64 = 20.0;

/// Mean, standard deviation and maximum over receivers.
type Figures = [f64; 3];

/// How much of a trace is run: at full size all of it, else a third of a motion's seconds, for ten players and more cost as
/// much.
fn seconds(brief: &Brief) -> Option<f64> {
    let part = (brief.size.seconds / 3.0).max(SHORTEST);
    Some(part).filter(|_| brief.size.seconds < Size::FULL.seconds)
}

/// Runs it.
fn run(brief: &Brief, watch: &Watch<'_>) -> Result<Study> {
    let mut points: Vec<Point> = cell::run(brief, watch)?;
    bound::add(&mut points, brief)?;
    let (stream, stream_seconds) = stream::run(brief, watch)?;
    let mut exhibits = show::exhibits(&points);
    exhibits.push(stream);
    Ok(Study {
        name: ENTRY.name,
        settings: described(brief),
        summary: summary::summary(&points),
        exhibits,
        findings: Vec::new(),
        rows: Vec::new(),
        simulated_seconds: stream_seconds + points.iter().map(|point| point.simulated_seconds).sum::<f64>(),
    })
}

/// What the cells have in common; where they differ, titles say so.
fn described(brief: &Brief) -> Vec<(String, String)> {
    let varied = ["trace", "senders", "receivers", "budget", "seeds"];
    let mut settings = vec![("traces".to_owned(), ENTRY.needs.join(", "))];
    settings.extend(cell::common(brief).describe().into_iter().filter(|(name, _)| !varied.contains(&name.as_str())));
    settings
}

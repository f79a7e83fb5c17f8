//! Round-trip times pair by pair: what measuring gives.

use super::error::{Fault, InputError};
use super::known::{Known, Links, Names};
use super::text::{name, rows, rtt_ms};

/// One measurement, or the median of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    /// Where it was measured.
    pub from: &'a str,
    /// What it was measured to.
    pub to: &'a str,
    /// The round-trip time in milliseconds; not a number if nothing came back.
    pub rtt_ms: f32,
}

/// Writes pairs so that [`read`](super::read) reads them: a line `from,to,rtt_ms`, and a line for each pair.
///
/// ```
/// use evenkeel_sites::input::{Pair, write_pairs};
/// let text = write_pairs([Pair { from: "Oslo", to: "Lima, PE", rtt_ms: 210.5 }])?;
/// assert_eq!(text, "from,to,rtt_ms\nOslo,\"Lima, PE\",210.5\n");
/// # Ok::<(), evenkeel_sites::input::InputError>(())
/// ```
///
/// Names must be of one line and not empty; times must be such as can be read. The place in an error is that in the text that would
/// have been written.
pub fn write_pairs<'a>(pairs: impl IntoIterator<Item = Pair<'a>>) -> Result<String, InputError> {
    let mut text = String::from("from,to,rtt_ms\n");
    for (line, pair) in (2..).zip(pairs) {
        for (column, name) in [(1, pair.from), (2, pair.to)] {
            if name.is_empty() || name.contains('\n') {
                return Err(Fault::BadName.at(line, column));
            }
            push_quoted(&mut text, name);
            text.push(',');
        }
        let cell = if pair.rtt_ms.is_nan() { String::new() } else { pair.rtt_ms.to_string() };
        rtt_ms(&cell).map_err(|fault| fault.at(line, 3))?;
        text.push_str(&cell);
        text.push('\n');
    }
    Ok(text)
}

fn push_quoted(text: &mut String, name: &str) {
    if name.contains([',', '"']) || name.trim() != name {
        text.push('"');
        text.push_str(&name.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(name);
    }
}

/// Whether a first line is that of pairs.
pub(crate) fn is_header(cells: &[impl AsRef<str>]) -> bool {
    ["from", "to"].iter().all(|name| position(cells, name).is_some())
}

fn position(cells: &[impl AsRef<str>], name: &str) -> Option<usize> {
    cells.iter().position(|cell| cell.as_ref().eq_ignore_ascii_case(name))
}

/// From, to, and the milliseconds of a round trip.
type Measurement = (u32, u32, f32);

pub(crate) fn read(text: &str) -> Result<Known, InputError> {
    let mut lines = rows(text);
    let header = lines.next().ok_or(Fault::Empty)??;
    let find = |name| position(&header.cells, name).ok_or_else(|| Fault::NoColumn(name).on(header.line));
    let (from, to, rtt) = (find("from")?, find("to")?, find("rtt_ms")?);
    let mut names = Names::default();
    let mut measured: Vec<Measurement> = Vec::new();
    for row in lines {
        let row = row?;
        if row.cells.len() != header.cells.len() {
            return Err(Fault::Ragged { found: row.cells.len(), wanted: header.cells.len() }.on(row.line));
        }
        let mut node = |at: usize| match name(&row.cells[at]) {
            Ok(name) => Ok(names.insert(&name).0),
            Err(fault) => Err(fault.at(row.line, at + 1)),
        };
        let (a, b) = (node(from)?, node(to)?);
        let value = rtt_ms(&row.cells[rtt]).map_err(|fault| fault.at(row.line, rtt + 1))?;
        if !value.is_nan() {
            measured.push((a, b, value));
        }
    }
    if names.len() == 0 {
        return Err(Fault::Empty.into());
    }
    let links = Links::Pairs(neighbours(names.len(), measured));
    Ok(Known { names, links })
}

/// For each node the others with the medians there and back.
fn neighbours(nodes: usize, mut measured: Vec<Measurement>) -> Vec<Vec<(u32, [f32; 2])>> {
    measured.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let mut near = vec![Vec::new(); nodes];
    for same in measured.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (from, to, rtt) = (same[0].0, same[0].1, median(same));
        near[from as usize].push((to, [rtt, f32::NAN]));
        near[to as usize].push((from, [f32::NAN, rtt]));
    }
    for others in &mut near {
        others.sort_by_key(|(other, _)| *other);
        // There and back may be two entries: one takes what the other lacks.
        others.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = [kept.1[0].min(later.1[0]), kept.1[1].min(later.1[1])];
            }
            same
        });
    }
    near
}

/// Of ascending measurements. Of two in the middle their mean.
fn median(ascending: &[Measurement]) -> f32 {
    let middle = ascending.len() / 2;
    let upper = ascending[middle].2;
    if ascending.len() % 2 == 1 { upper } else { (ascending[middle - 1].2 + upper) / 2.0 }
}

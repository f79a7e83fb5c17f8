//! Bytes to lines of cells, and cells to numbers.

use super::error::{Fault, InputError};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// More text than this, after unpacking, is refused.
pub(crate) const MAX_TEXT_BYTES: u64 = 1 << 30;

/// The text, unpacked if it is compressed by gzip.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Cow<'_, str>, Fault> {
    unpack_within(bytes, MAX_TEXT_BYTES)
}

fn unpack_within(bytes: &[u8], limit: u64) -> Result<Cow<'_, str>, Fault> {
    let text = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes).take(limit + 1);
        reader.read_to_end(&mut unpacked).map_err(|error| Fault::Gzip(error.to_string()))?;
        String::from_utf8(unpacked).map(Cow::Owned).map_err(|_| Fault::NotText)?
    } else {
        std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Fault::NotText)?
    };
    if text.len() as u64 > limit { Err(Fault::TooLarge) } else { Ok(text) }
}

/// A line that is not blank.
pub(crate) struct Row<'a> {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) cells: Vec<Cow<'a, str>>,
}

/// The lines that are not blank.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Result<Row<'_>, InputError>> {
    // Some spreadsheets begin with a mark of the byte order.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    lines.map(|(line, text)| Ok(Row { line, cells: cells(text).ok_or_else(|| Fault::Quote.on(line))? }))
}

/// Cells between commas, without the blanks around them. In quotation marks a cell may have commas, blanks, and quotation
/// marks doubled, but no end of a line.
fn cells(line: &str) -> Option<Vec<Cow<'_, str>>> {
    if !line.contains('"') {
        return Some(line.split(',').map(|cell| cell.trim().into()).collect());
    }
    let mut cells = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let cell;
        (cell, rest) = match text.trim_start().strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => match text.split_once(',') {
                Some((cell, rest)) => (cell.trim().into(), Some(rest)),
                None => (text.trim().into(), None),
            },
        };
        cells.push(cell);
    }
    Some(cells)
}

fn quoted(inside: &str) -> Option<(Cow<'_, str>, Option<&str>)> {
    let mut from = 0;
    loop {
        let end = from + inside[from..].find('"')?;
        let after = &inside[end + 1..];
        if after.starts_with('"') {
            from = end + 2;
            continue;
        }
        let cell = inside[..end].replace("\"\"", "\"").into();
        let after = after.trim_start();
        return match after.strip_prefix(',') {
            None if after.is_empty() => Some((cell, None)),
            None => None,
            rest => Some((cell, rest)),
        };
    }
}

/// Whether a cell says that there is no value.
pub(crate) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || cell == "-" || ["na", "nan"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A number of at least 0 and at most `most`.
pub(crate) fn number(cell: &str, most: (f64, &'static str)) -> Result<f64, Fault> {
    let value: f64 = cell.parse().map_err(|_| Fault::cell(cell, "is not a number"))?;
    match value {
        _ if value.is_nan() => Err(Fault::cell(cell, "is not a number")),
        // Minus nothing is nothing.
        _ if value < 0.0 => Err(Fault::cell(cell, "is negative")),
        _ if value.is_infinite() => Err(Fault::cell(cell, "is not a finite number")),
        _ if value > most.0 => Err(Fault::cell(cell, most.1)),
        _ => Ok(value.abs()),
    }
}

/// A round-trip time in milliseconds; not a number if it is missing.
pub(crate) fn rtt_ms(cell: &str) -> Result<f32, Fault> {
    if is_missing(cell) {
        return Ok(f32::NAN);
    }
    Ok(number(cell, (3_600_000.0, "is more than an hour: round-trip times are in milliseconds"))? as f32)
}

/// A name: something, at least.
pub(crate) fn name(cell: &str) -> Result<String, Fault> {
    if cell.is_empty() { Err(Fault::BadName) } else { Ok(cell.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    #[test]
    fn cells_may_be_quoted() {
        let row = |text| cells(text).map(|cells| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>());
        assert_eq!(row("a, b ,").unwrap(), ["a", "b", ""]);
        assert_eq!(row(r#" "a, b" ,"say ""so""", c"#).unwrap(), ["a, b", "say \"so\"", "c"]);
        assert_eq!(row(r#"" ","#).unwrap(), [" ", ""]);
        assert_eq!([row(r#""a"#), row(r#""a"b,c"#), row("\"\"\"")], [None, None, None]);
    }

    #[test]
    fn a_little_that_unpacks_to_far_too_much_is_refused() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&vec![b'1'; 1 << 20]).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(unpack_within(&packed, (1 << 20) - 1).unwrap_err(), Fault::TooLarge);
        assert_eq!(unpack_within(&packed, 1 << 20).unwrap().len(), 1 << 20);
        assert_eq!(unpack_within(b"0123", 3).unwrap_err(), Fault::TooLarge);
    }
}

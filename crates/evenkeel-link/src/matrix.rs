//! Measured delays between many places: [`LatencyMatrix`].

use crate::conditions::MAX_DELAY;
use evenkeel::Duration;
use flate2::read::GzDecoder;
use std::fmt;
use std::io::Read;

/// The round-trip times between every two of a number of places.
///
/// It is read from comma-separated values in milliseconds: row i, column j is the round trip from i to j. A first row
/// and first column of names are recognised. The text may be compressed by gzip.
///
/// ```
/// use evenkeel_link::LatencyMatrix;
/// let matrix = LatencyMatrix::parse(b"city,Oslo,Lima\nOslo,0,210.5\nLima,211,0\n")?;
/// assert_eq!(matrix.names(), ["Oslo", "Lima"]);
/// assert_eq!(matrix.one_way(0, 1).map(|delay| delay.as_micros()), Some(105_250));
/// # Ok::<(), evenkeel_link::MatrixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyMatrix {
    names: Vec<String>,
    /// Row by row.
    round_trips: Vec<Duration>,
}

/// More text than this, compressed or not, is no latency matrix: 490 places take 1.6 MB.
const MAX_TEXT_BYTES: u64 = 256 << 20;

impl LatencyMatrix {
    /// Reads a square table of round-trip times in milliseconds, plain or compressed by gzip.
    pub fn parse(bytes: &[u8]) -> Result<Self, MatrixError> {
        let mut unpacked = Vec::new();
        let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut reader = GzDecoder::new(bytes).take(MAX_TEXT_BYTES);
            reader.read_to_end(&mut unpacked).map_err(|error| MatrixError::Gzip(error.to_string()))?;
            &unpacked
        } else {
            bytes
        };
        if bytes.len() as u64 >= MAX_TEXT_BYTES {
            return Err(MatrixError::TooLarge);
        }
        Self::from_csv(std::str::from_utf8(bytes).map_err(|_| MatrixError::NotText)?)
    }

    fn from_csv(text: &str) -> Result<Self, MatrixError> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()).peekable();
        let (_, first) = lines.peek().ok_or(MatrixError::Empty)?;
        // The first cell may be anything in a table with names, even a number; the second cannot.
        let second = first.split(',').nth(1).unwrap_or(first);
        let named = second.trim().parse::<f64>().is_err();
        let mut names: Vec<String> = Vec::new();
        if let Some((_, header)) = lines.next_if(|_| named) {
            names = header.split(',').skip(1).map(|name| name.trim().to_owned()).collect();
        }
        let mut round_trips = Vec::new();
        let mut rows = 0;
        let mut columns = names.len();
        for (line, text) in lines {
            let before = round_trips.len();
            for cell in text.split(',').skip(usize::from(named)) {
                round_trips.push(round_trip(line, cell.trim())?);
            }
            let found = round_trips.len() - before;
            columns = if rows == 0 && !named { found } else { columns };
            rows += 1;
            if found != columns {
                return Err(MatrixError::Ragged { line, found, columns });
            }
        }
        if rows == 0 && columns == 0 {
            return Err(MatrixError::Empty);
        }
        if rows != columns {
            return Err(MatrixError::NotSquare { rows, columns });
        }
        if !named {
            names = (0..rows).map(|i| i.to_string()).collect();
        }
        Ok(Self { names, round_trips })
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The places' names; numbers from 0 if the table has none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the place with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The round-trip time from one place to another and back, as measured at the first. Nothing if there is no such
    /// place.
    pub fn round_trip(&self, from: usize, to: usize) -> Option<Duration> {
        if to >= self.len() {
            return None;
        }
        self.round_trips.get(from.checked_mul(self.len())?.checked_add(to)?).copied()
    }

    /// The delay from one place to another: half the round trip, for lack of a better guess.
    pub fn one_way(&self, from: usize, to: usize) -> Option<Duration> {
        Some(self.round_trip(from, to)? / 2)
    }

    /// The matrix of some of the places, in the order given. Nothing if there is no such place.
    pub fn select(&self, places: &[usize]) -> Option<Self> {
        let names = places.iter().map(|i| self.names.get(*i).cloned()).collect::<Option<_>>()?;
        let pairs = places.iter().flat_map(|from| places.iter().map(|to| (*from, *to)));
        let round_trips = pairs.map(|(from, to)| self.round_trip(from, to)).collect::<Option<_>>()?;
        Some(Self { names, round_trips })
    }
}

fn round_trip(line: usize, cell: &str) -> Result<Duration, MatrixError> {
    let wrong = |problem| MatrixError::Cell { line, cell: cell.chars().take(40).collect(), problem };
    let millis: f64 = cell.parse().map_err(|_| wrong("is not a number"))?;
    if !millis.is_finite() {
        return Err(wrong("is not a finite number"));
    }
    if millis < 0.0 {
        return Err(wrong("is negative"));
    }
    let round_trip = Duration::from_secs_f64(millis / 1e3);
    if round_trip > MAX_DELAY { Err(wrong("is more than an hour")) } else { Ok(round_trip) }
}

/// Why a text is no [`LatencyMatrix`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixError {
    /// The compressed text does not unpack.
    Gzip(String),
    /// It is not text.
    NotText,
    /// There is nothing in it.
    Empty,
    /// There is far too much in it.
    TooLarge,
    /// A cell that is no round-trip time.
    Cell {
        /// Counted from 1.
        line: usize,
        /// What stands there.
        cell: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A row that is longer or shorter than the first.
    Ragged {
        /// Counted from 1.
        line: usize,
        /// How many values the line has.
        found: usize,
        /// How many it should have.
        columns: usize,
    },
    /// Not as many rows as columns.
    NotSquare {
        /// How many rows.
        rows: usize,
        /// How many columns.
        columns: usize,
    },
}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gzip(problem) => write!(f, "the compressed latency matrix does not unpack: {problem}"),
            Self::NotText => f.write_str("the latency matrix is not UTF-8 text"),
            Self::Empty => f.write_str("the latency matrix is empty"),
            Self::TooLarge => write!(f, "the latency matrix has more than {MAX_TEXT_BYTES} bytes"),
            Self::Cell { line, cell, problem } => write!(f, "line {line}: \"{cell}\" {problem}"),
            Self::Ragged { line, found, columns } => {
                write!(f, "line {line}: {found} values, but there are {columns} places")
            }
            Self::NotSquare { rows, columns } => {
                write!(f, "the latency matrix has {rows} rows but {columns} columns; it must be square")
            }
        }
    }
}

impl std::error::Error for MatrixError {}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_packed_with_and_without_names() {
        let plain = b"0, 10.5 ,3\r\n10.5,0,7\r\n3,7,0\r\n\r\n";
        let matrix = LatencyMatrix::parse(plain).unwrap();
        assert_eq!(matrix.len(), 3);
        assert_eq!(matrix.names(), ["0", "1", "2"]);
        assert_eq!(matrix.one_way(0, 1), Some(Duration::from_micros(5250)));
        assert_eq!((matrix.one_way(0, 3), matrix.one_way(3, 0), matrix.one_way(usize::MAX, 2)), (None, None, None));
        assert_eq!(LatencyMatrix::parse(&gzip(plain)), Ok(matrix.clone()));
        let two = matrix.select(&[2, 1]).unwrap();
        assert_eq!((two.names(), two.round_trip(0, 1)), (&["2".into(), "1".into()][..], matrix.round_trip(2, 1)));
        assert_eq!(matrix.select(&[0, 3]), None);
        let named = LatencyMatrix::parse(b"1,a,b\na,1,2\nb,3,4\n").unwrap();
        assert_eq!(named.position("b"), Some(1));
        assert_eq!(named.round_trip(1, 0), Some(Duration::from_millis(3)));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, said) in [
            (&b""[..], "empty"),
            (b"name\n", "empty"),
            (b"0,1\n1,x\n", "line 2: \"x\" is not a number"),
            (b"0,1\n-1,0\n", "line 2: \"-1\" is negative"),
            (b"0,1\nNaN,0\n", "line 2: \"NaN\" is not a finite number"),
            (b"0,1\n1,0,3\n", "line 2: 3 values, but there are 2 places"),
            (b"0,1\n\n1,0\n2,3\n", "3 rows but 2 columns"),
            (b"n,a,b\na,0\n", "line 2: 1 values"),
            (b"0,1\n1e99,0", "more than an hour"),
            (b"\xff\xfe", "not UTF-8"),
            (b"\x1f\x8bnonsense..", "does not unpack"),
        ] {
            let message = LatencyMatrix::parse(text).unwrap_err().to_string();
            assert!(message.contains(said), "{message:?} should contain {said:?}");
        }
        assert!(LatencyMatrix::parse(&gzip(b"0,1\n1,0\n")[..20]).is_err());
    }

    proptest! {
        #[test]
        fn hostile_input_never_panics(bytes: Vec<u8>, text in "[0-9.,\n a-]{0,60}") {
            let _ = LatencyMatrix::parse(&bytes);
            let _ = LatencyMatrix::parse(text.as_bytes());
        }
    }
}

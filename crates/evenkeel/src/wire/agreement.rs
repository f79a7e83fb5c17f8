//! [`Agreement`]: everything that the two ends must hold alike.

use super::datagram::{DatagramError, KIND_AGREEMENT, end, expect, start};
use super::{BitReader, BitWriter, Format, FormatError, Full, WireError};
use crate::ledger::{ClockRule, Placing};
use crate::time::Duration;
use core::fmt;

/// The most bytes an agreement takes when emitted.
pub const AGREEMENT_BYTES: usize = 288;

/// What a sender and its receivers must hold alike: how motions are written, how they are placed, and which constraint corrects
/// them. It is one value with one [`fingerprint`](Self::fingerprint), compared when the two meet.
///
/// Send it to the other end by the game's own means, and give it to
/// [`Receiver::add_sender`](crate::Receiver::add_sender), which says what differs, if anything does. If two ends meet without that,
/// they find out by the fingerprint in the first datagrams, refuse to go on, tell each other theirs, and report the
/// [`Difference`] as an event on both ends.
///
/// The format, the bound on extrapolation and the constraint hold for as long as the two talk. The lag and the clock rule may change
/// meanwhile: receipts say which a receiver holds to, and a sender that finds others than its own for some seconds asks.
///
/// ```
/// use evenkeel::wire::Agreement;
/// use evenkeel::{Duration, Placing, Sender, SenderConfig};
/// let ours = Sender::new(SenderConfig::default())?.agreement();
/// let longer = Placing { max_age: Duration::from_secs(10), ..Placing::default() };
/// let theirs = Agreement { placing: longer, ..ours };
/// let difference = ours.difference(&theirs).expect("they differ");
/// assert_eq!(difference.to_string(), "max_age is 3000 ms here and 10000 ms there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Agreement {
    /// Precision and bounds on the wire.
    pub format: Format,
    /// Clock rule, lag, and how far things are extrapolated.
    pub placing: Placing,
    /// The [`id`](crate::Constraint::id) of the constraint; 0 for none.
    pub constraint: u64,
}

/// A field in which two agreements differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which field, as [`Format`], [`Placing`] and [`Agreement`] call it.
    pub field: &'static str,
    /// What this end has.
    pub ours: Value,
    /// What the other end has.
    pub theirs: Value,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A number, as the bits of its `f64`.
    Number(u64),
    /// A count.
    Count(u32),
    /// A span of time.
    Span(Duration),
    /// Yes or no.
    Flag(bool),
    /// A clock rule.
    Rule(ClockRule),
    /// The name of a constraint; 0 for none.
    Constraint(u64),
    /// Whether a law of motion is known, by its id.
    Law {
        /// Which.
        id: u8,
        /// Whether it is known.
        known: bool,
    },
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(bits) => write!(f, "{}", f64::from_bits(*bits)),
            Self::Count(count) => write!(f, "{count}"),
            Self::Span(span) => write!(f, "{span}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Rule(rule) => write!(f, "{rule:?}"),
            Self::Constraint(0) => write!(f, "none"),
            Self::Constraint(id) => write!(f, "{id:#x}"),
            Self::Law { id, known: true } => write!(f, "with law {id}"),
            Self::Law { id, known: false } => write!(f, "without law {id}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} here and {} there", self.field, self.ours, self.theirs)
    }
}

impl core::error::Error for Difference {}

/// Who sends an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Sender,
    Receiver,
}

impl Agreement {
    /// Stands for all that must not differ for as long as two ends talk: the format, the bound on extrapolation, the constraint.
    pub fn fingerprint(&self) -> u64 {
        let fixed = Self { placing: Placing { max_age: self.placing.max_age, ..Placing::default() }, ..*self };
        let mut buffer = [0; AGREEMENT_BYTES];
        let mut w = BitWriter::new(&mut buffer);
        // It fits: see the constant.
        let _ = fixed.emit(&mut w);
        hash(w.as_bytes())
    }

    /// Stands for what may change: the clock rule and the lag. Two ends that hold to different ones find out by it, but for one
    /// case in 256.
    pub fn terms(&self) -> u8 {
        let mut bytes = [self.placing.rule as u8; 9];
        bytes[1..].copy_from_slice(&self.placing.lag.as_nanos().to_le_bytes());
        (hash(&bytes) >> 56) as u8
    }

    /// The first field in which two ends differ: the fixed ones first.
    pub fn difference(&self, theirs: &Self) -> Option<Difference> {
        let (a, b) = (&self.placing, &theirs.placing);
        self.format
            .difference(&theirs.format)
            .or_else(|| differ("max_age", a.max_age, b.max_age, Value::Span))
            .or_else(|| differ("constraint", self.constraint, theirs.constraint, Value::Constraint))
            .or_else(|| differ("rule", a.rule, b.rule, Value::Rule))
            .or_else(|| differ("lag", a.lag, b.lag, Value::Span))
    }

    /// The same for the fixed fields alone: what may change is still under way, perhaps.
    pub fn fixed_difference(&self, theirs: &Self) -> Option<Difference> {
        let Placing { rule, lag, .. } = self.placing;
        self.difference(&Self { placing: Placing { rule, lag, ..theirs.placing }, ..*theirs })
    }

    /// Writes it, for the other end to compare.
    pub fn emit(&self, w: &mut BitWriter<'_>) -> Result<(), Full> {
        self.format.emit(w)?;
        w.push(self.placing.rule as u64, 8)?;
        w.push(self.placing.lag.as_nanos() as u64, 64)?;
        w.push(self.placing.max_age.as_nanos() as u64, 64)?;
        w.push(self.constraint, 64)
    }

    /// Reads what [`emit`](Self::emit) wrote. The laws it names are known by their ids only.
    pub fn parse(r: &mut BitReader<'_>) -> Result<Self, FormatError> {
        let format = Format::parse(r)?;
        let mut pull = |bits| r.pull(bits).map_err(|_| FormatError::Malformed);
        let rule = match pull(8)? {
            0 => ClockRule::Global,
            1 => ClockRule::Local,
            2 => ClockRule::OneWay,
            _ => return Err(FormatError::Malformed),
        };
        let lag = Duration::from_nanos(pull(64)? as i64);
        let max_age = Duration::from_nanos(pull(64)? as i64);
        Ok(Self { format, placing: Placing { rule, lag, max_age }, constraint: pull(64)? })
    }

    /// Writes a datagram with it, which asks the other end for its own or does not.
    pub(crate) fn emit_alone(&self, by: By, asks: bool, w: &mut BitWriter<'_>) -> Result<(), Full> {
        start(KIND_AGREEMENT, w)?;
        w.flag(by == By::Receiver)?;
        w.flag(asks)?;
        w.push(0, 6)?;
        self.emit(w)
    }

    /// Reads such a datagram: whether it asks, and what it says.
    pub(crate) fn parse_alone(by: By, r: &mut BitReader<'_>) -> Result<(bool, Self), DatagramError> {
        expect(&[KIND_AGREEMENT], r)?;
        if r.flag()? != (by == By::Receiver) {
            return Err(DatagramError::UnknownKind(KIND_AGREEMENT));
        }
        let asks = r.flag()?;
        if r.pull(6)? != 0 {
            return Err(WireError::NotCanonical.into());
        }
        let agreement = Self::parse(r).map_err(|_| WireError::NotCanonical)?;
        end(r)?;
        Ok((asks, agreement))
    }
}

pub(super) fn differ<T: PartialEq + Copy>(
    field: &'static str,
    ours: T,
    theirs: T,
    value: fn(T) -> Value,
) -> Option<Difference> {
    (ours != theirs).then(|| Difference { field, ours: value(ours), theirs: value(theirs) })
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    fn agreement() -> impl Strategy<Value = Agreement> {
        let spans = (0..2_000_000_000i64, 1..20_000_000_000i64);
        (samples::format(), 0..3usize, spans, any::<u64>()).prop_map(|(format, rule, (lag, max_age), constraint)| {
            let rule = [ClockRule::Global, ClockRule::Local, ClockRule::OneWay][rule];
            let (lag, max_age) = (Duration::from_nanos(lag), Duration::from_nanos(max_age));
            Agreement { format, placing: Placing { rule, lag, max_age }, constraint }
        })
    }

    proptest! {
        #[test]
        fn an_agreement_survives_the_wire(a in agreement(), asks: bool) {
            let mut buffer = [0; AGREEMENT_BYTES];
            let mut w = BitWriter::new(&mut buffer);
            a.emit_alone(By::Receiver, asks, &mut w).unwrap();
            let read = Agreement::parse_alone(By::Receiver, &mut BitReader::new(w.as_bytes())).unwrap();
            prop_assert_eq!(read, (asks, a));
            prop_assert!(Agreement::parse_alone(By::Sender, &mut BitReader::new(w.as_bytes())).is_err());
        }

        #[test]
        fn fingerprints_differ_where_fields_do(a in agreement(), b in agreement()) {
            prop_assert_eq!(a.fingerprint() == b.fingerprint(), a.fixed_difference(&b).is_none());
            prop_assert_eq!(a.difference(&b).is_none(), a == b);
        }

        #[test]
        fn any_bytes_are_an_error_or_valid(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Agreement::parse(&mut BitReader::new(&bytes));
            let _ = Agreement::parse_alone(By::Sender, &mut BitReader::new(&bytes));
        }
    }

    #[test]
    fn every_field_is_named_with_both_values() {
        let ours = Agreement::default();
        let format = |change: fn(&mut Format)| {
            let mut theirs = ours;
            change(&mut theirs.format);
            ours.difference(&theirs).unwrap().to_string()
        };
        assert_eq!(format(|f| f.position_step = 0.02), "position_step is 0.005 here and 0.02 there");
        assert_eq!(format(|f| f.lossless = true), "lossless is false here and true there");
        assert_eq!(format(|f| f.gravity.z = -1.5), "gravity.z is -9.81 here and -1.5 there");
        let laws = super::super::Laws::new(&samples::LAWS);
        let theirs = Agreement { format: Format { laws, ..ours.format }, ..ours };
        assert_eq!(ours.difference(&theirs).unwrap().to_string(), "laws is without law 3 here and with law 3 there");
        let theirs = Agreement { constraint: 0xBEEF, ..ours };
        assert_eq!(ours.difference(&theirs).unwrap().to_string(), "constraint is none here and 0xbeef there");
        let lag = Duration::from_millis(100);
        let theirs = Agreement { placing: Placing { lag, ..ours.placing }, ..ours };
        assert_eq!(ours.difference(&theirs).unwrap().field, "lag");
        assert_eq!(ours.fixed_difference(&theirs), None);
        assert_ne!(ours.terms(), theirs.terms());
    }
}

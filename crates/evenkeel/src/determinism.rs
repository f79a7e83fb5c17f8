//! A determinism checker for users: run something twice, compare everything it did.
//!
//! The heart is deterministic: equal inputs give equal bytes. A game built on it is only as deterministic as its own code.
//! [`check`] runs a closure twice with a [`Transcript`] to write in and reports the first entry that differs.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::hash::Hasher;
use siphasher::sip128::{Hasher128, SipHasher13};

/// What a run did, as a sequence of hashed entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    entries: Vec<u128>,
}

impl Transcript {
    /// Notes bytes: a datagram, a saved state.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut hasher = SipHasher13::new();
        hasher.write(bytes);
        self.entries.push(hasher.finish128().as_u128());
    }

    /// Notes anything printable: an event, a placement. Floating-point numbers are told apart down to the last bit.
    pub fn event(&mut self, event: &impl fmt::Debug) {
        let mut text = String::new();
        // Writing to a string cannot fail; an event whose own formatting fails is noted as far as it got.
        let _ = write!(text, "{event:?}");
        self.bytes(text.as_bytes());
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// One number for all of it: pin it in a test to notice any change.
    pub fn digest(&self) -> u128 {
        let mut hasher = SipHasher13::new();
        for entry in &self.entries {
            hasher.write_u128(*entry);
        }
        hasher.finish128().as_u128()
    }

    /// Where two transcripts part, if they do.
    pub fn compare(&self, other: &Self) -> Result<(), Divergence> {
        let parts = self.entries.iter().zip(&other.entries).position(|(a, b)| a != b);
        let shorter = self.len().min(other.len());
        match parts {
            Some(entry) => Err(Divergence { entry }),
            None if self.len() != other.len() => Err(Divergence { entry: shorter }),
            None => Ok(()),
        }
    }
}

/// Two runs of the same thing differed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The first entry, counted from 0, that differs or that only one run has.
    pub entry: usize,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two runs with the same input differ, first in entry {} of their transcripts", self.entry)
    }
}

impl core::error::Error for Divergence {}

/// One number for a state, from whatever is written into the hasher: equal writes give equal numbers, on every machine and in
/// every run.
///
/// ```
/// use core::hash::Hasher;
/// use evenkeel::determinism::digest;
/// let of = |x: f64| digest(|hasher| hasher.write_u64(x.to_bits()));
/// assert_eq!(of(0.5), of(0.5));
/// assert_ne!(of(0.1 + 0.2), of(0.3));
/// ```
pub fn digest(write: impl FnOnce(&mut dyn Hasher)) -> u64 {
    let mut hasher = SipHasher13::new();
    write(&mut hasher);
    hasher.finish128().h1
}

/// Runs something twice and compares what it noted. Answers the digest both runs agree on.
///
/// ```
/// use evenkeel::determinism::check;
/// let digest = check(|transcript| transcript.event(&(0.1 + 0.2)))?;
/// assert_eq!(digest, check(|transcript| transcript.event(&0.30000000000000004))?);
///
/// let mut runs = 0;
/// let error = check(|transcript| {
///     runs += 1;
///     transcript.bytes(b"same");
///     transcript.event(&runs);
/// })
/// .unwrap_err();
/// assert_eq!(error.entry, 1);
/// # Ok::<(), evenkeel::determinism::Divergence>(())
/// ```
pub fn check(mut run: impl FnMut(&mut Transcript)) -> Result<u128, Divergence> {
    let (mut first, mut second) = (Transcript::default(), Transcript::default());
    run(&mut first);
    run(&mut second);
    first.compare(&second)?;
    Ok(first.digest())
}

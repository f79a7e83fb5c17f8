//! Texts in fields of fixed size.

use std::fmt;

/// A text in a field of `N` bytes, filled up with zeros. Whatever stands after the first zero is kept, but is not shown.
///
/// ```
/// use evenkeel_bzflag::message::Text;
/// let callsign = Text::<32>::new("tester");
/// assert_eq!(callsign.to_string(), "tester");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize>(pub [u8; N]);

impl<const N: usize> Text<N> {
    /// The beginning of a text, so much of it that a zero fits in at the end.
    pub fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        let length = text.floor_char_boundary(N.saturating_sub(1));
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self(bytes)
    }

    /// What stands before the first zero.
    pub fn bytes(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.bytes()).fmt(f)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.bytes().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_the_first_zero_or_with_the_field() {
        assert_eq!(Text(*b"ab\0d").to_string(), "ab");
        assert_eq!(Text(*b"abcd").to_string(), "abcd");
        assert_eq!(Text(*b"a\xff\0\0").to_string(), "a\u{fffd}");
        assert_eq!(Text::<4>::new("abcdef"), Text(*b"abc\0"));
        // Not half of a letter.
        assert_eq!(Text::<4>::new("abé"), Text(*b"ab\0\0"));
        assert_eq!(Text::<0>::new("abc"), Text([]));
    }
}

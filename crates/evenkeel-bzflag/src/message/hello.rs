//! The first bytes of a connection, before any frame.

use super::MessageError;

/// What a client says first. The server drops a client that sends much more before it has answered.
pub const CLIENT_HELLO: &[u8; 10] = b"BZFLAG\r\n\r\n";

/// What a server says first: the protocol.
pub const VERSION: &[u8; 8] = b"BZFS0221";

const REFUSED: &[u8; 8] = b"REFUSED:";

/// Whether a connection begins with a client's hello: how many bytes it took, or nothing if they are not all there.
///
/// ```
/// use evenkeel_bzflag::message::client_hello;
/// assert_eq!(client_hello(b"BZFLAG\r\n\r\n"), Ok(Some(10)));
/// assert_eq!(client_hello(b"BZFL"), Ok(None));
/// assert!(client_hello(b"GET / HTTP/1.1").is_err());
/// ```
pub fn client_hello(bytes: &[u8]) -> Result<Option<usize>, MessageError> {
    begins_with(bytes, CLIENT_HELLO).map(|whole| whole.then_some(CLIENT_HELLO.len()))
}

/// What a server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerHello {
    /// The client is player `id` from now on.
    Welcome {
        /// The player's number.
        id: u8,
    },
    /// There is no room.
    Full,
    /// The client is banned; the reason is the rest of the stream.
    Refused,
}

impl ServerHello {
    /// Reads it, with how many bytes it took; nothing if they are not all there.
    ///
    /// ```
    /// use evenkeel_bzflag::message::ServerHello;
    /// assert_eq!(ServerHello::parse(b"BZFS0221\x03\0\x08"), Ok(Some((ServerHello::Welcome { id: 3 }, 9))));
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, MessageError> {
        if !bytes.is_empty() && begins_with(bytes, REFUSED).is_ok() {
            return Ok((bytes.len() >= REFUSED.len()).then_some((Self::Refused, REFUSED.len())));
        }
        begins_with(bytes, VERSION)?;
        Ok(bytes.get(VERSION.len()).map(|&id| match id {
            0xff => (Self::Full, VERSION.len() + 1),
            id => (Self::Welcome { id }, VERSION.len() + 1),
        }))
    }
}

/// Whether all of `expected` is there; an error if something else is.
fn begins_with(bytes: &[u8], expected: &[u8]) -> Result<bool, MessageError> {
    let begun = &bytes[..bytes.len().min(expected.len())];
    if expected.starts_with(begun) {
        Ok(begun.len() == expected.len())
    } else {
        Err(MessageError::NoHello { found: begun.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hellos_are_waited_for_until_they_are_whole() {
        for length in 0..9 {
            assert_eq!(ServerHello::parse(&b"BZFS0221\x02"[..length]), Ok(None));
            assert_eq!(client_hello(&CLIENT_HELLO[..length]), Ok(None));
        }
        assert_eq!(ServerHello::parse(b"BZFS0221\xff"), Ok(Some((ServerHello::Full, 9))));
        assert_eq!(ServerHello::parse(b"REFUSED"), Ok(None));
        assert_eq!(ServerHello::parse(b"REFUSED: cheating"), Ok(Some((ServerHello::Refused, 8))));
        assert_eq!(client_hello(b"BZFLAG\r\n\r\nxx"), Ok(Some(10)));
    }

    #[test]
    fn other_protocols_and_versions_are_noticed_at_once() {
        let no_hello = |found: &[u8]| MessageError::NoHello { found: found.to_vec() };
        assert_eq!(client_hello(b"BZ\n"), Err(no_hello(b"BZ\n")));
        assert_eq!(ServerHello::parse(b"BZFS0220\x02"), Err(no_hello(b"BZFS0220")));
    }
}

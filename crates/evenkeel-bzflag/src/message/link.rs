//! Messages about the connection itself.

use super::bytes::emit_with;
use super::{Code, Frame, MessageError};

/// The server asks for an echo of a number, over UDP if it can; the client sends the same message back, over TCP always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagPing(pub u16);

impl LagPing {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::LAG_PING)?;
        let ping = Self(bytes.u16("the number of the ping")?);
        bytes.end().map(|()| ping)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::LAG_PING, |out| out.extend_from_slice(&self.0.to_be_bytes()));
    }
}

/// A client's first packet over UDP: from now on its address and port are the player's. It is sent but once, and without it
/// the player stays on TCP. (The server answers by the same message without a payload.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpLinkRequest(pub u8);

impl UdpLinkRequest {
    /// Reads it.
    pub fn parse(frame: Frame<'_>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::UDP_LINK_REQUEST)?;
        let request = Self(bytes.u8("the player")?);
        bytes.end().map(|()| request)
    }

    /// Appends it as a whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        emit_with(out, Code::UDP_LINK_REQUEST, |out| out.push(self.0));
    }
}

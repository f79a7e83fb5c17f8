//! Messages about the connection itself.

use super::bytes::emit_with;
use super::{Code, Frame, MessageError};

/// The server asks for an echo of a number; the client sends the same message back. Both go over UDP if they can.
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

/// The first packet over UDP, either way: from now on this address and port belong to the player. The client sends it but
/// once, and without it stays on TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpLinkRequest(pub u8);

impl UdpLinkRequest {
    /// Reads what a client sends.
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

//! A WebTransport session on a QUIC connection: what HTTP/3 wants to be said before and around it.
//!
//! `web-transport-proto` knows the frames. The connection is ours, so that one socket can both dial and accept, and so
//! that the reason for which a connection ended is QUIC's own.

use super::Error;
use super::arrivals::Arrivals;
use bytes::{BufMut, Bytes, BytesMut};
use quinn::{RecvStream, SendStream};
use std::sync::Arc;
use std::time::Instant;
use url::Url;
use web_transport_proto::{
    Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Http3CapsuleReader, Settings, StreamUni, VarInt,
};

/// What both sides must have agreed on in TLS.
pub(super) const ALPN: &[u8] = b"h3";

/// A session is named by the stream that asked for it, and that is the first of the connection.
const SESSION: VarInt = VarInt::from_u32(0);

/// HTTP/3's `H3_NO_ERROR`: what the peer has to know is in the reason.
pub(super) const NO_ERROR: quinn::VarInt = quinn::VarInt::from_u32(0x100);

/// How long the name of the session is in front of a datagram.
const DATAGRAM_HEADER: usize = 1;

/// A session, open as long as its QUIC connection is.
pub(super) struct Session {
    quic: quinn::Connection,
    arrivals: Arc<Arrivals>,
    /// To close one of these would be to close the connection.
    _kept: ((SendStream, RecvStream), SendStream),
}

/// What the peer says about the session itself.
pub(super) type Capsules = Http3CapsuleReader<RecvStream>;

impl Session {
    /// Asks for a session on a new connection.
    pub async fn connect(
        quic: quinn::Connection,
        url: Url,
        arrivals: Arc<Arrivals>,
    ) -> Result<(Self, Capsules), Error> {
        let failed = |why: String| match quic.close_reason() {
            Some(reason) => explain(reason),
            None => Error::Unreachable(why),
        };
        let control = greet(&quic).await.map_err(&failed)?;
        let (mut send, mut receive) = quic.open_bi().await.map_err(|error| failed(error.to_string()))?;
        ConnectRequest::new(url).write(&mut send).await.map_err(|error| failed(error.to_string()))?;
        match ConnectResponse::read(&mut receive).await {
            Ok(_) => Ok((Self { quic, arrivals, _kept: (control, send) }, Http3CapsuleReader::new(receive))),
            Err(ConnectError::WrongStatus(_)) => Err(Error::Refused("it takes no session at this path".into())),
            Err(other) => Err(failed(other.to_string())),
        }
    }

    /// Grants a session to whoever asks for one, and says for which path.
    pub async fn accept(quic: quinn::Connection, arrivals: Arc<Arrivals>) -> Option<(Self, Capsules, String)> {
        let control = greet(&quic).await.ok()?;
        let (mut send, mut receive) = quic.accept_bi().await.ok()?;
        let request = ConnectRequest::read(&mut receive).await.ok()?;
        ConnectResponse::OK.write(&mut send).await.ok()?;
        let path = asked_for(&request.url);
        Some((Self { quic, arrivals, _kept: (control, send) }, Http3CapsuleReader::new(receive), path))
    }

    /// The connection beneath.
    pub fn quic(&self) -> &quinn::Connection {
        &self.quic
    }

    /// When that came in which is read now, as near to the socket as can be told.
    pub fn stamp(&self) -> Instant {
        self.arrivals.stamp(self.quic.remote_address(), Instant::now())
    }

    /// Closes the connection at once.
    pub fn hang_up(&self, reason: &str) {
        self.quic.close(NO_ERROR, reason.as_bytes());
    }

    /// The longest datagram at present.
    pub fn max_datagram(&self) -> usize {
        self.quic.max_datagram_size().unwrap_or(0).saturating_sub(DATAGRAM_HEADER)
    }

    /// Hands a datagram to QUIC, which drops the oldest if there are too many.
    pub fn send_datagram(&self, bytes: &[u8]) -> Result<(), quinn::SendDatagramError> {
        let mut datagram = BytesMut::with_capacity(DATAGRAM_HEADER + bytes.len());
        SESSION.encode(&mut datagram);
        datagram.put_slice(bytes);
        self.quic.send_datagram(datagram.freeze())
    }

    /// The next datagram of this session.
    pub async fn read_datagram(&self) -> Result<Bytes, quinn::ConnectionError> {
        loop {
            let mut datagram = self.quic.read_datagram().await?;
            // Others belong to nobody here, and HTTP/3 says to drop them.
            if VarInt::decode(&mut datagram) == Ok(SESSION) {
                return Ok(datagram);
            }
        }
    }

    /// Opens a stream in both directions.
    pub async fn open_bi(&self) -> Option<(SendStream, RecvStream)> {
        let (mut send, receive) = self.quic.open_bi().await.ok()?;
        send.write_all(&header(Frame::WEBTRANSPORT.0)).await.ok()?;
        Some((send, receive))
    }

    /// Opens a stream in one direction as soon as the peer allows for one more.
    pub async fn open_uni(&self) -> Result<SendStream, quinn::WriteError> {
        let mut send = self.quic.open_uni().await?;
        send.write_all(&header(StreamUni::WEBTRANSPORT.0)).await?;
        Ok(send)
    }

    /// The next stream in both directions that the peer has opened.
    pub async fn accept_bi(&self) -> Option<(SendStream, RecvStream)> {
        loop {
            let (send, mut receive) = self.quic.accept_bi().await.ok()?;
            if is_ours(&mut receive, Frame::WEBTRANSPORT.0).await {
                return Some((send, receive));
            }
        }
    }
}

/// Tells the peer that WebTransport is spoken here, and hears the same from it.
async fn greet(quic: &quinn::Connection) -> Result<(SendStream, RecvStream), String> {
    let say = async {
        let mut control = quic.open_uni().await.map_err(|error| error.to_string())?;
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        settings.write(&mut control).await.map_err(|error| error.to_string())?;
        Ok(control)
    };
    let hear = async {
        let mut control = quic.accept_uni().await.map_err(|error| error.to_string())?;
        let settings = Settings::read(&mut control).await.map_err(|error| error.to_string())?;
        if settings.supports_webtransport() == 0 {
            return Err("it does not speak WebTransport".into());
        }
        Ok(control)
    };
    tokio::try_join!(say, hear)
}

/// What stands in front of a stream of the session.
fn header(kind: VarInt) -> Bytes {
    let mut header = BytesMut::new();
    kind.encode(&mut header);
    SESSION.encode(&mut header);
    header.freeze()
}

async fn is_ours(stream: &mut RecvStream, kind: VarInt) -> bool {
    VarInt::read(stream).await == Ok(kind) && VarInt::read(stream).await == Ok(SESSION)
}

/// What a stream in one direction is for.
pub(super) enum Kind {
    /// It carries a message of this session.
    Message,
    /// HTTP/3 needs it for itself, and forbids to close it.
    Critical,
    /// Nobody here knows.
    Unknown,
}

/// Finds out what a stream in one direction is for.
pub(super) async fn kind(stream: &mut RecvStream) -> Kind {
    match VarInt::read(stream).await.map(StreamUni) {
        Ok(StreamUni::WEBTRANSPORT) if VarInt::read(stream).await == Ok(SESSION) => Kind::Message,
        Ok(StreamUni::QPACK_ENCODER | StreamUni::QPACK_DECODER) => Kind::Critical,
        _ => Kind::Unknown,
    }
}

/// The path and the query of a URL.
pub(super) fn asked_for(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

/// Waits until the peer closes the session, and gives its reason; nothing if the connection is lost.
pub(super) async fn dismissed(mut capsules: Capsules) -> Option<String> {
    loop {
        match capsules.read().await {
            Ok(Some(Capsule::CloseWebTransportSession { reason, .. })) => return Some(reason),
            Ok(Some(_)) => {}
            // The end of the stream is the end of the session.
            Ok(None) => return Some(String::new()),
            Err(_) => return None,
        }
    }
}

/// What a failed attempt to connect means to whoever tried.
pub(super) fn explain(error: quinn::ConnectionError) -> Error {
    use quinn::ConnectionError::{ApplicationClosed, ConnectionClosed, TimedOut};
    match error {
        TimedOut => Error::TimedOut,
        ApplicationClosed(close) => Error::Refused(String::from_utf8_lossy(&close.reason).into_owned()),
        ConnectionClosed(close) => Error::Refused(close.to_string()),
        // TLS names what it dislikes.
        other if other.to_string().contains("certificate") => Error::Untrusted(other.to_string()),
        other => Error::Unreachable(other.to_string()),
    }
}

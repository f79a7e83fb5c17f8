//! The carrier of last resort, where UDP is blocked: a WebSocket over TLS.
//!
//! `tokio-tungstenite` rather than a web server's upgrade: there is nothing to be served but the socket, and it brings the
//! handshake, the frames and nothing else. TLS is rustls', as QUIC's is.

use super::connection::{Core, Feeding, SocketFacts, Wire};
use super::queue::{Outbox, weight};
use super::webtransport::shortened;
use super::{Closed, Error, LINGER, Limits, SendError, What};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

/// About what fits into a packet of QUIC's, so that games need not tell the carriers apart.
pub(super) const MAX_DATAGRAM: usize = 1200;

/// What the kernel may hold back of a socket: beyond, datagrams wait where we see them and can refuse more of them.
pub(super) const KERNEL_BUFFER: u32 = 64 * 1024;

/// So much is written between two looks at whether the socket takes it.
const BATCH: usize = 16 * 1024;

/// The longest reason that a close frame can hold.
const LONGEST_REASON: usize = 123;

const DATAGRAM: u8 = 0;
const MESSAGE: u8 = 1;
const UNORDERED: u8 = 2;

pub(super) type Socket = WebSocketStream<TlsStream<TcpStream>>;

/// How long silence may last.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub idle: Duration,
    pub keep_alive: Duration,
}

pub(super) fn send_datagram(outbox: &Outbox, bytes: &[u8]) -> Result<(), SendError> {
    if bytes.len() > MAX_DATAGRAM {
        return Err(SendError::TooLarge { limit: MAX_DATAGRAM });
    }
    outbox.push(What::Datagram(Bytes::copy_from_slice(bytes)))
}

/// The server's part of the handshake. Gives the path that was asked for.
pub(super) async fn accept(tls: TlsAcceptor, stream: TcpStream, limits: Limits) -> Option<(Socket, String)> {
    stream.set_nodelay(true).ok()?;
    let stream = tls.accept(stream).await.ok()?;
    let mut path = String::new();
    // The library's error holds a whole response, and its callback must return it.
    #[allow(clippy::result_large_err)]
    let note = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        path = asked_for(request.uri());
        Ok(response)
    };
    let socket = accept_hdr_async_with_config(TlsStream::from(stream), note, Some(config(limits))).await.ok()?;
    Some((socket, path))
}

/// The client's part of the handshake.
pub(super) async fn connect(stream: TcpStream, tls: TlsConnector, uri: &Uri, limits: Limits) -> Result<Socket, Error> {
    stream.set_nodelay(true).map_err(|error| Error::Unreachable(error.to_string()))?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = host.try_into().map_err(|_| Error::Url("no valid host".into()))?;
    let stream = tls.connect(name, stream).await.map_err(explain)?;
    let (socket, _) = client_async_with_config(uri, TlsStream::from(stream), Some(config(limits)))
        .await
        .map_err(|error| Error::Refused(error.to_string()))?;
    Ok(socket)
}

/// The path and the query of a URL.
pub(super) fn asked_for(uri: &Uri) -> String {
    uri.path_and_query().map_or("/", |path| path.as_str()).to_owned()
}

/// The connection's facts, for [`Core::new`].
pub(super) fn wire(remote: SocketAddr) -> Wire {
    Wire::WebSocket(SocketFacts { remote, round_trip: AtomicU64::new(0) })
}

/// Carries the connection until it ends.
pub(super) async fn run(core: &Arc<Core>, socket: Socket, pace: Pace) {
    let _feeding = Feeding(core.clone());
    let (sink, stream) = socket.split();
    let asked = AtomicU64::new(0);
    let start = Instant::now();
    let end = tokio::select! {
        closed = read(core, stream, pace, start, &asked) => closed,
        closed = write(core, sink, pace, start, &asked) => closed,
        closed = core.ending.overdue() => closed,
    };
    core.ending.end(end);
}

async fn read(core: &Core, mut stream: SplitStream<Socket>, pace: Pace, start: Instant, asked: &AtomicU64) -> Closed {
    loop {
        core.inbox.room().await;
        let message = match tokio::time::timeout(pace.idle, stream.next()).await {
            Err(_) => return Closed::TimedOut,
            Ok(None) => return Closed::Broken("the socket was closed without a word".into()),
            Ok(Some(Err(error))) => match wrong(core, error) {
                Ok(reason) => return cut_off(core, &reason).await,
                Err(closed) => return closed,
            },
            Ok(Some(Ok(message))) => message,
        };
        match message {
            Message::Binary(bytes) => {
                if let Err(reason) = sort(core, &bytes) {
                    return cut_off(core, &reason).await;
                }
            }
            Message::Text(_) => return cut_off(core, "text frames mean nothing here").await,
            Message::Pong(stamp) => measure(core, &stamp, start, asked),
            // Reading on answers it, and finds the end.
            Message::Close(frame) => {
                let reason = frame.map_or(String::new(), |frame| frame.reason.as_str().to_owned());
                core.ending.end(Closed::Peer(reason));
            }
            Message::Ping(_) | Message::Frame(_) => {}
        }
    }
}

/// Copies: a few bytes must not keep the socket's whole buffer in memory while they wait.
fn sort(core: &Core, bytes: &[u8]) -> Result<(), String> {
    let Some((tag, bytes)) = bytes.split_first() else { return Err("a frame is empty".into()) };
    match *tag {
        DATAGRAM if bytes.len() > MAX_DATAGRAM => {
            return Err(format!("a datagram of {} bytes is longer than {MAX_DATAGRAM}", bytes.len()));
        }
        DATAGRAM => core.datagram(Bytes::copy_from_slice(bytes)),
        MESSAGE => {
            // A frame may be as long as the longest of all kinds.
            core.too_long(bytes.len()).map_or(Ok(()), Err)?;
            core.message(What::Message(Bytes::copy_from_slice(bytes)));
        }
        UNORDERED => {
            core.too_long_unordered(bytes.len()).map_or(Ok(()), Err)?;
            core.message(What::Unordered(Bytes::copy_from_slice(bytes)));
        }
        other => return Err(format!("nothing is known of frames tagged {other}")),
    }
    Ok(())
}

/// A peer that breaks the rules is told so by the writing half, and not listened to any more.
async fn cut_off(core: &Core, reason: &str) -> Closed {
    core.ending.end(Closed::Here(reason.to_owned()));
    core.close(reason);
    std::future::pending().await
}

/// The rule that the peer has broken, or why the connection ended.
fn wrong(core: &Core, error: tungstenite::Error) -> Result<String, Closed> {
    match error {
        tungstenite::Error::Capacity(tungstenite::error::CapacityError::MessageTooLong { size, .. }) => {
            Ok(core.too_long(size.saturating_sub(1)).unwrap_or_else(|| "a message is too long".into()))
        }
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => Err(Closed::Peer(String::new())),
        other => Err(Closed::Broken(other.to_string())),
    }
}

/// Only the answer to the last ping counts: others may be invented.
fn measure(core: &Core, stamp: &[u8], start: Instant, asked: &AtomicU64) {
    let (Ok(stamp), Wire::WebSocket(facts)) = (<[u8; 8]>::try_from(stamp), &core.wire) else { return };
    let stamp = u64::from_le_bytes(stamp);
    if stamp == 0 || asked.swap(0, Ordering::Relaxed) != stamp {
        return;
    }
    let trip = nanoseconds(start).saturating_sub(stamp).max(1);
    let smooth = match facts.round_trip.load(Ordering::Relaxed) {
        0 => trip,
        before => before - before / 8 + trip / 8,
    };
    facts.round_trip.store(smooth.max(1), Ordering::Relaxed);
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

async fn write(
    core: &Core,
    mut sink: SplitSink<Socket, Message>,
    pace: Pace,
    start: Instant,
    asked: &AtomicU64,
) -> Closed {
    let mut pings = tokio::time::interval(pace.keep_alive);
    pings.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let written = tokio::select! {
            what = core.outbox.next() => match what {
                Some(what) => write_batch(core, &mut sink, what).await,
                None => break,
            },
            _ = pings.tick() => {
                let stamp = nanoseconds(start).max(1);
                asked.store(stamp, Ordering::Relaxed);
                sink.send(Message::Ping(Bytes::copy_from_slice(&stamp.to_le_bytes()))).await
            }
        };
        if let Err(error) = written {
            // The reading half knows better why, unless it is held up by a game that takes nothing.
            tokio::time::sleep(LINGER).await;
            return Closed::Broken(error.to_string());
        }
    }
    say_farewell(core, &mut sink).await;
    // The reading half waits for the answer: a socket that is closed over unread bytes takes back what it has sent.
    std::future::pending().await
}

/// Writes what waits, up to a batch, and waits until the socket has taken it.
async fn write_batch(
    core: &Core,
    sink: &mut SplitSink<Socket, Message>,
    first: What,
) -> Result<(), tungstenite::Error> {
    let (mut next, mut taken) = (Some(first), 0);
    while let Some(what) = next {
        taken += weight(&what);
        sink.feed(Message::Binary(tagged(&what))).await?;
        next = if taken < BATCH { core.outbox.try_next() } else { None };
    }
    sink.flush().await?;
    core.outbox.written(taken);
    Ok(())
}

fn tagged(what: &What) -> Bytes {
    let (tag, bytes) = match what {
        What::Datagram(bytes) => (DATAGRAM, bytes),
        What::Message(bytes) => (MESSAGE, bytes),
        What::Unordered(bytes) => (UNORDERED, bytes),
    };
    let mut frame = BytesMut::with_capacity(1 + bytes.len());
    frame.put_u8(tag);
    frame.put_slice(bytes);
    frame.freeze()
}

async fn say_farewell(core: &Core, sink: &mut SplitSink<Socket, Message>) {
    let reason = core.ending.asked().await;
    let code = if core.ending.over() { CloseCode::Policy } else { CloseCode::Normal };
    core.ending.end(Closed::Here(reason.clone()));
    let frame = CloseFrame { code, reason: shortened(&reason, LONGEST_REASON).into() };
    let _ = sink.send(Message::Close(Some(frame))).await;
}

fn config(limits: Limits) -> WebSocketConfig {
    // With the tag.
    let longest = limits.message.max(limits.unordered).max(MAX_DATAGRAM) + 1;
    WebSocketConfig::default()
        .read_buffer_size(16 * 1024)
        .write_buffer_size(BATCH)
        .max_write_buffer_size(2 * longest + 2 * BATCH)
        .max_message_size(Some(longest))
        .max_frame_size(Some(longest))
}

fn explain(error: std::io::Error) -> Error {
    let text = error.to_string();
    match error.kind() {
        std::io::ErrorKind::InvalidData if text.contains("certificate") => Error::Untrusted(text),
        std::io::ErrorKind::TimedOut => Error::TimedOut,
        // A server that takes no more connections closes before it has said anything.
        std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset => {
            Error::Refused("it takes no more connections at present".into())
        }
        _ => Error::Unreachable(text),
    }
}

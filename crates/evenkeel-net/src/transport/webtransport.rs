//! The carrier of choice: WebTransport over HTTP/3, which is QUIC.

use super::congestion::Floor;
use super::connection::{Core, Feeding, Wire};
use super::queue::weight;
use super::session::{Capsules, Session, dismissed};
use super::{Closed, Error, Limits, SendError, What, unordered};
use bytes::{Bytes, BytesMut};
use quinn::{RecvStream, SendStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Set in a length: no message, but the reason for leaving follows.
const FAREWELL: u32 = 1 << 31;

/// The longest reason for leaving, in bytes.
const LONGEST_REASON: usize = 1024;

/// Who opens the stream of messages.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Client,
    Server,
}

/// QUIC's settings, the same for both sides.
pub(super) fn quic(
    limits: &Limits,
    idle: Duration,
    keep_alive: Duration,
) -> Result<Arc<quinn::TransportConfig>, Error> {
    let idle = idle.try_into().map_err(|_| Error::Setting("the idle time-out is too long".into()))?;
    let mut quic = quinn::TransportConfig::default();
    quic.max_idle_timeout(Some(idle))
        .keep_alive_interval(Some(keep_alive))
        // The session and the messages, and a little slack.
        .max_concurrent_bidi_streams(4u32.into())
        // HTTP/3 needs three for itself, browsers try more.
        .max_concurrent_uni_streams(limits.unordered_at_once.saturating_add(8).into())
        .stream_receive_window(window(limits.incoming_messages))
        .receive_window(window(limits.incoming_messages.saturating_mul(2)))
        .send_window(limits.outgoing_messages as u64)
        .congestion_controller_factory(Arc::new(Floor(limits.least_window as u64)))
        .datagram_send_buffer_size(limits.outgoing_datagrams)
        .datagram_receive_buffer_size(Some(256 * 1024));
    Ok(Arc::new(quic))
}

/// Flow control below a few packets would stall the handshake of HTTP/3.
fn window(bytes: usize) -> quinn::VarInt {
    quinn::VarInt::from_u32(u32::try_from(bytes.max(16 * 1024)).unwrap_or(u32::MAX))
}

pub(super) fn send_datagram(wire: &Session, bytes: &[u8]) -> Result<(), SendError> {
    // QUIC would make room by dropping the oldest without a word; the sender should know.
    if wire.quic().datagram_send_buffer_space() < bytes.len() + size_of::<u64>() {
        let limit = wire.max_datagram();
        return Err(if bytes.len() > limit { SendError::TooLarge { limit } } else { SendError::Full });
    }
    wire.send_datagram(bytes).map_err(|error| match error {
        quinn::SendDatagramError::TooLarge => SendError::TooLarge { limit: wire.max_datagram() },
        _ => SendError::Closed,
    })
}

/// Carries the connection until it ends and the peer has been told.
pub(super) async fn run(core: &Arc<Core>, capsules: Capsules, role: Role) {
    let Wire::WebTransport(wire) = &core.wire else { return };
    let feeding = Feeding(core.clone());
    let mut reading = JoinSet::new();
    reading.spawn(unordered::read(core.clone()));
    let end = tokio::select! {
        closed = read_datagrams(core, wire) => closed,
        closed = exchange_messages(core, wire, role, &mut reading) => closed,
        closed = wait_for_dismissal(capsules) => closed,
        closed = core.ending.overdue() => closed,
    };
    let reason = match core.ending.end(end) {
        Closed::Here(reason) => reason,
        _ => String::new(),
    };
    let lost = wire.quic().close_reason().is_some();
    wire.hang_up(shortened(&reason, LONGEST_REASON));
    // What the peer has sent before it left is still there to be read, but nobody else has to wait for that.
    tokio::spawn(async move {
        while reading.join_next().await.is_some() {}
        drop(feeding);
    });
    if !lost {
        tell(wire).await;
    }
}

/// Waits until QUIC has sent its farewell.
async fn tell(wire: &Session) {
    for _ in 0..20 {
        if wire.quic().stats().frame_tx.connection_close > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn wait_for_dismissal(capsules: Capsules) -> Closed {
    match dismissed(capsules).await {
        Some(reason) => Closed::Peer(reason),
        // The connection is lost; whoever reads the datagrams says why.
        None => std::future::pending().await,
    }
}

async fn read_datagrams(core: &Core, wire: &Session) -> Closed {
    loop {
        match wire.read_datagram().await {
            Ok(bytes) => core.datagram(bytes),
            Err(error) => return ended(error),
        }
    }
}

async fn exchange_messages(core: &Arc<Core>, wire: &Session, role: Role, reading: &mut JoinSet<()>) -> Closed {
    let ordered = async {
        let Some((mut send, receive)) = open(wire, role).await else {
            // The connection is lost; whoever reads the datagrams says why.
            return std::future::pending().await;
        };
        reading.spawn(read_messages(core.clone(), receive));
        write_messages(core, &mut send).await?;
        Ok(send)
    };
    // After the farewell nobody waits for messages that are still under way.
    let farewell = async {
        let (send, ()) = tokio::try_join!(ordered, unordered::write(core, wire))?;
        say_farewell(core, send).await
    };
    match farewell.await {
        Ok(()) => Closed::Here(core.ending.asked().await),
        Err(quinn::WriteError::Stopped(_)) => Closed::Here("the peer has stopped reading messages".into()),
        Err(_) => std::future::pending().await,
    }
}

async fn open(wire: &Session, role: Role) -> Option<(SendStream, RecvStream)> {
    match role {
        Role::Client => wire.open_bi().await,
        Role::Server => wire.accept_bi().await,
    }
}

/// Writes until asked to close.
async fn write_messages(core: &Core, stream: &mut SendStream) -> Result<(), quinn::WriteError> {
    while let Some(what) = core.outbox.next().await {
        let bytes = what.bytes().clone();
        let length = Bytes::copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        stream.write_all_chunks(&mut [length, bytes]).await?;
        core.outbox.written(weight(&what));
    }
    Ok(())
}

/// Says farewell, and waits until the peer has it all.
async fn say_farewell(core: &Core, mut stream: SendStream) -> Result<(), quinn::WriteError> {
    let reason = core.ending.asked().await;
    core.ending.end(Closed::Here(reason.clone()));
    let reason = shortened(&reason, LONGEST_REASON);
    stream.write_all(&(FAREWELL | reason.len() as u32).to_le_bytes()).await?;
    stream.write_all(reason.as_bytes()).await?;
    let _ = stream.finish();
    let _ = stream.stopped().await;
    Ok(())
}

/// Reads until the stream ends. A peer that breaks the rules is cut off.
async fn read_messages(core: Arc<Core>, mut receive: RecvStream) {
    if let Err(Some(wrong)) = read_frames(&core, &mut receive).await {
        break_off(&core, wrong);
    }
}

/// Cuts off a peer that breaks the rules, and tells it which.
pub(super) fn break_off(core: &Core, wrong: String) {
    if let Wire::WebTransport(wire) = &core.wire
        && let Closed::Here(reason) = core.ending.end(Closed::Here(wrong))
    {
        wire.hang_up(&reason);
    }
}

/// An error without text is a connection that was lost.
async fn read_frames(core: &Core, stream: &mut RecvStream) -> Result<(), Option<String>> {
    loop {
        core.inbox.room().await;
        let mut length = [0; 4];
        match stream.read_exact(&mut length).await {
            Ok(()) => {}
            Err(quinn::ReadExactError::FinishedEarly(0)) => return Ok(()),
            Err(quinn::ReadExactError::FinishedEarly(_)) => return Err(Some("a message ends amid its length".into())),
            Err(quinn::ReadExactError::ReadError(_)) => return Err(None),
        }
        let length = u32::from_le_bytes(length);
        if length & FAREWELL != 0 {
            let length = (length ^ FAREWELL) as usize;
            if length > LONGEST_REASON {
                return Err(Some("the reason for leaving is too long".into()));
            }
            let reason = read_bytes(stream, length).await?;
            core.ending.end(Closed::Peer(String::from_utf8_lossy(&reason).into_owned()));
            // Whoever has said farewell is not waited for.
            core.close("");
            return Ok(());
        }
        let length = length as usize;
        if let Some(wrong) = core.too_long(length) {
            return Err(Some(wrong));
        }
        core.message(What::Message(read_bytes(stream, length).await?));
    }
}

/// Memory grows with what arrives, not with what is announced.
pub(super) async fn read_bytes(stream: &mut RecvStream, length: usize) -> Result<Bytes, Option<String>> {
    let mut bytes = BytesMut::with_capacity(length.min(4096));
    while bytes.len() < length {
        match stream.read_chunk(length - bytes.len(), true).await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk.bytes),
            Ok(None) => return Err(Some("a message ends before its length".into())),
            Err(_) => return Err(None),
        }
    }
    Ok(bytes.freeze())
}

/// Why the connection ended.
fn ended(error: quinn::ConnectionError) -> Closed {
    match error {
        quinn::ConnectionError::ApplicationClosed(close) => {
            Closed::Peer(String::from_utf8_lossy(&close.reason).into_owned())
        }
        quinn::ConnectionError::Reset => Closed::Restarted,
        quinn::ConnectionError::TimedOut => Closed::TimedOut,
        quinn::ConnectionError::LocallyClosed => Closed::Here("closed".into()),
        other => Closed::Broken(other.to_string()),
    }
}

/// The beginning of a text, no longer than so many bytes.
pub(super) fn shortened(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

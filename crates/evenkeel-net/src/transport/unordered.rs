//! Messages that need not wait for each other: each has a stream of QUIC's for itself.

use super::What;
use super::connection::{Core, Wire};
use super::queue::weight;
use super::session::{Kind, Session, kind};
use super::webtransport::{break_off, read_bytes};
use bytes::Bytes;
use quinn::{RecvStream, SendStream, WriteError};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Writes each message on a stream of its own, until asked to close and the peer has all of them.
pub(super) async fn write(core: &Arc<Core>, wire: &Session) -> Result<(), WriteError> {
    let at_once = Arc::new(Semaphore::new(core.limits.unordered_at_once.max(1) as usize));
    let mut writing = JoinSet::new();
    while let Some(what) = core.unordered.next().await {
        // It is never closed.
        let Ok(permit) = at_once.clone().acquire_owned().await else { break };
        // Waits until the peer allows for one more.
        let stream = wire.open_uni().await?;
        writing.spawn(write_one(core.clone(), stream, what, permit));
        while let Some(done) = writing.try_join_next() {
            done.unwrap_or(Ok(()))?;
        }
    }
    while let Some(done) = writing.join_next().await {
        done.unwrap_or(Ok(()))?;
    }
    Ok(())
}

async fn write_one(
    core: Arc<Core>,
    mut stream: SendStream,
    what: What,
    _permit: OwnedSemaphorePermit,
) -> Result<(), WriteError> {
    let bytes = what.bytes().clone();
    let length = Bytes::copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    stream.write_all_chunks(&mut [length, bytes]).await?;
    let _ = stream.finish();
    // Nothing can be said against what has arrived as a whole.
    if let Ok(Some(code)) = stream.stopped().await {
        return Err(WriteError::Stopped(code));
    }
    core.unordered.written(weight(&what));
    Ok(())
}

/// Reads all streams in one direction that the peer opens. How many there can be at once is QUIC's to enforce.
pub(super) async fn read(core: Arc<Core>) {
    let Wire::WebTransport(wire) = &core.wire else { return };
    let mut reading = JoinSet::new();
    // To close these would be to close the connection.
    let mut kept = Vec::new();
    loop {
        core.inbox.room().await;
        let Ok(stream) = wire.quic().accept_uni().await else { break };
        reading.spawn(read_one(core.clone(), stream));
        while let Some(done) = reading.try_join_next() {
            kept.extend(done.ok().flatten());
        }
    }
    while reading.join_next().await.is_some() {}
}

/// Reads one stream, and gives it back if it must not be closed.
async fn read_one(core: Arc<Core>, mut stream: RecvStream) -> Option<RecvStream> {
    match kind(&mut stream).await {
        Kind::Message => {
            if let Err(Some(wrong)) = read_message(&core, &mut stream).await {
                break_off(&core, wrong);
            }
            None
        }
        Kind::Critical => Some(stream),
        Kind::Unknown => None,
    }
}

/// An error without text is a connection that was lost, or a peer that has changed its mind.
async fn read_message(core: &Core, stream: &mut RecvStream) -> Result<(), Option<String>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.map_err(|error| match error {
        quinn::ReadExactError::FinishedEarly(_) => Some("a message ends amid its length".to_owned()),
        quinn::ReadExactError::ReadError(_) => None,
    })?;
    let length = u32::from_le_bytes(length) as usize;
    if let Some(wrong) = core.too_long_unordered(length) {
        return Err(Some(wrong));
    }
    let bytes = read_bytes(stream, length).await?;
    core.message(What::Unordered(bytes));
    match stream.read_chunk(1, true).await {
        Ok(Some(_)) => Err(Some("more follows after a message".into())),
        // A stream that is not read to its end would be stopped, and the peer would think the message lost.
        Ok(None) | Err(_) => Ok(()),
    }
}

//! `/recordings`: to take with one, and to open again.

use super::Site;
use super::screen::Order;
use crate::recording::{MAX_BYTES, Replay, Spool};
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER_PERMISSIVE;
use futures_util::StreamExt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// So much of a file is in memory at a time.
const PIECE: usize = 64 << 10;
/// So many recordings may be on their way here, each for so long.
pub(super) const MAX_SENDING: usize = 8;
const SENDING: Duration = Duration::from_secs(120);
/// Where the page says what the file is called.
const NAME: &str = "x-file-name";
/// The longest name that is shown.
const MAX_NAME: usize = 80;

pub(super) async fn get(State(site): State<Arc<Site>>, Path(name): Path<String>) -> Response {
    let file = match site.recordings.find(&name) {
        Some(path) => File::open(path).await.ok(),
        None => None,
    };
    let Some(file) = file else {
        return (StatusCode::NOT_FOUND, "there is no such recording, or there have been newer ones since\n")
            .into_response();
    };
    let length = file.metadata().await.map(|about| about.len()).unwrap_or_default();
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (CONTENT_LENGTH, length.to_string()),
    ];
    (headers, Body::from_stream(futures_util::stream::unfold(file, piece))).into_response()
}

async fn piece(mut file: File) -> Option<(io::Result<Bytes>, File)> {
    let mut piece = vec![0; PIECE];
    match file.read(&mut piece).await {
        Ok(0) => None,
        Ok(length) => {
            piece.truncate(length);
            Some((Ok(piece.into()), file))
        }
        Err(error) => Some((Err(error), file)),
    }
}

/// Opens a recording. What cannot be read is refused in one line, and nothing changes.
pub(super) async fn post(State(site): State<Arc<Site>>, request: Request) -> Response {
    let name = request.headers().get(NAME).map(|name| shown(name.as_bytes())).unwrap_or_default();
    let name = if name.is_empty() { "recording".into() } else { name };
    match open(&site, name, request).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err((status, why)) => (status, format!("{why}\n")).into_response(),
    }
}

type Refusal = (StatusCode, String);

async fn open(site: &Site, name: String, request: Request) -> Result<(), Refusal> {
    let spool = receive(site, request).await?;
    let Ok(_turn) = site.opening.try_lock() else {
        return Err((StatusCode::CONFLICT, "another recording is being opened: try again".into()));
    };
    let read = tokio::task::spawn_blocking(move || Replay::open(spool, name)).await;
    let read = read.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the recording could not be read".into()))?;
    let replay = read.map_err(|why| (StatusCode::BAD_REQUEST, why))?;
    site.screen.ask(Order::Open(Box::new(replay))).await.map_err(|why| (StatusCode::CONFLICT, why))
}

/// Waits for a recording to be here. Whoever sends slowly keeps nobody else from opening one.
async fn receive(site: &Site, request: Request) -> Result<Spool, Refusal> {
    let Ok(_place) = site.sending.try_acquire() else {
        return Err((StatusCode::CONFLICT, "many recordings are being sent: try again".into()));
    };
    let spool = site.recordings.spool();
    let late = |_| (StatusCode::REQUEST_TIMEOUT, "the recording took too long to arrive".into());
    tokio::time::timeout(SENDING, spool_to(&spool, request)).await.map_err(late)??;
    Ok(spool)
}

/// Writes what comes to a file.
async fn spool_to(spool: &Spool, request: Request) -> Result<(), Refusal> {
    let failed = |error: io::Error| (StatusCode::INTERNAL_SERVER_ERROR, format!("no room for the recording: {error}"));
    let mut file = File::create(spool.path()).await.map_err(failed)?;
    let (mut body, mut length) = (request.into_body().into_data_stream(), 0);
    while let Some(piece) = body.next().await {
        let piece =
            piece.map_err(|error| (StatusCode::BAD_REQUEST, format!("the recording did not arrive: {error}")))?;
        length += piece.len() as u64;
        if length > MAX_BYTES {
            let why = format!("recordings may have {} MB at most", MAX_BYTES / 1_000_000);
            return Err((StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}

/// A name to show, from one with `%` and two digits for what headers cannot say: no longer than fits, nothing that is not to be
/// seen.
fn shown(name: &[u8]) -> String {
    let mut bytes = Vec::new();
    let mut rest = name;
    while let Some((&first, others)) = rest.split_first() {
        let code = others.first_chunk::<2>().filter(|_| first == b'%');
        let code = code.and_then(|digits| HEXLOWER_PERMISSIVE.decode(digits).ok()?.pop());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &others[2..] } else { others };
    }
    let name = String::from_utf8_lossy(&bytes);
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_they_were() {
        assert_eq!(shown(b"my%20run%20%C3%A4.evkrec"), "my run \u{e4}.evkrec");
        assert_eq!(shown(b"50%"), "50%");
        assert_eq!(shown(b"%zz%0a%00"), "%zz");
        assert_eq!(shown(&[b'a'; 500]).len(), MAX_NAME);
    }
}

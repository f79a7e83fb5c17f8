//! `/recordings`: to take with one, and to open again.

use super::Site;
use super::screen::Order;
use crate::recording::{MAX_BYTES, Replay};
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// So much of a file is in memory at a time.
const PIECE: usize = 64 << 10;
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

#[derive(Deserialize)]
pub(super) struct Named {
    name: Option<String>,
}

/// Opens a recording. What cannot be read is refused in one line, and nothing changes.
pub(super) async fn post(State(site): State<Arc<Site>>, Query(named): Query<Named>, request: Request) -> Response {
    match open(&site, shown(named.name), request).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err((status, why)) => (status, format!("{why}\n")).into_response(),
    }
}

type Refusal = (StatusCode, String);

async fn open(site: &Site, name: String, request: Request) -> Result<(), Refusal> {
    let Ok(_turn) = site.opening.try_lock() else {
        return Err((StatusCode::CONFLICT, "another recording is being opened: try again".into()));
    };
    let spool = site.recordings.spool();
    spool_to(&spool, request).await?;
    let read = tokio::task::spawn_blocking(move || Replay::open(spool, name)).await;
    let read = read.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the recording could not be read".into()))?;
    let replay = read.map_err(|why| (StatusCode::BAD_REQUEST, why))?;
    site.screen.ask(Order::Open(Box::new(replay))).await.map_err(|why| (StatusCode::CONFLICT, why))
}

/// Writes what comes to a file.
async fn spool_to(spool: &crate::recording::Spool, request: Request) -> Result<(), Refusal> {
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

/// A name to show: no longer than fits, nothing that is not to be seen.
fn shown(name: Option<String>) -> String {
    let name: String = name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    if name.trim().is_empty() { "recording".into() } else { name }
}

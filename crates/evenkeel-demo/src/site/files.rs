//! The page's files, which are in the program.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use std::borrow::Cow;
use std::path::PathBuf;

/// Where to take the page's files from instead, for whoever works on them.
const FOLDER: &str = "EVENKEEL_PAGE";

macro_rules! page {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../page/", $name)))),*]
    };
}

/// All of them.
const FILES: &[(&str, &[u8])] = page![
    "app.js",
    "charts.js",
    "colours.js",
    "controls.js",
    "dom.js",
    "feed.js",
    "fields.js",
    "frame.js",
    "graphs.js",
    "icon.svg",
    "index.html",
    "links.js",
    "meter.js",
    "networks.js",
    "numbers.js",
    "parts.css",
    "play.css",
    "play.js",
    "player.js",
    "playview.js",
    "policies.js",
    "recording.js",
    "scene.js",
    "steering.js",
    "steps.js",
    "style.css",
    "tour.css",
    "tour.js",
    "transport.js",
    "views.css",
    "views.js"
];

mod web {
    include!(concat!(env!("OUT_DIR"), "/web.rs"));
}

/// Whether a browser can take part.
pub(super) fn can_play() -> bool {
    web::MODULE.is_some()
}

pub(super) async fn index() -> Response {
    serve("index.html").await
}

pub(super) async fn file(Path(name): Path<String>) -> Response {
    serve(&name).await
}

async fn serve(name: &str) -> Response {
    let (Some(kind), Some(bytes)) = (kind(name), bytes(name).await) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    ([(CONTENT_TYPE, kind)], bytes).into_response()
}

async fn bytes(name: &str) -> Option<Cow<'static, [u8]>> {
    if name == "evenkeel.wasm" {
        return web::MODULE.map(Cow::Borrowed);
    }
    if let Some(folder) = folder()
        && let Ok(bytes) = tokio::fs::read(folder.join(name)).await
    {
        return Some(Cow::Owned(bytes));
    }
    FILES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Cow::Borrowed(*bytes))
}

/// The folder to look into first: the one that is named, or, while the program is worked on, where the files are written.
fn folder() -> Option<PathBuf> {
    let source = cfg!(debug_assertions).then(|| concat!(env!("CARGO_MANIFEST_DIR"), "/page").into());
    std::env::var_os(FOLDER).map(PathBuf::from).or(source)
}

/// What a file is by its name. Names lead nowhere else: letters, digits, `-`, `_`, and one dot.
fn kind(name: &str) -> Option<&'static str> {
    let (stem, extension) = name.split_once('.')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if stem.is_empty() || !stem.chars().all(plain) {
        return None;
    }
    match extension {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" | "mjs" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "png" => Some("image/png"),
        "webp" => Some("image/webp"),
        "ico" => Some("image/x-icon"),
        "wasm" => Some("application/wasm"),
        "webmanifest" => Some("application/manifest+json"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_in_the_program() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page")).unwrap();
        for file in folder {
            let name = file.unwrap().file_name().into_string().unwrap();
            let served = kind(&name).is_some() && FILES.iter().any(|(known, _)| *known == name);
            assert!(served || name == "evenkeel.wasm", "{name} is not in FILES");
        }
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["../Cargo.toml", "..", ".html", "a/b.js", "a.b.js", "C:x.js", "%2e.js", "x.rs", "a\\b.js"] {
            assert_eq!(kind(name), None, "{name}");
        }
        assert_eq!(kind("player.js"), Some("text/javascript; charset=utf-8"));
    }
}

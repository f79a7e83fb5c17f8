//! `/feed`: what happens, to one page, and what the page wants. See `docs/DEMO.md`.

use super::Site;
use super::command::{self, Manners, Verdict};
use super::screen::{Known, Picture, Screen};
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// The most pages at a time.
pub const MAX_PAGES: usize = 32;
/// The longest command. Settings, whole, with a network for every player are a quarter of it.
pub const MAX_COMMAND_BYTES: usize = 16 << 10;
/// A page that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a page has to show that it is there.
const PING_EVERY: Duration = Duration::from_secs(20);

pub(super) async fn feed(State(site): State<Arc<Site>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = site.places.clone().try_acquire_owned() else {
        let why = format!("{MAX_PAGES} pages are open already: close one\n");
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    };
    upgrade.max_message_size(MAX_COMMAND_BYTES).max_frame_size(MAX_COMMAND_BYTES).on_upgrade(async move |socket| {
        let page = Page { socket, screen: site.screen.clone(), manners: Manners::default(), known: 0 };
        // However it ends, this page is the only one that notices.
        if let Err(error) = page.run(&site).await {
            tracing::debug!("a page has gone: {error}");
        }
        drop(place);
    })
}

struct Page {
    socket: WebSocket,
    screen: Screen,
    manners: Manners,
    /// The state that the page has been told.
    known: u64,
}

/// Why a page's feed ended.
type Gone = Box<dyn std::error::Error + Send + Sync>;

impl Page {
    async fn run(mut self, site: &Site) -> Result<(), Gone> {
        let mut texts = self.screen.texts();
        let Some(hello) = site.hello().await else { return Ok(()) };
        self.send(Message::Text(hello)).await?;
        self.tell_state().await?;
        let mut ping = tokio::time::interval_at(tokio::time::Instant::now() + PING_EVERY, PING_EVERY);
        loop {
            tokio::select! {
                biased;
                message = self.socket.recv() => match message {
                    Some(message) => if !self.hear(message?).await? { return Ok(()) },
                    None => return Ok(()),
                },
                _ = ping.tick() => self.send(Message::Ping(bytes::Bytes::new())).await?,
                changed = self.screen.states.changed() => {
                    changed?;
                    self.tell_state().await?;
                }
                text = texts.recv() => match text {
                    Ok(text) => self.send(Message::Text(text)).await?,
                    // A slow page misses something.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(()),
                },
                changed = self.screen.pictures.changed() => {
                    changed?;
                    self.show().await?;
                }
            }
        }
    }

    /// The state, unless the page knows it.
    async fn tell_state(&mut self) -> Result<(), Gone> {
        let Known { generation, text } = self.screen.states.borrow_and_update().clone();
        if self.known != generation {
            self.known = generation;
            self.send(Message::Text(text)).await?;
        }
        Ok(())
    }

    /// The newest picture: those before it, which a slow page had no time for, are gone. Never one of a state that the page
    /// has not been told.
    async fn show(&mut self) -> Result<(), Gone> {
        let Picture { generation, bytes } = self.screen.pictures.borrow_and_update().clone();
        self.tell_state().await?;
        if generation == self.known { self.send(Message::Binary(bytes)).await } else { Ok(()) }
    }

    /// Does what the page wants, or says why not. False if the page is to go.
    async fn hear(&mut self, message: Message) -> Result<bool, Gone> {
        let refused = match command::read(&message) {
            Verdict::Nothing => return Ok(true),
            Verdict::Bye => return Ok(false),
            _ if !self.manners.may() => Err("too many commands at once".to_owned()),
            Verdict::Order(order) => self.screen.ask(order).await,
            Verdict::Nonsense(why) => {
                self.manners.forgive_less();
                Err(why)
            }
        };
        if let Err(why) = refused {
            let text = serde_json::json!({"kind": "refused", "why": why}).to_string();
            self.send(Message::Text(text.into())).await?;
        }
        if self.manners.are_lost() {
            let reason = Utf8Bytes::from_static("too much that is no command");
            self.send(Message::Close(Some(CloseFrame { code: close_code::POLICY, reason }))).await?;
            return Ok(false);
        }
        Ok(true)
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        Ok(tokio::time::timeout(PATIENCE, self.socket.send(message)).await??)
    }
}

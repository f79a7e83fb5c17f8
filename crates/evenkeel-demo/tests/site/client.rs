//! A demo to look at, and somebody who looks.

use evenkeel_demo::settings::{Settings, World};
use evenkeel_demo::{Demo, DemoConfig};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{Error, http};

/// Everything here takes much less.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// One tank, two worlds, any port.
pub async fn demo() -> Demo {
    Demo::start(config()).await.unwrap()
}

pub fn config() -> DemoConfig {
    let right = Some(World { policy: "even".into(), budget: "1/3".into() });
    let settings = Settings { bots: 1, right, ..Settings::default() };
    DemoConfig { settings, address: "127.0.0.1:0".parse().unwrap(), lan: None, seed: 1 }
}

/// `127.0.0.1:PORT`.
pub fn host(demo: &Demo) -> String {
    demo.url().trim_start_matches("http://").to_owned()
}

pub async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("in time")
}

/// What came back.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let of = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        self.head.lines().filter_map(of).find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

/// One request, with `Host` and whatever else is in `headers`, each with its line's end.
pub async fn request(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    line: &str,
    host: &str,
    headers: &str,
    body: &[u8],
) -> Answer {
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n");
    within(async {
        stream.write_all(head.as_bytes()).await.unwrap();
        // Who is refused may be so before all was sent.
        let _ = stream.write_all(body).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: answer[end + 4..].to_vec() }
    })
    .await
}

pub async fn get(demo: &Demo, path: &str) -> Answer {
    let host = host(demo);
    request(TcpStream::connect(&host).await.unwrap(), &format!("GET {path}"), &host, "", b"").await
}

pub async fn post(demo: &Demo, headers: &str, body: &[u8]) -> Answer {
    let host = host(demo);
    request(TcpStream::connect(&host).await.unwrap(), "POST /recordings", &host, headers, body).await
}

/// A page that listens.
pub struct Page(WebSocketStream<TcpStream>);

impl Page {
    pub async fn open(demo: &Demo) -> Self {
        let origin = demo.url();
        Self::open_from(demo, Some(&origin)).await.unwrap()
    }

    pub async fn open_from(demo: &Demo, origin: Option<&str>) -> Result<Self, Error> {
        let mut request = format!("ws://{}/feed", host(demo)).into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert(http::header::ORIGIN, origin.parse().unwrap());
        }
        let stream = TcpStream::connect(host(demo)).await.unwrap();
        within(tokio_tungstenite::client_async(request, stream)).await.map(|(socket, _)| Self(socket))
    }

    /// The next message; nothing once the feed is closed.
    pub async fn next(&mut self) -> Option<Message> {
        match within(self.0.next()).await {
            Some(Ok(Message::Close(_)) | Err(_)) | None => None,
            Some(Ok(message)) => Some(message),
        }
    }

    pub async fn send(&mut self, text: &str) {
        // Who is being thrown out cannot send.
        let _ = within(self.0.send(Message::text(text))).await;
    }

    /// The next text of a kind for which something holds.
    pub async fn told(&mut self, kind: &str, holds: impl Fn(&Value) -> bool) -> Value {
        within(async {
            loop {
                let Message::Text(text) = self.next().await.expect("an open feed") else { continue };
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["kind"] == kind && holds(&value) {
                    return value;
                }
            }
        })
        .await
    }

    /// The next picture.
    pub async fn picture(&mut self) -> Vec<u8> {
        within(async {
            loop {
                if let Message::Binary(bytes) = self.next().await.expect("an open feed") {
                    return bytes.to_vec();
                }
            }
        })
        .await
    }

    /// Why something was refused.
    pub async fn refused(&mut self, command: &str) -> String {
        self.send(command).await;
        self.told("refused", |_| true).await["why"].as_str().unwrap().to_owned()
    }
}

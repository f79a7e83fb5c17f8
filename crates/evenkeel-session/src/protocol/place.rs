//! Where a session goes on.

use serde::{Deserialize, Serialize};

/// A URL is no longer, in bytes.
pub const MAX_URL: usize = 512;
/// So many certificates are believed at most.
pub const MAX_CERTIFICATES: usize = 4;

/// Another server, where a session goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where it is: `https://host:port/`.
    pub url: String,
    /// Where it listens for WebSockets, for those who came by one: `wss://host:port/`.
    pub websocket: Option<String>,
    /// The SHA-256 hashes of its certificate, if it made that itself. None: it is to be believed as the server before was.
    pub certificates: Vec<[u8; 32]>,
}

impl Place {
    /// A server that is believed as the one before.
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into(), websocket: None, certificates: Vec::new() }
    }

    /// A server with a self-made certificate of this hash.
    pub fn with_certificate(url: impl Into<String>, hash: [u8; 32]) -> Self {
        Self { certificates: vec![hash], ..Self::at(url) }
    }

    /// Whether players can be sent there, as far as its description says.
    ///
    /// ```
    /// use evenkeel_session::protocol::Place;
    /// assert!(Place::at("https://frankfurt.example:4433/").is_possible());
    /// assert!(!Place::at("http://frankfurt.example/").is_possible(), "without TLS nobody goes anywhere");
    /// ```
    pub fn is_possible(&self) -> bool {
        let secure = |url: &str, scheme| url.len() <= MAX_URL && url.starts_with(scheme);
        let websocket = self.websocket.as_deref().is_none_or(|url| secure(url, "wss://"));
        secure(&self.url, "https://") && websocket && self.certificates.len() <= MAX_CERTIFICATES
    }
}

//! The keys that a server accepts.

use super::wire::{Parts, from_text, parse, signed};
use super::{KeyId, KeyProblem, Token, TokenError, VerifyingKey};

/// No ring has more keys.
pub const MAX_KEYS: usize = 64;

/// When a key is accepted, in Unix seconds: from the one on, until before the other.
///
/// It is compared to the time of checking. So a key that is to retire signs no more from one time on, and is accepted
/// until the last token it signed has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Window {
    /// Since when, if not since ever.
    pub from: Option<u64>,
    /// Until when, if not forever.
    pub until: Option<u64>,
}

impl Window {
    /// At any time.
    pub const ALWAYS: Self = Self { from: None, until: None };

    /// Whether it is open at that time.
    pub fn contains(&self, now: u64) -> bool {
        self.from.is_none_or(|from| from <= now) && self.until.is_none_or(|until| now < until)
    }

    fn is_ever_open(&self) -> bool {
        self.until.is_none_or(|until| self.from.unwrap_or(0) < until)
    }
}

/// The keys that a server accepts: more than one while one replaces another.
///
/// ```
/// use evenkeel_net::token::{KeyRing, SigningKey, Window};
/// let (old, new) = (SigningKey::generate([1; 32]), SigningKey::generate([2; 32]));
/// let mut ring = KeyRing::default();
/// ring.add(old.verifying_key(), Window { from: None, until: Some(2_000) })?;
/// ring.add(new.verifying_key(), Window { from: Some(1_000), until: None })?;
/// assert_eq!(KeyRing::parse(&ring.to_text()), Ok(ring));
/// # Ok::<(), evenkeel_net::token::KeyProblem>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeyRing {
    // Few: no index is faster.
    keys: Vec<(VerifyingKey, Window)>,
}

impl KeyRing {
    /// A ring of one key that is always accepted.
    pub fn of(key: VerifyingKey) -> Self {
        Self { keys: vec![(key, Window::ALWAYS)] }
    }

    /// Adds a key that is accepted while the window is open.
    pub fn add(&mut self, key: VerifyingKey, window: Window) -> Result<(), KeyProblem> {
        if !window.is_ever_open() {
            return Err(KeyProblem::Window);
        }
        if self.find(key.id()).is_some() {
            return Err(KeyProblem::Twice);
        }
        if self.keys.len() >= MAX_KEYS {
            return Err(KeyProblem::TooMany);
        }
        self.keys.push((key, window));
        Ok(())
    }

    /// Takes a key out, and with it all tokens it signed. Whether it was there.
    pub fn remove(&mut self, id: KeyId) -> bool {
        let before = self.keys.len();
        self.keys.retain(|(key, _)| key.id() != id);
        self.keys.len() < before
    }

    /// The keys, and when they are accepted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &(VerifyingKey, Window)> {
        self.keys.iter()
    }

    fn find(&self, id: KeyId) -> Option<&(VerifyingKey, Window)> {
        self.keys.iter().find(|(key, _)| key.id() == id)
    }

    /// What a token grants, if a key of the ring signed it, it is valid at this time (Unix seconds), and it is for this
    /// session.
    ///
    /// Makes no state. Whether it is revoked or in use is for [`Uses`](super::Uses) to say.
    pub fn verify(&self, text: &str, now: u64, session: &str) -> Result<Token, TokenError> {
        self.verify_bytes(&from_text(text)?, now, session)
    }

    /// Like [`verify`](Self::verify), of a token as bytes.
    pub fn verify_bytes(&self, bytes: &[u8], now: u64, session: &str) -> Result<Token, TokenError> {
        let parts = Parts::of(bytes)?;
        let (key, window) = self.find(parts.key).ok_or(TokenError::UnknownKey { key: parts.key })?;
        if !window.contains(now) {
            return Err(TokenError::KeyNotInForce { key: parts.key });
        }
        // First of all: what a forger wrote is not even read, and no refusal below says anything about a forgery.
        if !key.verifies(&signed(parts.signed), parts.signature) {
            return Err(TokenError::BadSignature);
        }
        let token = parse(parts.body)?;
        if now < token.not_before {
            return Err(TokenError::NotYet { until: token.not_before });
        }
        if now >= token.expires {
            return Err(TokenError::Expired { since: token.expires });
        }
        if token.session != session {
            return Err(TokenError::WrongSession { granted: token.session });
        }
        Ok(token)
    }
}

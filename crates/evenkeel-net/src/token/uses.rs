//! Which tokens are in use, and which are revoked.

use super::{MAX_LIFETIME, Token, TokenError, TokenId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What happens when a token is used that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SecondUse {
    /// It is refused: who was first stays. A player whose connection died waits until the server has noticed.
    #[default]
    Refused,
    /// It takes over: who was first has to leave. A player whose connection died is back at once; so is a thief.
    TakesOver,
}

/// One use of a token, told from earlier and later uses of the same: a connection that was taken over and ends late
/// does not end the use of its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    token: TokenId,
    number: u64,
}

impl Holder {
    /// The token that is in use.
    pub fn token(&self) -> TokenId {
        self.token
    }
}

/// A use that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Begun {
    /// The use: to be handed back to [`Uses::end`].
    pub holder: Holder,
    /// The use that ended thereby: its connection has to be closed.
    pub displaced: Option<Holder>,
}

/// There is no room for another revoked token.
///
/// Then too many are in the wrong hands for taking them back one by one: let another key sign, and take the one that
/// signed them out of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterFull;

impl fmt::Display for RegisterFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room for another revoked token: sign with a new key, and take the old one out of the key file")
    }
}

impl std::error::Error for RegisterFull {}

/// Which tokens are in use, and which are revoked: a register of limited size that forgets a token when it expires.
///
/// After that it need not be known any more, because [`KeyRing::verify`](super::KeyRing::verify) refuses it. Times are
/// Unix seconds and never run backwards here: when a clock is set back, what had expired stays expired, because what
/// was known about it is gone.
///
/// ```
/// use evenkeel_net::token::{Player, Rights, SecondUse, Token, TokenError, TokenId, Uses};
/// # let token = Token { player: Player::Number(1), session: "s".into(), rights: Rights::OBSERVE, not_before: 0,
/// #     expires: 100, id: TokenId([1; 16]), max_entities: 0 };
/// let mut uses = Uses::new(SecondUse::TakesOver, 1_000, 1_000);
/// let first = uses.begin(&token, 10)?;
/// let second = uses.begin(&token, 20)?;
/// assert_eq!(second.displaced, Some(first.holder));
/// assert!(!uses.end(first.holder), "it had ended already");
/// assert_eq!(uses.revoke(token.id, token.expires, 30), Ok(Some(second.holder)));
/// assert_eq!(uses.begin(&token, 40), Err(TokenError::Revoked));
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uses {
    second: SecondUse,
    // Apart, so that no crowd of players leaves no room for a revocation, nor the other way round.
    used: Expiring<u64>,
    revoked: Expiring<()>,
    begun: u64,
    latest: u64,
}

impl Uses {
    /// A register for so many tokens in use and so many revoked ones.
    pub fn new(second: SecondUse, max_used: usize, max_revoked: usize) -> Self {
        Self { second, used: Expiring::new(max_used), revoked: Expiring::new(max_revoked), begun: 0, latest: 0 }
    }

    /// Changes what happens when a token is used that is in use.
    pub fn set_second_use(&mut self, second: SecondUse) {
        self.second = second;
    }

    /// Begins to use a token that was verified.
    pub fn begin(&mut self, token: &Token, now: u64) -> Result<Begun, TokenError> {
        let now = self.advance(now);
        if token.expires <= now {
            return Err(TokenError::Expired { since: token.expires });
        }
        if self.revoked.get(token.id).is_some() {
            return Err(TokenError::Revoked);
        }
        let displaced = self.holder(token.id);
        if displaced.is_some() && self.second == SecondUse::Refused {
            return Err(TokenError::InUse);
        }
        let number = self.begun + 1;
        if !self.used.insert(token.id, token.expires, number) {
            // It may be full of those who stayed beyond the end of their tokens.
            self.used.forget(now);
            if !self.used.insert(token.id, token.expires, number) {
                return Err(TokenError::Full);
            }
        }
        self.begun = number;
        Ok(Begun { holder: Holder { token: token.id, number }, displaced })
    }

    /// Goes on with a use that began at another server, which has verified the token; nothing if it is revoked here, or in use, or
    /// there is no room.
    pub fn resume(&mut self, token: TokenId, now: u64) -> Option<Holder> {
        let now = self.advance(now);
        let number = self.begun + 1;
        // When it expires is not known here: it is remembered for as long as any is.
        let free = self.revoked.get(token).is_none() && self.holder(token).is_none();
        if !free || !self.used.insert(token, now.saturating_add(MAX_LIFETIME), number) {
            return None;
        }
        self.begun = number;
        Some(Holder { token, number })
    }

    /// Ends a use. Whether it had not ended before.
    pub fn end(&mut self, holder: Holder) -> bool {
        let current = self.holder(holder.token) == Some(holder);
        if current {
            self.used.remove(holder.token);
        }
        current
    }

    /// Takes a token back until it expires, and returns the use that ended thereby: its connection has to be closed.
    ///
    /// Whoever does not know when it expires takes [`MAX_LIFETIME`](super::MAX_LIFETIME) from when it became valid. A
    /// revocation can be made longer and not shorter. Without room nothing changes.
    pub fn revoke(&mut self, token: TokenId, expires: u64, now: u64) -> Result<Option<Holder>, RegisterFull> {
        let now = self.advance(now);
        let until = expires.max(self.revoked.get(token).map_or(0, |(until, _)| until));
        // What has expired is refused without being remembered.
        if until > now && !self.revoked.insert(token, until, ()) {
            return Err(RegisterFull);
        }
        let holder = self.holder(token);
        self.used.remove(token);
        Ok(holder)
    }

    /// Ends the uses of tokens that have expired, and returns them: for servers where nobody stays beyond that.
    pub fn expire(&mut self, now: u64) -> Vec<Holder> {
        let now = self.advance(now);
        let expired = self.used.forget(now);
        expired.into_iter().map(|(token, number)| Holder { token, number }).collect()
    }

    /// Who uses a token.
    pub fn holder(&self, token: TokenId) -> Option<Holder> {
        self.used.get(token).map(|(_, number)| Holder { token, number })
    }

    /// Whether a token is revoked, as far as is still remembered.
    pub fn is_revoked(&self, token: TokenId) -> bool {
        self.revoked.get(token).is_some()
    }

    /// How many tokens are in use.
    pub fn in_use(&self) -> usize {
        self.used.by_id.len()
    }

    /// The revoked tokens and when they expire: what has to be kept and revoked again when a server starts anew.
    pub fn revocations(&self) -> impl ExactSizeIterator<Item = (TokenId, u64)> {
        self.revoked.by_id.iter().map(|(id, (expires, ()))| (*id, *expires))
    }

    /// The time it is at least. Revocations that have come to their end are forgotten; uses stay until they end, are
    /// [`expire`](Self::expire)d, or there is no room.
    fn advance(&mut self, now: u64) -> u64 {
        self.latest = self.latest.max(now);
        self.revoked.forget(self.latest);
        self.latest
    }
}

/// So many things by token at most, the first to expire at hand.
///
/// Ordered, not hashed: a hash that is safe from chosen keys draws randomness.
#[derive(Clone, Debug)]
struct Expiring<T> {
    capacity: usize,
    by_id: BTreeMap<TokenId, (u64, T)>,
    by_expiry: BTreeSet<(u64, TokenId)>,
}

impl<T: Copy> Expiring<T> {
    fn new(capacity: usize) -> Self {
        Self { capacity, by_id: BTreeMap::new(), by_expiry: BTreeSet::new() }
    }

    fn get(&self, id: TokenId) -> Option<(u64, T)> {
        self.by_id.get(&id).copied()
    }

    /// Whether there was room; there always is for what takes its own place.
    fn insert(&mut self, id: TokenId, expires: u64, value: T) -> bool {
        if self.by_id.len() >= self.capacity && !self.by_id.contains_key(&id) {
            return false;
        }
        self.remove(id);
        self.by_id.insert(id, (expires, value));
        self.by_expiry.insert((expires, id));
        true
    }

    fn remove(&mut self, id: TokenId) {
        if let Some((expires, _)) = self.by_id.remove(&id) {
            self.by_expiry.remove(&(expires, id));
        }
    }

    /// Removes and returns what has expired.
    fn forget(&mut self, now: u64) -> Vec<(TokenId, T)> {
        let mut expired = Vec::new();
        while let Some((_, id)) = self.by_expiry.first().copied().filter(|(expires, _)| *expires <= now) {
            expired.extend(self.get(id).map(|(_, value)| (id, value)));
            self.remove(id);
        }
        expired
    }
}

//! Who may come in: the one question a hub asks before it makes anything for a guest.

use crate::protocol::Refusal;
use crate::token::{Holder, Rights, TokenId};
use std::sync::{Arc, Mutex, PoisonError};

/// Decides who may come in.
///
/// Closures are gates too:
///
/// ```
/// use evenkeel_net::hub::{Asking, HubConfig, Pass};
/// use evenkeel_net::protocol::Refusal;
/// let gate = |asking: &Asking<'_>| match asking.token {
///     b"let me in" => Ok(Pass::with_entities(4)),
///     _ => Err(Refusal::Token("it is not the word of the day".into())),
/// };
/// let config = HubConfig { gate: Box::new(gate), ..HubConfig::default() };
/// ```
pub trait Gate: Send {
    /// Whether somebody may come in, and what it may do. It is asked last: a pass that it gives out is in use from then on,
    /// until it is [`released`](Self::released).
    fn admit(&mut self, asking: &Asking<'_>) -> Result<Pass, Refusal>;

    /// A player has come from another server with the whole session, and held this pass there, by that token if it needed one:
    /// what it holds here, or nothing if it has no place here. The other server is believed.
    fn resume(&mut self, pass: Pass, token: Option<TokenId>) -> Option<Pass> {
        let _ = token;
        Some(pass)
    }

    /// A player has left for good, or holds another pass now.
    fn released(&mut self, pass: &Pass) {
        let _ = pass;
    }

    /// The next pass that holds no more, and why: its player is sent away. Asked often.
    fn poll_withdrawn(&mut self) -> Option<(Pass, String)> {
        None
    }
}

/// Somebody asks to come in.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The token it shows; empty for none.
    pub token: &'a [u8],
    /// The session it wants to join: this one.
    pub session: &'a str,
    /// What it calls itself.
    pub name: &'a str,
    /// What it holds already, if it was here, lost its connection, and proved by its secret that it is the same player.
    pub rejoining: Option<&'a Pass>,
}

/// What a player may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Entities at once; none for somebody who only watches.
    pub max_entities: u32,
    /// What it may do besides.
    pub rights: Rights,
    /// The use of a token that it stands for, if it came with one.
    pub holder: Option<Holder>,
}

impl Pass {
    /// A player's, for so many entities at once.
    pub fn with_entities(max_entities: u32) -> Self {
        Self { max_entities, rights: Rights::JOIN | Rights::MOVE, holder: None }
    }

    /// For watching and nothing else.
    pub fn watching() -> Self {
        Self { max_entities: 0, rights: Rights::OBSERVE, holder: None }
    }

    /// Whether its holder may only watch: it makes nothing, and says nothing to others.
    pub fn watches_only(&self) -> bool {
        !self.rights.contains(Rights::JOIN)
    }
}

impl<F> Gate for F
where
    F: FnMut(&Asking<'_>) -> Result<Pass, Refusal> + Send,
{
    fn admit(&mut self, asking: &Asking<'_>) -> Result<Pass, Refusal> {
        self(asking)
    }
}

/// A gate that somebody else holds too: to change its keys, or to take tokens back, while the hub asks it.
impl<G: Gate + ?Sized> Gate for Arc<Mutex<G>> {
    fn admit(&mut self, asking: &Asking<'_>) -> Result<Pass, Refusal> {
        self.lock().unwrap_or_else(PoisonError::into_inner).admit(asking)
    }

    fn resume(&mut self, pass: Pass, token: Option<TokenId>) -> Option<Pass> {
        self.lock().unwrap_or_else(PoisonError::into_inner).resume(pass, token)
    }

    fn released(&mut self, pass: &Pass) {
        self.lock().unwrap_or_else(PoisonError::into_inner).released(pass);
    }

    fn poll_withdrawn(&mut self) -> Option<(Pass, String)> {
        self.lock().unwrap_or_else(PoisonError::into_inner).poll_withdrawn()
    }
}

/// Lets everybody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Entities that each player may have at once.
    pub max_entities: u32,
}

impl Gate for Open {
    fn admit(&mut self, _: &Asking<'_>) -> Result<Pass, Refusal> {
        Ok(Pass::with_entities(self.max_entities))
    }
}

//! What entities of a session are made of.

use crate::prelude::*;
use bevy_math::Vec3;
use evenkeel::{EntityConfig, Placement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An entity that others are to see where it is. Spawn it where it is to be owned, with a `Transform`; the owner's game moves that.
///
/// ```
/// use evenkeel_bevy::prelude::*;
/// let tank = DeadReckoned::within(0.1).turning(0.05).upright();
/// let star = DeadReckoned::within(2.0).kind(MotionKind::Linear).priority(0.2);
/// # let _ = (tank, star);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadReckoned {
    /// How far others may be off before they are told more.
    pub threshold: Threshold,
    /// Which motion its vectors carry.
    pub kind: MotionKind,
    /// Whether its orientation is told, and how.
    pub turns: Turns,
    /// How much it matters in comparison to others, to whom nothing else is [said](Relevances). 1 is usual.
    pub priority: f32,
}

/// How an entity's orientation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Turns {
    /// All of it.
    #[default]
    Freely,
    /// How far it has turned about the vertical [axis](crate::Axes): few bits, and whatever drives along its heading goes in arcs.
    Upright,
    /// Not at all: others leave the rotation alone.
    Never,
}

impl DeadReckoned {
    /// Others may be off by this distance, and by 0.05 rad.
    pub fn within(distance: f64) -> Self {
        Self { threshold: Threshold::within(distance), ..Self::default() }
    }

    /// Others may be off by this many radians.
    pub fn turning(self, angle: f64) -> Self {
        Self { threshold: Threshold { angle, ..self.threshold }, ..self }
    }

    /// Its vectors carry this motion.
    pub fn kind(self, kind: MotionKind) -> Self {
        Self { kind, ..self }
    }

    /// It stands upright: see [`Turns::Upright`].
    pub fn upright(self) -> Self {
        Self { turns: Turns::Upright, ..self }
    }

    /// Its rotation is nobody else's business: see [`Turns::Never`].
    pub fn without_rotation(self) -> Self {
        Self { turns: Turns::Never, ..self }
    }

    /// It matters so much; 1 is usual.
    pub fn priority(self, priority: f32) -> Self {
        Self { priority, ..self }
    }

    pub(crate) fn config(&self) -> EntityConfig {
        EntityConfig { threshold: self.threshold, kind: self.kind }
    }
}

impl Default for DeadReckoned {
    fn default() -> Self {
        Self { threshold: Threshold::default(), kind: MotionKind::Auto, turns: Turns::Freely, priority: 1.0 }
    }
}

/// How an entity moves, in Bevy's axes. The owner's game may write it: then nothing has to be derived from one frame to the next.
/// On everybody else's it is written for the game, if it is there.
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
pub struct Moving {
    /// Units a second.
    pub velocity: Vec3,
    /// Radians a second, about this axis, in the entity's own axes.
    pub turning: Vec3,
}

/// The name by which all hosts of a session know the entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[component(immutable)]
pub struct NetId(pub EntityId);

/// Whose an entity is. Whoever has it, and the server, may write another host: then it is handed over. It may be spawned with one, too:
/// what is made for a player is then its own from the beginning, and starts where its game puts it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner(pub HostId);

/// What the game says to all about an entity when it is made: what it is, say. At most
/// [`MAX_ABOUT`](evenkeel_net::protocol::MAX_ABOUT) bytes, and not changed later.
#[derive(Component, Clone, Debug, PartialEq, Eq, Default)]
pub struct About(pub Vec<u8>);

/// Whose an entity is as far as this app has been told, whatever the game has written since.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Told(pub(crate) HostId);

/// This app moves the entity: it writes `Transform`.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Owned;

/// Somebody else moves the entity: this app reads `Transform`.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Transform)]
pub struct Followed;

/// A [`Followed`] entity has been placed: its `Transform` means something. Whatever is to be seen of it is best added now.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Placed;

/// How far to trust the `Transform` of a [`Followed`] entity: add it to those of whom that is of interest.
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
pub struct Seen(pub Option<Placement>);

/// On the server: how much an entity matters to which player, or that it is hidden from it. To take it back, write an empty one. What is
/// spawned with it is made known to those who are here, and hidden at once: for secrets, see
/// [`HubConfig::scope`](evenkeel_net::hub::HubConfig::scope), which overrules this.
#[derive(Component, Clone, Debug, PartialEq, Default)]
pub struct Relevances {
    /// To whom nothing else is said, those to come included; as its [priority](DeadReckoned::priority) has it, if there is none.
    pub usual: Option<Relevance>,
    /// To these players, if they are here.
    pub to: BTreeMap<HostId, Relevance>,
}

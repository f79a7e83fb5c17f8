//! What went wrong, said once.

use crate::prelude::*;
use bevy_ecs::system::SystemParam;
use std::{collections::HashSet, fmt::Display};

/// Something that the game's programmer wants to know. It is said once of each entity, and in the log too.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// With whom, if it is with one.
    pub entity: Option<Entity>,
    /// What is wrong, and what was done about it.
    pub what: String,
}

/// Beyond so many troubles nothing is said any more.
const MOST: usize = 10_000;

/// What has been said.
#[derive(Resource, Default)]
pub(crate) struct Said(HashSet<(Option<Entity>, &'static str)>);

/// Says what is wrong, once.
#[derive(SystemParam)]
pub(crate) struct Complain<'w> {
    said: ResMut<'w, Said>,
    out: MessageWriter<'w, Trouble>,
}

impl Complain<'_> {
    /// What came of something, if it was done. Why it was not is said, unless that may still come.
    pub(crate) fn unless_done<T>(&mut self, done: Result<T, Refused>, entity: Entity, kind: &'static str) -> Option<T> {
        if let Err(Refused::Because(why)) = &done {
            self.about(Some(entity), kind, why);
        }
        done.ok()
    }

    /// `kind` is what is said once of each entity; `why` is added to it.
    pub(crate) fn about(&mut self, entity: Option<Entity>, kind: &'static str, why: impl Display) {
        if self.said.0.len() >= MOST || !self.said.0.insert((entity, kind)) {
            return;
        }
        let what = format!("{kind}: {why}");
        tracing::warn!(entity = entity.map(tracing::field::display), "{what}");
        self.out.write(Trouble { entity, what });
    }
}

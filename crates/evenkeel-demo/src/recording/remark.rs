//! What the page needs and recordings have no events for: notes, as JSON.

use crate::feed::{Second, State};
use serde::{Deserialize, Serialize};

/// The most crafts and receivers in one recording: what a frame can count, and what a page can draw.
const MAX_CRAFTS: usize = 255;
const MAX_VIEWS: usize = 64;
const MAX_MARKS: usize = 20_000;

/// A note that means something to the page.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Remark {
    /// From now on there is this to see.
    Cast(Box<Cast>),
    /// From now on marks have these flags: those of the truth, then of each world and view, in hexadecimal digits.
    Flags(String),
    /// At this moment shots are here.
    Shots(Vec<(f64, f64, Option<u8>)>),
    /// What was measured in a second.
    Second(Box<Second>),
    /// Something happened.
    News(String),
}

/// What there is to see, and by which numbers events speak of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cast {
    pub(super) state: State,
    /// The entity of every craft.
    pub(super) entities: Vec<u32>,
    /// The host of every world and view.
    pub(super) hosts: Vec<Vec<u32>>,
}

impl Remark {
    /// A note as text.
    pub(super) fn text(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }

    /// What a note means; nothing if it is somebody else's.
    pub(super) fn read(text: &str) -> Result<Option<Self>, String> {
        match serde_json::from_str(text) {
            Ok(Self::Cast(cast)) if !cast.is_sound() => Err("what there is to see does not go together".into()),
            Ok(remark) => Ok(Some(remark)),
            Err(_) => Ok(None),
        }
    }
}

impl Cast {
    fn is_sound(&self) -> bool {
        let (crafts, views, worlds) = (self.state.crafts.len(), self.state.views.len(), self.hosts.len());
        crafts <= MAX_CRAFTS
            && views <= MAX_VIEWS
            && worlds == 1 + usize::from(self.state.settings.right.is_some())
            && crafts * views * worlds <= MAX_MARKS
            && self.entities.len() == crafts
            && self.hosts.iter().all(|hosts| hosts.len() == views)
    }
}

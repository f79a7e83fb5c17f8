//! What the page is told. See `docs/DEMO.md`.

use crate::settings::Settings;
use serde::{Deserialize, Serialize};

/// The version of the feed.
pub const VERSION: u8 = 1;
/// So many counts are one of the game's units.
const COUNTS: f64 = 50.0;

/// A text to the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Text {
    /// Settings or players have changed.
    State(Box<State>),
    /// A second has passed.
    Second(Box<Second>),
    /// Something happened.
    News {
        /// In words.
        text: String,
    },
    /// A recording is complete.
    Recorded {
        /// Its name.
        file: String,
        /// Where to get it.
        url: String,
    },
}

/// What the demo is made of at present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Which number of state this is: frames belong to one.
    pub generation: u64,
    /// What is set.
    pub settings: Settings,
    /// What moves.
    pub crafts: Vec<CraftInfo>,
    /// Whose pictures are shown.
    pub views: Vec<ViewInfo>,
    /// Who has hit and was hit how often.
    pub scores: Vec<Score>,
    /// Whether the run is being recorded.
    pub recording: bool,
    /// The recording that is shown instead, if one is.
    pub opened: Option<String>,
}

/// A craft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CraftInfo {
    /// Its number in the demo.
    pub id: u32,
    /// Whose it is.
    pub name: String,
    /// One of a handful of colours.
    pub colour: u8,
    /// Whether a person steers it.
    pub human: bool,
}

/// A receiver whose picture is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Whose.
    pub name: String,
    /// How far away, as set. Milliseconds, one way.
    pub delay_ms: f64,
}

/// A player's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Whose craft.
    pub id: u32,
    /// How many it hit.
    pub hits: u32,
    /// How often it was hit.
    pub deaths: u32,
}

/// A second in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Since the demo began.
    pub time_s: f64,
    /// How long the window is at present.
    pub window_s: f64,
    /// Processors that this process used.
    pub server_cpu: Option<f64>,
    /// One or two.
    pub worlds: Vec<WorldSecond>,
    /// What the referee decided, since the last change.
    pub verdicts: Verdicts,
}

/// A second of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldSecond {
    /// By which policy.
    pub policy: String,
    /// Vectors that the server sent.
    pub vectors_per_s: f64,
    /// Bytes of vectors that the server sent.
    pub bytes_per_s: f64,
    /// Over receivers, of their means in the window.
    pub mean: Option<f64>,
    /// Over receivers, of their means in the window.
    pub std: Option<f64>,
    /// Over receivers, of their means in the window.
    pub max: Option<f64>,
    /// By how much fairness makes the mean error larger of late, as the policy estimates it.
    #[serde(default)]
    pub fairness_cost: Option<f64>,
    /// In the order of the views.
    pub receivers: Vec<ReceiverSecond>,
}

/// A second of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceiverSecond {
    /// Mean distance between what is and what is shown.
    pub error: Option<f64>,
    /// The share of crafts in the game that are not shown: they have no part in the error.
    #[serde(default)]
    pub unseen: Option<f64>,
    /// Its integral over time since the last change.
    pub accumulated: Option<f64>,
    /// Its mean in the window.
    pub window: Option<f64>,
    /// As measured by the session.
    pub delay_ms: Option<f64>,
    /// As measured by the session.
    pub jitter_ms: Option<f64>,
    /// As measured by the session: a share.
    pub loss: Option<f64>,
    /// How far off the receiver's clock is.
    pub clock_error_ms: Option<f64>,
    /// How far off it thinks that it may be.
    pub uncertainty_ms: Option<f64>,
    /// The share of shots about which its picture says the same as the truth.
    pub agreement: Option<f64>,
    /// Vectors that it was sent.
    pub vectors_per_s: Option<f64>,
}

/// What the referee decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Shots it decided about.
    pub decided: u64,
    /// How many of these otherwise than the truth.
    pub wrong: u64,
}

/// Where something is in a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// In the game's unit.
    pub x: f64,
    /// In the game's unit.
    pub y: f64,
    /// Radians.
    pub heading: f64,
    /// 1: there, 2: frozen, 4: the view's own.
    pub flags: u8,
}

/// A picture of the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The state that it belongs to.
    pub generation: u64,
    /// Since the demo began, in seconds.
    pub time_s: f64,
    /// By craft.
    pub truth: Vec<Mark>,
    /// By world, view and craft.
    pub shown: Vec<Vec<Vec<Mark>>>,
    /// Where shots are, and the index of the shooter among the crafts.
    pub shots: Vec<(f64, f64, Option<u8>)>,
}

impl Frame {
    /// As the page reads it.
    pub fn encode(&self) -> Vec<u8> {
        let count = |length: usize| u8::try_from(length).unwrap_or(u8::MAX);
        let views = self.shown.first().map_or(0, Vec::len);
        let shots = &self.shots[..self.shots.len().min(255)];
        let mut bytes = vec![VERSION, self.generation as u8, count(self.shown.len()), count(views)];
        bytes.extend([count(self.truth.len()), count(shots.len())]);
        bytes.extend(self.time_s.to_le_bytes());
        let marks = self.truth.iter().chain(self.shown.iter().flatten().flatten());
        marks.for_each(|mark| mark.write(&mut bytes));
        for (x, y, shooter) in shots {
            bytes.extend([counts(*x), counts(*y)].map(i16::to_le_bytes).concat());
            bytes.push(shooter.unwrap_or(u8::MAX));
        }
        bytes
    }
}

impl Mark {
    fn write(&self, bytes: &mut Vec<u8>) {
        let turn = evenkeel::wrap_angle(self.heading) / core::f64::consts::PI * 32_768.0;
        // Half a turn is one more than there is: it is the same as half a turn the other way.
        let heading = (turn.round() as i32 & 0xFFFF) as u16 as i16;
        for number in [counts(self.x), counts(self.y), heading] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.push(self.flags);
    }
}

/// What is beyond the picture is at its edge.
fn counts(length: f64) -> i16 {
    (length * COUNTS).round().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_length_it_says() {
        let mark = Mark { x: 1.0, y: -2.0, heading: core::f64::consts::PI, flags: 1 };
        let shown = vec![vec![vec![mark; 3]; 2]; 2];
        let frame =
            Frame { generation: 258, time_s: 1.5, truth: vec![mark; 3], shown, shots: vec![(3.0, 700.0, None)] };
        let bytes = frame.encode();
        assert_eq!(bytes[..6], [1, 2, 2, 2, 3, 1]);
        assert_eq!(bytes.len(), 14 + 15 * 7 + 5);
        assert_eq!(bytes[14..21], [50, 0, 156, 255, 0, 128, 1]);
        assert_eq!(bytes[bytes.len() - 5..], [150, 0, 255, 127, 255]);
    }
}

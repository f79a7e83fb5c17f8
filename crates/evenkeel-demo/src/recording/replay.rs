//! A recording that is shown again, as fast as it went, over and over.

use super::reel::{self, Piece, Reel};
use super::remark::Cast;
use super::store::Spool;
use super::tally::Tally;
use crate::feed::{Frame, State, Text};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Nobody waits longer for the next picture, nor for the first after the last.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What is to be shown.
pub(crate) enum Scene {
    /// What there is to see has changed.
    State,
    Frame(Frame),
    Text(Text),
}

/// A recording that is open.
pub(crate) struct Replay {
    name: String,
    spool: Spool,
    first: Cast,
    seconds: f64,
    state: State,
    reel: Reel,
    tally: Tally,
    /// What comes next, and when in the recording.
    next: VecDeque<(f64, Scene)>,
    /// The recording's time up to which all was shown, and when that was.
    position: f64,
    reached: Instant,
}

impl Replay {
    /// Opens a recording that came from anywhere. It is read to its end first: what cannot be shown is refused at once.
    pub(crate) fn open(spool: Spool, name: String) -> Result<Self, String> {
        let (first, seconds) = reel::examine(spool.path())?;
        let reel = Reel::new(spool.path(), first.clone())?;
        let state = first.state.clone();
        let tally = Tally::new(&state, 0.0);
        let (next, position, reached) = (VecDeque::new(), 0.0, Instant::now());
        let mut replay = Self { name, spool, first, seconds, state, reel, tally, next, position, reached };
        replay.fetch()?;
        Ok(replay)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is in it, in words.
    pub(crate) fn about(&self) -> String {
        let state = &self.first.state;
        format!("{} crafts, {} receivers, {:.0} s", state.crafts.len(), state.views.len(), self.seconds)
    }

    /// What there is to see at present.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// When the next is to be shown.
    pub(crate) fn due(&self) -> Instant {
        let wait = self.next.front().map_or(1.0, |(time_s, _)| (time_s - self.position).clamp(0.0, 1.0));
        self.reached + Duration::from_secs_f64(wait)
    }

    /// What is due; at the end, the recording begins anew.
    pub(crate) fn advance(&mut self, now: Instant) -> Result<Option<Scene>, String> {
        if now < self.due() {
            return Ok(None);
        }
        let Some((time_s, scene)) = self.next.pop_front() else {
            return self.rewind(now).map(|()| None);
        };
        self.reached += Duration::from_secs_f64((time_s - self.position).clamp(0.0, LONGEST_WAIT.as_secs_f64()));
        self.position = time_s;
        if self.next.is_empty() {
            self.fetch()?;
        }
        Ok(Some(scene))
    }

    fn rewind(&mut self, now: Instant) -> Result<(), String> {
        self.reel = Reel::new(self.spool.path(), self.first.clone())?;
        (self.position, self.reached) = (0.0, now);
        self.fetch()
    }

    /// Reads on until there is something to show. Nothing is left at the end.
    fn fetch(&mut self) -> Result<(), String> {
        while self.next.is_empty() {
            let Some((time_s, piece)) = self.reel.next()? else { return Ok(()) };
            match piece {
                Piece::Cast(cast) => {
                    self.tally = Tally::new(&cast.state, time_s);
                    self.state = cast.state;
                    self.next.push_back((time_s, Scene::State));
                }
                Piece::Frame(frame) => {
                    let second = self.tally.take(&frame);
                    self.next.push_back((time_s, Scene::Frame(frame)));
                    let told = second.map(|second| (time_s, Scene::Text(Text::Second(Box::new(second)))));
                    self.next.extend(told);
                }
                Piece::Second(second) => self.tally.measured(second),
                Piece::News(text) => self.next.push_back((time_s, Scene::Text(Text::News { text }))),
            }
        }
        Ok(())
    }
}

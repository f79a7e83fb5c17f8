//! What a player saw, against what was: measured in the time that all processes have in common, outside of the thing measured.

use super::record::Recording;
use super::tally::Tally;
use super::truth::{Known, Truth};
use super::wall::Wall;
use anyhow::Result;
use evenkeel::{Duration, EntityId, GlobalTime, Placement};
use evenkeel_net::Client;
use evenkeel_net::seat::SeatEvent;
use std::collections::BTreeMap;

/// A look that took longer was interrupted, perhaps between reading one clock and the other.
const INTERRUPTED_NANOS: i64 = 2_000_000;
/// Every so many looks both clocks are noted, if somebody wants to know.
const NOTED: u64 = 20;

/// Everything that one player saw.
#[derive(Default)]
pub(super) struct Seen {
    /// Distance between where things are and where they are shown.
    pub(super) real: Tally,
    /// Distance between where the base case says that they are and where they are shown.
    pub(super) export: Tally,
    /// Vectors by which something was shown.
    pub(super) vectors: u64,
    /// Entities that were there, and how many of those of which the truth is not known.
    pub(super) entities: (u64, u64),
    /// Looks that were interrupted.
    pub(super) interrupted: u64,
    /// The common time and the session's, if somebody wants to know.
    pub(super) clock: Option<Vec<(i64, i64)>>,
    looks: u64,
    present: BTreeMap<EntityId, Present>,
}

struct Present {
    known: Option<Known>,
    /// When the vector that is shown was generated.
    generated: Option<GlobalTime>,
}

/// What matters to a player's part.
pub(super) enum News {
    Refused(String),
    Ending(String),
    Lost,
}

/// Where to look, and what to do with it.
pub(super) struct Look<'a> {
    pub(super) wall: &'a Wall,
    pub(super) truth: &'a mut Truth,
    pub(super) lag: Duration,
    /// From when and until when errors count, in the common time.
    pub(super) window: (i64, i64),
    pub(super) recording: Option<(&'a mut Recording, u32)>,
}

impl Seen {
    /// Nothing yet. Both clocks are noted if somebody wants to know.
    pub(super) fn new(keep_clock: bool) -> Self {
        Self { clock: keep_clock.then(Vec::new), ..Self::default() }
    }

    /// Looks once. Answers what the game would have to know.
    pub(super) fn look(&mut self, client: &Client, mut look: Look<'_>) -> Result<Vec<News>> {
        let unix = look.wall.now();
        let frame = client.frame();
        let interrupted = look.wall.now().saturating_sub(unix) > INTERRUPTED_NANOS;
        let news = frame.events.into_iter().filter_map(|event| self.hear(event, look.truth)).collect();
        self.looks += 1;
        self.interrupted += u64::from(interrupted);
        let Some(time) = frame.time.filter(|_| !interrupted) else { return Ok(news) };
        if let Some(pairs) = self.clock.as_mut().filter(|_| self.looks.is_multiple_of(NOTED)) {
            pairs.push((unix, time.as_nanos()));
        }
        if (look.window.0..look.window.1).contains(&unix) {
            for (entity, placement) in &frame.placed {
                self.compare(*entity, placement, unix, time, &mut look)?;
            }
        }
        Ok(news)
    }

    fn hear(&mut self, event: SeatEvent, truth: &mut Truth) -> Option<News> {
        match event {
            SeatEvent::Made(made) => {
                if !self.present.contains_key(&made.entity) {
                    let known = truth.of(&made.about);
                    self.entities.0 += 1;
                    self.entities.1 += u64::from(known.is_none());
                    self.present.insert(made.entity, Present { known, generated: None });
                }
                None
            }
            SeatEvent::Gone { entity } => {
                self.present.remove(&entity);
                None
            }
            SeatEvent::Refused(why) => Some(News::Refused(why.to_string())),
            SeatEvent::Ending { why } => Some(News::Ending(why)),
            SeatEvent::Lost { .. } => Some(News::Lost),
            _ => None,
        }
    }

    fn compare(
        &mut self,
        entity: EntityId,
        shown: &Placement,
        unix: i64,
        time: GlobalTime,
        look: &mut Look<'_>,
    ) -> Result<()> {
        let Some(present) = self.present.get_mut(&entity) else { return Ok(()) };
        let generated = time - look.lag - shown.age;
        let same = |before: GlobalTime| generated.since(before).abs() < Duration::from_micros(100);
        if !shown.frozen && !present.generated.is_some_and(same) {
            self.vectors += 1;
            present.generated = Some(generated);
        }
        // What is shown is what was a lag before.
        let Some(known) = &present.known else { return Ok(()) };
        let Some((real, exported)) = known.at(unix.saturating_sub(look.lag.as_nanos())) else { return Ok(()) };
        self.real.add(shown.position.distance(real));
        self.export.add(shown.position.distance(exported));
        match &mut look.recording {
            Some((recording, by)) => recording.note(entity, *by, unix, real, shown),
            None => Ok(()),
        }
    }

    /// How many entities are there at present.
    pub(super) fn present(&self) -> usize {
        self.present.len()
    }
}

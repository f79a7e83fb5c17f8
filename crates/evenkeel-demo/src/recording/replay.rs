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
/// So many events are read at a time: some milliseconds, for which everybody else waits.
const READ_AT_ONCE: usize = 20_000;

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
    /// All was read.
    over: bool,
    /// The recording's time up to which all was shown, and when that was.
    position: f64,
    reached: Instant,
}

impl Replay {
    /// Opens a recording that came from anywhere. It is read to its end first: what cannot be shown is refused at once.
    pub(crate) fn open(spool: Spool, name: String) -> Result<Self, String> {
        let (first, seconds) = reel::examine(&spool)?;
        let reel = Reel::new(spool.path(), first.clone())?;
        let state = first.state.clone();
        let tally = Tally::new(&state, 0.0);
        let (next, over, position, reached) = (VecDeque::new(), false, 0.0, Instant::now());
        let mut replay = Self { name, spool, first, seconds, state, reel, tally, next, over, position, reached };
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
        match self.next.front() {
            Some((time_s, _)) => self.reached + self.wait(*time_s),
            None if self.over => self.reached + LONGEST_WAIT,
            // There is more to read before anything can be shown.
            None => self.reached,
        }
    }

    fn wait(&self, time_s: f64) -> Duration {
        Duration::from_secs_f64((time_s - self.position).clamp(0.0, LONGEST_WAIT.as_secs_f64()))
    }

    /// What is due; at the end, the recording begins anew.
    pub(crate) fn advance(&mut self, now: Instant) -> Result<Option<Scene>, String> {
        if now < self.due() {
            return Ok(None);
        }
        let Some((time_s, scene)) = self.next.pop_front() else {
            let read = if self.over { self.rewind(now) } else { self.fetch() };
            return read.map(|()| None);
        };
        self.reached += self.wait(time_s);
        self.position = time_s;
        if self.next.is_empty() {
            self.fetch()?;
        }
        Ok(Some(scene))
    }

    fn rewind(&mut self, now: Instant) -> Result<(), String> {
        self.reel = Reel::new(self.spool.path(), self.first.clone())?;
        self.tally = Tally::new(&self.first.state, 0.0);
        (self.over, self.position, self.reached) = (false, 0.0, now);
        self.fetch()
    }

    /// Reads on until there is something to show, or for long enough.
    fn fetch(&mut self) -> Result<(), String> {
        let mut allowed = READ_AT_ONCE;
        while self.next.is_empty() {
            let (time_s, piece) = self.reel.next(&mut allowed)?;
            match piece {
                Piece::Later => return Ok(()),
                Piece::End => {
                    self.over = true;
                    return Ok(());
                }
                Piece::Cast(cast) => {
                    // Scores change with every hit, and with them nothing that is measured.
                    let same = cast.state.settings == self.state.settings && cast.state.views == self.state.views;
                    if !same {
                        self.tally = Tally::new(&cast.state, time_s);
                    }
                    self.tally.cast(&cast.state);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::remark::Remark;
    use super::super::store::Recordings;
    use super::*;
    use crate::feed::{CraftInfo, Score, ViewInfo};
    use crate::settings::Settings;
    use evenkeel::{GlobalTime, Vec3};
    use evenkeel_link::recording::{Event, Header, RecordingWriter};

    /// A recording of these events, open.
    fn replay(events: impl Iterator<Item = Event>) -> Replay {
        Replay::open(spool(&Recordings::new().unwrap(), events), "recording".into()).unwrap()
    }

    fn spool(recordings: &Recordings, events: impl Iterator<Item = Event>) -> Spool {
        let spool = recordings.spool();
        let file = std::fs::File::create(spool.path()).unwrap();
        let mut writer = RecordingWriter::new(file, &Header::default()).unwrap();
        events.for_each(|event| writer.write(&event).unwrap());
        writer.finish().unwrap();
        spool
    }

    fn real(entity: u32, at: GlobalTime) -> Event {
        Event::Real { entity, at, position: Vec3::ZERO, velocity: Vec3::ZERO, heading: 0.0 }
    }

    #[test]
    fn a_hit_does_not_begin_the_window_anew_and_people_are_not_measured() {
        let craft = |id, human| CraftInfo { id, name: id.to_string(), colour: 0, human };
        let state = State {
            generation: 1,
            settings: Settings { right: None, ..Settings::default() },
            crafts: vec![craft(0, false), craft(1, true)],
            views: vec![ViewInfo { name: "far".into(), delay_ms: 0.0 }],
            scores: Vec::new(),
            recording: false,
            opened: None,
        };
        let cast = |hits| {
            let state = State { scores: vec![Score { id: 0, hits, deaths: 0 }], ..state.clone() };
            Remark::Cast(Box::new(Cast { state, entities: vec![0, 1], hosts: vec![vec![0]] })).text().unwrap()
        };
        let moment = |n: i64| {
            let at = GlobalTime::from_millis(100 * n);
            let placed =
                |entity, off| Event::Placed { entity, by: 0, at, position: Vec3::new(off, 0.0, 0.0), heading: 0.0 };
            let hit = (n % 5 == 0).then(|| Event::Note { at, text: cast(n.unsigned_abs() as u32) });
            hit.into_iter().chain([real(0, at), real(1, at), placed(0, 2.0), placed(1, 50.0)])
        };
        let mut replay = replay((0..50).flat_map(moment));
        let mut windows = Vec::new();
        for _ in 0..1_000 {
            let now = replay.due();
            if let Some(Scene::Text(Text::Second(second))) = replay.advance(now).unwrap() {
                windows.push((second.window_s.round(), second.worlds[0].receivers[0].error));
            }
        }
        windows.truncate(6);
        let expected = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0].map(|window_s| (window_s, Some(2.0)));
        assert_eq!(windows, expected, "and anew only when the recording does");
    }

    #[test]
    fn what_unpacks_to_very_much_is_refused_and_a_demo_that_stops_reads_no_more() {
        let refused = |spool: Spool| Replay::open(spool, "recording".into()).err().unwrap();
        let recordings = Recordings::new().unwrap();
        let note = Event::Note { at: GlobalTime::ZERO, text: "a".repeat(60_000) };
        let notes = [real(0, GlobalTime::ZERO)].into_iter().chain((0..10_000).map(|_| note.clone()));
        assert!(refused(spool(&recordings, notes)).contains("of notes"));
        let good = spool(&recordings, [real(0, GlobalTime::ZERO)].into_iter());
        recordings.close();
        assert!(refused(good).contains("stopping"));
    }

    #[test]
    fn however_much_happens_at_a_moment_it_is_read_bit_by_bit() {
        let goes = 10;
        let mut replay = replay((0..goes * READ_AT_ONCE).map(|_| real(0, GlobalTime::ZERO)));
        for _ in 0..2 {
            let mut read = 0;
            let frame = loop {
                let now = replay.due();
                match replay.advance(now).unwrap() {
                    Some(Scene::Frame(_)) => break true,
                    Some(_) => {}
                    None => read += 1,
                }
                assert!(read < 2 * goes, "it comes to an end");
            };
            assert!(frame && read >= goes - 1, "{read} times");
        }
    }
}

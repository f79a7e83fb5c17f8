//! How far off receivers are in a recording, worked out again from what it says.

use crate::feed::{Frame, Mark, ReceiverSecond, Second, State, Verdicts, WorldSecond};
use std::collections::VecDeque;

/// How many seconds the window has.
const WINDOW: usize = 30;
/// A gap between pictures counts as no longer than this. Seconds.
const LONGEST_S: f64 = 0.5;

/// The books.
pub(super) struct Tally {
    begin: f64,
    before: Option<f64>,
    /// When the next second is full.
    full: f64,
    worlds: Vec<Vec<Receiver>>,
    /// Which crafts count: where those of people really are, nobody knew when it was recorded.
    counts: Vec<bool>,
    policies: Vec<String>,
    /// What was measured when it was recorded, and does not follow from pictures.
    measured: Option<Box<Second>>,
}

/// The books of a receiver.
#[derive(Clone, Default)]
struct Receiver {
    /// Sum and number of errors in this second.
    sum: f64,
    count: u32,
    accumulated: f64,
    /// The means of seconds.
    window: VecDeque<f64>,
}

impl Tally {
    pub(super) fn new(state: &State, begin: f64) -> Self {
        let worlds = [Some(&state.settings.left), state.settings.right.as_ref()].into_iter().flatten();
        let policies: Vec<String> = worlds.map(|world| world.policy.clone()).collect();
        let worlds = vec![vec![Receiver::default(); state.views.len()]; policies.len()];
        let mut tally =
            Self { begin, before: None, full: begin + 1.0, worlds, counts: Vec::new(), policies, measured: None };
        tally.cast(state);
        tally
    }

    /// From now on there are these crafts.
    pub(super) fn cast(&mut self, state: &State) {
        self.counts = state.crafts.iter().map(|craft| !craft.human).collect();
    }

    pub(super) fn measured(&mut self, second: Box<Second>) {
        self.measured = Some(second);
    }

    /// Takes a picture; gives the books whenever a second is full.
    pub(super) fn take(&mut self, frame: &Frame) -> Option<Second> {
        let passed = frame.time_s - self.before.replace(frame.time_s).unwrap_or(frame.time_s);
        let passed = passed.clamp(0.0, LONGEST_S);
        for (receivers, views) in self.worlds.iter_mut().zip(&frame.shown) {
            for (receiver, shown) in receivers.iter_mut().zip(views) {
                if let Some(error) = error(&frame.truth, shown, &self.counts) {
                    receiver.sum += error;
                    receiver.count += 1;
                    receiver.accumulated += error * passed;
                }
            }
        }
        if frame.time_s < self.full {
            return None;
        }
        self.full = frame.time_s + 1.0;
        Some(self.second(frame.time_s))
    }

    fn second(&mut self, time_s: f64) -> Second {
        let measured = self.measured.take();
        let window_s = (time_s - self.begin).min(WINDOW as f64);
        let worlds = self.worlds.iter_mut().zip(&self.policies).enumerate();
        let worlds = worlds.map(|(n, (receivers, policy))| {
            let measured = measured.as_ref().and_then(|second| second.worlds.get(n));
            world(receivers, policy, measured)
        });
        let worlds = worlds.collect();
        let verdicts = measured.as_ref().map_or(Verdicts::default(), |second| second.verdicts);
        Second { time_s, window_s, server_cpu: None, worlds, verdicts }
    }
}

fn world(receivers: &mut [Receiver], policy: &str, measured: Option<&WorldSecond>) -> WorldSecond {
    let seconds: Vec<ReceiverSecond> = receivers
        .iter_mut()
        .enumerate()
        .map(|(n, receiver)| {
            let known = measured.and_then(|world| world.receivers.get(n)).copied().unwrap_or_default();
            receiver.second(known)
        })
        .collect();
    let windows: Vec<f64> = seconds.iter().filter_map(|second| second.window).collect();
    let mean = mean(windows.iter().copied());
    let variance = mean.and_then(|mean| self::mean(windows.iter().map(|error| (error - mean).powi(2))));
    WorldSecond {
        policy: policy.to_owned(),
        vectors_per_s: measured.map_or(0.0, |world| world.vectors_per_s),
        bytes_per_s: measured.map_or(0.0, |world| world.bytes_per_s),
        mean,
        std: variance.map(f64::sqrt),
        max: windows.iter().copied().reduce(f64::max),
        fairness_cost: measured.and_then(|world| world.fairness_cost),
        receivers: seconds,
    }
}

impl Receiver {
    fn second(&mut self, known: ReceiverSecond) -> ReceiverSecond {
        let error = (self.count > 0).then(|| self.sum / f64::from(self.count));
        self.window.extend(error);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        (self.sum, self.count) = (0.0, 0);
        let window = mean(self.window.iter().copied());
        ReceiverSecond { error, accumulated: Some(self.accumulated), window, ..known }
    }
}

/// The mean distance between where the crafts of others are and where they are shown.
fn error(truth: &[Mark], shown: &[Mark], counts: &[bool]) -> Option<f64> {
    let others = truth.iter().zip(shown).zip(counts).filter(|(_, counts)| **counts).map(|(marks, _)| marks);
    let others = others.filter(|(is, shown)| is.flags & 1 != 0 && shown.flags & 5 == 1);
    mean(others.map(|(is, shown)| (is.x - shown.x).hypot(is.y - shown.y)))
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

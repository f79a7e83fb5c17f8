//! Recordings played.

use super::Recording;
use crate::game::{Game, SetupError};
use alloc::vec::Vec;
use evenkeel::{Operation, Tick};

/// A recording as it is played. Begins at tick 0, before any operation.
///
/// As an iterator, it gives every tick with the game as it is then; [`advance`](Self::advance) does so without copying it.
pub struct Replay<'a, G: Game> {
    game: G,
    tick: Tick,
    last: Tick,
    /// What is yet to come.
    operations: &'a [Operation<G::Act>],
    /// Those of one tick, in the order they are executed.
    due: Vec<&'a Operation<G::Act>>,
    verdicts: Vec<G::Verdict>,
}

/// A tick of a game.
#[derive(Clone, Debug)]
pub struct Frame<G: Game> {
    /// Which.
    pub tick: Tick,
    /// The game after the step to it and its operations.
    pub game: G,
    /// What was decided in the step to it and by its operations.
    pub verdicts: Vec<G::Verdict>,
}

impl<'a, G: Game> Replay<'a, G> {
    pub(super) fn new(recording: &'a Recording<G>) -> Result<Self, SetupError> {
        let last = Tick(recording.setup().ticks.into());
        let (due, verdicts) = (Vec::new(), Vec::new());
        Ok(Self { game: recording.start()?, tick: Tick(0), last, operations: recording.operations(), due, verdicts })
    }

    /// The game as it is now.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// What the last step and its operations decided.
    pub fn verdicts(&self) -> &[G::Verdict] {
        &self.verdicts
    }

    /// Steps to the next tick and executes its operations, by issuer and then by sequence. Answers the tick, or nothing at
    /// the end. What took effect at tick 0 is executed at tick 1, the first there is a step to.
    pub fn advance(&mut self) -> Option<Tick> {
        if self.tick >= self.last {
            return None;
        }
        self.tick = self.tick.next();
        self.verdicts.clear();
        self.game.step(&mut self.verdicts);
        let now = self.tick.time(self.game.step_length());
        let (due, later) = self.operations.split_at(self.operations.partition_point(|operation| operation.at <= now));
        self.operations = later;
        self.due.clear();
        self.due.extend(due);
        self.due.sort_by_key(|operation| (operation.issuer, operation.sequence));
        for Operation { issuer, act, .. } in self.due.drain(..) {
            if self.game.permits(*issuer, act) {
                self.game.apply(*issuer, act, &mut self.verdicts);
            }
        }
        Some(self.tick)
    }
}

impl<G: Game> Iterator for Replay<'_, G> {
    type Item = Frame<G>;

    fn next(&mut self) -> Option<Frame<G>> {
        let tick = self.advance()?;
        Some(Frame { tick, game: self.game.clone(), verdicts: self.verdicts.clone() })
    }
}

//! What a receiver knows about one entity: its newest vectors, and which of them is shown when.

use super::smoothing::Smoothing;
use crate::geometry::{Vec3, wrap_angle};
use crate::ids::{EntityId, HostId};
use crate::motion::{Attitude, State};
use crate::path::Piece;
use crate::time::{Duration, GlobalTime};
use crate::wire::Quantised;
use crate::wire::datagram::{BASELINE_WINDOW, BaselineName};
use alloc::collections::VecDeque;

/// So many vectors of an entity are kept at most, however long the lag and the history. At a hundred and twenty a second: two
/// seconds.
pub(super) const MAX_VECTORS: usize = 256;

/// So many of the newest are looked at one by one before the rest is searched.
const NEAR: usize = 8;

/// What arrives so long after a vector that was generated later finds its baseline still here.
pub(super) const REORDERING: Duration = Duration::from_millis(1_250);

/// One received vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Who told of it, and as which owner of the entity: a sender codes against its own vectors only.
    from: HostId,
    epoch: u32,
    pub(super) quantised: Quantised,
    /// When it was generated.
    generated: GlobalTime,
    pub(super) piece: Piece,
    /// From where it is shown to where it was shown before, at the piece's start: what smoothing takes away slowly.
    offset: Vec3,
    offset_heading: f64,
}

impl Known {
    pub(super) fn new(from: HostId, epoch: u32, quantised: Quantised, generated: GlobalTime, piece: Piece) -> Self {
        Self { from, epoch, quantised, generated, piece, offset: Vec3::ZERO, offset_heading: 0.0 }
    }

    /// By owner, and then by generation.
    fn order(&self) -> (u32, i64) {
        (self.epoch, self.quantised.tick())
    }
}

#[derive(Debug)]
pub(super) struct Track {
    pub(super) id: EntityId,
    pub(super) owner: HostId,
    pub(super) epoch: u32,
    /// By generation, newest first: those whose time is yet to come, the one shown, and older ones as far as somebody may code
    /// against them or ask for them.
    vectors: VecDeque<Known>,
    /// Up to this epoch and tick the entity had gone before it got its present owner: such vectors are baselines only.
    void: Option<(u32, i64)>,
    /// Whether older ones were here once.
    pub(super) forgot: bool,
    /// Vectors that were given up though their time was yet to come or somebody might have asked for them.
    pub(super) given_up: u64,
    /// The tick at which its owner said farewell, until it comes back.
    pub(super) retired: Option<i64>,
    /// When its owner said so.
    pub(super) gone: Option<GlobalTime>,
    /// Whether it is shown all the same: with lag, its last moments are still to come.
    pub(super) leaving: bool,
    /// Until when it is remembered that it is gone, if there is a tombstone.
    pub(super) buried: Option<GlobalTime>,
    pub(super) updated: bool,
    /// How far new vectors usually move it: a running mean.
    pub(super) usual_jump: f64,
}

/// What an insertion did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Inserted {
    /// It is the newest by generation; showing it moves the entity by so much.
    Newest { jump: f64 },
    /// It is older than one already here, kept as a baseline only.
    Late,
    /// It is here already.
    Known,
    /// It is from before the farewell.
    Retired,
}

impl Track {
    pub(super) fn new(id: EntityId, owner: HostId, epoch: u32) -> Self {
        let (vectors, retired) = (VecDeque::new(), None);
        Self {
            id,
            owner,
            epoch,
            vectors,
            void: None,
            forgot: false,
            given_up: 0,
            retired,
            gone: None,
            leaving: false,
            buried: None,
            updated: false,
            usual_jump: 0.0,
        }
    }

    /// A new owner, or another way to the same one: the entity is shown as before until it speaks.
    pub(super) fn change_owner(&mut self, owner: HostId, epoch: u32) {
        if !self.is_here() {
            self.void = self.void.max(self.vectors.front().map(Known::order));
        }
        (self.owner, self.epoch) = (owner, epoch);
        (self.retired, self.gone, self.leaving) = (None, None, false);
    }

    /// Whether there is something to show, now or soon.
    pub(super) fn is_here(&self) -> bool {
        self.newest().is_some() && (self.retired.is_none() || self.leaving)
    }

    /// Vectors that are, were or will be shown, newest first.
    fn live(&self) -> impl Iterator<Item = &Known> {
        self.vectors.iter().take_while(|known| Some(known.order()) > self.void)
    }

    /// The vector that a sender means by a name.
    pub(super) fn baseline(&self, from: HostId, name: &BaselineName, slot_ticks: i64) -> Option<&Quantised> {
        let slot = |known: &Known| known.quantised.tick().div_euclid(slot_ticks);
        let first = self.older_than(|order| order >= (name.epoch, name.before));
        let mut candidates = self.vectors.range(first..).take_while(|k| k.epoch == name.epoch && slot(k) >= name.slot);
        candidates.find(|known| known.from == from && slot(known) == name.slot).map(|known| &known.quantised)
    }

    /// Where the vectors begin that are not so new. Looked for from the newest on: what comes is nearly always about the last few.
    #[inline]
    fn older_than(&self, is_newer: impl Fn((u32, i64)) -> bool) -> usize {
        let near = self.vectors.iter().take(NEAR).position(|known| !is_newer(known.order()));
        near.unwrap_or_else(|| self.vectors.partition_point(|known| is_newer(known.order())))
    }

    pub(super) fn newest(&self) -> Option<&Known> {
        self.live().next()
    }

    /// Takes in a vector. What was shown before the time `since`, and cannot be a baseline, is forgotten.
    pub(super) fn insert(&mut self, known: Known, smoothing: Smoothing, since: GlobalTime) -> Inserted {
        let tick = known.quantised.tick();
        if self.retired.is_some_and(|retired| tick <= retired) {
            return Inserted::Retired;
        }
        let order = known.order();
        let at = self.older_than(|other| other > order);
        let mut alike = self.vectors.range(at..).take_while(|other| other.order() == order);
        if alike.any(|other| other.from == known.from) {
            return Inserted::Known;
        }
        if Some(order) <= self.void {
            self.vectors.insert(at, known);
            self.forget(since);
            return Inserted::Late;
        }
        (self.retired, self.gone, self.leaving) = (None, None, false);
        self.vectors.insert(at, known);
        self.forget(since);
        if at >= self.vectors.len() {
            return Inserted::Late;
        }
        for index in (0..=at).rev() {
            self.set_offset(index, smoothing);
        }
        if at > 0 {
            return Inserted::Late;
        }
        let jump = self.jump_to(at);
        self.usual_jump += (jump - self.usual_jump) / 8.0;
        Inserted::Newest { jump }
    }

    /// Forgets vectors that are neither shown nor asked about any more, but for those that somebody may code against.
    fn forget(&mut self, since: GlobalTime) {
        let Some(newest) = self.vectors.front().map(|known| known.generated) else { return };
        while self.vectors.len() > BASELINE_WINDOW as usize {
            let superseded = self.vectors[self.vectors.len() - 2].piece.start <= since;
            let overtaken = &self.vectors[self.vectors.len() - 1 - BASELINE_WINDOW as usize];
            let baseline = newest.since(overtaken.generated) < REORDERING;
            if (!superseded || baseline) && self.vectors.len() <= MAX_VECTORS {
                return;
            }
            self.vectors.pop_back();
            self.forgot = true;
            self.given_up += u64::from(!superseded);
        }
    }

    /// How far apart a vector and the one shown before it are at its start.
    fn jump_to(&self, index: usize) -> f64 {
        let start = self.vectors[index].piece.start;
        self.shown(start, index + 1).map_or(0.0, |before| {
            before.piece.position_at(start).distance(self.vectors[index].piece.position_at(start))
        })
    }

    fn set_offset(&mut self, index: usize, smoothing: Smoothing) {
        let start = self.vectors[index].piece.start;
        let before = self.shown(start, index + 1).map(|known| smoothed(known, start, smoothing).0);
        let known = &mut self.vectors[index];
        let new = known.piece.at(start);
        (known.offset, known.offset_heading) = before.map_or((Vec3::ZERO, 0.0), |before| {
            let turned = match (before.attitude, new.attitude) {
                (Attitude::Heading { heading: a, .. }, Attitude::Heading { heading: b, .. }) => wrap_angle(a - b),
                _ => 0.0,
            };
            (before.position - new.position, turned)
        });
    }

    /// The vector shown at a shown time, not looking at the `skip` newest: the newest by generation that has taken effect.
    fn shown(&self, t: GlobalTime, skip: usize) -> Option<&Known> {
        self.live().skip(skip).find(|known| known.piece.start <= t)
    }

    /// Where the entity was at a time, by all that is known by now.
    pub(super) fn recall(&self, t: GlobalTime) -> Option<State> {
        self.live().find(|known| known.piece.epoch <= t).map(|known| known.piece.at(t))
    }

    /// The state shown at a shown time, how far smoothing keeps it from where it should be, and the vector it comes from.
    pub(super) fn at(&self, t: GlobalTime, smoothing: Smoothing) -> Option<(State, f64, &Known)> {
        let known = self.shown(t, 0)?;
        let (state, added) = smoothed(known, t, smoothing);
        Some((state, added, known))
    }
}

fn smoothed(known: &Known, t: GlobalTime, smoothing: Smoothing) -> (State, f64) {
    let mut state = known.piece.at(t);
    let share = smoothing.share(t.since(known.piece.start), known.offset.length());
    if share == 0.0 {
        return (state, 0.0);
    }
    let offset = known.offset * share;
    state.position += offset;
    if let Attitude::Heading { heading, .. } = &mut state.attitude {
        *heading = wrap_angle(*heading + known.offset_heading * share);
    }
    (state, offset.length())
}

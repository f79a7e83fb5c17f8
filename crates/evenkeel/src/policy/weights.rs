//! How much each receiver deserves the next vector (thesis, section 3.4.1.2): shares that add up to 1.

use super::Trigger;
use super::table::PairTable;
use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, Ledger, PairView, ReceiverIndex, Relevance};
use crate::time::GlobalTime;
use alloc::vec::Vec;

/// A mix of the thesis's three factors. Only their proportions matter; if all are zero, everybody deserves the same.
///
/// All factors are evaluated before the vector at hand is sent (erratum 9: after it, PI and PT of whoever was just served
/// would be zero), and errors always include the estimated part (erratum 14: by known error alone, a receiver that is sent
/// nothing has no receipts, so no growing error, so is sent nothing for ever). A factor that is zero for everybody gives
/// everybody the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// PA: the receiver's accumulated export error.
    pub accumulated: f64,
    /// PI: its instantaneous export error, the most recent part of the accumulated one.
    pub instantaneous: f64,
    /// PT: how long ago it was last told anything.
    pub last_sent: f64,
    /// What the factors mean where text and code of the thesis differ.
    pub readings: Readings,
}

/// What the factors of [`Weights`] mean where text and code of the thesis differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Readings {
    /// How far back accumulated errors count.
    pub past: Past,
    /// Of which entities.
    pub scope: Scope,
    /// From when on an error is instantaneous.
    pub instantaneous: Instantaneous,
    /// From when on a receiver waits.
    pub last_sent: LastSent,
}

/// How far back accumulated errors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Past {
    /// The past fades over the sender's [`window`](crate::SenderConfig::window), so that a late joiner is neither owed nor
    /// owes what happened before (erratum 17).
    #[default]
    Fading,
    /// All of it, as the papers have it.
    Whole,
}

/// Of which entities accumulated errors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scope {
    /// The one at hand: "independently for each of the entities" (paper, section 3; erratum 16).
    #[default]
    Entity,
    /// All of the sender's: whoever sees one of them badly may be made up for it with another. Every trigger looks at every
    /// entity.
    Total,
}

/// From when on an error is instantaneous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Instantaneous {
    /// From the last acknowledged reception (thesis, code in appendix B).
    #[default]
    SinceReception,
    /// From the generation of the vector in use (thesis, text of section 3.4.1.2.2).
    SinceGeneration,
}

/// From when on a receiver waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LastSent {
    /// Since a vector was last sent to it (thesis, text of section 3.4.1.2.3).
    #[default]
    SinceSent,
    /// Since the newest acknowledged vector was generated (thesis, code in appendix B).
    SinceAcknowledged,
}

impl Weights {
    /// Everybody deserves the same, whatever happened.
    pub const EVEN: Self = Self::mix(0.0, 0.0, 0.0);
    /// The accumulated error alone: PA, case 1.
    pub const ACCUMULATED: Self = Self::mix(1.0, 0.0, 0.0);
    /// The instantaneous error alone: PI, case 2.
    pub const INSTANTANEOUS: Self = Self::mix(0.0, 1.0, 0.0);
    /// The time since the last vector alone: PT, case 3.
    pub const LAST_SENT: Self = Self::mix(0.0, 0.0, 1.0);
    /// All three alike: case 4.
    pub const THIRDS: Self = Self::mix(1.0, 1.0, 1.0);
    /// Accumulated and instantaneous error alike: case 5.
    pub const HALVES: Self = Self::mix(1.0, 1.0, 0.0);

    /// Any mix, with the usual readings.
    pub const fn mix(accumulated: f64, instantaneous: f64, last_sent: f64) -> Self {
        let readings = Readings {
            past: Past::Fading,
            scope: Scope::Entity,
            instantaneous: Instantaneous::SinceReception,
            last_sent: LastSent::SinceSent,
        };
        Self { accumulated, instantaneous, last_sent, readings }
    }

    /// The same mix, read another way.
    pub const fn read_as(self, readings: Readings) -> Self {
        Self { readings, ..self }
    }

    /// The names of the thesis's cases, for tables.
    pub(super) fn label(&self) -> Option<&'static str> {
        let is = |other: Self| other.read_as(self.readings) == *self;
        let known = [
            (Self::ACCUMULATED, "pa"),
            (Self::INSTANTANEOUS, "pi"),
            (Self::LAST_SENT, "pt"),
            (Self::THIRDS, "case4"),
            (Self::HALVES, "case5"),
            (Self::EVEN, "fixed"),
        ];
        known.iter().find(|(weights, _)| is(*weights)).map(|(_, label)| *label)
    }
}

/// Weighs receivers against each other.
///
/// It remembers how much error each receiver had when its instantaneous error began, because that may be longer ago than the
/// sender's [`history`](crate::SenderConfig::history): ask it at every trigger, also when the answer does not matter.
///
/// ```
/// use evenkeel::policy::{Scales, Weights};
/// let scales = Scales::new(Weights { last_sent: 0.5, ..Weights::ACCUMULATED }); // two thirds PA, one third PT
/// # let _ = scales;
/// ```
#[derive(Clone, Debug)]
pub struct Scales {
    weights: Weights,
    marks: PairTable<Option<Mark>>,
    shares: Vec<Share>,
}

/// Where an instantaneous error began.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The vector with which it began.
    vector: VectorNumber,
    /// The accumulated error there.
    accumulated: f64,
}

impl Scales {
    /// Weighs by these weights.
    pub fn new(weights: Weights) -> Self {
        Self { weights, marks: PairTable::default(), shares: Vec::new() }
    }

    /// By what it weighs.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Whether errors matter at all.
    pub(super) fn reads_error(&self) -> bool {
        self.weights.accumulated > 0.0 || self.weights.instantaneous > 0.0
    }

    /// What every receiver deserves of a vector. Left out are receivers for which the entity is out of scope, and those that
    /// have never been sent it: they get it whatever the policy says.
    pub fn weigh(&mut self, ledger: &Ledger, trigger: &Trigger) -> &mut [Share] {
        let Self { weights, marks, shares } = self;
        shares.clear();
        for receiver in ledger.receivers() {
            let pair = ledger.pair(trigger.entity, receiver);
            if pair.relevance().in_scope() && pair.last_sent().is_some() {
                shares.push(Share::none(receiver));
            }
        }
        let parts = [weights.accumulated, weights.instantaneous, weights.last_sent];
        let [accumulated, instantaneous, last_sent] = parts.map(|w| if w > 0.0 && w.is_finite() { w } else { 0.0 });
        let total = accumulated + instantaneous + last_sent;
        let Readings { past, scope, instantaneous: since, last_sent: waiting } = weights.readings;
        let pair = |receiver| ledger.pair(trigger.entity, receiver);
        if total <= 0.0 {
            add_factor(shares, 1.0, |_| 0.0);
        }
        if accumulated > 0.0 {
            let suffered = |pair: PairView<'_>| importance(&pair) * past.error(&pair, trigger.at);
            add_factor(shares, accumulated / total, |r| match scope {
                Scope::Entity => suffered(pair(r)),
                Scope::Total => ledger.entities().map(|entity| suffered(ledger.pair(entity, r))).sum(),
            });
        }
        if instantaneous > 0.0 {
            let row = marks.row(ledger, trigger.entity);
            add_factor(shares, instantaneous / total, |r| {
                importance(&pair(r)) * since.error(&pair(r), trigger.at, &mut row[r.0].1)
            });
        }
        if last_sent > 0.0 {
            add_factor(shares, last_sent / total, |r| waiting.seconds(&pair(r), trigger.at));
        }
        shares
    }

    /// Forgets an entity.
    pub fn entity_left(&mut self, entity: EntityIndex) {
        self.marks.entity_left(entity);
    }
}

impl Instantaneous {
    /// The error since the mark, which is set anew if a newer vector came.
    fn error(self, pair: &PairView<'_>, now: GlobalTime, mark: &mut Option<Mark>) -> f64 {
        let accumulated = pair.accumulated(now).total();
        let since = match self {
            Self::SinceReception => pair.last_received(),
            Self::SinceGeneration => pair.in_use(now).map(|v| (v.number, v.generated)),
        };
        if let Some((vector, since)) = since.filter(|(vector, _)| mark.is_none_or(|m| m.vector != *vector)) {
            *mark = Some(Mark { vector, accumulated: accumulated - pair.error_between(since, now).total() });
        }
        accumulated - mark.map_or(0.0, |m| m.accumulated)
    }
}

impl LastSent {
    fn seconds(self, pair: &PairView<'_>, now: GlobalTime) -> f64 {
        let sent = pair.last_sent().map(|(_, sent)| sent);
        let since = match self {
            Self::SinceSent => sent,
            Self::SinceAcknowledged => pair.acknowledged().or(sent),
        };
        since.map_or(0.0, |since| now.since(since).as_secs_f64())
    }
}

impl Past {
    /// The accumulated error that counts.
    pub(super) fn error(self, pair: &PairView<'_>, now: GlobalTime) -> f64 {
        match self {
            Self::Fading => pair.recent(now),
            Self::Whole => pair.accumulated(now).total(),
        }
    }
}

/// By how much errors of an entity count at a receiver.
pub(super) fn importance(pair: &PairView<'_>) -> f64 {
    match pair.relevance() {
        Relevance::Weight(weight) => f64::from(weight),
        Relevance::OutOfScope => 0.0,
    }
}

/// What one receiver deserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Who.
    pub receiver: ReceiverIndex,
    /// How much of a vector: first of one in all, then of what the budget has for a trigger.
    pub share: f64,
    /// The factor being added.
    factor: f64,
}

impl Share {
    fn none(receiver: ReceiverIndex) -> Self {
        Self { receiver, share: 0.0, factor: 0.0 }
    }
}

/// Adds one factor, brought to a sum of `part`. A sum of zero gives everybody the same.
fn add_factor(shares: &mut [Share], part: f64, mut value: impl FnMut(ReceiverIndex) -> f64) {
    let mut sane = |receiver| Some(value(receiver)).filter(|x| *x > 0.0 && x.is_finite()).unwrap_or(0.0);
    let mut total = 0.0;
    for entry in shares.iter_mut() {
        entry.factor = sane(entry.receiver);
        total += entry.factor;
    }
    let even = part / shares.len() as f64;
    for entry in shares {
        entry.share += if total > 0.0 && total.is_finite() { part * (entry.factor / total) } else { even };
    }
}

/// Turns shares of one into frequencies: how likely, or how often, each receiver is to be sent a vector when there are
/// `amount` vectors for a trigger. None is above 1; what that cuts off is shared out equally among those below 1
/// (erratum 9: the thesis says among all, which would only be cut off again).
pub fn frequencies(shares: &mut [Share], amount: f64) {
    for entry in shares.iter_mut() {
        entry.share *= amount;
    }
    // Every round saturates at least one more.
    for _ in 0..shares.len() {
        let surplus: f64 = shares.iter().map(|s| (s.share - 1.0).max(0.0)).sum();
        let unsaturated = shares.iter().filter(|s| s.share < 1.0).count();
        if surplus <= 0.0 {
            break;
        }
        for entry in shares.iter_mut() {
            entry.share = if entry.share < 1.0 { entry.share + surplus / unsaturated as f64 } else { 1.0 };
        }
    }
    for entry in shares {
        entry.share = entry.share.clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(values: &[f64]) -> Vec<Share> {
        values.iter().enumerate().map(|(i, v)| Share { share: *v, ..Share::none(ReceiverIndex(i)) }).collect()
    }

    fn values(shares: &[Share]) -> Vec<f64> {
        shares.iter().map(|s| s.share).collect()
    }

    #[test]
    fn surplus_goes_to_the_unsaturated_until_nobody_exceeds_one() {
        let mut some = shares(&[0.8, 0.15, 0.05]);
        frequencies(&mut some, 1.5);
        let [a, b, c] = values(&some)[..] else { panic!("three") };
        assert_eq!(a, 1.0);
        assert!((b - (0.225 + 0.1)).abs() < 1e-12 && (c - (0.075 + 0.1)).abs() < 1e-12, "{some:?}");

        let mut cascade = shares(&[0.6, 0.38, 0.02]);
        frequencies(&mut cascade, 2.5);
        assert_eq!(values(&cascade)[..2], [1.0, 1.0]);
        assert!((cascade[2].share - 0.5).abs() < 1e-12, "{cascade:?}");
    }

    #[test]
    fn more_than_everything_is_everything() {
        let mut all = shares(&[0.5, 0.5, 0.0]);
        frequencies(&mut all, 7.0);
        assert_eq!(values(&all), [1.0; 3]);
        frequencies(&mut [], 7.0);
    }

    #[test]
    fn zero_sums_and_nonsense_give_everybody_the_same() {
        for bad in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            let mut all = shares(&[0.0; 4]);
            add_factor(&mut all, 1.0, |_| bad);
            assert_eq!(values(&all), [0.25; 4]);
        }
        let mut some = shares(&[0.0; 2]);
        add_factor(&mut some, 1.0, |r| if r.0 == 0 { f64::NAN } else { 3.0 });
        assert_eq!(values(&some), [0.0, 1.0]);
    }
}

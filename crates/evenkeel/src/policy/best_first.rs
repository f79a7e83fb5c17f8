//! Best first: what schedulers do that rank updates by a priority and send from the top.

use super::weights::importance;
use super::{Budget, Decision, Policy, Settled, Trigger};
use crate::ledger::{EntityIndex, Ledger, PairView, ReceiverIndex};
use crate::motion::Motion;
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;
use alloc::vec::Vec;

/// An entity counts as observed for so many times the time between its last two observations.
const OBSERVED: i64 = 2;
/// How often vectors of others are looked at again if the budget comes in with time: the usual network tick of an engine.
const TICK: Duration = Duration::from_micros(16_667);

/// A priority for an update of an entity at a receiver: the larger, the sooner it is sent. [`BestFirst`] makes a policy of it.
pub trait Priority: Send {
    /// Whether all receivers share one budget. If not, each has an equal part of it: its own packet.
    const SHARED: bool;

    /// The name that tables show.
    fn name(&self) -> String;

    /// Returns the priority of an update. One that is not above 0 is not sent.
    fn of(&self, update: &Update<'_>) -> f64;
}

/// An update that may be sent: an entity's newest known motion, for a receiver that shows an older one.
#[derive(Clone, Copy)]
pub struct Update<'a> {
    /// The books of the entity at the receiver.
    pub pair: PairView<'a>,
    /// The present time.
    pub now: GlobalTime,
    new: (GlobalTime, &'a Motion),
    old: (GlobalTime, &'a Motion),
    max_age: Duration,
}

impl Update<'_> {
    /// Returns how much the entity matters to the receiver; 1 is usual.
    pub fn importance(&self) -> f64 {
        importance(&self.pair)
    }

    /// Returns the seconds since the receiver was last sent an update of the entity.
    pub fn since_sent(&self) -> f64 {
        self.pair.last_sent().map_or(0.0, |(_, sent)| self.now.since(sent).as_secs_f64().max(0.0))
    }

    /// Returns the age in seconds of the motion that the receiver shows, or is about to show.
    pub fn age(&self) -> f64 {
        self.now.since(self.old.0).as_secs_f64().max(0.0)
    }

    /// Returns when the receiver would show the update if it were sent now.
    pub fn arrival(&self) -> GlobalTime {
        self.now.max(self.pair.shown(self.now + self.pair.delay()))
    }

    /// Returns how far apart the newest known motion and the receiver's are at a time, both extrapolated.
    pub fn distance(&self, at: GlobalTime) -> f64 {
        let place = |(generated, motion): (GlobalTime, &Motion)| {
            motion.position_at(at.since(generated).min(self.max_age).as_secs_f64())
        };
        place(self.new).distance(place(self.old))
    }
}

/// Sends the updates with the highest [`Priority`], as many per tick as the budget allows.
///
/// - **Tick**: it begins when an entity is observed for the second time since the last one began. Then all pairs of entity and
///   receiver that have something to send are ranked, and the best are chosen.
/// - **Something to send**: the entity has moved since the vector that the receiver has, as replication by change detection has it.
///   What does not move costs nothing.
/// - **Fresh vectors**: what is chosen is sent at the entity's next observation, mostly in the same tick, as it is observed then. A server
///   that passes on the vectors of others sends the newest one at once, to receivers that lack it.
/// - **Budget**: a share of the base case comes in whenever the base case would send, a rate as time passes, and each vector takes one
///   out. Fractions and what nobody had a use for are carried over, up to one update of everything.
#[derive(Clone, Debug)]
pub struct BestFirst<P> {
    priority: P,
    budget: Budget,
    /// One for every receiver, or one for all.
    slots: Vec<Slots>,
    /// Up to when a rate has come in.
    passed: Option<GlobalTime>,
    entities: Vec<Entity>,
    tick: u64,
    /// What is chosen in this tick and not yet sent, in order.
    chosen: Vec<(EntityIndex, ReceiverIndex)>,
    /// What there is to choose from; kept to save allocations.
    ranked: Vec<(f64, EntityIndex, ReceiverIndex)>,
    next_wake: Option<GlobalTime>,
}

/// How many vectors may be sent.
#[derive(Clone, Copy, Debug)]
struct Slots {
    free: f64,
    /// Whether anything is in scope.
    sees: bool,
}

/// What is remembered about one entity.
#[derive(Clone, Copy, Debug, Default)]
struct Entity {
    /// The last tick in which it was observed.
    tick: u64,
    seen: Option<GlobalTime>,
    /// Until when another observation may be expected.
    observed_until: Option<GlobalTime>,
    /// How it moved at its last observation, and when that last was different from the one before.
    motion: Option<(GlobalTime, Motion)>,
    moved: Option<GlobalTime>,
}

impl Entity {
    fn is_observed(&self, now: GlobalTime) -> bool {
        self.observed_until.is_some_and(|until| until >= now)
    }

    fn see(&mut self, now: GlobalTime) {
        let gap = self.seen.map_or(Duration::ZERO, |seen| now.since(seen).max(Duration::ZERO));
        self.seen = Some(now);
        self.observed_until = Some(now + gap * OBSERVED);
    }
}

impl<P: Priority> BestFirst<P> {
    /// Sends the updates with the highest priority, within a budget.
    pub fn new(priority: P, budget: Budget) -> Self {
        Self {
            priority,
            budget,
            slots: Vec::new(),
            passed: None,
            entities: Vec::new(),
            tick: 0,
            chosen: Vec::new(),
            ranked: Vec::new(),
            next_wake: None,
        }
    }

    fn entity(&mut self, entity: EntityIndex) -> &mut Entity {
        if self.entities.len() <= entity.0 {
            self.entities.resize(entity.0 + 1, Entity::default());
        }
        &mut self.entities[entity.0]
    }

    fn slots(&mut self, ledger: &Ledger, receiver: ReceiverIndex) -> &mut Slots {
        let count = if P::SHARED { 1 } else { ledger.receivers().len() };
        if self.slots.len() < count {
            self.slots.resize(count, Slots { free: 0.0, sees: true });
        }
        &mut self.slots[if P::SHARED { 0 } else { receiver.0 }]
    }

    fn earn(&mut self, ledger: &Ledger, receiver: ReceiverIndex, vectors: f64) {
        let receivers = if P::SHARED { ledger.receivers().len() } else { 1 };
        let most = (receivers * ledger.entity_count().max(2)) as f64;
        let slots = self.slots(ledger, receiver);
        slots.free = (slots.free + vectors).clamp(-most, most);
    }

    fn pay(&mut self, ledger: &Ledger, receiver: ReceiverIndex) -> bool {
        let slots = self.slots(ledger, receiver);
        let pays = slots.free >= 1.0 - 1e-9;
        if pays {
            slots.free -= 1.0;
        }
        pays
    }

    /// Takes in what a rate allows to send since the last time.
    fn pass(&mut self, ledger: &Ledger, now: GlobalTime) {
        let since = self.passed.replace(now).map_or(0.0, |passed| now.since(passed).as_secs_f64().max(0.0));
        let Budget::PerSecond(rate) = self.budget else { return };
        if P::SHARED {
            return self.earn(ledger, ReceiverIndex(0), rate * since);
        }
        let sees = |policy: &mut Self, r: &ReceiverIndex| policy.slots(ledger, *r).sees;
        let seeing = ledger.receivers().filter(|r| sees(self, r)).count().max(1) as f64;
        for receiver in ledger.receivers() {
            if sees(self, &receiver) {
                self.earn(ledger, receiver, rate * since / seeing);
            }
        }
    }

    /// Returns the priority of an entity at a receiver, if there is anything to send.
    fn priority(&self, ledger: &Ledger, entity: EntityIndex, pair: PairView<'_>, now: GlobalTime) -> Option<f64> {
        let (number, generated, motion) = pair.reference_motion()?;
        let newest = ledger.newest(entity)?;
        let known = self.entities.get(entity.0)?;
        let observed = if known.is_observed(now) { known.motion.as_ref() } else { None };
        let changed = match observed {
            Some(_) => known.moved.is_some_and(|moved| moved > generated),
            None => newest.number != number,
        };
        let latest = observed.filter(|(at, _)| *at > newest.generated);
        let new = latest.map_or((newest.generated, &newest.motion), |(at, motion)| (*at, motion));
        let update = Update { pair, now, new, old: (generated, motion), max_age: ledger.placing().max_age };
        Some(self.priority.of(&update)).filter(|priority| changed && *priority > 0.0)
    }

    /// Ranks all updates for one receiver. Says whether anything is in scope.
    fn rank(&mut self, ledger: &Ledger, receiver: ReceiverIndex, now: GlobalTime) -> bool {
        let mut sees = false;
        for entity in ledger.entities() {
            let pair = ledger.pair(entity, receiver);
            if pair.relevance().in_scope() {
                sees = true;
                if let Some(priority) = self.priority(ledger, entity, pair, now) {
                    self.ranked.push((priority, entity, receiver));
                }
            }
        }
        sees
    }

    /// Chooses the best of what is ranked, as many as may be sent to this receiver, or to all.
    fn choose_best(&mut self, free: f64) {
        // A whole number stays one, whatever rounding did to it.
        let most = libm::floor(free + 1e-9).max(0.0) as usize;
        if most < self.ranked.len() {
            let order = |a: &(f64, EntityIndex, ReceiverIndex), b: &(f64, EntityIndex, ReceiverIndex)| {
                b.0.total_cmp(&a.0).then((a.1.0, a.2.0).cmp(&(b.1.0, b.2.0)))
            };
            self.ranked.select_nth_unstable_by(most, order);
            self.ranked.truncate(most);
        }
        self.chosen.extend(self.ranked.iter().map(|(_, entity, receiver)| (*entity, *receiver)));
    }

    /// Begins a tick: chooses what is sent in it.
    fn choose(&mut self, ledger: &Ledger, now: GlobalTime) {
        self.pass(ledger, now);
        self.chosen.clear();
        self.ranked.clear();
        for receiver in ledger.receivers() {
            let slots = *self.slots(ledger, receiver);
            if slots.free < 1.0 - 1e-9 && slots.sees {
                continue;
            }
            let sees = self.rank(ledger, receiver, now);
            if !P::SHARED {
                self.slots(ledger, receiver).sees = sees;
                self.choose_best(slots.free);
                self.ranked.clear();
            }
        }
        if let Some(slots) = self.slots.first().filter(|_| P::SHARED) {
            self.choose_best(slots.free);
        }
        self.chosen.sort_unstable_by_key(|(entity, receiver)| (entity.0, receiver.0));
        let observed = |e: EntityIndex| self.entities.get(e.0).is_some_and(|known| known.is_observed(now));
        if self.chosen.iter().any(|(entity, _)| !observed(*entity)) {
            self.next_wake = Some(now);
        }
    }

    /// An entity is observed: begins a tick if the last one is over.
    fn observe(&mut self, ledger: &Ledger, entity: EntityIndex, now: GlobalTime) {
        let tick = self.tick;
        let known = self.entity(entity);
        known.see(now);
        let again = known.tick == tick;
        if again {
            known.tick = tick + 1;
            self.tick += 1;
            self.choose(ledger, now);
        } else {
            known.tick = tick;
        }
    }

    /// Where an entity stands in what is chosen.
    fn chosen_of(&self, entity: EntityIndex) -> core::ops::Range<usize> {
        let start = self.chosen.partition_point(|(e, _)| e.0 < entity.0);
        start..start + self.chosen[start..].partition_point(|(e, _)| e.0 == entity.0)
    }

    /// Sends an entity's newest vector to those for whom it is chosen.
    fn send_chosen(&mut self, ledger: &Ledger, entity: EntityIndex, mut send: impl FnMut(ReceiverIndex)) {
        let range = self.chosen_of(entity);
        for place in range.clone() {
            let (_, receiver) = self.chosen[place];
            if ledger.pair(entity, receiver).relevance().in_scope() && self.pay(ledger, receiver) {
                send(receiver);
            }
        }
        self.chosen.drain(range);
    }

    /// Whether a receiver lacks the newest vector of an entity that is not observed here.
    fn has_backlog(&self, ledger: &Ledger, now: GlobalTime) -> bool {
        let observed = |e: &EntityIndex| self.entities.get(e.0).is_some_and(|known| known.is_observed(now));
        let lacks = |e: EntityIndex, r: ReceiverIndex| {
            let pair = ledger.pair(e, r);
            pair.relevance().in_scope() && self.priority(ledger, e, pair, now).is_some()
        };
        ledger.entities().filter(|e| !observed(e)).any(|e| ledger.receivers().any(|r| lacks(e, r)))
    }
}

impl<P: Priority> Policy for BestFirst<P> {
    fn name(&self) -> String {
        self.priority.name()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        let (entity, now) = (trigger.entity, trigger.at);
        let unlimited = self.budget == Budget::Unlimited;
        let known = self.entity(entity);
        if trigger.cause == Cause::First || unlimited {
            known.seen.get_or_insert(now);
            decisions.fill(Decision::Now);
            return;
        }
        if trigger.cause == Cause::Announced {
            for receiver in ledger.receivers().filter(|r| ledger.pair(entity, *r).relevance().in_scope()) {
                self.earn(ledger, receiver, -1.0);
            }
            decisions.fill(Decision::Now);
            return;
        }
        let observed = known.is_observed(now);
        if !matches!(trigger.cause, Cause::Wanted | Cause::Time) {
            known.moved = Some(now);
        }
        if !observed {
            // It was passed on, or is observed so rarely that something is due each time: there is nothing fresher to wait for.
            known.seen = Some(now);
            self.next_wake = Some(now);
            return;
        }
        if trigger.cause != Cause::Wanted {
            self.observe(ledger, entity, now);
        }
        self.send_chosen(ledger, entity, |receiver| decisions[receiver.0] = Decision::Now);
    }

    fn reads_error(&self) -> bool {
        false
    }

    fn wants(&mut self, ledger: &Ledger, entity: EntityIndex, observed: &Motion, now: GlobalTime) -> bool {
        if self.budget == Budget::Unlimited {
            return false;
        }
        let known = self.entity(entity);
        if known.motion.is_none_or(|(_, before)| before != *observed) {
            known.moved = Some(now);
        }
        known.motion = Some((now, *observed));
        self.observe(ledger, entity, now);
        let range = self.chosen_of(entity);
        range.into_iter().any(|place| {
            let (_, receiver) = self.chosen[place];
            ledger.pair(entity, receiver).relevance().in_scope() && self.slots(ledger, receiver).free >= 1.0 - 1e-9
        })
    }

    fn wants_base_triggers(&self) -> bool {
        matches!(self.budget, Budget::OfBase { .. })
    }

    fn base_trigger(&mut self, ledger: &Ledger, entity: EntityIndex, cause: Cause, _at: GlobalTime) {
        if cause != Cause::First {
            for receiver in ledger.receivers().filter(|r| ledger.pair(entity, *r).relevance().in_scope()) {
                self.earn(ledger, receiver, self.budget.share_of_base(0.0));
            }
        }
    }

    fn next_wake(&self) -> Option<GlobalTime> {
        self.next_wake
    }

    fn wake(&mut self, ledger: &Ledger, now: GlobalTime, send: &mut dyn FnMut(EntityIndex, ReceiverIndex)) {
        self.choose(ledger, now);
        for entity in ledger.entities() {
            if !self.chosen_of(entity).is_empty() && !self.entity(entity).is_observed(now) {
                self.send_chosen(ledger, entity, |receiver| send(entity, receiver));
            }
        }
        let again = matches!(self.budget, Budget::PerSecond(_)) && self.has_backlog(ledger, now);
        self.next_wake = again.then_some(now + TICK);
    }

    /// A receiver that lost a vector has the one before it: there is something to send again.
    fn makes_up_for_losses(&self) -> bool {
        true
    }

    fn settled(&mut self, _ledger: &Ledger, settled: &Settled) {
        if settled.arrival.is_none() && self.budget != Budget::Unlimited {
            self.next_wake.get_or_insert(settled.sent);
        }
    }

    fn receiver_left(&mut self, receiver: ReceiverIndex) {
        if !P::SHARED && receiver.0 < self.slots.len() {
            self.slots.swap_remove(receiver.0);
        }
        self.chosen.clear();
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.chosen.retain(|(chosen, _)| *chosen != entity);
        if let Some(known) = self.entities.get_mut(entity.0) {
            *known = Entity::default();
        }
    }
}

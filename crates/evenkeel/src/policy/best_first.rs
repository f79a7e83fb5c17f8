//! Best first: what schedulers do that rank updates by a priority and send from the top.

use super::charges::Charges;
use super::pots::Pots;
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
/// So much of a vector is a whole one: three thirds are one, whatever rounding did to them.
const WHOLE: f64 = 1.0 - 1e-9;

/// A priority for an update of an entity at a receiver: the larger, the sooner it is sent. [`BestFirst`] makes a policy of it.
pub trait Priority: Send {
    /// Whether all receivers share one budget. If not, each has an equal part of it: its own packet. A budget per receiver is never
    /// shared.
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
///   out. Fractions and what nobody had a use for are carried over, up to one update of everything. Of a budget in bytes a vector takes
///   out the mean of late, until it is known what was sent.
#[derive(Clone, Debug)]
pub struct BestFirst<P> {
    priority: P,
    budget: Budget,
    slots: Pots<Slots>,
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
    /// In the unit of the budget.
    free: f64,
    charges: Charges,
    /// Whether anything is in scope.
    sees: bool,
}

impl Slots {
    /// Returns how many vectors they are enough for.
    fn vectors(&self) -> f64 {
        self.free / self.charges.cost()
    }

    fn has_one(&self) -> bool {
        self.free >= WHOLE * self.charges.cost()
    }
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
        let fresh = Slots { free: 0.0, charges: Charges::new(budget), sees: true };
        Self {
            priority,
            budget,
            slots: Pots::new(!P::SHARED || budget.is_per_receiver(), fresh),
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

    /// Takes in so much for a receiver, in the unit of the budget.
    fn earn(&mut self, ledger: &Ledger, receiver: ReceiverIndex, income: f64) {
        let receivers = if self.slots.are_each() { 1 } else { ledger.receivers().len() };
        let slots = self.slots.of_mut(receiver);
        let most = (receivers * ledger.entity_count().max(2)) as f64 * slots.charges.cost();
        slots.free = (slots.free + income).clamp(-most, most);
    }

    fn pay(&mut self, receiver: ReceiverIndex) -> bool {
        let slots = self.slots.of_mut(receiver);
        let pays = slots.has_one();
        if pays {
            slots.free -= slots.charges.charge(1.0);
        }
        pays
    }

    /// Takes in what a rate allows to send since the last time, and what was sent until now.
    fn pass(&mut self, ledger: &Ledger, now: GlobalTime) {
        let since = self.passed.replace(now).map_or(0.0, |passed| now.since(passed).as_secs_f64().max(0.0));
        let Some(rate) = self.budget.rate() else { return };
        let each = self.slots.are_each();
        let receivers = if each { 1 } else { ledger.receivers().len() } as f64;
        let parts = match each && !self.budget.is_per_receiver() {
            true => self.slots.iter().filter(|slots| slots.sees).count().max(1) as f64,
            false => 1.0,
        };
        for (slots, sent) in self.slots.with_sent(ledger) {
            slots.free = slots.charges.settle(slots.free, sent, rate / parts, receivers);
        }
        if !each {
            return self.earn(ledger, ReceiverIndex(0), rate * since);
        }
        for receiver in ledger.receivers() {
            if self.slots.of(receiver).sees {
                self.earn(ledger, receiver, rate * since / parts);
            }
        }
    }

    /// Returns the priority of an entity at a receiver, if there is anything to send.
    fn priority(&self, ledger: &Ledger, entity: EntityIndex, pair: PairView<'_>, now: GlobalTime) -> Option<f64> {
        let newest = ledger.newest(entity)?;
        // All that it was sent was lost.
        let Some((number, generated, motion)) = pair.reference_motion() else { return Some(f64::INFINITY) };
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
        let most = libm::floor(free + (1.0 - WHOLE)).max(0.0) as usize;
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
        self.slots.follow(ledger);
        self.pass(ledger, now);
        self.chosen.clear();
        self.ranked.clear();
        for receiver in ledger.receivers() {
            let slots = *self.slots.of(receiver);
            if !slots.has_one() && slots.sees {
                continue;
            }
            let sees = self.rank(ledger, receiver, now);
            if self.slots.are_each() {
                self.slots.of_mut(receiver).sees = sees;
                self.choose_best(slots.vectors());
                self.ranked.clear();
            }
        }
        if !self.slots.are_each() {
            self.choose_best(self.slots.of(ReceiverIndex(0)).vectors());
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
            if ledger.pair(entity, receiver).relevance().in_scope() && self.pay(receiver) {
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
            self.slots.follow(ledger);
            for receiver in ledger.receivers().filter(|r| ledger.pair(entity, *r).relevance().in_scope()) {
                let cost = self.slots.of_mut(receiver).charges.charge(1.0);
                self.earn(ledger, receiver, -cost);
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
            ledger.pair(entity, receiver).relevance().in_scope() && self.slots.of(receiver).has_one()
        })
    }

    fn wants_base_triggers(&self) -> bool {
        matches!(self.budget, Budget::OfBase { .. })
    }

    fn base_trigger(&mut self, ledger: &Ledger, entity: EntityIndex, cause: Cause, _at: GlobalTime) {
        if cause != Cause::First {
            self.slots.follow(ledger);
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
        let again = self.budget.rate().is_some() && self.has_backlog(ledger, now);
        self.next_wake = again.then_some(now + TICK);
    }

    /// A receiver that lost a vector has the one before it: there is something to send again.
    fn makes_up_for_losses(&self) -> bool {
        true
    }

    fn wants_settled(&self) -> bool {
        true
    }

    fn settled(&mut self, _ledger: &Ledger, settled: &Settled) {
        if settled.arrival.is_none() && self.budget != Budget::Unlimited {
            self.next_wake.get_or_insert(settled.sent);
        }
    }

    fn receiver_left(&mut self, _receiver: ReceiverIndex) {
        self.chosen.clear();
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.chosen.retain(|(chosen, _)| *chosen != entity);
        if let Some(known) = self.entities.get_mut(entity.0) {
            *known = Entity::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Relevance;
    use crate::policy::{Accumulator, Spent, TangZhou, by_name};
    use crate::{EntityId, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};
    use std::boxed::Box;
    use std::vec;

    const NAMES: [&str; 3] = ["accumulator", "accumulator-distance", "tang-zhou"];
    const THRESHOLD: f64 = 0.1;

    /// Over a network without delay, receipts and all.
    struct World {
        sender: Sender,
        hosts: Vec<Receiver>,
        /// Whether nothing arrives.
        cut: bool,
        now: GlobalTime,
        entities: u32,
        receivers: u32,
        /// When each pair was sent something, entity by entity.
        sent: Vec<Vec<GlobalTime>>,
    }

    impl World {
        fn new(policy: Box<dyn Policy>, entities: u32, receivers: u32, threshold: Threshold) -> Self {
            let config = SenderConfig { policy, ..SenderConfig::default() };
            let (mut sender, now) = (Sender::new(config).unwrap(), GlobalTime::ZERO);
            let host = |_| {
                let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
                receiver.add_sender(HostId(99), sender.agreement(), now).unwrap();
                receiver
            };
            let hosts = (0..receivers).map(host).collect();
            (0..receivers).for_each(|host| sender.add_receiver(HostId(host), now).unwrap());
            (0..entities).for_each(|i| sender.add_entity(EntityId(i), threshold, now).unwrap());
            let sent = vec![Vec::new(); (entities * receivers) as usize];
            Self { sender, hosts, cut: false, now, entities, receivers, sent }
        }

        /// One in which nothing is ever due.
        fn without_triggers(policy: Box<dyn Policy>, entities: u32, receivers: u32) -> Self {
            let threshold = Threshold::within(1e6).turning(10.0).at_least_every(Duration::from_secs(1_000_000));
            Self::new(policy, entities, receivers, threshold)
        }

        fn sent(&self, entity: u32, receiver: u32) -> &[GlobalTime] {
            &self.sent[(entity * self.receivers + receiver) as usize]
        }

        /// Sends what is due and takes note of it, then lets 20 ms pass.
        fn transmit(&mut self) {
            self.deliver();
            for i in 0..self.entities * self.receivers {
                let (entity, receiver) = ((i / self.receivers) as usize, (i % self.receivers) as usize);
                let pair = self.sender.ledger().pair(EntityIndex(entity), ReceiverIndex(receiver));
                if pair.last_sent().is_some_and(|(_, at)| at == self.now) {
                    self.sent[i as usize].push(self.now);
                }
            }
            self.now += Duration::from_millis(20);
        }

        fn deliver(&mut self) {
            self.sender.handle_timeout(self.now);
            while let Some(datagram) = self.sender.poll_transmit(self.now) {
                if !self.cut {
                    self.hosts[datagram.to.0 as usize].handle_datagram(HostId(99), datagram.bytes, self.now).unwrap();
                }
            }
            for (host, receiver) in (0..).zip(&mut self.hosts) {
                while let Some(receipt) = receiver.poll_transmit(self.now) {
                    // One that has left is no longer heard.
                    self.sender.handle_datagram(HostId(host), receipt.bytes, self.now).ok();
                }
            }
        }

        fn drive(&mut self, seconds: i64, pose: impl Fn(u32, f64) -> Pose) {
            for _ in 0..seconds * 50 {
                for i in 0..self.entities {
                    self.sender.observe(EntityId(i), pose(i, self.now.as_secs_f64()), self.now).unwrap();
                }
                self.transmit();
            }
        }
    }

    fn named(name: &str, budget: Budget) -> Box<dyn Policy> {
        by_name(name, budget, 0).unwrap()
    }

    /// All on circles of their own.
    fn circling(i: u32, t: f64) -> Pose {
        let heading = t + f64::from(i);
        Pose::at(Vec3::from_heading(heading) * (10.0 + f64::from(i))).moving(Vec3::from_heading(heading + 1.57) * 10.0)
    }

    /// Everything is where its receivers last heard of it, and goes away from there at a speed of its own that it does not tell.
    fn creeping(i: u32, t: f64) -> Pose {
        Pose::at(Vec3::new(t * (1.0 + 4.5 * f64::from(i)), 0.0, 0.0)).moving(Vec3::ZERO)
    }

    fn spend(name: &str, budget: Budget, seconds: i64) -> Spent {
        let mut world = World::new(named(name, budget), 5, 3, Threshold::within(THRESHOLD));
        world.drive(seconds, circling);
        world.sender.ledger().spent()
    }

    #[test]
    fn the_budget_is_kept_in_the_long_run() {
        for name in NAMES {
            for k in [2, 3, 6, 10] {
                let spent = spend(name, Budget::of_base(1, k), 200);
                // First vectors are for free.
                let share = (spent.vectors - 15) as f64 / (spent.due - 15) as f64 * f64::from(k);
                assert!((0.99..=1.0).contains(&share), "{name} 1/{k}: {share} {spent:?}");
            }
            let rate = (spend(name, Budget::PerSecond(8.0), 200).vectors - 15) as f64 / 200.0;
            assert!((7.9..=8.0).contains(&rate), "{name}: {rate}/s");
        }
    }

    #[test]
    fn all_of_it_is_the_base_case() {
        for name in NAMES {
            let spent = spend(name, Budget::Unlimited, 20);
            assert_eq!(spent.vectors, spent.due, "{name}");
        }
    }

    #[test]
    fn what_is_sent_between_triggers_is_made_at_that_moment() {
        for name in NAMES {
            let mut world = World::without_triggers(named(name, Budget::PerSecond(3.0)), 1, 1);
            world.drive(20, circling);
            let ledger = world.sender.ledger();
            assert!(world.sent(0, 0).len() > 50, "{name}: {:?}", world.sent(0, 0));
            let (number, sent) = ledger.pair(EntityIndex(0), ReceiverIndex(0)).last_sent().unwrap();
            let vector = ledger.vector(EntityIndex(0), number).unwrap();
            assert!(
                sent.since(vector.generated) < Duration::from_millis(2),
                "{name}: {}",
                sent.since(vector.generated)
            );
        }
    }

    /// What counts three times as much is sent three times as often.
    #[test]
    fn an_accumulator_serves_in_proportion_to_importance() {
        let policy = BestFirst::new(Accumulator::by_time(), Budget::PerSecond(4.0));
        let mut world = World::without_triggers(Box::new(policy), 2, 1);
        world.sender.set_relevance(EntityId(1), HostId(0), Relevance::Weight(3.0), world.now).unwrap();
        world.drive(100, circling);
        let ratio = world.sent(1, 0).len() as f64 / world.sent(0, 0).len() as f64;
        assert!((2.8..3.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn an_accumulator_starves_nobody() {
        let policy = BestFirst::new(Accumulator::by_time(), Budget::PerSecond(30.0));
        let mut world = World::without_triggers(Box::new(policy), 20, 3);
        world.drive(60, circling);
        // Sixty pairs, 30 vectors per second: every pair's turn comes every 2 s, but for the first of 50 ticks.
        let gaps = world.sent.iter().flat_map(|times| times.windows(2).map(|two| two[1].since(two[0])));
        let longest = gaps.max().unwrap();
        assert!(longest < Duration::from_millis(2_500), "{longest}");
        assert!(
            world.sent.iter().all(|times| times.len() > 25),
            "{:?}",
            world.sent.iter().map(Vec::len).collect::<Vec<_>>()
        );
    }

    /// Speeds are 1 and 5.5, and there is one vector every 200 ms. By distance, the slow one is sent once it is farther off than the
    /// fast one after 200 ms: after 1 to 1.2 s, in which the fast one is sent four or five times. By distance and time that is after 0.6 s: twice.
    #[test]
    fn what_is_farthest_off_comes_first() {
        let ratio = |policy: Box<dyn Policy>| {
            let mut world = World::without_triggers(policy, 2, 1);
            world.drive(100, creeping);
            world.sent(1, 0).len() as f64 / world.sent(0, 0).len() as f64
        };
        let budget = Budget::PerSecond(5.0);
        let distance = ratio(Box::new(BestFirst::new(Accumulator::by_distance(), budget)));
        assert!((3.9..5.1).contains(&distance), "{distance}");
        let tang_zhou = ratio(Box::new(BestFirst::new(TangZhou, budget)));
        assert!((1.9..2.1).contains(&tang_zhou), "{tang_zhou}");
    }

    /// One packet each, or one pool for all: receivers at different importance.
    #[test]
    fn receivers_have_a_packet_each_or_share_one_pool() {
        let counts = |name: &str| {
            let mut world = World::without_triggers(named(name, Budget::PerSecond(10.0)), 3, 2);
            for i in 0..3 {
                world.sender.set_relevance(EntityId(i), HostId(1), Relevance::Weight(9.0), world.now).unwrap();
            }
            world.drive(60, circling);
            [0, 1].map(|r| (0..3).map(|e| world.sent(e, r).len() as i64).sum::<i64>())
        };
        for name in ["accumulator", "accumulator-distance"] {
            let [one, other] = counts(name);
            assert!((one - other).abs() <= 3, "{name}: {one} and {other}");
        }
        let [one, other] = counts("tang-zhou");
        assert!(other > 2 * one, "{one} and {other}");
    }

    #[test]
    fn nothing_is_sent_or_saved_for_what_is_out_of_scope() {
        for name in NAMES {
            let mut world = World::without_triggers(named(name, Budget::PerSecond(6.0)), 3, 3);
            for i in 0..3 {
                world.sender.set_relevance(EntityId(i), HostId(2), Relevance::OutOfScope, world.now).unwrap();
            }
            world.sender.set_relevance(EntityId(0), HostId(1), Relevance::OutOfScope, world.now).unwrap();
            world.drive(60, circling);
            for (entity, receiver) in [(0, 1), (0, 2), (1, 2), (2, 2)] {
                assert!(world.sent(entity, receiver).is_empty(), "{name}: {entity} to {receiver}");
            }
            let all: usize = world.sent.iter().map(Vec::len).sum();
            assert!((355..=366).contains(&all), "{name}: {all}");
        }
    }

    #[test]
    fn what_does_not_move_costs_nothing() {
        for name in NAMES {
            let mut world = World::new(named(name, Budget::of_base(1, 3)), 2, 2, Threshold::within(THRESHOLD));
            let pose =
                |i, t| if i == 0 { Pose::at(Vec3::new(0.3, 0.7, 0.1)).moving(Vec3::ZERO) } else { circling(i, t) };
            world.drive(60, pose);
            assert!(world.sent(0, 0).len() <= 3 && world.sent(1, 0).len() > 100, "{name}: {:?}", world.sent(0, 0));
        }
    }

    /// A server that only passes on: within the budget, and the best of what it has.
    #[test]
    fn a_relay_keeps_its_budget() {
        for name in NAMES {
            let mut world = World::new(named(name, Budget::of_base(1, 3)), 4, 3, Threshold::within(THRESHOLD));
            for tick in 0..5_000u32 {
                let i = tick % 4;
                let motion = circling(i, world.now.as_secs_f64()).motion(Default::default());
                world.sender.relay(EntityId(i), &motion, world.now, world.now).unwrap();
                world.transmit();
            }
            let spent = world.sender.ledger().spent();
            let share = (spent.vectors - 12) as f64 / (spent.due - 12) as f64 * 3.0;
            assert!((0.99..=1.0).contains(&share), "{name}: {share}");
            assert!(world.sent.iter().all(|times| times.len() > 100), "{name}");
        }
    }

    /// It repeats the newest vector when there is room for it, to receivers that lack it, and once.
    #[test]
    fn a_relay_sends_later_what_did_not_fit() {
        for name in NAMES {
            let mut world = World::new(named(name, Budget::PerSecond(3.0)), 1, 3, Threshold::within(THRESHOLD));
            for _ in 0..2 {
                let motion = circling(0, 100.0 * world.now.as_secs_f64()).motion(Default::default());
                world.sender.relay(EntityId(0), &motion, world.now, world.now).unwrap();
                world.transmit();
            }
            assert!((0..3).all(|r| world.sent(0, r).len() == 1), "{name}: {:?}", world.sent);
            (0..100).for_each(|_| world.transmit());
            assert!((0..3).all(|r| world.sent(0, r).len() == 2), "{name}: {:?}", world.sent);
            assert_eq!(world.sender.poll_timeout().filter(|at| *at < world.now), None, "{name}");
        }
    }

    /// What was lost is sent again, within the budget.
    #[test]
    fn losses_are_made_up_for() {
        for name in NAMES {
            let mut world = World::new(named(name, Budget::PerSecond(3.0)), 1, 1, Threshold::within(THRESHOLD));
            let motion = |t: f64| circling(0, t).motion(Default::default());
            world.sender.relay(EntityId(0), &motion(0.0), world.now, world.now).unwrap();
            (0..50).for_each(|_| world.transmit());
            world.cut = true;
            world.sender.relay(EntityId(0), &motion(1.0), world.now, world.now).unwrap();
            (0..50).for_each(|_| world.transmit());
            world.cut = false;
            (0..200).for_each(|_| world.transmit());
            let pair = world.sender.ledger().pair(EntityIndex(0), ReceiverIndex(0));
            let newest = world.sender.ledger().newest(EntityIndex(0)).unwrap();
            assert_eq!(pair.last_received().map(|(number, _)| number), Some(newest.number), "{name}");
            let sent = world.sent(0, 0).len();
            assert!((3..10).contains(&sent) && world.sender.ledger().spent().resent == 0, "{name}: {sent}");
        }
    }

    #[test]
    fn receivers_and_entities_may_leave() {
        for name in NAMES {
            let mut world = World::new(named(name, Budget::of_base(1, 2)), 3, 3, Threshold::within(THRESHOLD));
            world.drive(5, circling);
            world.sender.remove_receiver(HostId(0)).unwrap();
            world.sender.remove_entity(EntityId(1), world.now).unwrap();
            let before = world.sender.ledger().spent();
            for _ in 0..2_000 {
                for i in [0, 2] {
                    world.sender.observe(EntityId(i), circling(i, world.now.as_secs_f64()), world.now).unwrap();
                }
                world.deliver();
                world.now += Duration::from_millis(20);
            }
            let share = world.sender.ledger().spent().since(&before).share_of_base();
            assert!((0.48..0.52).contains(&share), "{name}: {share}");
        }
    }
}

//! `even`: our own policy.

mod class;
mod price;
mod standing;
mod worth;

use super::weights::importance;
use super::{Budget, Decision, Policy, Settled, Trigger};
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex, Vector};
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;
use alloc::vec::Vec;
use class::Kinds;
use price::Price;
use standing::Standing;
use worth::{Choice, Experience};

/// How often what was not sent is thought over.
const SECOND_THOUGHTS: Duration = Duration::from_millis(30);
/// The usual exponent of the weights.
const EXPONENT: f64 = 5.0;
/// What has held for a second may be expected to hold for so many more, at least.
const LASTING: f64 = 0.5;
/// Beyond so many seconds even more.
const LONG: f64 = 5.0;
/// So much of it counts beyond the time for which vectors are extrapolated: slowly enough for the price to follow.
const PATIENT: f64 = 0.1;

/// Equal error for everybody at the lowest mean. Our own; not in the papers.
///
/// It aims at the smallest sum over receivers of (error)^(k+1) under a total rate: a vector goes to a receiver when the receiver's
/// weight times what the vector is worth there exceeds a *price* per vector.
///
/// - **Weight**: how far the receiver's error of late is above the others', to the k-th power, over all entities of the
///   sender. k = 0 gives the smallest mean, a large k the smallest spread. Weights lose their force when the worst off is sent
///   everything already: then to weigh it higher would only cost the others. Differences that a few vectors make are chance.
/// - **Worth**: what the vector may be expected to gain at its arrival, times the time for which it may be expected to hold,
///   the *dwell*. Both are learned. A sender knows later what became of every vector: how much nearer to the truth a receiver
///   would have been with it. How that follows from how far apart the new vector and the receiver's are now, and will be at
///   arrival if nothing changes, is learned per kind of motion, time since the last change and delay. So it finds out by
///   itself which changes are worth telling at once, which have mostly vanished on arrival, and that this differs between
///   near and far. On top of it comes what is lost when the receiver's vector is too old to be extrapolated before the next
///   heartbeat could arrive: a heartbeat is worth next to nothing after a fresh vector, and much just before that.
/// - **Price**: one for all entities of the sender, moving slowly so that as much is sent as the budget allows: what is not
///   spent on entities that keep their course is there for those that do not. A bucket of tokens stands behind it as a safety
///   valve: it can never be overdrawn. First vectors, which nobody may refuse, cost nothing.
/// - **Second thoughts**: what was not worth sending at its trigger becomes so as the two paths part, or as the new course
///   lasts. The question is asked again at short intervals.
#[derive(Clone, Debug)]
pub struct Even {
    price: Price,
    standing: Standing,
    kinds: Kinds,
    experience: Experience,
    entities: Vec<Entity>,
    next_wake: Option<GlobalTime>,
    /// What receivers offer for one entity's newest vector; kept to save allocations.
    offers: Vec<(f64, ReceiverIndex)>,
}

/// What is remembered about one entity.
#[derive(Clone, Copy, Debug, Default)]
struct Entity {
    /// The kind of its newest vector that was due to a change, and when that was.
    changed: Option<(usize, GlobalTime)>,
    /// The time between its heartbeats, once there was one.
    heartbeat: Option<Duration>,
    /// Some receiver lacks its newest vector.
    pending: bool,
}

/// What an offer of an entity's newest vector says to every receiver alike.
struct Subject<'a> {
    entity: EntityIndex,
    vector: &'a Vector,
    now: GlobalTime,
    /// When there will be a newer one to send, at the latest.
    next: GlobalTime,
    /// Its kind of motion.
    class: usize,
    /// For how many seconds the entity has kept its course, and for how many more it may be expected to.
    held: f64,
    dwell: f64,
    max_age: Duration,
}

impl Even {
    /// Within a budget.
    pub fn new(budget: Budget) -> Self {
        Self::with_exponent(budget, EXPONENT)
    }

    /// Within a budget: 0 for the smallest mean, more for a smaller spread. The usual exponent is 5.
    pub fn with_exponent(budget: Budget, exponent: f64) -> Self {
        Self {
            price: Price::new(budget),
            standing: Standing::new(if exponent.is_finite() { exponent.clamp(0.0, 30.0) } else { EXPONENT }),
            kinds: Kinds::new(),
            experience: Experience::new(),
            entities: Vec::new(),
            next_wake: None,
            offers: Vec::new(),
        }
    }

    /// What one vector costs at present, in weighted metre-seconds; 0 before the first was offered.
    pub fn price(&self) -> f64 {
        self.price.value()
    }

    /// What is the same for all receivers of an entity's newest vector.
    fn subject<'a>(&self, ledger: &'a Ledger, entity: EntityIndex, now: GlobalTime) -> Option<Subject<'a>> {
        let vector = ledger.newest(entity)?;
        let known = self.entities.get(entity.0).copied().unwrap_or_default();
        let (class, max_age) = (self.kinds.of(vector), ledger.placing().max_age);
        let held = known.changed.map_or(0.0, |(_, since)| now.since(since).as_secs_f64());
        // What has held for long will hold for long, and in the end every difference is worth telling. But no vector holds for
        // longer than it is extrapolated, or hardly: the worth of mere heartbeats would outrun every price.
        let lasting = LASTING * held * (held / LONG).max(1.0);
        let most = max_age.as_secs_f64().max(PATIENT * held);
        let dwell = self.kinds.dwell(class).max(lasting).min(most);
        let next =
            known.heartbeat.map_or(now + Duration::from_secs_f64(dwell), |heartbeat| vector.generated + heartbeat);
        Some(Subject { entity, vector, now, next, class, held, dwell, max_age })
    }

    /// What the newest vector of an entity is worth to a receiver, in weighted metre-seconds.
    fn worth(&mut self, ledger: &Ledger, subject: &Subject<'_>, receiver: ReceiverIndex) -> f64 {
        let (pair, now) = (ledger.pair(subject.entity, receiver), subject.now);
        if !pair.relevance().in_scope() {
            return 0.0;
        }
        let Some((number, generated, motion)) = pair.reference_motion() else { return f64::INFINITY };
        if number == subject.vector.number {
            return 0.0;
        }
        let choice = Choice {
            entity: subject.entity,
            new: (subject.vector.generated, &subject.vector.motion),
            old: (generated, motion),
            now,
            arrival: now.max(pair.shown(now + pair.delay())),
            next: subject.next,
            class: subject.class,
            held: subject.held,
            max_age: subject.max_age,
        };
        self.experience.keep(&choice);
        let worth = subject.dwell * self.experience.gain(&choice) + choice.frozen();
        importance(&pair) * self.standing.weight(receiver) * worth
    }

    /// Sends an entity's newest vector to everybody to whom it is worth its price. Says whether somebody still lacks it.
    fn trade(
        &mut self,
        ledger: &Ledger,
        entity: EntityIndex,
        now: GlobalTime,
        first: bool,
        send: &mut dyn FnMut(ReceiverIndex),
    ) -> bool {
        let Some(subject) = self.subject(ledger, entity, now) else { return false };
        let mut offers = core::mem::take(&mut self.offers);
        offers.clear();
        let worths = ledger.receivers().map(|receiver| (self.worth(ledger, &subject, receiver), receiver));
        offers.extend(worths.filter(|(worth, _)| *worth > 0.0));
        if self.price.is_scarce() {
            offers.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        let mut pending = false;
        for (worth, receiver) in &offers {
            if self.price.buys(*worth, first) {
                self.standing.sent(*receiver);
                send(*receiver);
            } else {
                pending = true;
            }
        }
        self.offers = offers;
        pending
    }

    /// Learns from what a trigger says: about the entity's last course, and about choices made before.
    fn learn(&mut self, ledger: &Ledger, trigger: &Trigger) {
        let index = trigger.entity.0;
        if self.entities.len() <= index {
            self.entities.resize(index + 1, Entity::default());
        }
        self.experience.look_back(ledger, trigger.at);
        let Some(vector) = ledger.newest(trigger.entity) else { return };
        self.kinds.observe(vector);
        if trigger.cause == Cause::Time {
            let before = vector.number.previous().and_then(|number| ledger.vector(trigger.entity, number));
            self.entities[index].heartbeat = before.map(|before| vector.generated.since(before.generated));
        } else {
            let now = (self.kinds.of(vector), trigger.at);
            if let Some((before, since)) = self.entities[index].changed.replace(now) {
                self.kinds.lasted(before, trigger.at.since(since));
            }
        }
    }
}

impl Policy for Even {
    fn name(&self) -> String {
        "even".into()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        self.learn(ledger, trigger);
        if trigger.cause == Cause::First {
            // The sender tells everybody anyway.
            decisions.fill(Decision::Now);
            return;
        }
        let in_scope = |r: &ReceiverIndex| ledger.pair(trigger.entity, *r).relevance().in_scope();
        self.price.refill(ledger.receivers().filter(in_scope).count() as f64, trigger.at);
        self.standing.triggered(ledger, trigger.entity, trigger.at, self.price.value());
        let mut send = |receiver: ReceiverIndex| decisions[receiver.0] = Decision::Now;
        let pending = self.trade(ledger, trigger.entity, trigger.at, true, &mut send);
        self.entities[trigger.entity.0].pending = pending;
        if pending && self.next_wake.is_none() {
            self.next_wake = Some(trigger.at + SECOND_THOUGHTS);
        }
    }

    fn next_wake(&self) -> Option<GlobalTime> {
        self.next_wake
    }

    fn wake(&mut self, ledger: &Ledger, now: GlobalTime, send: &mut dyn FnMut(EntityIndex, ReceiverIndex)) {
        let mut any = false;
        for entity in ledger.entities() {
            if self.entities.get(entity.0).is_some_and(|e| e.pending) {
                let pending = self.trade(ledger, entity, now, false, &mut |receiver| send(entity, receiver));
                self.entities[entity.0].pending = pending;
                any |= pending;
            }
        }
        self.next_wake = any.then_some(now + SECOND_THOUGHTS);
    }

    /// What was lost is offered again like anything else that a receiver lacks.
    fn makes_up_for_losses(&self) -> bool {
        true
    }

    fn settled(&mut self, _ledger: &Ledger, settled: &Settled) {
        if settled.arrival.is_none() {
            if let Some(entity) = self.entities.get_mut(settled.entity.0) {
                entity.pending = true;
                self.next_wake.get_or_insert(settled.sent);
            }
        }
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.experience.entity_left(entity);
        if let Some(known) = self.entities.get_mut(entity.0) {
            *known = Entity::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Relevance;
    use crate::{EntityId, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};
    use std::boxed::Box;

    /// Tanks that turn now and then, three receivers that answer nothing: estimates only. Answers what was spent.
    fn spend(budget: Budget, seconds: i64) -> crate::policy::Spent {
        spend_beside(0, budget, seconds)
    }

    /// The same with so many others for whom nothing is in scope.
    fn spend_beside(blind: u32, budget: Budget, seconds: i64) -> crate::policy::Spent {
        let policy = Box::new(Even::new(budget));
        let mut sender = Sender::new(SenderConfig { policy, resend_lost: false, ..SenderConfig::default() }).unwrap();
        let start = GlobalTime::ZERO;
        for host in 0..3 + blind {
            sender.add_receiver(HostId(host), start).unwrap();
        }
        let mut tanks: Vec<(Vec3, f64, u64)> = (0..5).map(|i| (Vec3::ZERO, f64::from(i), 77 + i as u64)).collect();
        for i in 0..5 {
            sender.add_entity(EntityId(i), Threshold::within(0.1), start).unwrap();
            for host in 3..3 + blind {
                sender.set_relevance(EntityId(i), HostId(host), Relevance::OutOfScope, start).unwrap();
            }
        }
        for tick in 0..seconds * 50 {
            let now = GlobalTime::from_millis(tick * 20);
            for (i, (position, heading, random)) in (0..).zip(&mut tanks) {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if *random >> 58 == 0 {
                    *heading += (*random >> 32) as f64 / (1u64 << 32) as f64 * 3.0;
                }
                let velocity = Vec3::from_heading(*heading) * 15.0;
                *position += velocity * 0.02;
                let pose = Pose::at(*position).moving(velocity).facing(*heading).turning(0.0);
                sender.observe(EntityId(i), pose, now).unwrap();
            }
            sender.handle_timeout(now);
            while sender.poll_transmit(now).is_some() {}
        }
        sender.ledger().spent()
    }

    #[test]
    fn the_budget_is_kept_in_the_long_run() {
        for (numerator, denominator) in [(1, 2), (1, 3), (1, 6), (1, 10)] {
            let spent = spend(Budget::of_base(numerator, denominator), 400);
            let share = f64::from(numerator) / f64::from(denominator);
            let off = spent.vectors as f64 - share * spent.due as f64;
            // A session starts with something in the bucket.
            let most = 0.03 * share * spent.due as f64 + price::FULL_AT_START * price::BUCKET_TRIGGERS * share * 3.0;
            assert!(off.abs() < most, "{numerator}/{denominator}: {off:+.0} vectors, {spent:?}");
        }
    }

    /// Like the owner of all there is, at a server.
    #[test]
    fn whoever_sees_nothing_changes_nothing() {
        let budget = Budget::of_base(1, 3);
        assert_eq!(spend_beside(4, budget, 60).vectors, spend(budget, 60).vectors);
    }

    #[test]
    fn a_rate_per_second_is_kept_too() {
        let spent = spend(Budget::PerSecond(8.0), 400);
        let rate = spent.vectors as f64 / 400.0;
        assert!((rate / 8.0 - 1.0).abs() < 0.15, "{rate} per second");
    }

    /// Over a network without delay, receipts and all.
    fn deliver(sender: &mut Sender, receivers: &mut [Receiver], now: GlobalTime) {
        sender.handle_timeout(now);
        while let Some(datagram) = sender.poll_transmit(now) {
            receivers[datagram.to.0 as usize].handle_datagram(HostId(9), datagram.bytes, now).unwrap();
        }
        for (host, receiver) in (0..).zip(receivers) {
            while let Some(receipt) = receiver.poll_transmit(now) {
                sender.handle_datagram(HostId(host), receipt.bytes, now).unwrap();
            }
        }
    }

    /// Who sees half of the entities is not better off for it, and must not starve.
    #[test]
    fn a_receiver_with_a_smaller_scope_sees_as_well_as_the_others() {
        let policy = Box::new(Even::new(Budget::of_base(1, 3)));
        let mut sender = Sender::new(SenderConfig { policy, ..SenderConfig::default() }).unwrap();
        let start = GlobalTime::ZERO;
        (0..2).for_each(|host| sender.add_receiver(HostId(host), start).unwrap());
        (0..4).for_each(|i| sender.add_entity(EntityId(i), Threshold::within(0.1), start).unwrap());
        for entity in [EntityId(2), EntityId(3)] {
            sender.set_relevance(entity, HostId(1), Relevance::OutOfScope, start).unwrap();
        }
        let mut receivers = [(); 2].map(|()| Receiver::new(ReceiverConfig::default()).unwrap());
        for receiver in &mut receivers {
            receiver.add_sender(HostId(9), sender.agreement(), start).unwrap();
        }
        let mut random = 7u64;
        let mut tanks = [(Vec3::ZERO, 0.0); 4];
        for tick in 0..10_000 {
            let now = GlobalTime::from_millis(tick * 20);
            for (i, (position, heading)) in (0..).zip(&mut tanks) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if random >> 58 == 0 {
                    *heading += (random >> 32) as f64 / (1u64 << 32) as f64 * 3.0;
                }
                let velocity = Vec3::from_heading(*heading) * 15.0;
                *position += velocity * 0.02;
                sender.observe(EntityId(i), Pose::at(*position).moving(velocity).facing(*heading), now).unwrap();
            }
            deliver(&mut sender, &mut receivers, now);
        }
        let fairness = sender.fairness(GlobalTime::from_millis(200_000));
        let off = |host: u32| fairness.receivers.iter().find(|r| r.host == HostId(host)).unwrap().mean_distance;
        let ratio = off(1) / off(0);
        assert!((0.8..1.25).contains(&ratio), "whoever sees half of the entities sees them {ratio:.2} times as badly");
    }
}

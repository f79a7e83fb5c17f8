//! `even`: our own policy.

use super::{Budget, Decision, Policy, Trigger};
use crate::ledger::{EntityIndex, Ledger, ReceiverIndex, Vector};
use crate::motion::{Course, Motion};
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;
use alloc::vec::Vec;

/// How often what was not sent is thought over.
const SECOND_THOUGHTS: Duration = Duration::from_millis(30);
/// How far ahead of now two vectors are compared, as a share of the dwell.
const AHEAD: f64 = 0.06;
/// The usual exponent: on the traces `bzflag-dense-*`, beyond it the mean grows faster than the spread shrinks.
const EXPONENT: f64 = 3.0;
/// How much longer a vector that has held for a second is expected to hold, at least, in seconds.
const LASTING: f64 = 0.25;
/// How much the price moves with one decision, once it has settled.
const SLOW: f64 = 0.002;
/// The bucket holds so many triggers' worth of vectors.
const BUCKET_TRIGGERS: f64 = 300.0;
/// By how much, as a power of e, an empty bucket raises the price, and a full one lowers it.
const SCARCITY: f64 = 0.3;
/// Kinds of motion that have a dwell of their own: speed bands x turn-rate bands, and falling.
const SPEED_BANDS: usize = 5;
const TURN_BANDS: usize = 3;
const CLASSES: usize = SPEED_BANDS * TURN_BANDS + 1;
/// What a dwell is taken for while little is known, in seconds, and how many observations that is worth.
const DWELL_PRIOR: f64 = 0.6;
const DWELL_PRIOR_WEIGHT: f64 = 3.0;

/// Equal error for everybody at the lowest mean. Our own; not in the papers.
///
/// It minimises the sum over receivers of (accumulated error)^(k+1) under a total rate: a vector goes to a receiver when the
/// receiver's weight times what the vector is worth there exceeds a *price* per vector.
///
/// - **Weight**: how far the receiver's accumulated error is above the others', to the k-th power. k = 0 gives the smallest
///   mean, a large k the smallest spread.
/// - **Worth**: how far apart the new vector and the newest one that the receiver has, or is about to get, are *now*, times the
///   time for which the new one may be expected to hold: the *dwell*, learned per kind of motion. Now, and not at arrival: a
///   deviation that is only extrapolated has often vanished by the time it would have come about, and the farther the
///   receiver the more so. What is worth sending at all is worth sending once it has happened.
/// - **Price**: one for all entities of the sender, moving slowly so that as much is sent as the budget allows. A bucket of
///   tokens stands behind it as a safety valve: it can never be overdrawn.
/// - **Second thoughts**: what was not worth sending at its trigger becomes so as the two paths part. The question is asked
///   again at short intervals.
#[derive(Clone, Debug)]
pub struct Even {
    budget: Budget,
    /// The exponent of the weights.
    exponent: f64,
    log_price: f64,
    decisions: u64,
    tokens: f64,
    capacity: f64,
    last_refill: Option<GlobalTime>,
    dwells: Dwells,
    entities: Vec<Entity>,
    next_wake: Option<GlobalTime>,
    weights: Vec<f64>,
}

/// What is remembered about one entity.
#[derive(Clone, Copy, Debug, Default)]
struct Entity {
    /// The class of its newest vector that was due to a change, and when that was.
    changed: Option<(usize, GlobalTime)>,
    /// Some receiver lacks its newest vector.
    pending: bool,
}

/// The mean time to the next change, per kind of motion.
#[derive(Clone, Debug)]
struct Dwells {
    seconds: [f64; CLASSES],
    counts: [f64; CLASSES],
}

impl Dwells {
    fn new() -> Self {
        let counts = [DWELL_PRIOR_WEIGHT; CLASSES];
        Self { seconds: [DWELL_PRIOR * DWELL_PRIOR_WEIGHT; CLASSES], counts }
    }

    fn learn(&mut self, class: usize, span: Duration) {
        // Old lessons fade: a thousand changes are remembered.
        let keep = 1.0 - 1.0 / 1000.0;
        self.seconds[class] = self.seconds[class] * keep + span.as_secs_f64().min(10.0);
        self.counts[class] = self.counts[class] * keep + 1.0;
    }

    fn of(&self, class: usize) -> f64 {
        self.seconds[class] / self.counts[class]
    }
}

fn class_of(vector: &Vector) -> usize {
    if let Course::Accelerated { .. } = vector.motion.course {
        return CLASSES - 1;
    }
    let speed = vector.motion.velocity_at(0.0).length();
    let turn = libm::fabs(vector.motion.attitude.turn_rate());
    let speed_band = match speed {
        s if s < 0.1 => 0,
        s if s < 3.0 => 1,
        s if s < 10.0 => 2,
        s if s < 20.0 => 3,
        _ => 4,
    };
    let turn_band = match turn {
        t if t < 0.05 => 0,
        t if t < 0.5 => 1,
        _ => 2,
    };
    speed_band * TURN_BANDS + turn_band
}

impl Even {
    /// Within a budget, with the usual exponent.
    pub fn new(budget: Budget) -> Self {
        Self::with_exponent(budget, EXPONENT)
    }

    /// Within a budget: 0 for the smallest mean, large for the smallest maximum.
    pub fn with_exponent(budget: Budget, exponent: f64) -> Self {
        Self {
            budget,
            exponent,
            log_price: f64::NAN,
            decisions: 0,
            tokens: 0.0,
            capacity: 0.0,
            last_refill: None,
            dwells: Dwells::new(),
            entities: Vec::new(),
            next_wake: None,
            weights: Vec::new(),
        }
    }

    /// What one vector costs at present, in weighted metre-seconds.
    pub fn price(&self) -> f64 {
        libm::exp(self.log_price)
    }

    /// The weight of every receiver, 1 on average error.
    fn weigh(&mut self, ledger: &Ledger, entity: EntityIndex, now: GlobalTime) {
        self.weights.clear();
        self.weights.extend(ledger.receivers().map(|r| ledger.pair(entity, r).recent(now)));
        let mean = self.weights.iter().sum::<f64>() / (self.weights.len().max(1) as f64);
        let exponent = self.exponent;
        for weight in &mut self.weights {
            let ratio = if mean > 0.0 { (*weight + 0.02 * mean) / (1.02 * mean) } else { 1.0 };
            *weight = libm::pow(ratio, exponent);
        }
    }

    /// What the newest vector is worth to a receiver, before its weight: metres times seconds.
    fn worth(&self, ledger: &Ledger, entity: EntityIndex, receiver: ReceiverIndex, now: GlobalTime) -> f64 {
        let Some(vector) = ledger.newest(entity) else { return 0.0 };
        let pair = ledger.pair(entity, receiver);
        let Some(reference) = pair.reference() else { return f64::INFINITY };
        // What has held for long will hold for long: in the end every difference is worth telling.
        let changed = self.entities.get(entity.0).and_then(|e| e.changed);
        let held = changed.map_or(0.0, |(_, since)| now.since(since).as_secs_f64());
        let dwell = self.dwells.of(class_of(vector));
        let expected = dwell.max(LASTING * held);
        // A little ahead, so that a new direction counts before it has led anywhere. Receivers stop extrapolating at a bound.
        let bound = ledger.placing().max_age.as_secs_f64();
        let place = |generated: GlobalTime, motion: &Motion| {
            motion.position_at((now.since(generated).as_secs_f64() + AHEAD * dwell).min(bound))
        };
        let (new, old) = (place(vector.generated, &vector.motion), place(reference.generated, &reference.motion));
        if reference.number == vector.number { 0.0 } else { expected * new.distance(old) }
    }

    /// Whether something is worth the price. A bucket that runs low makes everything dearer.
    fn wants(&mut self, worth: f64) -> bool {
        if worth <= 0.0 {
            return false;
        }
        if !worth.is_finite() {
            return true;
        }
        if self.log_price.is_nan() {
            self.log_price = libm::log(worth);
        }
        let scarcity = 1.0 - 2.0 * self.tokens / self.capacity.max(1.0);
        libm::log(worth) >= self.log_price + SCARCITY * scarcity
    }

    /// Takes a token, if there is one.
    fn pay(&mut self) -> bool {
        let pays = self.tokens >= 1.0;
        if pays {
            self.tokens -= 1.0;
        }
        pays
    }

    fn step(&self) -> f64 {
        SLOW + 0.5 / (10.0 + self.decisions as f64)
    }

    fn move_price(&mut self, toward: f64) {
        if !self.log_price.is_nan() {
            self.log_price = (self.log_price + self.step() * toward).clamp(-60.0, 60.0);
        }
        self.decisions += 1;
    }

    /// What a trigger, or the time since the last one, adds to the bucket.
    fn refill(&mut self, receivers: f64, now: GlobalTime) -> f64 {
        let share = match self.budget {
            Budget::Unlimited => 1.0,
            Budget::OfBase { share } => share,
            Budget::PerSecond(rate) => {
                let since = self.last_refill.map_or(0.0, |last| now.since(last).as_secs_f64());
                rate * since / receivers.max(1.0)
            }
        };
        self.last_refill = Some(now);
        let capacity = (BUCKET_TRIGGERS * receivers * share.min(1.0)).max(2.0 * receivers);
        if self.capacity == 0.0 {
            self.tokens = 0.5 * capacity;
        }
        self.capacity = capacity;
        self.tokens = (self.tokens + share * receivers).min(capacity);
        share
    }

    fn learn(&mut self, ledger: &Ledger, trigger: &Trigger) {
        let index = trigger.entity.0;
        if self.entities.len() <= index {
            self.entities.resize(index + 1, Entity::default());
        }
        if trigger.cause == Cause::Time {
            return;
        }
        let class = ledger.newest(trigger.entity).map_or(0, class_of);
        if let Some((before, since)) = self.entities[index].changed.replace((class, trigger.at)) {
            self.dwells.learn(before, trigger.at.since(since));
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
        let receivers = ledger.receivers().filter(in_scope).count() as f64;
        let share = self.refill(receivers, trigger.at);
        self.weigh(ledger, trigger.entity, trigger.at);
        let mut pending = false;
        for receiver in ledger.receivers().filter(in_scope) {
            let worth = self.worth(ledger, trigger.entity, receiver, trigger.at);
            let wants = self.wants(self.weights[receiver.0] * worth);
            self.move_price(if wants { 1.0 - share } else { -share });
            let buys = wants && self.pay();
            pending |= !buys;
            if buys {
                decisions[receiver.0] = Decision::Now;
            }
        }
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
            if !self.entities.get(entity.0).is_some_and(|e| e.pending) {
                continue;
            }
            self.weigh(ledger, entity, now);
            let mut pending = false;
            for receiver in ledger.receivers() {
                let worth = self.worth(ledger, entity, receiver, now);
                if worth <= 0.0 || !ledger.pair(entity, receiver).relevance().in_scope() {
                    continue;
                }
                if self.wants(self.weights[receiver.0] * worth) && self.pay() {
                    self.move_price(1.0);
                    send(entity, receiver);
                } else {
                    pending = true;
                }
            }
            self.entities[entity.0].pending = pending;
            any |= pending;
        }
        self.next_wake = any.then_some(now + SECOND_THOUGHTS);
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        if let Some(known) = self.entities.get_mut(entity.0) {
            *known = Entity::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntityId, HostId, Pose, Sender, SenderConfig, Threshold, Vec3};
    use std::boxed::Box;

    /// Tanks that turn now and then, three receivers that answer nothing: estimates only. Answers what was spent.
    fn spend(budget: Budget, seconds: i64) -> crate::policy::Spent {
        let policy = Box::new(Even::new(budget));
        let mut sender = Sender::new(SenderConfig { policy, resend_lost: false, ..SenderConfig::default() }).unwrap();
        let start = GlobalTime::ZERO;
        for host in 0..3 {
            sender.add_receiver(HostId(host), start).unwrap();
        }
        let mut tanks: Vec<(Vec3, f64, u64)> = (0..5).map(|i| (Vec3::ZERO, f64::from(i), 77 + i as u64)).collect();
        for i in 0..5 {
            sender.add_entity(EntityId(i), Threshold::within(0.1), start).unwrap();
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
            // A session starts with a bucket half full.
            let most = 0.03 * share * spent.due as f64 + 0.5 * BUCKET_TRIGGERS * share * 3.0;
            assert!(off.abs() < most, "{numerator}/{denominator}: {off:+.0} vectors, {spent:?}");
        }
    }

    #[test]
    fn a_rate_per_second_is_kept_too() {
        let spent = spend(Budget::PerSecond(8.0), 400);
        let rate = spent.vectors as f64 / 400.0;
        assert!((rate / 8.0 - 1.0).abs() < 0.15, "{rate} per second");
    }

    #[test]
    fn the_bucket_is_never_overdrawn() {
        let mut even = Even::new(Budget::of_base(1, 3));
        let mut paid = 0.0;
        let mut filled = 0.0;
        for i in 0..10_000u32 {
            if i % 7 == 0 {
                even.refill(3.0, GlobalTime::from_millis(i64::from(i)));
                filled += 1.0;
            }
            paid += f64::from(u8::from(even.wants(f64::INFINITY) && even.pay()));
            assert!(even.tokens >= 0.0);
        }
        assert!(paid <= filled + BUCKET_TRIGGERS * 0.5 + 1.0, "{paid} paid, {filled} filled");
    }

    #[test]
    fn dwells_are_learned_per_kind_of_motion() {
        let mut dwells = Dwells::new();
        for _ in 0..200 {
            dwells.learn(0, Duration::from_secs(2));
            dwells.learn(1, Duration::from_millis(200));
        }
        assert!(dwells.of(0) > 1.8 && dwells.of(1) < 0.25 && dwells.of(2) == DWELL_PRIOR);
    }
}

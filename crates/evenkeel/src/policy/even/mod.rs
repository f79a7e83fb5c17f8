//! `even`: our own policy.

mod class;
mod cost;
mod pace;
mod price;
mod prices;
mod standing;
mod worth;

use super::weights::importance;
use super::{Budget, Decision, Policy, Settled, Trigger};
use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, FairnessCost, Ledger, ReceiverIndex};
use crate::motion::Motion;
use crate::time::{Duration, GlobalTime};
use crate::trigger::Cause;
use alloc::string::String;
use alloc::vec::Vec;
use class::Kinds;
use core::cell::Cell;
use cost::Cost;
use pace::Pace;
use prices::Prices;
use standing::Standing;
use worth::{Experience, Presents, Subject};

/// The usual exchange rate.
const EXCHANGE_RATE: f64 = 2.0;
/// Exchange rates beyond this are all the same.
const MOST_EXCHANGE: f64 = 1e3;
/// What has held for a second may be expected to hold for so many more, at least.
const LASTING: f64 = 0.5;
/// Beyond this share of the time for which vectors are extrapolated even more.
const LONG: f64 = 0.5;
/// So much of it counts beyond that time: slowly enough for the price to follow.
const PATIENT: f64 = 0.1;
/// What was not sent is thought over after so much of the time between two vectors.
const SECOND_THOUGHTS: f64 = 0.125;
/// Where worths rise slowly, later: at this part of the time after which they would reach the price if they went on like that, but not
/// after more than so many times as long, nor after more than this part of the time for which vectors are extrapolated.
const PREDICTED: f64 = 0.5;
const LATEST: f64 = 4.0;
const LATEST_OF_AGE: f64 = 0.05;
/// A vector is repeated once it is older than so many times the time between two vectors of its entity.
const OVERDUE: f64 = 1.5;
/// So many receivers are asked at a glance whether somebody lacks something; where there are more, the rest have their turn at the next
/// glances, and the one that lacked most is asked at each.
const GLANCE: usize = 4;
/// The time between two vectors of an entity is the mean of about so many.
const REMEMBERED: f64 = 8.0;

/// As long as nothing is known, motions last, and vectors are apart, by this share of the window. Nothing waits for longer than so many
/// times that.
const ASSUMED: f64 = 0.05;
const LONGEST_WAIT: f64 = 60.0;

/// The smallest error on average, and a fair share of it for everybody. Our own; not in the papers.
///
/// A vector goes to a receiver when what it is *worth* there, times the receiver's *weight*, exceeds a *price* per vector.
///
/// ```text
///   where it is, every tick ──> worth ── x weight ──>  above the price?  ── yes ──> a fresh vector goes out
///                                 ^         ^                  ^
///                   what came of  │         │ who fares how    │ how much there is to spend
///                   earlier ones  │         │ of late          │
///                              learned   exchange rate       budget
/// ```
///
/// - **Worth**: what the vector may be expected to gain at its arrival, in metres, times a time for which that may be expected to
///   hold. The gain is learned: a sender knows later what became of every vector, and so how much nearer to the truth a receiver
///   would have been with it. How that follows from how far apart the new vector and the receiver's are now, and will be at
///   arrival if nothing changes, is learned per kind of motion, time since the last change and delay. The time is the geometric
///   mean of how long this kind of motion lasts (its *dwell*) and how long any motion lasts. On top comes what is lost when the
///   receiver's vector is too old to be extrapolated before the next heartbeat could arrive; and, as that comes nearer, a growing
///   part of the price, because the vector would soon have to be sent anyway.
/// - **Weight**: by how much the receiver's error of late, over all entities of the sender, is above the others'. In this, two
///   receivers differ at most by the *exchange rate*: to spare the worst off a metre, at most so many metres are taken from others. A
///   rate of 1 gives the smallest mean; a large one levels errors whatever that costs. A second factor makes worths of receivers
///   comparable: one vector more is worth more to a receiver that is served rarely.
/// - **Price**: one for all entities of the sender, so that as much is sent as the budget allows: what is not spent on
///   entities that keep their course is there for those that do not. First vectors, which nobody may refuse, cost nothing, but for
///   their bytes if the budget is in bytes. With a budget per receiver, each receiver has a price of its own.
/// - **Fresh vectors**: the question is asked at every trigger, and again and again in between. Where the sender is told all the time
///   where things are, a vector that is sent between triggers is made at that moment. A server that passes on the vectors of others
///   can only repeat the last one; it does so when the next one is overdue.
///
/// What is proven: the budget is never overdrawn by more than a loan that the opening pays back (in bytes also by what nobody may
/// refuse), and two weights of fairness never differ by more than the exchange rate. What is learned: gains, dwells and the price. What is measured: at a rate
/// of 1, weights the other way round give a larger mean (karts, cars and tanks, near and far, at a third of the vectors).
#[derive(Clone, Debug)]
pub struct Even {
    exchange_rate: f64,
    prices: Prices,
    standing: Standing,
    cost: Cost,
    kinds: Kinds,
    pace: Pace,
    experience: Experience,
    entities: Vec<Entity>,
    next_wake: Option<GlobalTime>,
    /// When what is sent now takes effect at each receiver, and what time that was found for.
    arrivals: Vec<GlobalTime>,
    arrivals_of: Option<GlobalTime>,
    /// What receivers offer for one entity's newest vector; kept to save allocations.
    offers: Vec<Offer>,
}

/// What an entity's newest vector is worth to a receiver, and when the one was generated that the receiver has.
#[derive(Clone, Copy, Debug)]
struct Offer {
    worth: f64,
    receiver: ReceiverIndex,
    before: GlobalTime,
}

/// What is remembered about one entity.
#[derive(Clone, Copy, Debug, Default)]
struct Entity {
    /// The kind of its newest vector that was due to a change, and when that was.
    changed: Option<(usize, GlobalTime)>,
    /// The time between its heartbeats, once there was one.
    heartbeat: Option<Duration>,
    /// When its last vector came that this policy did not ask for, and how many seconds there are between two of them.
    last: Option<GlobalTime>,
    usual: f64,
    /// Some receiver lacks its newest vector.
    pending: bool,
    /// When to think it over again, if its owner tells us all the time where it is.
    look: Option<GlobalTime>,
    /// When that was done last, and which part of the price the best offer was.
    looked: Option<(GlobalTime, f64)>,
    /// Who made the best offer that was not taken, and with whom the next glance begins.
    foremost: usize,
    turn: usize,
}

impl Entity {
    /// Takes note of a vector that this policy did not ask for.
    fn heard(&mut self, at: GlobalTime) {
        let Some(last) = self.last.replace(at) else { return };
        let since = at.since(last).as_secs_f64().max(0.0);
        self.usual = if self.usual == 0.0 { since } else { self.usual + (since - self.usual) / REMEMBERED };
    }

    /// Who is asked at a glance, of so many receivers.
    fn glance(&self, receivers: usize) -> impl Iterator<Item = ReceiverIndex> + use<> {
        let (many, turn, foremost) = (receivers > GLANCE, self.turn, self.foremost);
        let row = (0..receivers.min(GLANCE)).map(move |i| if many { (turn + i) % receivers } else { i });
        row.chain((many && foremost < receivers).then_some(foremost)).map(ReceiverIndex)
    }

    /// Whether a newer vector should have come by now.
    fn overdue(&self, now: GlobalTime) -> bool {
        self.last.is_none_or(|last| now.since(last).as_secs_f64() > OVERDUE * self.usual)
    }
}

impl Even {
    /// Within a budget, at the usual exchange rate: 2.
    pub fn new(budget: Budget) -> Self {
        Self::with_exchange_rate(budget, EXCHANGE_RATE)
    }

    /// Within a budget. The exchange rate is how many metres of error may be taken from others to spare a worse-off player one: 1
    /// for the smallest mean, more for a smaller spread. What is below 1, or no number, is taken as 1.
    ///
    /// ```
    /// use evenkeel::policy::{Budget, Even, Policy};
    /// let fairer = Even::with_exchange_rate(Budget::of_base(1, 3), 10.0);
    /// assert_eq!(fairer.name(), "even:10");
    /// ```
    pub fn with_exchange_rate(budget: Budget, exchange_rate: f64) -> Self {
        let exchange_rate = if exchange_rate >= 1.0 { exchange_rate.min(MOST_EXCHANGE) } else { 1.0 };
        Self {
            exchange_rate,
            prices: Prices::new(budget),
            standing: Standing::new(exchange_rate),
            cost: Cost::default(),
            kinds: Kinds::new(),
            pace: Pace::default(),
            experience: Experience::new(),
            entities: Vec::new(),
            next_wake: None,
            arrivals: Vec::new(),
            arrivals_of: None,
            offers: Vec::new(),
        }
    }

    /// How many metres of error are taken from others, at most, to spare a worse-off player one.
    pub fn exchange_rate(&self) -> f64 {
        self.exchange_rate
    }

    /// What one vector costs at present, in weighted metre-seconds; 0 before the first was offered. With a budget per receiver, the
    /// mean over receivers.
    pub fn price(&self) -> f64 {
        self.prices.mean()
    }

    /// Finds when what is sent now takes effect at each receiver: the same for all entities.
    fn find_arrivals(&mut self, ledger: &Ledger, now: GlobalTime) {
        if self.arrivals_of == Some(now) && self.arrivals.len() == ledger.receivers().len() {
            return;
        }
        let arrival = |receiver| {
            let delay = ledger.path(receiver).delay().unwrap_or(Duration::ZERO);
            now.max(ledger.lag(receiver).shown(now + delay))
        };
        self.arrivals.clear();
        self.arrivals.extend(ledger.receivers().map(arrival));
        self.arrivals_of = Some(now);
    }

    /// What is the same for all receivers of a motion of an entity, generated at a time.
    fn subject<'a>(
        &mut self,
        ledger: &Ledger,
        entity: EntityIndex,
        (number, generated, motion): (Option<VectorNumber>, GlobalTime, &'a Motion),
        now: GlobalTime,
    ) -> Subject<'a> {
        self.find_arrivals(ledger, now);
        let known = self.entities.get(entity.0).map(|known| (known.changed, known.heartbeat));
        let (changed, heartbeat) = known.unwrap_or_default();
        let (speed, max_age) = (motion.speed(), ledger.placing().max_age);
        let class = self.kinds.at_speed(motion, speed);
        let held = changed.map_or(0.0, |(_, since)| now.since(since).as_secs_f64());
        // What has held for long will hold for long, and in the end every difference is worth telling. But no vector holds for
        // longer than it is extrapolated, or hardly: the worth of mere heartbeats would outrun every price.
        let lasting = LASTING * held * (held / (LONG * max_age.as_secs_f64())).max(1.0);
        let most = max_age.as_secs_f64().max(PATIENT * held);
        let dwell = self.kinds.dwell(class).max(lasting).min(most);
        let next = heartbeat.map_or(now + Duration::from_secs_f64(dwell), |heartbeat| generated + heartbeat);
        let (times, lasts) = (libm::sqrt(dwell * self.pace.mean()), self.kinds.mean());
        let (here, there) = (Cell::new(None), Cell::new(None));
        Subject { entity, number, generated, motion, speed, now, next, class, held, times, lasts, max_age, here, there }
    }

    /// What a motion of an entity is worth to a receiver, in weighted metre-seconds, and when the one was generated that it has.
    ///
    /// A vector also saves a later one: without it, one must be sent before the old one is too old to be extrapolated. The older that is,
    /// the more of a later vector's price is saved. It never counts for more than what one more heartbeat without extrapolation would
    /// cost, the stake.
    fn worth<'a>(
        &mut self,
        ledger: &'a Ledger,
        subject: &Subject<'a>,
        presents: &mut Presents<'a>,
        receiver: ReceiverIndex,
    ) -> Offer {
        let offer = |worth, before| Offer { worth, receiver, before };
        let pair = ledger.pair(subject.entity, receiver);
        if !pair.relevance().in_scope() {
            return offer(0.0, subject.now);
        }
        let arrival = self.arrivals[receiver.0];
        let Some(worth) = self.experience.worth(subject, presents, &pair, arrival) else {
            return offer(f64::INFINITY, subject.now);
        };
        let saved = self.prices.of(receiver).value().min(worth.stake) * worth.used;
        offer(importance(&pair) * self.standing.weight(receiver) * (worth.gain + saved), worth.generated)
    }

    /// Sends an entity's newest vector to everybody to whom it is worth its price. Says whether somebody still lacks it. `cause` is
    /// why the vector was made, if that was just now.
    fn trade(
        &mut self,
        ledger: &Ledger,
        entity: EntityIndex,
        now: GlobalTime,
        cause: Option<Cause>,
        send: &mut dyn FnMut(ReceiverIndex),
    ) -> bool {
        let Some(vector) = ledger.newest(entity) else { return false };
        let subject = self.subject(ledger, entity, (Some(vector.number), vector.generated, &vector.motion), now);
        let mut offers = core::mem::take(&mut self.offers);
        offers.clear();
        let mut presents = Presents::default();
        let all = ledger.receivers().map(|receiver| self.worth(ledger, &subject, &mut presents, receiver));
        offers.extend(all.filter(|offer| offer.worth > 0.0));
        if self.prices.are_scarce() {
            offers.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        }
        if let Some(cause) = cause {
            let changed = !matches!(cause, Cause::Wanted | Cause::Time);
            offers.iter().for_each(|offer| self.prices.of_mut(offer.receiver).offered(offer.worth, changed));
        }
        // One price for all of them: receivers with the same needs are treated alike.
        self.prices.quote();
        let (mut pending, mut best) = (false, 0.0);
        for Offer { worth, receiver, before } in offers.iter().copied() {
            let purse = self.prices.of_mut(receiver);
            let price = purse.quoted();
            if worth < price {
                if worth > best * price {
                    (best, self.entities[entity.0].foremost) = (worth / price, receiver.0);
                }
                pending = true;
            } else if purse.pay() {
                // A vector is sent when it is made, as a rule.
                self.pace.sent(now.since(before).as_secs_f64().max(0.0));
                self.standing.sent(receiver);
                // Budgets per receiver move nothing from one to another: fairness costs nothing there.
                if !self.prices.are_each() {
                    self.cost.sent(self.standing.fairness(receiver), price, ledger.window().as_secs_f64(), now);
                }
                send(receiver);
            } else {
                purse.missed(worth);
                pending = true;
            }
        }
        self.offers = offers;
        pending
    }

    /// Learns from what a trigger says: about the entity's last course, and about choices made before.
    fn learn(&mut self, ledger: &Ledger, trigger: &Trigger) {
        self.experience.look_back(ledger, trigger.at);
        let Some(vector) = ledger.newest(trigger.entity) else { return };
        self.kinds.observe(vector);
        let entity = &mut self.entities[trigger.entity.0];
        if trigger.cause != Cause::Wanted {
            entity.heard(trigger.at);
        }
        match trigger.cause {
            Cause::Wanted => {}
            Cause::Time => {
                let before = vector.number.previous().and_then(|number| ledger.vector(trigger.entity, number));
                entity.heartbeat = before.map(|before| vector.generated.since(before.generated));
            }
            _ => {
                let now = (self.kinds.of(&vector.motion), trigger.at);
                if let Some((before, since)) = entity.changed.replace(now) {
                    let most = ledger.placing().max_age;
                    self.kinds.lasted(before, trigger.at.since(since).max(Duration::ZERO).min(most).as_secs_f64());
                }
            }
        }
    }

    /// How long to wait before an entity is thought over again, if the best offer is this part of the price.
    fn wait(&mut self, entity: EntityIndex, best: f64, max_age: Duration, now: GlobalTime) -> Duration {
        let patience = self.patience(best);
        let Some((last, before)) = self.entities[entity.0].looked.replace((now, best)) else { return patience };
        let since = now.since(last).as_secs_f64();
        if best >= 1.0 || best < before || since <= 0.0 {
            return patience;
        }
        let predicted = PREDICTED * (1.0 - best) * since / (best - before).max(f64::MIN_POSITIVE);
        let latest = (LATEST * self.patience(0.0).as_secs_f64()).min(LATEST_OF_AGE * max_age.as_secs_f64());
        Duration::from_secs_f64(predicted.min(latest)).max(patience)
    }

    /// How long to wait before what was not sent is thought over, if the best offer was this part of the price.
    fn patience(&self, part: f64) -> Duration {
        let left = 1.0 - libm::sqrt(part.clamp(0.0, 1.0));
        Duration::from_secs_f64((SECOND_THOUGHTS * self.pace.mean() * left).min(LONGEST_WAIT * self.pace.assumed()))
    }
}

impl Policy for Even {
    fn name(&self) -> String {
        if self.exchange_rate == EXCHANGE_RATE { "even".into() } else { alloc::format!("even:{}", self.exchange_rate) }
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        if self.entities.len() <= trigger.entity.0 {
            self.entities.resize(trigger.entity.0 + 1, Entity::default());
        }
        let assumed = ASSUMED * ledger.window().as_secs_f64();
        self.kinds.assume(assumed);
        self.pace.assume(assumed);
        self.learn(ledger, trigger);
        self.prices.follow(ledger);
        if trigger.cause == Cause::First || self.prices.is_unlimited() {
            // The sender tells everybody of the first vector anyway.
            decisions.fill(Decision::Now);
            self.prices.lend(ledger, trigger.entity);
            return;
        }
        if !self.prices.is_share() {
            self.prices.trigger(ledger, trigger.entity, trigger.at);
        }
        self.standing.triggered(ledger, trigger.entity, trigger.at, self.prices.mean());
        let mut send = |receiver: ReceiverIndex| decisions[receiver.0] = Decision::Now;
        let pending = self.trade(ledger, trigger.entity, trigger.at, Some(trigger.cause), &mut send);
        let soon = trigger.at + self.patience(0.0);
        let known = &mut self.entities[trigger.entity.0];
        known.pending = pending;
        known.look = known.look.map(|look| look.min(soon));
        known.looked = None;
        if pending && self.next_wake.is_none() {
            self.next_wake = Some(trigger.at + self.patience(0.0));
        }
    }

    fn wants(&mut self, ledger: &Ledger, entity: EntityIndex, observed: &Motion, now: GlobalTime) -> bool {
        let Some(known) = self.entities.get(entity.0) else { return false };
        if self.prices.is_unlimited() || known.look.is_some_and(|look| look > now) {
            return false;
        }
        self.prices.follow(ledger);
        self.prices.pass(ledger, now);
        self.prices.quote();
        let subject = self.subject(ledger, entity, (None, now, observed), now);
        let (mut best, mut foremost, mut presents) = (0.0, 0, Presents::default());
        let receivers = ledger.receivers().len();
        for receiver in self.entities[entity.0].glance(receivers) {
            let Offer { worth, .. } = self.worth(ledger, &subject, &mut presents, receiver);
            let share = if worth > 0.0 { self.prices.of(receiver).share_of(worth) } else { 0.0 };
            if share > best {
                (best, foremost) = (share, receiver.0);
            }
            if best >= 1.0 {
                break;
            }
        }
        let wait = self.wait(entity, best, ledger.placing().max_age, now);
        let known = &mut self.entities[entity.0];
        (known.look, known.foremost) = (Some(now + wait), foremost);
        known.turn = (known.turn + GLANCE) % receivers.max(1);
        best >= 1.0
    }

    fn wants_base_triggers(&self) -> bool {
        self.prices.is_share()
    }

    fn base_trigger(&mut self, ledger: &Ledger, entity: EntityIndex, cause: Cause, at: GlobalTime) {
        if cause != Cause::First {
            self.prices.follow(ledger);
            self.prices.trigger(ledger, entity, at);
        }
    }

    fn next_wake(&self) -> Option<GlobalTime> {
        self.next_wake
    }

    fn wake(&mut self, ledger: &Ledger, now: GlobalTime, send: &mut dyn FnMut(EntityIndex, ReceiverIndex)) {
        let patience = self.patience(0.0);
        self.prices.follow(ledger);
        self.prices.pass(ledger, now);
        let mut any = false;
        for entity in ledger.entities() {
            let Some(known) = self.entities.get(entity.0).filter(|known| known.pending) else { continue };
            // What is observed all the time is thought over whenever it is, and with something better to send.
            let observed = known.look.is_some_and(|look| look + patience * 8 > now);
            let fresher = observed || !known.overdue(now);
            if fresher || self.trade(ledger, entity, now, None, &mut |receiver| send(entity, receiver)) {
                any = true;
            } else {
                self.entities[entity.0].pending = false;
            }
        }
        self.next_wake = any.then_some(now + patience);
    }

    /// It reads them, but not at every trigger, and does not need them brought up to date before.
    fn reads_error(&self) -> bool {
        false
    }

    /// What was lost is offered again like anything else that a receiver lacks.
    fn makes_up_for_losses(&self) -> bool {
        true
    }

    fn wants_settled(&self) -> bool {
        true
    }

    fn settled(&mut self, _ledger: &Ledger, settled: &Settled) {
        self.standing.settled(settled);
        if settled.arrival.is_none() {
            if let Some(entity) = self.entities.get_mut(settled.entity.0) {
                (entity.pending, entity.look) = (true, None);
                self.next_wake.get_or_insert(settled.sent);
            }
        }
    }

    fn cost_of_fairness(&self, ledger: &Ledger, now: GlobalTime) -> Option<FairnessCost> {
        Some(self.cost.of_late(ledger, now))
    }

    fn receiver_left(&mut self, receiver: ReceiverIndex) {
        self.arrivals_of = None;
        self.standing.receiver_left(receiver);
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
            // First vectors are for free.
            let most = 0.03 * share * spent.due as f64 + 15.0;
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
        let policy = Box::new(Even::with_exchange_rate(Budget::of_base(1, 3), 10.0));
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

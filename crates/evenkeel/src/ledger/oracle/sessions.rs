//! Random sessions in which every book is compared with the oracle's in every tick.
//!
//! `EVENKEEL_ORACLE_SEEDS` sets how many; `EVENKEEL_ORACLE_FIRST` sets the first.

use crate::lag::LagChange;
use crate::policy::{Budget, NAMES, Policy, by_name};
use crate::wire::Format;
use crate::{
    ClockRule, Duration, EntityId, GlobalTime, Handover, HostId, Motion, MotionKind, Placing, Pose, Receiver,
    ReceiverConfig, Relevance, Sender, SenderConfig, Threshold, Vec3,
};
use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

const SENDER: HostId = HostId(1_000);
const TICK: Duration = Duration::from_millis(20);
const TICKS: u32 = 600;
const SEEDS: u64 = 150;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn span(&mut self, most_ms: f64) -> Duration {
        Duration::from_secs_f64(self.unit() * most_ms / 1e3)
    }
}

/// One receiver and the way to it.
struct Client {
    receiver: Receiver,
    delay: Duration,
    jitter_ms: f64,
    loss: f64,
}

/// One entity: where it is, how it goes, and whether somebody else owns it for now.
struct Craft {
    place: Vec3,
    heading: f64,
    speed: f64,
    turn_rate: f64,
    away: Option<(GlobalTime, Handover)>,
}

struct Session {
    random: Random,
    now: GlobalTime,
    sender: Sender,
    clients: BTreeMap<u32, Client>,
    crafts: BTreeMap<u32, Craft>,
    /// By arrival: to whom, down or up, and what.
    network: BTreeMap<(GlobalTime, u64), (u32, bool, Vec<u8>)>,
    posted: u64,
    next: u32,
    /// Nobody polls the sender until then.
    asleep: GlobalTime,
    /// Whether everybody is told of changes of lag and rule.
    honest: bool,
}

fn policy(random: &mut Random) -> Box<dyn Policy> {
    let name = NAMES[random.below(NAMES.len())].0.replace("/k", "/2");
    by_name(&name, Budget::of_base(1, 2), 3).unwrap()
}

fn rule(random: &mut Random) -> ClockRule {
    // What is shown by the one-way rule can only be compared roughly.
    [ClockRule::Global, ClockRule::Local, ClockRule::OneWay][random.below(11) / 5]
}

impl Session {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let format = [Format::default(), Format::bzflag(), Format::lossless()][random.below(3)];
        let lag = if random.below(2) == 0 { random.span(250.0) } else { Duration::ZERO };
        let max_age = Duration::from_millis(200) + random.span(2_500.0);
        let placing = Placing { rule: rule(&mut random), lag, max_age };
        let history = [Duration::from_millis(500), Duration::from_secs(2)][random.below(2)];
        let max_datagram = 320 + random.below(300);
        let policy = policy(&mut random);
        if std::env::var("EVENKEEL_ORACLE_FIRST").is_ok() {
            std::eprintln!("seed {seed}: {placing:?}, history {history}, {}", policy.name());
        }
        let config = SenderConfig { format, placing, policy, history, max_datagram, ..SenderConfig::default() };
        let mut session = Self {
            sender: Sender::new(config).unwrap(),
            now: GlobalTime::from_millis(5),
            clients: BTreeMap::new(),
            crafts: BTreeMap::new(),
            network: BTreeMap::new(),
            posted: 0,
            next: 0,
            asleep: GlobalTime::ZERO,
            honest: random.below(4) > 0,
            random,
        };
        (0..=session.random.below(3)).for_each(|_| session.join());
        (0..=session.random.below(5)).for_each(|_| session.spawn());
        session
    }

    fn join(&mut self) {
        let (host, random) = (self.next, &mut self.random);
        self.next += 1;
        let placing = self.sender.agreement().placing;
        let mut receiver = Receiver::new(ReceiverConfig { placing, ..ReceiverConfig::default() }).unwrap();
        receiver.add_sender(SENDER, self.sender.agreement(), self.now).unwrap();
        self.sender.add_receiver(HostId(host), self.now).unwrap();
        let delay = if random.below(4) == 0 { Duration::ZERO } else { random.span(250.0) };
        let jitter_ms = if random.below(2) == 0 { 0.0 } else { 120.0 * random.unit() };
        let loss = if random.below(2) == 0 { 0.0 } else { 0.3 * random.unit() };
        self.clients.insert(host, Client { receiver, delay, jitter_ms, loss });
    }

    fn spawn(&mut self) {
        let (id, random) = (self.next, &mut self.random);
        self.next += 1;
        let kind = [MotionKind::Auto, MotionKind::Circular, MotionKind::Linear][random.below(3)];
        let threshold = Threshold::within(0.02 + 0.5 * random.unit()).at_least_every(random.span(1_500.0) + TICK);
        self.sender.add_entity(EntityId(id), crate::EntityConfig { threshold, kind }, self.now).unwrap();
        let place = Vec3::new(random.unit() * 50.0, random.unit() * 50.0, 0.0);
        self.crafts.insert(id, Craft { place, heading: 0.0, speed: 9.0, turn_rate: 0.0, away: None });
    }

    /// Now and then somebody comes, goes, changes hands, is looked away from; lag, rule or policy change; nobody polls.
    fn disturb(&mut self) {
        if self.random.below(12) > 0 {
            return;
        }
        let (now, clients, crafts) = (self.now, self.clients.len(), self.crafts.len());
        let host = *self.clients.keys().nth(self.random.below(clients.max(1))).unwrap();
        let id = *self.crafts.keys().nth(self.random.below(crafts.max(1))).unwrap();
        let (entity, to) = (EntityId(id), HostId(host));
        let here = self.crafts[&id].away.is_none();
        let what = self.random.below(16);
        if std::env::var("EVENKEEL_ORACLE_FIRST").is_ok() {
            std::eprintln!("{now}: {what} of {entity}, {to}");
        }
        match what {
            0 if clients < 4 => self.join(),
            1 if clients > 1 => {
                self.sender.remove_receiver(to).unwrap();
                self.clients.remove(&host);
            }
            2 if crafts < 6 => self.spawn(),
            3 if crafts > 1 && here => {
                self.sender.remove_entity(entity, now).unwrap();
                self.crafts.remove(&id);
            }
            4 if here => self.sender.set_relevance(entity, to, Relevance::OutOfScope, now).unwrap(),
            5 | 6 if here => self.sender.set_relevance(entity, to, Relevance::USUAL, now).unwrap(),
            7 if here => {
                let handover = self.sender.release_entity(entity, now).unwrap();
                let back = now + self.random.span(400.0);
                self.crafts.get_mut(&id).unwrap().away = Some((back, handover));
            }
            8 => self.change_lag(host),
            9 => self.change_rule(),
            10 if self.random.below(4) == 0 => self.sender.clear_books(now).unwrap(),
            11 if here => self.sender.begin_epoch(entity, self.random.below(5) as u32).unwrap(),
            12 => self.asleep = now + self.random.span(300.0),
            13 if self.random.below(3) == 0 => self.sender.set_policy(policy(&mut self.random)),
            14 => {
                let client = self.clients.get_mut(&host).unwrap();
                if client.receiver.owner(entity).is_some() {
                    client.receiver.discard(entity);
                }
            }
            15 if here => self.jump(id),
            _ => {}
        }
    }

    fn jump(&mut self, id: u32) {
        let craft = self.crafts.get_mut(&id).unwrap();
        craft.place += Vec3::new(7.0 * self.random.unit(), 3.0, 0.0);
        let motion = Motion::linear(craft.place, Vec3::from_heading(craft.heading) * craft.speed);
        self.sender.announce(EntityId(id), &motion, self.now).unwrap();
    }

    fn change_lag(&mut self, host: u32) {
        let (now, to) = (self.now, self.random.span(250.0));
        let begins = now + self.random.span(300.0) - Duration::from_millis(100);
        let change = LagChange { to, begins, over: self.random.span(500.0) };
        if self.random.below(2) == 0 {
            self.sender.set_lag(change, now).unwrap();
            if self.honest {
                self.clients.values_mut().for_each(|client| _ = client.receiver.set_lag(change, now));
            }
        } else {
            self.sender.set_receiver_lag(HostId(host), change, now).unwrap();
            if self.honest {
                self.clients.get_mut(&host).unwrap().receiver.set_lag(change, now).unwrap();
            }
        }
    }

    fn change_rule(&mut self) {
        let rule = rule(&mut self.random);
        self.sender.set_rule(rule, self.now).unwrap();
        if self.honest {
            self.clients.values_mut().for_each(|client| client.receiver.set_rule(rule));
        }
    }

    fn observe(&mut self) {
        let (dt, now) = (TICK.as_secs_f64(), self.now);
        for (id, craft) in &mut self.crafts {
            if self.random.below(25) == 0 {
                craft.speed = if self.random.below(4) == 0 { 0.0 } else { 25.0 * self.random.unit() - 5.0 };
                craft.turn_rate = if self.random.below(2) == 0 { 0.0 } else { 3.0 * self.random.unit() - 1.5 };
            }
            craft.heading += craft.turn_rate * dt;
            let velocity = Vec3::from_heading(craft.heading) * craft.speed;
            craft.place += velocity * dt;
            let entity = EntityId(*id);
            match craft.away.take_if(|(back, _)| *back <= now) {
                Some((_, handover)) => self.sender.adopt_entity(&handover, Threshold::within(0.1), now).unwrap(),
                None if craft.away.is_some() => continue,
                None => {}
            }
            let pose = Pose::at(craft.place).moving(velocity).facing(craft.heading).turning(craft.turn_rate);
            self.sender.observe(entity, pose, now).unwrap();
        }
    }

    fn post(&mut self, host: u32, up: bool, bytes: Vec<u8>) {
        let Client { delay, jitter_ms, loss, .. } = &self.clients[&host];
        let (delay, jitter_ms, loss) = (*delay, *jitter_ms, *loss);
        let copies = [1, 2][usize::from(self.random.below(20) == 0)];
        for _ in 0..copies {
            if self.random.unit() < loss {
                continue;
            }
            let at = self.now + delay + self.random.span(jitter_ms);
            self.posted += 1;
            self.network.insert((at, self.posted), (host, up, bytes.clone()));
        }
    }

    /// Delivers everything that arrives by a time, each thing at its own time.
    fn deliver(&mut self, until: GlobalTime) {
        while let Some(entry) = self.network.first_entry().filter(|entry| entry.key().0 <= until) {
            let ((at, _), (host, up, bytes)) = entry.remove_entry();
            let Some(client) = self.clients.get_mut(&host) else { continue };
            if up {
                self.sender.handle_datagram(HostId(host), &bytes, at).unwrap();
            } else {
                // What was lost to it, it says itself.
                _ = client.receiver.handle_datagram(SENDER, &bytes, at);
                // Receipts leave at once, too: sometimes between two ticks.
                let receipt = client.receiver.poll_transmit(at).map(|receipt| receipt.bytes.to_vec());
                if let Some(receipt) = receipt {
                    self.posted += 1;
                    self.network.insert((at + client.delay, self.posted), (host, true, receipt));
                }
            }
        }
    }

    fn transmit(&mut self) {
        let now = self.now;
        if now < self.asleep {
            return;
        }
        self.sender.handle_timeout(now);
        let mut sent = Vec::new();
        while let Some(datagram) = self.sender.poll_transmit(now) {
            sent.push((datagram.to.0, false, datagram.bytes.to_vec()));
        }
        for (host, client) in &mut self.clients {
            while let Some(receipt) = client.receiver.poll_transmit(now) {
                sent.push((*host, true, receipt.bytes.to_vec()));
            }
            while client.receiver.poll_event(now).is_some() {}
        }
        for (host, up, bytes) in sent {
            self.post(host, up, bytes);
        }
    }

    fn tick(&mut self) {
        let next = self.now + TICK;
        self.deliver(next);
        self.now = next;
        self.disturb();
        self.observe();
        self.transmit();
        self.sender.ledger().check_books(self.now);
        // Between ticks too, and for a time to come.
        self.sender.ledger().check_books(self.now + Duration::from_millis(7));
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn the_books_are_those_of_the_oracle_whatever_happens() {
    let first = number("EVENKEEL_ORACLE_FIRST").unwrap_or(0);
    let mut shown = Duration::ZERO;
    for seed in first..first + number("EVENKEEL_ORACLE_SEEDS").unwrap_or(SEEDS) {
        let run = || {
            let mut session = Session::new(seed);
            (0..TICKS).for_each(|_| session.tick());
            let fairness = session.sender.fairness(session.now);
            fairness.receivers.iter().fold(Duration::ZERO, |sum, receiver| sum + receiver.shown)
        };
        shown += std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(shown > Duration::from_secs(100), "next to nothing was compared: {shown}");
}

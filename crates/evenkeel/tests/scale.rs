//! Policies know no unit: a session in which all lengths, or all times, are multiplied by the same number is the same session. Every
//! vector goes to the same receivers in the same ticks, and errors are multiplied by the same number as lengths. For times this does
//! not hold yet for `even` and `credits`, and cannot for `tolerance`: see the tests.
#![allow(clippy::unwrap_used)]

use evenkeel::policy::{Even, by_name};
use evenkeel::wire::Format;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, Placing, Policy, Pose, Receiver, ReceiverConfig, Sender,
    SenderConfig, Threshold, Vec3, VectorNumber,
};
use std::collections::VecDeque;

const SENDER: HostId = HostId(9);
const DELAYS_MS: [i64; 3] = [400, 120, 40];
const ENTITIES: u32 = 4;
const TICK_MS: i64 = 20;

/// How many metres and seconds the units of a session are.
#[derive(Clone, Copy, Debug)]
struct Units {
    metre: f64,
    second: f64,
}

impl Units {
    /// So many thousandths of a unit of time, each of 2^16 ns: a whole number of the steps in which stamps are written, so that no unit
    /// rounds them differently; and short enough for the slowest round trip, ten times as long, to stay below the second after which a
    /// datagram counts as lost while nothing is known about its way.
    fn ms(self, millis: i64) -> Duration {
        Duration::from_nanos((millis as f64 * 65_536.0 * self.second) as i64)
    }
}

/// What came of a session: by tick, entity and receiver the newest vector sent; and how far off each receiver was.
#[derive(Debug, PartialEq)]
struct Told {
    sent: Vec<Option<VectorNumber>>,
    errors: Vec<f64>,
}

/// A thing that drives and turns now and then: a few times a second, or every few seconds.
struct Walker {
    position: Vec3,
    heading: f64,
    random: u64,
    calm: u32,
}

impl Walker {
    fn step(&mut self, units: Units) -> Pose {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if self.random >> (64 - self.calm) == 0 {
            self.heading += (self.random >> 24 & 0xFFFF) as f64 / 65_536.0 * 3.0;
        }
        let velocity = Vec3::from_heading(self.heading) * (12.0 * units.metre / units.second);
        self.position += velocity * (TICK_MS as f64 / 1e3 * units.second);
        Pose::at(self.position).moving(velocity)
    }
}

struct Session {
    units: Units,
    sender: Sender,
    receivers: Vec<Receiver>,
    /// Datagrams on their way to each receiver, and back: all take equally long.
    down: Vec<VecDeque<(GlobalTime, Vec<u8>)>>,
    up: Vec<VecDeque<(GlobalTime, Vec<u8>)>>,
}

impl Session {
    fn new(policy: Box<dyn Policy>, units: Units) -> Self {
        let placing = Placing { max_age: units.ms(5_000), ..Placing::default() };
        let config = SenderConfig {
            format: Format { lossless: true, ..Format::default() },
            policy,
            placing,
            history: units.ms(4_000),
            window: Some(units.ms(20_000)),
            trust_receipts: true,
            ..SenderConfig::default()
        };
        let mut sender = Sender::new(config).unwrap();
        let mut receivers = Vec::new();
        for host in 0..DELAYS_MS.len() as u32 {
            sender.add_receiver(HostId(host), GlobalTime::ZERO).unwrap();
            let receipt_interval = units.ms(20);
            let silent_after = units.ms(5_000);
            let config = ReceiverConfig { placing, receipt_interval, silent_after, ..ReceiverConfig::default() };
            let mut receiver = Receiver::new(config).unwrap();
            receiver.add_sender(SENDER, sender.agreement(), GlobalTime::ZERO).unwrap();
            receivers.push(receiver);
        }
        let threshold =
            Threshold { time: units.ms(1_000), min_gap: units.ms(40), ..Threshold::within(0.1 * units.metre) };
        (0..ENTITIES).for_each(|i| sender.add_entity(EntityId(i), threshold, GlobalTime::ZERO).unwrap());
        let ways = || DELAYS_MS.map(|_| VecDeque::new()).to_vec();
        Self { units, sender, receivers, down: ways(), up: ways() }
    }

    /// Carries what is on its way, and what is said in answer.
    fn carry(&mut self, now: GlobalTime) {
        for (host, (delay, receiver)) in DELAYS_MS.iter().zip(&mut self.receivers).enumerate() {
            while self.down[host].front().is_some_and(|(at, _)| *at <= now) {
                let (_, bytes) = self.down[host].pop_front().unwrap();
                receiver.handle_datagram(SENDER, &bytes, now).unwrap();
            }
            while let Some(receipt) = receiver.poll_transmit(now) {
                self.up[host].push_back((now + self.units.ms(*delay), receipt.bytes.to_vec()));
            }
            while self.up[host].front().is_some_and(|(at, _)| *at <= now) {
                let (_, bytes) = self.up[host].pop_front().unwrap();
                self.sender.handle_datagram(HostId(host as u32), &bytes, now).unwrap();
            }
        }
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            let host = datagram.to.0 as usize;
            self.down[host].push_back((now + self.units.ms(DELAYS_MS[host]), datagram.bytes.to_vec()));
        }
    }

    fn newest_sent(&self) -> impl Iterator<Item = Option<VectorNumber>> + '_ {
        let ledger = self.sender.ledger();
        let pairs = ledger.entities().flat_map(move |entity| ledger.receivers().map(move |r| ledger.pair(entity, r)));
        pairs.map(|pair| pair.last_sent().map(|(number, _)| number))
    }
}

fn play(policy: Box<dyn Policy>, units: Units, seconds: i64, seed: u64) -> Told {
    let mut session = Session::new(policy, units);
    let mut walkers: Vec<Walker> = (0..ENTITIES)
        .map(|i| Walker { position: Vec3::ZERO, heading: f64::from(i), random: seed * 77 + u64::from(i), calm: 4 + i })
        .collect();
    let mut sent = Vec::new();
    let mut now = GlobalTime::ZERO;
    for tick in 0..seconds * 1_000 / TICK_MS {
        now = GlobalTime::ZERO + units.ms(tick * TICK_MS);
        for (i, walker) in (0..).zip(&mut walkers) {
            session.sender.observe(EntityId(i), walker.step(units), now).unwrap();
        }
        session.carry(now);
        sent.extend(session.newest_sent());
    }
    let errors = session.sender.fairness(now).receivers.iter().map(|r| r.mean_distance / units.metre).collect();
    Told { sent, errors }
}

fn same_in_all_units(name: &str, make: impl Fn(f64) -> Box<dyn Policy>, units: &[(f64, f64)]) {
    for seed in 1..=3 {
        let told = play(make(1.0), Units { metre: 1.0, second: 1.0 }, 60, seed);
        assert!(told.sent.windows(2).any(|w| w[0] != w[1]) && told.errors.iter().all(|e| *e > 0.0), "{told:?}");
        for &(metre, second) in units {
            let again = play(make(second), Units { metre, second }, 60, seed);
            let differs = told.sent.iter().zip(&again.sent).position(|(a, b)| a != b);
            let tick = differs.map(|at| at / (DELAYS_MS.len() * ENTITIES as usize));
            assert_eq!(tick, None, "{name}, seed {seed}, {metre} m, {second} s: something else is sent in this tick");
            let largest = told.errors.iter().copied().fold(0.0, f64::max);
            for (a, b) in told.errors.iter().zip(&again.errors) {
                assert!((a - b).abs() < 1e-3 * largest, "{name}, {metre} m, {second} s: {a} and {b}");
            }
        }
    }
}

const LENGTHS: [(f64, f64); 4] = [(8.0, 1.0), (10.0, 1.0), (1e-3, 1.0), (1e4, 1.0)];
/// Longer only: timers for losses and steps of stamps are real time, because they belong to networks.
const TIMES: [(f64, f64); 4] = [(1.0, 2.0), (1.0, 4.0), (1.0, 8.0), (1.0, 10.0)];

fn even(rate: f64) -> impl Fn(f64) -> Box<dyn Policy> {
    move |_| Box::new(Even::with_exchange_rate(Budget::of_base(1, 3), rate))
}

#[test]
fn even_knows_no_metre() {
    same_in_all_units("even", even(2.0), &LENGTHS);
    same_in_all_units("even:10", even(10.0), &LENGTHS);
}

#[test]
#[ignore = "does not hold yet: at twice the time something else is sent in tick 2762; why is not known"]
fn even_knows_no_second() {
    same_in_all_units("even", even(2.0), &TIMES);
    let per_second = |second: f64| Box::new(Even::new(Budget::PerSecond(6.0 / second))) as Box<dyn Policy>;
    same_in_all_units("even at six per second", per_second, &TIMES);
}

#[test]
fn nor_do_the_others() {
    for name in ["base", "base/3", "tolerance", "credits"] {
        let make = |_| by_name(name, Budget::of_base(1, 3), 7).unwrap();
        same_in_all_units(name, make, &LENGTHS);
        // `tolerance` counts triggers over five seconds and sets itself twice a second. `credits` sends something else in tick 578 at
        // four times the time; why is not known.
        if name.starts_with("base") {
            same_in_all_units(name, make, &TIMES);
        }
    }
}

//! Policies know no unit: a session in which all lengths, or all times, are multiplied by the same number is the same session. Every
//! vector goes to the same receivers in the same ticks, and errors are multiplied by the same number as lengths.
//!
//! Networks do know seconds, so some times in the heart are real: after how long a datagram counts as lost, when an acknowledgement
//! is sent alone, when a receipt is repeated, for how long late receipts of lost datagrams are waited for. The sessions here are set
//! up so that none of these matters at any scale:
//! - Nothing is lost, and no datagram stays without a receipt for the 600 ms after which it may count as lost.
//! - The slowest round trip and the 100 ms for which an acknowledgement may wait add up to less than the 250 ms after which a receipt
//!   is repeated. The next receipt waits for up to a receipt interval after a repeated one, so repetitions change when news arrives.
//! - The history is longer than three round trips and a second, for which the ledger keeps everything anyway
//!   ([`PathEstimate::memory`](evenkeel::delay::PathEstimate::memory)). With a shorter history the ledger closes its books at other
//!   times when seconds change. Errors fade from the moment at which they are booked, so that changes recent errors by up to a
//!   thousandth, and now and then a decision.
//! - Times are whole numbers of the steps in which datagrams are stamped.
//!
//! Factors that are not powers of two round differently from a factor of one, so what is equal but for rounding may compare either way.
//! Frames and delays here are uneven, so that few times are multiples of each other: with frames of 20 ms, a delay of 40 ms and motions
//! that last for 40 ms, `even` files a choice under one band of delays, and at ten times the time under the next.
#![allow(clippy::unwrap_used)]

use evenkeel::policy::{NAMES, by_name};
use evenkeel::wire::Format;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, Placing, Policy, Pose, Receiver, ReceiverConfig, Sender,
    SenderConfig, SenderEvent, Threshold, Vec3, VectorNumber,
};
use std::collections::VecDeque;

const SENDER: HostId = HostId(9);
const DELAYS_MS: [i64; 3] = [403, 127, 41];
const ENTITIES: u32 = 4;
const TICK_MS: i64 = 20;
const SECONDS: i64 = 60;
/// About a third of what the base case sends. No number of ticks earns a whole number of vectors.
const PER_SECOND: f64 = 11.3;

/// How many metres and seconds the units of a session are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Units {
    metre: f64,
    second: f64,
}

impl Units {
    /// A number of milliseconds of the session, each 2^15 ns at a scale of one: two of the steps in which datagrams are stamped, so
    /// that one and a half times as long is a whole number of them too, and the slowest round trip takes 132 ms at the largest scale.
    fn ms(self, millis: i64) -> Duration {
        Duration::from_nanos((millis as f64 * 32_768.0 * self.second) as i64)
    }

    /// A second of the session, in real seconds.
    fn one_second(self) -> f64 {
        self.ms(1_000).as_secs_f64()
    }

    /// When a tick is: frames of games are uneven too.
    fn tick(self, tick: i64) -> GlobalTime {
        GlobalTime::ZERO + self.ms(tick * TICK_MS + tick * 7_919 % 13)
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
    /// Moves on for a time, in real seconds.
    fn step(&mut self, units: Units, seconds: f64) -> Pose {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if self.random >> (64 - self.calm) == 0 {
            self.heading += (self.random >> 24 & 0xFFFF) as f64 / 32_768.0 * 3.0;
        }
        let velocity = Vec3::from_heading(self.heading) * (12.0 * units.metre / units.one_second());
        self.position += velocity * seconds;
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
            history: units.ms(35_000),
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

    /// Delivers everything that arrives by now, in order.
    fn deliver(&mut self, now: GlobalTime) {
        loop {
            let arrival = |way: &VecDeque<(GlobalTime, Vec<u8>)>| way.front().map(|(at, _)| *at);
            let next = (0..DELAYS_MS.len()).flat_map(|host| {
                let (down, up) = (arrival(&self.down[host]), arrival(&self.up[host]));
                [down.map(|at| (at, host, true)), up.map(|at| (at, host, false))]
            });
            let Some((at, host, down)) = next.flatten().min().filter(|(at, ..)| *at <= now) else { return };
            if down {
                let (_, bytes) = self.down[host].pop_front().unwrap();
                self.receivers[host].handle_datagram(SENDER, &bytes, at).unwrap();
                self.answer(host, at);
            } else {
                let (_, bytes) = self.up[host].pop_front().unwrap();
                self.sender.handle_datagram(HostId(host as u32), &bytes, at).unwrap();
            }
        }
    }

    /// Sends the receipts that a receiver owes.
    fn answer(&mut self, host: usize, now: GlobalTime) {
        while let Some(receipt) = self.receivers[host].poll_transmit(now) {
            self.up[host].push_back((now + self.units.ms(DELAYS_MS[host]), receipt.bytes.to_vec()));
        }
    }

    /// Sends what is due.
    fn send(&mut self, now: GlobalTime) {
        (0..DELAYS_MS.len()).for_each(|host| self.answer(host, now));
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

fn play(policy: Box<dyn Policy>, units: Units, seed: u64) -> Told {
    let mut session = Session::new(policy, units);
    let mut walkers: Vec<Walker> = (0..ENTITIES)
        .map(|i| Walker { position: Vec3::ZERO, heading: f64::from(i), random: seed * 77 + u64::from(i), calm: 3 + i })
        .collect();
    let mut sent = Vec::new();
    let mut now = GlobalTime::ZERO;
    for tick in 0..SECONDS * 1_000 / TICK_MS {
        let before = core::mem::replace(&mut now, units.tick(tick));
        session.deliver(now);
        for (i, walker) in (0..).zip(&mut walkers) {
            let pose = walker.step(units, now.since(before).as_secs_f64());
            session.sender.observe(EntityId(i), pose, now).unwrap();
        }
        session.send(now);
        sent.extend(session.newest_sent());
    }
    while let Some(event) = session.sender.poll_event() {
        assert!(!matches!(event, SenderEvent::DatagramLost { .. }), "{event:?}");
    }
    let errors = session.sender.fairness(now).receivers.iter().map(|r| r.mean_distance / units.metre).collect();
    Told { sent, errors }
}

fn same_in_all_units(name: &str, make: impl Fn(Units) -> Box<dyn Policy>, scales: &[Units]) {
    let seeds = if EXACT.starts_with(scales) { 2 } else { 6 };
    for seed in 1..=seeds {
        let one = Units { metre: 1.0, second: 1.0 };
        let told = play(make(one), one, seed);
        let news = told.sent.windows(2 * PAIRS).filter(|w| w[0] != w[PAIRS]).count();
        assert!(news > 300 && told.errors.iter().all(|e| *e > 0.0), "{name}: {news} vectors, {:?}", told.errors);
        for &units in scales {
            let again = play(make(units), units, seed);
            let differs = told.sent.iter().zip(&again.sent).position(|(a, b)| a != b);
            let tick = differs.map(|at| at / PAIRS);
            assert_eq!(tick, None, "{name}, seed {seed}, {units:?}: something else is sent in this tick");
            let largest = told.errors.iter().copied().fold(0.0, f64::max);
            for (a, b) in told.errors.iter().zip(&again.errors) {
                assert!((a - b).abs() < 1e-6 * largest, "{name}, {units:?}: {a} and {b}");
            }
        }
    }
}

const PAIRS: usize = DELAYS_MS.len() * ENTITIES as usize;
const LENGTHS: [Units; 4] = [metres(8.0), metres(10.0), metres(1e-3), metres(1e4)];
/// Longer only: at a scale of one, times are as short as stamps allow.
const TIMES: [Units; 4] = [seconds(1.5), seconds(2.0), seconds(3.0), seconds(5.0)];
/// Scales that round nothing.
const EXACT: [Units; 4] = [metres(8.0), metres(1.0 / 1024.0), seconds(2.0), seconds(4.0)];

const fn metres(metre: f64) -> Units {
    Units { metre, second: 1.0 }
}

const fn seconds(second: f64) -> Units {
    Units { metre: 1.0, second }
}

/// With a share of the base case.
fn with_share(name: &str, scales: &[Units]) {
    same_in_all_units(name, |_| by_name(name, Budget::of_base(1, 3), 7).unwrap(), scales);
}

/// With so many vectors per second of the session.
fn with_rate(name: &str, scales: &[Units]) {
    let make = |units: Units| by_name(name, Budget::PerSecond(PER_SECOND / units.one_second()), 7).unwrap();
    same_in_all_units(&format!("{name} per second"), make, scales);
}

#[test]
fn even_knows_no_metre() {
    with_share("even", &LENGTHS);
    with_share("even:10", &LENGTHS);
    with_rate("even", &LENGTHS);
}

#[test]
fn even_knows_no_second() {
    with_share("even", &TIMES);
    with_share("even:10", &TIMES);
    with_rate("even", &TIMES);
}

#[test]
fn nor_do_the_others() {
    for name in ["base", "base/3", "tolerance", "credits"] {
        with_share(name, &LENGTHS);
        with_share(name, &TIMES);
    }
    with_rate("tolerance", &LENGTHS);
    with_rate("tolerance", &TIMES);
}

/// Some policies compare numbers that are often equal but for rounding, such as the errors of receivers that have none. They are tried
/// at powers of two, which round nothing.
#[test]
fn nor_does_any_but_for_rounding() {
    for (name, _) in NAMES.iter().filter(|(name, _)| *name != "base/k") {
        // `schedule-*` searches for the time to hold a vector to a real microsecond, and holds it for a real second at most.
        let timed = name.starts_with("schedule");
        with_share(name, if timed { &EXACT[..2] } else { &EXACT });
        // With a rate, policies that rank updates look at entities of others once per network tick, which is real time.
        if ["lottery", "credits", "even", "tolerance"].iter().any(|family| name.starts_with(family)) {
            with_rate(name, &EXACT);
        }
    }
}

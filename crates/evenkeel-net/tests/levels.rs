//! What the five levels promise, over a network that loses, duplicates and reorders.

#![allow(clippy::unwrap_used)]

use evenkeel::{Duration, HostId, Instant};
use evenkeel_net::levels::{
    Channel, Envelope, Level, LevelError, LevelLimits, Levels, Outgoing, Party, QUICKEST_WINDOW,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) as f64 / u64::MAX as f64
    }
}

#[derive(Clone, Copy, Debug)]
struct Weather {
    loss: f64,
    duplicates: f64,
    delay: Duration,
    jitter: Duration,
}

/// Two ends and what is between them.
struct World {
    ends: [Levels; 2],
    weather: Weather,
    dice: Dice,
    now: Instant,
    flying: BTreeMap<(Instant, u64), (usize, Outgoing)>,
    count: u64,
    got: [Vec<(Instant, Level, Envelope)>; 2],
    /// The most memory that either end ever held.
    most: usize,
}

impl World {
    fn new(weather: Weather, seed: u64) -> Self {
        let limits = LevelLimits { queued_bytes: 64 * 1024, newest_streams: 8, ..LevelLimits::default() };
        Self {
            ends: [Levels::new(limits), Levels::new(limits)],
            weather,
            dice: Dice(seed),
            now: Instant::from_millis(7_000),
            flying: BTreeMap::new(),
            count: 0,
            got: [Vec::new(), Vec::new()],
            most: 0,
        }
    }

    fn post(&mut self, to: usize, out: Outgoing) {
        let Weather { loss, duplicates, delay, jitter } = self.weather;
        let reliable = !matches!(out, Outgoing::Datagram(_));
        let copies = match (reliable, self.dice.roll() < loss, self.dice.roll() < duplicates) {
            (true, ..) => 1,
            (_, true, _) => 0,
            (.., twice) => 1 + usize::from(twice),
        };
        for _ in 0..copies {
            let extra = if matches!(out, Outgoing::Ordered(_)) { ms(0) } else { jitter.mul_f64(self.dice.roll()) };
            self.count += 1;
            self.flying.insert((self.now + delay + extra, self.count), (to, out.clone()));
        }
    }

    fn deliver(&mut self, to: usize, out: &Outgoing) {
        match out {
            Outgoing::Ordered(bytes) => self.ends[to].handle_ordered(bytes).unwrap(),
            Outgoing::Unordered(bytes) => self.ends[to].handle_unordered(bytes).unwrap(),
            Outgoing::Datagram(bytes) => self.ends[to].handle_datagram(bytes, self.now).unwrap(),
        }
        let now = self.now;
        let messages = std::iter::from_fn(|| self.ends[to].poll_message());
        self.got[to].extend(messages.map(|(level, envelope)| (now, level, envelope)));
    }

    /// A datagram that is nobody's business here leaves an end: what goes along?
    fn other_traffic(&mut self, from: usize) {
        if let Some(along) = self.ends[from].ride_along(self.now, 600) {
            assert!(along.len() <= 600);
            self.post(1 - from, Outgoing::Datagram(along));
        }
    }

    fn step(&mut self) {
        self.now += ms(1);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, out) = entry.remove();
            self.deliver(to, &out);
        }
        for from in 0..2 {
            // Asked only when it says so: whoever sleeps must not miss anything.
            if self.ends[from].poll_timeout().is_some_and(|due| due <= self.now) {
                while let Some(out) = self.ends[from].poll_transmit(self.now) {
                    assert!(!matches!(&out, Outgoing::Datagram(bytes) if bytes.len() > 1_100));
                    self.post(1 - from, out);
                }
            }
            self.most = self.most.max(self.ends[from].memory_bytes());
        }
    }
}

fn message(n: u32, length: usize) -> Envelope {
    let mut bytes = n.to_le_bytes().to_vec();
    bytes.resize(length.max(4), n as u8);
    Envelope { party: if n.is_multiple_of(3) { Party::Everybody } else { Party::Host(HostId(n % 5)) }, bytes }
}

fn number(envelope: &Envelope) -> u32 {
    u32::from_le_bytes(envelope.bytes[..4].try_into().unwrap())
}

fn weather() -> impl Strategy<Value = Weather> {
    (0.0..0.7, 0.0..0.3, 1i64..200, 0i64..150).prop_map(|(loss, duplicates, delay, jitter)| Weather {
        loss,
        duplicates,
        delay: ms(delay),
        jitter: ms(jitter),
    })
}

fn level(n: u8) -> Level {
    match n % 5 {
        0 => Level::Ordered,
        1 => Level::Unordered,
        2 => Level::Unreliable,
        3 => Level::Newest(Channel(n / 5 % 4)),
        _ => Level::Quickest,
    }
}

/// Sends a message every so often and answers what was taken; then waits until nothing is left to be done.
fn talk(world: &mut World, script: &[(u8, usize, i64)]) -> Vec<(usize, Level, Envelope)> {
    let mut taken = Vec::new();
    for (n, &(kind, length, pause)) in (0..).zip(script) {
        let (from, level, envelope) = (usize::from(kind >> 7), level(kind & 0x7F), message(n, length));
        match world.ends[from].send(level, envelope.clone(), world.now) {
            Ok(()) => taken.push((from, level, envelope)),
            Err(error) => assert_eq!((level, error), (Level::Quickest, LevelError::Full)),
        }
        for step in 0..pause {
            world.step();
            if step % 17 == 5 {
                world.other_traffic(0);
            }
        }
    }
    for _ in 0..120_000 {
        if world.flying.is_empty() && world.ends.iter().all(|end| end.poll_timeout().is_none()) {
            return taken;
        }
        world.step();
    }
    panic!("they never came to rest");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_level_keeps_its_promise(
        weather in weather(),
        seed: u64,
        script in prop::collection::vec((any::<u8>(), 0usize..1_000, 0i64..40), 1..150),
    ) {
        let mut world = World::new(weather, seed);
        let taken = talk(&mut world, &script);
        for from in 0..2 {
            let sent = |level: Level| taken.iter().filter(move |(by, at, _)| (*by, *at) == (from, level)).map(|(.., e)| e);
            let got = |level: Level| world.got[1 - from].iter().filter(move |(_, at, _)| *at == level).map(|(.., e)| e);
            prop_assert!(got(Level::Ordered).eq(sent(Level::Ordered)), "all, in order");
            for level in [Level::Unordered, Level::Quickest] {
                let mut got: Vec<_> = got(level).collect();
                got.sort_by_key(|envelope| number(envelope));
                prop_assert!(got.into_iter().eq(sent(level)), "all, once: {level:?}");
            }
            prop_assert!(got(Level::Unreliable).all(|envelope| sent(Level::Unreliable).any(|e| e == envelope)));
            for channel in (0..4).map(|n| Level::Newest(Channel(n))) {
                for party in (0..5).map(|n| Party::Host(HostId(n))).chain([Party::Everybody]) {
                    let numbers: Vec<_> = got(channel).filter(|e| e.party == party).map(number).collect();
                    prop_assert!(numbers.is_sorted_by(|a, b| a < b), "never back: {numbers:?}");
                }
                prop_assert!(got(channel).all(|envelope| sent(channel).any(|e| e == envelope)));
            }
            prop_assert_eq!(world.ends[from].unacknowledged(), 0);
        }
        // What was queued, what was not acknowledged, and what was newest.
        prop_assert!(world.most <= 2 * 64 * 1024 + 16 * 1024 + 64 * 200 + 8 * 64, "{} bytes", world.most);
    }

    #[test]
    fn any_bytes_are_taken_or_change_nothing(
        kind in 0u8..6,
        rest in prop::collection::vec(prop_oneof![Just(0u8), 0u8..5, any::<u8>()], 0..60),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let now = Instant::from_millis(40);
        let mut levels = Levels::new(LevelLimits::default());
        for n in 0..3 {
            levels.send(Level::Quickest, message(n, 10), now).unwrap();
        }
        while levels.poll_transmit(now).is_some() {}
        let formed: Vec<u8> = [0xA0, kind].into_iter().chain(rest).collect();
        for bytes in [&formed, &noise] {
            let before = levels.clone();
            if levels.handle_datagram(bytes, now).is_err() {
                prop_assert_eq!(&levels, &before);
            }
            let before = levels.clone();
            if levels.handle_ordered(bytes).is_err() && levels.handle_unordered(bytes).is_err() {
                prop_assert_eq!(&levels, &before);
            }
        }
        while levels.poll_transmit(now + ms(300)).is_some() {}
    }
}

#[test]
fn what_is_too_long_or_too_much_is_refused() {
    let now = Instant::ZERO;
    let mut levels = Levels::new(LevelLimits::default());
    let too_long = |level, length, longest| {
        let mut levels = Levels::new(LevelLimits::default());
        assert_eq!(levels.send(level, message(0, longest), now), Ok(()));
        let before = levels.clone();
        assert_eq!(levels.send(level, message(0, length), now), Err(LevelError::TooLong { length, longest }));
        assert_eq!(levels, before);
    };
    too_long(Level::Ordered, 65_537, 65_536);
    too_long(Level::Unordered, 32_753, 32_752);
    too_long(Level::Unreliable, 1_089, 1_088);
    too_long(Level::Newest(Channel(9)), 1_089, 1_088);
    too_long(Level::Quickest, 1_074, 1_073);
    for n in 0..QUICKEST_WINDOW as u32 {
        levels.send(Level::Quickest, message(n, 4), now).unwrap();
    }
    assert_eq!(levels.send(Level::Quickest, message(99, 4), now), Err(LevelError::Full));
    let mut levels = Levels::new(LevelLimits::default());
    let taken = (0..64).filter(|n| levels.send(Level::Quickest, message(*n, 1_000), now).is_ok()).count();
    assert_eq!(taken, 16, "16 KiB");
    let ordered = (0..64).filter(|n| levels.send(Level::Ordered, message(*n, 60_000), now).is_ok()).count();
    assert_eq!(ordered, 17, "1 MiB");
}

#[test]
fn a_game_that_does_not_ask_is_sent_the_quickest_again() {
    let limits = LevelLimits { queued_bytes: 300, ..LevelLimits::default() };
    let (mut from, mut to) = (Levels::new(LevelLimits::default()), Levels::new(limits));
    let mut now = Instant::ZERO;
    for n in 0..10 {
        from.send(Level::Quickest, message(n, 50), now).unwrap();
    }
    let mut got = Vec::new();
    for _ in 0..200 {
        now += ms(10);
        while let Some(Outgoing::Datagram(bytes)) = from.poll_transmit(now) {
            to.handle_datagram(&bytes, now).unwrap();
        }
        while let Some(Outgoing::Datagram(bytes)) = to.poll_transmit(now) {
            from.handle_datagram(&bytes, now).unwrap();
        }
        got.extend(to.poll_message().map(|(_, envelope)| number(&envelope)));
    }
    got.sort_unstable();
    assert_eq!((got, from.unacknowledged()), ((0..10).collect(), 0));
}

/// Percentiles, in milliseconds.
fn percentiles(mut took: Vec<f64>) -> [f64; 3] {
    took.sort_by(f64::total_cmp);
    [0.5, 0.99, 0.999].map(|p| took[(p * (took.len() - 1) as f64) as usize])
}

const EVERY: i64 = 250;
const MESSAGES: u32 = 20_000;

/// How long `Quickest` takes; other datagrams leave both ends every so often. And how many datagrams it took to send a message.
fn quickest(weather: Weather, other_every: i64, seed: u64) -> ([f64; 3], f64) {
    let mut world = World::new(weather, seed);
    let start = world.now;
    for n in 0..MESSAGES {
        // Not in step with the other traffic.
        let offset = (n as i64 * 7) % 50;
        for step in 0..EVERY {
            if step == offset {
                let envelope = Envelope::to(HostId(1), n.to_le_bytes().to_vec());
                world.ends[0].send(Level::Quickest, envelope, world.now).unwrap();
            }
            world.step();
            if other_every > 0 && step % other_every == 0 {
                world.other_traffic(0);
                world.other_traffic(1);
            }
        }
    }
    (0..5_000).for_each(|_| world.step());
    let took = world.got[1].iter().map(|(at, _, envelope)| {
        let n = i64::from(number(envelope));
        at.since(start + ms(n * EVERY + n * 7 % 50)).as_millis_f64()
    });
    let took: Vec<f64> = took.collect();
    assert_eq!(took.len(), MESSAGES as usize);
    let repeated = world.ends[0].counts().repeated as f64 / f64::from(MESSAGES);
    (percentiles(took), 1.0 + repeated)
}

/// How long it takes if each loss is noticed after a while, never longer, and later messages wait for earlier ones.
fn retransmitted(weather: Weather, timeout: f64, seed: u64) -> [f64; 3] {
    let mut dice = Dice(seed);
    let (mut ready, mut took) = (0.0f64, Vec::new());
    for n in 0..MESSAGES {
        let sent = (i64::from(n) * EVERY) as f64;
        let mut at = sent;
        while dice.roll() < weather.loss {
            at += timeout;
        }
        ready = ready.max(at + weather.delay.as_millis_f64());
        took.push(ready - sent);
    }
    percentiles(took)
}

/// `cargo test -p evenkeel-net --test levels how_quick -- --nocapture` prints the figures of the module's documentation.
#[test]
fn how_quick_the_quickest_is() {
    let weather = Weather { loss: 0.3, duplicates: 0.0, delay: ms(50), jitter: ms(0) };
    let (beside, copies_beside) = quickest(weather, 50, 1);
    let (alone, copies_alone) = quickest(weather, 0, 2);
    let stream = retransmitted(weather, 150.0, 3);
    println!("50 ms one way, 30 % loss, {MESSAGES} messages: p50, p99, p99.9 in ms, times each was sent");
    println!("quickest, beside 20 datagrams a second: {beside:.0?}, {copies_beside:.1}");
    println!("quickest, alone:                        {alone:.0?}, {copies_alone:.1}");
    println!("sent again after 150 ms, in order:      {stream:.0?}, {:.1}", 1.0 / (1.0 - weather.loss));
    let lossless = quickest(Weather { loss: 0.0, ..weather }, 50, 4);
    println!("quickest without loss:                  {:.0?}, {:.1}", lossless.0, lossless.1);
    assert!(beside[0] <= 52.0 && beside[1] <= 160.0 && beside[1] * 3.0 < stream[1], "{beside:?} {stream:?}");
}

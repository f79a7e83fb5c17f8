//! Swarm: random scenarios from a seed, checkers watching. A seed that fails once stays in `KEPT` for ever.
#![allow(clippy::unwrap_used)]

use evenkeel::determinism::{Transcript, check};
use evenkeel::wire::Format;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, PlaceError, Placing, Receiver, ReceiverConfig, ReceiverError,
    Relevance, Sender, SenderConfig, Threshold, policy,
};
use evenkeel_lab::workload::Tank;
use evenkeel_link::{Conditions, Jitter, Link, Loss, Noise, Topology};
use std::collections::BTreeMap;

/// Seeds that once failed.
const KEPT: &[u64] = &[1, 102, 179, 202, 1495, 1598, 1657];
/// How many seeds, unless `EVENKEEL_SWARM_SEEDS` says otherwise.
const SEEDS: u64 = 150;
const SENDER: u32 = 0;
const FRAME: Duration = Duration::from_millis(20);
/// When the network turns perfect and everything stands still, and how long that is given to settle.
const QUIET: GlobalTime = GlobalTime::from_millis(12_000);
const END: GlobalTime = GlobalTime::from_millis(18_000);
const LATE_END: GlobalTime = GlobalTime::from_millis(80_000);

/// Draws from a seed, in order.
struct Draw(Noise, i64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.1 += 1;
        self.0.uniform(self.1, 0)
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.unit() * f64::from(n)) as u32
    }

    fn millis(&mut self, most: f64) -> Duration {
        Duration::from_secs_f64(self.unit() * most / 1e3)
    }
}

fn conditions(draw: &mut Draw) -> Conditions {
    let delay = Duration::from_millis(5) + draw.millis(400.0);
    let mut conditions = Conditions::delay(delay);
    conditions = match draw.below(4) {
        0 => conditions,
        1 => conditions.with_jitter(Jitter::Uniform { plus_minus: delay.mul_f64(draw.unit()) }),
        2 => conditions.with_jitter(Jitter::Exponential { mean: draw.millis(80.0) }),
        _ => conditions.with_jitter(Jitter::Pareto { scale: draw.millis(20.0), shape: 1.5 + draw.unit() }),
    };
    conditions = match draw.below(3) {
        0 => conditions,
        1 => conditions.with_loss(Loss::Independent(0.4 * draw.unit())),
        _ => conditions.with_loss(Loss::GilbertElliott {
            mean_good: Duration::from_secs(2),
            mean_bad: Duration::from_millis(400),
            loss_good: 0.01,
            loss_bad: 0.9,
        }),
    };
    conditions.with_duplicate(0.2 * draw.unit()).with_reorder(0.2 * draw.unit(), Duration::from_millis(60))
}

struct Scenario {
    draw: Draw,
    sender: Sender,
    receivers: BTreeMap<u32, Receiver>,
    link: Link<Vec<u8>>,
    /// What moves, and from which distance on its owner speaks of it.
    drives: BTreeMap<u32, (Tank, f64)>,
    format: Format,
    placing: Placing,
    /// When everybody must have got the last vector. Under a policy that leaves receivers out it takes some heartbeats more.
    end: GlobalTime,
    /// Whether differences may stay that are not worth a vector: such as the owner itself does not speak of.
    patient: bool,
    seed: u64,
    next_host: u32,
    next_entity: u32,
    now: GlobalTime,
}

impl Scenario {
    fn new(seed: u64) -> Self {
        let mut draw = Draw(Noise::new(seed, 99), 0);
        let format = [Format::default(), Format::bzflag(), Format::lossless()][draw.below(3) as usize];
        let lag = if draw.below(3) == 0 { draw.millis(200.0) } else { Duration::ZERO };
        let placing = Placing { lag, ..Placing::default() };
        let name = policy::NAMES[draw.below(policy::NAMES.len() as u32) as usize].0.replace("/k", "/2");
        let config = SenderConfig {
            format,
            placing,
            policy: policy::by_name(&name, Budget::of_base(1, 3), seed).unwrap(),
            max_datagram: 320 + draw.below(1000) as usize,
            ..SenderConfig::default()
        };
        let mut scenario = Self {
            sender: Sender::new(config).unwrap(),
            receivers: BTreeMap::new(),
            link: Link::new(Topology::uniform(Conditions::ideal()).unwrap(), seed),
            drives: BTreeMap::new(),
            format,
            placing,
            end: if ["lottery", "credits", "even"].iter().any(|slow| name.starts_with(slow)) { LATE_END } else { END },
            patient: name == "even",
            seed,
            next_host: 1,
            next_entity: 0,
            now: GlobalTime::ZERO,
            draw,
        };
        for _ in 0..=scenario.draw.below(4) {
            scenario.join();
        }
        for _ in 0..=scenario.draw.below(6) {
            scenario.spawn();
        }
        scenario
    }

    fn join(&mut self) {
        let host = self.next_host;
        self.next_host += 1;
        let (there, back) = (conditions(&mut self.draw), conditions(&mut self.draw));
        self.link.set_conditions(SENDER, host, there).unwrap();
        self.link.set_conditions(host, SENDER, back).unwrap();
        let mut receiver =
            Receiver::new(ReceiverConfig { placing: self.placing, ..ReceiverConfig::default() }).unwrap();
        receiver.add_sender(HostId(SENDER), self.format, self.now).unwrap();
        self.sender.add_receiver(HostId(host), self.now).unwrap();
        self.receivers.insert(host, receiver);
    }

    fn spawn(&mut self) {
        let entity = self.next_entity;
        self.next_entity += 1;
        let distance = 0.02 + self.draw.unit();
        let threshold = Threshold::within(distance).turning(0.02 + self.draw.unit());
        self.sender.add_entity(EntityId(entity), threshold, self.now).unwrap();
        self.drives.insert(entity, (Tank::new(self.seed, u64::from(entity)), distance));
    }

    /// Now and then somebody comes, goes, or looks away.
    fn disturb(&mut self) {
        if self.draw.unit() > 0.02 {
            return;
        }
        let entity = self.drives.keys().next().copied();
        let host = self.receivers.keys().next_back().copied();
        match (self.draw.below(6), entity, host) {
            (0, ..) if self.receivers.len() < 6 => self.join(),
            (1, _, Some(host)) if self.receivers.len() > 1 => {
                self.sender.remove_receiver(HostId(host)).unwrap();
                self.receivers.remove(&host);
            }
            (2, ..) if self.drives.len() < 8 => self.spawn(),
            (3, Some(entity), _) if self.drives.len() > 1 => {
                self.sender.remove_entity(EntityId(entity), self.now).unwrap();
                self.drives.remove(&entity);
            }
            (4, Some(entity), Some(host)) => self.look(entity, host, Relevance::OutOfScope),
            (5, Some(entity), Some(host)) => self.look(entity, host, Relevance::USUAL),
            _ => {}
        }
    }

    fn look(&mut self, entity: u32, host: u32, relevance: Relevance) {
        self.sender.set_relevance(EntityId(entity), HostId(host), relevance, self.now).unwrap();
    }

    fn calm_down(&mut self) {
        for host in self.receivers.keys() {
            for (from, to) in [(SENDER, *host), (*host, SENDER)] {
                self.link.set_conditions(from, to, Conditions::delay(Duration::from_millis(30))).unwrap();
            }
        }
    }

    fn frame(&mut self, transcript: &mut Transcript) {
        self.deliver(transcript);
        if self.now < QUIET {
            self.disturb();
        }
        for (entity, (drive, _)) in &mut self.drives {
            let pose = drive.to(self.now.min(QUIET));
            let pose = if self.now < QUIET { pose } else { pose.moving(evenkeel::Vec3::ZERO).turning(0.0) };
            self.sender.observe(EntityId(*entity), pose, self.now).unwrap();
        }
        while let Some(datagram) = self.sender.poll_transmit(self.now) {
            transcript.bytes(datagram.bytes);
            let bytes = datagram.bytes.to_vec();
            self.link.send(self.now, SENDER, datagram.to.0, bytes.len(), bytes);
        }
        for (host, receiver) in &mut self.receivers {
            while let Some(receipt) = receiver.poll_transmit(self.now) {
                let bytes = receipt.bytes.to_vec();
                self.link.send(self.now, *host, SENDER, bytes.len(), bytes);
            }
            while let Some(event) = receiver.poll_event(self.now) {
                transcript.event(&event);
            }
        }
        self.check_books();
    }

    fn deliver(&mut self, transcript: &mut Transcript) {
        while let Some(delivery) = self.link.poll(self.now) {
            // Frames are when this world looks, so that is when datagrams count as received.
            let bytes = &delivery.payload;
            if delivery.to == SENDER {
                // Receipts of hosts that left come from nobody.
                let known = self.receivers.contains_key(&delivery.from);
                assert_eq!(self.sender.handle_datagram(HostId(delivery.from), bytes, self.now).is_ok(), known);
            } else if let Some(receiver) = self.receivers.get_mut(&delivery.to) {
                let handled = receiver.handle_datagram(HostId(SENDER), bytes, self.now);
                assert!(!matches!(handled, Err(ReceiverError::Datagram(_))), "seed {}: {handled:?}", self.seed);
                transcript.event(&handled);
            }
        }
    }

    fn check_books(&self) {
        for row in self.sender.fairness(self.now).receivers {
            let sane = row.error.before >= -1e-9 && row.error.after >= -1e-9 && row.mean_distance.is_finite();
            assert!(sane, "seed {}: {row:?}", self.seed);
        }
        assert!(self.sender.ledger().memory_bytes() < 4_000_000);
    }

    /// Long after the last movement everybody shows exactly what was exported last.
    fn check_agreement(&self) {
        let ledger = self.sender.ledger();
        for (host, receiver) in &self.receivers {
            let index = ledger.receiver(HostId(*host)).unwrap();
            for (entity, (_, threshold)) in &self.drives {
                let entity = EntityId(*entity);
                let vector = ledger.newest(ledger.entity(entity).unwrap()).unwrap();
                let shown = self.now - self.placing.lag;
                let exported = vector.motion.position_at(shown.since(vector.generated).as_secs_f64());
                let pair = ledger.pair(ledger.entity(entity).unwrap(), index);
                match receiver.place(entity, self.now) {
                    Ok(placed) => {
                        let off = placed.position.distance(exported);
                        assert!(
                            off < if self.patient { threshold.max(0.1) } else { 1e-6 },
                            "seed {} ({}): {entity} off by {off} m at host {host}",
                            self.seed,
                            self.sender.policy().name()
                        );
                    }
                    Err(PlaceError::Unknown(_)) => assert_eq!(pair.relevance(), Relevance::OutOfScope),
                    Err(error) => panic!("seed {}: {error} at host {host}", self.seed),
                }
            }
            let known = self.drives.len();
            assert!(receiver.entities().count() <= known, "seed {}: the dead live on at host {host}", self.seed);
        }
    }
}

fn run(seed: u64, transcript: &mut Transcript) {
    let mut scenario = Scenario::new(seed);
    while scenario.now < scenario.end {
        let before = scenario.now;
        scenario.now += FRAME;
        if before < QUIET && scenario.now >= QUIET {
            scenario.calm_down();
        }
        scenario.frame(transcript);
    }
    scenario.check_agreement();
}

#[test]
fn random_scenarios_end_in_agreement_and_run_the_same_twice() {
    let seeds = std::env::var("EVENKEEL_SWARM_SEEDS").ok().map_or(SEEDS, |text| text.parse().unwrap());
    for seed in KEPT.iter().copied().chain(0..seeds) {
        check(|transcript| run(seed, transcript)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

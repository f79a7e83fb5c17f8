//! One sender, its tanks and its receivers over the network model, measured from outside: what each receiver shows, frame by
//! frame, against where the tanks really are and against what was exported.

use crate::recorder::Recorder;
use crate::workload::Tank;
use anyhow::Result;
use evenkeel::wire::Format;
use evenkeel::{
    ClockRule, Duration, EntityId, GlobalTime, HostId, Placing, Policy, Receiver, ReceiverConfig, Sender, SenderConfig,
    Threshold, Vec3,
};
use evenkeel_link::{Conditions, Link, Topology};

/// The sender's number in the network; receivers count from 1.
const SENDER: u32 = 0;
/// Sixty frames a second, at the sender and at every receiver.
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Errors count from here on, when everybody has something to show.
const WARM_UP: Duration = Duration::from_secs(3);

/// What to run.
pub struct Setting {
    /// Who is told what and when.
    pub policy: Box<dyn Policy>,
    /// From which moment receivers extrapolate.
    pub rule: ClockRule,
    /// The way to each receiver, and back.
    pub paths: Vec<Conditions>,
    /// How many tanks.
    pub tanks: u32,
    /// For how long.
    pub seconds: f64,
    /// Tanks and delays follow from it.
    pub seed: u64,
    /// Where to write it all down.
    pub recorder: Option<Recorder>,
}

/// What one receiver saw, on average over tanks and frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The distance between where tanks really were and where they were shown.
    pub real_error: f64,
    /// The distance between what was exported and what was shown.
    pub export_error: f64,
    /// Vectors sent to it.
    pub vectors: u64,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One entry per receiver.
    pub receivers: Vec<Seen>,
    /// Vectors sent, over all receivers.
    pub vectors: u64,
    /// Bytes sent, over all receivers.
    pub bytes: u64,
}

impl Outcome {
    /// Mean, standard deviation and maximum over receivers of what `of` says.
    pub fn spread(&self, of: impl Fn(&Seen) -> f64) -> (f64, f64, f64) {
        let values: Vec<f64> = self.receivers.iter().map(of).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        (mean, variance.sqrt(), values.iter().copied().fold(0.0, f64::max))
    }
}

struct World {
    sender: Sender,
    receivers: Vec<Receiver>,
    link: Link<Vec<u8>>,
    drives: Vec<Tank>,
    now: GlobalTime,
    /// Sums of real and export error per receiver.
    sums: Vec<(f64, f64)>,
    samples: u64,
    recorder: Option<Recorder>,
}

/// Runs a setting.
pub fn run(setting: Setting) -> Result<Outcome> {
    let seconds = setting.seconds;
    let mut world = World::new(setting)?;
    let end = GlobalTime::from_secs_f64(seconds);
    while world.now < end {
        world.now += FRAME;
        world.frame()?;
    }
    if let Some(recorder) = world.recorder.take() {
        recorder.finish()?;
    }
    Ok(world.outcome())
}

impl World {
    fn new(setting: Setting) -> Result<Self> {
        let now = GlobalTime::ZERO;
        let placing = Placing { rule: setting.rule, ..Placing::default() };
        let mut sender = Sender::new(SenderConfig { policy: setting.policy, placing, ..SenderConfig::default() })?;
        let mut topology = Topology::uniform(Conditions::ideal())?;
        let mut receivers = Vec::new();
        for (number, path) in (1..).zip(&setting.paths) {
            topology.connect(SENDER, number, path.clone(), path.clone())?;
            sender.add_receiver(HostId(number), now)?;
            let mut receiver = Receiver::new(ReceiverConfig { placing, ..ReceiverConfig::default() });
            receiver.add_sender(HostId(SENDER), Format::default(), now)?;
            receivers.push(receiver);
        }
        for tank in 0..setting.tanks {
            sender.add_entity(EntityId(tank), Threshold::within(0.1).turning(0.05), now)?;
        }
        Ok(Self {
            sums: vec![(0.0, 0.0); receivers.len()],
            sender,
            receivers,
            link: Link::new(topology, setting.seed),
            drives: (0..setting.tanks).map(|tank| Tank::new(setting.seed, u64::from(tank))).collect(),
            now,
            samples: 0,
            recorder: setting.recorder,
        })
    }

    fn frame(&mut self) -> Result<()> {
        self.deliver()?;
        let (mut real, mut triggered) = (Vec::new(), Vec::new());
        for (tank, drive) in (0..).zip(&mut self.drives) {
            let pose = drive.to(self.now);
            real.push(pose.position());
            triggered.push(self.sender.observe(EntityId(tank), pose, self.now)?.is_some());
            if let Some(recorder) = &mut self.recorder {
                recorder.real(tank, self.now, &pose)?;
            }
        }
        while let Some(datagram) = self.sender.poll_transmit(self.now) {
            let bytes = datagram.bytes;
            self.link.send(self.now, SENDER, datagram.to.0, bytes.len(), bytes.to_vec());
        }
        if self.now.since(GlobalTime::ZERO) > WARM_UP {
            self.measure(&real);
        }
        self.record(&triggered)
    }

    fn record(&mut self, triggered: &[bool]) -> Result<()> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        for (tank, triggered) in (0..).zip(triggered) {
            recorder.sent(&self.sender, tank, *triggered, self.now)?;
            for (host, receiver) in (1..).zip(&self.receivers) {
                if let Ok(placed) = receiver.place(EntityId(tank), self.now) {
                    recorder.placed(tank, host, self.now, placed.position, placed.attitude.heading())?;
                }
            }
        }
        Ok(())
    }

    /// Brings everything to its receiver at the moment it arrives.
    fn deliver(&mut self) -> Result<()> {
        while let Some(delivery) = self.link.poll(self.now) {
            let (at, bytes) = (delivery.arrived, &delivery.payload);
            if delivery.to == SENDER {
                self.sender.handle_datagram(HostId(delivery.from), bytes, at)?;
                continue;
            }
            let receiver = &mut self.receivers[delivery.to as usize - 1];
            receiver.handle_datagram(HostId(SENDER), bytes, at)?;
            if let Some(recorder) = &mut self.recorder {
                recorder.received(receiver, HostId(delivery.to), at)?;
            }
            while let Some(receipt) = receiver.poll_transmit(at) {
                let bytes = receipt.bytes;
                self.link.send(at, delivery.to, SENDER, bytes.len(), bytes.to_vec());
            }
        }
        Ok(())
    }

    fn measure(&mut self, real: &[Vec3]) {
        self.samples += 1;
        let ledger = self.sender.ledger();
        for (tank, real) in (0..).zip(real) {
            let newest = ledger.entity(EntityId(tank)).and_then(|entity| ledger.newest(entity));
            let Some(vector) = newest else { continue };
            let exported = vector.motion.position_at(self.now.since(vector.generated).as_secs_f64());
            for (receiver, sums) in self.receivers.iter().zip(&mut self.sums) {
                if let Ok(placed) = receiver.place(EntityId(tank), self.now) {
                    sums.0 += placed.position.distance(*real);
                    sums.1 += placed.position.distance(exported);
                }
            }
        }
    }

    fn outcome(self) -> Outcome {
        let samples = (self.samples * self.drives.len() as u64).max(1) as f64;
        let sent = self.sender.fairness(self.now);
        let vectors = |i: usize| sent.receivers.iter().find(|r| r.host.0 as usize == i + 1).map_or(0, |r| r.vectors);
        let seen = |(i, (real, export)): (usize, &(f64, f64))| Seen {
            real_error: real / samples,
            export_error: export / samples,
            vectors: vectors(i),
        };
        Outcome {
            receivers: self.sums.iter().enumerate().map(seen).collect(),
            vectors: sent.spent.vectors,
            bytes: sent.spent.bytes,
        }
    }
}

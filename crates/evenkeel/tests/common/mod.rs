//! One sender, some receivers and a network of constant delays between them, for tests.
#![allow(dead_code, clippy::unwrap_used)]

use evenkeel::wire::Format;
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, Pose, Receiver, ReceiverConfig, ReceiverEvent, Sender, SenderConfig, Vec3,
};
use std::collections::BTreeMap;

pub const SENDER: HostId = HostId(100);
pub const TANK: EntityId = EntityId(3);

pub fn at(millis: i64) -> GlobalTime {
    GlobalTime::from_millis(millis)
}

pub fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Down,
    Up,
}

pub struct World {
    pub sender: Sender,
    pub receivers: Vec<Receiver>,
    pub events: Vec<(usize, ReceiverEvent)>,
    pub now: GlobalTime,
    pub delays: Vec<Duration>,
    /// The way back, where it differs.
    pub up_delays: Vec<Duration>,
    /// Decides whether a datagram is lost.
    pub lost: Box<dyn FnMut(Way, usize, GlobalTime) -> bool>,
    /// Every datagram that was sent down.
    pub sent: Vec<(usize, Vec<u8>)>,
    queue: BTreeMap<(GlobalTime, u64), (usize, Way, Vec<u8>)>,
    count: u64,
}

impl World {
    pub fn new(config: SenderConfig, delays_ms: &[i64]) -> Self {
        let placing = config.placing;
        Self::with_receivers(config, delays_ms, || ReceiverConfig { placing, ..ReceiverConfig::default() })
    }

    pub fn with_receivers(
        config: SenderConfig,
        delays_ms: &[i64],
        receiver_config: impl Fn() -> ReceiverConfig,
    ) -> Self {
        let format = config.format;
        let mut world = Self {
            sender: Sender::new(config).unwrap(),
            receivers: Vec::new(),
            events: Vec::new(),
            now: at(0),
            delays: Vec::new(),
            up_delays: Vec::new(),
            lost: Box::new(|_, _, _| false),
            sent: Vec::new(),
            queue: BTreeMap::new(),
            count: 0,
        };
        for delay in delays_ms {
            world.join(format, receiver_config(), *delay);
        }
        world
    }

    pub fn join(&mut self, format: Format, config: ReceiverConfig, delay_ms: i64) {
        let mut receiver = Receiver::new(config).unwrap();
        receiver.add_sender(SENDER, receiver.agreement(&format), self.now).unwrap();
        self.sender.add_receiver(HostId(self.receivers.len() as u32), self.now).unwrap();
        self.receivers.push(receiver);
        self.delays.push(ms(delay_ms));
        self.up_delays.push(ms(delay_ms));
    }

    /// Lets time pass, in steps of a millisecond, calling `tick` in each.
    pub fn run(&mut self, millis: i64, mut tick: impl FnMut(&mut Sender, GlobalTime)) {
        for _ in 0..millis {
            self.now += ms(1);
            tick(&mut self.sender, self.now);
            self.exchange();
        }
    }

    /// Delivers what is due and collects what is to be sent.
    pub fn exchange(&mut self) {
        while let Some((&(due, _), _)) = self.queue.first_key_value() {
            if due > self.now {
                break;
            }
            let (_, (i, way, bytes)) = self.queue.pop_first().unwrap();
            match way {
                Way::Down => {
                    self.receivers[i].handle_datagram(SENDER, &bytes, self.now).unwrap();
                }
                Way::Up => {
                    // A receiver that has left is nobody.
                    let _ = self.sender.handle_datagram(HostId(i as u32), &bytes, self.now);
                }
            }
        }
        self.sender.handle_timeout(self.now);
        while let Some(datagram) = self.sender.poll_transmit(self.now) {
            let i = datagram.to.0 as usize;
            self.sent.push((i, datagram.bytes.to_vec()));
            self.count += 1;
            if !(self.lost)(Way::Down, i, self.now) {
                self.queue.insert((self.now + self.delays[i], self.count), (i, Way::Down, datagram.bytes.to_vec()));
            }
        }
        for (i, receiver) in self.receivers.iter_mut().enumerate() {
            while let Some(datagram) = receiver.poll_transmit(self.now) {
                self.count += 1;
                if !(self.lost)(Way::Up, i, self.now) {
                    self.queue
                        .insert((self.now + self.up_delays[i], self.count), (i, Way::Up, datagram.bytes.to_vec()));
                }
            }
            while let Some(event) = receiver.poll_event(self.now) {
                self.events.push((i, event));
            }
        }
    }

    pub fn happened(&self, wanted: ReceiverEvent) -> bool {
        self.events.iter().any(|(_, event)| *event == wanted)
    }
}

/// A tank on a zigzag: every so often it turns on the spot.
pub fn zigzag(t: GlobalTime) -> Pose {
    let period = 0.4;
    let seconds = t.as_secs_f64();
    let leg = (seconds / period).floor();
    let into = seconds - leg * period;
    let side = if leg % 2.0 == 0.0 { 1.0 } else { -1.0 };
    let y = if side > 0.0 { into } else { period - into };
    let velocity = Vec3::new(10.0, 10.0 * side, 0.0);
    Pose::at(Vec3::new(10.0 * seconds, 10.0 * y, 0.0))
        .moving(velocity)
        .facing(velocity.y.atan2(velocity.x))
        .turning(0.0)
}

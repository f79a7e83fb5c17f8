//! Evenkeel: the heart's sender in lockstep with real receivers, receipts included.

use crate::contender::{Contender, Parcel, TICK};
use crate::parts::LONGEST;
use anyhow::{Context, Result};
use bytes::Bytes;
use evenkeel::policy::by_name;
use evenkeel::wire::Format;
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, HostId, Placing, Pose, Receiver, ReceiverConfig, Sender, SenderConfig,
    Threshold, Vec3,
};
use std::collections::BTreeMap;

/// The sender's own number; receivers count from 1.
const SENDER: HostId = HostId(0);

/// How it is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many receivers.
    pub receivers: usize,
    /// The policy, by name.
    pub policy: &'static str,
    /// How much it may send.
    pub budget: Budget,
    /// How vectors are written.
    pub format: Format,
    /// When a vector is due.
    pub threshold: Threshold,
    /// Ticks between two times that it sends, on average: what is due waits, and shares a datagram.
    pub every: f64,
    /// Whether the errors of every pair are booked.
    pub books: bool,
    /// How far back its books are corrected: three round trips and a second at least.
    pub history: Duration,
    /// How far each receiver's clock is off, in turns one way and the other.
    pub clock_error: Duration,
}

/// A sender and its receivers.
pub struct Evenkeel {
    setup: Setup,
    sender: Sender,
    receivers: Vec<Receiver>,
    poses: BTreeMap<u32, Pose>,
    inbox: Vec<(HostId, Bytes, GlobalTime)>,
    outbox: Vec<Parcel>,
    /// Ticks since it last sent, or a bit less: what is left over counts for the next time.
    waited: f64,
}

impl Evenkeel {
    /// A sender without entities, with its receivers.
    pub fn new(setup: Setup, now: GlobalTime) -> Result<Self> {
        let placing = Placing { max_age: Duration::from_secs_f64(LONGEST), ..Placing::default() };
        let mut sender = Sender::new(SenderConfig {
            format: setup.format,
            policy: by_name(setup.policy, setup.budget, 1)?,
            placing,
            books: setup.books,
            history: setup.history,
            ..SenderConfig::default()
        })?;
        let mut receivers = Vec::new();
        for number in 0..setup.receivers {
            sender.add_receiver(host(number), now)?;
            let config = ReceiverConfig { placing, ..ReceiverConfig::default() };
            let mut receiver = Receiver::new(config)?;
            receiver.add_sender(SENDER, sender.agreement(), clock(&setup, number, now))?;
            receivers.push(receiver);
        }
        Ok(Self {
            setup,
            sender,
            receivers,
            poses: BTreeMap::new(),
            inbox: Vec::new(),
            outbox: Vec::new(),
            waited: 0.0,
        })
    }

    /// Takes in receipts, each at the time it came: before anything that happens now.
    fn take_in(&mut self) -> Result<()> {
        for (from, bytes, at) in self.inbox.drain(..) {
            self.sender.handle_datagram(from, &bytes, at)?;
        }
        Ok(())
    }
}

fn host(receiver: usize) -> HostId {
    HostId(receiver as u32 + 1)
}

/// Heartbeats come in whole ticks. One that lies between is the shorter for some entities and the longer for others, so
/// that bytes can be brought to any number.
fn in_whole_ticks(id: u32, threshold: Threshold) -> Threshold {
    let ticks = (threshold.time.as_secs_f64() / TICK.as_secs_f64()).max(1.0);
    // Multiples of the golden ratio fill the interval evenly, in whatever order entities come.
    let longer = (f64::from(id) * 0.618_033_988_75).fract() < ticks.fract();
    // Half a tick less, so that no rounding makes it one more.
    let ticks = ticks.floor() + f64::from(u8::from(longer)) - 0.5;
    threshold.at_least_every(TICK.mul_f64(ticks))
}

/// What a receiver takes for the time.
fn clock(setup: &Setup, receiver: usize, now: GlobalTime) -> GlobalTime {
    if receiver.is_multiple_of(2) { now + setup.clock_error } else { now - setup.clock_error }
}

impl Contender for Evenkeel {
    fn spawn(&mut self, id: u32, pose: &Pose, now: GlobalTime) -> Result<()> {
        self.take_in()?;
        self.sender.add_entity(EntityId(id), in_whole_ticks(id, self.setup.threshold), now)?;
        self.poses.insert(id, *pose);
        Ok(())
    }

    fn despawn(&mut self, id: u32, now: GlobalTime) -> Result<()> {
        self.poses.remove(&id).context("no such entity")?;
        self.take_in()?;
        Ok(self.sender.remove_entity(EntityId(id), now)?)
    }

    /// Everything is told; what is due, the sender finds out.
    fn tell(&mut self, id: u32, pose: &Pose, _: bool) {
        self.poses.insert(id, *pose);
    }

    fn serve(&mut self, now: GlobalTime) -> Result<()> {
        self.take_in()?;
        for (id, pose) in &self.poses {
            self.sender.observe(EntityId(*id), *pose, now)?;
        }
        self.waited += 1.0;
        if self.waited < self.setup.every {
            return Ok(());
        }
        self.waited -= self.setup.every;
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            let (receiver, bytes) = (datagram.to.0 as usize - 1, Bytes::copy_from_slice(datagram.bytes));
            self.outbox.push(Parcel { receiver, channel: 0, reliable: false, bytes });
        }
        Ok(())
    }

    fn sent(&mut self) -> Vec<Parcel> {
        std::mem::take(&mut self.outbox)
    }

    fn arrive_at_server(&mut self, parcel: Parcel, at: GlobalTime) {
        self.inbox.push((host(parcel.receiver), parcel.bytes, at));
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, at: GlobalTime) -> Result<()> {
        let at = clock(&self.setup, parcel.receiver, at);
        self.receivers[parcel.receiver].handle_datagram(SENDER, &parcel.bytes, at)?;
        Ok(())
    }

    fn frame(&mut self, receiver: usize, now: GlobalTime) -> Result<Vec<Parcel>> {
        let now = clock(&self.setup, receiver, now);
        let mut parcels = Vec::new();
        while let Some(receipt) = self.receivers[receiver].poll_transmit(now) {
            let bytes = Bytes::copy_from_slice(receipt.bytes);
            parcels.push(Parcel { receiver, channel: 0, reliable: false, bytes });
        }
        Ok(parcels)
    }

    fn show(&mut self, receiver: usize, now: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        let (now, receiver) = (clock(&self.setup, receiver, now), &self.receivers[receiver]);
        for entity in receiver.entities() {
            if let Ok(placement) = receiver.place(entity, now) {
                to(entity.0, placement.position);
            }
        }
    }
}

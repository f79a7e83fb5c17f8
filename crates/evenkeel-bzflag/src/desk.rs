//! One policy at work: what it would tell which client when.
//!
//! The game's clients speak no protocol but the game's. A stand-in speaks ours for each of them: a [`Receiver`] within the relay that
//! is handed every datagram when the client is expected to have what it says, and whose receipts come back when a client's would. What
//! is expected is measured by round trips.

use crate::rules::Ground;
use evenkeel::ledger::Relevance;
use evenkeel::policy::{Budget, UnknownPolicy, by_name};
use evenkeel::wire::Format;
use evenkeel::{
    ClockRule, Duration, EntityId, GlobalTime, HostId, Motion, Placing, Receiver, ReceiverConfig, Sender, SenderConfig,
    Threshold,
};
use std::collections::{BTreeMap, VecDeque};

/// The relay itself, to the stand-ins.
const RELAY: HostId = HostId(u32::MAX);

/// A client takes a tank of which it has heard nothing for five seconds for one that does not respond.
const LONGEST_SILENCE: Duration = Duration::from_millis(3_500);

/// Clients extrapolate for ever; what is older than this is no longer worth books.
const MAX_AGE: Duration = Duration::from_secs(5);

/// Books are corrected for so long: three round trips of the slowest clients, and a second.
const HISTORY: Duration = Duration::from_secs(6);

/// How a [`Desk`] decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Decider {
    /// The policy, by its name in the heart.
    pub policy: String,
    /// How many updates it may spend.
    pub budget: Budget,
    /// Whether positions are advanced to when they are expected to arrive: the accuracy model.
    pub advance: bool,
}

impl Decider {
    /// What the game does by itself: everybody gets everything, and counts it from when it arrives.
    pub fn today() -> Self {
        Self { policy: "base".into(), budget: Budget::Unlimited, advance: false }
    }

    /// A policy with the accuracy model.
    pub fn with(policy: &str, budget: Budget) -> Self {
        Self { policy: policy.into(), budget, advance: true }
    }

    /// What tables call it.
    pub fn name(&self) -> String {
        match (self.advance, self.policy.as_str()) {
            (false, "base") => "today".into(),
            (false, policy) => format!("{policy}, not advanced"),
            (true, "base") => "accuracy model".into(),
            (true, policy) => policy.into(),
        }
    }
}

/// Something a client is to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Who.
    pub to: HostId,
    /// About which tank.
    pub tank: EntityId,
    /// How it moved when the vector was generated.
    pub motion: Motion,
    /// When that was.
    pub generated: GlobalTime,
}

/// One policy at work, with a stand-in for every client.
pub struct Desk {
    decider: Decider,
    sender: Sender,
    stand_ins: BTreeMap<HostId, StandIn>,
    threshold: Threshold,
}

struct StandIn {
    receiver: Receiver,
    /// How long what is sent to the client is expected to be under way.
    delay: Duration,
    /// Until when the receiver has lived.
    lived: GlobalTime,
    /// Receipts on their way back, with when they are expected.
    receipts: VecDeque<(GlobalTime, Vec<u8>)>,
}

impl Desk {
    /// A desk without clients or tanks.
    pub fn new(decider: Decider, threshold: Threshold, seed: u64) -> Result<Self, UnknownPolicy> {
        let config = SenderConfig {
            format: format(),
            policy: by_name(&decider.policy, decider.budget, seed)?,
            placing: placing(decider.advance),
            history: HISTORY,
            resend_lost: false,
            longest_silence: Some(LONGEST_SILENCE),
            trust_receipts: true,
            constraint: Some(Box::new(Ground)),
            ..SenderConfig::default()
        };
        let sender = Sender::new(config).expect("the settings above can work");
        Ok(Self { decider, sender, stand_ins: BTreeMap::new(), threshold })
    }

    /// How it decides.
    pub fn decider(&self) -> &Decider {
        &self.decider
    }

    /// The books.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// A client joins.
    pub fn add_client(&mut self, client: HostId, now: GlobalTime) {
        let config = ReceiverConfig {
            placing: placing(self.decider.advance),
            history: HISTORY,
            // Nobody calls it again between two datagrams.
            receipt_interval: Duration::ZERO,
            constraint: Some(Box::new(Ground)),
            ..ReceiverConfig::default()
        };
        let mut receiver = Receiver::new(config).expect("the settings above can work");
        if receiver.add_sender(RELAY, self.sender.agreement(), now).is_ok()
            && self.sender.add_receiver(client, now).is_ok()
        {
            let stand_in = StandIn { receiver, delay: Duration::ZERO, lived: now, receipts: VecDeque::new() };
            self.stand_ins.insert(client, stand_in);
        }
    }

    /// A client is gone.
    pub fn remove_client(&mut self, client: HostId) {
        if self.stand_ins.remove(&client).is_some() {
            // It was added by the line above.
            let _ = self.sender.remove_receiver(client);
        }
    }

    /// What is sent to a client is expected to take this long from now on.
    pub fn expect(&mut self, client: HostId, delay: Duration) {
        if let Some(stand_in) = self.stand_ins.get_mut(&client) {
            stand_in.delay = delay.max(Duration::ZERO);
        }
    }

    /// A tank comes alive. Its own client needs not be told of it.
    pub fn add_tank(&mut self, tank: EntityId, own: Option<HostId>, now: GlobalTime) {
        if let Err(problem) = self.sender.add_entity(tank, self.threshold, now) {
            tracing::warn!(%problem, "a tank is not decided about");
            return;
        }
        if let Some(own) = own.filter(|own| self.stand_ins.contains_key(own)) {
            // Both were just seen to be here.
            let _ = self.sender.set_relevance(tank, own, Relevance::OutOfScope, now);
        }
    }

    /// A tank is dead, or gone.
    pub fn remove_tank(&mut self, tank: EntityId, now: GlobalTime) {
        // One that was refused is not here.
        let _ = self.sender.remove_entity(tank, now);
    }

    /// What a tank does, as told so long after it was so. With `announce`, nobody may miss it; a `vector` is what its owner's own
    /// trigger chose to export.
    pub fn observe(&mut self, tank: EntityId, seen: &Seen, now: GlobalTime) {
        // Without, the path is seen as late as it comes, but not as uneven: its owner's trigger knows of no delays.
        let age = if self.decider.advance { seen.age } else { seen.held_up };
        let motion = seen.motion.advanced(age.as_secs_f64());
        let taken = match seen.kind {
            Kind::Announcement => self.sender.announce(tank, &motion, now),
            Kind::Frame => self.sender.observe_motion(tank, &motion, now).map(drop),
            Kind::Vector => self.sender.relay(tank, &motion, now, now),
        };
        if let Err(problem) = taken {
            tracing::debug!(%problem, "a movement is not decided about");
        }
    }

    /// What a client was told last about a tank, and when that was so.
    pub fn told_last(&self, client: HostId, tank: EntityId) -> Option<(GlobalTime, Motion)> {
        let ledger = self.sender.ledger();
        let (entity, receiver) = (ledger.entity(tank)?, ledger.receiver(client)?);
        let (number, _) = ledger.pair(entity, receiver).last_sent()?;
        ledger.vector(entity, number).map(|vector| (vector.generated, vector.motion))
    }

    /// Hands out what clients are to be told by now.
    pub fn poll(&mut self, now: GlobalTime, told: &mut Vec<Told>) {
        self.take_receipts(now);
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            let to = datagram.to;
            let Some(stand_in) = self.stand_ins.get_mut(&to) else { continue };
            stand_in
                .take(datagram.bytes, now, |tank, generated, motion| told.push(Told { to, tank, motion, generated }));
        }
    }

    /// When to poll again if nothing else happens.
    pub fn poll_timeout(&self) -> Option<GlobalTime> {
        let receipts = self.stand_ins.values().filter_map(|s| s.receipts.front().map(|(at, _)| *at)).min();
        [receipts, self.sender.poll_timeout()].into_iter().flatten().min()
    }

    fn take_receipts(&mut self, now: GlobalTime) {
        for (client, stand_in) in &mut self.stand_ins {
            while let Some((_, receipt)) = stand_in.receipts.pop_front_if(|(at, _)| *at <= now) {
                if let Err(problem) = self.sender.handle_datagram(*client, &receipt, now) {
                    tracing::warn!(%problem, "a stand-in's receipt is not understood");
                }
            }
        }
    }
}

impl StandIn {
    /// Takes a datagram of now when it is expected to arrive.
    fn take(&mut self, bytes: &[u8], now: GlobalTime, mut told: impl FnMut(EntityId, GlobalTime, Motion)) {
        let arrival = (now + self.delay).max(self.lived);
        self.lived = arrival;
        if let Err(problem) = self.receiver.handle_datagram(RELAY, bytes, arrival) {
            tracing::warn!(%problem, "a stand-in does not understand its relay");
        }
        while let Some(tank) = self.receiver.poll_updated() {
            if let Some((generated, motion)) = self.receiver.newest(tank) {
                told(tank, generated, motion);
            }
        }
        while self.receiver.poll_event(arrival).is_some() {}
        while let Some(receipt) = self.receiver.poll_transmit(arrival) {
            self.receipts.push_back((arrival + self.delay, receipt.bytes.to_vec()));
        }
    }
}

/// What is seen of a tank at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// How it moved.
    pub motion: Motion,
    /// By how much more it was held up on the way here than most.
    pub held_up: Duration,
    /// How long ago that was.
    pub age: Duration,
    /// What to do about it.
    pub kind: Kind,
}

/// What to do about what is seen of a tank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A point of its true path.
    Frame,
    /// A DR vector that its owner chose to export.
    Vector,
    /// Something that the game's rules let nobody miss.
    Announcement,
}

/// Between a sender and stand-ins within one program nothing need be rounded.
fn format() -> Format {
    Format { time_step: Duration::from_nanos(1_000), ..Format::lossless() }
}

fn placing(advance: bool) -> Placing {
    let rule = if advance { ClockRule::Global } else { ClockRule::Local };
    Placing { rule, max_age: MAX_AGE, ..Placing::default() }
}

//! A sender, the game that owns it, and receivers that may claim anything.

use crate::finite;
use crate::input::Input;
use crate::script::sender as op;
use evenkeel::policy::{Budget, NAMES, Policy, Spent, by_name};
use evenkeel::wire::datagram::{Proof, ReceiptEntry, ReceiptsHeader, Stamp, Taken, VectorsHeader};
use evenkeel::wire::{BitReader, BitWriter};
use evenkeel::{
    ClockRule, Duration, EntityId, GlobalTime, Handover, HostId, Motion, MotionKind, Placing, Pose, Quat, Relevance,
    Sender, SenderConfig, SenderError, Threshold,
};

const MAX_ENTITIES: usize = 4;
const MAX_RECEIVERS: usize = 3;
const MAX_OPERATIONS: usize = 200;
/// The books are looked at after every so many operations: that takes longer than the operations do.
const BOOKS_EVERY: usize = 8;
/// Inputs of so many times as many bytes as there are policies, or more, try every kind of budget.
const LONG: usize = 6;
/// More datagrams than this are never due at once: what waits in every queue, one by one.
const MAX_DATAGRAMS: usize = 3 * (4_096 + 64);

/// Which policy follows from the length of the input, so that older inputs keep their meaning.
fn policy(base: bool, length: usize) -> Box<dyn Policy> {
    let name = if base { "base" } else { NAMES[length % NAMES.len()].0 }.replace("/k", "/2");
    let budgets = [
        Budget::of_base(1, 3),
        Budget::PerSecond(5.0),
        Budget::Unlimited,
        Budget::BytesPerSecond(100.0),
        Budget::PerSecondEach(2.0),
        Budget::BytesPerSecondEach(50.0),
    ];
    let turn = length / NAMES.len();
    let budget = budgets[if turn < LONG { turn % 3 } else { turn % budgets.len() }];
    let policy = by_name(&name, budget, 0).or_else(|_| by_name(&name, Budget::PerSecond(5.0), 0));
    policy.expect("a policy that there is")
}

/// A [`Sender`] that is told anything at any time keeps books that are sums of distances, and is not changed by what it
/// refuses.
pub fn sender(data: &[u8]) {
    let mut input = Input(data);
    let format = input.format();
    let flags = input.byte();
    let rule = [ClockRule::Global, ClockRule::Local, ClockRule::OneWay][usize::from(flags >> 3) % 3];
    let config = SenderConfig {
        format,
        policy: policy(flags & 1 == 0, data.len()),
        placing: Placing { rule, lag: Duration::from_millis(i64::from(flags & 64)), ..Placing::default() },
        max_datagram: SenderConfig::LEAST_DATAGRAM,
        max_entities: MAX_ENTITIES,
        max_receivers: MAX_RECEIVERS,
        resend_lost: flags & 2 == 0,
        trust_receipts: flags & 4 != 0,
        ..SenderConfig::default()
    };
    let sender = Sender::new(config).expect("a valid configuration");
    let now = GlobalTime::ZERO;
    let (sent, headers) = (Vec::new(), [None; 5]);
    let mut bench = Bench { sender, now, latest: now, sent, headers, receipts: 0, spent: Spent::default() };
    for i in 0..2 {
        bench.sender.add_receiver(HostId(i), now).expect("within limits");
        bench.sender.add_entity(EntityId(i), Threshold::within(0.1), now).expect("within limits");
    }
    for i in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        bench.perform(operation % op::COUNT, &mut input);
        bench.check_spent();
        if i % BOOKS_EVERY == 0 {
            bench.check_books();
        }
    }
    bench.check_books();
}

struct Bench {
    sender: Sender,
    now: GlobalTime,
    latest: GlobalTime,
    /// Datagrams that left, to be acknowledged: to whom, number, nonce, when.
    sent: Vec<(HostId, VectorsHeader)>,
    /// The header that each host got last.
    headers: [Option<VectorsHeader>; 5],
    receipts: u8,
    spent: Spent,
}

impl Bench {
    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        let now = self.now;
        let outcome = match operation {
            op::WAIT => {
                self.now += input.span();
                self.latest = self.latest.max(self.now);
                Ok(())
            }
            op::OBSERVE => {
                let (id, pose) = (entity(input), pose(input));
                self.sender.observe(id, pose, now).map(drop)
            }
            op::TRANSMIT => {
                self.transmit();
                Ok(())
            }
            op::DATAGRAM => {
                let from = host(input);
                self.handle(from, input.chunk());
                Ok(())
            }
            op::RECEIPT => {
                self.receipt(input);
                Ok(())
            }
            op::ADD_ENTITY => {
                let threshold = Threshold::within(input.number()).at_least_every(input.span());
                self.sender.add_entity(entity(input), threshold, now)
            }
            op::REMOVE_ENTITY => self.sender.remove_entity(entity(input), now),
            op::RECEIVER => {
                let host = host(input);
                self.sender.remove_receiver(host).or_else(|_| self.sender.add_receiver(host, now))
            }
            op::RELEVANCE => {
                let (id, host, weight) = (entity(input), host(input), input.byte());
                let relevance = if weight == 0 { Relevance::OutOfScope } else { Relevance::Weight(f32::from(weight)) };
                self.sender.set_relevance(id, host, relevance, now)
            }
            op::HAND_OVER => {
                let id = entity(input);
                let config = evenkeel::EntityConfig { kind: kind(input.byte()), ..Threshold::within(0.1).into() };
                let far = if input.byte() == 255 { u32::MAX } else { 0 };
                self.sender.release_entity(id, now).and_then(|handover| {
                    let epoch = handover.epoch.max(far);
                    self.sender.adopt_entity(&Handover { epoch, ..handover }, config, now)
                })
            }
            _ => {
                let (id, position, velocity, acceleration) =
                    (entity(input), input.vector(), input.vector(), input.vector());
                let motion = Motion::accelerated(position, velocity, acceleration);
                self.sender.relay(id, &motion, now - input.span(), now)
            }
        };
        if let Err(error) = outcome {
            assert!(!error.to_string().is_empty());
            assert_eq!(self.sender.ledger().spent(), self.spent, "refused: {error}");
            if let SenderError::TimeWentBackwards { by } = error {
                assert!(by > Duration::ZERO);
            }
        }
    }

    fn transmit(&mut self) {
        self.sender.handle_timeout(self.now);
        for _ in 0..MAX_DATAGRAMS {
            let Some(datagram) = self.sender.poll_transmit(self.now) else { return };
            assert!(datagram.bytes.len() <= SenderConfig::LEAST_DATAGRAM);
            // What only acknowledges has no such head.
            let before = &mut self.headers[datagram.to.0 as usize];
            if let Ok(header) = VectorsHeader::parse_after(before.as_ref(), &mut BitReader::new(datagram.bytes)) {
                *before = Some(header);
                self.sent.push((datagram.to, header));
            }
        }
        panic!("there is no end to what is due");
    }

    /// A receipt that a receiver which got the datagram could write, with times as it pleases.
    fn receipt(&mut self, input: &mut Input<'_>) {
        let back = 1 + usize::from(input.byte());
        let (delay, ago, taken) = (input.span(), input.span(), input.byte());
        let taken = [Taken::All, Taken::Some, Taken::All, Taken::None][usize::from(taken) % 4];
        let Some(&(from, sent)) = self.sent.len().checked_sub(back).and_then(|i| self.sent.get(i)) else {
            return;
        };
        self.receipts = self.receipts.wrapping_add(1);
        let (stream, number) = (sent.stream.tag() as u8, self.receipts);
        let mut proof = Proof::new(&sent.stream);
        proof.add(taken, sent.nonce);
        let held = (ago.as_nanos() / Stamp::UNIT.as_nanos()).max(0) as u64;
        // Half of the receivers place things as the sender believes.
        let terms = if held.is_multiple_of(2) { self.sender.agreement().terms() } else { 0 };
        let header = ReceiptsHeader { stream, number, terms, proof: proof.value(), held };
        let delay = delay.as_nanos() / Stamp::UNIT.as_nanos();
        let entry = ReceiptEntry { number: sent.number as u16, taken, delay };
        let mut buffer = [0; 64];
        let mut w = BitWriter::new(&mut buffer);
        assert_eq!(header.emit(&mut w).and_then(|()| entry.emit(None, &mut w)), Ok(()));
        let length = w.len_bytes();
        self.handle(from, &buffer[..length]);
    }

    fn handle(&mut self, from: HostId, bytes: &[u8]) {
        let before = self.sender.poll_timeout();
        if self.sender.handle_datagram(from, bytes, self.now).is_err() {
            assert_eq!(self.sender.poll_timeout(), before);
        }
        assert_eq!(self.sender.ledger().spent(), self.spent, "a receipt sends nothing");
    }

    fn check_spent(&mut self) {
        let (before, after) = (self.spent, self.sender.ledger().spent());
        let counts = |s: Spent| [s.triggers, s.due, s.vectors, s.resent, s.datagrams, s.bytes];
        assert!(counts(before).iter().zip(counts(after)).all(|(a, b)| *a <= b), "{before:?} {after:?}");
        assert!(after.resent <= after.vectors);
        self.spent = after;
        while self.sender.poll_event().is_some() {}
    }

    fn check_books(&self) {
        let (ledger, now) = (self.sender.ledger(), self.latest);
        for (entity, receiver) in ledger.entities().flat_map(|e| ledger.receivers().map(move |r| (e, r))) {
            let pair = ledger.pair(entity, receiver);
            assert!(
                finite::books(&pair, now),
                "{:?} {:?} {}",
                pair.known(now),
                pair.accumulated(now),
                pair.recent(now)
            );
            for t in [now - Duration::from_secs(1), now] {
                let seen = ledger.seen_by(entity, receiver, t);
                assert!(seen.is_none_or(|state| finite::state(&state)), "{seen:?}");
            }
        }
        let fairness = self.sender.fairness(now);
        assert!([fairness.mean, fairness.std, fairness.max].iter().all(|n| n.is_finite() && *n >= 0.0), "{fairness:?}");
    }
}

fn entity(input: &mut Input<'_>) -> EntityId {
    EntityId(u32::from(input.byte() % 6))
}

fn host(input: &mut Input<'_>) -> HostId {
    HostId(u32::from(input.byte() % 5))
}

fn kind(byte: u8) -> MotionKind {
    use MotionKind::{Accelerated, Auto, Circular, Linear, Stationary, Turning};
    [Auto, Stationary, Linear, Accelerated, Circular, Turning][usize::from(byte) % 6]
}

/// A pose of which a byte says what it holds.
fn pose(input: &mut Input<'_>) -> Pose {
    let holds = input.byte();
    let mut pose = Pose::at(input.vector());
    if holds & 1 != 0 {
        pose = pose.moving(input.vector());
    }
    if holds & 2 != 0 {
        pose = pose.accelerating(input.vector());
    }
    match holds >> 2 & 3 {
        0 => pose,
        1 => pose.facing(input.number()),
        2 => pose.facing(input.number()).turning(input.number()),
        _ => {
            let orientation = Quat::new(input.number(), input.number(), input.number(), input.number());
            pose.spinning(orientation, input.vector())
        }
    }
}

//! Two ends that have come apart, or never agreed, notice it, say so, and heal: nothing wrong is ever shown or booked.
#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, TANK, at, ms, zigzag};
use evenkeel::lag::LagChange;
use evenkeel::wire::Format;
use evenkeel::wire::datagram::DatagramError;
use evenkeel::{
    ClockRule, Constraint, Duration, EntityId, GlobalTime, HostId, Placing, Pose, Receiver, ReceiverConfig,
    ReceiverError, ReceiverEvent, Sender, SenderConfig, SenderEvent, State, Threshold, Vec3, VectorNumber,
};
use std::collections::VecDeque;

const PLAYER: HostId = HostId(0);
const DELAY: Duration = Duration::from_millis(40);
/// Two round trips, and what receipts wait.
const HEALED_WITHIN: i64 = 4 * 40 + 20;

/// The next datagram that has arrived.
fn arrived(way: &mut VecDeque<(GlobalTime, Vec<u8>)>, now: GlobalTime) -> Option<Vec<u8>> {
    let due = way.front().is_some_and(|(due, _)| *due <= now);
    if due { way.pop_front().map(|(_, bytes)| bytes) } else { None }
}

/// A sender and a receiver that are not friends yet, with a network of constant delay between them.
struct Ends {
    sender: Sender,
    receiver: Receiver,
    now: GlobalTime,
    down: VecDeque<(GlobalTime, Vec<u8>)>,
    up: VecDeque<(GlobalTime, Vec<u8>)>,
    refused: Vec<DatagramError>,
    sender_events: Vec<SenderEvent>,
    receiver_events: Vec<ReceiverEvent>,
}

impl Ends {
    /// Each holds its own to be agreed.
    fn new(sender: SenderConfig, receiver: ReceiverConfig, format: Format) -> Self {
        let (mut sender, mut receiver) = (Sender::new(sender).unwrap(), Receiver::new(receiver).unwrap());
        sender.add_receiver(PLAYER, at(0)).unwrap();
        sender.add_entity(TANK, Threshold::within(0.05), at(0)).unwrap();
        receiver.add_sender(SENDER, receiver.agreement(&format), at(0)).unwrap();
        let (refused, sender_events, receiver_events) = (Vec::new(), Vec::new(), Vec::new());
        let (down, up) = (VecDeque::new(), VecDeque::new());
        Self { sender, receiver, now: at(0), down, up, refused, sender_events, receiver_events }
    }

    fn agreed() -> Self {
        Self::new(SenderConfig::default(), ReceiverConfig::default(), Format::default())
    }

    fn run(&mut self, millis: i64) {
        for _ in 0..millis {
            self.now += ms(1);
            self.sender.observe(TANK, zigzag(self.now), self.now).unwrap();
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        while let Some(bytes) = arrived(&mut self.down, self.now) {
            match self.receiver.handle_datagram(SENDER, &bytes, self.now) {
                Err(ReceiverError::Datagram(error)) => self.refused.push(error),
                handled => drop(handled.unwrap()),
            }
        }
        while let Some(bytes) = arrived(&mut self.up, self.now) {
            self.sender.handle_datagram(PLAYER, &bytes, self.now).unwrap();
        }
        self.sender.handle_timeout(self.now);
        while let Some(datagram) = self.sender.poll_transmit(self.now) {
            self.down.push_back((self.now + DELAY, datagram.bytes.to_vec()));
        }
        while let Some(datagram) = self.receiver.poll_transmit(self.now) {
            self.up.push_back((self.now + DELAY, datagram.bytes.to_vec()));
        }
        self.sender_events.extend(std::iter::from_fn(|| self.sender.poll_event()));
        self.receiver_events.extend(std::iter::from_fn(|| self.receiver.poll_event(self.now)));
    }

    /// How far off the tank is shown from where it was exported to be a delay ago.
    fn is_exact(&self) -> bool {
        let ledger = self.sender.ledger();
        let Some((generated, motion)) = self.receiver.newest(TANK) else { return false };
        let index = ledger.entity(TANK).unwrap();
        let newest = ledger.newest(index).unwrap();
        let numbers = (1..=newest.number.get()).rev().filter_map(VectorNumber::new);
        let exported = numbers.filter_map(|number| ledger.vector(index, number));
        exported.take(8).any(|vector| vector.generated == generated && vector.motion == motion)
    }

    fn undecoded(&self) -> usize {
        self.sender_events.iter().filter(|event| matches!(event, SenderEvent::Undecoded { by: PLAYER })).count()
    }

    /// What each end says in which the two differ.
    fn differences(&self) -> (Vec<String>, Vec<String>) {
        let said = |event: &SenderEvent| match event {
            SenderEvent::Disagreement { with: PLAYER, difference } => Some(difference.to_string()),
            _ => None,
        };
        let heard = |event: &ReceiverEvent| match event {
            ReceiverEvent::Disagreement { with: SENDER, difference } => Some(difference.to_string()),
            _ => None,
        };
        (self.sender_events.iter().filter_map(said).collect(), self.receiver_events.iter().filter_map(heard).collect())
    }
}

#[test]
fn a_receiver_that_lost_an_entity_gets_it_again_without_a_heartbeat() {
    let mut ends = Ends::agreed();
    ends.run(2_000);
    assert!(ends.refused.is_empty() && ends.is_exact());
    ends.receiver.discard(TANK);
    while ends.refused.is_empty() {
        ends.run(1);
    }
    ends.run(HEALED_WITHIN);
    assert!(ends.is_exact(), "{:?}", ends.refused);
    assert!(ends.refused.iter().all(|error| *error == DatagramError::NoBaseline(TANK)), "{:?}", ends.refused);
    let count = ends.refused.len();
    assert_eq!(ends.receiver.refusals(SENDER).no_baseline, count as u64);
    assert_eq!(ends.undecoded(), count, "each is reported");
    ends.run(3_000);
    assert_eq!(ends.refused.len(), count, "and then it is over");
}

/// The zigzag, three metres to the side.
fn aside(t: GlobalTime) -> Pose {
    let (here, soon) = (zigzag(t).position(), zigzag(t + Duration::from_micros(1)).position());
    let velocity = (soon - here) * 1e6;
    let heading = velocity.y.atan2(velocity.x);
    Pose::at(here + Vec3::new(0.0, 3.0, 0.0)).moving(velocity).facing(heading).turning(0.0)
}

/// The receiver got the vectors of a twin: the same numbers, nonces and ticks, but another path.
#[test]
fn what_is_decoded_against_another_vector_than_the_senders_is_noticed_and_said_again() {
    let mut ends = Ends::agreed();
    let mut twin = Ends::agreed();
    for _ in 0..2_000 {
        ends.now += ms(1);
        twin.now += ms(1);
        ends.sender.observe(TANK, zigzag(ends.now), ends.now).unwrap();
        twin.sender.observe(TANK, aside(twin.now), twin.now).unwrap();
        // Both hear the receipts, and only the twin is heard.
        let before = twin.up.clone();
        twin.exchange();
        while let Some(bytes) = arrived(&mut ends.up, ends.now) {
            ends.sender.handle_datagram(PLAYER, &bytes, ends.now).unwrap();
        }
        ends.sender.handle_timeout(ends.now);
        while ends.sender.poll_transmit(ends.now).is_some() {}
        ends.up.extend(twin.up.iter().skip_while(|sent| before.contains(sent)).cloned());
    }
    assert!(twin.refused.is_empty());
    std::mem::swap(&mut ends.receiver, &mut twin.receiver);
    while ends.refused.is_empty() {
        ends.run(1);
        assert!(ends.now < at(4_000), "nothing was noticed");
    }
    ends.run(HEALED_WITHIN);
    assert!(ends.is_exact(), "{:?}", ends.refused);
    let detected = |error: &DatagramError| matches!(error, DatagramError::Check | DatagramError::Malformed(_));
    assert!(ends.refused.iter().all(detected), "{:?}", ends.refused);
    assert_eq!(ends.undecoded(), ends.refused.len(), "each is reported");
    let count = ends.refused.len();
    ends.run(3_000);
    assert_eq!(ends.refused.len(), count, "and then it is over");
}

#[test]
fn a_receiver_that_began_anew_is_introduced_anew() {
    let mut ends = Ends::agreed();
    ends.run(2_000);
    ends.receiver = Receiver::new(ReceiverConfig::default()).unwrap();
    ends.receiver.add_sender(SENDER, ends.sender.agreement(), ends.now).unwrap();
    while ends.refused.is_empty() {
        ends.run(1);
    }
    assert_eq!(ends.refused[0], DatagramError::Foreign);
    ends.run(HEALED_WITHIN);
    assert!(ends.is_exact(), "{:?}", ends.refused);
    assert!(ends.refused.len() <= 3, "{:?}", ends.refused);
}

/// One in 64 of them has the right seal, and any number.
#[test]
fn late_datagrams_of_an_earlier_acquaintance_change_nothing() {
    for pause in [0, 3_000] {
        let mut ends = Ends::agreed();
        let mut old = Vec::new();
        for millis in 1..4_000 {
            ends.now = at(millis);
            // Every pose is elsewhere, so that every millisecond has a datagram.
            let jump = Vec3::new(f64::from(millis as i32 % 7), 0.0, 0.0);
            ends.sender.observe(TANK, Pose::at(jump).moving(Vec3::ZERO), ends.now).unwrap();
            ends.exchange();
            old.extend(ends.down.iter().map(|(_, bytes)| bytes.clone()).filter(|_| millis % 40 == 0));
        }
        assert!(old.len() > 3_000 && old.last().unwrap()[0] < 0xD2, "short headers");
        ends.down.clear();
        ends.sender.remove_receiver(PLAYER).unwrap();
        ends.sender.add_receiver(PLAYER, ends.now).unwrap();
        ends.run(300 + pause);
        assert!(ends.is_exact() && ends.refused.is_empty(), "{:?}", ends.refused);
        let mut told = 0;
        for bytes in &old {
            let before = ends.receiver.all_refusals();
            let handled = ends.receiver.handle_datagram(SENDER, bytes, ends.now);
            assert!(handled.as_ref().map_or(true, |handled| handled.duplicate), "{handled:?}");
            told += ends.receiver.all_refusals().undecodable() - before.undecodable();
        }
        assert!(told <= if pause == 0 { 0 } else { 40 }, "{told} of {}", old.len());
        ends.run(1_000);
        assert!(ends.is_exact() && ends.refused.is_empty(), "{:?}", ends.refused);
        let forged =
            ends.sender_events.iter().filter(|event| matches!(event, SenderEvent::ForgedReceipt { .. })).count();
        assert!(forged as u64 <= told, "{forged}");
    }
}

/// More datagrams than 16 bits count go while no receipt gets through: later receipts are believed all the same.
#[test]
fn receipts_are_believed_after_a_long_time_without() {
    let mut ends = Ends::agreed();
    ends.run(1_000);
    for millis in 1..70_000 {
        ends.now = at(1_000 + millis);
        let jump = Vec3::new(f64::from(millis as i32 % 7), 0.0, 0.0);
        ends.sender.observe(TANK, Pose::at(jump).moving(Vec3::ZERO), ends.now).unwrap();
        ends.exchange();
        // The first datagrams arrive, and then nothing gets through either way.
        if millis > 100 {
            ends.down.clear();
        }
        ends.up.clear();
    }
    let forged =
        |ends: &Ends| ends.sender_events.iter().any(|event| matches!(event, SenderEvent::ForgedReceipt { .. }));
    ends.run(3_000);
    assert!(ends.is_exact() && !forged(&ends));
    let ledger = ends.sender.ledger();
    let pair = ledger.pair(ledger.entity(TANK).unwrap(), ledger.receiver(PLAYER).unwrap());
    assert!(
        pair.last_received().is_some_and(|(_, at)| ends.now.since(at) < Duration::from_secs(1)),
        "{:?}",
        pair.last_received()
    );
}

/// A floor at a height of its own.
struct Floor(f64);

impl Constraint for Floor {
    fn id(&self) -> u64 {
        self.0.to_bits()
    }

    fn constrain(&self, _entity: EntityId, state: &mut State) {
        state.position.z = state.position.z.max(self.0);
    }
}

fn placing(change: impl FnOnce(&mut Placing)) -> Placing {
    let mut placing = Placing::default();
    change(&mut placing);
    placing
}

/// Whatever is fixed and differs: both ends name it, with both values, and neither shows or books anything.
#[test]
fn ends_that_never_agreed_say_in_what_and_go_no_further() {
    let sender = SenderConfig::default;
    let finer = Format { position_step: 0.001, ..Format::default() };
    let cases = [
        (
            Ends::new(
                sender(),
                ReceiverConfig {
                    placing: placing(|p| p.max_age = Duration::from_secs(9)),
                    ..ReceiverConfig::default()
                },
                Format::default(),
            ),
            "max_age is 3000 ms here and 9000 ms there",
            "max_age is 9000 ms here and 3000 ms there",
        ),
        (
            Ends::new(sender(), ReceiverConfig::default(), finer),
            "position_step is 0.005 here and 0.001 there",
            "position_step is 0.001 here and 0.005 there",
        ),
        (
            Ends::new(
                SenderConfig { constraint: Some(Box::new(Floor(1.0))), ..sender() },
                ReceiverConfig::default(),
                Format::default(),
            ),
            "constraint is 0x3ff0000000000000 here and none there",
            "constraint is none here and 0x3ff0000000000000 there",
        ),
    ];
    for (mut ends, ours, theirs) in cases {
        ends.run(10_000);
        assert_eq!(ends.differences(), (vec![ours.to_owned()], vec![theirs.to_owned()]));
        assert!(ends.receiver.place(TANK, ends.now).is_err(), "{ours}");
        assert!(ends.receiver.refusals(SENDER).disagreement > 0);
        assert!(ends.sender.fairness(ends.now).receivers.is_empty(), "nothing is booked");
        // Asking again every three seconds is all.
        let bytes = ends.sender.ledger().spent().bytes;
        ends.run(3_000);
        assert!(ends.sender.ledger().spent().bytes - bytes < 600, "{ours}");
    }
}

#[test]
fn a_lag_that_only_one_end_knows_of_is_found_out_and_mended() {
    let mut ends = Ends::agreed();
    ends.run(2_000);
    let change = LagChange::usual(Duration::ZERO, ms(100), ends.now);
    ends.sender.set_lag(change, ends.now).unwrap();
    // News of it may take its time.
    ends.run(4_000);
    assert_eq!(ends.differences(), (Vec::new(), Vec::new()));
    ends.run(4_000);
    let (said, heard) = ends.differences();
    assert_eq!(
        (said, heard[0].as_str()),
        (vec!["lag is 100 ms here and 0 ms there".into()], "lag is 0 ms here and 100 ms there")
    );
    ends.receiver.set_lag(LagChange::usual(Duration::ZERO, ms(100), ends.now), ends.now).unwrap();
    ends.run(5_000);
    assert!(ends.sender_events.contains(&SenderEvent::Agreed { with: PLAYER }), "{:?}", ends.sender_events);
    assert!(ends.is_exact());
}

/// What goes while the two disagree is gone when they agree.
#[test]
fn nothing_that_went_during_a_disagreement_is_shown_after_it() {
    let ball = EntityId(4);
    let mut ends = Ends::agreed();
    ends.sender.add_entity(ball, Threshold::within(0.05), at(0)).unwrap();
    ends.sender.observe(ball, Pose::at(Vec3::ZERO), at(0)).unwrap();
    ends.run(1_000);
    assert!(ends.receiver.place(ball, ends.now).is_ok());
    ends.sender.set_lag(LagChange::usual(Duration::ZERO, ms(100), ends.now), ends.now).unwrap();
    ends.run(8_000);
    assert_eq!(ends.differences().0.len(), 1);
    ends.sender.remove_entity(ball, ends.now).unwrap();
    ends.run(1_000);
    ends.receiver.set_lag(LagChange::usual(Duration::ZERO, ms(100), ends.now), ends.now).unwrap();
    ends.run(5_000);
    assert!(ends.is_exact());
    assert!(ends.receiver.place(ball, ends.now).is_err(), "it is gone");
}

#[test]
fn a_clock_rule_that_both_change_stays_agreed_and_one_that_one_changes_does_not() {
    let mut ends = Ends::agreed();
    ends.run(1_000);
    ends.sender.set_rule(ClockRule::Local, ends.now).unwrap();
    ends.receiver.set_rule(ClockRule::Local);
    ends.run(9_000);
    assert_eq!(ends.differences(), (Vec::new(), Vec::new()));
    ends.receiver.set_rule(ClockRule::Global);
    ends.run(9_000);
    assert_eq!(ends.differences().0, ["rule is Local here and Global there"]);
}

#[test]
fn a_datagram_of_version_1_is_answered_with_an_error_that_says_so() {
    let mut ends = Ends::agreed();
    ends.run(100);
    for first in [0xE0, 0xE4] {
        let error = ends.receiver.handle_datagram(SENDER, &[first, 1, 2, 3, 4, 5, 6, 7, 8], ends.now).unwrap_err();
        assert_eq!(error.to_string(), "protocol version 1, but this side speaks 2: update the older one");
    }
    let error = ends.sender.handle_datagram(PLAYER, &[0xE1, 1, 2, 3], ends.now).unwrap_err();
    assert!(error.to_string().contains("protocol version 1"), "{error}");
}

//! Bad input: a typed error or an event, nothing changed, no panic.

#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, TANK, World, at, ms, zigzag};
use evenkeel::wire::datagram::{DatagramError, KIND_RECEIPTS, KIND_VECTORS, ReceiptEntry, ReceiptsHeader};
use evenkeel::wire::{BitReader, BitWriter, Format};
use evenkeel::{
    EntityId, HandleError, HostId, Motion, Pose, Receiver, ReceiverConfig, ReceiverError, ReceiverEvent, Sender,
    SenderConfig, SenderError, SenderEvent, Threshold, Vec3,
};
use proptest::prelude::*;

fn sender() -> Sender {
    let mut sender = Sender::new(SenderConfig::default()).unwrap();
    sender.add_receiver(HostId(0), at(0)).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    sender
}

fn receiver() -> Receiver {
    let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
    receiver.add_sender(SENDER, receiver.agreement(&Format::default()), at(0)).unwrap();
    receiver
}

fn datagram(sender: &mut Sender, t: i64) -> Vec<u8> {
    // Ten milliseconds into a leg, so that every call 400 ms after the last one triggers.
    sender.observe(TANK, zigzag(at(t + 10)), at(t)).unwrap();
    sender.poll_transmit(at(t)).unwrap().bytes.to_vec()
}

#[test]
fn states_that_are_no_numbers_are_refused() {
    let mut sender = sender();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let poses = [
            Pose::at(Vec3::new(bad, 0.0, 0.0)),
            Pose::at(Vec3::ZERO).moving(Vec3::new(0.0, bad, 0.0)),
            Pose::at(Vec3::ZERO).facing(bad),
            Pose::at(Vec3::ZERO).facing(0.0).turning(bad),
            Pose::at(Vec3::ZERO).accelerating(Vec3::new(0.0, 0.0, bad)),
        ];
        for pose in poses {
            assert_eq!(sender.observe(TANK, pose, at(1)), Err(SenderError::NotFinite(TANK)));
        }
        let motion = Motion::linear(Vec3::ZERO, Vec3::new(bad, 0.0, 0.0));
        assert_eq!(sender.observe_motion(TANK, &motion, at(1)), Err(SenderError::NotFinite(TANK)));
        assert_eq!(sender.relay(TANK, &motion, at(1), at(1)), Err(SenderError::NotFinite(TANK)));
        let threshold = Threshold::within(bad);
        let refused = sender.add_entity(EntityId(1), threshold, at(1));
        assert_eq!(refused.is_ok(), bad == f64::INFINITY, "an infinite threshold never triggers, and that is allowed");
        let _ = sender.remove_entity(EntityId(1), at(1));
    }
    let far = Pose::at(Vec3::new(1e300, 0.0, 0.0));
    assert!(matches!(sender.observe(TANK, far, at(2)), Err(SenderError::Unrepresentable(TANK, _))));
    assert_eq!(sender.ledger().spent().triggers, 0);
    assert!(sender.poll_transmit(at(3)).is_none());
}

#[test]
fn time_going_backwards_is_refused() {
    let (mut sender, mut receiver) = (sender(), receiver());
    let bytes = datagram(&mut sender, 1_000);
    let back = SenderError::TimeWentBackwards { by: ms(1) };
    assert_eq!(sender.observe(TANK, zigzag(at(999)), at(999)), Err(back));
    assert_eq!(sender.add_receiver(HostId(1), at(999)), Err(back));
    assert_eq!(sender.remove_entity(TANK, at(999)), Err(back));
    receiver.handle_datagram(SENDER, &bytes, at(1_050)).unwrap();
    let later = datagram(&mut sender, 1_400);
    let back = ReceiverError::TimeWentBackwards { by: ms(10) };
    assert_eq!(receiver.handle_datagram(SENDER, &later, at(1_040)), Err(back));
    assert!(receiver.handle_datagram(SENDER, &later, at(1_450)).unwrap().vectors == 1, "nothing was lost by it");
}

#[test]
fn strangers_and_doubles_are_refused() {
    let (mut sender, mut receiver) = (sender(), receiver());
    assert_eq!(sender.observe(EntityId(99), zigzag(at(0)), at(0)), Err(SenderError::UnknownEntity(EntityId(99))));
    assert_eq!(sender.add_entity(TANK, Threshold::within(1.0), at(0)), Err(SenderError::DuplicateEntity(TANK)));
    assert_eq!(sender.add_receiver(HostId(0), at(0)), Err(SenderError::DuplicateReceiver(HostId(0))));
    assert_eq!(sender.remove_receiver(HostId(8)), Err(SenderError::UnknownReceiver(HostId(8))));
    assert!(matches!(
        sender.handle_datagram(HostId(8), &[], at(0)),
        Err(HandleError::Refused(SenderError::UnknownReceiver(HostId(8))))
    ));
    assert_eq!(receiver.handle_datagram(HostId(8), &[], at(0)), Err(ReceiverError::UnknownSender(HostId(8))));
    assert_eq!(
        receiver.add_sender(SENDER, receiver.agreement(&Format::default()), at(0)),
        Err(ReceiverError::DuplicateSender(SENDER))
    );
}

#[test]
fn limits_hold() {
    let config = SenderConfig { max_entities: 2, max_receivers: 2, ..SenderConfig::default() };
    let mut sender = Sender::new(config).unwrap();
    let mut receiver =
        Receiver::new(ReceiverConfig { max_entities: 2, max_senders: 1, ..ReceiverConfig::default() }).unwrap();
    receiver.add_sender(SENDER, receiver.agreement(&Format::default()), at(0)).unwrap();
    let refused = receiver.add_sender(HostId(1), receiver.agreement(&Format::default()), at(0));
    assert_eq!(refused, Err(ReceiverError::TooManySenders { limit: 1 }));
    for i in 0..2 {
        sender.add_receiver(HostId(i), at(0)).unwrap();
        sender.add_entity(EntityId(i), Threshold::within(0.1), at(0)).unwrap();
    }
    let too_many = sender.add_receiver(HostId(2), at(0));
    assert_eq!(too_many, Err(SenderError::TooManyReceivers { limit: 2 }));
    let too_many = sender.add_entity(EntityId(2), Threshold::within(0.1), at(0));
    assert_eq!(too_many, Err(SenderError::TooManyEntities { limit: 2 }));

    // A sender with more entities than this receiver takes: two are shown, the third is reported.
    let mut generous = Sender::new(SenderConfig::default()).unwrap();
    generous.add_receiver(HostId(0), at(0)).unwrap();
    for i in 0..3 {
        generous.add_entity(EntityId(i), Threshold::within(0.1), at(0)).unwrap();
        generous.observe(EntityId(i), Pose::at(Vec3::ZERO), at(0)).unwrap();
    }
    let bytes = generous.poll_transmit(at(0)).unwrap().bytes.to_vec();
    let handled = receiver.handle_datagram(SENDER, &bytes, at(10)).unwrap();
    assert_eq!((handled.vectors, handled.refused), (2, 1));
    let events: Vec<_> = std::iter::from_fn(|| receiver.poll_event(at(10))).collect();
    assert!(events.contains(&ReceiverEvent::TooManyEntities { entity: EntityId(2) }));
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    for config in [
        SenderConfig { max_datagram: 100, ..SenderConfig::default() },
        SenderConfig { history: ms(-1), ..SenderConfig::default() },
        SenderConfig { format: Format { position_step: f64::NAN, ..Format::default() }, ..SenderConfig::default() },
        SenderConfig { format: Format { velocity_step: 0.0, ..Format::default() }, ..SenderConfig::default() },
    ] {
        let error = Sender::new(config).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn replays_duplicates_and_other_formats_change_nothing() {
    let (mut sender, mut receiver) = (sender(), receiver());
    let first = datagram(&mut sender, 0);
    let second = datagram(&mut sender, 400);
    receiver.handle_datagram(SENDER, &first, at(450)).unwrap();
    receiver.handle_datagram(SENDER, &second, at(460)).unwrap();
    let shown = receiver.place(TANK, at(500)).unwrap();
    for bytes in [&first, &second, &first] {
        assert!(receiver.handle_datagram(SENDER, bytes, at(470)).unwrap().duplicate);
    }
    assert_eq!(receiver.place(TANK, at(500)).unwrap(), shown);

    // An old datagram under a new number does not fit its check.
    let mut forged = first.clone();
    // Kind, check, agreement and stream take 148 bits; the number follows.
    forged[19] = forged[19].wrapping_add(16);
    assert_eq!(receiver.handle_datagram(SENDER, &forged, at(480)), Err(ReceiverError::Datagram(DatagramError::Check)));
    assert_eq!(receiver.place(TANK, at(500)).unwrap(), shown);
    assert_eq!(receiver.refusals(SENDER).check, 1);

    let mut other = Receiver::new(ReceiverConfig::default()).unwrap();
    other.add_sender(SENDER, other.agreement(&Format::bzflag()), at(0)).unwrap();
    assert!(matches!(
        other.handle_datagram(SENDER, &first, at(480)),
        Err(ReceiverError::Datagram(DatagramError::Disagreement { .. }))
    ));
    for (kind, theirs) in [(0xE0, 1), (0xE4, 1)] {
        assert_eq!(
            other.handle_datagram(SENDER, &[kind, 1, 0, 0], at(480)),
            Err(ReceiverError::Datagram(DatagramError::Version { theirs }))
        );
    }
    let old = sender.handle_datagram(HostId(0), &[0xE1, 1, 0, 0], at(480));
    assert_eq!(old, Err(HandleError::Datagram(DatagramError::Version { theirs: 1 })));
    assert_eq!(
        other.handle_datagram(SENDER, &[KIND_RECEIPTS, 1], at(480)),
        Err(ReceiverError::Datagram(DatagramError::UnknownKind(KIND_RECEIPTS)))
    );
    assert_eq!(other.handle_datagram(SENDER, &[], at(480)), Err(ReceiverError::Datagram(DatagramError::Empty)));
}

#[test]
fn nobody_acknowledges_what_it_has_not_seen() {
    let (mut sender, mut receiver) = (sender(), receiver());
    for t in 0..5 {
        let bytes = datagram(&mut sender, t * 400);
        receiver.handle_datagram(SENDER, &bytes, at(t * 400 + 50)).unwrap();
    }
    let receipt = receiver.poll_transmit(at(2_000)).unwrap().bytes.to_vec();
    let mut r = BitReader::new(&receipt);
    let header = ReceiptsHeader::parse(&mut r).unwrap();
    let entry = ReceiptEntry::parse(None, &mut r).unwrap();
    let mut forged = [0; 64];
    let mut w = BitWriter::new(&mut forged);
    ReceiptsHeader { proof: header.proof ^ 4, ..header }.emit(&mut w).unwrap();
    entry.emit(None, &mut w).unwrap();
    sender.handle_datagram(HostId(0), w.as_bytes(), at(2_050)).unwrap();
    let events: Vec<_> = std::iter::from_fn(|| sender.poll_event()).collect();
    assert!(events.contains(&SenderEvent::ForgedReceipt { from: HostId(0) }), "{events:?}");
}

#[test]
fn numbers_wrap_without_anybody_noticing() {
    // More datagrams than 16 bits count, and many times as many as 10 bits do.
    let mut world = World::new(SenderConfig::default(), &[3]);
    world.sender.add_entity(TANK, Threshold::within(0.0), at(0)).unwrap();
    let mut x = 0.0;
    for _ in 0..140 {
        world.run(500, |sender, now| {
            x += 0.05;
            sender.observe(TANK, Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::ZERO), now).unwrap();
        });
        world.sent.clear();
    }
    let spent = world.sender.ledger().spent();
    assert!(spent.vectors > 69_000 && spent.resent == 0, "{spent:?}");
    world.run(10, |_, _| {});
    let placed = world.receivers[0].place(TANK, world.now).unwrap();
    assert!((placed.position.x - x).abs() < 0.02, "{} {x}", placed.position.x);
}

#[test]
fn a_queue_that_nobody_polls_stays_bounded() {
    let mut sender = sender();
    for t in 0..20_000 {
        sender.observe(TANK, zigzag(at(t * 100)), at(t * 100)).unwrap();
    }
    assert_eq!(sender.queued(HostId(0)), Ok(1));
    assert!(sender.ledger().memory_bytes() < 1_000_000, "{}", sender.ledger().memory_bytes());
}

#[test]
fn a_receiver_that_never_answers_costs_bounded_memory() {
    let mut world = World::new(SenderConfig::default(), &[20]);
    world.sender.add_entity(TANK, Threshold::within(0.01), at(0)).unwrap();
    world.lost = Box::new(|_, _, _| true);
    world.run(60_000, |sender, now| {
        sender.observe(TANK, zigzag(now), now).unwrap();
    });
    assert!(world.sender.ledger().memory_bytes() < 1_000_000, "{}", world.sender.ledger().memory_bytes());
}

/// Everything that has an effect, to see that there was none: but for what the sender is told of a datagram that is its own and
/// could not be decoded.
fn snapshot(receiver: &Receiver) -> String {
    let places: Vec<_> = receiver.entities().map(|e| (e, receiver.place(e, at(10_000)), receiver.newest(e))).collect();
    format!("{places:?} {:?}", receiver.path(SENDER).and_then(|p| p.round_trip()))
}

/// A receiver in the middle of things, and the datagrams of its sender that it has not seen yet.
fn busy() -> (Sender, Receiver, Vec<Vec<u8>>) {
    let (mut sender, mut receiver) = (sender(), receiver());
    let mut unseen = Vec::new();
    for t in 0..20 {
        let bytes = datagram(&mut sender, t * 400);
        if t >= 15 {
            unseen.push(bytes);
            continue;
        }
        receiver.handle_datagram(SENDER, &bytes, at(t * 400 + 50)).unwrap();
        while let Some(receipt) = receiver.poll_transmit(at(t * 400 + 50)) {
            sender.handle_datagram(HostId(0), receipt.bytes, at(t * 400 + 100)).unwrap();
        }
    }
    while receiver.poll_event(at(8_000)).is_some() {}
    (sender, receiver, unseen)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn hostile_datagrams_are_refused_whole_or_taken_whole(
        which in 0..5usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        more in prop::collection::vec(any::<u8>(), 0..6),
    ) {
        let (mut sender, mut receiver, unseen) = busy();
        let mut bytes = unseen[which].clone();
        for (index, flip) in flips {
            let index = index.index(bytes.len());
            bytes[index] ^= flip;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes.extend(more);
        let before = snapshot(&receiver);
        if receiver.handle_datagram(SENDER, &bytes, at(9_000)).is_err() {
            prop_assert_eq!(snapshot(&receiver), before);
        }
        let _ = sender.handle_datagram(HostId(0), &bytes, at(9_000));
    }

    #[test]
    fn random_bytes_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..6u8) {
        if let Some(first) = bytes.first_mut() {
            *first = KIND_VECTORS + kind;
        }
        let (mut sender, mut receiver, _) = busy();
        let before = snapshot(&receiver);
        if receiver.handle_datagram(SENDER, &bytes, at(9_000)).is_err() {
            prop_assert_eq!(snapshot(&receiver), before);
        }
        let spent = sender.ledger().spent();
        let _ = sender.handle_datagram(HostId(0), &bytes, at(9_000));
        prop_assert_eq!(sender.ledger().spent(), spent);
        prop_assert!(sender.observe(TANK, zigzag(at(9_100)), at(9_100)).is_ok());
    }
}

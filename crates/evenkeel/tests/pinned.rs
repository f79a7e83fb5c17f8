//! The bytes of datagrams are a promise to every other build and machine. If this fails on purpose, the version of the wire must change.
#![allow(clippy::unwrap_used)]

mod common;

use common::{SENDER, TANK, at, zigzag};
use evenkeel::wire::Format;
use evenkeel::{HostId, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold};

/// What two ends say to each other in 1.3 s.
fn said() -> Vec<String> {
    let config = SenderConfig { format: Format::bzflag(), secret: *b"not very random.", ..SenderConfig::default() };
    let (mut sender, mut receiver) = (Sender::new(config).unwrap(), Receiver::new(ReceiverConfig::default()).unwrap());
    sender.add_receiver(HostId(1), at(0)).unwrap();
    sender.add_entity(TANK, Threshold::within(0.1), at(0)).unwrap();
    receiver.add_sender(SENDER, sender.agreement(), at(0)).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut said = Vec::new();
    for now in (0..1_300).step_by(20) {
        sender.observe(TANK, zigzag(at(now)), at(now)).unwrap();
        if now == 1_240 {
            sender.remove_entity(TANK, at(now)).unwrap();
            sender.add_entity(TANK, Threshold::within(0.1), at(now)).unwrap();
        }
        sender.handle_timeout(at(now));
        while let Some(datagram) = sender.poll_transmit(at(now)) {
            said.push(hex(datagram.bytes));
            receiver.handle_datagram(SENDER, datagram.bytes, at(now + 10)).unwrap();
        }
        while let Some(receipt) = receiver.poll_transmit(at(now + 10)) {
            said.push(hex(receipt.bytes));
            sender.handle_datagram(HostId(1), receipt.bytes, at(now + 20)).unwrap();
        }
    }
    said
}

#[test]
fn datagrams_are_pinned() {
    let pinned = [
        "d2a7be000ff00f99cbeba92d9c3c76dd99467a000000000000000000000000000000004ac900ecffc3c330204e204e0000",
        "d38a00e60db60000002026",
        "d48a0900c707",
        "d0c30b01787dc1c8590323f1c1fe01",
        "d38a01e6d7540002002026",
        "d48a0901c707",
        "d07c8002f0fa82b41b0323f101ff01",
        "d38a02e6f8be0004002026",
        "d48a0902c707",
        "d00aa203788b44617c0343f1c1fef910",
        "d38a03e68c400006003026",
        "d1533d048c9ea490d90160f81201",
        "d38a04e692a30008002026",
        "d1d76605a0b1242f58026000d6ffed61184b2865270000",
        "d38a05e6baec000a002026",
    ];
    assert_eq!(said(), pinned);
}

//! How soon others see what a player has just made, though its first vector overtakes the word that it was made.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{EntityId, HostId, Pose, Sender, SenderConfig, Threshold, Vec3};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::{Model, PeerOffer, SERVER, ToServer, encode, entity_of};
use evenkeel_net::seat::SeatConfig;

/// How much longer messages take than datagrams, in milliseconds.
const LATE: i64 = 15;

fn session(model: Model, opens: bool) -> World {
    let mut world = World::new(HubConfig { model, ..HubConfig::default() });
    for (name, delay) in [("Ada", 20), ("Ben", 80)] {
        let offer = PeerOffer { certificate: [7; 32], addresses: vec!["192.168.0.2:4000".parse().unwrap()] };
        world.join(SeatConfig { peer: model.has_peers().then_some(offer), ..SeatConfig::named(name) }, delay);
    }
    world.messages_late = ms(LATE);
    world.run(400, |_| {});
    world.connect_peers(|_, _| opens);
    world.run(4_000, |_| {});
    world
}

fn make(world: &mut World, guest: usize) -> EntityId {
    let local = world.local(guest);
    world.guests[guest].seat.make(Threshold::within(0.1), Vec::new(), local).unwrap()
}

/// After how many milliseconds the second player sees something that the first makes and that stands still.
fn seen_after(world: &mut World) -> i64 {
    let tank = make(world, 0);
    let mut seen = None;
    for passed in 0..3_000 {
        world.run(1, |world| {
            let local = world.local(0);
            world.guests[0].seat.observe(tank, Pose::at(Vec3::new(3.0, 4.0, 0.0)), local).unwrap();
        });
        let local = world.local(1);
        if world.guests[1].seat.place(tank, local).is_ok() {
            seen = Some(passed);
            break;
        }
    }
    seen.expect("it is never seen")
}

#[test]
fn by_the_server() {
    let mut world = session(Model::ClientServer, false);
    for _ in 0..3 {
        let after = seen_after(&mut world);
        assert!((100 + LATE..110 + LATE).contains(&after), "{after} ms");
    }
    assert_eq!(world.hub.counts().unusable, 0);
}

/// Peers hear from each other at once, but believe it only when the server has said whose it is: two messages later.
#[test]
fn by_its_owner() {
    for opens in [true, false] {
        let mut world = session(Model::PeerToPeer, opens);
        let after = seen_after(&mut world);
        assert!((100 + 2 * LATE..110 + 2 * LATE).contains(&after), "{after} ms");
    }
}

#[test]
fn in_a_hybrid_session() {
    for opens in [true, false] {
        let mut world = session(Model::Hybrid, opens);
        let after = seen_after(&mut world);
        assert!((100 + 2 * LATE..110 + 2 * LATE).contains(&after), "{after} ms");
    }
}

/// The server passes the early vector on with the word that the entity was made, if it comes from who made it.
#[test]
fn only_its_maker_is_believed() {
    for (speaker, relayed) in [(0, 1), (1, 0)] {
        let mut world = session(Model::ClientServer, false);
        let (now, time) = (world.now, world.hub.now(world.now));
        let entity = entity_of(HostId(1), 0).unwrap();
        let mut sender = Sender::new(SenderConfig { format: HubConfig::default().format, ..SenderConfig::default() });
        let sender = sender.as_mut().unwrap();
        sender.add_receiver(SERVER, time).unwrap();
        sender.add_entity(entity, Threshold::within(0.1), time).unwrap();
        sender.observe(entity, Pose::at(Vec3::ZERO), time).unwrap();
        let vector = sender.poll_transmit(time).unwrap().bytes.to_vec();
        world.hub.handle_datagram(world.guests[speaker].connection, &vector, now);
        assert_eq!(world.hub.counts().relayed, 0);
        let made = encode(&ToServer::Make { entity, about: Vec::new() }).unwrap();
        world.hub.handle_message(world.guests[0].connection, &made, now);
        assert_eq!((world.hub.counts().relayed, world.hub.counts().unusable), (relayed, 0));
        assert_eq!(world.hub.receiver().entities().count() as u64, relayed);
    }
}

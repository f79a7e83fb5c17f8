//! What a scope is asked, and about what: without sockets.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{EntityId, GlobalTime, HostId, Pose, Relevance, State, Threshold, Vec3};
use evenkeel_net::hub::{HubConfig, Sight};
use evenkeel_net::seat::SeatConfig;
use std::sync::{Arc, Mutex};

/// Who was asked about, what, where that is, and from where it is looked at.
type Asked = (HostId, EntityId, Option<State>, Option<State>);

fn play(world: &mut World, entities: &[(usize, EntityId)], millis: i64) {
    world.run(millis, |world| {
        for (guest, entity) in entities.iter().copied() {
            let local = world.local(guest);
            let seat = &mut world.guests[guest].seat;
            let t = seat.now(local).unwrap_or(GlobalTime::ZERO).since(GlobalTime::ZERO).as_secs_f64();
            let pose = Pose::at(Vec3::new(f64::from(entity.0 % 97), t % 50.0, 0.0));
            // Not before it is in, and not once it is another's.
            let _ = seat.observe(entity, pose, local);
        }
    });
}

#[test]
fn everybody_looks_from_the_first_thing_it_owns() {
    let asked = Arc::new(Mutex::new(Vec::<Asked>::new()));
    let notes = asked.clone();
    let scope = move |sight: &Sight<'_>| {
        notes.lock().unwrap().push((sight.viewer, sight.entity.entity, sight.state, sight.viewpoint));
        Relevance::USUAL
    };
    let mut world = World::new(HubConfig { scope: Some(Box::new(scope)), ..HubConfig::default() });
    let guests: Vec<usize> = ["Ada", "Ben", "Eve"].map(|name| world.join(SeatConfig::named(name), 20)).into();
    world.run(3_000, |_| {});
    let mut entities = Vec::new();
    for guest in [0, 1, 0, 1] {
        let local = world.local(guests[guest]);
        let made = world.guests[guest].seat.make(Threshold::within(0.01), Vec::new(), local).unwrap();
        entities.push((guest, made));
    }
    play(&mut world, &entities, 1_000);
    // What Ada made first is Ben's now, and comes before what Ben made.
    let (given, to) = (entities[0].1, world.guests[1].seat.you().unwrap());
    world.hub.assign(given, to, world.now).unwrap();
    play(&mut world, &entities, 1_000);
    // Everything is asked again within a quarter of a second, and each thing once.
    asked.lock().unwrap().clear();
    while asked.lock().unwrap().is_empty() {
        play(&mut world, &entities, 1);
        assert!(world.now < evenkeel::Instant::ZERO + ms(60_000));
    }
    let time = world.hub.now(world.now);
    let mut expected = Vec::new();
    for entity in world.hub.entities() {
        for (viewer, _) in world.hub.players().filter(|(viewer, _)| *viewer != entity.owner) {
            let first = world.hub.entities().find(|e| e.owner == viewer).map(|e| e.entity);
            let viewpoint = first.and_then(|first| world.hub.whereabouts(first, time));
            expected.push((viewer, entity.entity, world.hub.whereabouts(entity.entity, time), viewpoint));
        }
    }
    assert_eq!(*asked.lock().unwrap(), expected);
    let seen_from = |host: HostId| expected.iter().find(|(viewer, ..)| *viewer == host).unwrap().3;
    let [ada, ben, eve] = [0, 1, 2].map(|guest: usize| world.guests[guest].seat.you().unwrap());
    assert!(seen_from(ada).is_some() && seen_from(eve).is_none());
    assert_eq!(seen_from(ben), world.hub.whereabouts(given, time));
}

//! What a game does wrong is said once, with the entity, and stops nothing.

#![allow(clippy::unwrap_used)]

mod common;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_replicon::prelude::Replicated;
use bevy_time::{Time, TimeUpdateStrategy, Virtual};
use bevy_transform::prelude::*;
use common::{Bed, troubles};
use evenkeel::EntityId;
use evenkeel_bevy::prelude::*;
use std::time::Duration;

/// The one trouble there is.
fn only(app: &mut App) -> (Option<Entity>, String) {
    let [trouble] = &troubles(app)[..] else { panic!("one trouble") };
    (trouble.entity, trouble.what.clone())
}

#[test]
fn a_missing_transform_is_waited_for() {
    let mut bed = Bed::new(1, "delay=10ms");
    let rock = bed.server.world_mut().spawn((DeadReckoned::within(0.1), Replicated)).id();
    bed.run(0.5);
    let (entity, what) = only(&mut bed.server);
    assert!(entity == Some(rock) && what.contains("Transform"), "{what}");
    bed.server.world_mut().entity_mut(rock).insert(Transform::from_xyz(1.0, 2.0, 3.0));
    bed.run(1.0);
    let name = bed.name(rock);
    assert!(bed.seen(0, name).is_some());
    assert!(troubles(&mut bed.server).is_empty());
}

#[test]
fn a_place_that_is_none_is_left_out() {
    let mut bed = Bed::new(1, "delay=10ms");
    let rock =
        bed.server.world_mut().spawn((Transform::from_xyz(1.0, 0.0, 0.0), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(1.0);
    for bad in [f32::NAN, 1e30, f32::INFINITY] {
        bed.server.world_mut().get_mut::<Transform>(rock).unwrap().translation.x = bad;
        bed.run(0.2);
    }
    let (entity, _) = only(&mut bed.server);
    assert_eq!(entity, Some(rock));
    let name = bed.name(rock);
    assert!((bed.seen(0, name).unwrap().translation.x - 1.0).abs() < 0.01);
    bed.server.world_mut().get_mut::<Transform>(rock).unwrap().translation.x = 7.0;
    bed.run(0.5);
    assert!((bed.seen(0, name).unwrap().translation.x - 7.0).abs() < 0.1);
}

#[test]
fn useless_thresholds_are_refused() {
    let mut bed = Bed::new(0, "delay=10ms");
    let bad = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(f64::NAN), Replicated)).id();
    let good = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(0.2);
    assert_eq!(only(&mut bed.server).0, Some(bad));
    *bed.server.world_mut().get_mut::<DeadReckoned>(good).unwrap() = DeadReckoned::within(-1.0);
    bed.run(0.2);
    assert_eq!(only(&mut bed.server).0, Some(good));
}

#[test]
fn a_name_that_nobody_knows_is_told_after_a_while() {
    let mut bed = Bed::new(1, "delay=10ms");
    bed.run(1.0);
    let lost = bed.clients[0].world_mut().spawn((NetId(EntityId(4_711)), Transform::from_xyz(1.0, 1.0, 1.0))).id();
    bed.run(1.0);
    assert!(troubles(&mut bed.clients[0]).is_empty(), "word of it may be under way");
    bed.run(6.0);
    let (entity, what) = only(&mut bed.clients[0]);
    assert!(entity == Some(lost) && what.contains("4711"), "{what}");
    assert_eq!(bed.clients[0].world().get::<Transform>(lost).unwrap().translation, Vec3::ONE);
}

#[test]
fn what_is_despawned_in_between_is_no_trouble() {
    let mut bed = Bed::new(2, "delay=100ms,jitter=exp:20ms,loss=5%");
    let bundle = || (Transform::default(), DeadReckoned::within(0.1), Replicated);
    for round in 0..40 {
        let rocks: Vec<Entity> = (0..5).map(|_| bed.server.world_mut().spawn(bundle()).id()).collect();
        bed.run(0.01 * f64::from(round % 8));
        // A player's game despawns what is not its own, too.
        let world = bed.clients[0].world_mut();
        let there: Vec<Entity> = world.query_filtered::<Entity, With<NetId>>().iter(world).collect();
        for entity in there.into_iter().take(2) {
            world.despawn(entity);
        }
        for rock in rocks {
            bed.server.world_mut().despawn(rock);
        }
    }
    bed.run(2.0);
    let left = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.entities().count());
    assert_eq!((left, troubles(&mut bed.server)), (Some(0), Vec::new()));
    let world = bed.clients[1].world_mut();
    assert_eq!(world.query::<&NetId>().iter(world).count(), 0);
}

#[test]
fn a_paused_game_stands_still_for_all() {
    let mut bed = Bed::new(1, "delay=50ms");
    let moving = Moving { velocity: Vec3::X * 10.0, ..Moving::default() };
    let car = bed.server.world_mut().spawn((Transform::default(), moving, DeadReckoned::within(0.1), Replicated)).id();
    bed.run(1.0);
    bed.server.world_mut().resource_mut::<Time<Virtual>>().pause();
    bed.run(2.0);
    assert!(only(&mut bed.server).1.contains("paused"));
    let name = bed.name(car);
    let seen = bed.seen(0, name).unwrap().translation.x;
    assert!(seen.abs() < 0.11, "{seen}");
}

#[test]
fn a_jump_of_time_is_survived() {
    let mut bed = Bed::new(1, "delay=50ms");
    let rock =
        bed.server.world_mut().spawn((Transform::from_xyz(5.0, 0.0, 0.0), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(1.0);
    for hour in [3_600, 100_000_000] {
        bed.server.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(hour)));
        bed.server.update();
        bed.server.insert_resource(TimeUpdateStrategy::ManualDuration(common::FRAME));
        bed.run(0.1);
    }
    assert!(only(&mut bed.server).1.contains("jumped"));
    bed.run(30.0);
    let name = bed.name(rock);
    assert!((bed.seen(0, name).unwrap().translation.x - 5.0).abs() < 0.1);
}

#[test]
fn without_time_nothing_moves_and_that_is_said() {
    let mut app = App::new();
    app.add_plugins(EvenkeelPlugin::default());
    app.insert_resource(Session::host(HubConfig::default()).unwrap());
    app.add_systems(Last, |mut said: MessageReader<Trouble>| {
        for trouble in said.read() {
            assert!(trouble.what.contains("TimePlugin"), "{trouble:?}");
        }
    });
    app.update();
    app.update();
}

#[test]
fn an_entity_of_a_players_own_is_not_made_beside_replicon() {
    let mut bed = Bed::new(1, "delay=10ms");
    bed.run(1.0);
    let own = bed.clients[0].world_mut().spawn((Transform::default(), DeadReckoned::within(0.1))).id();
    bed.run(0.5);
    let (entity, what) = only(&mut bed.clients[0]);
    assert!(entity == Some(own) && what.contains("server"), "{what}");
}

#[test]
fn another_session_begins_with_what_is_here() {
    let mut bed = Bed::new(0, "delay=10ms");
    let rock = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(0.2);
    bed.server.insert_resource(Session::host(HubConfig::default()).unwrap());
    bed.run(0.2);
    let known = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.entities().count());
    assert_eq!((known, troubles(&mut bed.server)), (Some(1), Vec::new()));
    assert!(bed.server.world().entity(rock).contains::<Owned>());
}

#[test]
fn what_went_with_one_session_is_not_missed_in_the_next() {
    let mut bed = Bed::new(0, "delay=10ms");
    let rock = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(0.2);
    let name = bed.name(rock);
    // One that brings something of the same name with it.
    let mut next = Session::host(HubConfig::default()).unwrap();
    let brought = next.hub(|hub, now| hub.make(evenkeel::Threshold::within(0.1), Vec::new(), now).unwrap());
    assert_eq!(brought, Some(name.0));
    bed.server.world_mut().despawn(rock);
    bed.server.insert_resource(next);
    bed.run(0.2);
    let known = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.owner(name.0));
    assert_eq!(known, Some(Some(SERVER)));
}

#[test]
fn what_was_written_before_there_was_a_name_counts() {
    let mut bed = Bed::new(1, "delay=10ms");
    let hidden = Relevances { usual: Some(Relevance::OutOfScope), ..Relevances::default() };
    let rock = bed.server.world_mut().spawn((DeadReckoned::within(0.1), hidden, Replicated)).id();
    bed.run(0.5);
    bed.server.world_mut().entity_mut(rock).insert(Transform::default());
    bed.run(1.0);
    let world = bed.clients[0].world_mut();
    let mut brought = world.query_filtered::<Has<Placed>, With<NetId>>();
    assert_eq!(brought.iter(world).collect::<Vec<_>>(), [false]);
}

//! A replicated game: a server's app and players' apps without windows, 100 ms apart.

#![allow(clippy::unwrap_used)]

mod common;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_replicon::prelude::{Replicated, ServerMessages};
use bevy_time::{Real, Time};
use bevy_transform::prelude::*;
use common::{Bed, find, troubles};
use evenkeel_bevy::prelude::*;

const FAR: &str = "delay=100ms,jitter=exp:5ms,loss=2%";

/// Drives along its own -z, and turns to and fro.
#[derive(Component)]
struct Tank;

/// A client that leaves.
#[derive(Component)]
struct Leaving;

const SPEED: f32 = 20.0;

fn drive(time: Res<Time<Real>>, mut tanks: Query<(&mut Transform, &mut Moving), With<Tank>>) {
    for (mut transform, mut moving) in &mut tanks {
        let turning = Vec3::Y * if time.elapsed_secs() % 3.0 < 1.0 { 0.8 } else { 0.0 };
        transform.rotation *= Quat::from_rotation_y(turning.y * time.delta_secs());
        let velocity = transform.rotation * Vec3::NEG_Z * SPEED;
        transform.translation += velocity * time.delta_secs();
        *moving = Moving { velocity, turning };
    }
}

fn tank() -> impl Bundle {
    let reckoned = DeadReckoned::within(0.1).turning(0.05).upright();
    (Tank, Transform::default(), Moving::default(), reckoned, Replicated)
}

/// A bed in which the server drives a tank.
fn bed(players: usize, conditions: &str) -> (Bed, NetId) {
    let mut bed = Bed::new(players, conditions);
    bed.server.add_systems(Update, drive);
    let tank = bed.server.world_mut().spawn(tank()).id();
    bed.step();
    let name = bed.name(tank);
    (bed, name)
}

#[test]
fn what_is_remote_is_on_the_exported_path() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let (mut compared, mut vectors, mut worst) = (0, 0, 0.0_f64);
    let mut before = None;
    for _ in 0..3_000 {
        bed.step();
        let exported = bed.server.world_mut().resource_mut::<Session>().hub(|hub, now| {
            let (time, ledger) = (hub.now(now), hub.sender().ledger());
            let vector = ledger.newest(ledger.entity(tank.0).unwrap()).unwrap();
            (vector.generated, vector.motion.at(time.since(vector.generated).as_secs_f64()).position)
        });
        let (generated, position) = exported.unwrap();
        let has = bed.clients[0].world_mut().resource_mut::<Session>().seat(|seat, _| {
            let newest = seat.receiver().unwrap().newest(tank.0).unwrap().0;
            (newest, seat.clock().uncertainty().unwrap().as_secs_f64())
        });
        let (newest, uncertainty) = has.unwrap();
        if newest != generated {
            continue; // its successor is under way
        }
        vectors += i32::from(before.replace(newest) != Some(newest));
        let exported = Vec3::new(position.x as f32, position.z as f32, -position.y as f32);
        let off = f64::from(bed.seen(0, tank).unwrap().translation.distance(exported));
        assert!(off <= f64::from(SPEED) * uncertainty + 0.001, "{off} m off, with a clock within {uncertainty} s");
        (compared, worst) = (compared + 1, worst.max(off));
    }
    println!("{compared} frames, {vectors} vectors, {worst:.3} m off at most");
    assert!(compared > 1_000 && vectors > 20, "{compared} frames, {vectors} vectors");
}

#[test]
fn an_unchanged_pose_is_not_written() {
    #[derive(Resource, Default)]
    struct Writes(usize);
    let mut bed = Bed::new(1, FAR);
    let rock =
        bed.server.world_mut().spawn((Transform::from_xyz(3.0, 4.0, 5.0), DeadReckoned::within(0.1), Replicated));
    let rock = rock.id();
    let client = &mut bed.clients[0];
    client.init_resource::<Writes>();
    let count = |written: Query<(), (Changed<Transform>, With<Followed>)>, mut writes: ResMut<Writes>| {
        writes.0 += written.iter().count();
    };
    client.add_systems(Update, count);
    bed.run(3.0);
    let rock = bed.name(rock);
    assert!(bed.seen(0, rock).unwrap().translation.distance(Vec3::new(3.0, 4.0, 5.0)) < 0.02);
    let before = bed.clients[0].world().resource::<Writes>().0;
    bed.run(3.0);
    assert_eq!(bed.clients[0].world().resource::<Writes>().0, before, "written once: {before}");
}

#[test]
fn late_joiners_see_everything_and_what_is_gone_is_gone() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let late = bed.join();
    bed.run(2.0);
    let (first, second) = (bed.seen(0, tank).unwrap(), bed.seen(late, tank).unwrap());
    assert!(first.translation.distance(second.translation) < 0.3, "{first:?} {second:?}");
    let entity = find(&mut bed.server, tank).unwrap();
    bed.server.world_mut().despawn(entity);
    bed.run(1.0);
    assert_eq!((bed.seen(0, tank), bed.seen(late, tank)), (None, None));
    let left = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.entities().count());
    assert_eq!(left, Some(0));
}

#[test]
fn an_entity_is_handed_to_a_player_and_taken_back() {
    let (mut bed, tank) = bed(2, FAR);
    bed.run(2.0);
    let (entity, host) = (find(&mut bed.server, tank).unwrap(), bed.host(0));
    bed.server.world_mut().get_mut::<Owner>(entity).unwrap().0 = host;
    bed.run(1.0);
    let mine = bed.there(0, tank).unwrap();
    assert!(bed.clients[0].world().entity(mine).contains::<Owned>());
    assert!(bed.server.world().entity(entity).contains::<Followed>());

    // The player moves it, and all others see that.
    let at = Transform::from_xyz(50.0, 0.0, -60.0);
    *bed.clients[0].world_mut().get_mut::<Transform>(mine).unwrap() = at;
    bed.server.world_mut().entity_mut(entity).remove::<Tank>();
    bed.run(1.0);
    assert!(bed.seen(1, tank).unwrap().translation.distance(at.translation) < 0.1);
    let seen = *bed.server.world().get::<Transform>(entity).unwrap();
    assert!(seen.translation.distance(at.translation) < 0.1);

    // It gives it back.
    bed.clients[0].world_mut().get_mut::<Owner>(mine).unwrap().0 = SERVER;
    bed.run(1.0);
    assert!(bed.server.world().entity(entity).contains::<Owned>());
    bed.server.world_mut().get_mut::<Transform>(entity).unwrap().translation = Vec3::X;
    bed.run(1.0);
    for client in 0..2 {
        let seen = bed.seen(client, tank).unwrap();
        assert!(seen.translation.distance(Vec3::X) < 0.1, "player {client} sees {seen:?}");
    }
}

#[test]
fn what_is_spawned_for_a_player_is_its_own() {
    let mut bed = Bed::new(1, FAR);
    bed.run(2.0);
    let owner = Owner(bed.host(0));
    let ship = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), owner, Replicated)).id();
    bed.run(1.0);
    let ship = bed.name(ship);
    let there = bed.there(0, ship).unwrap();
    let player = bed.clients[0].world().entity(there);
    assert!(player.contains::<Owned>() && player.get::<Owner>() == Some(&owner));
}

#[test]
fn nobody_is_sent_anything_who_has_just_left() {
    let (mut bed, _) = bed(1, "delay=10ms");
    // It goes in the middle of a frame: whatever its last datagrams asked for is due at the end of it.
    bed.server.add_systems(Update, |leaving: Query<Entity, With<Leaving>>, mut commands: Commands| {
        leaving.iter().for_each(|client| commands.entity(client).despawn());
    });
    for round in 0..50 {
        bed.run(0.3 + 0.01 * f64::from(round));
        let gone = bed.connected[0].unwrap();
        bed.server.world_mut().entity_mut(gone).insert(Leaving);
        bed.deliver();
        bed.server.update();
        let messages = bed.server.world().resource::<ServerMessages>();
        assert!(messages.iter_sent().all(|(client, ..)| client != gone), "round {round}");
        bed.connected[0] = None;
        bed.disconnect(0);
        bed.run(0.1);
        bed.connect(0);
    }
}

#[test]
fn nobody_hands_over_what_is_not_its_own() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let entity = bed.there(0, tank).unwrap();
    let host = bed.host(0);
    bed.clients[0].world_mut().get_mut::<Owner>(entity).unwrap().0 = host;
    bed.run(0.1);
    assert_eq!(bed.clients[0].world().get::<Owner>(entity), Some(&Owner(SERVER)));
    let [trouble] = &troubles(&mut bed.clients[0])[..] else { panic!("one trouble") };
    assert_eq!(trouble.entity, Some(entity));
}

#[test]
fn what_happens_before_it_is_heard_of_is_not_undone() {
    let (mut bed, tank) = bed(2, FAR);
    bed.run(2.0);
    let hosts = [bed.host(0), bed.host(1)];
    let entity = find(&mut bed.server, tank).unwrap();
    bed.server.world_mut().get_mut::<Owner>(entity).unwrap().0 = hosts[0];
    bed.run(1.0);
    // As on a network of its own: the app hears of one owner, and before its frame ends the hub has another.
    let next = hosts[1];
    bed.server.add_systems(
        Update,
        move |owners: Query<(&NetId, &Owner), Changed<Owner>>, mut session: ResMut<Session>| {
            for (name, _) in owners.iter().filter(|(_, owner)| owner.0 == SERVER) {
                session.hub(|hub, now| hub.assign(name.0, next, now)).unwrap().unwrap();
            }
        },
    );
    bed.server.world_mut().resource_mut::<Session>().hub(|hub, now| hub.assign(tank.0, SERVER, now)).unwrap().unwrap();
    bed.run(1.0);
    let owner = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.owner(tank.0)).unwrap();
    assert_eq!((owner, bed.server.world().get::<Owner>(entity)), (Some(next), Some(&Owner(next))));
    let there = bed.there(1, tank).unwrap();
    assert!(bed.clients[1].world().get::<Owned>(there).is_some());
}

#[test]
fn what_is_hidden_from_a_player_does_not_reach_it() {
    let (mut bed, tank) = bed(2, FAR);
    bed.run(2.0);
    let entity = find(&mut bed.server, tank).unwrap();
    let hidden = Relevances { to: [(bed.host(1), Relevance::OutOfScope)].into(), ..Relevances::default() };
    bed.server.world_mut().entity_mut(entity).insert(hidden);
    bed.run(0.5);
    let (stays, near) = (bed.seen(1, tank).unwrap(), bed.seen(0, tank).unwrap());
    bed.run(2.0);
    assert_eq!(bed.seen(1, tank).unwrap(), stays, "it goes on elsewhere");
    assert!(bed.seen(0, tank).unwrap().translation.distance(near.translation) > 1.0);
    bed.server.world_mut().entity_mut(entity).insert(Relevances::default());
    bed.run(1.0);
    let (first, second) = (bed.seen(0, tank).unwrap(), bed.seen(1, tank).unwrap());
    assert!(first.translation.distance(second.translation) < 0.3);
}

#[test]
fn what_is_usually_hidden_is_not_heard_of_by_who_comes_later() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let entity = find(&mut bed.server, tank).unwrap();
    let hidden = Relevances { usual: Some(Relevance::OutOfScope), to: [(bed.host(0), Relevance::USUAL)].into() };
    bed.server.world_mut().entity_mut(entity).insert(hidden);
    bed.run(0.1);
    bed.join();
    bed.run(2.0);
    let placed = |bed: &mut Bed, client: usize| {
        let entity = find(&mut bed.clients[client], tank).expect("replicon brings it");
        bed.clients[client].world().get::<Placed>(entity).is_some()
    };
    assert!(placed(&mut bed, 0) && !placed(&mut bed, 1));
    bed.server.world_mut().entity_mut(entity).insert(Relevances::default());
    bed.run(1.0);
    assert!(placed(&mut bed, 1));
}

#[test]
fn policy_lag_and_clock_change_while_it_goes_on() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let spent = |bed: &mut Bed| {
        let spent =
            bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.sender().ledger().spent().vectors);
        spent.unwrap()
    };
    let count = |bed: &mut Bed| {
        let before = spent(bed);
        bed.run(10.0);
        spent(bed) - before
    };
    let all = count(&mut bed);
    bed.server.insert_resource(FairPolicy::named("base/3", Budget::of_base(1, 3)));
    let third = count(&mut bed);
    assert!(third * 2 < all, "{third} of {all}");

    let lag = evenkeel::Duration::from_millis(300);
    bed.server.insert_resource(ShownLag(lag));
    bed.run(3.0);
    let shown = bed.clients[0].world_mut().resource_mut::<Session>().seat(|seat, _| seat.lag().unwrap().target());
    assert_eq!(shown, Some(lag));
    let entity = find(&mut bed.server, tank).unwrap();
    let server = *bed.server.world().get::<Transform>(entity).unwrap();
    let behind = server.translation.distance(bed.seen(0, tank).unwrap().translation);
    assert!((4.0..8.0).contains(&behind), "{behind} m at 20 m/s and 300 ms");

    bed.server.insert_resource(ClockUsed(ClockRule::Local));
    bed.run(1.0);
    assert!(troubles(&mut bed.server).is_empty());
    bed.server.insert_resource(FairPolicy::named("bass", Budget::of_base(1, 3)));
    bed.run(0.1);
    let [trouble] = &troubles(&mut bed.server)[..] else { panic!("one trouble") };
    assert!(trouble.what.contains("base"), "{trouble:?}");
}

#[test]
fn a_player_who_comes_back_goes_on() {
    let (mut bed, tank) = bed(1, FAR);
    bed.run(2.0);
    let host = bed.host(0);
    bed.disconnect(0);
    bed.run(1.0);
    let here = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.is_connected(host));
    assert_eq!(here, Some(false));
    bed.connect(0);
    bed.run(2.0);
    assert_eq!(bed.host(0), host);
    let entity = find(&mut bed.server, tank).unwrap();
    let server = *bed.server.world().get::<Transform>(entity).unwrap();
    let seen = bed.seen(0, tank).unwrap();
    assert!(server.translation.distance(seen.translation) < 3.0, "{server:?} {seen:?}");
}

#[test]
fn what_moves_in_steps_is_told_as_if_it_went_on() {
    // A car on a straight road, moved in `FixedUpdate`: what others are told of it in ten seconds.
    let vectors = |fixed: bool| {
        let mut bed = Bed::fixed(1, "delay=10ms", fixed);
        bed.server.add_systems(FixedUpdate, |time: Res<Time>, mut cars: Query<(&mut Transform, &Moving)>| {
            for (mut transform, moving) in &mut cars {
                transform.translation += moving.velocity * time.delta_secs();
            }
        });
        let moving = Moving { velocity: Vec3::X * 20.0, ..Moving::default() };
        bed.server.world_mut().spawn((Transform::default(), moving, DeadReckoned::within(0.1), Replicated));
        bed.run(10.0);
        let spent = bed.server.world_mut().resource_mut::<Session>().hub(|hub, _| hub.sender().ledger().spent());
        spent.unwrap().vectors
    };
    let (in_steps, smooth) = (vectors(false), vectors(true));
    assert!(smooth <= 11 && in_steps > 5 * smooth, "{in_steps} and {smooth}, of which 10 are heartbeats");
}

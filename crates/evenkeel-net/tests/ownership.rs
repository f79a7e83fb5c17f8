//! Who owns what and who sees what, without sockets.

#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use evenkeel::{EntityId, GlobalTime, HostId, PlaceError, Pose, Relevance, Threshold, Vec3};
use evenkeel_net::hub::{EntityError, HubConfig, HubEvent, Open};
use evenkeel_net::part::Part;
use evenkeel_net::protocol::{Model, SERVER, ToServer, encode, maker_of};
use evenkeel_net::seat::{SeatConfig, SeatError, SeatEvent};

/// Along a line at 10 m/s; each entity on one of its own.
fn pose(entity: EntityId, t: GlobalTime) -> Pose {
    let y = f64::from(entity.0 % 65_536) + 100.0 * f64::from(maker_of(entity).0);
    Pose::at(Vec3::new((t.as_nanos() % 100_000_000_000) as f64 / 1e8, y, 0.0)).moving(Vec3::new(10.0, 0.0, 0.0))
}

fn game(config: HubConfig) -> World {
    let mut world = World::new(config);
    for (name, delay) in [("Ada", 20), ("Ben", 60), ("Cy", 100)] {
        world.join(SeatConfig::named(name), delay);
    }
    world.run(1_500, |_| {});
    world
}

fn make(world: &mut World, guest: usize) -> EntityId {
    let local = world.local(guest);
    world.guests[guest].seat.make(Threshold::within(0.1), vec![7], local).unwrap()
}

/// Everybody moves what it owns.
fn play(world: &mut World, millis: i64) {
    world.run(millis, |world| {
        for guest in 0..world.guests.len() {
            let local = world.local(guest);
            let Some(time) = world.guests[guest].seat.now(local) else { continue };
            let owned: Vec<EntityId> = world.guests[guest].seat.owned().collect();
            for entity in owned {
                world.guests[guest].seat.observe(entity, pose(entity, time), local).unwrap();
            }
        }
        let (now, time) = (world.now, world.hub.now(world.now));
        let own: Vec<EntityId> = world.hub.entities().filter(|e| e.owner == SERVER).map(|e| e.entity).collect();
        for entity in own {
            world.hub.observe(entity, pose(entity, time), now).unwrap();
        }
    });
}

fn off(world: &mut World, viewer: usize, entity: EntityId) -> Result<f64, PlaceError> {
    let (truth, local) = (world.hub.now(world.now), world.local(viewer));
    let seen = world.guests[viewer].seat.place(entity, local)?;
    Ok(seen.position.distance(pose(entity, truth).position()))
}

fn assert_seen(world: &mut World, viewer: usize, entity: EntityId) {
    let off = off(world, viewer, entity).unwrap();
    assert!(off < 0.15, "guest {viewer} sees {entity} {off} m off");
}

#[test]
fn what_is_given_goes_on_and_obeys_its_new_owner_alone() {
    let mut world = game(HubConfig::default());
    let ball = make(&mut world, 0);
    play(&mut world, 1_000);
    let local = world.local(0);
    assert_eq!(world.guests[0].seat.owner(ball), Some(HostId(1)));
    world.guests[0].seat.give(ball, HostId(2), local).unwrap();
    assert_eq!(world.guests[0].seat.owner(ball), Some(HostId(2)), "before the server has said so");
    assert!(world.guests[0].seat.observe(ball, pose(ball, GlobalTime::ZERO), local).is_err(), "not ours any more");
    play(&mut world, 300);
    // Until the new owner speaks it goes on as it was.
    for viewer in [0, 2] {
        assert_seen(&mut world, viewer, ball);
    }
    let given =
        world.guests[1].events.iter().any(|e| matches!(e, SeatEvent::Given(g) if g.entity == ball && g.epoch == 1));
    assert!(given && world.hub_events.contains(&HubEvent::Owned { entity: ball, owner: HostId(2) }));
    let local = world.local(1);
    assert_eq!(world.guests[2].seat.adopt(ball, Threshold::within(0.1), local), Err(SeatError::NotGiven(ball)));
    world.guests[1].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    play(&mut world, 2_000);
    for viewer in [0, 2] {
        assert_seen(&mut world, viewer, ball);
    }
    assert_eq!(off(&mut world, 1, ball), Err(PlaceError::Unknown(ball)), "nobody is told about what it owns");
    assert_eq!(world.guests[1].seat.owned().collect::<Vec<_>>(), [ball]);
    // And back again: epochs go on.
    let local = world.local(1);
    world.guests[1].seat.give(ball, HostId(1), local).unwrap();
    play(&mut world, 300);
    let local = world.local(0);
    world.guests[0].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    play(&mut world, 2_000);
    for viewer in [1, 2] {
        assert_seen(&mut world, viewer, ball);
    }
}

#[test]
fn whoever_gave_it_away_sees_where_it_goes() {
    for model in [Model::ClientServer, Model::Hybrid] {
        let mut world = game(HubConfig { model, ..HubConfig::default() });
        let ball = make(&mut world, 0);
        let at = |x| Pose::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::ZERO);
        let seen = |world: &mut World, viewer: usize| {
            let local = world.local(viewer);
            world.guests[viewer].seat.place(ball, local).unwrap().position.x
        };
        play(&mut world, 500);
        give(&mut world, 0, ball, 2);
        world.run(500, |_| {});
        let local = world.local(1);
        world.guests[1].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
        world.run(500, |world| {
            let local = world.local(1);
            world.guests[1].seat.observe(ball, at(5_000.0), local).unwrap();
        });
        for viewer in [0, 2] {
            assert!((seen(&mut world, viewer) - 5_000.0).abs() < 0.1, "{model:?}: guest {viewer}");
        }
        give(&mut world, 1, ball, SERVER.0);
        world.run(500, |_| {});
        world.run(500, |world| {
            let now = world.now;
            world.hub.observe(ball, at(-5_000.0), now).unwrap();
        });
        for viewer in 0..3 {
            assert!((seen(&mut world, viewer) + 5_000.0).abs() < 0.1, "{model:?}: guest {viewer}");
        }
    }
}

#[test]
fn what_cannot_be_given_comes_back_and_nobody_gives_what_is_not_theirs() {
    let mut world = game(HubConfig::default());
    let ball = make(&mut world, 0);
    play(&mut world, 500);
    let local = world.local(0);
    world.guests[0].seat.give(ball, HostId(77), local).unwrap();
    play(&mut world, 200);
    let local = world.local(0);
    world.guests[0].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    play(&mut world, 1_500);
    assert_seen(&mut world, 1, ball);
    let theft = encode(&ToServer::Give { entity: ball, to: HostId(2) }).unwrap();
    let thief = world.guests[1].connection;
    world.hub.handle_message(thief, &theft, world.now);
    play(&mut world, 500);
    assert_eq!(world.hub.entities().next().unwrap().owner, HostId(1));
    assert_seen(&mut world, 2, ball);
}

#[test]
fn the_server_tells_of_its_things_in_any_order() {
    let mut world = game(HubConfig::default());
    let now = world.now;
    let made: Vec<EntityId> = (0..4).map(|_| world.hub.make(Threshold::within(0.1), vec![], now).unwrap()).collect();
    world.hub.unmake(made[2], now).unwrap();
    for order in [[0, 1, 3], [3, 1, 0], [1, 0, 3]] {
        world.run(500, |world| {
            let (now, time) = (world.now, world.hub.now(world.now));
            for entity in order.map(|i| made[i]) {
                world.hub.observe(entity, pose(entity, time), now).unwrap();
            }
            // The next after the second, were it still there.
            assert_eq!(world.hub.observe(made[1], pose(made[1], time), now), Ok(()));
            assert_eq!(world.hub.observe(made[2], pose(made[2], time), now), Err(EntityError::Unknown(made[2])));
        });
        order.iter().for_each(|i| assert_seen(&mut world, 1, made[*i]));
    }
}

#[test]
fn the_server_moves_things_too_and_takes_and_gives() {
    let mut world = game(HubConfig::default());
    let now = world.now;
    let ball = world.hub.make(Threshold::within(0.1), vec![1], now).unwrap();
    play(&mut world, 1_500);
    (0..3).for_each(|viewer| assert_seen(&mut world, viewer, ball));
    let now = world.now;
    assert_eq!(world.hub.assign(ball, HostId(9), now), Err(EntityError::NoPlayer(HostId(9))));
    world.hub.assign(ball, HostId(3), now).unwrap();
    let stray = pose(ball, GlobalTime::ZERO);
    assert_eq!(world.hub.observe(ball, stray, now), Err(EntityError::NotOurs(ball)));
    play(&mut world, 200);
    let local = world.local(2);
    world.guests[2].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    play(&mut world, 1_500);
    (0..2).for_each(|viewer| assert_seen(&mut world, viewer, ball));
    // The server takes it back from a player who goes on as if nothing had happened.
    let now = world.now;
    world.hub.assign(ball, SERVER, now).unwrap();
    play(&mut world, 1_500);
    (0..3).for_each(|viewer| assert_seen(&mut world, viewer, ball));
    assert_eq!(world.guests[2].seat.owned().count(), 0);
    let now = world.now;
    world.hub.unmake(ball, now).unwrap();
    play(&mut world, 500);
    assert_eq!(off(&mut world, 0, ball), Err(PlaceError::Unknown(ball)));
    let now = world.now;
    assert_eq!(world.hub.unmake(ball, now), Err(EntityError::Unknown(ball)));
}

#[test]
fn what_a_player_leaves_behind_goes_to_its_heir() {
    let heir: evenkeel_net::hub::Heir = Box::new(|entity| entity.about.is_empty().then_some(SERVER));
    let mut world = game(HubConfig { heir: Some(heir), ..HubConfig::default() });
    let local = world.local(1);
    let (kept, lost) = {
        let seat = &mut world.guests[1].seat;
        let kept = seat.make(Threshold::within(0.1), Vec::new(), local).unwrap();
        (kept, seat.make(Threshold::within(0.1), vec![1], local).unwrap())
    };
    play(&mut world, 1_000);
    world.guests[1].seat.leave().unwrap();
    play(&mut world, 2_000);
    assert_seen(&mut world, 0, kept);
    assert_eq!(off(&mut world, 0, lost), Err(PlaceError::Unknown(lost)));
    assert_eq!(world.hub.entities().map(|e| (e.entity, e.owner)).collect::<Vec<_>>(), [(kept, SERVER)]);
}

#[test]
fn nobody_hears_of_what_it_may_not_see() {
    // Whatever is within 150 m of one's own entity may be seen; what is nearer than 50 m matters twice.
    let scope: evenkeel_net::hub::Scope = Box::new(|sight| {
        let (Some(there), Some(here)) = (sight.state, sight.viewpoint) else { return Relevance::OutOfScope };
        match there.position.distance(here.position) {
            near if near < 50.0 => Relevance::Weight(2.0),
            far if far < 150.0 => Relevance::USUAL,
            _ => Relevance::OutOfScope,
        }
    });
    let mut world = game(HubConfig { scope: Some(scope), ..HubConfig::default() });
    let tanks: Vec<EntityId> = (0..3).map(|guest| make(&mut world, guest)).collect();
    play(&mut world, 2_000);
    // They drive 100 m from each other.
    assert_seen(&mut world, 0, tanks[1]);
    assert_seen(&mut world, 1, tanks[2]);
    assert_eq!(off(&mut world, 0, tanks[2]), Err(PlaceError::Unknown(tanks[2])));
    let heard = |e: &SeatEvent| matches!(e, SeatEvent::Made(made) if made.entity == tanks[2]);
    assert!(!world.guests[0].events.iter().any(heard), "not a word");
    // One that comes late hears of nothing either while it has no place of its own.
    let late = world.join(SeatConfig::named("Dee"), 10);
    play(&mut world, 1_000);
    assert!(!world.guests[late].events.iter().any(|e| matches!(e, SeatEvent::Made(_))));
}

#[test]
fn the_server_hides_and_shows() {
    let mut world = game(HubConfig::default());
    let tank = make(&mut world, 0);
    play(&mut world, 1_000);
    let now = world.now;
    world.hub.set_relevance(tank, HostId(2), Relevance::OutOfScope, now).unwrap();
    play(&mut world, 500);
    assert_eq!(off(&mut world, 1, tank), Err(PlaceError::Unknown(tank)));
    assert!(world.guests[1].events.contains(&SeatEvent::Gone { entity: tank }));
    assert_seen(&mut world, 2, tank);
    let now = world.now;
    world.hub.set_relevance(tank, HostId(2), Relevance::USUAL, now).unwrap();
    play(&mut world, 500);
    assert_seen(&mut world, 1, tank);
    let now = world.now;
    assert!(world.hub.set_relevance(EntityId(1), HostId(2), Relevance::USUAL, now).is_err());
    assert!(world.hub.set_relevance(tank, HostId(50), Relevance::USUAL, now).is_err());
}

#[test]
fn what_is_usually_hidden_is_not_heard_of_by_who_comes_later() {
    let mut world = game(HubConfig::default());
    let treasure = world.hub.make(Threshold::within(0.1), vec![8], world.now).unwrap();
    let finder = [(HostId(2), Relevance::Weight(2.0))].into();
    world.hub.set_relevances(treasure, Relevance::OutOfScope, &finder, world.now).unwrap();
    let late = world.join(SeatConfig::named("Dee"), 10);
    play(&mut world, 2_000);
    assert_seen(&mut world, 1, treasure);
    for other in [0, 2, late] {
        assert_eq!(off(&mut world, other, treasure), Err(PlaceError::Unknown(treasure)));
    }
    let heard = |e: &SeatEvent| matches!(e, SeatEvent::Made(made) if made.entity == treasure);
    assert!(!world.guests[late].events.iter().any(heard), "not a word");
    // Whoever owns it knows of it, and is told when it goes.
    world.hub.assign(treasure, HostId(1), world.now).unwrap();
    play(&mut world, 500);
    let local = world.local(0);
    world.guests[0].seat.adopt(treasure, Threshold::within(0.1), local).unwrap();
    play(&mut world, 500);
    assert_seen(&mut world, 1, treasure);
    world.hub.unmake(treasure, world.now).unwrap();
    play(&mut world, 500);
    // Those who were there when it was made were told when it was hidden, too.
    for (guest, told) in [(0, 2), (1, 1), (2, 1), (late, 0)] {
        let gone = world.guests[guest].events.iter().filter(|e| **e == SeatEvent::Gone { entity: treasure });
        assert_eq!(gone.count(), told, "guest {guest}");
    }
    assert!(world.hub.set_relevances(treasure, Relevance::USUAL, &[].into(), world.now).is_err());
}

#[test]
fn a_scope_overrules_what_is_said_of_everybody_and_at_once() {
    let scope: evenkeel_net::hub::Scope = Box::new(|_| Relevance::OutOfScope);
    let mut world = game(HubConfig { scope: Some(scope), ..HubConfig::default() });
    let secret = world.hub.make(Threshold::within(0.1), vec![9], world.now).unwrap();
    world.hub.set_relevances(secret, Relevance::USUAL, &[].into(), world.now).unwrap();
    play(&mut world, 1_000);
    let heard = |e: &SeatEvent| matches!(e, SeatEvent::Made(made) if made.entity == secret);
    assert!(world.guests.iter().all(|guest| !guest.events.iter().any(heard)), "not a word");
}

#[test]
fn what_was_said_of_a_player_outlasts_its_owning_it() {
    let mut world = game(HubConfig::default());
    let map = world.hub.make(Threshold::within(0.1), vec![3], world.now).unwrap();
    let seen = [(HostId(1), Relevance::USUAL), (HostId(2), Relevance::USUAL)].into();
    world.hub.set_relevances(map, Relevance::OutOfScope, &seen, world.now).unwrap();
    for (guest, host) in [(0, HostId(1)), (1, HostId(2))] {
        world.hub.assign(map, host, world.now).unwrap();
        play(&mut world, 500);
        let local = world.local(guest);
        world.guests[guest].seat.adopt(map, Threshold::within(0.1), local).unwrap();
        // To take what is one's own already changes nothing.
        Part::Seat(&mut world.guests[guest].seat).adopt(map, Threshold::within(0.1), local).unwrap();
        play(&mut world, 500);
    }
    assert_seen(&mut world, 0, map);
    assert_eq!(off(&mut world, 2, map), Err(PlaceError::Unknown(map)));
}

#[test]
fn what_is_said_of_everybody_is_said_anew() {
    let mut world = game(HubConfig::default());
    let tank = make(&mut world, 0);
    play(&mut world, 1_000);
    let hidden = [(HostId(2), Relevance::OutOfScope)].into();
    world.hub.set_relevances(tank, Relevance::Weight(3.0), &hidden, world.now).unwrap();
    play(&mut world, 500);
    assert_eq!(off(&mut world, 1, tank), Err(PlaceError::Unknown(tank)));
    let nothing = Relevance::Weight(f32::NAN);
    assert!(world.hub.set_relevance(tank, HostId(3), nothing, world.now).is_err());
    assert!(world.hub.set_relevances(tank, nothing, &hidden, world.now).is_err());
    assert!(world.hub.set_relevances(tank, Relevance::USUAL, &[(HostId(3), nothing)].into(), world.now).is_err());
    let ledger = world.hub.sender().ledger();
    let pair = ledger.pair(ledger.entity(tank).unwrap(), ledger.receiver(HostId(3)).unwrap());
    assert_eq!(pair.relevance(), Relevance::Weight(3.0));
    world.hub.set_relevances(tank, Relevance::USUAL, &[].into(), world.now).unwrap();
    play(&mut world, 500);
    assert_seen(&mut world, 1, tank);
    assert_seen(&mut world, 2, tank);
}

#[test]
fn whoever_comes_back_still_owns_what_it_was_given() {
    let mut world = game(HubConfig::default());
    let ball = make(&mut world, 0);
    play(&mut world, 500);
    let local = world.local(0);
    world.guests[0].seat.give(ball, HostId(2), local).unwrap();
    play(&mut world, 300);
    let local = world.local(1);
    world.guests[1].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    play(&mut world, 500);
    world.guests[1].linked = false;
    let lost = world.guests[1].connection;
    world.hub.handle_disconnected(lost, world.now);
    play(&mut world, 1_000);
    world.reconnect(1);
    play(&mut world, 2_000);
    assert!(world.guests[1].closed.is_none(), "{:?}", world.guests[1].closed);
    for viewer in [0, 2] {
        assert_seen(&mut world, viewer, ball);
    }
}

/// What happened while nobody was listening is made good when a player comes back.
#[test]
fn whoever_comes_back_learns_what_went_and_came_meanwhile() {
    let mut world = game(HubConfig::default());
    let (tank, ball) = (make(&mut world, 0), make(&mut world, 2));
    play(&mut world, 500);
    let local = world.local(2);
    world.guests[2].seat.give(ball, HostId(2), local).unwrap();
    play(&mut world, 300);
    let local = world.local(1);
    world.guests[1].seat.adopt(ball, Threshold::within(0.1), local).unwrap();
    let now = world.now;
    let gift = world.hub.make(Threshold::within(0.1), Vec::new(), now).unwrap();
    play(&mut world, 500);
    world.guests[1].linked = false;
    let lost = world.guests[1].connection;
    world.hub.handle_disconnected(lost, world.now);
    let local = world.local(1);
    world.guests[1].seat.handle_lost("a test", local);
    assert_eq!(world.guests[1].seat.give(ball, HostId(1), local), Err(SeatError::Lost), "nobody would hear of it");
    // Meanwhile the first tank and the third player go, and the server takes the ball away.
    let local = world.local(0);
    world.guests[0].seat.unmake(tank, local).unwrap();
    world.guests[2].seat.leave().unwrap();
    play(&mut world, 200);
    let now = world.now;
    world.hub.assign(ball, SERVER, now).unwrap();
    world.reconnect(1);
    play(&mut world, 1_500);
    assert!(world.guests[1].closed.is_none(), "{:?}", world.guests[1].closed);
    let events = &world.guests[1].events;
    assert!(events.contains(&SeatEvent::Gone { entity: tank }), "{events:?}");
    assert!(events.iter().any(|e| matches!(e, SeatEvent::Left { host: HostId(3), .. })));
    assert_eq!(world.guests[1].seat.owned().count(), 0);
    assert_seen(&mut world, 1, ball);
    assert_seen(&mut world, 1, gift);
    assert_eq!(off(&mut world, 1, tank), Err(PlaceError::Unknown(tank)));
}

/// A player is told of everything, however much that is; what would not fit into a message is refused when it is made.
#[test]
fn a_crowd_is_told_of_in_parts() {
    let mut world = game(HubConfig::default());
    let now = world.now;
    for _ in 0..300 {
        world.hub.make(Threshold::within(0.1), vec![7; 1_000], now).unwrap();
    }
    assert_eq!(world.hub.make(Threshold::within(0.1), vec![7; 2_000], now), Err(EntityError::AboutTooLong));
    let local = world.local(0);
    assert!(world.guests[0].seat.make(Threshold::within(0.1), vec![7; 2_000], local).is_err());
    let late = world.join(SeatConfig::named("Dee"), 10);
    world.run(1_000, |_| {});
    assert_eq!(world.guests[late].events.iter().filter(|e| matches!(e, SeatEvent::Made(_))).count(), 300);
}

/// What the server takes from a player is not the player's any more.
#[test]
fn what_the_server_unmakes_is_gone_for_its_owner_too() {
    let mut world = game(HubConfig::default());
    let tank = make(&mut world, 0);
    play(&mut world, 500);
    let now = world.now;
    world.hub.unmake(tank, now).unwrap();
    play(&mut world, 200);
    assert_eq!(world.guests[0].seat.owned().count(), 0);
    assert!(world.guests[0].events.contains(&SeatEvent::Gone { entity: tank }));
}

fn give(world: &mut World, guest: usize, entity: EntityId, to: u32) {
    let local = world.local(guest);
    world.guests[guest].seat.give(entity, HostId(to), local).unwrap();
}

/// Who owns what, as the hub has it.
fn owners(world: &World) -> Vec<(EntityId, u32)> {
    world.hub.entities().map(|made| (made.entity, made.owner.0)).collect()
}

/// Nobody asked for what it is given: it is not sent away for having it, nor for making what it may make besides.
#[test]
fn gifts_get_nobody_sent_away() {
    let mut world = game(HubConfig { gate: Box::new(Open { max_entities: 2 }), ..HubConfig::default() });
    let gifts = [0, 0, 2, 2].map(|guest| (guest, make(&mut world, guest)));
    play(&mut world, 300);
    for (guest, gift) in gifts {
        give(&mut world, guest, gift, 2);
    }
    play(&mut world, 300);
    // Two find room; the others come back.
    let [(_, a), (_, b), (_, c), (_, d)] = gifts;
    assert_eq!(owners(&world), [(a, 2), (b, 2), (c, 3), (d, 3)]);
    make(&mut world, 1);
    make(&mut world, 1);
    play(&mut world, 300);
    assert!(world.guests.iter().all(|guest| guest.closed.is_none()), "{:?}", world.closed);
    assert_eq!(owners(&world).iter().filter(|(_, owner)| *owner == 2).count(), 4);
    // What it makes beyond that is its own doing.
    make(&mut world, 1);
    play(&mut world, 300);
    assert!(world.guests[1].closed.as_deref().unwrap().contains("more entities"));
}

/// Something comes back to its maker while the maker, who has not heard of that, makes something else.
#[test]
fn what_is_given_back_gets_nobody_sent_away() {
    let mut world = game(HubConfig { gate: Box::new(Open { max_entities: 2 }), ..HubConfig::default() });
    let ball = make(&mut world, 0);
    play(&mut world, 300);
    give(&mut world, 0, ball, 2);
    let tank = make(&mut world, 0);
    play(&mut world, 300);
    give(&mut world, 1, ball, 1);
    // That takes 60 ms to the hub, and another 20 to Ada.
    play(&mut world, 55);
    let late = make(&mut world, 0);
    play(&mut world, 500);
    assert!(world.guests[0].closed.is_none(), "{:?}", world.guests[0].closed);
    assert_eq!(owners(&world), [(ball, 1), (tank, 1)], "the limit holds");
    assert!(world.guests[0].events.contains(&SeatEvent::Gone { entity: late }), "and she is told");
    assert_eq!(world.guests[0].seat.owned().collect::<Vec<_>>(), [tank]);
    assert_seen(&mut world, 2, tank);
    assert_eq!(world.hub.counts().unusable, 0);
}

//! Two players and a hub.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Call, Seen, World, distance, ms};
use evenkeel::LagChange;
use evenkeel_games::words::{GameKind, Hit, Rules, Score, Word, craft_of};
use evenkeel_net::hub::{HubConfig, HubEvent};
use evenkeel_net::protocol::APPLICATION;
use evenkeel_web::Status;

fn two() -> World {
    let mut world = World::new(HubConfig::default());
    world.join("Ada", 20);
    world.join("Bob", 60);
    world.run(3_000, |_| {});
    for guest in &world.guests {
        assert_eq!(guest.machine.player().status().0, Status::Joined);
    }
    world
}

fn drive(world: &mut World, guest: usize, speed: i32, turn: i32) {
    world.call(guest, |_| Call::Keys(speed, turn), &[]);
}

#[test]
fn they_see_each_other_within_the_threshold() {
    let mut world = two();
    drive(&mut world, 0, 40, 100);
    drive(&mut world, 1, 35, -100);
    let (mut worst, mut way, mut last) = (0.0f64, 0.0, None);
    world.run(500, |_| {});
    world.run(3_000, |world| {
        if world.now.as_nanos() / 1_000_000 % 16 != 0 {
            return;
        }
        let [ada, bob] = [0, 1].map(|guest| Seen(&world.guests[guest].frame));
        let (of_bob, of_ada) = (ada.others(), bob.others());
        assert_eq!((of_bob.len(), of_ada.len()), (1, 1));
        worst = worst.max(distance(&ada.own(), &of_ada[0][1..])).max(distance(&bob.own(), &of_bob[0][1..]));
        way += last.map_or(0.0, |last: [f64; 3]| distance(&last, &ada.own()));
        last = Some(ada.own());
        assert_eq!(of_ada[0][5], 0.0, "not frozen");
    });
    assert!(way > 25.0, "it moved {way} m");
    // In the open, with nobody changing its mind: the threshold, and next to nothing from clocks and wire.
    assert!(worst < 0.5, "{worst} m off");
    let names: Vec<_> = world.guests[0].machine.player().names().map(|(_, name)| name).collect();
    assert_eq!(names, ["Ada", "Bob"]);
    let about: Vec<_> = world.hub.entities().map(|entity| craft_of(&entity.about)).collect();
    assert_eq!(about, [Some(GameKind::Tanks); 2]);
}

#[test]
fn shots_are_seen_by_all_and_told_to_the_referee_who_alone_decides() {
    let mut world = two();
    let [ada, bob] = [world.you(0), world.you(1)];
    assert_eq!(world.call(0, Call::Fire, &[]).0, 1);
    world.run(200, |_| {});
    let [mine, theirs] = [0, 1].map(|guest| Seen(&world.guests[guest].frame).shots());
    assert_eq!((mine.len(), theirs.len(), theirs[0][2]), (1, 1, f64::from(ada.0)));
    assert!(distance(&mine[0], &theirs[0]) < 1.0, "{mine:?} {theirs:?}");
    let heard = world.events.iter().find_map(|event| match event {
        HubEvent::Message { from, bytes, .. } => Some((*from, Word::parse(bytes)?)),
        _ => None,
    });
    assert!(matches!(heard, Some((from, Word::Shot(shot))) if from == ada && shot.number == 1), "{heard:?}");

    // A player is not the referee.
    let hit = Word::Hit(Hit { shooter: ada, target: bob, shot: 1 });
    let scores = Word::Scores(vec![Score { host: bob, hits: 99, deaths: 0 }]);
    let rules = Word::Rules(Rules { game: GameKind::Ships, ..Rules::default() });
    for (number, word) in (1_000u32..).zip([&hit, &scores, &rules]) {
        // As the server passes on what Ada says, surely and in no order, with a number that it has not come to yet.
        let passed_on = [&[APPLICATION, 1][..], &number.to_le_bytes(), &[ada.0 as u8 + 1], &word.emit()].concat();
        assert_eq!(world.call(1, |now| Call::Handle(2, now), &passed_on).0, 0);
    }
    world.run(100, |_| {});
    let frame = &world.guests[1].frame;
    assert_eq!((frame[12], frame[14], frame[16]), (1.0, 3.0, 0.0), "alive, three shots as a tank has, no hits");
    world.say(&hit);
    world.say(&Word::Scores(vec![Score { host: ada, hits: 1, deaths: 0 }, Score { host: bob, hits: 0, deaths: 1 }]));
    world.run(200, |_| {});
    let [of_ada, of_bob] = [0, 1].map(|guest| world.guests[guest].frame.clone());
    assert_eq!((of_bob[12], of_bob[17]), (0.0, 1.0), "out");
    assert_eq!((of_ada[12], of_ada[16]), (1.0, 1.0));
    assert!(Seen(&of_ada).shots().is_empty() && Seen(&of_ada).others().is_empty());
    assert_eq!(world.call(1, Call::Fire, &[]).0, 0, "who is out does not fire");
    world.run(5_500, |_| {});
    let back = Seen(&world.guests[1].frame).own();
    let seen = Seen(&world.guests[0].frame).others();
    assert_eq!(world.guests[1].frame[12], 1.0, "back");
    assert!(distance(&back, &seen[0][1..]) < 0.6, "{back:?} {seen:?}");
}

#[test]
fn rules_can_change_while_it_runs() {
    let mut world = two();
    let ships = Rules { game: GameKind::Ships, distance: 2.0, ..Rules::default() };
    world.say(&Word::Rules(ships));
    drive(&mut world, 0, 100, 100);
    world.run(1_000, |_| {});
    assert_eq!(world.call(0, Call::Fire, &[]).0, 1);
    let (_, frame) = world.call(0, Call::Frame, &[]);
    assert_eq!(common::numbers(&frame)[20], 1.0, "a beam");
    world.run(1_000, |_| {});
    let about: Vec<_> = world.hub.entities().map(|entity| craft_of(&entity.about)).collect();
    assert_eq!(about, [Some(GameKind::Ships); 2]);
    let (own, seen) = (Seen(&world.guests[0].frame).own(), Seen(&world.guests[1].frame).others());
    assert_eq!(seen.len(), 1);
    assert!(distance(&own, &seen[0][1..]) < 2.5);
    // Another threshold is no reason to begin anew.
    let entities: Vec<_> = world.hub.entities().map(|entity| entity.entity).collect();
    world.say(&Word::Rules(Rules { distance: 5.0, ..ships }));
    world.run(500, |_| {});
    assert_eq!(world.hub.entities().map(|entity| entity.entity).collect::<Vec<_>>(), entities);
}

#[test]
fn lag_shows_ones_own_craft_late_unless_nobody_could_drive_by_it() {
    for (lag, late) in [(200, true), (400, false)] {
        let mut world = two();
        let begins = world.hub.now(world.now) + ms(500);
        world.hub.set_lag(LagChange::usual(ms(0), ms(lag), begins), world.now).unwrap();
        world.run(6_000, |_| {});
        drive(&mut world, 0, 100, 0);
        let before = Seen(&world.guests[0].frame).own();
        world.run(lag - 50, |_| {});
        let frame = &world.guests[0].frame;
        assert_eq!((frame[7], frame[15] == 0.0), (lag as f64, late), "lag, at once");
        let moved = distance(&before, &Seen(frame).own());
        assert_eq!(moved < 0.1, late, "moved {moved} m");
        world.run(200, |_| {});
        assert!(distance(&before, &Seen(&world.guests[0].frame).own()) > 0.5);
    }
}

#[test]
fn who_is_lost_comes_back_to_its_craft_and_after_a_restart_makes_another() {
    let mut world = two();
    let before = world.hub.entities().len();
    world.lose(1);
    world.run(500, |_| {});
    assert_eq!(world.guests[1].machine.player().status(), (Status::Lost, "pulled"));
    world.reconnect(1);
    world.run(1_000, |_| {});
    assert_eq!((world.guests[1].machine.player().status().0, world.hub.entities().len()), (Status::Joined, before));
    let you = world.you(1);
    // Away for longer than its place is kept.
    world.lose(1);
    world.run(11_000, |_| {});
    world.reconnect(1);
    world.run(2_000, |_| {});
    assert_ne!(world.you(1), you);
    assert_eq!((world.guests[1].machine.player().status().0, world.hub.entities().len()), (Status::Joined, before));
    assert_eq!(Seen(&world.guests[0].frame).others().len(), 1);
}

#[test]
fn garbage_changes_nothing() {
    let mut world = two();
    let mut noise = 0x9e37_79b9_7f4a_7c15u64;
    let mut byte = || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 56) as u8
    };
    for round in 0..3_000usize {
        let bytes: Vec<u8> = (0..round % 97).map(|_| byte()).collect();
        // Datagrams, unordered messages, and messages: all but those that may end a session, which are the server's to say.
        let first = [0xA0, 0x00, 0x01, 0x02, 0xFF][round % 5];
        let bytes = [&[first][..], &bytes].concat();
        world.call(0, |now| Call::Handle(0, now), &bytes);
        world.call(0, |now| Call::Handle(2, now), &bytes);
        world.call(0, |now| Call::Handle(1, now), &[&[0xA0, byte() | 0x80][..], &bytes].concat());
        world.call(0, |_| Call::Keys(i32::from(byte()) * 1_000, -500), &[]);
    }
    drive(&mut world, 0, 0, 0);
    world.run(500, |_| {});
    assert_eq!(world.guests[0].machine.player().status().0, Status::Joined);
    let others = Seen(&world.guests[0].frame).others();
    assert_eq!(others.len(), 1);
    assert!(distance(&Seen(&world.guests[1].frame).own(), &others[0][1..]) < 0.6);
    // And any message whatever does no harm but to the session.
    for round in 0..3_000usize {
        let bytes: Vec<u8> = (0..round % 61).map(|_| byte()).collect();
        world.call(0, |now| Call::Handle(1, now), &[&[(round % 16) as u8][..], &bytes].concat());
        world.call(0, Call::Frame, &[]);
        world.call(0, Call::Fire, &[]);
        world.call(0, |_| Call::Texts, &[]);
    }
    let mut empty = common::Witnessed::default();
    let calls = [Call::Join(99), Call::Connected, Call::Lost(0), Call::Handle(7, 0), Call::Poll(0), Call::Timeout(0)];
    for call in calls.into_iter().chain([Call::Fire(0), Call::Step(0), Call::Frame(0), Call::Texts, Call::Leave]) {
        empty.call(call, &[1; 20]);
    }
    assert!(empty.machine.player().is_none());
}

#[test]
fn who_is_refused_is_told_why() {
    let mut world = World::new(HubConfig { session: "another".into(), ..HubConfig::default() });
    world.join("Ada", 20);
    world.run(200, |_| {});
    let (status, why) = world.guests[0].machine.player().status();
    assert_eq!((status, why), (Status::Refused, "the server has no session of that name"));
}

//! Several sessions behind one set of connections, without sockets: what must hold whatever carries them.

#![allow(clippy::unwrap_used)]

use evenkeel::{Duration, Instant};
use evenkeel_net::hub::{Connection, HubConfig, Outgoing, What};
use evenkeel_net::levels::{Level, Party};
use evenkeel_net::lobby::{AddError, Lobby, LobbyConfig, MAX_SESSIONS};
use evenkeel_net::protocol::{
    Filter, InfoError, MAX_LISTED, Model, Refusal, SessionInfo, Tags, ToPlayer, ToServer, VERSION, decode, encode,
    entity_of,
};
use evenkeel_net::seat::{Seat, SeatConfig, SeatEvent, ToSend};
use proptest::prelude::*;

const LEVELS: [Level; 4] = [Level::Ordered, Level::Unordered, Level::Unreliable, Level::Quickest];

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

fn session(name: &str) -> HubConfig {
    HubConfig { session: name.into(), ..HubConfig::default() }
}

fn lobby(sessions: impl IntoIterator<Item = HubConfig>) -> Lobby {
    let mut lobby = Lobby::new(LobbyConfig::default());
    sessions.into_iter().for_each(|session| lobby.add(session).unwrap());
    lobby
}

fn hello(session: &str, name: &str) -> ToServer {
    let (session, name) = (session.to_owned(), name.to_owned());
    ToServer::Hello { version: VERSION, session, name, token: Vec::new(), rejoin: None, peer: None }
}

fn say(lobby: &mut Lobby, from: u64, message: &ToServer, now: Instant) {
    lobby.handle_message(Connection(from), &encode(message).unwrap(), now);
}

/// Everything that is to be done, in order.
fn told(lobby: &mut Lobby, now: Instant) -> Vec<Outgoing> {
    lobby.advance(now);
    std::iter::from_fn(|| lobby.poll_transmit(now)).collect()
}

/// What one connection is told.
fn messages(all: &[Outgoing], to: u64) -> Vec<ToPlayer> {
    let read = |out: &Outgoing| match &out.what {
        What::Message(bytes) if out.to == Connection(to) => Some(decode(bytes).unwrap()),
        _ => None,
    };
    all.iter().filter_map(read).collect()
}

fn closed(all: &[Outgoing], to: u64) -> bool {
    all.iter().any(|out| out.to == Connection(to) && matches!(out.what, What::Close(_)))
}

/// Why a connection was refused, which closes it.
fn refused(all: &[Outgoing], to: u64) -> Refusal {
    assert!(closed(all, to));
    match messages(all, to).pop() {
        Some(ToPlayer::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// Asks as a guest who has just come.
fn list(lobby: &mut Lobby, from: u64, filter: Filter, now: Instant) -> (Vec<SessionInfo>, bool) {
    lobby.handle_connected(Connection(from), None, now);
    say(lobby, from, &ToServer::List(filter), now);
    match messages(&told(lobby, now), from).pop() {
        Some(ToPlayer::Sessions { sessions, more }) => (sessions, more),
        other => panic!("{other:?}"),
    }
}

fn names(lobby: &mut Lobby, from: u64, filter: Filter) -> Vec<String> {
    list(lobby, from, filter, at(0)).0.into_iter().map(|session| session.name).collect()
}

#[test]
fn players_of_one_session_never_hear_of_the_other() {
    let mut lobby = lobby(["hills", "plains"].map(session));
    for (guest, name) in [(1, "hills"), (2, "hills"), (3, "plains"), (4, "plains")] {
        lobby.handle_connected(Connection(guest), None, at(0));
        say(&mut lobby, guest, &hello(name, &format!("player {guest}")), at(0));
    }
    let all = told(&mut lobby, at(0));
    let welcomes = |to| messages(&all, to).iter().filter(|m| matches!(m, ToPlayer::Welcome(_))).count();
    assert!((1..=4).all(|guest| welcomes(guest) == 1));
    for name in ["hills", "plains"] {
        assert_eq!(lobby.hub(name).unwrap().players().count(), 2);
    }
    // Both sessions number their players and entities alike, and still nothing gets mixed up.
    let you = |guest| match &messages(&all, guest)[0] {
        ToPlayer::Welcome(welcome) => welcome.you,
        other => panic!("{other:?}"),
    };
    assert_eq!(you(1), you(3));
    let tank = entity_of(you(1), 0).unwrap();
    say(&mut lobby, 1, &ToServer::Make { entity: tank, about: b"hilly".to_vec() }, at(10));
    say(&mut lobby, 3, &ToServer::Make { entity: tank, about: b"plain".to_vec() }, at(10));
    let all = told(&mut lobby, at(10));
    for (guest, about) in [(2, &b"hilly"[..]), (4, b"plain")] {
        let heard = messages(&all, guest);
        assert!(matches!(&heard[..], [ToPlayer::Entity(made)] if made.about == about), "{heard:?}");
    }
    assert!(messages(&all, 1).is_empty() && messages(&all, 3).is_empty());
    // When one session goes, those in it are told, and the others do not notice.
    assert!(lobby.remove("hills", "it is dark", at(20)) && !lobby.remove("hills", "again", at(20)));
    let all = told(&mut lobby, at(20));
    assert!([1, 2].iter().all(|guest| closed(&all, *guest)));
    assert!(messages(&all, 1).contains(&ToPlayer::Ending { why: "it is dark".into() }));
    assert!(all.iter().all(|out| out.to.0 < 3));
    // And whoever was in it is nobody, even in another session of that name.
    lobby.add(session("hills")).unwrap();
    say(&mut lobby, 1, &hello("hills", "again"), at(30));
    assert!(messages(&told(&mut lobby, at(30)), 1).is_empty());
    assert_eq!(lobby.hub("plains").unwrap().players().count(), 2);
}

#[test]
fn seats_play_through_a_lobby_as_through_a_hub() {
    let mut lobby = lobby(["hills", "plains"].map(session));
    let mut seats: Vec<Seat> = ["hills", "plains", "plains"]
        .map(|name| Seat::new(SeatConfig { session: name.into(), ..SeatConfig::named("Ada") }).unwrap())
        .into();
    (0..3).for_each(|guest| lobby.handle_connected(Connection(guest), None, at(0)));
    let (mut events, mut on_its_way) = (vec![Vec::new(); 3], Vec::new());
    for now in (0..3_000).step_by(5).map(at) {
        for (guest, seat) in (0..).zip(&mut seats) {
            if now == at(2_000) {
                for level in LEVELS {
                    seat.send(Party::Everybody, level, vec![guest as u8], now).unwrap();
                }
            }
            while let Some(out) = seat.poll_transmit(now) {
                match out {
                    ToSend::Message(bytes) => lobby.handle_message(Connection(guest), &bytes, now),
                    ToSend::Unordered(bytes) => lobby.handle_unordered(Connection(guest), &bytes, now),
                    ToSend::Datagram(bytes) => lobby.handle_datagram(Connection(guest), &bytes, now),
                    ToSend::ToPeer(..) => unreachable!("there are no peers"),
                }
            }
        }
        // What is sent arrives in the next step.
        for Outgoing { to, what } in std::mem::replace(&mut on_its_way, told(&mut lobby, now)) {
            let seat = &mut seats[to.0 as usize];
            match what {
                What::Message(bytes) => seat.handle_message(&bytes, now).unwrap(),
                What::Unordered(bytes) => seat.handle_unordered(&bytes).unwrap(),
                What::Datagram(bytes) => seat.handle_datagram(&bytes, now),
                What::Close(why) => panic!("{to:?}: {why}"),
            }
        }
        for (seat, events) in seats.iter_mut().zip(&mut events) {
            events.extend(std::iter::from_fn(|| seat.poll_event()));
        }
    }
    assert!(seats.iter().all(Seat::is_ready), "pings get through and are answered");
    let met = |guest: usize| events[guest].iter().filter(|e| matches!(e, SeatEvent::Came(_))).count();
    assert_eq!([met(0), met(1), met(2)], [0, 1, 1]);
    // The game's messages stay where they were said, however they travel.
    let said = |event: &SeatEvent| match event {
        SeatEvent::Message { bytes, .. } => Some(bytes[0]),
        _ => None,
    };
    let heard = |guest: usize| events[guest].iter().filter_map(said).collect::<Vec<u8>>();
    assert_eq!([heard(0), heard(1), heard(2)], [vec![], vec![2; LEVELS.len()], vec![1; LEVELS.len()]]);
}

#[test]
fn whoever_asks_is_told_which_sessions_there_are() {
    let tags = |map: &str| Tags::from([("map".to_owned(), map.to_owned()), ("mode".to_owned(), "duel".to_owned())]);
    let mut lobby = lobby([
        HubConfig { tags: tags("hills"), max_players: 1, token_needed: true, ..session("Red") },
        HubConfig { tags: tags("plains"), model: Model::Hybrid, ..session("Blue") },
        HubConfig { max_players: 0, ..session("Blueish") },
    ]);
    let (all, more) = list(&mut lobby, 1, Filter::default(), at(0));
    assert!(!more);
    assert_eq!(all.iter().map(|s| &s.name[..]).collect::<Vec<_>>(), ["Blue", "Blueish", "Red"]);
    let red = SessionInfo { name: "Red".into(), max_players: 1, token: true, tags: tags("hills"), ..all[2].clone() };
    assert_eq!((&all[2], all[2].players), (&red, 0));
    // It may ask again, by anything, and still join.
    let by_name = Filter { name: "blue".into(), ..Filter::default() };
    assert_eq!(names(&mut lobby, 2, by_name.clone()), ["Blue", "Blueish"]);
    let by_tag = Filter { tags: [("map".into(), "hills".into())].into(), ..Filter::default() };
    assert_eq!(names(&mut lobby, 3, by_tag), ["Red"]);
    let by_model = Filter { model: Some(Model::Hybrid), ..Filter::default() };
    assert_eq!(names(&mut lobby, 4, by_model), ["Blue"]);
    let by_room = Filter { with_room: true, ..Filter::default() };
    assert_eq!(names(&mut lobby, 5, by_room.clone()), ["Blue", "Red"]);
    say(&mut lobby, 1, &ToServer::List(by_name), at(0));
    say(&mut lobby, 1, &hello("Red", "Ada"), at(0));
    assert!(matches!(
        &messages(&told(&mut lobby, at(0)), 1)[..],
        [ToPlayer::Sessions { .. }, ToPlayer::Welcome(_), ToPlayer::Present { last: true, .. }]
    ));
    // Who came and what the game says is in the next list.
    lobby.hub_mut("Blue").unwrap().drain("it is late");
    lobby.hub_mut("Red").unwrap().set_tags(Tags::new()).unwrap();
    let (all, _) = list(&mut lobby, 6, Filter::default(), at(0));
    assert!(all[0].draining && all[2].players == 1 && all[2].tags.is_empty());
    assert!(names(&mut lobby, 7, by_room).is_empty());
}

#[test]
fn a_long_list_comes_in_parts() {
    let wordy: Tags = (0..16).map(|n| (n.to_string(), "x".repeat(256))).collect();
    for tags in [Tags::new(), wordy] {
        let config = |n| HubConfig { tags: tags.clone(), ..session(&format!("{n:03}")) };
        let mut lobby = lobby((0..150).map(config));
        let (mut seen, mut filter, mut asked) = (Vec::new(), Filter::default(), 0);
        loop {
            let (sessions, more) = list(&mut lobby, asked, filter.clone(), at(0));
            asked += 1;
            assert!(sessions.len() <= MAX_LISTED && !sessions.is_empty());
            seen.extend(sessions.into_iter().map(|session| session.name));
            filter.after = seen.last().cloned();
            if !more {
                break;
            }
        }
        assert_eq!(seen, (0..150).map(|n| format!("{n:03}")).collect::<Vec<_>>());
        assert!(asked > 2);
    }
}

#[test]
fn whoever_is_not_wanted_is_told_so() {
    let mut lobby = lobby([session("hills")]);
    (1..=5).for_each(|guest| lobby.handle_connected(Connection(guest), None, at(0)));
    say(&mut lobby, 1, &hello("valleys", "Ada"), at(0));
    let old = match hello("hills", "Ada") {
        ToServer::Hello { session, name, token, rejoin, peer, .. } => {
            ToServer::Hello { version: 0, session, name, token, rejoin, peer }
        }
        other => other,
    };
    say(&mut lobby, 2, &old, at(0));
    say(&mut lobby, 3, &hello("hills", ""), at(0));
    say(&mut lobby, 4, &ToServer::Bye, at(0));
    say(&mut lobby, 5, &ToServer::List(Filter { name: "x".repeat(65), ..Filter::default() }), at(0));
    let all = told(&mut lobby, at(0));
    assert_eq!(refused(&all, 1), Refusal::NoSuchSession);
    assert_eq!(refused(&all, 2), Refusal::Version { ours: VERSION });
    assert_eq!(refused(&all, 3), Refusal::Name);
    assert!(matches!(refused(&all, 4), Refusal::Expelled(_)));
    assert!(matches!(refused(&all, 5), Refusal::Expelled(_)));
    assert_eq!(lobby.guests(), 0);
    // What they say after that is nobody's.
    say(&mut lobby, 1, &hello("hills", "Ada"), at(0));
    assert!(told(&mut lobby, at(0)).is_empty());
    // Whoever has joined has no business with lists.
    lobby.handle_connected(Connection(6), None, at(0));
    say(&mut lobby, 6, &hello("hills", "Ada"), at(0));
    say(&mut lobby, 6, &ToServer::List(Filter::default()), at(0));
    assert!(matches!(refused(&told(&mut lobby, at(0)), 6), Refusal::Expelled(_)));
}

#[test]
fn guests_are_bounded_in_number_in_time_and_in_what_they_ask() {
    let config = LobbyConfig { max_guests: 2, ..LobbyConfig::default() };
    let mut lobby = Lobby::new(config);
    lobby.add(session("hills")).unwrap();
    (1..=3).for_each(|guest| lobby.handle_connected(Connection(guest), None, at(0)));
    assert_eq!(refused(&told(&mut lobby, at(0)), 3), Refusal::Full);
    // One is silent; the other asks often enough, but cannot stay for ever.
    let mut gone = [None; 3];
    for now in (0..70_000).step_by(1_000) {
        if now % 2_000 == 0 {
            say(&mut lobby, 2, &ToServer::List(Filter::default()), at(now));
        }
        let all = told(&mut lobby, at(now));
        for guest in [1, 2] {
            gone[guest as usize] = gone[guest as usize].or(closed(&all, guest).then_some(now));
        }
    }
    assert_eq!(gone, [None, Some(5_000), Some(60_000)]);
    assert_eq!(lobby.guests(), 0);
    // And a list now and then is enough.
    lobby.handle_connected(Connection(4), None, at(80_000));
    (0..20).for_each(|_| say(&mut lobby, 4, &ToServer::List(Filter::default()), at(80_000)));
    let all = told(&mut lobby, at(80_000));
    assert!(matches!(refused(&all, 4), Refusal::Expelled(_)));
    assert_eq!(messages(&all, 4).iter().filter(|m| matches!(m, ToPlayer::Sessions { .. })).count(), 8);
    // A server's sessions say how patient it is.
    let patient = HubConfig { max_guests: 7, hello_within: Duration::from_secs(90), ..session("hills") };
    let patient = LobbyConfig::of(&[HubConfig { max_guests: 3, ..session("plains") }, patient]);
    assert_eq!((patient.max_guests, patient.speak_within), (7, Duration::from_secs(90)));
    assert!(patient.join_within >= patient.speak_within);
    // The time of a guest is a time to wake up at.
    lobby.handle_connected(Connection(5), None, at(90_000));
    told(&mut lobby, at(90_000));
    assert!(lobby.poll_timeout().unwrap() <= at(90_500), "sessions are looked after all the same");
    lobby.handle_disconnected(Connection(5), at(90_000));
    assert_eq!(lobby.guests(), 0);
}

#[test]
fn sessions_are_bounded_and_named() {
    let mut lobby = lobby([session("hills")]);
    assert_eq!(lobby.add(session("hills")), Err(AddError::Taken("hills".into())));
    assert_eq!(lobby.add(session("")), Err(AddError::Info(InfoError::Name)));
    let tags = Tags::from([("map".to_owned(), "x".repeat(300))]);
    assert_eq!(lobby.add(HubConfig { tags: tags.clone(), ..session("x") }), Err(AddError::Info(InfoError::Tags)));
    assert_eq!(lobby.hub_mut("hills").unwrap().set_tags(tags), Err(InfoError::Tags));
    assert!(matches!(lobby.add(HubConfig { max_datagram: 3, ..session("x") }), Err(AddError::Config(_))));
    (1..MAX_SESSIONS).for_each(|n| lobby.add(session(&n.to_string())).unwrap());
    assert_eq!(lobby.add(session("one more")), Err(AddError::TooMany));
    assert_eq!(lobby.sessions().len(), MAX_SESSIONS);
}

#[test]
fn a_lobby_that_ends_closes_everything_and_lets_nobody_in() {
    let mut lobby = lobby(["hills", "plains"].map(session));
    (1..=3).for_each(|guest| lobby.handle_connected(Connection(guest), None, at(0)));
    say(&mut lobby, 1, &hello("hills", "Ada"), at(0));
    say(&mut lobby, 2, &hello("plains", "Ben"), at(0));
    told(&mut lobby, at(0));
    lobby.end("the lights go out");
    lobby.handle_connected(Connection(4), None, at(0));
    let all = told(&mut lobby, at(0));
    assert!((1..=3).all(|guest| closed(&all, guest)));
    assert_eq!(refused(&all, 4), Refusal::Ending);
}

#[test]
fn a_session_that_is_spoken_to_from_outside_sends_at_once() {
    let mut lobby = lobby(["hills", "plains"].map(session));
    lobby.handle_connected(Connection(1), None, at(0));
    say(&mut lobby, 1, &hello("plains", "Ada"), at(0));
    told(&mut lobby, at(0));
    assert_ne!(lobby.poll_timeout(), Some(Instant::MIN), "there is nothing to do");
    let (host, _) = lobby.hub("plains").unwrap().players().next().unwrap();
    lobby.hub_mut("plains").unwrap().send(host, Level::Unordered, b"psst".to_vec(), at(1)).unwrap();
    assert_eq!(lobby.poll_timeout(), Some(Instant::MIN));
    let all = told(&mut lobby, at(1));
    assert!(matches!(&all[..], [Outgoing { to: Connection(1), what: What::Unordered(_) }]), "{all:?}");
    // A player who is lost is let go of in time.
    lobby.handle_disconnected(Connection(1), at(2));
    told(&mut lobby, at(2));
    told(&mut lobby, at(2) + Duration::from_secs(11));
    assert_eq!(lobby.hub("plains").unwrap().players().count(), 0);
}

proptest! {
    #[test]
    fn any_bytes_are_survived_and_harm_nobody(
        said in prop::collection::vec((0u64..4, 0..3, prop::collection::vec(any::<u8>(), 0..60)), 0..40)
    ) {
        let mut lobby = lobby(["hills", "plains"].map(session));
        lobby.handle_connected(Connection(9), None, at(0));
        say(&mut lobby, 9, &hello("hills", "Ada"), at(0));
        for guest in 0..4 {
            lobby.handle_connected(Connection(guest), None, at(0));
        }
        say(&mut lobby, 0, &hello("plains", "Eve"), at(0));
        told(&mut lobby, at(0));
        for (from, how, bytes) in said {
            match how {
                0 => lobby.handle_datagram(Connection(from), &bytes, at(1)),
                1 => lobby.handle_unordered(Connection(from), &bytes, at(1)),
                _ => lobby.handle_message(Connection(from), &bytes, at(1)),
            }
            let all = told(&mut lobby, at(1));
            prop_assert!(all.iter().all(|out| out.to != Connection(9)));
        }
        prop_assert_eq!(lobby.hub("hills").unwrap().players().count(), 1);
    }
}

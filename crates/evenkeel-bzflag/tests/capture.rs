//! Every message of two real games is read, and emitted as it was.
//!
//! `tests/data/*.cap` is what a real server (2.4.26) and a real client with three robots said on loopback, with the game's
//! own settings (`default`) and with every frame's state in full (`dense`, five seconds of its UDP). Each record is a byte
//! for the channel (0 TCP to the server, 1 TCP from it, 2 and 3 the same of UDP), one for the connection, two for the
//! length, and the bytes.

#![allow(clippy::unwrap_used)]

use evenkeel_bzflag::message::*;
use std::collections::BTreeMap;

const TCP_FROM_SERVER: u8 = 1;

/// Channel, connection and bytes of every record.
fn records(mut capture: &[u8]) -> Vec<(u8, u8, &[u8])> {
    let mut records = Vec::new();
    while let Some((&[channel, connection, a, b], rest)) = capture.split_first_chunk() {
        let (bytes, after) = rest.split_at(u16::from_be_bytes([a, b]).into());
        records.push((channel, connection, bytes));
        capture = after;
    }
    assert!(capture.is_empty());
    records
}

/// Each direction of every TCP connection as one stream, without the hellos.
fn streams(records: &[(u8, u8, &[u8])]) -> BTreeMap<(u8, u8), Vec<u8>> {
    let mut streams = BTreeMap::<_, Vec<u8>>::new();
    for (channel, connection, bytes) in records.iter().filter(|record| record.0 <= TCP_FROM_SERVER) {
        streams.entry((*channel, *connection)).or_default().extend_from_slice(bytes);
    }
    for ((channel, connection), stream) in &mut streams {
        let taken = if *channel == TCP_FROM_SERVER {
            let (hello, taken) = ServerHello::parse(stream).unwrap().unwrap();
            assert_eq!(hello, ServerHello::Welcome { id: *connection });
            taken
        } else {
            client_hello(stream).unwrap().unwrap()
        };
        stream.drain(..taken);
    }
    streams
}

/// Reads a message and emits it again; whether its kind is known.
fn again(frame: Frame<'_>, from_server: bool, out: &mut Vec<u8>) -> Result<bool, MessageError> {
    match frame.code {
        Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL => TankUpdate::parse(frame)?.emit(out),
        Code::SHOT_BEGIN => ShotBegin::parse(frame)?.emit(out),
        Code::SHOT_END => ShotEnd::parse(frame)?.emit(out),
        Code::LAG_PING => LagPing::parse(frame)?.emit(out),
        Code::UDP_LINK_REQUEST if !from_server => UdpLinkRequest::parse(frame)?.emit(out),
        Code::SET_VAR => SetVar::parse(frame)?.emit(out),
        Code::ADD_PLAYER => AddPlayer::parse(frame)?.emit(out),
        Code::REMOVE_PLAYER => RemovePlayer::parse(frame)?.emit(out),
        Code::SCORE => Score::parse(frame)?.emit(out),
        Code::ALIVE if from_server => Alive::parse(frame)?.emit(out),
        Code::KILLED if from_server => Killed::parse(frame)?.emit(out),
        _ => {
            frame.emit(out);
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many messages were read of each kind: over TCP to and from the server, over UDP to and from it. And how many were
/// passed on as they are.
fn count(capture: &[u8]) -> (BTreeMap<String, [usize; 4]>, usize) {
    let (mut counts, mut others) = (BTreeMap::<_, [usize; 4]>::new(), 0);
    let mut check = |frame: Frame<'_>, channel: u8| {
        let (mut whole, mut out) = (Vec::new(), Vec::new());
        frame.emit(&mut whole);
        let known = again(frame, channel % 2 == 1, &mut out).unwrap_or_else(|error| panic!("{frame:?}: {error}"));
        assert_eq!(out, whole, "{frame:?}");
        if known {
            counts.entry(frame.code.to_string()).or_default()[usize::from(channel)] += 1;
        } else {
            others += 1;
        }
    };
    let records = records(capture);
    for ((channel, _), stream) in streams(&records) {
        let mut reader = FrameReader::default();
        for piece in stream.chunks(100) {
            reader.push(piece);
            while let Some(frame) = reader.next_frame().unwrap() {
                check(frame, channel);
            }
        }
        assert_eq!(reader.pending(), 0);
    }
    for (channel, _, datagram) in records.iter().filter(|record| record.0 > TCP_FROM_SERVER) {
        frames(datagram).for_each(|frame| check(frame.unwrap(), *channel));
    }
    (counts, others)
}

#[test]
fn the_games_own_settings() {
    let expected = [
        ("al", [0, 24, 0, 0]),
        ("ap", [0, 12, 0, 0]),
        ("kl", [0, 15, 0, 0]),
        ("of", [0, 0, 1, 0]),
        ("pi", [2, 0, 0, 2]),
        ("ps", [84, 410, 92, 155]),
        ("rp", [0, 7, 0, 0]),
        ("sb", [10, 46, 5, 23]),
        ("sc", [0, 15, 0, 0]),
        ("se", [4, 10, 0, 5]),
        ("sv", [0, 12, 0, 0]),
    ];
    assert_eq!(count(include_bytes!("data/default.cap")), (expected.map(named).into(), 96));
}

#[test]
fn every_frame_in_full() {
    let expected = [
        ("al", [0, 7, 0, 0]),
        ("ap", [0, 5, 0, 0]),
        ("kl", [0, 4, 0, 0]),
        ("of", [0, 0, 1, 0]),
        ("pi", [2, 0, 0, 1]),
        ("pu", [0, 0, 160, 465]),
        ("rp", [0, 1, 0, 0]),
        ("sb", [0, 0, 3, 9]),
        ("sc", [0, 4, 0, 0]),
        ("se", [0, 0, 0, 1]),
        ("sv", [0, 4, 0, 0]),
    ];
    assert_eq!(count(include_bytes!("data/dense.cap")), (expected.map(named).into(), 38));
}

fn named((code, counts): (&str, [usize; 4])) -> (String, [usize; 4]) {
    (code.into(), counts)
}

#[test]
fn players_and_variables_are_known_from_what_was_said() {
    let capture = include_bytes!("data/default.cap");
    let stream = &streams(&records(capture))[&(TCP_FROM_SERVER, 0)];
    let (mut names, mut variables) = (BTreeMap::new(), Variables::default());
    for frame in frames(stream).map(Result::unwrap) {
        match frame.code {
            Code::ADD_PLAYER => {
                let added = AddPlayer::parse(frame).unwrap();
                names.insert(added.player, added.callsign.to_string());
            }
            Code::SET_VAR => variables.set(&SetVar::parse(frame).unwrap()),
            _ => {}
        }
    }
    let names: Vec<_> = names.values().map(String::as_str).collect();
    assert_eq!(names, ["tester", "tester00", "tester01", "tester02", "watcher"]);
    for (name, number) in [("_gravity", -9.8), ("_muzzleFront", 4.42), ("_muzzleHeight", 1.57), ("_tankSpeed", 25.0)] {
        assert!((variables.number(name).unwrap() - number).abs() < 1e-9, "{name}");
    }
    let stream = &streams(&records(capture))[&(0, 0)];
    let enter = frames(stream).flatten().find(|frame| frame.code == Code::ENTER).unwrap();
    assert_eq!(Enter::parse(enter).unwrap().callsign.to_string(), "tester");
}

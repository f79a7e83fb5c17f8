//! A real recording of the game's own (`tests/data/real.rec`: 22 s, one player and three robots, an observer who had it
//! written) is read, and written again as the traces we have.

#![allow(clippy::unwrap_used)]

use evenkeel_bzflag::message::{AddPlayer, Code};
use evenkeel_bzflag::record::{CsvRecorder, LinkRecorder, PacketKind, Recorder, Replay, record_replay};
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_link::recording::{Event, Header, read_all};
use std::collections::BTreeMap;

const REAL: &[u8] = include_bytes!("data/real.rec");

#[test]
fn every_packet_is_read() {
    let mut replay = Replay::new(REAL).unwrap();
    let header = replay.header().clone();
    assert_eq!((header.callsign.to_string(), header.protocol.to_string()), ("watcher".into(), "BZFS0221".into()));
    assert_eq!((header.length.as_micros(), header.world_bytes), (22_500_921, 781));
    let (mut kinds, mut names, mut last) = (BTreeMap::<_, usize>::new(), BTreeMap::new(), None);
    for packet in replay.by_ref() {
        let packet = packet.unwrap();
        *kinds.entry(format!("{:?}", packet.kind)).or_default() += 1;
        if packet.kind == PacketKind::Real && packet.code == Code::ADD_PLAYER {
            let added = AddPlayer::parse(packet.frame()).unwrap();
            names.insert(added.player, added.callsign.to_string());
        }
        last = Some(packet.at);
    }
    let kinds: Vec<_> = kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(kinds, [("Hidden", 18), ("Real", 212), ("State", 31), ("Update", 3)]);
    assert!(names.values().eq(["tester", "tester00", "tester01", "tester02", "watcher"]));
    assert_eq!(last.unwrap().as_nanos(), 22_500_921_000);
}

#[test]
fn the_laboratory_reads_its_trace() {
    let mut file = Vec::new();
    let mut recorder = CsvRecorder::new(&mut file).unwrap();
    assert_eq!(record_replay(&mut Replay::new(REAL).unwrap(), &mut recorder).unwrap(), 166);
    recorder.finish().unwrap();
    let text = String::from_utf8(file).unwrap();
    assert_eq!(text.lines().next(), Some("t_s,player,x,y,z,vx,vy,vz,azimuth,angvel,status,order"));
    assert_eq!(text.lines().count(), 167);

    let trace = Trace::parse("real", text.as_bytes(), Cuts::default()).unwrap();
    let rows = || trace.entities.iter().flat_map(|(_, lives)| lives.iter().flatten());
    let mut names: Vec<_> = trace.entities.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["0", "1", "2", "3"]);
    assert_eq!(rows().count(), 162);
    // They stay in their world, and go no faster than tanks do.
    assert!(rows().all(|row| row.position.length() < 600.0 && row.velocity.unwrap().length() < 40.0));
}

#[test]
fn a_recording_has_the_living() {
    let mut file = Vec::new();
    let mut recorder = LinkRecorder::new(&mut file, &Header::default()).unwrap();
    record_replay(&mut Replay::new(REAL).unwrap(), &mut recorder).unwrap();
    recorder.finish().unwrap();
    drop(recorder);
    let events = read_all(&file).unwrap();
    assert_eq!(events.len(), 162);
    assert!(events.iter().all(|event| matches!(event, Event::Real { entity: 0..=3, .. })));
}

//! What BZFlag's clients and servers say, and what its servers record.

use evenkeel_bzflag::message::{
    AddPlayer, Alive, Code, Enter, Frame, FrameReader, Killed, LagPing, MessageError, Precision, RemovePlayer, Score,
    ServerHello, SetVar, ShotBegin, ShotEnd, TankUpdate, UdpLinkRequest, Variables, client_hello, frames,
};
use evenkeel_bzflag::record::{CsvRecorder, LinkRecorder, Recorder, Replay, record_replay};
use evenkeel_link::recording::{Header, read_all};

/// Whatever a stranger sends: a stream gives the same frames however it arrives, every message that reads is emitted as it
/// was, and variables amount to finite numbers. A recording that reads can be written as a trace.
///
/// One byte for the size of the pieces in which the rest arrives.
pub fn bzflag(data: &[u8]) {
    let Some((pieces, data)) = data.split_first() else { return };
    let _ = client_hello(data);
    let _ = ServerHello::parse(data);
    let mut variables = Variables::default();
    for frame in frames(data).flatten() {
        again(frame);
        if let Ok(vars) = SetVar::parse(frame) {
            variables.set(&vars);
            let names = vars.0.iter().filter_map(|(name, _)| str::from_utf8(name).ok());
            names.for_each(|name| assert!(variables.number(name).is_none_or(f64::is_finite)));
        }
    }
    stream(data, usize::from(*pieces) + 1);
    recording(data);
}

/// The same frames come out of a stream in pieces as out of a datagram, and then the same error if it is one.
fn stream(data: &[u8], size: usize) {
    let mut reader = FrameReader::default();
    let mut expected = frames(data);
    for piece in data.chunks(size) {
        reader.push(piece);
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => assert_eq!(expected.next(), Some(Ok(frame))),
                Ok(None) => break,
                Err(_) => return assert!(matches!(expected.next(), Some(Err(MessageError::TooLong { .. })))),
            }
        }
    }
    let left = expected.next();
    assert_eq!(left.is_some(), reader.pending() > 0, "{left:?}");
}

fn again(frame: Frame<'_>) {
    let mut out = Vec::new();
    let read = match frame.code {
        Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL => TankUpdate::parse(frame).map(|update| {
            converted(&update);
            update.emit(&mut out);
        }),
        Code::SHOT_BEGIN => ShotBegin::parse(frame).map(|shot| shot.emit(&mut out)),
        Code::SHOT_END => ShotEnd::parse(frame).map(|end| end.emit(&mut out)),
        Code::LAG_PING => LagPing::parse(frame).map(|ping| ping.emit(&mut out)),
        Code::UDP_LINK_REQUEST => UdpLinkRequest::parse(frame).map(|request| request.emit(&mut out)),
        Code::SET_VAR => SetVar::parse(frame).map(|vars| vars.emit(&mut out)),
        Code::ADD_PLAYER => AddPlayer::parse(frame).map(|added| added.emit(&mut out)),
        Code::REMOVE_PLAYER => RemovePlayer::parse(frame).map(|removed| removed.emit(&mut out)),
        Code::ALIVE => Alive::parse(frame).map(|alive| alive.emit(&mut out)),
        Code::KILLED => Killed::parse(frame).map(|killed| killed.emit(&mut out)),
        Code::SCORE => Score::parse(frame).map(|score| score.emit(&mut out)),
        _ => Enter::parse(frame).map(|_| frame.emit(&mut out)),
    };
    match read {
        Ok(()) => assert_eq!(frames(&out).collect::<Vec<_>>(), [Ok(frame)]),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// In small numbers an update is as good as they are; and what was small is the same again after it was full.
fn converted(update: &TankUpdate) {
    let emitted = |update: TankUpdate| {
        let mut out = Vec::new();
        update.emit(&mut out);
        out
    };
    let small = update.with_precision(Precision::Small);
    let bytes = emitted(small);
    let read = TankUpdate::parse(frames(&bytes).next().expect("one was emitted").expect("a frame")).expect("an update");
    assert_eq!(read.precision, small.precision);
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 0.011;
    assert!(
        read.position.iter().zip(&update.position).all(near) && read.velocity.iter().zip(&update.velocity).all(near)
    );
    assert_eq!(emitted(read.with_precision(Precision::Full).with_precision(read.precision)), bytes);
}

fn recording(data: &[u8]) {
    let Ok(mut replay) = Replay::new(data) else { return };
    let (mut csv, mut file) = (Vec::new(), Vec::new());
    let mut link = LinkRecorder::new(&mut file, &Header::default()).expect("nothing is in its header");
    let whole = record_replay(&mut replay, &mut link).is_ok();
    assert!(replay.next().is_none(), "it was read to its end or an error");
    link.finish().expect("memory can be written");
    drop(link);
    let living = read_all(&file).expect("it was just written").len();
    let mut recorder = CsvRecorder::new(&mut csv).expect("memory can be written");
    let again = record_replay(&mut Replay::new(data).expect("it was good before"), &mut recorder);
    assert_eq!(again.is_ok(), whole);
    let rows = csv.split(|byte| *byte == b'\n').count() - 2;
    assert!(again.is_ok_and(|count| count as usize == rows) || !whole);
    assert!(living <= rows);
}

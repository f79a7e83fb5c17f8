//! What the network model and recordings cost, as a plain table. Run it with `--release`; latency matrices given as
//! arguments are read as well.

use evenkeel::{Duration, GlobalTime, Motion, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingReader, RecordingWriter};
use evenkeel_link::{HostClock, LatencyMatrix, Link, Path, Topology};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const REPEATS: i64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    paths()?;
    clock()?;
    link()?;
    recording()?;
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file)?;
        let start = Instant::now();
        let matrix = LatencyMatrix::parse(&bytes).map_err(|error| format!("{file}: {error}"))?;
        println!("{:44} {:8.1} ms, {} places", "latency matrix", start.elapsed().as_secs_f64() * 1e3, matrix.len());
    }
    Ok(())
}

/// Calls something many times, one millisecond apart, and prints what one call costs.
fn report(name: &str, mut call: impl FnMut(GlobalTime)) {
    let start = Instant::now();
    (0..REPEATS).for_each(|i| call(GlobalTime::from_millis(i)));
    println!("{name:44} {:8.1} ns", start.elapsed().as_secs_f64() * 1e9 / REPEATS as f64);
}

fn paths() -> Result<(), Box<dyn Error>> {
    for text in [
        "delay=50ms",
        "delay=50ms,jitter=uniform:5ms,loss=2%",
        "far,loss=2%",
        "delay=50ms,jitter=normal:5ms",
        "delay=50ms,jitter=pareto:5ms:3",
        "delay=50ms,jitter=correlated:5ms:1s",
        "delay=50ms,loss=bursts:10s:200ms:0%:80%",
        "wifi,duplicate=1%,reorder=1%:20ms",
    ] {
        let path = Path::new(text.parse()?, 1, 2)?;
        report(text, |sent| {
            black_box(path.fate(sent));
        });
    }
    Ok(())
}

fn clock() -> Result<(), Box<dyn Error>> {
    let clock = HostClock::new(Duration::from_secs(5), 50.0)?;
    let wandering = clock.clone().wandering(2.0, Duration::from_secs(300), 1, 2)?;
    for (name, clock) in [("skewed clock", clock), ("wandering clock", wandering)] {
        report(&format!("{name}: read"), |at| {
            black_box(clock.read(at));
        });
        report(&format!("{name}: when"), |at| {
            black_box(clock.when(evenkeel::Instant::from_nanos(at.as_nanos())));
        });
    }
    Ok(())
}

fn link() -> Result<(), Box<dyn Error>> {
    let mut link = Link::new(Topology::uniform("far,loss=2%".parse()?)?, 1);
    report("link of 16 hosts: send and poll", |now| {
        let from = (now.as_nanos() / 1_000_000 % 16) as u32;
        link.send(now, from, (from + 1) % 16, 100, [0u8; 64]);
        while link.poll(now).is_some() {}
    });
    Ok(())
}

/// A minute of a tank that four hosts look at 60 times a second.
fn recording() -> Result<(), Box<dyn Error>> {
    let mut events = Vec::new();
    for frame in 0..3600i64 {
        let at = GlobalTime::from_nanos(frame * 16_666_667);
        let motion = Motion::circular(Vec3::ZERO, 0.0, 25.0, 0.3);
        let state = motion.at(at.as_secs_f64());
        let heading = state.attitude.heading();
        events.push(Event::Real { entity: 0, at, position: state.position, velocity: state.velocity, heading });
        if frame % 20 == 0 {
            events.push(Event::Exported { entity: 0, sequence: frame as u64 / 20, generated: at, motion });
        }
        for by in 0..4 {
            let placed = motion.at(at.as_secs_f64() - 0.05 * f64::from(by));
            let heading = placed.attitude.heading();
            events.push(Event::Placed { entity: 0, by, at, position: placed.position, heading });
        }
    }
    let start = Instant::now();
    let mut writer = RecordingWriter::new(Vec::new(), &Header::default())?;
    events.iter().try_for_each(|event| writer.write(event))?;
    let bytes = writer.finish()?;
    let written = start.elapsed().as_secs_f64() * 1e9 / events.len() as f64;
    let start = Instant::now();
    let read = RecordingReader::new(&bytes[..], &[])?.collect::<Result<Vec<_>, _>>()?;
    assert_eq!(read, events);
    let per_event = start.elapsed().as_secs_f64() * 1e9 / events.len() as f64;
    let size = bytes.len() as f64 / events.len() as f64;
    println!("{:44} {written:8.1} ns, {size:.1} bytes", "recording: write an event");
    println!("{:44} {per_event:8.1} ns", "recording: read an event");
    Ok(())
}

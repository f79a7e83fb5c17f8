//! Writing a run down as it happens, and reading what a recording says.

use anyhow::Result;
use evenkeel::{EntityId, GlobalTime, HostId, Pose, Receiver, Sender, Vec3};
use evenkeel_link::recording::{Event, Header, RecordingReader, RecordingWriter};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};

/// Writes what a world does, frame by frame.
pub struct Recorder {
    writer: RecordingWriter<Box<dyn Write>>,
    /// The number of each entity's vectors by generation: receivers know the generation only.
    numbers: BTreeMap<(u32, GlobalTime), u64>,
}

impl Recorder {
    /// A recording of a run with these settings, of so many entities and hosts; host 0 sends.
    pub fn new(out: Box<dyn Write>, seed: u64, settings: &[(&str, String)], entities: u32, hosts: u32) -> Result<Self> {
        let named = |what: &str, n: u32| (0..n).map(|i| format!("{what} {i}")).collect();
        let header = Header {
            program: concat!("evenkeel ", env!("CARGO_PKG_VERSION")).into(),
            seed,
            settings: settings.iter().map(|(key, value)| (key.to_string(), value.clone())).collect(),
            hosts: named("host", hosts),
            entities: named("tank", entities),
        };
        Ok(Self { writer: RecordingWriter::new(out, &header)?, numbers: BTreeMap::new() })
    }

    /// Where an entity really is.
    pub(crate) fn real(&mut self, entity: u32, at: GlobalTime, pose: &Pose) -> Result<()> {
        let motion = pose.motion(evenkeel::MotionKind::Linear);
        let (position, velocity) = (pose.position(), motion.velocity_at(0.0));
        let heading = pose.attitude().heading();
        Ok(self.writer.write(&Event::Real { entity, at, position, velocity, heading })?)
    }

    /// What the sender has exported and sent since the last call.
    pub(crate) fn sent(&mut self, sender: &Sender, entity: u32, triggered: bool, now: GlobalTime) -> Result<()> {
        let ledger = sender.ledger();
        let Some(index) = ledger.entity(EntityId(entity)) else { return Ok(()) };
        if let Some(vector) = ledger.newest(index).filter(|_| triggered) {
            let (sequence, generated, motion) = (u64::from(vector.number.get()), vector.generated, vector.motion);
            self.numbers.insert((entity, generated), sequence);
            self.writer.write(&Event::Exported { entity, sequence, generated, motion })?;
        }
        for receiver in ledger.receivers() {
            if let Some((number, at)) = ledger.pair(index, receiver).last_sent().filter(|(_, at)| *at == now) {
                let (sequence, to) = (u64::from(number.get()), ledger.host(receiver).0);
                self.writer.write(&Event::Sent { entity, sequence, to, at })?;
            }
        }
        Ok(())
    }

    /// What a receiver has just got.
    pub(crate) fn received(&mut self, receiver: &mut Receiver, by: HostId, at: GlobalTime) -> Result<()> {
        while let Some(EntityId(entity)) = receiver.poll_updated() {
            let generated = receiver.newest(EntityId(entity)).map(|(generated, _)| generated);
            if let Some(&sequence) = generated.and_then(|generated| self.numbers.get(&(entity, generated))) {
                self.writer.write(&Event::Received { entity, sequence, by: by.0, at })?;
            }
        }
        Ok(())
    }

    /// Where a receiver shows an entity.
    pub(crate) fn placed(&mut self, entity: u32, by: u32, at: GlobalTime, position: Vec3, heading: f64) -> Result<()> {
        Ok(self.writer.write(&Event::Placed { entity, by, at, position, heading })?)
    }

    /// Writes out what is left.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()?.flush()?;
        Ok(())
    }
}

/// What a recording says, in short.
pub struct Summary {
    header: Header,
    seconds: f64,
    /// How many entities were seen: those that came while it ran are not in the header.
    entities: usize,
    exported: u64,
    sent: u64,
    received: u64,
    /// Per host: the mean distance between real and placed, and how many placements that is of.
    hosts: BTreeMap<u32, (f64, u64)>,
}

impl Summary {
    /// Reads a recording to its end.
    pub fn read(input: impl Read) -> Result<Self> {
        let mut reader = RecordingReader::new(input, &[])?;
        let header = reader.header().clone();
        let mut summary =
            Self { header, seconds: 0.0, entities: 0, exported: 0, sent: 0, received: 0, hosts: BTreeMap::new() };
        let mut real: BTreeMap<u32, (GlobalTime, Vec3)> = BTreeMap::new();
        for event in &mut reader {
            let event = event?;
            summary.seconds = summary.seconds.max(event.at().as_secs_f64());
            match event {
                Event::Real { entity, at, position, .. } => {
                    real.insert(entity, (at, position));
                }
                Event::Exported { .. } => summary.exported += 1,
                Event::Sent { .. } => summary.sent += 1,
                Event::Received { .. } => summary.received += 1,
                Event::Placed { entity, by, at, position, .. } => {
                    if let Some((_, there)) = real.get(&entity).filter(|(when, _)| *when == at) {
                        let host = summary.hosts.entry(by).or_default();
                        host.0 += position.distance(*there);
                        host.1 += 1;
                    }
                }
                Event::Lost { .. } | Event::Note { .. } => {}
            }
        }
        summary.entities = real.len().max(summary.header.entities.len());
        Ok(summary)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { program, seed, settings, hosts, .. } = &self.header;
        writeln!(
            f,
            "recorded by {program}, seed {seed}: {} hosts, {} entities, {:.1} s",
            hosts.len(),
            self.entities,
            self.seconds
        )?;
        for (key, value) in settings {
            writeln!(f, "  {key}: {value}")?;
        }
        // A recording of what was shown need not say how it got there.
        if self.exported + self.sent + self.received > 0 {
            writeln!(f, "vectors exported {}, sent {}, received {}", self.exported, self.sent, self.received)?;
        }
        for (host, (sum, count)) in &self.hosts {
            let name = hosts.get(*host as usize).map_or("?", String::as_str);
            writeln!(f, "  {name}: {:.3} m between real and placed, mean of {count}", sum / (*count).max(1) as f64)?;
        }
        Ok(())
    }
}

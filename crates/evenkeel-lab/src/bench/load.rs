//! A sender under load: entities that keep changing course, receivers that acknowledge everything and show nothing.

use evenkeel::wire::datagram::{Proof, ReceiptEntry, ReceiptsHeader, Stamp, Taken, VectorsHeader};
use evenkeel::wire::{BitReader, BitWriter, Format};
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Policy, Pose, Sender, SenderConfig, Threshold, Vec3};
use std::collections::VecDeque;

/// Simulated time between ticks.
const TICK: Duration = Duration::from_millis(50);
/// Datagrams arrive after so many ticks, and so do receipts.
const DELAY_TICKS: usize = 2;

/// A datagram on its way to a receiver, as it will be acknowledged.
struct Arriving {
    to: HostId,
    header: VectorsHeader,
    entry: ReceiptEntry,
}

/// A sender with its entities.
pub(super) struct Load {
    pub(super) sender: Sender,
    now: GlobalTime,
    tick: u64,
    poses: Vec<Pose>,
    /// What each receiver got in the ticks before, as it will acknowledge it.
    arriving: VecDeque<Vec<Arriving>>,
    spare: Vec<Vec<Arriving>>,
    /// The header each receiver got last.
    headers: Vec<Option<VectorsHeader>>,
    /// Stands for how receivers place things.
    terms: u8,
    receipts_sent: u8,
}

impl Load {
    pub(super) fn new(entities: u32, receivers: u32, format: Format, books: bool) -> Self {
        Self::with_policy(entities, receivers, format, books, SenderConfig::default().policy)
    }

    pub(super) fn with_policy(
        entities: u32,
        receivers: u32,
        format: Format,
        books: bool,
        policy: Box<dyn Policy>,
    ) -> Self {
        let now = GlobalTime::ZERO;
        let max_receivers = receivers as usize;
        let config = SenderConfig { format, books, policy, max_receivers, ..SenderConfig::default() };
        let mut sender = Sender::new(config).expect("a valid configuration");
        for i in 0..receivers {
            sender.add_receiver(HostId(i), now).expect("within limits");
        }
        for i in 0..entities {
            let threshold = Threshold::within(0.1).at_least_every(Duration::from_secs(1_000_000));
            sender.add_entity(EntityId(i), threshold, now).expect("within limits");
        }
        let poses = vec![Pose::at(Vec3::ZERO); entities as usize];
        let terms = sender.agreement().terms();
        let headers = vec![None; receivers as usize];
        let (arriving, spare) = (VecDeque::new(), Vec::new());
        Self { sender, now, tick: 0, poses, arriving, spare, headers, terms, receipts_sent: 0 }
    }

    /// Time goes on by a tick. Entities for which `due` holds change course, the others stay on the exported path.
    pub(super) fn prepare(&mut self, due: impl Fn(u32) -> bool) {
        self.now += TICK;
        self.tick += 1;
        let ledger = self.sender.ledger();
        for (i, pose) in (0..).zip(&mut self.poses) {
            let newest = ledger.entity(EntityId(i)).and_then(|entity| ledger.newest(entity));
            *pose = match newest {
                Some(vector) if !due(i) => {
                    let state = vector.motion.at(self.now.since(vector.generated).as_secs_f64());
                    let turn_rate = state.attitude.turn_rate();
                    Pose::at(state.position).moving(state.velocity).facing(state.attitude.heading()).turning(turn_rate)
                }
                _ => turned(i, self.tick),
            };
        }
    }

    pub(super) fn observe(&mut self) {
        for (i, pose) in (0..).zip(&self.poses) {
            self.sender.observe(EntityId(i), *pose, self.now).expect("a valid pose");
        }
    }

    /// Takes everything that is due off the sender. Answers how many bytes that is.
    pub(super) fn transmit(&mut self) -> usize {
        let mut bytes = 0;
        let mut arriving = self.spare.pop().unwrap_or_default();
        arriving.clear();
        let delay = Stamp::at(self.now + TICK * DELAY_TICKS as i64).units_since(Stamp::at(self.now));
        self.sender.handle_timeout(self.now);
        while let Some(datagram) = self.sender.poll_transmit(self.now) {
            bytes += datagram.bytes.len();
            // The few bytes of the header are all that an acknowledgement needs.
            let before = &mut self.headers[datagram.to.0 as usize];
            if let Ok(header) = VectorsHeader::parse_after(before.as_ref(), &mut BitReader::new(datagram.bytes)) {
                let entry = ReceiptEntry { number: header.number as u16, taken: Taken::All, delay };
                arriving.push(Arriving { to: datagram.to, header, entry });
                *before = Some(header);
            }
        }
        self.arriving.push_back(arriving);
        bytes
    }

    /// The receipts that reach the sender in this tick.
    pub(super) fn receipts_due(&mut self) -> Vec<(HostId, Vec<u8>)> {
        if self.arriving.len() < 2 * DELAY_TICKS {
            return Vec::new();
        }
        let mut entries = self.arriving.pop_front().unwrap_or_default();
        entries.sort_by_key(|arriving| arriving.to);
        self.receipts_sent = self.receipts_sent.wrapping_add(1);
        let (number, terms) = (self.receipts_sent, self.terms);
        let by_host = entries.chunk_by(|a, b| a.to == b.to);
        let receipts = by_host.map(|chunk| (chunk[0].to, receipt(number, terms, chunk))).collect();
        self.spare.push(entries);
        receipts
    }

    pub(super) fn deliver(&mut self, receipts: &[(HostId, Vec<u8>)]) {
        for (host, bytes) in receipts {
            self.sender.handle_datagram(*host, bytes, self.now).expect("a valid receipt");
        }
        // Books are brought up to date here, or else with the next vector.
        self.sender.handle_timeout(self.now);
    }

    pub(super) fn acknowledge(&mut self) {
        let receipts = self.receipts_due();
        self.deliver(&receipts);
    }
}

fn receipt(number: u8, terms: u8, arrived: &[Arriving]) -> Vec<u8> {
    let mut buffer = vec![0; 64 + arrived.len() * 16];
    let mut w = BitWriter::new(&mut buffer);
    let stream = arrived[0].header.stream;
    let mut proof = Proof::new(&stream);
    arrived.iter().for_each(|arrived| proof.add(arrived.entry.taken, arrived.header.nonce));
    let header = ReceiptsHeader { stream: stream.tag() as u8, number, terms, proof: proof.value(), held: 0 };
    let mut before = None;
    let mut emit = || {
        header.emit(&mut w)?;
        for Arriving { entry, .. } in arrived {
            entry.emit(before, &mut w)?;
            before = Some(entry);
        }
        Ok::<_, evenkeel::wire::Full>(w.len_bytes())
    };
    let length = emit().expect("the buffer is large enough");
    buffer.truncate(length);
    buffer
}

/// A new course, every tick another.
fn turned(i: u32, tick: u64) -> Pose {
    let phase = f64::from(i) * 0.61 + tick as f64 * 1.7;
    let position = Vec3::new(f64::from(i % 40) * 18.0 - 350.0 + phase.sin() * 8.0, phase.cos() * 300.0, 0.0);
    Pose::at(position).facing(phase % 3.0).moving(Vec3::from_heading(phase % 3.0) * 20.0).turning(0.3)
}

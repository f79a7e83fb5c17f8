//! A receiver and whatever may arrive there.

use crate::finite;
use crate::input::Input;
use crate::script::receiver as op;
use evenkeel::lag::LagChange;
use evenkeel::wire::datagram::{
    Acknowledged, BaselineName, Cursor, Form, Record, Stamp, Stream, VectorsHeader, slot_ticks,
};
use evenkeel::wire::{AGREEMENT_BYTES, BitReader, BitWriter, Format, Quantised};
use evenkeel::{
    Beyond, ClockRule, Duration, EntityId, GlobalTime, HostId, Motion, PlaceError, Placement, Placing, Receiver,
    ReceiverConfig, Smoothing,
};

const MAX_ENTITIES: usize = 4;
const MAX_SENDERS: usize = 2;
/// More events than this never wait.
const MAX_EVENTS: usize = 256 + MAX_SENDERS;
const MAX_OPERATIONS: usize = 300;

/// A [`Receiver`] that is sent anything at any time shows finite numbers or nothing, stays within its limits, and is not
/// changed by what it refuses.
pub fn receiver(data: &[u8]) {
    let mut input = Input(data);
    let format = input.format();
    let flags = input.byte();
    let rule = [ClockRule::Global, ClockRule::Local, ClockRule::OneWay][usize::from(flags >> 3) % 3];
    let lag = Duration::from_millis(if flags & 64 != 0 { 100 } else { 0 });
    let config = ReceiverConfig {
        placing: Placing { rule, lag, ..Placing::default() },
        beyond: if flags & 2 != 0 { Beyond::Hide } else { Beyond::Freeze },
        smoothing: smoothing(flags & 1 != 0),
        max_senders: MAX_SENDERS,
        max_entities: MAX_ENTITIES,
        max_datagram: 200,
        require_grants: flags & 4 != 0,
        ..ReceiverConfig::default()
    };
    let mut bench = Bench {
        receiver: Receiver::new(config).expect("every flag is valid"),
        format,
        now: GlobalTime::ZERO,
        numbers: [1 << 20; 2],
        written: Vec::new(),
    };
    for host in 0..MAX_SENDERS as u32 {
        assert_eq!(bench.receiver.add_sender(HostId(host), bench.receiver.agreement(&format), bench.now), Ok(()));
    }
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        bench.perform(operation % op::COUNT, &mut input);
        bench.check();
    }
}

fn smoothing(blend: bool) -> Smoothing {
    match blend {
        true => Smoothing::Blend { over: Duration::from_millis(150), snap_beyond: 5.0 },
        false => Smoothing::None,
    }
}

struct Bench {
    receiver: Receiver,
    format: Format,
    now: GlobalTime,
    /// The number of the last datagram that each sender wrote.
    numbers: [u64; 2],
    /// Vectors that were written, by which sender: later ones may be coded against them.
    written: Vec<(usize, Record)>,
}

/// Everything an application can see.
type Snapshot = (Vec<Seen>, Option<GlobalTime>, [u64; 3]);
type Seen = (EntityId, Option<HostId>, [Result<Placement, PlaceError>; 3], Option<(GlobalTime, Motion)>);

impl Bench {
    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        match operation {
            op::WAIT => self.now += input.span(),
            op::DATAGRAM => {
                let from = HostId(u32::from(input.byte() % 3));
                self.handle(from, input.chunk());
            }
            op::RECORDS => self.records(input),
            op::TRANSMIT => self.transmit(),
            op::EVENTS => {
                let events = std::iter::from_fn(|| self.receiver.poll_event(self.now)).count();
                assert!(events <= MAX_EVENTS, "{events} events waited");
                let updated = std::iter::from_fn(|| self.receiver.poll_updated()).count();
                assert!(updated <= MAX_ENTITIES, "{updated} updates waited");
            }
            op::GRANT => {
                let (entity, owner) = (EntityId(u32::from(input.byte() % 8)), input.byte());
                match owner % 4 {
                    3 => self.receiver.revoke(entity),
                    host => self.receiver.grant(entity, HostId(u32::from(host)), u32::from(owner >> 2)),
                }
            }
            op::SENDER => {
                let host = HostId(u32::from(input.byte() % 3));
                if self.receiver.remove_sender(host).is_err() {
                    let before = self.snapshot();
                    if self.receiver.add_sender(host, self.receiver.agreement(&self.format), self.now).is_err() {
                        assert_eq!(self.snapshot(), before);
                    }
                }
            }
            _ => {
                self.receiver.set_smoothing(smoothing(input.byte() & 1 != 0));
                self.receiver.set_clock_uncertainty(input.span().abs());
                self.set_lag(LagChange { to: input.span(), begins: self.now + input.span(), over: input.span() });
            }
        }
    }

    /// A change of lag takes back nothing that was shown, and one that is refused changes nothing.
    fn set_lag(&mut self, change: LagChange) {
        let before = (self.receiver.lag().shown(self.now), self.snapshot());
        match self.receiver.set_lag(change, self.now) {
            Ok(()) => assert!(self.receiver.lag().shown(self.now) >= before.0, "{change:?}"),
            Err(error) => assert_eq!((self.receiver.lag().shown(self.now), self.snapshot()), before, "{error}"),
        }
    }

    /// A datagram as a sender writes it, with any records that parse.
    fn records(&mut self, input: &mut Input<'_>) {
        let which = usize::from(input.byte() % 2);
        let step = input.byte();
        self.numbers[which] = self.numbers[which].saturating_add_signed(i64::from(step as i8));
        let acknowledged =
            (step & 1 == 0).then(|| Acknowledged { receipt: input.byte(), age: input.span().max(Duration::ZERO) });
        // Now and then the sender meets the receiver anew.
        let (id, agreement) = (u64::from(step == 0x7F), self.receiver.agreement(&self.format).fingerprint());
        let header = VectorsHeader {
            form: if step & 6 == 6 { Form::Short } else { Form::Full },
            stream: Stream { id, agreement },
            number: self.numbers[which],
            nonce: 7,
            sent: Stamp::at(self.now - input.span()),
            acknowledged,
            check: 0,
        };
        let records = self.read(which, header.sent, input.chunk());
        let written: Vec<Record> = records.iter().map(|(record, _)| *record).collect();
        // Some have come apart from what they wrote.
        let header = if step & 0x38 == 0x38 { header } else { header.checking(&written) };
        let mut bytes = vec![0; 64 + 256 * records.len()];
        let mut w = BitWriter::new(&mut bytes);
        assert_eq!(header.emit(&mut w), Ok(()));
        let mut cursor = Cursor::new(self.format.tick_of(header.sent.end()));
        for (record, baseline) in &records {
            assert_eq!(record.emit(&self.format, cursor, baseline.as_ref(), &mut w), Ok(()));
            cursor = cursor.after(record.entity, record.tick());
        }
        let length = w.len_bytes();
        self.handle(HostId(which as u32), &bytes[..length]);
        self.written.extend(written.into_iter().map(|record| (which, record)));
    }

    /// Bytes as records, with their baselines, as far as they parse.
    fn read(&self, which: usize, sent: Stamp, bytes: &[u8]) -> Vec<(Record, Option<Quantised>)> {
        let mut cursor = Cursor::new(self.format.tick_of(sent.end()));
        let mut r = BitReader::new(bytes);
        let mut records = Vec::new();
        loop {
            let mut baseline = None;
            let parsed = Record::parse(&self.format, cursor, &mut r, |name| {
                let found = self.baseline(which, &name);
                baseline = found.copied();
                found
            });
            let Ok(record) = parsed else { return records };
            cursor = cursor.after(record.entity, record.tick());
            records.push((record, baseline));
        }
    }

    fn baseline(&self, which: usize, name: &BaselineName) -> Option<&Quantised> {
        let named = |(from, record): &&(usize, Record)| {
            let slot = record.tick().div_euclid(slot_ticks(&self.format));
            let alike = (*from, record.entity, record.epoch, slot) == (which, name.entity, name.epoch, name.slot);
            alike && record.tick() < name.before && record.quantised().is_some()
        };
        let newest = self.written.iter().filter(named).max_by_key(|(_, record)| record.tick());
        newest.and_then(|(_, record)| record.quantised())
    }

    /// What is refused changes nothing that is shown; what could not be decoded is reported to its sender.
    fn handle(&mut self, from: HostId, bytes: &[u8]) {
        let (before, refusals) = (self.snapshot(), self.receiver.all_refusals());
        match self.receiver.handle_datagram(from, bytes, self.now) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let (after, told) = (self.snapshot(), self.receiver.all_refusals() != refusals);
                assert_eq!(after.0, before.0, "refused: {error}");
                assert!(told || after == before, "refused: {error}");
            }
            Ok(handled) if handled.duplicate => assert_eq!(self.snapshot(), before),
            Ok(_) => {}
        }
    }

    fn transmit(&mut self) {
        for _ in 0..=2 * MAX_SENDERS {
            let Some(said) = self.receiver.poll_transmit(self.now) else { return };
            assert!(!said.bytes.is_empty() && said.bytes.len() <= AGREEMENT_BYTES);
        }
        panic!("one receipt and one agreement to a sender are enough");
    }

    fn snapshot(&self) -> Snapshot {
        let entities = self.receiver.entities().map(|entity| {
            let places = [-500, 0, 4_000].map(|ms| self.receiver.place(entity, self.now + Duration::from_millis(ms)));
            (entity, self.receiver.owner(entity), places, self.receiver.newest(entity))
        });
        let dropped = self.receiver.events_dropped();
        let given_up = [0, 1].map(|host| self.receiver.receipts_given_up(HostId(host)));
        (entities.collect(), self.receiver.poll_timeout(), [dropped, given_up[0], given_up[1]])
    }

    fn check(&self) {
        assert!(self.receiver.entities().count() <= MAX_ENTITIES);
        for entity in self.receiver.entities() {
            for at in [GlobalTime::MIN, self.now - Duration::from_secs(1), self.now, GlobalTime::MAX] {
                if let Ok(known) = self.receiver.recall(entity, at) {
                    assert!(known.position.is_finite(), "{known:?} at {at:?}");
                }
                if let Ok(placed) = self.receiver.place(entity, at) {
                    assert!(finite::placement(&placed), "{placed:?} at {at:?} of {:?}", self.receiver.newest(entity));
                }
            }
        }
    }
}

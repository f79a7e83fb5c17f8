//! A receiver and whatever may arrive there.

use crate::finite;
use crate::input::Input;
use crate::script::receiver as op;
use evenkeel::lag::LagChange;
use evenkeel::wire::datagram::{Acknowledged, VectorsHeader};
use evenkeel::wire::{BitWriter, Format};
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
        numbers: [0; 2],
    };
    for host in 0..MAX_SENDERS as u32 {
        assert_eq!(bench.receiver.add_sender(HostId(host), format, bench.now), Ok(()));
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
    numbers: [u16; 2],
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
                    if self.receiver.add_sender(host, self.format, self.now).is_err() {
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

    fn records(&mut self, input: &mut Input<'_>) {
        let which = usize::from(input.byte() % 2);
        let step = input.byte();
        self.numbers[which] = self.numbers[which].wrapping_add_signed(i16::from(step as i8));
        let acknowledged = (step & 1 == 0)
            .then(|| Acknowledged { receipt: u16::from(input.byte()), age: input.span().max(Duration::ZERO) });
        let header = VectorsHeader {
            fingerprint: self.format.fingerprint(),
            // Now and then the sender meets the receiver anew.
            stream: u16::from(step == 0x7F),
            number: self.numbers[which],
            nonce: 7,
            sent: self.now - input.span(),
            acknowledged,
        };
        let mut head = [0; 64];
        let mut w = BitWriter::new(&mut head);
        assert_eq!(header.emit(&mut w), Ok(()));
        // Records follow the head without a gap, so its last, incomplete byte is shared.
        let (used, length) = (w.len_bits(), w.len_bytes());
        let records = input.chunk();
        let mut bytes = vec![0; length + records.len()];
        let mut w = BitWriter::new(&mut bytes);
        assert_eq!(w.copy(&head, used).and_then(|()| w.copy(records, records.len() * 8)), Ok(()));
        let length = w.len_bytes();
        self.handle(HostId(which as u32), &bytes[..length]);
    }

    /// What is refused changes nothing.
    fn handle(&mut self, from: HostId, bytes: &[u8]) {
        let before = self.snapshot();
        match self.receiver.handle_datagram(from, bytes, self.now) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(self.snapshot(), before, "refused: {error}");
            }
            Ok(handled) if handled.duplicate => assert_eq!(self.snapshot(), before),
            Ok(_) => {}
        }
    }

    fn transmit(&mut self) {
        for _ in 0..=MAX_SENDERS {
            let Some(receipt) = self.receiver.poll_transmit(self.now) else { return };
            assert!(!receipt.bytes.is_empty() && receipt.bytes.len() <= 200);
        }
        panic!("one receipt to a sender is enough");
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

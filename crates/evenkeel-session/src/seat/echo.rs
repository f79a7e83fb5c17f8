//! What receipts tell the clock: they say when the reference received what this host sent.

use evenkeel::wire::BitReader;
use evenkeel::wire::datagram::{NUMBER_BITS, ReceiptEntry, ReceiptsHeader, Stamp, Taken, VectorsHeader, low_number};
use evenkeel::{GlobalTime, Instant};
use std::collections::VecDeque;

/// So many datagrams are remembered; older ones are no news to the clock.
const REMEMBERED: usize = 256;

/// Datagrams under way to the reference, each with the moment it left by both clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Echoes {
    /// Of the stream to the reference, which its first datagrams tell: what its receipts repeat.
    stream: Option<u8>,
    sent: VecDeque<(u16, Stamp, Instant)>,
}

impl Echoes {
    /// A datagram leaves for the reference now, by the session's clock and by this host's.
    pub(super) fn note(&mut self, datagram: &[u8], time: GlobalTime, now: Instant) {
        let Some(number) = low_number(datagram) else { return };
        if let Ok(header) = VectorsHeader::parse_after(None, &mut BitReader::new(datagram)) {
            self.stream = Some(header.stream.tag() as u8);
        }
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((number, Stamp::at(time), now));
    }

    /// The reference is met anew: datagrams are numbered from the beginning.
    pub(super) fn begin_anew(&mut self) {
        (self.stream, self.sent) = (None, VecDeque::new());
    }

    /// The reference's receipts, which the sender has taken in: when each datagram left, by this host's clock, and when it arrived,
    /// by the session's. Each is told once.
    pub(super) fn read(&mut self, receipts: &[u8]) -> Vec<(Instant, GlobalTime)> {
        let mut reader = BitReader::new(receipts);
        let mut heard = Vec::new();
        if ReceiptsHeader::parse(&mut reader).is_ok_and(|header| Some(header.stream) == self.stream) {
            let mut before = None;
            while let Ok(entry) = ReceiptEntry::parse(before.as_ref(), &mut reader) {
                before = Some(entry);
                if entry.taken == Taken::None {
                    continue;
                }
                let low = entry.number % (1 << NUMBER_BITS);
                let found = self.sent.iter().position(|(number, ..)| *number == low);
                let sent = found.and_then(|at| self.sent.remove(at));
                heard.extend(sent.map(|(_, stamp, left)| (left, stamp.after(entry.delay).time())));
            }
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::{Duration, EntityId, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};

    #[test]
    fn a_receipt_says_once_when_each_datagram_arrived() {
        let (ms, at) = (Duration::from_millis, GlobalTime::from_millis);
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
        sender.add_receiver(HostId(0), at(0)).unwrap();
        receiver.add_sender(HostId(1), sender.agreement(), at(0)).unwrap();
        sender.add_entity(EntityId(7), Threshold::within(0.1), at(0)).unwrap();
        let mut echoes = Echoes::default();
        let (mut told, mut sent) = (Vec::new(), 0);
        for tick in 0..100 {
            // This host's clock shows 9 s more than the session's; the way takes 30 ms.
            let (time, local) = (at(50 * tick), Instant::from_millis(50 * tick + 9_000));
            let pose = Pose::at(Vec3::new(f64::from(tick as i32 % 7), 0.0, 0.0));
            sender.observe(EntityId(7), pose, time).unwrap();
            sender.handle_timeout(time);
            while let Some(datagram) = sender.poll_transmit(time) {
                echoes.note(datagram.bytes, time, local);
                // Acknowledgements are not acknowledged.
                sent += usize::from(low_number(datagram.bytes).is_some());
                receiver.handle_datagram(HostId(1), datagram.bytes, time + ms(30)).unwrap();
            }
            while let Some(receipt) = receiver.poll_transmit(time + ms(30)) {
                told.extend(echoes.read(receipt.bytes));
                sender.handle_datagram(HostId(0), receipt.bytes, time + ms(30)).unwrap();
            }
        }
        assert!(sent >= 20 && told.len() + 2 >= sent, "{} of {sent}", told.len());
        for (left, arrived) in &told {
            let way = GlobalTime::from_nanos(left.as_nanos()) - Duration::from_secs(9) + ms(30);
            assert!(arrived.since(way).abs() < Duration::from_micros(50), "{arrived} instead of {way}");
        }
        told.sort();
        told.dedup();
        assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "each once");
        assert!(echoes.read(b"what").is_empty() && echoes.read(&[]).is_empty());
    }
}

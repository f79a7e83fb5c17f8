//! What a run puts on the wire, counted outside of those who write it.

use super::SENDER;
use evenkeel::wire::BitReader;
use evenkeel::wire::datagram::{Kind, VectorsHeader};
use evenkeel::{Duration, GlobalTime};

/// Until then two ends are still getting to know each other.
const STEADY_AFTER: Duration = Duration::from_secs(2);

/// Bytes of a run, both ways, from when it is steady.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Traffic {
    /// For how long, in seconds.
    pub seconds: f64,
    /// Datagrams with vectors.
    pub datagrams: u64,
    /// The bits of their headers.
    pub header_bits: u64,
    /// Bytes of all that the sender sent.
    pub sent_bytes: u64,
    /// Datagrams with receipts.
    pub receipts: u64,
    /// Bytes of those.
    pub receipt_bytes: u64,
}

/// Counts it.
pub(super) struct Meter {
    steady: GlobalTime,
    until: GlobalTime,
    /// The header each receiver got last.
    headers: Vec<Option<VectorsHeader>>,
    traffic: Traffic,
}

impl Meter {
    pub(super) fn new(start: GlobalTime, receivers: usize) -> Self {
        let headers = vec![None; receivers];
        Self { steady: start + STEADY_AFTER, until: start, headers, traffic: Traffic::default() }
    }

    /// A datagram leaves.
    pub(super) fn count(&mut self, from: u32, to: u32, bytes: &[u8], now: GlobalTime) {
        self.until = self.until.max(now);
        let steady = now >= self.steady;
        if from != SENDER {
            if steady {
                self.traffic.receipts += 1;
                self.traffic.receipt_bytes += bytes.len() as u64;
            }
            return;
        }
        let mut r = BitReader::new(bytes);
        let before = &mut self.headers[to as usize - 1];
        if Kind::of(bytes) == Some(Kind::Vectors)
            && let Ok(header) = VectorsHeader::parse_after(before.as_ref(), &mut r)
        {
            *before = Some(header);
            if steady {
                self.traffic.datagrams += 1;
                self.traffic.header_bits += (bytes.len() * 8 - r.remaining_bits()) as u64;
            }
        }
        if steady {
            self.traffic.sent_bytes += bytes.len() as u64;
        }
    }

    pub(super) fn finish(self) -> Traffic {
        Traffic { seconds: self.until.since(self.steady).as_secs_f64().max(0.0), ..self.traffic }
    }
}

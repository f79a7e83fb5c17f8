//! What connections have done, in a report's words.

use crate::report::{ConnectionReport, SessionReport, Traffic};
use crate::transport::{Carrier, Statistics};

impl ConnectionReport {
    pub(crate) fn new(remote: std::net::SocketAddr, carrier: Carrier, statistics: &Statistics) -> Self {
        Self {
            remote: remote.to_string(),
            carrier: match carrier {
                Carrier::WebTransport => "webtransport",
                Carrier::WebSocket => "websocket",
            },
            round_trip_s: statistics.round_trip.map(|span| span.as_secs_f64()),
            lost_packets: statistics.lost_packets,
            datagrams: Traffic { sent: statistics.datagrams_sent, received: statistics.datagrams_received },
            messages: Traffic { sent: statistics.messages_sent, received: statistics.messages_received },
            outgoing_bytes: statistics.outgoing_bytes,
            incoming_datagrams: statistics.incoming_datagrams,
            incoming_bytes: statistics.incoming_bytes,
        }
    }
}

/// What connections have done, those that are gone included.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    datagrams: Traffic,
    messages: Traffic,
    refused: u64,
    dropped: u64,
    overrun: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, statistics: &Statistics) {
        self.datagrams.sent += statistics.datagrams_sent;
        self.datagrams.received += statistics.datagrams_received;
        self.messages.sent += statistics.messages_sent;
        self.messages.received += statistics.messages_received;
        self.refused += statistics.datagrams_refused;
        self.dropped += statistics.datagrams_dropped;
        self.overrun += statistics.datagrams_overrun;
    }

    pub(crate) fn tell(&self, report: &mut SessionReport) {
        report.messages.insert("all_datagrams", self.datagrams);
        report.messages.insert("all_reliable", self.messages);
        report.drops.insert("carrier_full", self.refused);
        report.drops.insert("inbox_full", self.dropped);
        report.drops.insert("machine_busy", self.overrun);
    }
}

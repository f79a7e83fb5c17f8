//! What eight players cost on the wire, all included: headers, receipts, acknowledgements.

use super::trace;
use crate::workload::trace::{Cuts, Trace};
use crate::world::{Fleet, Rules, Setting, Traffic, run};
use anyhow::{Result, ensure};
use evenkeel::policy::{Budget, by_name};
use evenkeel::{Duration, GlobalTime};
use evenkeel_link::Conditions;
use std::path::Path;

/// So many entities of the trace are told to one receiver,
const PLAYERS: usize = 8;
/// this far away, for this many seconds.
const DELAY: Duration = Duration::from_millis(100);
const SECONDS: f64 = 60.0;

/// Counts the bytes of eight players of a recorded game, sent to one receiver as they come.
pub fn eight_players(data: &Path) -> Result<Traffic> {
    let path = trace(data, "bzflag-dense-a")?;
    let name = path.display().to_string();
    let mut entities = Trace::read(&path, Cuts::default())?.truth(&name, Some(SECONDS), false)?;
    entities.truncate(PLAYERS);
    let rules = Rules::default();
    let fleet = Fleet::new(name, entities, &rules)?;
    let outcome = run(Setting {
        fleet: &fleet,
        rules,
        policy: by_name("base", Budget::Unlimited, 1)?,
        paths: &[Conditions::delay(DELAY)],
        uplink: None,
        seed: 1,
        origin: GlobalTime::ZERO,
        recorder: None,
    })?;
    ensure!(outcome.refused.total() == 0, "datagrams were refused: {:?}", outcome.refused);
    Ok(outcome.traffic)
}

impl Traffic {
    /// Mean bytes of a datagram before its first record.
    pub fn datagram_header_bytes(&self) -> f64 {
        self.header_bits as f64 / 8.0 / self.datagrams.max(1) as f64
    }

    /// Bytes of receipts for each datagram that they report.
    pub fn receipt_bytes_per_datagram(&self) -> f64 {
        self.receipt_bytes as f64 / self.datagrams.max(1) as f64
    }

    /// Bytes per second, both ways together.
    pub fn bytes_per_second(&self) -> f64 {
        (self.sent_bytes + self.receipt_bytes) as f64 / self.seconds.max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_costs_at_most_ten_bytes() {
        let traffic = eight_players(&super::super::default_data()).unwrap();
        assert!(traffic.datagrams > 500 && traffic.seconds > 50.0, "{traffic:?}");
        let (header, receipt) = (traffic.datagram_header_bytes(), traffic.receipt_bytes_per_datagram());
        assert!(header <= 10.0 && header > 5.0, "{header}");
        assert!(receipt < 40.0 && receipt > 5.0, "{receipt}");
    }
}

//! The round-trip times that a server measures, as a file for `evenkeel sites`.

use anyhow::{Context, Result};
use evenkeel_net::Server;
use evenkeel_net::report::SessionReport;
use evenkeel_sites::input::{Pair, write_pairs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Of so many players the last round trip is remembered: those who leave count, too.
const MAX_PLAYERS: usize = 100_000;

/// Who is how far from this server.
pub(super) struct Rtts {
    file: PathBuf,
    site: String,
    by_player: BTreeMap<String, f32>,
}

impl Rtts {
    /// Nobody yet. The file is written at once, so that what is wrong with it is noticed at the start.
    pub(super) fn new(file: &Path, site: &str) -> Result<Self> {
        let rtts = Self { file: file.to_owned(), site: site.to_owned(), by_player: BTreeMap::new() };
        rtts.write()?;
        Ok(rtts)
    }

    /// Takes in what the server knows now, and writes it down. A full disk is no reason to stop serving.
    pub(super) async fn update(&mut self, server: &Server) {
        self.take(&server.report().await);
        if let Err(error) = self.write() {
            tracing::error!("{error:#}");
        }
    }

    fn take(&mut self, report: &SessionReport) {
        for receiver in &report.receivers {
            let carried = receiver.connection.as_ref().and_then(|connection| connection.round_trip_s);
            let Some(seconds) = receiver.round_trip_s.or(carried) else { continue };
            let known = self.by_player.contains_key(&receiver.name);
            if known || (self.by_player.len() < MAX_PLAYERS && is_writable(&receiver.name)) {
                self.by_player.insert(receiver.name.clone(), (seconds * 1e3) as f32);
            }
        }
    }

    /// Beside the file first, so that nobody ever reads half of it.
    fn write(&self) -> Result<()> {
        let pairs = self.by_player.iter().map(|(from, rtt_ms)| Pair { from, to: &self.site, rtt_ms: *rtt_ms });
        let failed = || format!("--rtts {} cannot be written", self.file.display());
        let text = write_pairs(pairs).with_context(failed)?;
        let mut beside = self.file.clone().into_os_string();
        beside.push(".part");
        std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &self.file)).with_context(failed)
    }
}

/// Whether a name can stand in the file.
pub(super) fn is_writable(name: &str) -> bool {
    write_pairs([Pair { from: name, to: name, rtt_ms: 0.0 }]).is_ok()
}

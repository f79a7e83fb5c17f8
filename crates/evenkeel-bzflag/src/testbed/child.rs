//! One program of the bed: its process and its log.

use super::{BedError, Died};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// How much of the end of a log is told.
const TAIL_LINES: usize = 12;
const TAIL_BYTES: u64 = 4_096;
/// Linux counts a process's time in hundredths of a second for those who ask in /proc.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Running {
    pub who: String,
    pub log: PathBuf,
    child: Child,
}

impl Running {
    /// Starts it in the process group `group`, with both its outputs in `log`.
    pub fn start(who: &str, mut command: Command, log: PathBuf, group: i32) -> Result<Self, BedError> {
        let open = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = open.map_err(BedError::io(log.display().to_string()))?;
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(group);
        let child = command.spawn().map_err(BedError::io(format!("{who} does not start")))?;
        Ok(Self { who: who.into(), log, child })
    }

    /// Whether it still runs.
    pub fn check(&mut self) -> Result<(), Died> {
        let how = match self.child.try_wait() {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Err(Died { who: self.who.clone(), how, log: self.tail() })
    }

    pub fn kill(&mut self) {
        // Both fail only for a process that is already gone, which is what was wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn said(&self) -> Result<String, BedError> {
        let bytes = fs::read(&self.log).map_err(BedError::io(self.log.display().to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn tail(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
            let mut end = Vec::new();
            file.take(TAIL_BYTES).read_to_end(&mut end)?;
            Ok(end)
        };
        let end = read().unwrap_or_default();
        let text = String::from_utf8_lossy(&end);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// The time it has computed; 0 where that cannot be told any more.
    pub fn cpu_seconds(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        cpu_ticks(&stat).unwrap_or(0) as f64 / TICKS_PER_SECOND
    }
}

/// The time that this very program has computed so far, in seconds; 0 where that cannot be told.
pub fn own_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    cpu_ticks(&stat).unwrap_or(0) as f64 / TICKS_PER_SECOND
}

/// User and system time of a line of /proc/PID/stat. The program's name, in brackets, may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_time_is_read_past_any_name() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 17 5 0 0 20 0 1 0 99 1 2 3";
        assert_eq!(cpu_ticks(stat), Some(22));
        assert_eq!(cpu_ticks(""), None);
        assert_eq!(cpu_ticks("42 (a) S 1"), None);
    }
}

//! What the operating system says of a process: how much memory it holds, and how long it has been at work.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(1);
/// Linux counts work in hundredths of a second, whatever its clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process at one moment.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Usage {
    /// Since the first look.
    pub(super) at_s: f64,
    /// Memory that it holds.
    pub(super) rss_kib: f64,
    /// How long it has been at work on all processors, in the kernel too.
    pub(super) cpu_s: f64,
}

impl Usage {
    fn of(process: u32, at: Duration) -> Result<Self> {
        let read = |file: &str| {
            let path = format!("/proc/{process}/{file}");
            std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read: this needs Linux"))
        };
        let status = read("status")?;
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok());
        let stat = read("stat")?;
        // The name before it is in brackets and may contain anything.
        let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks =
            after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>();
        let rss_kib = rss.context("the system does not say how much memory the process holds")?;
        Ok(Self { at_s: at.as_secs_f64(), rss_kib, cpu_s: ticks / TICKS_PER_SECOND })
    }
}

/// Looks at a process every second, on a thread of its own.
pub(super) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Usage>>,
}

impl Sampler {
    pub(super) fn start(process: u32) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, begin) = (stop.clone(), Instant::now());
        let first = Usage::of(process, Duration::ZERO)?;
        let look = move || {
            let mut samples = vec![first];
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(EVERY);
                samples.extend(Usage::of(process, begin.elapsed()));
            }
            samples
        };
        Ok(Self { stop, thread: std::thread::Builder::new().name("sampler".into()).spawn(look)? })
    }

    pub(super) fn stop(self) -> Vec<Usage> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

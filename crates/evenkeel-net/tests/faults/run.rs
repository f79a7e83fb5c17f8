//! Runs the faults side by side: they mostly wait, and more of them fit at once than there are processors.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// So many at once.
const AT_ONCE: usize = 6;

/// A fault: its name, and what plays it and says what was measured.
pub type Fault = (&'static str, fn() -> String);

/// Lets a fault be played on a runtime of its own.
pub fn block_on(fault: impl Future<Output = String>) -> String {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let measured = runtime.block_on(fault);
    runtime.shutdown_background();
    measured
}

/// Plays those that are asked for on the command line, as other test programs do it: `together` side by side, then each of
/// `alone`.
pub fn all(together: &[Fault], alone: &[Fault]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |(name, _): &&Fault| {
        let named = |filter: &&String| if has("--exact") { name == *filter } else { name.contains(filter.as_str()) };
        filters.is_empty() || filters.iter().any(named)
    };
    let pick = |faults: &[Fault]| -> Vec<Fault> { faults.iter().filter(wanted).copied().collect() };
    let (together, alone) = (pick(together), pick(alone));
    if has("--list") {
        // None is ever ignored.
        let all = together.iter().chain(&alone).filter(|_| !has("--ignored"));
        all.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if has("--ignored") {
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let failed = Mutex::new(Vec::new());
    println!("running {} tests", together.len() + alone.len());
    abreast(&together, AT_ONCE, &failed);
    abreast(&alone, 1, &failed);
    let failed = failed.into_inner().unwrap();
    println!("{} failed {failed:?}; finished in {:.1} s", failed.len(), start.elapsed().as_secs_f64());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn abreast(faults: &[Fault], at_once: usize, failed: &Mutex<Vec<&'static str>>) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let played = std::panic::catch_unwind(AssertUnwindSafe(fault));
            let took = start.elapsed().as_secs_f64();
            match played {
                Ok(measured) => println!("test {name} ... ok, {took:.1} s: {measured}"),
                Err(_) => {
                    println!("test {name} ... FAILED, {took:.1} s");
                    failed.lock().unwrap().push(*name);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(faults.len()) {
            scope.spawn(work);
        }
    });
}

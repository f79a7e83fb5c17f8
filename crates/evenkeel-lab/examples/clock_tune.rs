//! x
use evenkeel_lab::clock::*;
fn main() {
    let runs = std::env::args().nth(1).map_or(5, |s| s.parse().unwrap());
    let seed = std::env::args().nth(2).map_or(1, |s| s.parse().unwrap());
    let report = measure(runs, seed).unwrap();
    for (what, rows) in [("stamps down only", &report.paths), ("with echoes", &report.paths_with_echoes)] {
        println!("{what}");
        for r in rows {
            println!(
                "{:8} ours {:.3} {:.3} {:.3} | ewma {:.1} {:.1} {:.1} | ntp {:.1} {:.1} {:.1} | ly {:.1} {:.1} {:.1} | <5 {:.2} <1 {:.2} | unc {:.3} bound {:.4} back {} mem {}",
                r.path,
                r.ours.p50_ms,
                r.ours.p99_ms,
                r.ours.max_ms,
                r.ewma.p50_ms,
                r.ewma.p99_ms,
                r.ewma.max_ms,
                r.min_of_eight.p50_ms,
                r.min_of_eight.p99_ms,
                r.min_of_eight.max_ms,
                r.lightyear.p50_ms,
                r.lightyear.p99_ms,
                r.lightyear.max_ms,
                r.under_5ms_secs,
                r.under_1ms_secs,
                r.within_uncertainty,
                r.within_bound,
                r.backward_ticks,
                r.memory_bytes
            );
        }
    }
    for s in &report.steps {
        println!("{s:?}");
    }
    println!("random {:?} cost {:?} x{:.1}", report.random_share, report.cost, report.cost.multiple());
}

//! The report as plain text.

use std::fmt;

use super::{ClockReport, Errors, PathReport, StepReport};

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6.3} {:6.3} {:6.3}", self.p50_ms, self.p99_ms, self.max_ms)
    }
}

impl fmt::Display for PathReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8} | {} | {} | {} | {}", self.path, self.ours, self.ewma, self.min_of_eight, self.lightyear)?;
        write!(f, " | {:5.2} {:5.2}", self.under_5ms_secs, self.under_1ms_secs)?;
        write!(f, " | {:5.3}", self.uncertainty_p50_ms)?;
        write!(f, " {:5.1} {:5.1}", 100.0 * self.within_uncertainty, 100.0 * self.within_bound)?;
        write!(f, " | {:8}", self.backward_ticks)
    }
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8} | {:6.0}", self.path, self.step_ms)?;
        write!(f, " | {:5.2} {:5.2} | {:8}", self.healed_secs_p90, self.healed_secs_max, self.backward_ticks)
    }
}

impl fmt::Display for ClockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = [
            ("Stamps from the reference only", &self.paths),
            ("With echoes", &self.paths_with_echoes),
            ("Rough paths, without echoes", &self.rough_paths),
        ];
        for (title, paths) in tables {
            writeln!(f, "{title}: error p50, p99, max in ms")?;
            write!(
                f,
                "path     | ours                 | EWMA of RTT/2        | NTP's min of eight   | lightyear's rule    "
            )?;
            writeln!(f, " | <5 ms, <1 ms after s | uncertainty ms, % within it, % within bound | backwards")?;
            for path in paths {
                writeln!(f, "{path}")?;
            }
            writeln!(f)?;
        }
        for (title, steps) in [("without echoes", &self.steps), ("with echoes", &self.steps_with_echoes)] {
            writeln!(f, "The host's clock is set, {title}: path | by ms | healed after s, p90 and max | backwards")?;
            for step in steps {
                writeln!(f, "{step}")?;
            }
            writeln!(f)?;
        }
        let [plain, echoes] = self.random_share.map(|share| 100.0 * share);
        writeln!(f, "Random paths with p99 under 1 ms: {plain:.1} %, with echoes {echoes:.1} %")?;
        write!(f, "One exchange: {:.0} ns, {:.0} times the naive rule's; ", self.cost.ours_ns, self.cost.multiple())?;
        write!(f, "memory {} bytes", self.paths.iter().map(|path| path.memory_bytes).max().unwrap_or(0))
    }
}

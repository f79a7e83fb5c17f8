//! When, where and with what a run was.

use std::time::{SystemTime, UNIX_EPOCH};

/// The packages whose versions matter, by the names in the lock file.
const PACKAGES: [&str; 4] = ["evenkeel", "bevy_replicon", "lightyear", "bevy_ecs"];

/// The versions that this program was built with.
pub fn versions() -> Vec<(&'static str, &'static str)> {
    PACKAGES.into_iter().filter_map(|name| Some((name, version_of(name)?))).collect()
}

fn version_of(name: &str) -> Option<&'static str> {
    let lock = include_str!("../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("\nname = \"{name}\"\n")))?;
    entry.split("\nversion = \"").nth(1)?.split('"').next()
}

/// The processor and how many of it.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} threads", model.unwrap_or("unknown processor").trim())
}

/// How busy the machine was with others, as Unix has it.
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Today, as year, month and day.
pub fn date() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs() / 86_400);
    let (year, month, day) = civil(days as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date so many days after the first of 1970, by the Gregorian calendar, whose years here begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }

    #[test]
    fn the_lock_file_says_what_was_built() {
        let versions = versions();
        assert!(
            versions.contains(&("bevy_replicon", "0.44.3")) && versions.contains(&("lightyear", "0.30.1")),
            "{versions:?}"
        );
    }
}

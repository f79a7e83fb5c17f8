//! The real game, where it is installed.

use evenkeel_bzflag::testbed::Tools;

/// The game's programs. Where they are missing this says so; `EVENKEEL_BZFLAG_TESTS=1` makes that a failure.
pub fn tools() -> Option<Tools> {
    match Tools::find() {
        Ok(tools) => Some(tools),
        Err(why) if std::env::var_os("EVENKEEL_BZFLAG_TESTS").is_some() => panic!("{why}"),
        Err(why) => {
            eprintln!("SKIPPED, nothing was played: {why}");
            None
        }
    }
}

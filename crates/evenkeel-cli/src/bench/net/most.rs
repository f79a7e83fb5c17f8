//! The largest number of players that a server carries.

use super::outcome::Outcome;
use super::{Arguments, measure};
use anyhow::Result;
use tokio::runtime::Runtime;

/// A server that cannot keep up lets messages wait: 99 of 100 must be with their receiver within this long, in milliseconds.
/// They are looked for twenty times a second.
const WITHIN_MS: f64 = 250.0;
/// A processor that is busy for more of the time than this has no room for what comes in bursts.
const BUSY: f64 = 0.95;
/// Close enough.
const DIFFERENCE: f64 = 0.1;

/// Doubles the players until the server cannot carry them, then looks between the last two numbers.
pub(super) fn find(arguments: &Arguments, runtime: &Runtime) -> Result<()> {
    let (mut carried, mut too_many, mut players) = (0, None, arguments.players);
    let (most, why) = loop {
        match attempt(&Arguments { players, ..arguments.clone() }, runtime) {
            None => carried = players,
            Some(why) => too_many = Some((players, why)),
        }
        players = match too_many {
            None => players * 2,
            Some((most, ref why)) if (most - carried) as f64 <= DIFFERENCE * most as f64 || most <= 3 => {
                break (most, why.clone());
            }
            Some((most, _)) => carried.midpoint(most).max(2),
        };
    };
    let Arguments { entities, hz, course, policy, .. } = arguments;
    println!(
        "the most players it keeps up with: {carried}, {entities} entities at {hz} Hz on {course:?}, policy {policy} (99 % of \
         messages within {WITHIN_MS:.0} ms, at most {BUSY} of one processor, nothing lost); not with {most}: {why}"
    );
    Ok(())
}

/// Why the server does not keep up with so many, if so.
fn attempt(arguments: &Arguments, runtime: &Runtime) -> Option<String> {
    match runtime.block_on(measure(arguments)) {
        Ok(outcome) => {
            let why = strained(&outcome);
            println!("{outcome}\n=> {}\n", why.as_deref().unwrap_or("it keeps up"));
            why
        }
        Err(error) => {
            println!("{} players\n=> {error:#}\n", arguments.players);
            Some(error.to_string())
        }
    }
}

/// Why the server does not keep up, if so.
fn strained(outcome: &Outcome) -> Option<String> {
    if outcome.message_p99_ms > WITHIN_MS {
        return Some(format!("messages take {:.0} ms", outcome.message_p99_ms));
    }
    if outcome.cpu > BUSY {
        return Some(format!("it is busy for {:.0} % of the time", outcome.cpu * 100.0));
    }
    let lost = outcome.messages_lost != 0 || outcome.players_dropped > 0;
    lost.then(|| format!("{} messages and {} connections were lost", outcome.messages_lost, outcome.players_dropped))
}

//! Who is measured, and with which settings. Whoever is to be measured too gets a file of its own and a few lines here.

use crate::connections::Connections;
use crate::contender::{Contender, TICK};
use crate::entrant::Entrant;
use crate::evenkeel_bevy::InBevy;
use crate::evenkeel_heart::{self as ours, Evenkeel};
use crate::games::Game;
use crate::lightyear_peer::{self as lightyear, Lightyear};
use crate::parts::Fields;
use crate::replicon::{self, Replicon};
use anyhow::Result;
use evenkeel::wire::Format;
use evenkeel::{Budget, Duration, GlobalTime, Threshold};
use std::f64::consts::PI;

/// How far our receivers' clocks are off, in turns one way and the other: the most that `evenkeel bench` finds in 99 %
/// of all moments on paths of 5 to 400 ms. The peers' clients get a perfect clock wherever they have use for one.
const CLOCK_ERROR: Duration = Duration::from_micros(400);

/// As far as our knob makes vectors share datagrams before it makes them fewer.
const SHARED: f64 = 3.0;

/// How often the peers send, in ticks.
pub const EVERY: [u32; 7] = [1, 2, 3, 4, 6, 12, 20];

/// How a peer is set up for the recorded games.
#[derive(Clone, Copy, Debug)]
pub enum Peer {
    /// bevy_replicon.
    Replicon(Fields, replicon::Shows),
    /// lightyear.
    Lightyear(Fields, lightyear::Shows),
}

/// A peer in one of its forms.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// What tables call it.
    pub name: &'static str,
    /// Why it is set up like this.
    pub why: &'static str,
    /// How it is.
    pub peer: Peer,
}

const fn fields(quantised: bool, motion: bool) -> Fields {
    Fields { quantised, motion }
}

/// The peers in all forms that are measured on recorded games.
pub const VARIANTS: [Variant; 9] = [
    Variant {
        name: "replicon",
        why: "as it comes: the newest position received; velocities would be bytes for nothing",
        peer: Peer::Replicon(fields(false, false), replicon::Shows::Received),
    },
    Variant {
        name: "replicon, quantised",
        why: "the same in our quantiser's bits",
        peer: Peer::Replicon(fields(true, false), replicon::Shows::Received),
    },
    Variant {
        name: "replicon, extrapolated",
        why: "the game's client moves it on by its velocity since it came: no common clock is needed",
        peer: Peer::Replicon(fields(false, true), replicon::Shows::SinceArrival),
    },
    Variant {
        name: "replicon, quantised, extrapolated",
        why: "the same in our quantiser's bits, along our arcs and parabolas",
        peer: Peer::Replicon(fields(true, true), replicon::Shows::SinceArrival),
    },
    Variant {
        name: "replicon, quantised, perfect clock",
        why: "moved on since the server's tick, by a perfect clock that the game would have to bring",
        peer: Peer::Replicon(fields(true, true), replicon::Shows::SinceTick),
    },
    Variant {
        name: "lightyear",
        why: "as it comes: interpolation with its default delays; it needs positions only",
        peer: Peer::Lightyear(fields(false, false), lightyear::Shows::Interpolated),
    },
    Variant {
        name: "lightyear, quantised",
        why: "the same in our quantiser's bits",
        peer: Peer::Lightyear(fields(true, false), lightyear::Shows::Interpolated),
    },
    Variant {
        name: "lightyear, quantised, tuned",
        why: "one interval behind the server, no margin for jitter, a fifth of the pings",
        peer: Peer::Lightyear(fields(true, false), lightyear::Shows::Tuned),
    },
    Variant {
        name: "lightyear, quantised, smooth",
        why: "300 ms behind the server, so that every receiver has something to interpolate towards",
        peer: Peer::Lightyear(fields(true, false), lightyear::Shows::Smooth),
    },
];

impl Variant {
    /// One that sends every so many ticks.
    pub fn enter(&self, receivers: usize, every: u32) -> Box<dyn Contender> {
        match self.peer {
            Peer::Replicon(fields, shows) => {
                Box::new(Replicon::new(replicon::Setup { receivers, fields, every, shows }))
            }
            Peer::Lightyear(fields, shows) => {
                Box::new(Lightyear::new(lightyear::Setup { receivers, fields, every, shows }))
            }
        }
    }
}

/// Which of our policies, and how it is told how much to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// Everything that is due to everybody.
    Base,
    /// The policy `even`: more becomes due, and 70 % of it is sent, to whom it helps most.
    Even,
}

impl Ours {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Base, Self::Even];

    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "Evenkeel, base",
            Self::Even => "Evenkeel, even",
        }
    }

    /// When vectors are due, what share of them is sent, and how many ticks apart, by one knob: at 0 as usual,
    /// below for more bytes, above for fewer. `usual` is the usual threshold, in the units of the game.
    fn settings(self, usual: f64, knob: f64) -> (Threshold, f64, f64) {
        // The first bytes to save are the headers of datagrams, then vectors.
        let beyond = |knob: f64| (knob - SHARED).max(0.0);
        let due = |knob: f64| {
            // A heartbeat makes up for what was lost, so whoever has bytes to spare spends them on more of those.
            let (metres, seconds) = (usual * (2.0 * beyond(knob)).exp2(), (knob.min(0.0) + beyond(knob) / 2.0).exp2());
            // Nobody is judged by headings, so nothing becomes due for its heading.
            Threshold::within(metres).turning(PI).at_least_every(Duration::from_secs_f64(seconds.min(5.0)))
        };
        let every = knob.clamp(0.0, SHARED).exp2();
        match self {
            Self::Base => (due(knob), 1.0, every),
            Self::Even => (due(knob - 0.5), 0.7, every),
        }
    }

    /// The settings for people: policy, threshold, heartbeat, time between two datagrams.
    pub fn describe(self, game: &Game, knob: f64) -> String {
        let (threshold, _, every) = self.settings(game.threshold, knob);
        let (distance, seconds) = (threshold.tolerance.value(), threshold.time.as_secs_f64());
        let policy = if self == Self::Base { "base" } else { "even" };
        format!("{policy} {distance:.2}{} {seconds:.2} s {:.0} ms", game.unit(), every * TICK.as_millis_f64())
    }

    /// One with this knob.
    pub fn enter(self, game: &Game, receivers: usize, knob: f64, now: GlobalTime) -> Result<Box<dyn Contender>> {
        let (threshold, share, every) = self.settings(game.threshold, knob);
        let (policy, budget) = match self {
            Self::Base => ("base", Budget::Unlimited),
            Self::Even => ("even", Budget::OfBase { share }),
        };
        let (history, clock_error, format) = (Duration::from_secs(3), CLOCK_ERROR, game.format);
        let setup =
            ours::Setup { receivers, policy, budget, format, threshold, every, books: true, history, clock_error };
        Ok(Box::new(Evenkeel::new(setup, now)?))
    }
}

/// Everybody whose server is timed, with receivers that are connected like this.
pub fn entrants(receivers: usize, connections: Connections, now: GlobalTime) -> Result<Vec<Entrant>> {
    let replicon = |quantised| {
        let (fields, shows) = (fields(quantised, true), replicon::Shows::Received);
        Box::new(Replicon::new(replicon::Setup { receivers, fields, every: 1, shows }))
    };
    let lightyear = |quantised| {
        let (fields, shows) = (fields(quantised, true), lightyear::Shows::Received);
        Box::new(Lightyear::new(lightyear::Setup { receivers, fields, every: 1, shows }))
    };
    // No heartbeat: the peers have none either.
    let threshold = Threshold::within(0.1).at_least_every(Duration::from_secs(1_000_000));
    let history = connections.history();
    let evenkeel = |books| -> Result<Box<Evenkeel>> {
        let (policy, budget, clock_error) = ("base", Budget::Unlimited, Duration::ZERO);
        let format = Format::bzflag();
        let setup =
            ours::Setup { receivers, policy, budget, format, threshold, every: 1.0, books, history, clock_error };
        Ok(Box::new(Evenkeel::new(setup, now)?))
    };
    let bevy = Box::new(InBevy::new(receivers, threshold, history)?);
    let entrant = |name, decides, contender| Entrant::new(name, decides, contender, connections, now);
    Ok(vec![
        entrant("bevy_replicon", false, replicon(false)),
        entrant("bevy_replicon, quantised", false, replicon(true)),
        entrant("lightyear", false, lightyear(false)),
        entrant("lightyear, quantised", false, lightyear(true)),
        entrant("Evenkeel", true, evenkeel(true)?),
        entrant("Evenkeel, no books", true, evenkeel(false)?),
        entrant("Evenkeel in Bevy", true, bevy),
    ])
}

/// Times per second.
pub fn hertz(every: u32) -> f64 {
    1.0 / (f64::from(every) * TICK.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{self, Size};
    use crate::scenario::Scenario;

    const SMALL: Size = Size { entities: 40, receivers: 3, ticks: 40, block: 5 };

    #[test]
    fn everybody_delivers_everything_and_nothing_when_nothing_is_due() {
        let enter = |connections, now| entrants(SMALL.receivers, connections, now);
        let costs = load::run(&enter, &SMALL, &|_| {}).unwrap();
        for cost in &costs {
            match cost.scenario {
                // Some still ask each other for the time.
                Scenario::Idle => assert!(cost.bytes_per_second < 3_000.0, "{cost:?}"),
                scenario if scenario.is_all_due() => {
                    assert!((7.0..40.0).contains(&cost.bytes_per_update.unwrap()), "{cost:?}");
                    assert!((10.0..100_000.0).contains(&cost.heap_per_pair.unwrap()), "{cost:?}");
                }
                _ => {}
            }
            assert!(cost.median <= cost.p99 && cost.p99 <= cost.longest && cost.mean <= cost.longest, "{cost:?}");
        }
        assert_eq!(costs.len(), Scenario::ALL.len() * 7);
    }

    #[test]
    fn the_more_the_knob_is_turned_the_less_is_due() {
        for policy in Ours::ALL {
            let settings: Vec<_> = (-6..=5).map(|knob| policy.settings(0.05, f64::from(knob))).collect();
            assert!(settings.is_sorted_by_key(|(threshold, ..)| threshold.time));
            assert!(settings.is_sorted_by(|a, b| a.0.tolerance.value() <= b.0.tolerance.value() && a.2 <= b.2));
        }
    }
}

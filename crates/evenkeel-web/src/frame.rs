//! What a page draws, and how it gets there: as numbers in a row.

use evenkeel::{Duration, GlobalTime, HostId};
use evenkeel_games::words::Score;

/// How things stand with the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not in yet, or the session's time is not known yet.
    Connecting,
    /// In.
    Joined,
    /// The connection was lost.
    Lost,
    /// The server does not want this player, and there is no use in asking again.
    Refused,
    /// The player has left.
    Over,
}

/// One's own craft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    /// Where it is shown: x, y, heading.
    pub place: [f64; 3],
    /// Whether it is in the game.
    pub alive: bool,
    /// How long it is still out.
    pub out: Duration,
    /// How many shots it could fire.
    pub loaded: usize,
    /// The lag is too long to drive by: it is shown at once, unlike everything else.
    pub at_once: bool,
}

/// Somebody else's craft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other {
    /// Whose.
    pub host: HostId,
    /// Where it is shown: x, y, heading.
    pub place: [f64; 3],
    /// How long its vector has been extrapolated.
    pub age: Duration,
    /// Whether extrapolation has ended.
    pub frozen: bool,
}

/// A ship's beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Both ends: x, y, x, y.
    pub ends: [f64; 4],
    /// Whose.
    pub shooter: HostId,
}

/// Everything that a page draws at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// How things stand.
    pub status: Status,
    /// Changes whenever why things stand so, or a name, has changed.
    pub told: u32,
    /// The session's time.
    pub time: Option<GlobalTime>,
    /// The player's number.
    pub you: Option<HostId>,
    /// How far off the clock may be.
    pub uncertainty: Option<Duration>,
    /// From the server to here.
    pub delay: Option<Duration>,
    /// To the server and back.
    pub round_trip: Option<Duration>,
    /// How long everything waits before it is shown.
    pub lag: Duration,
    /// One's own craft.
    pub own: Option<Own>,
    /// The others'.
    pub others: Vec<Other>,
    /// Where shots are, and whose.
    pub shots: Vec<([f64; 2], HostId)>,
    /// Beams.
    pub beams: Vec<Beam>,
    /// Who has hit and was hit how often.
    pub scores: Vec<Score>,
}

/// So many numbers come before the lists.
const HEAD: usize = 22;

impl Frame {
    /// As numbers, what is not known as not-a-number: the status (0 connecting, 1 joined, 2 lost, 3 refused, 4 over), `told`, time in
    /// seconds, the player's number; in milliseconds uncertainty, delay, round trip, lag; whether there is a craft of one's own, its x,
    /// y, heading, whether it is alive, seconds out, loaded, at once, hits, deaths; how many others, shots, beams and scores there
    /// are; then for each other host, x, y, heading, age in seconds, frozen; for each shot x, y, host; for each beam x, y, x, y,
    /// host; for each score host, hits, deaths.
    pub fn numbers(&self) -> Vec<f64> {
        let millis = |span: Option<Duration>| span.map_or(f64::NAN, Duration::as_millis_f64);
        let flag = |flag: bool| f64::from(u8::from(flag));
        let mut numbers = Vec::with_capacity(HEAD + 6 * self.others.len() + 3 * (self.shots.len() + self.scores.len()));
        numbers.extend([self.status as u8 as f64, self.told.into()]);
        numbers.push(self.time.map_or(f64::NAN, GlobalTime::as_secs_f64));
        numbers.push(self.you.map_or(f64::NAN, |you| you.0.into()));
        numbers.extend([self.uncertainty, self.delay, self.round_trip, Some(self.lag)].map(millis));
        numbers.push(flag(self.own.is_some()));
        match &self.own {
            None => numbers.extend([f64::NAN; 7]),
            Some(own) => {
                numbers.extend(own.place);
                numbers.extend([flag(own.alive), own.out.as_secs_f64(), own.loaded as f64, flag(own.at_once)]);
            }
        }
        let score = self.scores.iter().find(|score| Some(score.host) == self.you);
        numbers.extend(score.map_or([0.0; 2], |score| [score.hits.into(), score.deaths.into()]));
        numbers.extend(
            [self.others.len(), self.shots.len(), self.beams.len(), self.scores.len()].map(|count| count as f64),
        );
        debug_assert_eq!(numbers.len(), HEAD);
        self.lists(&mut numbers);
        numbers
    }

    fn lists(&self, numbers: &mut Vec<f64>) {
        for Other { host, place: [x, y, heading], age, frozen } in &self.others {
            numbers.extend([host.0.into(), *x, *y, *heading, age.as_secs_f64(), f64::from(u8::from(*frozen))]);
        }
        for ([x, y], shooter) in &self.shots {
            numbers.extend([*x, *y, shooter.0.into()]);
        }
        for Beam { ends, shooter } in &self.beams {
            numbers.extend(ends);
            numbers.push(shooter.0.into());
        }
        for Score { host, hits, deaths } in &self.scores {
            numbers.extend([host.0, *hits, *deaths].map(f64::from));
        }
    }
}

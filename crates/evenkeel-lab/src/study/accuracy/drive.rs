//! The three ways of driving in the thesis's accuracy experiments (2.3), and one that only stops.
//!
//! "Linear" and "circular" were driven by a human: straight on, or with the stick held to one side, with starts, stops and
//! slight corrections, which are nowhere put into numbers. These numbers are ours, chosen before anything was measured.

use crate::workload::{Entity, FRAME, Life, Motion, Sample};
use evenkeel::{GlobalTime, Pose, Vec3};
use evenkeel_link::Noise;

const FULL_SPEED: f64 = 25.0;
/// Backwards a tank of BZFlag is half as fast.
const REVERSE_SPEED: f64 = -12.5;
/// Stick all the way to one side.
const TURN_RATE: f64 = core::f64::consts::FRAC_PI_4;
/// A slight correction: so much more turning for a tenth to a fifth of a second, 1 to 2 degrees.
const CORRECTION_RATE: f64 = 0.2;
/// Between two of them, on average.
const MEAN_BETWEEN_CORRECTIONS: f64 = 8.0;

/// How the tank is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::study) enum Drive {
    /// Straight on for 10 to 20 s, a pause, and back in reverse.
    Linear,
    /// The same with the stick held to one side.
    Circular,
    /// Full speed, stops, turns and reversals, most of them within a second.
    Random,
    /// Straight on at full speed for two to four seconds, then two seconds at rest, again and again.
    Stops,
}

impl Drive {
    /// Those of figure 2.2, by name.
    pub(super) const ALL: [(&str, Self); 3] =
        [("linear", Self::Linear), ("circular", Self::Circular), ("random", Self::Random)];

    /// One tank driven like this.
    pub(in crate::study) fn entities(self, seconds: f64, seed: u64) -> Vec<Entity> {
        if self == Self::Random {
            return Motion::Tank.entities(1, seconds, seed);
        }
        let mut driver = Driver::new(self, seed);
        let frames = (0..=(seconds * 60.0).floor() as i64).map(|frame| GlobalTime::ZERO + FRAME * frame);
        let lives = Life::new(frames.map(|at| driver.sample(at))).into_iter().collect();
        vec![Entity { name: "tank".into(), lives }]
    }
}

/// A driver at the stick. What it does takes effect with a frame, as in a game's loop.
struct Driver {
    drive: Drive,
    noise: Noise,
    /// Counts what was decided.
    decisions: i64,
    /// Until when the present leg or pause lasts, and how it goes.
    leg: (f64, Leg),
    /// When the next correction begins and ends, and to which side.
    correction: (f64, f64, f64),
    at: f64,
    position: Vec3,
    heading: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Leg {
    Forward { metres: f64 },
    Waiting { next_metres: f64 },
    Back,
    Resting,
}

impl Driver {
    fn new(drive: Drive, seed: u64) -> Self {
        let noise = Noise::new(seed, 0xACC0);
        let heading = noise.uniform(0, 0) * core::f64::consts::TAU;
        let (leg, correction) = ((0.5, Leg::Resting), (0.0, 0.0, 0.0));
        Self { drive, noise, decisions: 0, leg, correction, at: 0.0, position: Vec3::ZERO, heading }
    }

    fn draw(&self, lane: u32, low: f64, high: f64) -> f64 {
        low + (high - low) * self.noise.uniform(self.decisions, lane)
    }

    /// The next leg or pause.
    fn decide(&mut self) {
        self.decisions += 1;
        let pause = if self.drive == Drive::Stops { 2.0 } else { self.draw(1, 1.0, 3.0) };
        let ahead = if self.drive == Drive::Stops { self.draw(2, 2.0, 4.0) } else { self.draw(2, 10.0, 20.0) };
        let (length, leg) = match self.leg.1 {
            Leg::Resting => (ahead, Leg::Forward { metres: ahead * FULL_SPEED }),
            Leg::Forward { .. } if self.drive == Drive::Stops => (pause, Leg::Resting),
            Leg::Forward { metres } => (pause, Leg::Waiting { next_metres: metres }),
            Leg::Waiting { next_metres } => (next_metres / -REVERSE_SPEED, Leg::Back),
            Leg::Back => (pause, Leg::Resting),
        };
        self.leg = (self.at + length, leg);
    }

    fn correct(&mut self) {
        self.decisions += 1;
        let start = self.at + MEAN_BETWEEN_CORRECTIONS * self.noise.exponential(self.decisions, 3);
        let side = if self.noise.chance(self.decisions, 4, 0.5) { CORRECTION_RATE } else { -CORRECTION_RATE };
        self.correction = (start, start + self.draw(5, 0.1, 0.2), side);
    }

    fn controls(&self) -> (f64, f64) {
        let speed = match self.leg.1 {
            Leg::Forward { .. } => FULL_SPEED,
            Leg::Back => REVERSE_SPEED,
            Leg::Waiting { .. } | Leg::Resting => return (0.0, 0.0),
        };
        let steady = if self.drive == Drive::Circular { TURN_RATE } else { 0.0 };
        let (start, end, side) = self.correction;
        let correcting = self.drive != Drive::Stops && self.at >= start && self.at < end;
        (speed, if correcting { steady + side } else { steady })
    }

    /// Drives on to a frame as the stick was, then moves the stick.
    fn sample(&mut self, at: GlobalTime) -> Sample {
        let now = at.since(GlobalTime::ZERO).as_secs_f64();
        let (speed, turn_rate) = self.controls();
        let state = evenkeel::Motion::circular(self.position, self.heading, speed, turn_rate).at(now - self.at);
        (self.position, self.heading, self.at) = (state.position, state.attitude.heading(), now);
        if now >= self.leg.0 {
            self.decide();
        }
        if now >= self.correction.1 {
            self.correct();
        }
        let (speed, turn_rate) = self.controls();
        let velocity = Vec3::from_heading(self.heading) * speed;
        let pose = Pose::at(self.position).facing(self.heading).moving(velocity).turning(turn_rate);
        Sample { at, pose, accelerated: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drives_go_where_they_say() {
        for (name, drive) in Drive::ALL {
            let entities = drive.entities(120.0, 3);
            let samples = entities[0].lives[0].samples();
            let way: f64 = samples.windows(2).map(|p| p[0].pose.position().distance(p[1].pose.position())).sum();
            let farthest = samples.iter().map(|s| s.pose.position().distance(samples[0].pose.position()));
            let farthest = farthest.fold(0.0, f64::max);
            assert!(way > 1000.0 && way < 3000.0, "{name}: {way}");
            let straight = drive == Drive::Linear;
            assert!(if straight { farthest > 240.0 } else { farthest < 400.0 }, "{name}: {farthest}");
        }
    }
}

//! A shooting range for vectors: shooters at receivers fire at what they see of a tank, and decide some time later by what they
//! know of the moment then.

use super::grid::{Case, VERDICT_LAGS_MS};
use crate::experiment::paths;
use crate::study::measure::{TANK_LENGTH, TANK_WIDTH, millis};
use crate::workload::{FRAME, Life, Motion, Sample};
use crate::world::{Rules, format};
use anyhow::{Context, Result};
use evenkeel::policy::Base;
use evenkeel::{
    Duration, EntityConfig, EntityId, GlobalTime, HostId, LagChange, MotionKind, Placing, Receiver, ReceiverConfig,
    Sender, SenderConfig, Vec3, wrap_angle,
};
use evenkeel_link::{Conditions, Link, Noise, Topology};

/// The tank.
const TARGET: EntityId = EntityId(0);
/// Its owner in the network; shooters count from 1.
const OWNER: u32 = 0;
/// Between two shots, at least and on average beyond that, in seconds.
const LEAST_PAUSE: f64 = 0.02;
const MEAN_PAUSE: f64 = 0.03;
/// The first shot, when everybody has seen something of the tank and the longest lag is over.
const FIRST_SHOT: Duration = Duration::from_secs(2);
/// How far away a shooter stands, in metres.
const DISTANCE: (f64, f64) = (40.0, 120.0);
/// How much a hand shakes, in radians, as a standard deviation: about half of the shots hit.
const SHAKE: f64 = 0.055;

/// What one shooter achieved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Shots fired.
    pub(super) shots: f64,
    /// Of these, shots that hit by what was real.
    pub(super) hits: f64,
    /// By verdict lag, shots about which was decided wrongly.
    pub(super) wrong: [f64; VERDICT_LAGS_MS.len()],
}

impl Tally {
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.shots += other.shots;
        self.hits += other.hits;
        self.wrong.iter_mut().zip(other.wrong).for_each(|(sum, wrong)| *sum += wrong);
        self
    }
}

/// A straight shot that takes no time.
#[derive(Clone, Copy)]
struct Shot {
    muzzle: Vec3,
    way: Vec3,
}

impl Shot {
    /// Whether it passes through a tank.
    fn hits(&self, (place, heading): (Vec3, f64)) -> bool {
        let (start, way) = ((self.muzzle - place).turned(-heading), self.way.turned(-heading));
        let sides = [(start.x, way.x, TANK_LENGTH / 2.0), (start.y, way.y, TANK_WIDTH / 2.0)];
        // Within each pair of sides for some stretch of the way; a way along the sides divides by zero to what is wanted.
        let (enters, leaves) = sides.iter().fold((0.0, f64::INFINITY), |(enters, leaves), (start, way, half)| {
            let (a, b) = ((-half - start) / way, (half - start) / way);
            (f64::max(enters, a.min(b)), f64::min(leaves, a.max(b)))
        });
        enters <= leaves
    }
}

/// A shot about which is yet to be decided, by shooter.
struct Fired {
    at: GlobalTime,
    shots: Vec<Option<(Shot, bool)>>,
}

/// Somebody who sees the tank over a network, with a lag.
struct Shooter {
    receiver: Receiver,
    lag: Duration,
    tally: Tally,
}

/// All shooters at one tank.
struct Range<'a> {
    life: &'a Life,
    noise: Noise,
    sender: Sender,
    shooters: Vec<Shooter>,
    link: Link<Vec<u8>>,
    /// How many samples are over.
    past: usize,
    shots: i64,
    next_shot: GlobalTime,
    /// No shot is fired from then on: every verdict comes before the last sample.
    last_shot: GlobalTime,
    fired: Vec<Fired>,
    /// By verdict lag, how many shots are decided about.
    decided: [usize; VERDICT_LAGS_MS.len()],
}

/// What shooters of these kinds achieve against a randomly driven tank.
pub(super) fn shoot(kinds: &[Case], seconds: f64, seed: u64) -> Result<Vec<Tally>> {
    let tank = Motion::Tank.entities(1, seconds, seed).pop().context("a tank")?;
    let life = tank.lives.first().context("a life")?;
    let mut range = Range::new(life, kinds, seed)?;
    while range.step()? {}
    Ok(range.shooters.into_iter().map(|shooter| shooter.tally).collect())
}

fn way(kind: &Case) -> Result<Conditions> {
    paths(&[kind.delay_ms], kind.jitter_ms, 0.0).pop().context("a path")
}

impl<'a> Range<'a> {
    fn new(life: &'a Life, kinds: &[Case], seed: u64) -> Result<Self> {
        let (start, rules) = (life.span().0, Rules::default());
        let (policy, placing) = (Box::new(Base), rules.placing);
        let config = SenderConfig { format: format(), placing, policy, books: false, ..SenderConfig::default() };
        let mut sender = Sender::new(config)?;
        sender.add_entity(TARGET, EntityConfig { threshold: rules.threshold, kind: MotionKind::Auto }, start)?;
        let mut topology = Topology::uniform(Conditions::ideal())?;
        let mut shooters = Vec::new();
        for (number, kind) in (1..).zip(kinds) {
            topology.connect(OWNER, number, way(kind)?, way(kind)?)?;
            sender.add_receiver(HostId(number), start)?;
            let lag = millis(kind.movement_lag_ms);
            sender.set_receiver_lag(HostId(number), LagChange::usual(placing.lag, lag, start), start)?;
            let placing = Placing { lag, ..placing };
            let config = ReceiverConfig { placing, ..ReceiverConfig::default() };
            let mut receiver = Receiver::new(config)?;
            receiver.add_sender(HostId(OWNER), receiver.agreement(&format()), start)?;
            shooters.push(Shooter { receiver, lag, tally: Tally::default() });
        }
        Ok(Self {
            life,
            noise: Noise::new(seed, 0x7E2D),
            sender,
            shooters,
            link: Link::new(topology, seed),
            past: 0,
            shots: 0,
            next_shot: start + FIRST_SHOT,
            last_shot: life.span().1 - millis(VERDICT_LAGS_MS[VERDICT_LAGS_MS.len() - 1]) - FRAME,
            fired: Vec::new(),
            decided: [0; VERDICT_LAGS_MS.len()],
        })
    }

    /// When the next verdict with a verdict lag is due.
    fn due(&self, lag: usize) -> Option<GlobalTime> {
        Some(self.fired.get(self.decided[lag])?.at + millis(VERDICT_LAGS_MS[lag]))
    }

    /// Goes on to the next sample, shot or verdict.
    fn step(&mut self) -> Result<bool> {
        let Some(sample) = self.life.samples().get(self.past) else { return Ok(false) };
        let dues = (0..VERDICT_LAGS_MS.len()).filter_map(|lag| Some((self.due(lag)?, lag)));
        let (due, lag) = dues.min().unwrap_or((GlobalTime::MAX, 0));
        let shot = if self.next_shot < self.last_shot { self.next_shot } else { GlobalTime::MAX };
        let now = sample.at.min(shot).min(due);
        self.deliver(now)?;
        if now == sample.at {
            self.export(sample)?;
            self.past += 1;
        } else if now == due {
            self.decide(lag, now);
        } else {
            self.fire(now);
        }
        Ok(true)
    }

    /// Brings everything to where it goes, at the moment it arrives.
    fn deliver(&mut self, now: GlobalTime) -> Result<()> {
        while let Some(delivery) = self.link.poll(now) {
            let (from, at, bytes) = (HostId(delivery.from), delivery.arrived, &delivery.payload);
            if delivery.to == OWNER {
                self.sender.handle_datagram(from, bytes, at)?;
            } else {
                self.shooters[delivery.to as usize - 1].receiver.handle_datagram(from, bytes, at)?;
            }
        }
        Ok(())
    }

    /// Tells the sender what is real, and lets everybody send what they owe.
    fn export(&mut self, sample: &Sample) -> Result<()> {
        let now = sample.at;
        self.sender.observe(TARGET, sample.pose, now)?;
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            self.link.send(now, OWNER, datagram.to.0, datagram.bytes.len(), datagram.bytes.to_vec());
        }
        for (number, shooter) in (1..).zip(&mut self.shooters) {
            while let Some(receipt) = shooter.receiver.poll_transmit(now) {
                self.link.send(now, number, OWNER, receipt.bytes.len(), receipt.bytes.to_vec());
            }
            while shooter.receiver.poll_event(now).is_some() {}
            while shooter.receiver.poll_updated().is_some() {}
        }
        while self.sender.poll_event().is_some() {}
        Ok(())
    }

    /// All shooters fire at what they see: from the same side, from as far, and with the same shaking of the hand.
    fn fire(&mut self, now: GlobalTime) {
        self.shots += 1;
        let draw = |lane| self.noise.uniform(self.shots, lane);
        let bearing = Vec3::from_heading(draw(1) * core::f64::consts::TAU);
        let distance = DISTANCE.0 + (DISTANCE.1 - DISTANCE.0) * draw(2);
        let way = (bearing * -1.0).turned(SHAKE * self.noise.normal(self.shots, 3));
        let pause = LEAST_PAUSE + MEAN_PAUSE * self.noise.exponential(self.shots, 0);
        self.next_shot = now + Duration::from_secs_f64(pause);
        let aimed = |shooter: &Shooter| {
            let image = shooter.receiver.place(TARGET, now).ok()?;
            let shot = Shot { muzzle: image.position + bearing * distance, way };
            Some((shot, shot.hits((image.position, image.attitude.heading()))))
        };
        self.fired.push(Fired { at: now, shots: self.shooters.iter().map(aimed).collect() });
    }

    /// All shooters decide about their next shot: by what they saw, or by what they know by now.
    fn decide(&mut self, lag: usize, now: GlobalTime) {
        let fired = &self.fired[self.decided[lag]];
        self.decided[lag] += 1;
        for (shooter, shot) in self.shooters.iter_mut().zip(&fired.shots) {
            let Some((shot, seen)) = shot else { continue };
            let shown = fired.at - shooter.lag;
            let Some(real) = real(self.life, shown) else { continue };
            let hit = if now == fired.at {
                *seen
            } else {
                let known = shooter.receiver.recall(TARGET, shown).ok();
                known.is_some_and(|known| shot.hits((known.position, known.attitude.heading())))
            };
            let tally = &mut shooter.tally;
            tally.wrong[lag] += f64::from(hit != shot.hits(real));
            // Each shot counts once, when the last word about it is spoken.
            if lag + 1 == VERDICT_LAGS_MS.len() {
                tally.shots += 1.0;
                tally.hits += f64::from(shot.hits(real));
            }
        }
    }
}

/// Where the tank really was, and which way it faced. Between two samples it goes straight on, but for less than a millimetre.
fn real(life: &Life, at: GlobalTime) -> Option<(Vec3, f64)> {
    let samples = life.samples();
    let next = samples.partition_point(|sample| sample.at <= at);
    let (before, after) = (samples.get(next.checked_sub(1)?)?, samples.get(next)?);
    let share = at.since(before.at).as_secs_f64() / after.at.since(before.at).as_secs_f64();
    let (a, b) = (before.pose, after.pose);
    let turned = wrap_angle(b.attitude().heading() - a.attitude().heading());
    let position = a.position() + (b.position() - a.position()) * share;
    Some((position, a.attitude().heading() + turned * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shots_hit_what_they_pass_through() {
        let shot =
            |x: f64, y: f64, heading: f64| Shot { muzzle: Vec3::new(x, y, 0.0), way: Vec3::from_heading(heading) };
        let east = |y: f64| shot(-50.0, y, 0.0);
        let (along, across) = ((Vec3::ZERO, 0.0), (Vec3::ZERO, core::f64::consts::FRAC_PI_2));
        assert!(east(1.3).hits(along) && !east(1.5).hits(along));
        assert!(east(2.9).hits(across) && !east(3.1).hits(across));
        assert!(!shot(50.0, 0.0, 0.0).hits(along), "it is behind the muzzle");
    }

    #[test]
    fn about_half_of_the_shots_hit_and_waiting_is_what_makes_verdicts_right() {
        let kinds = [0.0, 220.0].map(|movement_lag_ms| Case { delay_ms: 200.0, jitter_ms: 0.0, movement_lag_ms });
        let [at_once, lagged] = shoot(&kinds, 120.0, 1).unwrap()[..] else { panic!("one tally for each") };
        for tally in [at_once, lagged] {
            assert!((0.4..0.6).contains(&(tally.hits / tally.shots)), "{tally:?}");
        }
        let last = VERDICT_LAGS_MS.len() - 1;
        assert!(at_once.wrong[0] > 10.0 * at_once.wrong[last], "{at_once:?}");
        assert!(lagged.wrong[0] < 0.1 * at_once.wrong[0], "{lagged:?}");
    }
}

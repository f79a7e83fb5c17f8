//! What serving costs: a thousand entities, many receivers, in lockstep and without a network.

use crate::contender::{Contender, TICK};
use crate::crowd::Crowd;
use anyhow::{Result, bail, ensure};
use cpu_time::ThreadTime;
use evenkeel::{GlobalTime, Vec3};

/// The crowd's motions follow from it.
const SEED: u64 = 1;
/// Ticks before a scenario counts.
const SETTLE: u32 = 20;
/// So long may connecting and spawning take, in ticks.
const PATIENCE: u32 = 600;

/// What the entities do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Everybody turns in every tick.
    AllDue,
    /// A tenth turns; a game that decides for itself tells only that.
    TenthDue,
    /// A tenth turns, all move, and all positions are told.
    AllMove,
    /// Everybody keeps its course, and a game that decides for itself tells nothing.
    Idle,
}

impl Scenario {
    /// In the order they are run.
    pub const ALL: [Self; 4] = [Self::AllDue, Self::TenthDue, Self::AllMove, Self::Idle];

    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllDue => "all due",
            Self::TenthDue => "10 % due",
            Self::AllMove => "all move, 10 % turn",
            Self::Idle => "nothing due",
        }
    }

    fn turns(self, entity: u32, tick: u32) -> bool {
        match self {
            Self::AllDue => true,
            Self::TenthDue | Self::AllMove => (entity + tick).is_multiple_of(10),
            Self::Idle => false,
        }
    }

    /// Whether a game that decides for itself what to send would send this.
    fn due(self, entity: u32, tick: u32) -> bool {
        self == Self::AllMove || self.turns(entity, tick)
    }
}

/// One contender in the ring.
pub struct Entrant {
    /// What tables call it.
    pub name: &'static str,
    /// Who it is.
    pub contender: Box<dyn Contender>,
    /// Where each entity was last told to be, for those who are told only what is due.
    told: Vec<Vec3>,
    /// Whether it is told everything, and finds out itself what is due.
    decides: bool,
    /// What moves: the same for everybody.
    crowd: Crowd,
    now: GlobalTime,
    /// Seconds, bytes down and bytes up of every tick.
    ticks: Vec<(f64, u64, u64)>,
}

/// What one contender needed in one scenario.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Who.
    pub name: &'static str,
    /// What for.
    pub scenario: Scenario,
    /// Median of the server's CPU time per tick, in seconds.
    pub median: f64,
    /// Mean of it. Some do part of their work every few ticks: the mean has it, the median has not.
    pub mean: f64,
    /// The mean for each entity and receiver, in nanoseconds.
    pub nanos_per_pair: f64,
    /// To each receiver.
    pub bytes_per_second: f64,
    /// From each receiver.
    pub bytes_per_second_back: f64,
    /// For each entity that turned, and each receiver; nothing if none did.
    pub bytes_per_update: Option<f64>,
}

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// How many entities.
    pub entities: u32,
    /// How many receivers.
    pub receivers: usize,
    /// Ticks of each scenario.
    pub ticks: u32,
    /// Ticks that a contender has in a row before the next has its turn.
    pub block: u32,
}

impl Entrant {
    /// A contender that is told what is due, or one that `decides`.
    pub fn new(name: &'static str, decides: bool, contender: Box<dyn Contender>, now: GlobalTime) -> Self {
        let (crowd, told, ticks) = (Crowd::new(0, SEED), Vec::new(), Vec::new());
        Self { name, contender, told, decides, crowd, now, ticks }
    }

    /// Goes on until every receiver shows everything.
    fn settle(&mut self, size: &Size) -> Result<()> {
        self.crowd = Crowd::new(size.entities, SEED);
        self.told = vec![Vec3::ZERO; size.entities as usize];
        for (id, pose) in self.crowd.poses() {
            self.contender.spawn(id, &pose, self.now)?;
        }
        for _ in 0..PATIENCE {
            self.tick(size, Scenario::AllDue)?;
            let everything = size.entities as usize;
            if (0..size.receivers).all(|receiver| self.check(receiver).0 == everything) {
                return Ok(());
            }
        }
        bail!("after {PATIENCE} ticks a receiver of {} still does not show every entity", self.name)
    }

    /// So many ticks in a row. At the end every receiver must have everything.
    fn play(&mut self, size: &Size, scenario: Scenario, ticks: u32) -> Result<()> {
        for tick in 1..=ticks {
            self.tick(size, scenario)?;
            if tick % 10 == 0 || tick == ticks {
                self.assert_applied(size, scenario)?;
            }
        }
        Ok(())
    }

    /// One tick: everything moves, the game tells, the server serves, the receivers follow.
    fn tick(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        self.now += TICK;
        self.crowd.step(|entity, tick| scenario.turns(entity, tick));
        for (id, pose) in self.crowd.poses() {
            let due = scenario.due(id, self.crowd.tick());
            if due || self.decides {
                self.told[id as usize] = pose.position();
            }
            self.contender.tell(id, &pose, due);
        }
        self.exchange(size.receivers)
    }

    /// One tick of the server, timed, and a frame of every receiver.
    fn exchange(&mut self, receivers: usize) -> Result<()> {
        let now = self.now;
        let started = ThreadTime::now();
        self.contender.serve(now)?;
        let seconds = started.elapsed().as_secs_f64();
        let (mut down, mut up) = (0, 0);
        for parcel in self.contender.sent() {
            down += parcel.bytes.len() as u64;
            self.contender.arrive_at_receiver(parcel, now)?;
        }
        for receiver in 0..receivers {
            for parcel in self.contender.frame(receiver, now)? {
                up += parcel.bytes.len() as u64;
                self.contender.arrive_at_server(parcel, now);
            }
        }
        self.ticks.push((seconds, down, up));
        Ok(())
    }

    /// How many entities a receiver shows, and how far off the worst is.
    fn check(&mut self, receiver: usize) -> (usize, f64) {
        let (mut shown, mut worst) = (0, 0f64);
        let told = &self.told;
        self.contender.show(receiver, self.now, &mut |id, place| {
            shown += 1;
            worst = worst.max(place.distance(told[id as usize]));
        });
        (shown, worst)
    }

    /// Fails unless every receiver has every entity where it was last told to be.
    fn assert_applied(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        for receiver in 0..size.receivers {
            let (shown, worst) = self.check(receiver);
            let (name, scenario) = (self.name, scenario.name());
            ensure!(shown == size.entities as usize, "{name}, {scenario}: receiver {receiver} shows {shown} entities");
            ensure!(
                worst <= self.contender.tolerance(),
                "{name}, {scenario}: receiver {receiver} shows one {worst:.2} m off"
            );
        }
        Ok(())
    }

    fn cost(&mut self, size: &Size, scenario: Scenario) -> Cost {
        let ticks = std::mem::take(&mut self.ticks);
        let mut seconds: Vec<f64> = ticks.iter().map(|tick| tick.0).collect();
        seconds.sort_by(f64::total_cmp);
        let (count, receivers) = (ticks.len() as f64, size.receivers as f64);
        let (median, mean) = (seconds[seconds.len() / 2], seconds.iter().sum::<f64>() / count);
        let down = ticks.iter().map(|tick| tick.1).sum::<u64>() as f64 / count / receivers;
        let up = ticks.iter().map(|tick| tick.2).sum::<u64>() as f64 / count / receivers;
        let turning = (0..size.entities).filter(|i| scenario.turns(*i, 0)).count() as f64;
        let rate = 1.0 / TICK.as_secs_f64();
        Cost {
            name: self.name,
            scenario,
            median,
            mean,
            nanos_per_pair: mean * 1e9 / f64::from(size.entities) / receivers,
            bytes_per_second: down * rate,
            bytes_per_second_back: up * rate,
            bytes_per_update: (turning > 0.0).then(|| down / turning),
        }
    }
}

/// All scenarios. The contenders take turns every few ticks, so that a noisy moment meets all of them.
pub fn run(entrants: &mut [Entrant], size: &Size, progress: &dyn Fn(&str)) -> Result<Vec<Cost>> {
    progress("connecting, and spawning everything");
    entrants.iter_mut().try_for_each(|entrant| entrant.settle(size))?;
    let mut costs = Vec::new();
    for scenario in Scenario::ALL {
        progress(scenario.name());
        for entrant in entrants.iter_mut() {
            entrant.play(size, scenario, SETTLE)?;
            entrant.ticks.clear();
        }
        let mut left = size.ticks;
        while left > 0 {
            let block = size.block.min(left);
            for entrant in entrants.iter_mut() {
                entrant.play(size, scenario, block)?;
            }
            left -= block;
        }
        costs.extend(entrants.iter_mut().map(|entrant| entrant.cost(size, scenario)));
    }
    Ok(costs)
}

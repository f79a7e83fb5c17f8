//! One contender in the load half: its entities, its connections, and the checks that its receivers show everything.

use crate::connections::Connections;
use crate::contender::{Contender, Parcel, TICK};
use crate::cost::{Cost, Tick};
use crate::crowd::Crowd;
use crate::held::Held;
use crate::load::Size;
use crate::network::{Network, Way};
use crate::scenario::Scenario;
use crate::told::{Shown, Told};
use anyhow::{Result, bail, ensure};
use cpu_time::ThreadTime;
use evenkeel::GlobalTime;

/// The crowd's motions follow from it.
const SEED: u64 = 1;
/// Ticks before a scenario counts.
const SETTLE: u32 = 20;
/// So long may connecting and spawning take, in ticks.
const PATIENCE: u32 = 600;
/// Ticks between two checks of what the receivers show.
const CHECK: u32 = 10;
/// Ticks without motion, beyond two round trips, after which every receiver must show everything.
const DRAIN: u32 = 30;
/// The same where datagrams get lost: Evenkeel takes a datagram for lost a round trip and 600 ms after it was sent if
/// none follows it, and what it sends again may be lost as well.
const REPAIR: u32 = 150;
/// How many times the share of lost datagrams may be behind the newest state: with 2 % of loss, 10 % of what is shown.
/// Few receivers and few checks, as in tests, are often unlucky.
const BEHIND: f64 = 5.0;

/// One contender in the ring.
pub struct Entrant {
    /// What tables call it.
    pub name: &'static str,
    contender: Box<dyn Contender>,
    /// Whether it is told everything, and finds out itself what is due.
    decides: bool,
    connections: Connections,
    network: Option<Network>,
    /// What moves: the same for everybody.
    crowd: Crowd,
    told: Told,
    now: GlobalTime,
    held: Held,
    ticks: Vec<Tick>,
    /// What the receivers showed in all checks of this scenario.
    shown: Shown,
}

impl Entrant {
    /// A contender that is told what is due, or one that `decides`.
    pub fn new(
        name: &'static str,
        decides: bool,
        contender: Box<dyn Contender>,
        connections: Connections,
        now: GlobalTime,
    ) -> Self {
        let (crowd, told, held) = (Crowd::new(0, SEED), Told::new(0, decides), Held::default());
        let (ticks, shown, network) = (Vec::new(), Shown::default(), None);
        Self { name, contender, decides, connections, network, crowd, told, now, held, ticks, shown }
    }

    /// The time on its clock.
    pub fn now(&self) -> GlobalTime {
        self.now
    }

    /// Connects the receivers, spawns everything, and goes on until every receiver shows everything.
    pub fn enter(&mut self, size: &Size) -> Result<()> {
        self.network = self.connections.network(size.receivers)?;
        self.crowd = Crowd::new(size.entities, SEED);
        self.told = Told::new(self.connections.longest_lag(size.receivers), self.decides);
        for (id, pose) in self.crowd.poses() {
            self.held.count(|| self.contender.spawn(id, &pose, self.now))?;
        }
        for _ in 0..PATIENCE {
            self.tick(size, Scenario::AllDue)?;
            let everything = size.entities as usize;
            if (0..size.receivers).all(|receiver| self.look(receiver, size).entities == everything) {
                return Ok(());
            }
        }
        bail!("after {PATIENCE} ticks a receiver of {} still does not show every entity", self.name)
    }

    /// Runs a scenario until it is steady: where memory is measured, until all books are full. Checks come last, when
    /// clocks have agreed.
    pub fn settle(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        let full = if scenario.is_all_due() { self.connections.history_ticks() } else { 0 };
        for _ in 0..full {
            self.tick(size, scenario)?;
        }
        self.play(size, scenario, SETTLE)?;
        self.ticks.clear();
        self.shown = Shown::default();
        Ok(())
    }

    /// So many ticks in a row. Every few ticks, and at the end, every receiver must show what the server was told.
    pub fn play(&mut self, size: &Size, scenario: Scenario, ticks: u32) -> Result<()> {
        for tick in 1..=ticks {
            self.tick(size, scenario)?;
            if tick % CHECK == 0 || tick == ticks {
                self.check(size, scenario)?;
            }
        }
        Ok(())
    }

    /// What the scenario came to. Where there is a network, nothing moves any more until everything has arrived: then
    /// every receiver must show everything exactly, whatever was lost.
    pub fn finish(&mut self, size: &Size, scenario: Scenario) -> Result<Cost> {
        let cost = Cost::of(self.name, scenario, size, &self.ticks);
        let (Shown { entities, newest, .. }, name) = (self.shown, self.name);
        let share = newest as f64 / entities as f64;
        let least = 1.0 - BEHIND * self.connections.loss();
        let what = scenario.name();
        ensure!(share >= least, "{name}, {what}: receivers show only {:.1} % as it was told last", share * 100.0);
        if self.network.is_some() {
            let ticks = if self.connections.loss() > 0.0 { REPAIR } else { DRAIN };
            for _ in 0..ticks + 4 * self.connections.longest_lag(size.receivers) as u32 {
                self.tick(size, Scenario::Idle)?;
            }
            self.check_exactly(size, scenario)?;
        }
        Ok(cost)
    }

    /// One tick: everything moves, the game tells, the server serves, the receivers follow.
    fn tick(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        self.now += TICK;
        self.crowd.step(|entity, tick| scenario.turns(entity, tick));
        let Self { contender, held, crowd, decides, .. } = self;
        let due = |id| scenario.due(id, crowd.tick());
        held.count(|| crowd.poses().for_each(|(id, pose)| contender.tell(id, &pose, due(id))));
        self.told.tick(crowd.poses().map(|(id, pose)| (pose, *decides || due(id))), self.now);
        self.exchange(size.receivers)
    }

    /// One tick of the server, timed, and a frame of every receiver.
    fn exchange(&mut self, receivers: usize) -> Result<()> {
        let now = self.now;
        while let Some((way, parcel, at)) = self.network.as_mut().and_then(|network| network.arrived(now)) {
            self.arrive(way, parcel, at)?;
        }
        let seconds = self.held.count(|| -> Result<f64> {
            let started = ThreadTime::now();
            self.contender.serve(now)?;
            Ok(started.elapsed().as_secs_f64())
        })?;
        let sent = self.held.count(|| self.contender.sent());
        let (mut down, mut up) = (0, 0);
        for parcel in self.held.hand_over(sent) {
            down += parcel.bytes.len() as u64;
            self.send(Way::Down, parcel, now)?;
        }
        for receiver in 0..receivers {
            for parcel in self.contender.frame(receiver, now)? {
                up += parcel.bytes.len() as u64;
                self.send(Way::Up, parcel, now)?;
            }
        }
        self.ticks.push(Tick { seconds, down, up, held: self.held.bytes() });
        Ok(())
    }

    /// Sends a parcel through the network; without one it is there at once.
    fn send(&mut self, way: Way, parcel: Parcel, now: GlobalTime) -> Result<()> {
        match &mut self.network {
            Some(network) => network.send(way, parcel, now),
            None => self.arrive(way, parcel, now)?,
        }
        Ok(())
    }

    fn arrive(&mut self, way: Way, parcel: Parcel, at: GlobalTime) -> Result<()> {
        match way {
            Way::Down => self.contender.arrive_at_receiver(parcel, at)?,
            Way::Up => {
                let taken = self.held.take_in(&parcel);
                self.held.count(|| self.contender.arrive_at_server(taken, at));
            }
        }
        Ok(())
    }

    /// What a receiver shows, beside what the server was told one delay ago.
    fn look(&mut self, receiver: usize, size: &Size) -> Shown {
        let (now, tolerance) = (self.now, self.contender.tolerance());
        let (lag, told) = (self.connections.lag(receiver, size.receivers), &self.told);
        let mut shown = Shown::default();
        self.contender.show(receiver, now, &mut |id, place| {
            shown = shown.and(told.judge(id, place, lag, now, tolerance));
        });
        shown
    }

    /// Fails unless every receiver shows every entity as it was told one delay ago, or where datagrams get lost, as it
    /// was told not long before that.
    fn check(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        if self.connections.loss() == 0.0 {
            return self.check_exactly(size, scenario);
        }
        for receiver in 0..size.receivers {
            let shown = self.look(receiver, size);
            self.ensure(size, scenario, receiver, shown, shown.wrong)?;
        }
        Ok(())
    }

    /// Fails unless every receiver shows every entity as it was told one delay ago.
    fn check_exactly(&mut self, size: &Size, scenario: Scenario) -> Result<()> {
        for receiver in 0..size.receivers {
            let shown = self.look(receiver, size);
            self.ensure(size, scenario, receiver, shown, shown.entities - shown.newest)?;
        }
        Ok(())
    }

    fn ensure(&mut self, size: &Size, scenario: Scenario, receiver: usize, shown: Shown, wrong: usize) -> Result<()> {
        self.shown = self.shown.and(shown);
        let (name, scenario, Shown { entities, worst, .. }) = (self.name, scenario.name(), shown);
        ensure!(
            entities == size.entities as usize,
            "{name}, {scenario}: receiver {receiver} shows {entities} entities"
        );
        ensure!(
            wrong == 0,
            "{name}, {scenario}: receiver {receiver} shows {wrong} of {entities} entities where they were not told to \
             be, the worst {worst:.2} m off"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! How far off things are shown: recorded games through a network, judged from outside by where everything really was.

use crate::contender::{Contender, TICK};
use crate::games;
use crate::network::{Network, Way};
use anyhow::{Result, ensure};
use evenkeel::{Duration, GlobalTime, Vec3};
use evenkeel_lab::workload::Entity;
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::world::{Fleet, Rules};
use evenkeel_link::Conditions;
use std::path::Path;

/// Time to connect and to agree on clocks before anything moves.
const WARM_UP: Duration = Duration::from_secs(6);
/// An entity is judged from so long after it came: until then not everybody has heard of it.
const GRACE: Duration = Duration::from_secs(2);
/// With rows farther apart than this, in the median and in seconds, a trace does not say where things really were.
const SPARSE: f64 = 0.1;
/// Delays and losses follow from it.
const SEED: u64 = 20_000;

/// A recorded game.
pub struct Ground {
    fleet: Fleet,
    start: GlobalTime,
    end: GlobalTime,
    /// The corners of a box about everything in it.
    pub corners: (Vec3, Vec3),
}

/// What one receiver saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Mean distance from where things really were, in metres.
    pub mean: f64,
    /// What 99 % of the moments are below.
    pub p99: f64,
    /// The share of moments in which something that was there was not shown at all.
    pub unseen: f64,
    /// The contender's own bytes per second, to the receiver.
    pub bytes: f64,
    /// The same with what IPv4 and UDP add to every datagram.
    pub wire_bytes: f64,
    /// Datagrams per second.
    pub datagrams: f64,
    /// The contender's own bytes per second, from the receiver.
    pub bytes_back: f64,
}

/// What all of them saw.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One entry per path.
    pub receivers: Vec<Seen>,
    /// The mean of the receivers' means.
    pub mean: f64,
    /// What 99 % of all moments of all receivers are below.
    pub p99: f64,
    /// The standard deviation of the receivers' means.
    pub std: f64,
    /// The largest of them.
    pub max: f64,
}

/// What is counted while a contender runs, by receiver.
#[derive(Default)]
struct Tally {
    errors: Vec<f32>,
    unseen: u64,
    bytes: [u64; 3],
    datagrams: u64,
}

impl Ground {
    /// The first so many seconds of a recorded game.
    pub fn read(path: &Path, seconds: f64) -> Result<Self> {
        let (name, trace) = (path.display(), Trace::read(path, Cuts::default())?);
        let gap = trace.median_gap();
        ensure!(gap.is_finite(), "{name} has no two rows of anything less than a second apart");
        ensure!(
            gap <= SPARSE,
            "{name} has one row every {:.0} ms (median): too few to say where things really were. Record every frame.",
            gap * 1e3
        );
        let ground = Self::new(trace.truth(&name.to_string(), Some(seconds), true)?)?;
        let judged = |life| ground.span_of(life) > GRACE;
        ensure!(
            (0..ground.lives()).any(judged),
            "in the first {seconds} s of {name} nothing in it lasts longer than {:.0} s, and what is younger is not judged",
            GRACE.as_secs_f64()
        );
        Ok(ground)
    }

    fn new(truth: Vec<Entity>) -> Result<Self> {
        let lives = truth.iter().flat_map(|entity| &entity.lives);
        let corners = games::corners(lives.flat_map(|life| life.samples().iter().map(|s| s.pose.position())));
        let fleet = Fleet::new(String::new(), truth, &Rules::default())?;
        let (start, end) = fleet.span();
        Ok(Self { fleet, start, end, corners })
    }

    /// How many lives there are in it.
    pub fn lives(&self) -> usize {
        self.fleet.lives()
    }

    fn span_of(&self, life: usize) -> Duration {
        let (first, last) = self.fleet.life_span(life);
        last.since(first)
    }

    /// How long it is.
    pub fn seconds(&self) -> f64 {
        self.end.since(self.start).as_secs_f64()
    }

    /// When the run begins: the recorded game's clock need not be above zero, and some clocks must be.
    pub fn begin(&self) -> GlobalTime {
        GlobalTime::from_millis(1_000)
    }

    /// The recorded moment that the run's time stands for.
    fn recorded(&self, now: GlobalTime) -> GlobalTime {
        self.start + now.since(self.begin() + WARM_UP)
    }

    fn is_over(&self, now: GlobalTime) -> bool {
        self.recorded(now) >= self.end
    }
}

/// Runs a contender over all grounds. `enter` makes a new one for each.
pub fn run(
    enter: &dyn Fn(GlobalTime) -> Result<Box<dyn Contender>>,
    grounds: &[Ground],
    paths: &[Conditions],
) -> Result<Outcome> {
    let mut tallies: Vec<Tally> = paths.iter().map(|_| Tally::default()).collect();
    for ground in grounds {
        let network = Network::new(paths, SEED)?;
        let contender = enter(ground.begin())?;
        Run { ground, contender, network, alive: vec![false; ground.lives()] }.play(&mut tallies)?;
    }
    let seconds: f64 = grounds.iter().map(Ground::seconds).sum();
    Ok(Outcome::new(tallies, seconds))
}

struct Run<'a> {
    ground: &'a Ground,
    contender: Box<dyn Contender>,
    network: Network,
    alive: Vec<bool>,
}

impl Run<'_> {
    fn play(mut self, tallies: &mut [Tally]) -> Result<()> {
        let mut now = self.ground.begin();
        let mut counting = false;
        while !self.ground.is_over(now) {
            if !counting && self.ground.recorded(now) >= self.ground.start {
                self.network.reset();
                counting = true;
            }
            self.deliver(now)?;
            self.tell(now)?;
            self.contender.serve(now)?;
            for parcel in self.contender.sent() {
                self.network.send(Way::Down, parcel, now);
            }
            for (receiver, tally) in tallies.iter_mut().enumerate() {
                for parcel in self.contender.frame(receiver, now)? {
                    self.network.send(Way::Up, parcel, now);
                }
                self.judge(receiver, tally, now);
            }
            now += TICK;
        }
        for (receiver, tally) in tallies.iter_mut().enumerate() {
            let (down, up) = (self.network.traffic(receiver, Way::Down), self.network.traffic(receiver, Way::Up));
            tally.bytes = [tally.bytes[0] + down.bytes, tally.bytes[1] + down.on_the_wire(), tally.bytes[2] + up.bytes];
            tally.datagrams += down.datagrams;
        }
        Ok(())
    }

    fn deliver(&mut self, now: GlobalTime) -> Result<()> {
        while let Some((way, parcel, at)) = self.network.arrived(now) {
            match way {
                Way::Down => self.contender.arrive_at_receiver(parcel, at)?,
                Way::Up => self.contender.arrive_at_server(parcel, at),
            }
        }
        Ok(())
    }

    /// Tells the server what is real: who has come, who is gone, where everybody is.
    fn tell(&mut self, now: GlobalTime) -> Result<()> {
        let recorded = self.ground.recorded(now);
        for (life, alive) in self.alive.iter_mut().enumerate() {
            let id = life as u32;
            match (self.ground.fleet.pose_at(life, recorded), *alive) {
                (Some(pose), true) => self.contender.tell(id, &pose, true),
                (Some(pose), false) => self.contender.spawn(id, &pose, now)?,
                (None, true) => self.contender.despawn(id, now)?,
                (None, false) => {}
            }
            *alive = self.ground.fleet.pose_at(life, recorded).is_some();
        }
        Ok(())
    }

    /// How far off a receiver shows what has been there for a while.
    fn judge(&mut self, receiver: usize, tally: &mut Tally, now: GlobalTime) {
        let (fleet, recorded) = (&self.ground.fleet, self.ground.recorded(now));
        let mut shown: Vec<Option<Vec3>> = vec![None; self.alive.len()];
        self.contender.show(receiver, now, &mut |id, place| shown[id as usize] = Some(place));
        for (life, shown) in shown.into_iter().enumerate().filter(|(life, _)| self.alive[*life]) {
            let settled = recorded.since(fleet.life_span(life).0) >= GRACE;
            let Some(real) = fleet.real_at(life, recorded).filter(|_| settled) else { continue };
            match shown {
                Some(place) => tally.errors.push(place.distance(real) as f32),
                None => tally.unseen += 1,
            }
        }
    }
}

impl Outcome {
    fn new(mut tallies: Vec<Tally>, seconds: f64) -> Self {
        let receivers: Vec<Seen> = tallies.iter_mut().map(|tally| tally.seen(seconds)).collect();
        let (mean, std, max) = evenkeel_lab::world::statistics(receivers.iter().map(|seen| seen.mean));
        let mut all: Vec<f32> = tallies.into_iter().flat_map(|tally| tally.errors).collect();
        Self { receivers, mean, p99: p99(&mut all), std, max }
    }

    /// The mean over receivers of what `of` says.
    pub fn mean_of(&self, of: impl Fn(&Seen) -> f64) -> f64 {
        self.receivers.iter().map(of).sum::<f64>() / self.receivers.len().max(1) as f64
    }

    /// Bytes per second and receiver that a link carries, headers included.
    pub fn wire_bytes(&self) -> f64 {
        self.mean_of(|seen| seen.wire_bytes)
    }
}

impl Tally {
    fn seen(&mut self, seconds: f64) -> Seen {
        let count = self.errors.len().max(1) as f64;
        let per_second = |n: u64| n as f64 / seconds;
        Seen {
            mean: self.errors.iter().map(|e| f64::from(*e)).sum::<f64>() / count,
            p99: p99(&mut self.errors),
            unseen: self.unseen as f64 / (count + self.unseen as f64),
            bytes: per_second(self.bytes[0]),
            wire_bytes: per_second(self.bytes[1]),
            bytes_back: per_second(self.bytes[2]),
            datagrams: per_second(self.datagrams),
        }
    }
}

fn p99(values: &mut [f32]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let place = (values.len() - 1) * 99 / 100;
    f64::from(*values.select_nth_unstable_by(place, f32::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Parcel;
    use evenkeel::Pose;
    use evenkeel_lab::workload::Motion;
    use std::collections::{BTreeMap, VecDeque};

    /// Sends one byte a tick, and shows everything as it was so many ticks ago.
    struct Late {
        ticks: usize,
        told: BTreeMap<u32, VecDeque<Vec3>>,
    }

    impl Contender for Late {
        fn spawn(&mut self, id: u32, pose: &Pose, _: GlobalTime) -> Result<()> {
            self.told.insert(id, [pose.position()].into());
            Ok(())
        }

        fn despawn(&mut self, id: u32, _: GlobalTime) -> Result<()> {
            self.told.remove(&id);
            Ok(())
        }

        fn tell(&mut self, id: u32, pose: &Pose, _: bool) {
            let past = self.told.entry(id).or_default();
            past.push_back(pose.position());
            past.drain(..past.len().saturating_sub(self.ticks + 1));
        }

        fn serve(&mut self, _: GlobalTime) -> Result<()> {
            Ok(())
        }

        fn sent(&mut self) -> Vec<Parcel> {
            vec![Parcel { receiver: 1, channel: 0, reliable: false, bytes: vec![0].into() }]
        }

        fn arrive_at_server(&mut self, _: Parcel, _: GlobalTime) {}

        fn arrive_at_receiver(&mut self, _: Parcel, _: GlobalTime) -> Result<()> {
            Ok(())
        }

        fn frame(&mut self, _: usize, _: GlobalTime) -> Result<Vec<Parcel>> {
            Ok(Vec::new())
        }

        fn show(&mut self, receiver: usize, _: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
            for (id, past) in &self.told {
                // The first receiver sees everything, the second as it was.
                let place = if receiver == 0 { past.back() } else { past.front() };
                to(*id, *place.unwrap());
            }
        }
    }

    #[test]
    fn errors_are_how_far_things_move_in_the_meantime() {
        let ground = Ground::new(Motion::Circular.entities(5, 30.0, 1)).unwrap();
        let speed = ground.fleet.exported(0)[0].1.velocity_at(0.0).length();
        let paths = evenkeel_lab::experiment::paths(&[20.0, 20.0], 0.0, 0.0);
        let enter = |_| -> Result<Box<dyn Contender>> { Ok(Box::new(Late { ticks: 12, told: BTreeMap::new() })) };
        let outcome = run(&enter, &[ground], &paths).unwrap();
        let [now, late] = &outcome.receivers[..] else { panic!() };
        let expected = speed * 12.0 * TICK.as_secs_f64();
        assert!(now.mean < 0.02 && now.p99 < 0.05 && now.unseen == 0.0, "{now:?}");
        assert!((late.mean / expected - 1.0).abs() < 0.1, "{late:?}, expected {expected}");
        assert!((outcome.std - (late.mean - now.mean) / 2.0).abs() < 1e-9 && outcome.max == late.mean);
        assert!((late.bytes - 60.0).abs() < 1.0 && (late.wire_bytes - 60.0 * 29.0).abs() < 29.0, "{late:?}");
        assert!(now.bytes == 0.0);
    }
}

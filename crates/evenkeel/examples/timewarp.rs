//! Timewarp: a game of tag that two hosts play with the same operations, which reach the other late and out of order.
//!
//! `cargo run -p evenkeel --example timewarp`
//!
//! It prints how many catches were announced and how many of them revoked, without a verdict lag and with one of 220 ms (then
//! none is); how far late operations made the other's runner jump, and how far with the corrections softened; that both hosts
//! agree in the end; and what `check` says of the game and of a copy that forgets to restore something.
//!
//! What to look for: a game is save, restore, step, apply and digest.

use evenkeel::determinism::digest;
use evenkeel::timewarp::{Divergence, Soften, Timewarp, TimewarpConfig, TimewarpEvent, check};
use evenkeel::{Attitude, Duration, EntityId, GlobalTime, HostId, Operation, Simulation, Smoothing, State, Tick, Vec3};
use std::{collections::BTreeMap, error::Error};

const STEP: Duration = Duration::from_millis(20);
const LAST_MS: i64 = 20_000;

type Operations = Vec<Operation<Vec3>>;

/// Two runners in a round yard. Who is "it" catches the other by coming near, and cannot be caught back for a second.
///
/// The forgetful copy of the game is the one with a mistake in it.
#[derive(Clone, Default)]
struct Tag<const FORGETFUL: bool> {
    runners: [Vec3; 2],
    velocities: [Vec3; 2],
    it: u32,
    pause: u32,
}

fn start<const FORGETFUL: bool>() -> Tag<FORGETFUL> {
    Tag { runners: [Vec3::new(-3.0, 0.0, 0.0), Vec3::new(3.0, 0.0, 0.0)], ..Tag::default() }
}

impl<const FORGETFUL: bool> Simulation for Tag<FORGETFUL> {
    /// Which way to run, and how fast.
    type Act = Vec3;
    type Snapshot = Self;
    /// Who was caught.
    type Verdict = HostId;

    fn step_length(&self) -> Duration {
        STEP
    }

    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }

    fn restore(&mut self, from: &Self) {
        let pause = self.pause;
        self.clone_from(from);
        if FORGETFUL {
            self.pause = pause;
        }
    }

    fn step(&mut self, verdicts: &mut Vec<HostId>) {
        for (runner, velocity) in self.runners.iter_mut().zip(self.velocities) {
            let to = *runner + velocity * STEP.as_secs_f64();
            *runner = to * (5.0 / to.length().max(5.0));
        }
        self.pause = self.pause.saturating_sub(1);
        if self.pause == 0 && self.runners[0].distance(self.runners[1]) < 1.0 {
            (self.it, self.pause) = (1 - self.it, 50);
            verdicts.push(HostId(self.it));
        }
    }

    fn apply(&mut self, issuer: HostId, velocity: &Vec3, _: &mut Vec<HostId>) {
        self.velocities[issuer.0 as usize] = *velocity;
    }

    fn digest(&self) -> u64 {
        digest(|hasher| {
            for v in self.runners.iter().chain(&self.velocities) {
                hasher.write_u64(v.x.to_bits());
                hasher.write_u64(v.y.to_bits());
            }
            hasher.write_u32(self.it);
            hasher.write_u32(self.pause);
        })
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        let attitude = Attitude::Heading { heading: 0.0, turn_rate: 0.0 };
        for (i, (&position, &velocity)) in self.runners.iter().zip(&self.velocities).enumerate() {
            out.push((EntityId(i as u32), State { position, velocity, attitude }));
        }
    }
}

struct Host {
    warp: Timewarp<Tag<false>>,
    soften: Soften,
    /// Catches announced and not revoked.
    caught: Vec<(Tick, HostId)>,
    /// Where the other's runner was last, and where it was shown.
    last: Option<[Vec3; 2]>,
    /// The largest steps of both.
    jumps: [f64; 2],
}

impl Host {
    fn new(verdict_lag: Duration) -> Result<Self, Box<dyn Error>> {
        let config = TimewarpConfig { verdict_lag, ..TimewarpConfig::default() };
        let warp = Timewarp::new(start(), config, GlobalTime::ZERO)?;
        let soften = Soften::new(Smoothing::Blend { over: Duration::from_millis(200), snap_beyond: 5.0 });
        Ok(Self { warp, soften, caught: Vec::new(), last: None, jumps: [0.0; 2] })
    }

    fn frame(&mut self, other: usize, now: GlobalTime) -> Result<(), Box<dyn Error>> {
        self.warp.advance(now)?;
        while let Some(event) = self.warp.poll_event() {
            match event {
                TimewarpEvent::Decided { tick, verdict, .. } => self.caught.push((tick, verdict)),
                TimewarpEvent::Revoked { tick, verdict } => self.caught.retain(|it| *it != (tick, verdict)),
                TimewarpEvent::Corrected { entity, by, turned, .. } => self.soften.correct(entity, by, turned, now),
                event => println!("{event:?}"),
            }
        }
        let raw = self.warp.simulation().runners[other];
        let shown = [raw, raw + self.soften.offset(EntityId(other as u32), now).0];
        let last = self.last.replace(shown).unwrap_or(shown);
        self.jumps = [0, 1].map(|i| self.jumps[i].max(shown[i].distance(last[i])));
        Ok(())
    }
}

/// Where a player runs: after the other or away from it, never quite straight.
fn decide(game: &Tag<false>, me: usize, whim: f64) -> Vec3 {
    let to_other = game.runners[1 - me] - game.runners[me];
    let towards = if game.it == me as u32 { 1.0 } else { -0.8 };
    to_other.turned(whim) * (towards * 5.0 / to_other.length().max(0.1))
}

/// Plays, prints how it went, and answers all operations and how many catches were revoked.
fn play(verdict_lag: Duration) -> Result<(Operations, u64), Box<dyn Error>> {
    let mut hosts = [Host::new(verdict_lag)?, Host::new(verdict_lag)?];
    let mut network = BTreeMap::<(i64, usize), (usize, Operation<Vec3>)>::new();
    let (mut operations, mut random) = (Operations::new(), 5u64);
    let mut roll = |sides: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % sides
    };
    for millis in (0..=LAST_MS).step_by(20) {
        let now = GlobalTime::from_millis(millis);
        while let Some(arrived) = network.first_entry().filter(|entry| entry.key().0 <= millis) {
            let (to, operation) = arrived.remove();
            hosts[to].warp.handle_operation(operation, now)?;
        }
        for (me, host) in hosts.iter_mut().enumerate() {
            if millis % 100 == 0 {
                let run = decide(host.warp.simulation(), me, roll(200) as f64 / 100.0 - 1.0);
                let operation = host.warp.issue(HostId(me as u32), run, Duration::ZERO, now)?;
                let arrives = millis + 60 + roll(140) as i64;
                network.insert((arrives, operations.len()), (1 - me, operation));
                operations.push(operation);
            }
            host.frame(1 - me, now)?;
        }
    }
    let [mut a, mut b] = hosts;
    let settled = a.warp.settled_until().min(b.warp.settled_until());
    for host in [&mut a, &mut b] {
        host.caught.retain(|(tick, _)| *tick <= settled);
        host.caught.sort(); // late ones were announced late
    }
    let digests = [a.warp.digest_at(settled), b.warp.digest_at(settled)];
    let (stats, jumps) = (a.warp.stats(), a.jumps);
    println!("verdict lag {verdict_lag}: {} catches announced, {} revoked", stats.decided, stats.revoked);
    println!("  the other's runner jumped up to {:.2} m, softened {:.2} m", jumps[0], jumps[1]);
    println!("  {} of {} operations late; digests at {settled}: {digests:x?}", stats.late, stats.accepted);
    assert!(digests[0].is_some() && digests[0] == digests[1], "both hosts agree in the end");
    assert_eq!(a.caught, b.caught, "and on every catch");
    assert!(jumps[1] < jumps[0], "softened jumps are smaller");
    Ok((operations, stats.revoked))
}

/// The example. Public for the test that runs it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let (operations, revoked) = play(Duration::ZERO)?;
    assert!(revoked > 0, "what is announced at once does not always stand");
    let (_, revoked) = play(Duration::from_millis(220))?;
    assert_eq!(revoked, 0, "by then everything has arrived");

    let ticks = Tick(0)..=Tick(LAST_MS / 20);
    println!("check, the game: digest {:x}", check(start::<false>, &operations, ticks.clone(), 10)?);
    let Err(diverged) = check(start::<true>, &operations, ticks, 10) else { return Err("not found".into()) };
    println!("check, the forgetful copy: {diverged}");
    assert_eq!(diverged.how, Divergence::Restored);
    Ok(())
}

//! One game on one or several servers, and what came of it.

use super::case::{Case, Twist};
use super::gauge::{Gauge, Take};
use super::map::Map;
use anyhow::{Context, Result};
use evenkeel::decision::DecisionError;
use evenkeel::timewarp::Briefing;
use evenkeel::{
    DecisionConfig, DecisionEvent, DecisionPoint, Duration, GlobalTime, HostId, Operation, Tick, TimewarpConfig,
};
use evenkeel_games::{Game, Recording};
use evenkeel_link::{Delivery, Link};
use std::rc::Rc;

/// Digests of settled states are compared every so many ticks.
pub(super) const DIGEST_EVERY: u32 = 50;
/// After the last operation, so much more is played, for everything to settle.
const AFTER: Duration = Duration::from_secs(3);
/// How long packets are held up in a spike, and for how long: the history is a second.
const SPIKE: Duration = Duration::from_millis(1_500);
const SPIKE_LASTS: Duration = Duration::from_secs(1);
/// The size of a packet matters to nobody here.
const BYTES: usize = 32;

/// What travels.
#[derive(Clone)]
enum Packet<A, B> {
    /// From a player to its server.
    Issued { sequence: u32, act: A },
    /// From a server to its peers.
    Stamped(Operation<A>),
    /// A server that has missed something asks for a briefing.
    Question,
    /// It is given one.
    Briefing(B),
}

type PacketOf<G> = Packet<<G as evenkeel::Simulation>::Act, Rc<Briefing<G>>>;

/// Servers, players and what is under way between them.
struct World<'a, G: Game> {
    case: &'a Case,
    link: Link<PacketOf<G>>,
    mirrors: Vec<DecisionPoint<G>>,
    /// Which of them wait for a briefing.
    asking: Vec<bool>,
    lag: Duration,
    step: Duration,
    /// All operations, as they were stamped.
    stamped: Vec<Operation<G::Act>>,
    gauge: Gauge<G>,
}

/// Plays a recording on servers. What players do does not depend on what they see.
pub(super) fn play<G: Game>(recording: &Recording<G>, case: &Case, seed: u64) -> Result<Take> {
    let mut world = World::new(recording, case, seed)?;
    let mut issued = recording.operations().iter().peekable();
    let last = i64::from(recording.setup().ticks) + AFTER.as_nanos() / world.step.as_nanos();
    for tick in (1..=last).map(Tick) {
        let now = tick.time(world.step);
        while let Some(operation) = issued.next_if(|operation| operation.at <= now) {
            let packet = Packet::Issued { sequence: operation.sequence, act: operation.act.clone() };
            world.send(operation.at, operation.issuer, case.map.home(operation.issuer), packet);
        }
        while let Some(delivery) = world.link.poll(now) {
            world.deliver(delivery)?;
        }
        for mirror in &mut world.mirrors {
            mirror.advance(now)?;
        }
        world.gauge.look(&world.mirrors);
        world.collect(now);
    }
    let World { mirrors, stamped, gauge, .. } = world;
    gauge.close(mirrors, &recording.start()?, stamped)
}

impl<'a, G: Game> World<'a, G> {
    fn new(recording: &Recording<G>, case: &'a Case, seed: u64) -> Result<Self> {
        let game = recording.start()?;
        let (step, ticks) = (game.step_length(), i64::from(recording.setup().ticks));
        let mut topology = case.map.topology()?;
        if case.twist == Twist::Spike {
            let at = Tick(ticks * 2 / 5).time(step);
            case.map.spike(&mut topology, at, SPIKE_LASTS, SPIKE)?;
        }
        let mirror = |host: HostId| {
            let mut point = DecisionPoint::new(game.clone(), config(case, step), GlobalTime::ZERO)?;
            case.map.hosts().filter(|peer| *peer != host).try_for_each(|peer| point.add_peer(peer))?;
            Ok(point)
        };
        let mirrors = case.map.hosts().map(mirror).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            case,
            link: Link::new(topology, seed),
            asking: vec![false; mirrors.len()],
            gauge: Gauge::new(mirrors.len(), ticks as f64 * step.as_secs_f64()),
            mirrors,
            lag: case.lag(),
            step,
            stamped: Vec::new(),
        })
    }

    fn send(&mut self, now: GlobalTime, from: HostId, to: HostId, packet: PacketOf<G>) {
        self.link.send(now, from.0, to.0, BYTES, packet);
    }

    fn deliver(&mut self, delivery: Delivery<PacketOf<G>>) -> Result<()> {
        let (from, to, now) = (HostId(delivery.from), HostId(delivery.to), delivery.arrived);
        let at = Map::server(to).context("only servers are sent anything")?;
        match delivery.payload {
            Packet::Issued { sequence, act } => self.stamp((from, delivery.sent), at, (sequence, act), now)?,
            // What is refused is an event, or a copy of what the briefing said.
            Packet::Stamped(operation) => match self.mirrors[at].handle_operation(from, operation, now) {
                Ok(_) | Err(DecisionError::Operation(_)) => {}
                Err(error) => return Err(error.into()),
            },
            Packet::Question => {
                let briefing = self.mirrors[at].briefing().context("nothing is settled yet")?;
                self.send(now, to, from, Packet::Briefing(Rc::new(briefing)));
            }
            Packet::Briefing(briefing) => {
                self.mirrors[at].resynchronise(&briefing, now)?;
                self.asking[at] = false;
                self.gauge.briefed(now);
            }
        }
        Ok(())
    }

    /// An operation has come from a player: its server stamps it and tells its peers.
    fn stamp(
        &mut self,
        (player, issued): (HostId, GlobalTime),
        server: usize,
        (sequence, act): (u32, G::Act),
        now: GlobalTime,
    ) -> Result<()> {
        let operation = self.mirrors[server].submit(player, sequence, act, self.lag, now)?;
        let host = self.case.map.home(player);
        while let Some(outgoing) = self.mirrors[server].poll_operation() {
            self.send(now, host, outgoing.to, Packet::Stamped(outgoing.operation));
        }
        // Shown by the player's terminal once the server's word of its tick is there.
        let executed = Tick::at_or_after(operation.at, self.step).time(self.step);
        let shown = self.link.path(host.0, player.0).fate(executed).arrival().context("nothing is lost")?;
        self.gauge.responded(player, shown.since(issued));
        self.stamped.push(operation);
        Ok(())
    }

    /// Hears what the servers have to say, and sees to those that have missed something.
    fn collect(&mut self, now: GlobalTime) {
        let hosts: Vec<HostId> = self.case.map.hosts().collect();
        for (server, host) in hosts.iter().enumerate() {
            while let Some(event) = self.mirrors[server].poll_event() {
                if let DecisionEvent::Desynchronised { from, tick, .. } = event {
                    self.gauge.desynchronised(tick.time(self.step));
                    if self.case.twist == Twist::Spike && !self.asking[server] {
                        self.asking[server] = true;
                        self.send(now, *host, from, Packet::Question);
                    }
                } else if let DecisionEvent::Timewarp(event) = event {
                    self.gauge.hear(server, event);
                }
            }
        }
    }
}

fn config(case: &Case, step: Duration) -> DecisionConfig {
    let usual = TimewarpConfig { digest_every: Some(DIGEST_EVERY), ..TimewarpConfig::default() };
    let timewarp = match case.twist {
        Twist::NoRollback => TimewarpConfig { history: step, ..usual },
        Twist::None | Twist::Spike => usual,
    };
    DecisionConfig { timewarp, ..DecisionConfig::default() }
}

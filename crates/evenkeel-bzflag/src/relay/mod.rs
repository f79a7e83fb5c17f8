//! The relay's mind: what becomes of every message between the clients and the server.
//!
//! It has no socket and no clock. Messages come in by [`handle_client`](Relay::handle_client) and [`handle_server`](Relay::handle_server), what
//! is to be sent comes out of [`poll`](Relay::poll), and [`poll_timeout`](Relay::poll_timeout) says when to come back.
//!
//! Everything passes untouched except updates of tanks on their way to clients, which are numbered anew, and shots if they are to be
//! advanced. Updates of living tanks are what a [`Desk`] decides about. One desk is live; the others look on, and what their clients would see is measured on the same run.

mod client;
mod tanks;

pub use client::Way;

use crate::desk::{Decider, Desk, Told};
use crate::measure::Gauge;
use crate::message::{Code, Enter, Frame, Killed, LagPing, RemovePlayer, SetVar, TankUpdate, Variables};
use crate::rules::{Rules, half_a_frame};
use client::Client;
use evenkeel::policy::UnknownPolicy;
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Threshold};
use std::collections::{BTreeMap, VecDeque};
use tanks::Tank;

/// How often what was seen is judged.
const JUDGE_EVERY: Duration = Duration::from_millis(500);

/// The kind of player that is a program's.
const ROBOT: u16 = 1;

/// How a [`Relay`] is set up.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayConfig {
    /// Who decides. The first is live, the others are shadows.
    pub deciders: Vec<Decider>,
    /// When an update of a dense path is due. Default: the game's own trigger.
    pub threshold: Threshold,
    /// How many frames clients draw per second. Default: 60.
    pub frames_per_second: f64,
    /// Whether shots are advanced as well, where positions are. Default: no. A shot flies 100 m in a second: one that is advanced has
    /// jumped over whatever stood before the barrel.
    pub advance_shots: bool,
    /// For policies that draw lots.
    pub seed: u64,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            deciders: vec![Decider::with("base", evenkeel::policy::Budget::Unlimited)],
            threshold: Threshold::per_axis(0.09).turning(0.05).at_most_every(Duration::from_millis(33)),
            frames_per_second: 60.0,
            advance_shots: false,
            seed: 1,
        }
    }
}

/// Something to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// Whose connection.
    pub client: HostId,
    /// To the client, or to the server on its behalf.
    pub to_client: bool,
    /// How.
    pub way: Way,
    /// What: whole frames.
    pub bytes: Vec<u8>,
}

/// The relay's mind. See the [module](self).
pub struct Relay {
    config: RelayConfig,
    variables: Variables,
    rules: Rules,
    desks: Vec<Desk>,
    gauge: Gauge,
    clients: BTreeMap<HostId, Client>,
    tanks: BTreeMap<u8, Tank>,
    lives: u32,
    out: VecDeque<Out>,
    told: Vec<Told>,
    judge_at: Option<GlobalTime>,
    /// The latest moment so far: time never goes backwards in here.
    clock: GlobalTime,
    tap: Option<Tap>,
}

/// Whoever writes down how tanks move.
type Tap = Box<dyn FnMut(GlobalTime, &TankUpdate) + Send>;

impl Relay {
    /// A relay without clients.
    pub fn new(config: RelayConfig) -> Result<Self, UnknownPolicy> {
        let make = |decider: &Decider| Desk::new(decider.clone(), config.threshold, config.seed);
        let desks = config.deciders.iter().map(make).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            gauge: Gauge::new(desks.len(), config.frames_per_second),
            config,
            variables: Variables::default(),
            rules: Rules::default(),
            desks,
            clients: BTreeMap::new(),
            tanks: BTreeMap::new(),
            lives: 0,
            out: VecDeque::new(),
            told: Vec::new(),
            judge_at: None,
            clock: GlobalTime::ZERO,
            tap: None,
        })
    }

    /// From now on every update of a tank is shown to somebody, once, with when it was received: as its client made it if the client is
    /// behind this relay, and as the server passes it on if not.
    pub fn set_tap(&mut self, tap: impl FnMut(GlobalTime, &TankUpdate) + Send + 'static) {
        self.tap = Some(Box::new(tap));
    }

    /// Its deciders at work; the first is live.
    pub fn desks(&self) -> &[Desk] {
        &self.desks
    }

    /// What the clients saw.
    pub fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    /// What the clients saw, to say under which conditions they are put.
    pub fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.gauge
    }

    /// The variables of the game as far as they matter here.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The name of a client, once it has said it.
    pub fn name(&self, client: HostId) -> Option<&str> {
        self.clients.get(&client).map(|client| client.name.as_str())
    }

    /// The clients by name and measured round trip.
    pub fn round_trips(&self) -> impl Iterator<Item = (&str, Option<Duration>)> {
        self.clients.values().filter(|c| c.playing && !c.robot).map(|c| (c.name.as_str(), c.round_trip()))
    }

    /// The server has greeted a client and given it a number.
    pub fn connected(&mut self, client: HostId, player: u8) {
        let same = |(host, known): (&HostId, &Client)| (*host == client || known.player == player).then_some(*host);
        for gone in self.clients.iter().filter_map(same).collect::<Vec<_>>() {
            // Or the server would not have given its number away: that has only not been heard of yet.
            self.disconnected(gone, self.clock);
        }
        self.clients.insert(client, Client::new(player));
    }

    /// A connection is gone.
    pub fn disconnected(&mut self, client: HostId, now: GlobalTime) {
        let now = self.not_before(now);
        let Some(gone) = self.clients.remove(&client) else { return };
        self.desks.iter_mut().for_each(|desk| desk.remove_client(client));
        self.gauge.remove_client(client);
        self.end_life(gone.player, now);
        self.tanks.remove(&gone.player);
    }

    /// A client says something that the server is to hear; it was received at `received`, and is let through now.
    pub fn handle_client(&mut self, from: HostId, way: Way, frame: Frame<'_>, received: GlobalTime, now: GlobalTime) {
        let now = self.not_before(now);
        let Some(client) = self.clients.get_mut(&from) else { return };
        match frame.code {
            Code::LAG_PING if LagPing::parse(frame).is_ok_and(|LagPing(number)| client.pong(number, now)) => {
                return self.expect(from);
            }
            Code::ENTER => {
                if let Ok(enter) = Enter::parse(frame) {
                    client.name = enter.callsign.to_string();
                    client.robot = enter.kind == ROBOT;
                }
            }
            Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL => match TankUpdate::parse(frame) {
                Ok(update) if update.player == client.player => {
                    client.stamps.observe(update.stamp, now);
                    client.true_stamps.observe(update.stamp, received);
                    self.show(received, &update);
                    self.witness(from, &update, now);
                }
                // Nobody is to hear these: clients believe them, and their orders are not the relay's.
                Ok(_) => return tracing::debug!(client = client.name, "an update about somebody else's tank"),
                Err(problem) => {
                    return tracing::debug!(client = client.name, %problem, "an update that cannot be read");
                }
            },
            _ => {}
        }
        self.pass(from, false, way, frame);
    }

    /// The server says something that a client is to hear.
    pub fn handle_server(&mut self, to: HostId, way: Way, frame: Frame<'_>, now: GlobalTime) {
        let now = self.not_before(now);
        let Some(client) = self.clients.get_mut(&to) else { return };
        match frame.code {
            Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL => {
                client.way = way;
                return match TankUpdate::parse(frame) {
                    Ok(update) => self.tank_update(to, way, &update, now),
                    Err(problem) => tracing::debug!(%problem, "an update of the server that cannot be read"),
                };
            }
            Code::SHOT_BEGIN => {
                client.way = way;
                return self.shot(to, way, frame, now);
            }
            Code::ACCEPT => self.accepted(to, now),
            Code::SET_VAR => self.variables(frame),
            Code::KILLED => {
                // Its own last update may get lost.
                if let Ok(killed) = Killed::parse(frame) {
                    self.end_life(killed.victim, now);
                }
            }
            Code::REMOVE_PLAYER => {
                // A client behind the relay goes with its connection: this may be late, and about one before it.
                let behind = |player| self.clients.values().any(|client| client.player == player);
                if let Some(RemovePlayer(gone)) = RemovePlayer::parse(frame).ok().filter(|gone| !behind(gone.0)) {
                    self.end_life(gone, now);
                    self.tanks.remove(&gone);
                }
            }
            _ => {}
        }
        self.pass(to, true, way, frame);
    }

    /// What is to be sent next.
    pub fn poll(&mut self, now: GlobalTime) -> Option<Out> {
        let now = self.not_before(now);
        if let Some(out) = self.out.pop_front() {
            return Some(out);
        }
        self.run_desks(now);
        self.send_pings(now);
        if self.judge_at.is_none_or(|at| at <= now) {
            self.gauge.judge(now);
            self.judge_at = Some(now + JUDGE_EVERY);
        }
        self.out.pop_front()
    }

    /// When to poll again if nothing else happens.
    pub fn poll_timeout(&self) -> Option<GlobalTime> {
        let desks = self.desks.iter().filter_map(Desk::poll_timeout);
        let pings = self.clients.values().filter_map(|client| client.ping_at);
        desks.chain(pings).chain(self.judge_at).min()
    }

    fn not_before(&mut self, now: GlobalTime) -> GlobalTime {
        self.clock = self.clock.max(now);
        self.clock
    }

    fn accepted(&mut self, to: HostId, now: GlobalTime) {
        let Some(client) = self.clients.get_mut(&to) else { return };
        if client.playing || client.robot {
            return;
        }
        client.playing = true;
        client.ping_at = Some(now);
        self.gauge.add_client(to, &client.name);
        self.desks.iter_mut().for_each(|desk| desk.add_client(to, now));
    }

    fn variables(&mut self, frame: Frame<'_>) {
        let Ok(set) = SetVar::parse(frame) else { return };
        self.variables.set(&set);
        self.rules = Rules::of(&self.variables);
        self.gauge.set_rules(self.rules);
    }

    /// A round trip was measured.
    fn expect(&mut self, of: HostId) {
        let Some(client) = self.clients.get(&of) else { return };
        let one_way = client.one_way(self.config.frames_per_second);
        self.desks.iter_mut().for_each(|desk| desk.expect(of, one_way));
        self.gauge.set_one_way(of, one_way);
    }

    fn send_pings(&mut self, now: GlobalTime) {
        for (host, client) in &mut self.clients {
            if client.ping_at.is_some_and(|at| at <= now) {
                let mut bytes = Vec::new();
                LagPing(client.ping(now)).emit(&mut bytes);
                self.out.push_back(Out { client: *host, to_client: true, way: client.way, bytes });
            }
        }
    }

    fn run_desks(&mut self, now: GlobalTime) {
        for index in 0..self.desks.len() {
            let mut told = std::mem::take(&mut self.told);
            self.desks[index].poll(now, &mut told);
            for told in told.drain(..) {
                let update = self.tell(index, &told, now).filter(|_| index == 0);
                let Some((bytes, client)) = update.zip(self.clients.get(&told.to)) else { continue };
                self.out.push_back(Out { client: told.to, to_client: true, way: client.way, bytes });
            }
            self.told = told;
        }
    }

    /// A decider's client is told how a tank moves, in the books of what clients see. Answers the update.
    fn tell(&mut self, decider: usize, told: &Told, now: GlobalTime) -> Option<Vec<u8>> {
        let tank = self.tanks.values().find(|tank| tank.life == Some(told.tank))?;
        let ahead = if self.desks[decider].decider().advance {
            self.counts_from(told.to, now).since(told.generated)
        } else {
            // As its owner sent it.
            -tank.held_up(told.generated)
        };
        let mut update = self.rules.update(&told.motion, ahead.as_secs_f64(), &tank.like(told.generated));
        if decider == 0 {
            update.order = self.clients.get_mut(&told.to)?.next_order(update.player);
        }
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        self.gauge.told(decider, told.to, told.tank, (self.rules.motion(&update), bytes.len()), now);
        Some(bytes)
    }

    /// From when a client is expected to count what is sent to it now.
    fn counts_from(&self, client: HostId, now: GlobalTime) -> GlobalTime {
        let frames_per_second = self.config.frames_per_second;
        let one_way = self.clients.get(&client).map_or(Duration::ZERO, |client| client.one_way(frames_per_second));
        now + one_way - half_a_frame(frames_per_second)
    }

    pub(super) fn show(&mut self, received: GlobalTime, update: &TankUpdate) {
        if let Some(tap) = &mut self.tap {
            tap(received, update);
        }
    }

    /// The name that stands for a player's next life.
    fn next_life(&mut self) -> EntityId {
        self.lives = self.lives.wrapping_add(1);
        EntityId(self.lives)
    }

    fn pass(&mut self, client: HostId, to_client: bool, way: Way, frame: Frame<'_>) {
        let mut bytes = Vec::with_capacity(frame.payload.len() + crate::message::HEAD_BYTES);
        frame.emit(&mut bytes);
        self.out.push_back(Out { client, to_client, way, bytes });
    }
}

//! The players: each a client on a connection of its own, all moved by one loop.

use super::Arguments;
use super::course::Course;
use super::ledger::{Kind, Ledger, Second};
use super::server::Server;
use anyhow::{Result, bail};
use evenkeel::{EntityId, HostId, Pose, Threshold};
use evenkeel_net::protocol::SERVER;
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::{Client, LinkState};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// So many join at once: a handshake costs more than minutes of play.
const AT_ONCE: usize = 32;
/// How long all of them may take to join, each.
const JOIN_WITHIN: Duration = Duration::from_secs(20);
/// A second of the loop has so many steps: what players do is spread over them, as players are.
const STEPS: u32 = 200;
/// So often players look whether a message has come, per second.
const LISTEN_HZ: u64 = 20;
/// So many of the players look where everything is, once a second.
const LOOKERS: usize = 20;

struct Bot {
    client: Client,
    host: Option<HostId>,
    entity: Option<EntityId>,
    lost: u64,
}

/// All players, and what they have noticed.
pub(super) struct Bots {
    bots: Vec<Bot>,
    hz: u32,
    course: Course,
    entities: HashMap<EntityId, usize>,
    ledger: Ledger,
    step: u64,
    errors: Vec<f64>,
    late: Vec<Duration>,
}

/// What players have noticed.
pub(super) struct Noticed {
    pub(super) sent: u64,
    /// Messages that have not arrived, be it at the server or at players.
    pub(super) lost: i64,
    pub(super) twice: u64,
    pub(super) out_of_order: u64,
    /// Messages that there was no room for: the player was told.
    pub(super) refused: u64,
    /// Half of the messages between players took no longer than the first, 99 of 100 no longer than the second.
    pub(super) took: [Duration; 2],
    pub(super) took_by_second: Vec<Second>,
    /// Connections that were lost.
    pub(super) dropped: u64,
    /// Distances between what was shown and what was so: the mean, and what 99 of 100 stay below.
    pub(super) error: [f64; 2],
    /// How late the loop was itself, 99 times of 100 no later than this.
    pub(super) late: Duration,
}

impl Bots {
    /// Has all players join, and those who shall move make their entities.
    pub(super) async fn join(arguments: &Arguments, server: &Server) -> Result<Self> {
        let mut bots: Vec<Bot> = Vec::with_capacity(arguments.players);
        while bots.len() < arguments.players {
            let first = bots.len();
            for index in first..(first + AT_ONCE).min(arguments.players) {
                bots.push(Bot::start(index, server)?);
            }
            let begin = Instant::now();
            while !bots[first..].iter().all(|bot| bot.client.is_ready()) {
                if begin.elapsed() > JOIN_WITHIN {
                    bail!("{} players have joined, and no more can: {:?}", first, bots[first].client.link());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let mut entities = HashMap::new();
        for (index, bot) in bots.iter_mut().enumerate() {
            bot.host = bot.client.you();
            if index < arguments.entities {
                let entity = bot.client.make(Threshold::default(), Vec::new())?;
                bot.entity = Some(entity);
                entities.insert(entity, index);
            }
        }
        let (ledger, hz, course) = (Ledger::default(), arguments.hz, arguments.course);
        Ok(Self { bots, hz, course, entities, ledger, step: 0, errors: Vec::new(), late: Vec::new() })
    }

    /// Plays for so long.
    pub(super) async fn play(&mut self, span: Duration) {
        let start = tokio::time::Instant::now();
        let step = Duration::from_secs(1) / STEPS;
        for number in 0u32.. {
            let due = start + step * number;
            if due - start >= span {
                return;
            }
            tokio::time::sleep_until(due).await;
            if number.is_multiple_of(STEPS / 10) {
                self.late.push(due.elapsed());
            }
            self.step();
        }
    }

    /// A two-hundredth of a second: some move, some speak and listen.
    fn step(&mut self) {
        let (now, step) = (Instant::now(), self.step);
        self.step += 1;
        let steps = u64::from(STEPS);
        for index in 0..self.bots.len() {
            let turn = step + index as u64;
            // Entities are observed so often, each at a moment of its own.
            let hz = u64::from(self.hz);
            if (turn * hz) % steps < hz {
                self.bots[index].observe(index, self.course);
            }
            if (turn * LISTEN_HZ).is_multiple_of(steps) {
                self.listen(index, now);
            }
            if turn.is_multiple_of(steps) {
                self.speak(index, turn / steps, now);
                if index % (self.bots.len() / LOOKERS).max(1) == 0 {
                    self.look(index);
                }
            }
        }
    }

    /// A message a second in order, to the server and to others in turn, and every other second one that waits for no other.
    fn speak(&mut self, index: usize, second: u64, now: Instant) {
        let to = (index + 1 + (second as usize * 7) % (self.bots.len() - 1)) % self.bots.len();
        if second.is_multiple_of(2) {
            self.send(index, None, Kind::Ordered, now);
            self.send(index, Some(to), Kind::Unordered, now);
        } else {
            self.send(index, Some(to), Kind::Ordered, now);
        }
    }

    fn send(&mut self, from: usize, to: Option<usize>, kind: Kind, now: Instant) {
        let Some(host) = to.map_or(Some(SERVER), |to| self.bots[to].host) else { return };
        let bytes = self.ledger.write(from, kind);
        match (self.bots[from].client.send(host, kind.level(), bytes.clone()), to) {
            (Ok(()), Some(to)) => self.ledger.sent(&bytes, to, now),
            (Ok(()), None) => self.ledger.sent_to_server(),
            (Err(_), _) => self.ledger.refused += 1,
        }
    }

    fn listen(&mut self, index: usize, now: Instant) {
        let Self { bots, ledger, .. } = self;
        let Some(bot) = bots.get_mut(index) else { return };
        while let Some(event) = bot.client.poll_event() {
            match event {
                SeatEvent::Message { bytes, .. } => ledger.arrived(&bytes, index, now),
                SeatEvent::Lost { .. } => bot.lost += 1,
                _ => {}
            }
        }
    }

    /// Compares what is shown with what is so.
    fn look(&mut self, index: usize) {
        let client = &self.bots[index].client;
        let Some(time) = client.now() else { return };
        for (entity, mover) in self.entities.iter().filter(|(_, mover)| **mover != index) {
            if let Ok(placement) = client.place(*entity) {
                self.errors.push(placement.position.distance(self.course.place(*mover, time)));
            }
        }
    }

    /// Waits for what is under way.
    pub(super) async fn settle(&mut self, server: &Server, within: Duration) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < within {
            (0..self.bots.len()).for_each(|index| self.listen(index, Instant::now()));
            if self.ledger.missing() == 0 && self.missing_at_server(server)? == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        Ok(())
    }

    /// What was sent to the server, and what it counts: all it received, but for what was for players.
    fn missing_at_server(&self, server: &Server) -> Result<i64> {
        let report = server.report()?;
        let received = |level: &str| report["messages"][level]["received"].as_i64().unwrap_or(0);
        Ok(self.ledger.sent as i64 - received("ordered") - received("unordered"))
    }

    /// What came of it all.
    pub(super) fn finish(mut self, server: &Server) -> Result<Noticed> {
        let at_server = self.missing_at_server(server)?;
        let over = self.bots.iter().filter(|bot| bot.client.link() != LinkState::Connected).count() as u64;
        self.late.sort_unstable();
        self.errors.sort_unstable_by(f64::total_cmp);
        let late = self.late.get(self.late.len() * 99 / 100).copied().unwrap_or_default();
        let mean = self.errors.iter().sum::<f64>() / self.errors.len().max(1) as f64;
        let most = self.errors.get(self.errors.len() * 99 / 100).copied().unwrap_or_default();
        Ok(Noticed {
            sent: self.ledger.sent,
            // What the server has not got cannot have reached a player either.
            lost: (self.ledger.missing() as i64).max(at_server),
            twice: self.ledger.twice + u64::from(at_server < 0),
            out_of_order: self.ledger.out_of_order,
            refused: self.ledger.refused,
            took: self.ledger.times(),
            took_by_second: self.ledger.times_by_second(),
            dropped: self.bots.iter().map(|bot| bot.lost).sum::<u64>().max(over),
            error: [mean, most],
            late,
        })
    }
}

impl Bot {
    fn start(index: usize, server: &Server) -> Result<Self> {
        let mut seat = SeatConfig::named(format!("bot {index}"));
        seat.secret[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        let client = Client::start(&server.url, server.trust()?, seat)?;
        Ok(Self { client, host: None, entity: None, lost: 0 })
    }

    /// Tells where its entity is, if it has one.
    fn observe(&self, index: usize, course: Course) {
        let Some((entity, time)) = self.entity.zip(self.client.now()) else { return };
        // It may have lost its connection, which is counted elsewhere.
        let _ = self.client.observe(entity, Pose::at(course.place(index, time)));
    }
}

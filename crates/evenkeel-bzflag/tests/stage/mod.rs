//! A game without the game: clients that follow recorded paths and place each other by the game's loop, frame by frame, around the
//! relay's mind. It measures for itself what clients show, and shares nothing with what the relay measures.

// Not every test uses all of it.
#![allow(dead_code)]

use evenkeel::{Duration, GlobalTime, HostId, Motion, Vec3};
use evenkeel_bzflag::message::{Code, Frame, LagPing, SetVar, Status, TankUpdate, Text, frames};
use evenkeel_bzflag::{Relay, RelayConfig, Rules, Way};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;

/// Between two ticks of the stage.
const STEP: Duration = Duration::from_millis(1);

/// Who takes part, and how far away.
pub struct Part {
    /// Whose recorded path it follows; none for one who only looks on.
    pub follows: Option<u8>,
    /// One way, either way.
    pub delay_ms: i64,
    /// What the measurement is told of the delay; the truth if none.
    pub said_to_be_ms: Option<i64>,
}

/// What one client showed, by its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    pub error: f64,
    pub moments: f64,
}

impl Shown {
    pub fn mean_m(&self) -> f64 {
        self.error / self.moments
    }
}

/// A recorded path: what a tank said on every frame.
pub type Trace = BTreeMap<u8, Vec<TankUpdate>>;

pub struct Stage {
    pub relay: Relay,
    now: GlobalTime,
    frame: Duration,
    clients: Vec<Client>,
    /// Tanks whose clients are not behind the relay.
    strangers: Vec<Vec<TankUpdate>>,
    on_the_way: BTreeMap<(GlobalTime, u64), Parcel>,
    serial: u64,
    /// Everything that clients were sent, for comparing runs.
    pub sent: Vec<u8>,
}

struct Client {
    host: HostId,
    player: u8,
    delay: Duration,
    path: Vec<TankUpdate>,
    next: usize,
    tick: GlobalTime,
    next_tick: GlobalTime,
    inbox: Vec<u8>,
    tanks: BTreeMap<u8, (i32, GlobalTime, Motion)>,
    shown: Shown,
}

struct Parcel {
    client: usize,
    up: bool,
    received: GlobalTime,
    bytes: Vec<u8>,
}

/// Reads the paths of these players from one of the project's traces.
pub fn trace(name: &str, players: &[u8], seconds: f64) -> Trace {
    let path = format!("{}/../../data/traces/{name}.csv.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let file = std::fs::File::open(&path).expect("the project carries its traces");
    GzDecoder::new(file).read_to_string(&mut text).expect("it is text");
    let mut trace = Trace::new();
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let &[t, player, x, y, z, vx, vy, vz, azimuth, turn, status, order] = &cells[..] else { panic!("{line}") };
        let player = player as u8;
        if t > seconds || !players.contains(&player) {
            continue;
        }
        trace.entry(player).or_default().push(TankUpdate {
            stamp: t as f32,
            order: order as i32,
            status: Status(status as i16 & 0x7f),
            position: [x as f32, y as f32, z as f32],
            velocity: [vx as f32, vy as f32, vz as f32],
            azimuth: azimuth as f32,
            angular_velocity: turn as f32,
            ..TankUpdate::of(player)
        });
    }
    trace
}

impl Stage {
    pub fn new(config: RelayConfig, trace: &Trace, parts: &[Part]) -> Self {
        let frame = Duration::from_secs_f64(1.0 / config.frames_per_second);
        let relay = Relay::new(config).expect("the policies exist");
        let followed: Vec<u8> = parts.iter().filter_map(|part| part.follows).collect();
        let strangers =
            trace.iter().filter(|(player, _)| !followed.contains(player)).map(|(_, path)| path.clone()).collect();
        let mut stage = Self {
            relay,
            now: GlobalTime::ZERO,
            frame,
            clients: Vec::new(),
            strangers,
            on_the_way: BTreeMap::new(),
            serial: 0,
            sent: Vec::new(),
        };
        for (index, part) in parts.iter().enumerate() {
            stage.join(index, part, trace);
        }
        stage
    }

    fn join(&mut self, index: usize, part: &Part, trace: &Trace) {
        let host = HostId(index as u32);
        let player = part.follows.unwrap_or(100 + index as u8);
        self.relay.connected(host, player);
        let mut enter = vec![0, 0, 0, 0];
        enter.extend_from_slice(&Text::<32>::new(&format!("p{index}")).0);
        enter.extend_from_slice(&[0; 128]);
        let now = self.now;
        self.relay.handle_client(host, Way::Tcp, Frame { code: Code::ENTER, payload: &enter }, now, now);
        let mut variables = Vec::new();
        SetVar(vec![(b"_positionTolerance", b"-1"), (b"_gravity", b"-9.8")]).emit(&mut variables);
        let frame = frames(&variables).next().expect("one frame").expect("of ours");
        self.relay.handle_server(host, Way::Tcp, frame, now);
        self.relay.handle_server(host, Way::Tcp, Frame { code: Code::ACCEPT, payload: &[] }, now);
        let said = part.said_to_be_ms.unwrap_or(part.delay_ms);
        let conditions = evenkeel_link::Conditions::delay(Duration::from_millis(said));
        let path = evenkeel_link::Path::new(conditions, 1, index as u64).expect("a delay makes sense");
        self.relay.gauge_mut().set_conditions(host, path);
        self.clients.push(Client {
            host,
            player,
            delay: Duration::from_millis(part.delay_ms),
            path: part.follows.and_then(|player| trace.get(&player).cloned()).unwrap_or_default(),
            next: 0,
            tick: now,
            // Clients do not draw in step.
            next_tick: now + Duration::from_nanos(self.frame.as_nanos() * index as i64 / 7),
            inbox: Vec::new(),
            tanks: BTreeMap::new(),
            shown: Shown::default(),
        });
    }

    /// Plays for so long, after a time in which delays become known.
    pub fn play(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += STEP;
            self.strangers_move();
            for index in 0..self.clients.len() {
                self.frame(index);
            }
            while let Some(entry) = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let parcel = entry.remove();
                self.deliver(parcel);
            }
            self.pump();
        }
    }

    /// What the clients showed, by their own account.
    pub fn shown(&self) -> Vec<Shown> {
        self.clients.iter().map(|client| client.shown).collect()
    }

    /// One turn of the game's loop, if it is time: the end of the frame before, which is to read and to send, then tick and draw.
    fn frame(&mut self, index: usize) {
        let (now, frame) = (self.now, self.frame);
        if self.clients[index].next_tick > now {
            return;
        }
        let inbox = std::mem::take(&mut self.clients[index].inbox);
        for message in frames(&inbox) {
            self.read(index, message.expect("the relay sends whole frames"));
        }
        // What was so at the tick before goes out now that it is drawn.
        self.drive(index);
        let client = &mut self.clients[index];
        client.tick = now;
        client.next_tick += frame;
        self.draw(index);
    }

    fn read(&mut self, index: usize, frame: Frame<'_>) {
        let client = &mut self.clients[index];
        match frame.code {
            Code::LAG_PING => {
                let mut bytes = Vec::new();
                LagPing::parse(frame).expect("a ping").emit(&mut bytes);
                self.post(index, true, bytes);
            }
            Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL => {
                let update = TankUpdate::parse(frame).expect("an update");
                let newer = client.tanks.get(&update.player).is_none_or(|(order, _, _)| update.order > *order);
                if newer && update.status.contains(Status::ALIVE) {
                    // It counts from the tick before.
                    let motion = Rules::default().motion(&update);
                    client.tanks.insert(update.player, (update.order, client.tick, motion));
                } else if newer {
                    client.tanks.remove(&update.player);
                }
            }
            _ => {}
        }
    }

    /// Compares what is on the screen with where tanks are, once everybody has seen something.
    fn draw(&mut self, index: usize) {
        let now = self.now;
        let truth = |player: u8| self.real(player, now);
        let client = &self.clients[index];
        let mut shown = client.shown;
        if now > GlobalTime::from_millis(5_000) {
            for (player, (_, epoch, motion)) in &client.tanks {
                if let Some(real) = truth(*player) {
                    let mut place = motion.position_at(now.since(*epoch).as_secs_f64());
                    place.z = place.z.max(0.0);
                    shown.error += place.distance(real);
                    shown.moments += 1.0;
                }
            }
        }
        self.clients[index].shown = shown;
    }

    /// Where a living tank is.
    fn real(&self, player: u8, at: GlobalTime) -> Option<Vec3> {
        let own = self.clients.iter().find(|c| c.player == player).map(|c| &c.path);
        let path = own.or_else(|| self.strangers.iter().find(|path| path[0].player == player))?;
        let t = at.as_secs_f64();
        let index = path.partition_point(|row| f64::from(row.stamp) <= t).checked_sub(1)?;
        let row = &path[index];
        let age = t - f64::from(row.stamp);
        // A tank that says nothing for so long is not there.
        (row.status.contains(Status::ALIVE) && age < 0.5).then(|| Rules::default().motion(row).position_at(age))
    }

    /// Sends what the recorded tank said by the last tick.
    fn drive(&mut self, index: usize) {
        let t = self.clients[index].tick.as_secs_f64();
        while let Some(row) = self.clients[index].path.get(self.clients[index].next) {
            if f64::from(row.stamp) > t {
                break;
            }
            let mut bytes = Vec::new();
            row.emit(&mut bytes);
            self.clients[index].next += 1;
            self.post(index, true, bytes);
        }
    }

    fn strangers_move(&mut self) {
        let t = self.now.as_secs_f64();
        for index in 0..self.strangers.len() {
            let due = self.strangers[index].partition_point(|row| f64::from(row.stamp) <= t);
            let before = self.strangers[index].partition_point(|row| f64::from(row.stamp) <= t - STEP.as_secs_f64());
            for row in before..due {
                let row = self.strangers[index][row];
                self.spread(&row);
            }
        }
    }

    /// The server passes an update on to everybody else.
    fn spread(&mut self, update: &TankUpdate) {
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        let frame = frames(&bytes).next().expect("one frame").expect("of ours");
        for index in 0..self.clients.len() {
            let (host, player) = (self.clients[index].host, self.clients[index].player);
            if player != update.player {
                self.relay.handle_server(host, Way::Udp, frame, self.now);
            }
        }
    }

    fn post(&mut self, client: usize, up: bool, bytes: Vec<u8>) {
        self.serial += 1;
        let at = self.now + self.clients[client].delay;
        self.on_the_way.insert((at, self.serial), Parcel { client, up, received: self.now, bytes });
    }

    fn deliver(&mut self, parcel: Parcel) {
        let client = &mut self.clients[parcel.client];
        if !parcel.up {
            client.inbox.extend_from_slice(&parcel.bytes);
            return;
        }
        let host = client.host;
        for frame in frames(&parcel.bytes) {
            let frame = frame.expect("clients send whole frames");
            self.relay.handle_client(host, Way::Udp, frame, parcel.received, self.now);
        }
    }

    /// Carries what the relay has to say; the server is next door.
    fn pump(&mut self) {
        while let Some(out) = self.relay.poll(self.now) {
            let index = out.client.0 as usize;
            if out.to_client {
                self.sent.extend_from_slice(&out.bytes);
                self.post(index, false, out.bytes);
                continue;
            }
            for frame in frames(&out.bytes) {
                if let Ok(update) = TankUpdate::parse(frame.expect("whole frames")) {
                    self.spread(&update);
                }
            }
        }
    }
}

//! A hub, players behind their machines, and a network of constant delays between them. All that a player is told and answers is
//! written down, to be told again to another build of the same.
#![allow(dead_code, clippy::unwrap_used)]

use evenkeel::{Duration, HostId, Instant};
use evenkeel_games::words::Word;
use evenkeel_net::hub::{Connection, Hub, HubConfig, HubEvent, What};
use evenkeel_net::levels::Level;
use evenkeel_web::{Machine, Player};
use std::collections::BTreeMap;

pub fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// The calls of a machine, by the numbers that the log and `replay.mjs` have for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    Join(usize),
    Connected,
    Lost(i64),
    Handle(i32, i64),
    Poll(i64),
    Timeout(i64),
    Keys(i32, i32),
    Fire(i64),
    Step(i64),
    Frame(i64),
    Texts,
    Leave,
}

impl Call {
    /// Its number, two small arguments, and the time.
    fn numbers(self) -> (u8, i32, i32, i64) {
        match self {
            Self::Join(length) => (0, length as i32, 0, 0),
            Self::Connected => (1, 0, 0, 0),
            Self::Lost(now) => (2, 0, 0, now),
            Self::Handle(kind, now) => (3, kind, 0, now),
            Self::Poll(now) => (4, 0, 0, now),
            Self::Timeout(now) => (5, 0, 0, now),
            Self::Keys(speed, turn) => (6, speed, turn, 0),
            Self::Fire(now) => (7, 0, 0, now),
            Self::Step(now) => (8, 0, 0, now),
            Self::Frame(now) => (9, 0, 0, now),
            Self::Texts => (10, 0, 0, 0),
            Self::Leave => (11, 0, 0, 0),
        }
    }

    fn make(self, machine: &mut Machine) -> i64 {
        match self {
            Self::Join(length) => return machine.join(length).into(),
            Self::Connected => return machine.connected().into(),
            Self::Handle(kind, now) => return machine.handle(kind, now).into(),
            Self::Poll(now) => return machine.poll(now).into(),
            Self::Timeout(now) => return machine.timeout(now),
            Self::Fire(now) => return machine.fire(now).into(),
            Self::Frame(now) => return machine.frame(now).into(),
            Self::Lost(now) => machine.lost(now),
            Self::Keys(speed, turn) => machine.keys(speed, turn),
            Self::Step(now) => machine.step(now),
            Self::Texts => machine.texts(),
            Self::Leave => machine.leave(),
        }
        0
    }

    /// Whether the output is this call's.
    fn has_output(self) -> bool {
        !matches!(self, Self::Lost(_) | Self::Timeout(_) | Self::Keys(..) | Self::Fire(_) | Self::Step(_) | Self::Leave)
    }
}

/// A machine whose calls are written down: number, arguments, time, input, answer, output.
#[derive(Default)]
pub struct Witnessed {
    pub machine: Machine,
    pub log: Vec<u8>,
}

impl Witnessed {
    pub fn call(&mut self, call: Call, input: &[u8]) -> (i64, Vec<u8>) {
        self.machine.input(input.len()).copy_from_slice(input);
        let answer = call.make(&mut self.machine);
        let output = if call.has_output() { self.machine.output().to_vec() } else { Vec::new() };
        let (number, a, b, now) = call.numbers();
        self.log.push(number);
        self.log.extend([a, b].map(i32::to_le_bytes).concat());
        self.log.extend(now.to_le_bytes());
        self.log.extend((input.len() as u32).to_le_bytes());
        self.log.extend(input);
        self.log.extend(answer.to_le_bytes());
        self.log.extend((output.len() as u32).to_le_bytes());
        self.log.extend(&output);
        (answer, output)
    }

    pub fn player(&self) -> &Player {
        self.machine.player().unwrap()
    }
}

pub struct Guest {
    pub machine: Witnessed,
    pub connection: Connection,
    pub delay: Duration,
    /// This host's clock is so far ahead of the hub's.
    pub offset: Duration,
    pub linked: bool,
    /// The numbers of the last frame.
    pub frame: Vec<f64>,
}

enum Packet {
    Up(usize, i64, Vec<u8>),
    Down(usize, i32, Vec<u8>),
}

pub struct World {
    pub hub: Hub,
    pub events: Vec<HubEvent>,
    pub guests: Vec<Guest>,
    pub now: Instant,
    queue: BTreeMap<(Instant, u64), Packet>,
    count: u64,
}

impl World {
    pub fn new(config: HubConfig) -> Self {
        let hub = Hub::new(config).unwrap();
        let (events, guests, queue) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { hub, events, guests, now: Instant::from_millis(50_000), queue, count: 0 }
    }

    pub fn join(&mut self, name: &str, delay_ms: i64) -> usize {
        let number = self.guests.len();
        let mut machine = Witnessed::default();
        let input = [&[number as u8 + 1; 16][..], b"main", name.as_bytes()].concat();
        assert_eq!(machine.call(Call::Join(4), &input).0, 0);
        assert_eq!(machine.call(Call::Connected, &[]).0, 0);
        let connection = Connection(number as u64);
        self.hub.handle_connected(connection, None, self.now);
        let offset = ms(7_000 * number as i64 - 3_000);
        self.guests.push(Guest { machine, connection, delay: ms(delay_ms), offset, linked: true, frame: Vec::new() });
        number
    }

    pub fn local(&self, guest: usize) -> i64 {
        (self.now + self.guests[guest].offset).as_nanos()
    }

    pub fn call(&mut self, guest: usize, call: impl FnOnce(i64) -> Call, input: &[u8]) -> (i64, Vec<u8>) {
        let local = self.local(guest);
        self.guests[guest].machine.call(call(local), input)
    }

    pub fn lose(&mut self, guest: usize) {
        self.guests[guest].linked = false;
        self.hub.handle_disconnected(self.guests[guest].connection, self.now);
        self.call(guest, Call::Lost, b"pulled");
    }

    pub fn reconnect(&mut self, guest: usize) {
        self.count += 1;
        let connection = Connection(1_000 + self.count);
        self.hub.handle_connected(connection, None, self.now);
        (self.guests[guest].connection, self.guests[guest].linked) = (connection, true);
        assert_eq!(self.call(guest, |_| Call::Connected, &[]).0, 0);
    }

    pub fn you(&self, guest: usize) -> HostId {
        self.guests[guest].machine.player().seat().you().unwrap()
    }

    /// The server says something to everybody.
    pub fn say(&mut self, word: &Word) {
        self.hub.broadcast(Level::Unordered, &word.emit(), self.now).unwrap();
    }

    /// Lets time pass in steps of a millisecond; players step every 20, and draw every 16.
    pub fn run(&mut self, millis: i64, mut tick: impl FnMut(&mut Self)) {
        for _ in 0..millis {
            self.now += ms(1);
            let time = self.now.as_nanos() / 1_000_000;
            for guest in 0..self.guests.len() {
                if time % 20 == 0 {
                    self.call(guest, Call::Step, &[]);
                }
                if time % 16 == 0 {
                    let (_, output) = self.call(guest, Call::Frame, &[]);
                    self.guests[guest].frame = numbers(&output);
                }
            }
            tick(self);
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Packet::Up(from, kind, bytes) => {
                    let connection = self.guests[from].connection;
                    match kind {
                        0 => self.hub.handle_datagram(connection, &bytes, self.now),
                        1 => self.hub.handle_message(connection, &bytes, self.now),
                        _ => self.hub.handle_unordered(connection, &bytes, self.now),
                    }
                }
                Packet::Down(to, kind, bytes) => {
                    let (answer, why) = self.call(to, |now| Call::Handle(kind, now), &bytes);
                    assert_eq!(answer, 0, "{}", String::from_utf8_lossy(&why));
                }
            }
        }
        self.hub.advance(self.now);
        while let Some(out) = self.hub.poll_transmit(self.now) {
            let to = self.guests.iter().position(|guest| guest.connection == out.to);
            let packed = match out.what {
                What::Datagram(bytes) => Some((0, bytes)),
                What::Message(bytes) => Some((1, bytes)),
                What::Unordered(bytes) => Some((2, bytes)),
                What::Close(_) => None,
            };
            if let (Some(to), Some((kind, bytes))) = (to, packed) {
                self.post(to, Packet::Down(to, kind, bytes));
            }
        }
        for guest in 0..self.guests.len() {
            loop {
                let (kind, bytes) = self.call(guest, Call::Poll, &[]);
                if kind < 0 {
                    break;
                }
                self.post(guest, Packet::Up(guest, kind, bytes));
            }
        }
        let hub = &mut self.hub;
        self.events.extend(std::iter::from_fn(|| hub.poll_event()));
    }

    fn post(&mut self, guest: usize, packet: Packet) {
        if self.guests[guest].linked {
            self.count += 1;
            self.queue.insert((self.now + self.guests[guest].delay, self.count), packet);
        }
    }
}

pub fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
}

/// A frame's numbers, by name.
pub struct Seen<'a>(pub &'a [f64]);

impl Seen<'_> {
    pub fn own(&self) -> [f64; 3] {
        assert_eq!(self.0[8], 1.0, "there is no craft");
        [self.0[9], self.0[10], self.0[11]]
    }

    pub fn others(&self) -> Vec<[f64; 6]> {
        let list = &self.0[22..22 + 6 * self.0[18] as usize];
        list.chunks_exact(6).map(|six| six.try_into().unwrap()).collect()
    }

    pub fn shots(&self) -> Vec<[f64; 3]> {
        let first = 22 + 6 * self.0[18] as usize;
        let list = &self.0[first..first + 3 * self.0[19] as usize];
        list.chunks_exact(3).map(|three| three.try_into().unwrap()).collect()
    }
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

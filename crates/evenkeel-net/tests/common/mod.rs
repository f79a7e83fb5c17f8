//! A hub, some seats with clocks of their own, and a network of constant delays between them.
#![allow(dead_code, clippy::unwrap_used)]

use evenkeel::{Duration, HostId, Instant};
use evenkeel_net::hub::{Connection, Hub, HubConfig, HubEvent, What};
use evenkeel_net::seat::{Seat, SeatConfig, SeatEvent, ToSend};
use std::collections::BTreeMap;

pub fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// A host's clock: off by so much, and so many millionths fast.
#[derive(Clone, Copy)]
pub struct Wrong {
    pub offset: Duration,
    pub ppm: f64,
}

impl Wrong {
    /// What it shows when the hub's clock shows `truth`.
    pub fn shows(&self, truth: Instant) -> Instant {
        let drift = Duration::from_secs_f64(truth.as_nanos() as f64 / 1e9 * self.ppm / 1e6);
        truth + self.offset + drift
    }
}

pub struct Guest {
    pub seat: Seat,
    pub clock: Wrong,
    pub connection: Connection,
    pub delay: Duration,
    pub events: Vec<SeatEvent>,
    /// Why the hub closed the connection.
    pub closed: Option<String>,
    /// Whether packets get through.
    pub linked: bool,
}

enum Packet {
    Up(usize, ToSend),
    Down(usize, What),
    /// Between two guests.
    Across(HostId, usize, Vec<u8>),
}

pub struct World {
    pub hub: Hub,
    pub hub_events: Vec<HubEvent>,
    pub guests: Vec<Guest>,
    pub now: Instant,
    /// All connections that the hub closed, also those that were given up, and why.
    pub closed: Vec<(Connection, String)>,
    /// One in so many datagrams is lost; none if it is zero.
    pub lose_one_in: u64,
    /// So much longer than datagrams messages take, so that datagrams overtake them.
    pub messages_late: Duration,
    queue: BTreeMap<(Instant, u64), Packet>,
    count: u64,
}

impl World {
    pub fn new(config: HubConfig) -> Self {
        Self {
            hub: Hub::new(config).unwrap(),
            hub_events: Vec::new(),
            guests: Vec::new(),
            now: Instant::from_millis(50_000),
            closed: Vec::new(),
            lose_one_in: 0,
            messages_late: Duration::ZERO,
            queue: BTreeMap::new(),
            count: 0,
        }
    }

    pub fn join(&mut self, config: SeatConfig, delay_ms: i64) -> usize {
        let number = self.guests.len();
        let connection = Connection(number as u64);
        self.hub.handle_connected(connection, None, self.now);
        let wrong = Wrong { offset: ms(7_000 * number as i64 - 3_000), ppm: 50.0 * (number as f64 - 1.0) };
        self.guests.push(Guest {
            seat: Seat::new(config).unwrap(),
            clock: wrong,
            connection,
            delay: ms(delay_ms),
            events: Vec::new(),
            closed: None,
            linked: true,
        });
        number
    }

    /// Another connection for a player who lost its own.
    pub fn reconnect(&mut self, guest: usize) {
        self.count += 1;
        let connection = Connection(1_000 + self.count);
        self.hub.handle_connected(connection, None, self.now);
        let guest = &mut self.guests[guest];
        (guest.connection, guest.linked, guest.closed) = (connection, true, None);
        guest.seat.reconnect().unwrap();
    }

    pub fn local(&self, guest: usize) -> Instant {
        self.guests[guest].clock.shows(self.now)
    }

    /// Lets time pass in steps of a millisecond.
    pub fn run(&mut self, millis: i64, mut tick: impl FnMut(&mut Self)) {
        for _ in 0..millis {
            self.now += ms(1);
            tick(self);
            self.exchange();
        }
    }

    pub fn exchange(&mut self) {
        while let Some((&(due, _), _)) = self.queue.first_key_value() {
            if due > self.now {
                break;
            }
            let (_, packet) = self.queue.pop_first().unwrap();
            self.deliver(packet);
        }
        self.hub.advance(self.now);
        while let Some(outgoing) = self.hub.poll_transmit(self.now) {
            if let What::Close(why) = &outgoing.what {
                self.closed.push((outgoing.to, why.clone()));
            }
            if let Some(to) = self.guests.iter().position(|guest| guest.connection == outgoing.to) {
                self.post(to, Packet::Down(to, outgoing.what));
            }
        }
        for number in 0..self.guests.len() {
            let local = self.local(number);
            while let Some(out) = self.guests[number].seat.poll_transmit(local) {
                match out {
                    ToSend::ToPeer(to, bytes) => self.post_across(number, to, bytes),
                    out => self.post(number, Packet::Up(number, out)),
                }
            }
            let Guest { seat, events, .. } = &mut self.guests[number];
            events.extend(std::iter::from_fn(|| seat.poll_event()));
        }
        let hub = &mut self.hub;
        self.hub_events.extend(std::iter::from_fn(|| hub.poll_event()));
        self.check_refusals();
    }

    /// Nobody here lies, so that every datagram can be decoded.
    fn check_refusals(&self) {
        let seats = self.guests.iter().filter_map(|guest| guest.seat.receiver());
        for receiver in seats.chain([self.hub.receiver()]) {
            let refusals = receiver.all_refusals();
            assert_eq!(refusals.undecodable(), 0, "{refusals:?}");
        }
    }

    fn post(&mut self, guest: usize, packet: Packet) {
        if self.guests[guest].linked && self.guests[guest].closed.is_none() {
            self.count += 1;
            let datagram = matches!(packet, Packet::Up(_, ToSend::Datagram(_)) | Packet::Down(_, What::Datagram(_)));
            // A number that looks random, so that no kind of datagram is always hit.
            if datagram && self.lose_one_in > 0 && ((self.count * 2_654_435_761) >> 8).is_multiple_of(self.lose_one_in)
            {
                return;
            }
            let late = if datagram { Duration::ZERO } else { self.messages_late };
            self.queue.insert((self.now + self.guests[guest].delay + late, self.count), packet);
        }
    }

    fn guest_of(&self, host: HostId) -> Option<usize> {
        self.guests.iter().position(|guest| guest.seat.you() == Some(host))
    }

    /// A datagram from guest to guest takes as long as the farther of the two needs to the hub.
    fn post_across(&mut self, from: usize, to: HostId, bytes: Vec<u8>) {
        let (Some(you), Some(to)) = (self.guests[from].seat.you(), self.guest_of(to)) else { return };
        if self.guests[from].linked && self.guests[to].linked {
            self.count += 1;
            let delay = self.guests[from].delay.max(self.guests[to].delay);
            self.queue.insert((self.now + delay, self.count), Packet::Across(you, to, bytes));
        }
    }

    /// Opens the direct connections that guests were introduced for, where `opens` says so.
    pub fn connect_peers(&mut self, opens: impl Fn(usize, usize) -> bool) {
        for guest in 0..self.guests.len() {
            let local = self.local(guest);
            while let Some(introduction) = self.guests[guest].seat.poll_introduction() {
                let peer = self.guest_of(introduction.host).unwrap();
                if opens(guest, peer) {
                    self.guests[guest].seat.handle_linked(introduction.host, local);
                }
            }
        }
    }

    fn deliver(&mut self, packet: Packet) {
        match packet {
            Packet::Up(from, out) => {
                let connection = self.guests[from].connection;
                match out {
                    ToSend::Message(bytes) => self.hub.handle_message(connection, &bytes, self.now),
                    ToSend::Unordered(bytes) => self.hub.handle_unordered(connection, &bytes, self.now),
                    ToSend::Datagram(bytes) => self.hub.handle_datagram(connection, &bytes, self.now),
                    ToSend::ToPeer(..) => unreachable!("they go across"),
                }
            }
            Packet::Across(from, to, bytes) => {
                let local = self.local(to);
                self.guests[to].seat.handle_peer_datagram(from, &bytes, local);
            }
            Packet::Down(to, what) => {
                let local = self.local(to);
                let guest = &mut self.guests[to];
                match what {
                    What::Message(bytes) => guest.seat.handle_message(&bytes, local).unwrap(),
                    What::Unordered(bytes) => guest.seat.handle_unordered(&bytes).unwrap(),
                    What::Datagram(bytes) => guest.seat.handle_datagram(&bytes, local),
                    What::Close(why) => guest.closed = Some(why),
                }
            }
        }
    }
}

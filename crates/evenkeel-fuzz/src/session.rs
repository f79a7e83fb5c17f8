//! A session with two honest players and somebody who says anything, to the server and to a player.

use crate::input::Input;
use evenkeel::{Duration, EntityId, Instant, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Connection, HubConfig, What};
use evenkeel_net::lobby::{Lobby, LobbyConfig};
use evenkeel_net::protocol::{Model, PeerOffer, ToPlayer, decode};
use evenkeel_net::seat::{Seat, SeatConfig, ToSend};

const MAX_OPERATIONS: usize = 200;
/// The connection of whoever says anything. The honest ones have 0 and 1.
const STRANGER: Connection = Connection(7);

/// Whatever a stranger says to the server, and whatever a server says to a player, nothing panics, the honest players stay, and
/// what they own remains theirs.
pub fn session(data: &[u8]) {
    let mut input = Input(data);
    let model = Model::ALL[usize::from(input.next().unwrap_or(0)) % 3].1;
    let mut table = Table::new(model);
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        table.perform(operation, &mut input);
        table.exchange();
        table.check();
    }
}

struct Table {
    lobby: Lobby,
    seats: [Seat; 2],
    /// A player whose server says anything.
    misled: Seat,
    now: Instant,
    owned: [Option<EntityId>; 2],
}

fn seat(name: &str) -> Seat {
    let peer = Some(PeerOffer { certificate: [1; 32], addresses: Vec::new() });
    // A name of a few letters can always be said.
    Seat::new(SeatConfig { peer, ..SeatConfig::named(name) }).expect("a short hello")
}

impl Table {
    fn new(model: Model) -> Self {
        let mut lobby = Lobby::new(LobbyConfig::default());
        lobby.add(HubConfig { model, ..HubConfig::default() }).expect("the default is sound");
        let now = Instant::from_millis(1_000);
        for connection in [Connection(0), Connection(1), STRANGER] {
            lobby.handle_connected(connection, None, now);
        }
        let seats = [seat("one"), seat("two")];
        let mut table = Self { lobby, seats, misled: seat("misled"), now, owned: [None; 2] };
        for _ in 0..40 {
            table.now += Duration::from_millis(25);
            table.exchange();
        }
        for (seat, owned) in table.seats.iter_mut().zip(&mut table.owned) {
            *owned = seat.make(Threshold::within(0.1), Vec::new(), table.now).ok();
        }
        table.exchange();
        table
    }

    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        let length = usize::from(input.next().unwrap_or(0));
        let said: Vec<u8> = (0..length).map_while(|_| input.next()).collect();
        match operation % 8 {
            0 | 1 => self.lobby.handle_message(STRANGER, &said, self.now),
            2 => self.lobby.handle_datagram(STRANGER, &said, self.now),
            3 => self.lobby.handle_unordered(STRANGER, &said, self.now),
            4 => drop(self.misled.handle_message(&said, self.now)),
            5 => self.misled.handle_datagram(&said, self.now),
            6 => {
                self.lobby.handle_disconnected(STRANGER, self.now);
                self.lobby.handle_connected(STRANGER, None, self.now);
            }
            _ => self.now += Duration::from_millis(i64::try_from(length).unwrap_or(0) * 4),
        }
    }

    /// Carries everything, at once, and has the honest ones move what they own.
    fn exchange(&mut self) {
        for (seat, owned) in self.seats.iter_mut().zip(&self.owned) {
            if let Some(entity) = owned {
                let _ = seat.observe(*entity, Pose::at(Vec3::ZERO), self.now);
            }
        }
        while self.misled.poll_transmit(self.now).is_some() {}
        while self.misled.poll_event().is_some() {}
        // Two rounds: an answer may ask for an answer. A way that takes no time would tell the clocks nothing.
        for _ in 0..2 {
            for number in 0..self.seats.len() {
                self.carry(number);
            }
            self.now += Duration::from_millis(1);
            self.answer();
        }
    }

    fn carry(&mut self, number: usize) {
        let connection = Connection(number as u64);
        while let Some(out) = self.seats[number].poll_transmit(self.now) {
            match out {
                ToSend::Message(bytes) => self.lobby.handle_message(connection, &bytes, self.now),
                ToSend::Unordered(bytes) => self.lobby.handle_unordered(connection, &bytes, self.now),
                ToSend::Datagram(bytes) => self.lobby.handle_datagram(connection, &bytes, self.now),
                ToSend::ToPeer(..) => {}
            }
        }
        while self.seats[number].poll_event().is_some() {}
    }

    fn answer(&mut self) {
        self.lobby.advance(self.now);
        while let Some(out) = self.lobby.poll_transmit(self.now) {
            let Some(seat) = self.seats.get_mut(out.to.0 as usize) else { continue };
            match out.what {
                What::Message(bytes) => drop(seat.handle_message(&bytes, self.now)),
                What::Unordered(bytes) => drop(seat.handle_unordered(&bytes)),
                What::Datagram(bytes) => seat.handle_datagram(&bytes, self.now),
                What::Close(why) => panic!("an honest player was sent away: {why}"),
            }
        }
    }

    fn check(&mut self) {
        let hub = self.lobby.hub("main").expect("nobody removes it");
        assert!(hub.players().count() >= 2, "an honest player is gone");
        for (seat, owned) in self.seats.iter().zip(&self.owned) {
            let owner = hub.entities().find(|made| Some(made.entity) == *owned).map(|made| made.owner);
            assert_eq!(owner, owned.and(seat.you()), "somebody took what is not theirs");
        }
    }
}

/// Control messages that parse are written as they were read.
pub fn protocol(data: &[u8]) {
    use evenkeel_net::protocol::{ToServer, encode, passed_on};
    if let Ok(message) = decode::<ToServer>(data) {
        assert_eq!(decode::<ToServer>(&encode(&message).expect("it was no longer")), Ok(message));
    }
    if let Ok(message) = decode::<ToPlayer>(data) {
        assert_eq!(decode::<ToPlayer>(&encode(&message).expect("it was no longer")), Ok(message));
    }
    if let Some((party, inner)) = passed_on(data) {
        assert_eq!(evenkeel_net::protocol::pass_on(party, inner), data);
    }
}

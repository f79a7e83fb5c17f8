//! One client, as the relay knows it.

use crate::rules::half_a_frame;
use crate::stamps::Stamps;
use evenkeel::delay::PathEstimate;
use evenkeel::{Duration, GlobalTime};
use std::collections::{BTreeMap, VecDeque};

/// How something travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In order, and nothing gets lost.
    Tcp,
    /// One message or a few at a time.
    Udp,
}

/// The server numbers its lag pings below 10,000; ours are told from them by this bit.
const OURS: u16 = 0x8000;

/// How often the relay pings a client. Not in step with its frames: a ping waits for the end of one, and on average for half of one only
/// if pings come at all parts of it.
const PING_EVERY: Duration = Duration::from_millis(237);

/// So many pings may be unanswered; older ones are given up.
const PINGS: usize = 64;

/// No update counts as later than this: its client's clock is not to be trusted.
const OLDEST: Duration = Duration::from_secs(3);

/// How late an update is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lateness {
    /// By how much more it was held up on the way than the luckiest.
    pub(super) held_up: Duration,
    /// How long ago it was made.
    pub(super) age: Duration,
}

pub(super) struct Client {
    pub(super) player: u8,
    pub(super) name: String,
    pub(super) robot: bool,
    /// Whether the server has let it in, so that it is told about tanks.
    pub(super) playing: bool,
    /// How the server last sent it something of the kind that prefers datagrams.
    pub(super) way: Way,
    /// By the relay's own pings.
    pub(super) path: PathEstimate,
    /// When its updates were made, by the relay's clock as they are let through.
    pub(super) stamps: Stamps,
    /// The same by when they were received.
    pub(super) true_stamps: Stamps,
    pings: VecDeque<(u16, GlobalTime)>,
    next_ping: u16,
    pub(super) ping_at: Option<GlobalTime>,
    /// The order of the last update about each player.
    orders: BTreeMap<u8, i32>,
}

impl Client {
    pub(super) fn new(player: u8) -> Self {
        Self {
            player,
            name: format!("player {player}"),
            robot: false,
            playing: false,
            way: Way::Tcp,
            path: PathEstimate::default(),
            stamps: Stamps::default(),
            true_stamps: Stamps::default(),
            pings: VecDeque::new(),
            next_ping: 0,
            ping_at: None,
            orders: BTreeMap::new(),
        }
    }

    /// The order of the next update about a player: higher than the one before, or the client would not look at it.
    pub(super) fn next_order(&mut self, player: u8) -> i32 {
        let order = self.orders.entry(player).or_default();
        *order = order.wrapping_add(1);
        *order
    }

    /// The number of a ping to send now.
    pub(super) fn ping(&mut self, now: GlobalTime) -> u16 {
        let number = OURS | self.next_ping;
        self.next_ping = (self.next_ping + 1) & !OURS;
        if self.pings.len() == PINGS {
            self.pings.pop_front();
        }
        self.pings.push_back((number, now));
        // At the end of time there is no later.
        self.ping_at = Some(now + PING_EVERY).filter(|at| *at > now);
        number
    }

    /// Takes in the answer to a ping. Answers whether the ping was the relay's own: the server has not heard of it.
    pub(super) fn pong(&mut self, number: u16, now: GlobalTime) -> bool {
        if number & OURS == 0 {
            return false;
        }
        if let Some(index) = self.pings.iter().position(|(sent, _)| *sent == number) {
            let (_, sent) = self.pings[index];
            self.pings.drain(..=index);
            self.path.observe_round_trip(now.since(sent), now);
        }
        true
    }

    /// How long what is sent to it now is expected to take. A ping waits half a frame on average before it is answered.
    pub(super) fn one_way(&self, frames_per_second: f64) -> Duration {
        let round_trip = self.path.round_trip().unwrap_or(Duration::ZERO);
        (round_trip - half_a_frame(frames_per_second)).max(Duration::ZERO).mul_f64(0.5)
    }

    /// How long what was held up least took.
    pub(super) fn least_one_way(&self) -> Duration {
        self.path.least_round_trip().unwrap_or(Duration::ZERO).mul_f64(0.5)
    }

    /// How late an update with this stamp is now: by how much it was held up, and how long ago it was made, as far as round trips tell.
    pub(super) fn lateness(&self, stamp: f32, now: GlobalTime) -> Lateness {
        let held_up = self.stamps.arrival(stamp).map_or(Duration::ZERO, |arrival| now.since(arrival));
        let held_up = held_up.max(Duration::ZERO).min(OLDEST);
        Lateness { held_up, age: (held_up + self.least_one_way()).min(OLDEST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_to_its_own_pings_are_kept_from_the_server() {
        let at = GlobalTime::from_millis;
        let mut client = Client::new(3);
        assert!(!client.pong(17, at(0)), "that was the server's");
        let (first, second) = (client.ping(at(0)), client.ping(at(250)));
        assert!(client.pong(second, at(350)));
        assert_eq!(client.path.round_trip(), Some(Duration::from_millis(100)));
        // Overtaken, forged or twice: nothing is learnt from it, but the server has not heard of it either.
        for number in [first, second, 0xffff] {
            assert!(client.pong(number, at(900)));
        }
        assert_eq!(client.path.round_trip(), Some(Duration::from_millis(100)));
        assert_eq!(client.one_way(50.0), Duration::from_millis(45));
    }

    #[test]
    fn pings_that_nobody_answers_do_not_pile_up() {
        let mut client = Client::new(3);
        for n in 0..100_000 {
            let number = client.ping(GlobalTime::from_millis(n));
            assert!(number & OURS != 0);
        }
        assert_eq!(client.pings.len(), PINGS);
    }
}

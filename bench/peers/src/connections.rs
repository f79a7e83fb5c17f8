//! How the receivers of the load half are connected: in lockstep, or through the network model with delay and loss.

use crate::contender::TICK;
use crate::network::Network;
use anyhow::Result;
use evenkeel::Duration;

/// Delays and losses follow from it: the same for every contender.
const SEED: u64 = 21;
/// The shortest and the longest one-way delay, in milliseconds.
const NEAR: f64 = 20.0;
const FAR: f64 = 220.0;
/// The share of datagrams that a lossy connection loses, each way.
const LOSS: f64 = 0.02;

/// The connections between a server and all its receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// No network: datagrams arrive in the tick in which they are sent, receipts at the next.
    Lockstep,
    /// 20 ms one way.
    Near,
    /// 20 to 220 ms one way, spread evenly over the receivers.
    Far,
    /// 20 ms one way, and 2 % of all datagrams are lost.
    Lossy,
}

impl Connections {
    /// In the order they are run.
    pub const ALL: [Self; 4] = [Self::Lockstep, Self::Near, Self::Far, Self::Lossy];

    /// The one-way delay of a receiver in milliseconds.
    fn delay(self, receiver: usize, receivers: usize) -> f64 {
        match self {
            Self::Lockstep => 0.0,
            Self::Near | Self::Lossy => NEAR,
            Self::Far => NEAR + (FAR - NEAR) * receiver as f64 / (receivers.max(2) - 1) as f64,
        }
    }

    /// The share of datagrams that get lost.
    pub fn loss(self) -> f64 {
        if self == Self::Lossy { LOSS } else { 0.0 }
    }

    /// The network model for so many receivers; none in lockstep.
    pub fn network(self, receivers: usize) -> Result<Option<Network>> {
        if self == Self::Lockstep {
            return Ok(None);
        }
        let delays: Vec<f64> = (0..receivers).map(|receiver| self.delay(receiver, receivers)).collect();
        Network::new(&evenkeel_lab::experiment::paths(&delays, 0.0, self.loss()), SEED).map(Some)
    }

    /// How many ticks ago the newest datagram that has arrived at a receiver was sent, if none is lost. Datagrams arrive
    /// between two ticks and are read at the next.
    pub fn lag(self, receiver: usize, receivers: usize) -> usize {
        (self.delay(receiver, receivers) / TICK.as_millis_f64()).ceil() as usize
    }

    /// How many ticks ago the newest datagram at the farthest receiver was sent.
    pub fn longest_lag(self, receivers: usize) -> usize {
        (0..receivers).map(|receiver| self.lag(receiver, receivers)).max().unwrap_or(0)
    }

    /// How far back the books of an Evenkeel sender must reach: three round trips of the farthest receiver and a second,
    /// and the usual two seconds at least.
    pub fn history(self) -> Duration {
        let farthest = self.delay(1, 2) / 1e3;
        Duration::from_secs_f64((6.0 * farthest + 1.0 + TICK.as_secs_f64()).max(2.0))
    }

    /// The same in ticks. After as many the books of every sender are full.
    pub fn history_ticks(self) -> u32 {
        (self.history().as_secs_f64() / TICK.as_secs_f64()).ceil() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Parcel;
    use crate::network::Way;
    use evenkeel::GlobalTime;

    #[test]
    fn the_farthest_receivers_are_as_far_as_the_names_say() {
        let spread: Vec<f64> = (0..3).map(|receiver| Connections::Far.delay(receiver, 3)).collect();
        assert_eq!(spread, [20.0, 120.0, 220.0]);
        for (connections, least) in [(Connections::Near, 1.12), (Connections::Far, 2.32), (Connections::Lossy, 1.12)] {
            assert!(connections.history().as_secs_f64() >= least, "{connections:?}");
        }
        assert_eq!(Connections::Lockstep.history(), Duration::from_secs(2));
    }

    #[test]
    fn a_datagram_is_read_after_the_lag_and_not_before() {
        for connections in [Connections::Near, Connections::Far] {
            for receiver in 0..32 {
                let mut network = connections.network(32).unwrap().unwrap();
                // As many as no server sends in one tick.
                for _ in 0..1_000 {
                    let parcel = Parcel { receiver, channel: 0, reliable: false, bytes: Default::default() };
                    network.send(Way::Down, parcel, GlobalTime::ZERO);
                }
                let lag = connections.lag(receiver, 32) as f64;
                assert!(network.arrived(GlobalTime::ZERO + TICK.mul_f64(lag - 1.0)).is_none(), "{receiver}");
                let at = GlobalTime::ZERO + TICK.mul_f64(lag);
                let arrived = std::iter::from_fn(|| network.arrived(at)).count();
                assert_eq!(arrived, 1_000, "{connections:?}, {receiver}");
            }
        }
    }
}

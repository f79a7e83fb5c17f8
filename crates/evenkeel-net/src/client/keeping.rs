//! A connection to the server, made again and again.

use super::driver::Report;
use crate::protocol::{self, Refusal, ToPlayer};
use crate::transport::{self, Arrived, ConnectConfig, Endpoint, What, connect_with};
use futures_util::stream::{FuturesUnordered, StreamExt};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long to wait before connecting again after a connection was lost, or was not to be had: at first, and at most.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));
/// How long to wait before asking again after a server had no room, or was about to end: at first, and at most.
const PUT_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How long an attempt to connect goes unanswered before another begins beside it: for a stranger, and for whoever was
/// connected before at least and at most.
const KNOCK: (Duration, Duration, Duration) =
    (Duration::from_secs(1), Duration::from_millis(500), Duration::from_secs(2));
/// So many round trips connecting may take.
const ROUND_TRIPS: u32 = 6;
/// So many attempts may be under way at once.
const ATTEMPTS: u32 = 8;

/// What the connection to the server does.
pub(super) enum News {
    /// It is there.
    Up(transport::Sender),
    /// Something came.
    Arrived(Arrived),
    /// It is gone, or could not be made.
    Down(String),
}

/// The way to a server.
#[derive(Clone)]
pub(super) struct Way {
    /// From which socket; none for one of its own each time.
    pub(super) endpoint: Option<Endpoint>,
    pub(super) url: String,
    pub(super) config: ConnectConfig,
}

impl Way {
    /// The same, with less patience.
    pub(super) fn within(&self, timeout: Duration) -> Self {
        let config = ConnectConfig { timeout: self.config.timeout.min(timeout), ..self.config.clone() };
        Self { config, ..self.clone() }
    }

    pub(super) async fn connect(&self) -> Result<transport::Connection, transport::Error> {
        match &self.endpoint {
            Some(endpoint) => endpoint.connect(&self.url, &self.config).await,
            None => connect_with(&self.url, &self.config).await,
        }
    }
}

/// Where news go, with the number of the way that they are about: one that was given up may still have something to say.
pub(super) struct Reporter {
    pub(super) number: u32,
    pub(super) to: mpsc::Sender<Report>,
}

impl Reporter {
    /// None if nobody wants to know any more.
    async fn say(&self, news: News) -> Option<()> {
        self.to.send(Report::Server(self.number, news)).await.ok()
    }
}

/// Connects to the server, and connects again.
pub(super) async fn keep_up(mut first: Option<transport::Connection>, way: Way, seed: u64, report: Reporter) {
    let (mut knock, mut wait, mut times) = (KNOCK.0, PATIENCE.0, 0);
    loop {
        let connection = match first.take() {
            Some(connection) => Some(connection),
            None => reach(&way, knock, &report).await,
        };
        let Some(connection) = connection else { return };
        let since = std::time::Instant::now();
        let Some(Ended { why, round_trip, put_off }) = carry(connection, &report).await else { return };
        if let Some(round_trip) = round_trip {
            knock = (round_trip * ROUND_TRIPS).clamp(KNOCK.1, KNOCK.2);
        }
        if report.say(News::Down(why)).await.is_none() {
            return;
        }
        // Who was in for a while comes back soon; a server that one does not get on with is asked less and less often.
        wait = if since.elapsed() > PATIENCE.1 { PATIENCE.0 } else { wait };
        times = if put_off { times + 1 } else { 0 };
        tokio::time::sleep(if put_off { patience(times, seed) } else { wait }).await;
        wait = (wait * 2).min(PATIENCE.1);
    }
}

/// How long to wait after having been put off so many times in a row. Those who were put off together do not come back together.
fn patience(times: u32, seed: u64) -> Duration {
    let Some(doublings) = times.checked_sub(1) else { return PATIENCE.0 };
    let longest = (PUT_OFF.0 * (1 << doublings.min(16))).min(PUT_OFF.1);
    let mut hasher = SipHasher24::new_with_keys(seed, u64::from(times));
    hasher.write(b"put off");
    longest.mul_f64(0.75 + 0.25 * (hasher.finish() as f64 / u64::MAX as f64))
}

/// Whether a server lets nobody in at present, but may later.
fn puts_off(arrived: &What) -> bool {
    let What::Message(bytes) = arrived else { return false };
    matches!(protocol::decode(bytes), Ok(ToPlayer::Refused(Refusal::Full | Refusal::Ending)))
}

/// Connects, sooner or later; none if nobody wants to know any more. QUIC repeats the first packet of a handshake ever more
/// rarely, and who was away for long is to be met soon after coming back: so attempts begin every `knock`, beside each other,
/// until one succeeds.
async fn reach(way: &Way, knock: Duration, report: &Reporter) -> Option<transport::Connection> {
    let way = way.within(knock * ATTEMPTS);
    let attempt = async || way.connect().await;
    let mut attempts = FuturesUnordered::new();
    let mut wait = PATIENCE.0;
    loop {
        attempts.push(attempt());
        let error = tokio::select! {
            Some(done) = attempts.next() => match done {
                Ok(connection) => return Some(connection),
                Err(error) => error,
            },
            () = tokio::time::sleep(knock) => {
                // It may still answer; whoever looks is not to wait for long before there is something to see.
                report.say(News::Down(transport::Error::TimedOut.to_string())).await?;
                continue;
            }
        };
        report.say(News::Down(error.to_string())).await?;
        if !matches!(error, transport::Error::TimedOut) {
            // Somebody was there and did not want us, or there is no way at all: asks less and less often.
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(PATIENCE.1);
        }
    }
}

/// How a connection ended.
struct Ended {
    why: String,
    /// How long a round trip took.
    round_trip: Option<Duration>,
    /// Whether the server said to come back later.
    put_off: bool,
}

/// Reports what arrives until the connection ends; none if nobody wants to know any more.
async fn carry(connection: transport::Connection, report: &Reporter) -> Option<Ended> {
    let (sender, mut receiver) = connection.split();
    report.say(News::Up(sender.clone())).await?;
    let mut put_off = None;
    while let Some(arrived) = receiver.receive().await {
        // A refusal is the first thing said; all else is for the seat to read.
        put_off.get_or_insert_with(|| puts_off(&arrived.what));
        report.say(News::Arrived(arrived)).await?;
    }
    let why = sender.closed_reason().map_or_else(|| "the connection ended".into(), |closed| closed.to_string());
    Some(Ended { why, round_trip: sender.statistics().round_trip, put_off: put_off.unwrap_or(false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_put_off_asks_ever_more_rarely() {
        for seed in 0..100 {
            assert_eq!(patience(0, seed), PATIENCE.0, "whoever was lost is back at once");
            for (times, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (5, 16.0), (6, 30.0), (7, 30.0), (u32::MAX, 30.0)] {
                let wait = patience(times, seed).as_secs_f64();
                assert!((0.75 * most..=most).contains(&wait), "{times}: {wait}");
            }
        }
        let waits: std::collections::BTreeSet<_> = (0..100).map(|seed| patience(6, seed)).collect();
        assert!(waits.len() > 90, "they do not come back together");
    }

    #[test]
    fn only_who_may_come_later_is_put_off() {
        let said = |message| puts_off(&What::Message(protocol::encode(&message).unwrap().into()));
        assert!(
            [Refusal::Full, Refusal::Ending].map(|why| said(ToPlayer::Refused(why))).iter().all(|put_off| *put_off)
        );
        assert!(!said(ToPlayer::Refused(Refusal::Name)) && !said(ToPlayer::Ending { why: "late".into() }));
        assert!(!puts_off(&What::Message(vec![0xFF].into())) && !puts_off(&What::Datagram(vec![1, 2].into())));
    }
}

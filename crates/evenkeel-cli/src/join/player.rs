//! One player: a client or a peer, what it drives and what it sees.

use super::bots::Bots;
use super::record::Recording;
use super::seen::{Look, News, Seen};
use super::truth::Truth;
use super::wall::Wall;
use anyhow::{Context, Result, anyhow, bail};
use evenkeel::Duration;
use evenkeel_net::protocol::SERVER;
use evenkeel_net::{Client, LinkState, Peer};

/// How it takes part.
pub(super) enum Joined {
    Client(Client),
    Peer(Peer),
}

impl Joined {
    pub(super) fn client(&self) -> &Client {
        match self {
            Self::Client(client) => client,
            Self::Peer(peer) => peer,
        }
    }

    pub(super) async fn leave(self) {
        match self {
            Self::Client(client) => client.leave().await,
            Self::Peer(peer) => peer.leave().await,
        }
    }
}

/// What a player knows of itself in the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    pub(super) host: Option<u32>,
    /// How far off its clock may be, in milliseconds.
    pub(super) uncertainty_ms: Option<f64>,
    /// How long deliveries from the server take, in milliseconds.
    pub(super) delay_ms: Option<f64>,
    pub(super) round_trip_ms: Option<f64>,
    pub(super) datagrams: (u64, u64),
    /// Vectors and bytes of vectors that it sent.
    pub(super) sent: (u64, u64),
}

pub(super) struct Player {
    pub(super) name: String,
    pub(super) joined: Joined,
    pub(super) bots: Option<Bots>,
    pub(super) seen: Seen,
    pub(super) standing: Standing,
    /// How often the connection was lost.
    pub(super) lost: u64,
    /// Why its part is over before its time, if it is.
    pub(super) over: Option<String>,
    lag: Duration,
}

/// What all players of this program share while they look.
pub(super) struct Shared<'a> {
    pub(super) wall: &'a Wall,
    pub(super) truth: &'a mut Truth,
    pub(super) window: (i64, i64),
    pub(super) recording: Option<&'a mut Recording>,
}

impl Player {
    pub(super) fn new(name: String, joined: Joined, keep_clock: bool) -> Self {
        let seen = Seen::new(keep_clock);
        let (standing, lag) = (Standing::default(), Duration::ZERO);
        Self { name, joined, bots: None, seen, standing, lost: 0, over: None, lag }
    }

    /// Whether it is in. An error if it never will be.
    pub(super) fn is_in(&mut self, shared: Shared<'_>) -> Result<bool> {
        self.look(0, shared)?;
        self.ensure_there()?;
        match self.joined.client().link() {
            LinkState::Over { why } => bail!("{}: {why}", self.name),
            _ => Ok(self.joined.client().is_ready()),
        }
    }

    /// Why it is not in yet.
    pub(super) fn why_not(&self) -> String {
        match self.joined.client().link() {
            LinkState::Connecting { after: Some(why) } => why,
            LinkState::Connecting { after: None } => {
                "the server did not answer in time: check the address, and that UDP gets through".into()
            }
            LinkState::Connected => "the server answers, but does not let this player in in time".into(),
            LinkState::Over { why } => why,
        }
    }

    pub(super) fn look(&mut self, number: u32, shared: Shared<'_>) -> Result<()> {
        let Shared { wall, truth, window, recording } = shared;
        let look = Look { wall, truth, lag: self.lag, window, recording: recording.map(|writer| (writer, number)) };
        for news in self.seen.look(self.joined.client(), look)? {
            match news {
                News::Refused(why) | News::Ending(why) => self.over = Some(why),
                News::Lost => self.lost += 1,
            }
        }
        Ok(())
    }

    pub(super) fn drive(&mut self, wall: &Wall) -> Result<()> {
        let (client, name) = (self.joined.client(), &self.name);
        match self.bots.as_mut().filter(|_| self.over.is_none()) {
            Some(bots) => bots.drive(client, wall).with_context(|| name.clone()),
            None => Ok(()),
        }
    }

    /// Looks at what changes slowly.
    pub(super) fn take_stock(&mut self) {
        let client = self.joined.client();
        let statistics = client.statistics();
        let millis = |duration: Duration| duration.as_millis_f64();
        let standing = &mut self.standing;
        client.with(|seat, local| {
            let time = seat.now(local);
            standing.host = seat.you().map(|host| host.0);
            standing.uncertainty_ms = seat.clock().uncertainty().map(millis);
            let delay = seat.receiver().and_then(|receiver| receiver.path(SERVER)?.delay());
            standing.delay_ms = delay.map(millis).or(standing.delay_ms);
            if let (Some(lag), Some(time)) = (seat.lag(), time) {
                self.lag = lag.at(time);
            }
            let senders = [seat.to_server(), seat.to_peers()].into_iter().flatten();
            let spent = senders.filter_map(|sender| Some(sender.fairness(time?).spent));
            standing.sent = spent.fold((0, 0), |sum, spent| (sum.0 + spent.vectors, sum.1 + spent.bytes));
        });
        if let Some(statistics) = statistics {
            standing.datagrams = (statistics.datagrams_sent, statistics.datagrams_received);
            standing.round_trip_ms = statistics.round_trip.map(|trip| trip.as_secs_f64() * 1e3);
        }
    }

    /// An error if the server ended its part.
    pub(super) fn ensure_there(&self) -> Result<()> {
        match &self.over {
            Some(why) => Err(anyhow!("{}: {why}", self.name)),
            None => Ok(()),
        }
    }
}

//! Players who drive tanks and see each other, and whether they see each other where they are.

use evenkeel::{EntityId, GlobalTime, HostId, Pose, Receiver, Threshold, Vec3};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::{Entity, maker_of};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Conditioner, Conditions, Identity, ListenConfig, Trust};
use evenkeel_net::{Client, ClientConfig, Peer, PeerConfig, Server};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::{Duration, Instant};

/// How fast tanks drive, in metres a second.
pub const SPEED: f64 = 10.0;
/// Owners tell when they are further from what others think than this, in metres.
const THRESHOLD: f64 = 0.1;
/// What the wire's precision makes of a position, in metres.
const PRECISION: f64 = 0.02;
/// No pair of clocks that is surer than this of nothing counts as exact.
const WORST_CLOCKS: f64 = 0.05;
/// Tanks turn every so many nanoseconds of the session's time.
const LEG: i64 = 2_000_000_000;
/// For so long after a turn nobody can be expected to know of it: the longest delay that a fault leaves behind, and twice
/// a time-out for what was lost.
const NEWS: i64 = 400_000_000;
/// After every fault all is well within this.
pub const WITHIN: Duration = Duration::from_secs(2);
/// How long all must be well to be believed.
const STEADY: Duration = Duration::from_millis(300);
/// A loop that is to come round every 10 ms and takes so long was not let run: what it sees then says nothing.
const STALLED: Duration = Duration::from_millis(150);

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn conditions(text: &str) -> Conditions {
    text.parse().unwrap()
}

/// The same both ways, for everybody.
pub fn impose(conditioner: &Conditioner, text: &str) {
    conditioner.set_default(conditions(text), conditions(text)).unwrap();
}

pub fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

pub fn identity() -> Identity {
    Identity::self_made(["127.0.0.1"], Duration::from_secs(86_400)).unwrap()
}

/// Round a square, each player its own.
pub fn drive(number: u8, t: GlobalTime) -> Pose {
    let side = SPEED * LEG as f64 / 1e9;
    let along = t.as_nanos().rem_euclid(LEG) as f64 / 1e9 * SPEED;
    let (x, y, vx, vy) = match t.as_nanos().rem_euclid(4 * LEG) / LEG {
        0 => (along, 0.0, SPEED, 0.0),
        1 => (side, along, 0.0, SPEED),
        2 => (side - along, side, -SPEED, 0.0),
        _ => (0.0, side - along, 0.0, -SPEED),
    };
    Pose::at(Vec3::new(x, y + 50.0 * f64::from(number), 0.0)).moving(Vec3::new(vx, vy, 0.0))
}

/// Whether everybody may be expected to know of the last turn.
fn is_straight(t: GlobalTime) -> bool {
    t.as_nanos().rem_euclid(LEG) > NEWS
}

/// A client, or one that others can connect to.
pub enum Link {
    Client(Client),
    Peer(Peer),
}

impl Deref for Link {
    type Target = Client;

    fn deref(&self) -> &Client {
        match self {
            Self::Client(client) => client,
            Self::Peer(peer) => peer,
        }
    }
}

/// Somebody who drives a tank.
pub struct Player {
    pub link: Link,
    pub number: u8,
    pub tank: Option<EntityId>,
    /// What others have made, and the numbers of the players who say that they have.
    pub known: BTreeMap<EntityId, u8>,
    /// Everything that happened and was not asked for.
    pub events: Vec<SeatEvent>,
    /// The last time that was shown.
    shown: Option<GlobalTime>,
}

impl Player {
    pub fn new(link: Link, number: u8) -> Self {
        Self { link, number, tank: None, known: BTreeMap::new(), events: Vec::new(), shown: None }
    }

    pub fn you(&self) -> HostId {
        self.link.you().unwrap()
    }

    fn hear(&mut self) {
        while let Some(event) = self.link.poll_event() {
            match &event {
                SeatEvent::Welcome { again: false, .. } => {
                    // Another session, as far as one knows: everything is to be made anew.
                    self.tank = None;
                    self.known.clear();
                }
                SeatEvent::Made(Entity { entity, about, .. }) => {
                    if let Some(number) = about.first() {
                        self.known.insert(*entity, *number);
                    }
                }
                SeatEvent::Gone { entity } => drop(self.known.remove(entity)),
                _ => {}
            }
            self.events.push(event);
        }
    }

    /// Does what a game does in a frame. Nobody's time ever runs backwards, and every datagram of an honest sender can be decoded.
    pub fn tick(&mut self) {
        self.hear();
        let refusals = self.link.with(|seat, _| seat.receiver().map(Receiver::all_refusals)).unwrap_or_default();
        assert_eq!(refusals.undecodable(), 0, "player {}: {refusals:?}", self.number);
        let Some(time) = self.link.now() else {
            assert_eq!(self.shown, None, "player {} has lost the time", self.number);
            return;
        };
        assert!(self.shown <= Some(time), "player {}: time runs backwards: {:?}, {time}", self.number, self.shown);
        self.shown = Some(time);
        if self.tank.is_none() && self.link.is_ready() {
            self.tank = self.link.make(Threshold::within(THRESHOLD), vec![self.number]).ok();
        }
        if let Some(tank) = self.tank {
            // Between a welcome and hearing of it the tank is another session's.
            let _ = self.link.observe(tank, drive(self.number, time));
        }
    }

    /// How it sees all others it knows of, by its own time.
    pub fn view(&self) -> View {
        if self.link.now().is_none_or(|now| !is_straight(now)) {
            return View::Turning;
        }
        let off = |number: &u8| (self.excess(*number, None), *number);
        let worst = self.known.values().map(off).max_by(|a, b| a.0.total_cmp(&b.0));
        match worst {
            Some((off, number)) if off > 0.0 => View::Off(off, self.number, number),
            _ => View::Exact,
        }
    }

    fn uncertainty(&self) -> f64 {
        self.link.with(|seat, now| seat.clock().uncertainty_at(now)).map_or(f64::MAX, |u| u.as_secs_f64())
    }

    /// How far beyond what is allowed somebody's tank is shown, in metres; none or less is exact. `owner` says where it
    /// really is, if it can be asked; else this player's own time must do.
    fn excess(&self, number: u8, owner: Option<&Player>) -> f64 {
        let Some((entity, _)) = self.known.iter().find(|(_, other)| **other == number) else { return f64::MAX };
        let clocks = self.uncertainty() + owner.map_or(0.0, Self::uncertainty);
        if clocks > WORST_CLOCKS {
            return f64::MAX;
        }
        let truth = owner.unwrap_or(self);
        let (start, Some(before)) = (Instant::now(), truth.link.now()) else { return f64::MAX };
        let Ok(placed) = self.link.place(*entity) else { return f64::MAX };
        // Both were asked one after the other.
        let meanwhile = start.elapsed().as_secs_f64();
        let off = placed.position.distance(drive(number, before).position());
        off - THRESHOLD - PRECISION - SPEED * (clocks + meanwhile)
    }
}

/// A server, and how to get there.
pub struct Arena {
    pub identity: Identity,
    pub address: SocketAddr,
    pub server: Option<Server>,
}

impl Arena {
    pub async fn start(hub: HubConfig, settings: impl FnOnce(&mut ListenConfig)) -> Self {
        let identity = identity();
        let mut listen = ListenConfig::new(loopback(), identity.clone());
        settings(&mut listen);
        let server = Server::start(listen, hub).await.unwrap();
        Self { identity, address: server.address(), server: Some(server) }
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    pub fn trust(&self) -> Trust {
        Trust::Hashes(vec![self.identity.hash()])
    }

    pub fn seat(number: u8) -> SeatConfig {
        SeatConfig { secret: [number; 16], ..SeatConfig::named(format!("Player {number}")) }
    }

    pub fn client(&self, number: u8) -> ClientConfig {
        ClientConfig::new(&self.url(), self.trust(), Self::seat(number))
    }

    pub fn player(&self, number: u8) -> Player {
        Player::new(Link::Client(Client::start_with(self.client(number)).unwrap()), number)
    }

    pub fn players(&self, count: u8) -> Vec<Player> {
        (1..=count).map(|number| self.player(number)).collect()
    }

    pub async fn peer(&self, number: u8, settings: impl FnOnce(&mut PeerConfig)) -> Player {
        let mut config = PeerConfig::new(&self.url(), self.trust(), Self::seat(number));
        config.address = loopback();
        settings(&mut config);
        Player::new(Link::Peer(Peer::start_with(config).await.unwrap()), number)
    }

    /// Whether everything is still whoever's that made it.
    pub fn assert_owners(&self) -> Vec<Entity> {
        let entities: Vec<Entity> = self.server().with(|hub, _| hub.entities().cloned().collect());
        for entity in &entities {
            assert_eq!(maker_of(entity.entity), entity.owner, "{} has another owner", entity.entity);
        }
        entities
    }

    /// The same, and that nothing has been made besides.
    pub fn assert_owned(&self, game: &Game) {
        let entities = self.assert_owners();
        let count = game.players.len() + game.strangers.len();
        assert_eq!(entities.len(), count, "{entities:?}");
    }
}

/// All players of this process.
pub struct Game {
    pub players: Vec<Player>,
    /// The numbers of those in other processes, whom everybody sees too.
    pub strangers: Vec<u8>,
    stalled: Option<Instant>,
}

/// How everybody is seen by everybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// Somebody has just turned: nothing can be said.
    Turning,
    /// Within what thresholds and clocks allow.
    Exact,
    /// So many metres beyond it, and who sees whom like that.
    Off(f64, u8, u8),
}

impl Game {
    /// A game in which everybody sees everybody where they are.
    pub async fn of(players: Vec<Player>, strangers: Vec<u8>) -> Self {
        let mut game = Self { players, strangers, stalled: None };
        let took = game.until_exact(Instant::now(), Duration::from_secs(20)).await;
        assert!(took < Duration::from_secs(15));
        game
    }

    /// A frame of everybody's.
    pub async fn tick(&mut self) {
        let start = Instant::now();
        tokio::time::sleep(ms(10)).await;
        self.players.iter_mut().for_each(Player::tick);
        if start.elapsed() > STALLED {
            self.stalled = Some(Instant::now());
        }
    }

    /// How everybody is seen by everybody, now.
    pub fn view(&self) -> View {
        let stalled = self.stalled.is_some_and(|at| at.elapsed().as_nanos() < NEWS as u128);
        let straight = |player: &Player| player.link.now().is_none_or(is_straight);
        if stalled || !self.players.iter().all(straight) {
            return View::Turning;
        }
        let mut worst = View::Exact;
        for viewer in &self.players {
            let owners = self.players.iter().map(|owner| (owner.number, Some(owner)));
            let all = owners.chain(self.strangers.iter().map(|number| (*number, None)));
            for (number, owner) in all.filter(|(number, _)| *number != viewer.number) {
                let off = viewer.excess(number, owner);
                if off > 0.0 && !matches!(worst, View::Off(worst, ..) if worst >= off) {
                    worst = View::Off(off, viewer.number, number);
                }
            }
        }
        // Somebody may have turned meanwhile.
        if self.players.iter().all(straight) { worst } else { View::Turning }
    }

    /// Whether somebody is seen elsewhere, if anything can be said.
    pub fn view_is_off(&self) -> Option<bool> {
        match self.view() {
            View::Turning => None,
            view => Some(view != View::Exact),
        }
    }

    /// Everybody drives for a while.
    pub async fn play(&mut self, span: Duration) {
        let start = Instant::now();
        while start.elapsed() < span {
            self.tick().await;
        }
    }

    /// Everybody drives while something else happens.
    pub async fn beside<T>(&mut self, something: impl Future<Output = T>) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            tokio::select! {
                done = &mut something => return done,
                () = self.tick() => {}
            }
        }
    }

    /// Everybody drives, and nobody notices anything.
    pub async fn play_exactly(&mut self, span: Duration) {
        let start = Instant::now();
        let mut exact = 0;
        while start.elapsed() < span {
            self.tick().await;
            match self.view() {
                View::Turning => {}
                View::Exact => exact += 1,
                off => panic!("{off:?} after {:?}", start.elapsed()),
            }
        }
        assert!(span < ms(1_000) || exact > 10, "nobody looked");
    }

    /// Everybody drives until all is exact and stays so: answers since when, counted from `since`.
    pub async fn until_exact(&mut self, since: Instant, within: Duration) -> Duration {
        let mut good: Option<Instant> = None;
        let mut last = View::Turning;
        loop {
            self.tick().await;
            match self.view() {
                View::Turning => {}
                View::Exact => good = good.or(Some(Instant::now())),
                off => (good, last) = (None, off),
            }
            if let Some(good) = good.filter(|good| good.elapsed() > STEADY) {
                return good.duration_since(since);
            }
            assert!(since.elapsed() < within + STEADY, "after {within:?} still {last:?}");
        }
    }

    /// The same, within what is promised after every fault. Says so.
    pub async fn recover(&mut self, since: Instant) -> String {
        let took = self.until_exact(since, 4 * WITHIN).await;
        assert!(took <= WITHIN, "exact only after {took:?}");
        format!("exact after {} ms", took.as_millis())
    }

    /// Everybody drives until something is so.
    pub async fn until(&mut self, what: &str, within: Duration, mut so: impl FnMut(&mut Self) -> bool) -> Duration {
        let start = Instant::now();
        while !so(self) {
            assert!(start.elapsed() < within, "{what}: not within {within:?}");
            self.tick().await;
        }
        start.elapsed()
    }
}

//! A session that moves from one server to another while people play, over real sockets.

#![allow(clippy::unwrap_used)]

use evenkeel::{EntityId, GlobalTime, HostId, Pose, Threshold, Vec3};
use evenkeel_net::hub::{HubConfig, HubEvent, MoveError};
use evenkeel_net::levels::{Level, Party};
use evenkeel_net::protocol::Place;
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Conditioner, Conditions, Identity, ListenConfig, Trust};
use evenkeel_net::{Client, Server};
use std::collections::BTreeMap;
use std::time::Duration;

const FORTNIGHT: Duration = Duration::from_secs(14 * 24 * 3600);
const MESSAGES: u32 = 300;
const LEVELS: [Level; 3] = [Level::Ordered, Level::Unordered, Level::Quickest];

fn identity() -> Identity {
    Identity::self_made(["127.0.0.1"], FORTNIGHT).unwrap()
}

/// A server, 50 ms from everybody.
async fn server(identity: &Identity, seed: u64) -> Server {
    let conditioner = Conditioner::new(seed);
    let far = Conditions::delay(evenkeel::Duration::from_millis(25));
    conditioner.set_default(far.clone(), far).unwrap();
    let mut listen = ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity.clone());
    listen.conditioner = Some(conditioner);
    Server::start(listen, HubConfig::default()).await.unwrap()
}

fn url(server: &Server) -> String {
    format!("https://{}/", server.address())
}

/// Around a circle of 20 m, 10 m/s, each somewhere else.
fn drive(who: usize, t: GlobalTime) -> Pose {
    let angle = 0.5 * (t.as_nanos() % 1_000_000_000_000) as f64 / 1e9 + who as f64;
    let (sin, cos) = angle.sin_cos();
    Pose::at(Vec3::new(20.0 * cos, 20.0 * sin, 0.0)).moving(Vec3::new(-10.0 * sin, 10.0 * cos, 0.0))
}

struct Player {
    client: Client,
    you: HostId,
    tank: EntityId,
    events: Vec<SeatEvent>,
    /// The latest session time it has shown.
    latest: GlobalTime,
}

/// Three players with a tank each, and everything they see.
struct Game {
    players: Vec<Player>,
    sent: u32,
    /// The furthest that anything was shown from where it was, and whether something was not shown at all.
    furthest: f64,
    unseen: u32,
}

impl Game {
    async fn start(server: &Server, identity: &Identity) -> Self {
        let mut players = Vec::new();
        for name in ["Ada", "Ben", "Cy"] {
            let trust = Trust::Hashes(vec![identity.hash()]);
            let client = Client::start(&url(server), trust, SeatConfig::named(name)).unwrap();
            until("it is in", || client.is_ready()).await;
            let tank = client.make(Threshold::within(0.1), name.into()).unwrap();
            let (you, latest) = (client.you().unwrap(), client.now().unwrap());
            players.push(Player { client, you, tank, events: Vec::new(), latest });
        }
        let mut game = Self { players, sent: 0, furthest: 0.0, unseen: 0 };
        game.play(40, false).await;
        (game.furthest, game.unseen) = (0.0, 0);
        game
    }

    /// So many ticks at 20 Hz. Ada sends as she goes, if she is to.
    async fn play(&mut self, ticks: u32, talk: bool) {
        for _ in 0..ticks {
            self.tick(talk);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Plays until something is done.
    async fn play_during<T>(&mut self, something: impl Future<Output = T>, talk: bool) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            tokio::select! {
                done = &mut something => return done,
                () = tokio::time::sleep(Duration::from_millis(50)) => self.tick(talk),
            }
        }
    }

    fn tick(&mut self, talk: bool) {
        for (who, player) in self.players.iter_mut().enumerate() {
            let now = player.client.now().unwrap();
            assert!(now >= player.latest, "{} after {}", now, player.latest);
            player.latest = now;
            player.client.observe(player.tank, drive(who, now)).unwrap();
            player.events.extend(std::iter::from_fn(|| player.client.poll_event()));
        }
        for _ in 0..if talk { 4 } else { 0 } {
            self.say();
        }
        for viewer in &self.players {
            for (who, owner) in self.players.iter().enumerate().filter(|(_, owner)| owner.you != viewer.you) {
                let now = viewer.client.now().unwrap();
                match viewer.client.place(owner.tank) {
                    Ok(seen) => {
                        self.furthest = self.furthest.max(seen.position.distance(drive(who, now).position()));
                    }
                    Err(_) => self.unseen += 1,
                }
            }
        }
    }

    fn say(&mut self) {
        if self.sent >= MESSAGES {
            return;
        }
        let (level, bytes) = (LEVELS[self.sent as usize % 3], self.sent.to_le_bytes().to_vec());
        let said = self.players[0].client.send(Party::Everybody, level, bytes);
        // There may be no room for a moment; then it is said later.
        self.sent += u32::from(said.is_ok());
    }

    /// The numbers that a player was told by Ada, by level.
    fn told(&self, who: usize) -> BTreeMap<Level, Vec<u32>> {
        let mut told = BTreeMap::<_, Vec<u32>>::new();
        for event in &self.players[who].events {
            if let SeatEvent::Message { level, bytes, .. } = event {
                told.entry(*level).or_default().push(u32::from_le_bytes(bytes[..].try_into().unwrap()));
            }
        }
        told
    }

    fn has(&self, who: usize, event: impl Fn(&SeatEvent) -> bool) -> bool {
        self.players[who].events.iter().any(event)
    }
}

/// Waits until something is so; gives up after ten seconds.
async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

fn owners(server: &Server) -> Vec<(EntityId, HostId, u32)> {
    server.with(|hub, _| hub.entities().map(|made| (made.entity, made.owner, made.epoch)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_moves_while_people_play() {
    let [here, there] = [identity(), identity()];
    let (old, new) = (server(&here, 1).await, server(&there, 2).await);
    let mut game = Game::start(&old, &here).await;
    // One tank has had another owner.
    let (tank, cy) = (game.players[2].tank, game.players[2].you);
    old.with(|hub, now| hub.assign(tank, HostId(1), now).and_then(|()| hub.assign(tank, cy, now))).unwrap();
    until("it is Cy's again", || game.players[2].client.adopt(tank, Threshold::within(0.1)).is_ok()).await;
    let owned = owners(&old);
    assert_eq!(owned.iter().map(|(.., epoch)| *epoch).collect::<Vec<_>>(), [0, 0, 2]);
    game.play(10, true).await;
    let state = old.export("main").unwrap();
    // The operator takes its time to carry it over.
    game.play(6, true).await;
    new.import(HubConfig::default(), &state).unwrap();
    let place = Place::with_certificate(url(&new), there.hash());
    let report = game.play_during(old.move_to("main", place, Duration::from_secs(15)), true).await.unwrap();
    let everybody: Vec<HostId> = game.players.iter().map(|player| player.you).collect();
    assert_eq!((report.moved, report.stayed), (everybody.clone(), Vec::new()));
    until("nobody is left", || old.with(|hub, _| !hub.players().any(|(host, _)| hub.is_connected(host)))).await;
    old.stop("the session has moved").await;
    for _ in 0..200 {
        game.play(1, true).await;
        if game.sent == MESSAGES && (1..3).all(|who| game.told(who).values().map(Vec::len).sum::<usize>() >= 300) {
            break;
        }
    }
    game.play(10, false).await;

    let came = std::iter::from_fn(|| new.poll_event());
    let again = came.filter(|event| matches!(event, HubEvent::Came { again: true, .. })).count();
    assert_eq!((again, owners(&new)), (3, owned), "the same players, owners and epochs");
    let names: Vec<_> = new.with(|hub, _| hub.players().map(|(host, name)| (host, name.to_owned())).collect());
    assert_eq!(names, everybody.iter().copied().zip(["Ada", "Ben", "Cy"].map(String::from)).collect::<Vec<_>>());
    for (who, player) in game.players.iter().enumerate() {
        assert_eq!(player.client.you(), Some(player.you));
        assert!(game.has(who, |event| matches!(event, SeatEvent::Moved { .. })));
        let lost = |event: &SeatEvent| {
            matches!(
                event,
                SeatEvent::Lost { .. } | SeatEvent::Gone { .. } | SeatEvent::Left { .. } | SeatEvent::Stayed { .. }
            )
        };
        assert!(!game.has(who, lost), "{:?}", player.events);
    }
    for who in 1..3 {
        let mut told = game.told(who);
        assert!(told[&Level::Ordered].is_sorted(), "in order");
        let mut all: Vec<u32> = told.values_mut().flat_map(std::mem::take).collect();
        all.sort_unstable();
        assert_eq!(all, (0..MESSAGES).collect::<Vec<_>>(), "each once");
    }
    // Two seconds of silence at 10 m/s on this circle are about 9 m.
    println!("furthest off: {:.2} m", game.furthest);
    assert!(game.unseen == 0 && game.furthest < 9.0, "{} m, {} times unseen", game.furthest, game.unseen);
    let times: Vec<_> =
        game.players.iter().map(|player| (player.client.now().unwrap(), std::time::Instant::now())).collect();
    let since = |(shown, at): &(GlobalTime, std::time::Instant)| {
        shown.since(times[0].0).as_secs_f64() - at.duration_since(times[0].1).as_secs_f64()
    };
    let apart = times.iter().map(since).fold(0.0, |most: f64, off| most.max(off.abs()));
    println!("clocks apart: {:.2} ms", 1e3 * apart);
    assert!(apart < 0.02, "{apart} s apart");
    for player in game.players {
        player.client.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_cannot_reach_the_other_server_stays() {
    let here = identity();
    let old = server(&here, 3).await;
    let mut game = Game::start(&old, &here).await;
    let owned = owners(&old);
    // Nobody listens there.
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let place = Place::with_certificate(format!("https://{}/", nobody.local_addr().unwrap()), [1; 32]);
    assert_eq!(old.move_to("main", place.clone(), Duration::from_secs(1)).await, Err(MoveError::NotExported));
    old.export("main").unwrap();
    assert_eq!(old.export("main"), Err(MoveError::Busy));
    let report = game.play_during(old.move_to("main", place, Duration::from_secs(15)), true).await.unwrap();
    assert_eq!((report.moved.len(), report.stayed.len()), (0, 3), "{report:?}");
    for _ in 0..200 {
        game.play(1, true).await;
        if game.sent == MESSAGES && (1..3).all(|who| game.told(who).values().map(Vec::len).sum::<usize>() >= 300) {
            break;
        }
    }
    assert!(!old.with(|hub, _| hub.is_draining() || hub.is_moving()), "nothing has happened");
    assert_eq!(owners(&old), owned);
    for who in 0..3 {
        assert!(game.has(who, |event| matches!(event, SeatEvent::Stayed { .. })));
        assert!(!game.has(who, |event| matches!(event, SeatEvent::Lost { .. } | SeatEvent::Left { .. })));
    }
    for who in 1..3 {
        let mut all: Vec<u32> = game.told(who).values_mut().flat_map(std::mem::take).collect();
        all.sort_unstable();
        assert_eq!(all, (0..MESSAGES).collect::<Vec<_>>(), "each once");
    }
    assert_eq!(game.unseen, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_not_let_in_there_comes_back() {
    let [here, there] = [identity(), identity()];
    let (old, new) = (server(&here, 4).await, server(&there, 5).await);
    let mut game = Game::start(&old, &here).await;
    old.export("main").unwrap();
    // The other server knows nothing of it, and lets nobody in.
    new.with(|hub, _| hub.drain("a test"));
    let place = Place::with_certificate(url(&new), there.hash());
    let report = game.play_during(old.move_to("main", place, Duration::from_secs(15)), false).await.unwrap();
    assert_eq!((report.moved.len(), report.stayed.len()), (0, 3), "{report:?}");
    until("all are back", || old.with(|hub, _| hub.players().filter(|(host, _)| hub.is_connected(*host)).count() == 3))
        .await;
    for player in &game.players {
        assert_eq!(player.client.you(), Some(player.you));
    }
    assert_eq!(owners(&old).len(), 3);
}

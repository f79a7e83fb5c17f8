//! Players who send to each other directly, without sockets.

#![allow(clippy::unwrap_used)]

mod common;

use common::{World, ms};
use evenkeel::{EntityId, GlobalTime, HostId, Pose, Threshold, Vec3};
use evenkeel_net::hub::{Hub, HubConfig};
use evenkeel_net::protocol::{Model, PeerOffer, Refusal, SERVER, ToServer, encode, pass_on};
use evenkeel_net::seat::{SeatConfig, SeatEvent};

fn drive(number: usize, t: GlobalTime) -> Pose {
    let phase = (t.as_nanos().rem_euclid(4_000_000_000)) as f64 / 1e9;
    let (x, v) = if phase < 2.0 { (10.0 * phase, 10.0) } else { (10.0 * (4.0 - phase), -10.0) };
    Pose::at(Vec3::new(x, 5.0 * number as f64, 0.0)).moving(Vec3::new(v, 0.0, 0.0))
}

fn peer(name: &str) -> SeatConfig {
    let offer = PeerOffer { certificate: [7; 32], addresses: vec!["192.168.0.2:4000".parse().unwrap()] };
    SeatConfig { peer: Some(offer), ..SeatConfig::named(name) }
}

fn hub(model: Model) -> HubConfig {
    HubConfig { model, ..HubConfig::default() }
}

/// One for each.
fn tanks(world: &mut World) -> Vec<EntityId> {
    let mut tank = |guest: usize| {
        let local = world.local(guest);
        world.guests[guest].seat.make(Threshold::within(0.1), Vec::new(), local).unwrap()
    };
    (0..3).map(&mut tank).collect()
}

struct Game {
    world: World,
    tanks: Vec<EntityId>,
    /// The time each guest has shown last.
    shown: Vec<Option<GlobalTime>>,
}

impl Game {
    fn new(model: Model, opens: fn(usize, usize) -> bool) -> Self {
        let mut world = World::new(hub(model));
        for (name, delay) in [("Ada", 20), ("Ben", 60), ("Cy", 100)] {
            world.join(peer(name), delay);
        }
        world.run(400, |_| {});
        world.connect_peers(opens);
        world.run(4_000, |_| {});
        let tanks = tanks(&mut world);
        Self { world, tanks, shown: vec![None; 8] }
    }

    /// Everybody in `here` drives; nobody's time runs backwards.
    fn play(&mut self, here: &[usize], millis: i64) {
        let Self { world, tanks, shown } = self;
        world.run(millis, |world| {
            for guest in here {
                let local = world.local(*guest);
                let time = world.guests[*guest].seat.now(local);
                assert!(time >= shown[*guest], "time runs backwards");
                shown[*guest] = time;
                world.guests[*guest].seat.observe(tanks[*guest], drive(*guest, time.unwrap()), local).unwrap();
            }
        });
    }

    /// Lets everybody drive until nobody has turned for longer than anything takes, then says how far off the worst is seen.
    fn worst(&mut self, here: &[usize]) -> f64 {
        loop {
            let local = self.world.local(here[0]);
            let time = self.world.guests[here[0]].seat.now(local).unwrap();
            if (1_200..1_300).contains(&(time.as_nanos() / 1_000_000).rem_euclid(2_000)) {
                break;
            }
            self.play(here, 10);
        }
        let local = self.world.local(here[0]);
        let truth = self.world.guests[here[0]].seat.now(local).unwrap();
        let mut worst = 0.0f64;
        for viewer in here {
            let local = self.world.local(*viewer);
            for owner in here.iter().filter(|owner| *owner != viewer) {
                let seen = self.world.guests[*viewer].seat.place(self.tanks[*owner], local).unwrap();
                worst = worst.max(seen.position.distance(drive(*owner, truth).position()));
            }
        }
        worst
    }

    fn leaders(&self, here: &[usize]) -> Vec<HostId> {
        here.iter().filter_map(|guest| self.world.guests[*guest].seat.leader()).collect()
    }
}

#[test]
fn peers_see_each_other_and_the_server_hears_nothing() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    game.play(&[0, 1, 2], 4_000);
    let off = game.worst(&[0, 1, 2]);
    assert!(off < 0.2, "{off} m");
    let counts = game.world.hub.counts();
    assert_eq!((counts.relayed, counts.passed_on, counts.unusable), (0, 0, 0));
    assert_eq!(game.leaders(&[0, 1, 2]), [HostId(1); 3]);
    // Each keeps books about the others.
    let books = game.world.guests[0].seat.to_peers().unwrap().fairness(game.shown[0].unwrap());
    assert_eq!(books.receivers.len(), 2);
    assert!(books.receivers.iter().all(|receiver| receiver.delay.is_some()));
}

#[test]
fn what_does_not_get_through_is_passed_on_unread() {
    // Nobody reaches the third.
    let mut game = Game::new(Model::PeerToPeer, |a, b| a != 2 && b != 2);
    game.play(&[0, 1, 2], 4_000);
    let off = game.worst(&[0, 1, 2]);
    assert!(off < 0.2, "{off} m");
    let counts = game.world.hub.counts();
    assert!(counts.relayed == 0 && counts.passed_on > 100, "{counts:?}");
    // A connection that comes to be later is used, and one that ends is replaced.
    for (guest, host) in [(0, HostId(3)), (2, HostId(1))] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_linked(host, local);
    }
    for (guest, host) in [(1, HostId(3)), (2, HostId(2))] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_linked(host, local);
    }
    game.play(&[0, 1, 2], 500);
    let before = game.world.hub.counts().passed_on;
    game.play(&[0, 1, 2], 2_000);
    assert_eq!(game.world.hub.counts().passed_on, before, "nothing is passed on any more");
    assert!(game.worst(&[0, 1, 2]) < 0.2);
    for (guest, host) in [(0, HostId(2)), (1, HostId(1))] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_unlinked(host, local);
    }
    game.play(&[0, 1, 2], 2_000);
    assert!(game.worst(&[0, 1, 2]) < 0.2);
    assert!(game.world.hub.counts().passed_on > before);
}

#[test]
fn another_leads_when_the_host_is_gone() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    game.play(&[0, 1, 2], 3_000);
    // The host is killed: nothing from it gets anywhere any more, and some time later the others notice.
    game.world.guests[0].linked = false;
    game.play(&[1, 2], 3_000);
    let lost = game.world.guests[0].connection;
    game.world.hub.handle_disconnected(lost, game.world.now);
    for guest in [1, 2] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_unlinked(HostId(1), local);
    }
    game.play(&[1, 2], 2_000);
    assert_eq!(game.leaders(&[1, 2]), [HostId(2); 2]);
    let off = game.worst(&[1, 2]);
    assert!(off < 0.2, "{off} m");
    // Somebody who comes now follows the new one.
    let late = game.world.join(peer("Dee"), 30);
    game.play(&[1, 2], 400);
    game.world.connect_peers(|_, _| true);
    game.play(&[1, 2], 3_000);
    let local = game.world.local(late);
    assert_eq!(game.world.guests[late].seat.leader(), Some(HostId(2)));
    let theirs = game.world.guests[late].seat.now(local).unwrap();
    let ours = {
        let local = game.world.local(1);
        game.world.guests[1].seat.now(local).unwrap()
    };
    assert!(theirs.since(ours).abs() < ms(3), "{theirs} and {ours}");
    // The old one comes back and does not take over.
    game.world.reconnect(0);
    game.play(&[1, 2], 2_000);
    assert_eq!(game.leaders(&[0, 1, 2]), [HostId(2); 3]);
}

#[test]
fn peers_go_on_without_the_server() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    game.play(&[0, 1, 2], 2_000);
    for guest in 0..3 {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_lost("the server is down", local);
        game.world.guests[guest].connection = evenkeel_net::hub::Connection(999);
    }
    game.play(&[0, 1, 2], 3_000);
    assert!(game.worst(&[0, 1, 2]) < 0.2);
    game.world.guests[0].linked = false;
    for guest in [1, 2] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_unlinked(HostId(1), local);
    }
    game.play(&[1, 2], 3_000);
    assert_eq!(game.leaders(&[1, 2]), [HostId(2); 2]);
    assert!(game.worst(&[1, 2]) < 0.2);
}

#[test]
fn in_a_hybrid_session_those_who_cannot_be_reached_hear_it_from_the_server() {
    let mut game = Game::new(Model::Hybrid, |_, _| true);
    let browser = game.world.join(SeatConfig::named("Browser"), 40);
    game.play(&[0, 1, 2], 4_000);
    assert_eq!(game.leaders(&[0, 1, 2]), [SERVER; 3]);
    let off = game.worst(&[0, 1, 2]);
    assert!(off < 0.2, "{off} m");
    let (truth, local) = (game.world.hub.now(game.world.now), game.world.local(browser));
    for owner in 0..3 {
        let seen = game.world.guests[browser].seat.place(game.tanks[owner], local).unwrap();
        let off = seen.position.distance(drive(owner, truth).position());
        assert!(off < 0.2, "{off} m");
    }
    // Whoever is told directly is not told by the server as well.
    let spent = |game: &mut Game, host: u32| {
        let fairness = game.world.hub.fairness(game.world.now);
        fairness.receivers.iter().find(|r| r.host == HostId(host)).map_or(0, |r| r.vectors)
    };
    let (before, browsers) = (spent(&mut game, 1), spent(&mut game, 4));
    game.play(&[0, 1, 2], 2_000);
    assert_eq!(spent(&mut game, 1), before);
    assert!(spent(&mut game, 4) > browsers);
    // A link that ends: the server takes over.
    for (guest, host) in [(0, HostId(2)), (1, HostId(1))] {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_unlinked(host, local);
    }
    game.play(&[0, 1, 2], 2_000);
    assert!(game.worst(&[0, 1, 2]) < 0.2);
    assert!(spent(&mut game, 1) > before);
}

#[test]
fn nobody_speaks_for_others_among_peers() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    game.play(&[0, 1, 2], 2_000);
    // A forger: a vector about the first's tank, in the second's name, to the third.
    let time = game.shown[1].unwrap();
    let mut forger = evenkeel::Sender::new(evenkeel::SenderConfig::default()).unwrap();
    forger.add_receiver(HostId(3), time).unwrap();
    forger.add_entity(game.tanks[0], Threshold::within(0.1), time).unwrap();
    forger.observe(game.tanks[0], Pose::at(Vec3::new(500.0, 0.0, 0.0)), time).unwrap();
    let forged = forger.poll_transmit(time).unwrap().bytes.to_vec();
    let local = game.world.local(2);
    game.world.guests[2].seat.handle_peer_datagram(HostId(2), &forged, local);
    game.play(&[0, 1, 2], 200);
    assert!(game.worst(&[0, 1, 2]) < 0.2);
    // Through the server one cannot even pretend to be somebody else: it says who sent it.
    let from = game.world.guests[1].connection;
    game.world.hub.handle_datagram(from, &pass_on(HostId(3), &forged), game.world.now);
    game.play(&[0, 1, 2], 500);
    assert!(game.worst(&[0, 1, 2]) < 0.2);
}

#[test]
fn whoever_cannot_be_reached_is_told_that_it_must() {
    let mut world = World::new(hub(Model::PeerToPeer));
    let guest = world.join(SeatConfig::named("Browser"), 10);
    world.run(200, |_| {});
    assert!(world.guests[guest].events.contains(&SeatEvent::Refused(Refusal::PeersOnly)));
}

/// Whoever waits for a way that does not open sleeps meanwhile.
#[test]
fn a_peer_that_is_not_reached_keeps_nobody_awake() {
    let mut game = Game::new(Model::Hybrid, |_, _| false);
    game.play(&[0, 1, 2], 3_000);
    let local = game.world.local(0);
    assert!(game.world.guests[0].seat.poll_timeout().unwrap() > local - ms(1));
    assert!(game.worst(&[0, 1, 2]) < 0.2, "the server tells them");
}

/// The one who leads goes on leading when the server is gone, whatever its number.
#[test]
fn a_leader_without_a_server_does_not_abdicate() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    let lost = game.world.guests[0].connection;
    game.world.hub.handle_disconnected(lost, game.world.now);
    game.world.reconnect(0);
    game.play(&[0, 1, 2], 2_000);
    assert_eq!(game.leaders(&[0, 1, 2]), [HostId(2); 3]);
    for guest in 0..3 {
        let local = game.world.local(guest);
        game.world.guests[guest].seat.handle_lost("the server is down", local);
        game.world.guests[guest].connection = evenkeel_net::hub::Connection(999);
    }
    game.play(&[0, 1, 2], 1_000);
    assert_eq!(game.leaders(&[0, 1, 2]), [HostId(2); 3]);
}

/// With another session everybody is somebody else, even under the same number: direct connections are made anew.
#[test]
fn links_do_not_outlive_their_session() {
    let mut game = Game::new(Model::PeerToPeer, |_, _| true);
    game.play(&[0, 1, 2], 1_000);
    let world = &mut game.world;
    world.hub = Hub::new(hub(Model::PeerToPeer)).unwrap();
    for guest in 0..3 {
        let local = world.local(guest);
        world.guests[guest].seat.handle_lost("the server is down", local);
        world.reconnect(guest);
    }
    world.run(400, |_| {});
    for guest in 0..3 {
        let seat = &mut world.guests[guest].seat;
        let others = (0..3).filter(|other| *other != guest).map(|other| HostId(other as u32 + 1));
        assert_eq!(seat.you(), Some(HostId(guest as u32 + 1)));
        assert_eq!(seat.linked().count(), 0);
        let departed = std::iter::from_fn(|| seat.poll_departed());
        assert_eq!(departed.collect::<Vec<_>>(), others.collect::<Vec<_>>(), "their connections are to be closed");
    }
    world.connect_peers(|_, _| true);
    world.run(3_000, |_| {});
    game.tanks = tanks(&mut game.world);
    game.play(&[0, 1, 2], 2_000);
    let off = game.worst(&[0, 1, 2]);
    assert!(off < 0.2, "{off} m");
    assert_eq!(game.world.hub.counts().passed_on, 0);
}

/// Nobody is cut off from what the server tells because one side claims that it is told directly.
#[test]
fn a_direct_way_counts_once_both_say_that_there_is_one() {
    let mut game = Game::new(Model::Hybrid, |_, _| false);
    let mut claim = |guest: usize, peer: u32, up: bool| {
        let (from, claim) = (game.world.guests[guest].connection, ToServer::Linked { peer: HostId(peer), up });
        game.world.hub.handle_message(from, &encode(&claim).unwrap(), game.world.now);
        // The third does not move: Ben is told of the first's tank alone.
        let told = |game: &mut Game| {
            let fairness = game.world.hub.fairness(game.world.now);
            fairness.receivers.iter().find(|r| r.host == HostId(2)).map_or(0, |r| r.vectors)
        };
        game.play(&[0, 1], 500);
        let before = told(&mut game);
        game.play(&[0, 1], 4_000);
        told(&mut game) > before
    };
    assert!(claim(0, 2, true), "Ada alone says so");
    assert!(claim(0, 2, false));
    assert!(claim(1, 1, true), "Ben alone says so");
    assert!(!claim(0, 2, true), "both say so");
    assert!(claim(1, 1, false), "it has ended for one");
    assert!(game.worst(&[0, 1]) < 0.2);
}

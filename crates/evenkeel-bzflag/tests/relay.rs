//! What the relay promises about single messages, whatever is decided.

use evenkeel::policy::Budget;
use evenkeel::{Duration, GlobalTime, HostId};
use evenkeel_bzflag::message::{Code, Frame, Killed, RemovePlayer, SetVar, ShotBegin, Status, TankUpdate, frames};
use evenkeel_bzflag::{Decider, Relay, RelayConfig, Summary, Way};

/// A game around the relay's mind. Player `n` is at host `n`; the server is next door, and so is everybody.
struct Game {
    relay: Relay,
    now: GlobalTime,
    hosts: Vec<(HostId, u8)>,
    order: i32,
}

/// Who is told what.
type Heard = Vec<(u32, TankUpdate)>;

const FRAME: Duration = Duration::from_millis(16);

impl Game {
    fn new(deciders: &[Decider], players: u8) -> Self {
        let config = RelayConfig { deciders: deciders.to_vec(), ..RelayConfig::default() };
        let relay = Relay::new(config).expect("the policies exist");
        let mut game = Self { relay, now: GlobalTime::from_millis(1), hosts: Vec::new(), order: 0 };
        (0..players).for_each(|player| game.join(player.into(), player));
        game
    }

    fn join(&mut self, host: u32, player: u8) {
        let host = HostId(host);
        self.hosts.push((host, player));
        self.relay.connected(host, player);
        let mut variables = Vec::new();
        SetVar(vec![(b"_positionTolerance", b"-1")]).emit(&mut variables);
        self.relay.handle_server(host, Way::Tcp, first(&variables), self.now);
        self.relay.handle_server(host, Way::Tcp, Frame { code: Code::ACCEPT, payload: &[] }, self.now);
    }

    fn leave(&mut self, host: u32) {
        self.hosts.retain(|(known, _)| known.0 != host);
        self.relay.disconnected(HostId(host), self.now);
    }

    /// A client says how its tank moves, and the server passes it on to everybody else at once.
    fn drive(&mut self, update: TankUpdate) {
        self.order += 1;
        let update = TankUpdate { order: self.order, stamp: self.now.as_secs_f64() as f32, ..update };
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        let own = self.hosts.iter().find(|(_, player)| *player == update.player).map(|(host, _)| *host);
        if let Some(own) = own {
            self.relay.handle_client(own, Way::Udp, first(&bytes), self.now, self.now);
        }
        self.serve(&bytes, update.player);
    }

    /// The server says something to everybody but one.
    fn serve(&mut self, bytes: &[u8], but: u8) {
        for (host, _) in self.hosts.iter().filter(|(_, player)| *player != but) {
            self.relay.handle_server(*host, Way::Udp, first(bytes), self.now);
        }
    }

    /// The updates that clients are sent by now.
    fn heard(&mut self) -> Heard {
        let mut heard = Vec::new();
        while let Some(out) = self.relay.poll(self.now) {
            let updates = frames(&out.bytes).flatten().filter_map(|frame| TankUpdate::parse(frame).ok());
            heard.extend(updates.filter(|_| out.to_client).map(|update| (out.client.0, update)));
        }
        heard
    }

    /// Time goes by while tanks say on every frame what `tanks` has them say.
    fn go_on(&mut self, seconds: f64, tanks: impl Fn(f64) -> Vec<TankUpdate>) -> Vec<(GlobalTime, u32, TankUpdate)> {
        let mut all = Vec::new();
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += FRAME;
            tanks(self.now.as_secs_f64()).into_iter().for_each(|update| self.drive(update));
            let now = self.now;
            all.extend(self.heard().into_iter().map(|(to, update)| (now, to, update)));
        }
        all
    }
}

fn first(bytes: &[u8]) -> Frame<'_> {
    frames(bytes).next().expect("a frame").expect("a whole one")
}

/// Who was told, in order.
fn whom(heard: &Heard) -> Vec<u32> {
    let mut whom: Vec<u32> = heard.iter().map(|(to, _)| *to).collect();
    whom.sort_unstable();
    whom
}

fn model() -> Decider {
    Decider::with("base", Budget::Unlimited)
}

fn every(n: u32) -> Decider {
    Decider::with(&format!("base/{n}"), Budget::of_base(1, n))
}

/// Somewhere on a winding road.
fn winding(player: u8, t: f64) -> TankUpdate {
    let turn = 0.8 * (t * 0.7 + f64::from(player)).sin();
    let azimuth = -0.8 / 0.7 * (t * 0.7 + f64::from(player)).cos();
    TankUpdate {
        position: [20.0 * t as f32, f32::from(player), 0.0],
        velocity: [20.0 * azimuth.cos() as f32, 20.0 * azimuth.sin() as f32, 0.0],
        azimuth: azimuth as f32,
        angular_velocity: turn as f32,
        ..TankUpdate::of(player)
    }
}

/// A shot of a tank that claims to stand at `x`.
fn shot_from(player: u8, x: f32) -> Vec<u8> {
    let shot = ShotBegin {
        stamp: 0.0,
        player,
        shot: 1,
        position: [x + 4.42, 0.0, 1.57],
        velocity: [100.0, 0.0, 0.0],
        elapsed: 0.0,
        team: 0,
        flag: [0; 2],
        lifetime: 3.5,
    };
    let mut bytes = Vec::new();
    shot.emit(&mut bytes);
    bytes
}

#[test]
fn a_shot_moves_its_tank_today_and_is_followed_at_once_with_the_accuracy_model() {
    for (live, other) in [(model(), Decider::today()), (Decider::today(), model())] {
        let mut game = Game::new(&[live.clone(), other], 3);
        let still = |_: f64| vec![TankUpdate::of(0)];
        let before = game.go_on(0.5, still);
        let last = before.iter().filter(|(_, to, _)| *to == 1).map(|(_, _, update)| update.order).max();
        game.now += FRAME;
        game.serve(&shot_from(0, 8.0), 0);
        let heard = game.heard();
        assert_eq!(whom(&heard), if live.advance { vec![1, 2] } else { vec![] });
        assert!(heard.iter().all(|(_, told)| Some(told.order) > last && told.position == [0.0; 3]), "{heard:?}");
        game.go_on(6.0, still);
        // The tank stood at 0 all the time; whoever believes the shot has it at 8.
        for decider in Summary::of(&game.relay).deciders {
            let shown_off = decider.clients.iter().filter(|client| client.seconds > 0.0).map(|c| c.largest_m);
            let shown_off: Vec<f64> = shown_off.collect();
            let expected = if decider.name == "today" { 8.0 } else { 0.0 };
            assert_eq!(shown_off.len(), 2);
            assert!(shown_off.iter().all(|m| (m - expected).abs() < 0.01), "{}: {shown_off:?}", decider.name);
        }
    }
}

#[test]
fn what_is_heard_of_a_tank_is_heard_once_by_everybody() {
    for decider in [model(), every(10), Decider::today()] {
        let mut game = Game::new(&[decider], 3);
        game.go_on(1.0, |t| vec![winding(0, t)]);
        game.now += FRAME;
        game.drive(TankUpdate { sounds: Some(1), ..winding(0, 1.0) });
        let heard = game.heard();
        assert_eq!(whom(&heard), [1, 2]);
        assert!(heard.iter().all(|(_, told)| told.sounds == Some(1) && told.status.contains(Status::SOUND)));
        let later = game.go_on(5.0, |t| vec![winding(0, t)]);
        assert!(later.len() > 2 && later.iter().all(|(_, _, told)| told.sounds.is_none()));
    }
}

#[test]
fn a_jump_is_told_to_everybody_at_once() {
    let falling = Status::ALIVE.with(Status::FALLING, true);
    let mut game = Game::new(&[every(10)], 4);
    game.go_on(1.0, |t| vec![winding(0, t)]);
    for (status, same_moment) in [(falling, false), (Status::ALIVE, false), (falling, true), (Status::ALIVE, true)] {
        game.now += FRAME;
        if same_moment {
            // The server puts two updates in one datagram.
            let before = if status == falling { Status::ALIVE } else { falling };
            game.drive(TankUpdate { status: before, sounds: Some(1), ..winding(0, 1.0) });
        }
        game.drive(TankUpdate { status, ..winding(0, 1.0) });
        let mut heard = game.heard();
        let loud: Heard = heard.extract_if(.., |(_, told)| told.sounds == Some(1)).collect();
        assert_eq!(whom(&loud), if same_moment { vec![1, 2, 3] } else { vec![] });
        assert_eq!(whom(&heard), [1, 2, 3], "{status:?} {same_moment}");
        assert!(heard.iter().all(|(_, told)| told.status == status));
    }
}

#[test]
fn death_and_new_life_reach_everybody_at_once() {
    for decider in [model(), every(100), Decider::today()] {
        let mut game = Game::new(&[decider], 3);
        game.go_on(1.0, |t| vec![winding(0, t)]);
        for _ in 0..3 {
            game.now += FRAME;
            game.drive(TankUpdate { status: Status(0), ..winding(0, 1.0) });
            let heard = game.heard();
            assert_eq!(whom(&heard), [1, 2]);
            assert!(heard.iter().all(|(_, told)| !told.status.contains(Status::ALIVE)));
            let dead = game.go_on(4.0, |_| vec![]);
            assert!(dead.is_empty(), "the dead do not move: {dead:?}");
            game.drive(TankUpdate { position: [-50.0, 0.0, 0.0], ..TankUpdate::of(0) });
            let heard = game.heard();
            assert_eq!(whom(&heard), [1, 2]);
            assert!(heard.iter().all(|(_, told)| told.status.contains(Status::ALIVE) && told.position[0] == -50.0));
        }
    }
}

#[test]
fn no_tank_is_silent_for_five_seconds() {
    let mut game = Game::new(&[every(100)], 4);
    let tanks = |t: f64| vec![winding(0, t), winding(1, t), TankUpdate::of(2)];
    let all = game.go_on(60.0, tanks);
    for (to, about) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (3, 0), (3, 1), (3, 2)] {
        let times: Vec<GlobalTime> =
            all.iter().filter(|(_, host, told)| (*host, told.player) == (to, about)).map(|(at, ..)| *at).collect();
        let gaps = times.windows(2).map(|pair| pair[1].since(pair[0]));
        assert!(gaps.max() < Some(Duration::from_secs(5)), "{to} about {about}");
        assert!(game.now.since(times[times.len() - 1]) < Duration::from_secs(5));
        // And it is every(100) that decides.
        assert!(times.len() < 60, "{} updates", times.len());
    }
}

#[test]
fn who_comes_late_hears_of_every_living_tank() {
    for decider in [model(), every(100), Decider::today()] {
        let mut game = Game::new(&[decider], 4);
        let tanks =
            |t: f64| vec![winding(0, t), TankUpdate::of(1), TankUpdate { status: Status(0), ..TankUpdate::of(2) }];
        game.go_on(2.0, tanks);
        game.join(9, 9);
        // At once, not with the next update: nothing is said meanwhile.
        let heard = game.heard();
        let mut about: Vec<u8> = heard.iter().filter(|(to, _)| *to == 9).map(|(_, told)| told.player).collect();
        about.sort_unstable();
        assert_eq!(about, [0, 1]);
    }
}

#[test]
fn who_leaves_takes_its_tank_along() {
    for by_the_server in [false, true] {
        let mut game = Game::new(&[model()], 3);
        // Player 7 is not behind this relay.
        let tanks = |t: f64| vec![winding(0, t), winding(7, t), winding(1, t)];
        game.go_on(1.0, tanks);
        let gone = if by_the_server {
            let mut bytes = Vec::new();
            RemovePlayer(7).emit(&mut bytes);
            game.serve(&bytes, 7);
            7
        } else {
            game.leave(0);
            0
        };
        let later = game.go_on(10.0, |t| vec![winding(1, t)]);
        assert!(later.iter().any(|(_, _, told)| told.player == 1));
        assert!(later.iter().all(|(_, _, told)| told.player != gone));
        // Nor does who comes later hear of it.
        game.join(9, 9);
        assert!(game.heard().iter().all(|(_, told)| told.player != gone));
    }
}

#[test]
fn lives_under_one_number_do_not_mix() {
    let old = |_: f64| vec![TankUpdate { position: [100.0, 0.0, 0.0], ..TankUpdate::of(0) }];
    let new = |_: f64| vec![TankUpdate { position: [-100.0, 0.0, 0.0], ..TankUpdate::of(0) }];
    for overlapping in [false, true] {
        let mut game = Game::new(&[model()], 3);
        let before = game.go_on(5.0, old);
        if overlapping {
            // The server gives the number to another before we know that its last connection is closed.
            game.join(10, 0);
            game.leave(0);
        } else {
            game.leave(0);
            game.join(10, 0);
        }
        let mut told = game.go_on(0.5, new);
        // The news that the first one is gone may be late.
        let mut bytes = Vec::new();
        RemovePlayer(0).emit(&mut bytes);
        game.relay.handle_server(HostId(2), Way::Tcp, first(&bytes), game.now);
        told.extend(game.heard().into_iter().map(|(to, update)| (game.now, to, update)));
        assert_eq!(told.iter().filter(|(_, to, _)| *to == 2).count(), 1, "{overlapping}");
        assert!(told.iter().all(|(_, _, told)| told.position[0] == -100.0));
        for to in [1, 2] {
            let orders = before.iter().chain(&told).filter(|(_, host, _)| *host == to).map(|(_, _, u)| u.order);
            assert!(orders.is_sorted_by(|a, b| a < b));
        }
        // It lives on: nobody is told of a new life, and everybody of this one when it is time.
        assert_eq!(game.go_on(0.05, new).len(), 0, "{overlapping}");
        let later: Heard = game.go_on(4.0, new).into_iter().map(|(_, to, told)| (to, told)).collect();
        assert!(whom(&later).contains(&1) && whom(&later).contains(&2));
    }
}

#[test]
fn the_dead_and_the_silent_are_not_judged() {
    let seen = |game: &Game| {
        Summary::of(&game.relay).deciders[0].clients.iter().map(|c| c.seconds + c.unseen_seconds).sum::<f64>()
    };
    let killed = Killed { victim: 0, killer: 1, reason: 1, shot: 1, flag: [0; 2], driver: None };
    for dead in [true, false] {
        let mut game = Game::new(&[model()], 3);
        game.go_on(3.0, |t| vec![winding(0, t)]);
        if dead {
            let mut bytes = Vec::new();
            killed.emit(&mut bytes);
            game.serve(&bytes, 9);
        }
        game.go_on(20.0, |_| Vec::new());
        // Two clients saw it for three seconds; whoever says nothing any more is believed to go on for two.
        let expected = if dead { 6.0 } else { 10.0 };
        assert!((seen(&game) - expected).abs() < 0.5, "{} s", seen(&game));
    }
}

/// What strangers write into a shot is no reason to stop.
#[test]
fn a_shot_that_lives_for_less_than_no_time_passes() {
    let config = RelayConfig { deciders: vec![model()], advance_shots: true, ..RelayConfig::default() };
    let mut relay = Relay::new(config).unwrap();
    relay.connected(HostId(0), 0);
    let bytes = shot_from(1, 0.0);
    let mut shot = ShotBegin::parse(first(&bytes)).unwrap();
    shot.lifetime = -1.0;
    let mut bytes = Vec::new();
    shot.emit(&mut bytes);
    relay.handle_server(HostId(0), Way::Udp, first(&bytes), GlobalTime::from_millis(5));
    let out = relay.poll(GlobalTime::from_millis(5)).expect("it is passed on");
    assert_eq!(ShotBegin::parse(first(&out.bytes)), Ok(shot));
}

//! What becomes of messages between BZFlag's clients and its server.

use crate::input::Input;
use evenkeel::policy::Budget;
use evenkeel::{GlobalTime, HostId};
use evenkeel_bzflag::message::{Code, Frame, MAX_PAYLOAD, ShotBegin, Status, TankUpdate, frames};
use evenkeel_bzflag::{Decider, Relay, RelayConfig, Summary, Way};
use std::collections::BTreeMap;

/// The messages that the relay looks at.
const CODES: [Code; 9] = [
    Code::TANK_UPDATE,
    Code::TANK_UPDATE_SMALL,
    Code::SHOT_BEGIN,
    Code::LAG_PING,
    Code::ENTER,
    Code::ACCEPT,
    Code::SET_VAR,
    Code::REMOVE_PLAYER,
    Code::MESSAGE,
];

const HOSTS: u8 = 8;

/// Whatever clients and server say, whenever, and however time jumps: what comes out are whole frames, updates of finite numbers whose
/// orders increase among them; what is kept and what is summed up stays in bounds.
///
/// A script: a byte for who decides, then what happens.
pub fn bzflag_relay(data: &[u8]) {
    let mut input = Input(data);
    let live = match input.byte() % 4 {
        0 => Decider::today(),
        1 => Decider::with("base", Budget::Unlimited),
        2 => Decider::with("even", Budget::of_base(1, 3)),
        _ => Decider::with("base/10", Budget::of_base(1, 10)),
    };
    let deciders = vec![live, Decider::today(), Decider::with("credits", Budget::of_base(1, 3))];
    let relay = Relay::new(RelayConfig { deciders, ..RelayConfig::default() }).expect("the policies exist");
    let mut game = Game { relay, now: GlobalTime::ZERO, orders: BTreeMap::new() };
    while let Some(what) = input.next() {
        game.step(what, &mut input);
    }
    game.take_all();
    game.check();
}

struct Game {
    relay: Relay,
    now: GlobalTime,
    orders: BTreeMap<(HostId, u8), i32>,
}

impl Game {
    fn step(&mut self, what: u8, input: &mut Input<'_>) {
        let host = HostId(u32::from(input.byte() % HOSTS));
        match what % 8 {
            0 => {
                self.now += input.span();
                self.take_all();
            }
            1 => {
                // What is still to be sent to the one before is not for the next.
                self.take_all();
                self.orders.retain(|(known, _), _| *known != host);
                self.relay.connected(host, input.byte());
            }
            2 => self.relay.disconnected(host, self.now),
            3 | 4 => {
                let code = CODES.get(usize::from(input.byte() % 10)).copied().unwrap_or_else(|| Code(input.u16()));
                let payload = input.chunk();
                self.say(what % 8 == 3, host, Frame { code, payload: &payload[..payload.len().min(MAX_PAYLOAD)] });
            }
            5 => {
                let by_client = input.byte().is_multiple_of(2);
                let mut bytes = Vec::new();
                update(input).emit(&mut bytes);
                self.say(by_client, host, frames(&bytes).next().expect("one was emitted").expect("a frame"));
            }
            6 => self.say(false, host, Frame { code: Code::ACCEPT, payload: &[] }),
            _ => {
                let mut bytes = Vec::new();
                shot(input).emit(&mut bytes);
                self.say(false, host, frames(&bytes).next().expect("one was emitted").expect("a frame"));
            }
        }
    }

    fn say(&mut self, by_client: bool, host: HostId, frame: Frame<'_>) {
        let way = if frame.payload.len().is_multiple_of(2) { Way::Tcp } else { Way::Udp };
        if by_client {
            self.relay.handle_client(host, way, frame, self.now, self.now);
        } else {
            self.relay.handle_server(host, way, frame, self.now);
        }
    }

    fn take_all(&mut self) {
        while let Some(out) = self.relay.poll(self.now) {
            for frame in frames(&out.bytes) {
                let frame = frame.expect("whole frames");
                if out.to_client && matches!(frame.code, Code::TANK_UPDATE | Code::TANK_UPDATE_SMALL) {
                    let told = TankUpdate::parse(frame).expect("an update that can be read");
                    let before = self.orders.insert((out.client, told.player), told.order);
                    assert!(before.is_none_or(|before| before < told.order), "{} after {before:?}", told.order);
                }
            }
        }
        self.relay.poll_timeout();
    }

    fn check(&self) {
        for desk in self.relay.desks() {
            assert!(desk.sender().ledger().entity_count() <= 256);
        }
        for decider in Summary::of(&self.relay).deciders {
            assert!(decider.clients.len() <= 256 + usize::from(HOSTS));
            assert!(decider.mean_m.is_finite() && decider.std_m.is_finite(), "{decider:?}");
        }
    }
}

fn update(input: &mut Input<'_>) -> TankUpdate {
    let [x, y, z] = floats(input);
    let velocity = floats(input);
    TankUpdate {
        player: input.byte() % 12,
        order: i32::from(input.u16()),
        status: Status(input.u16() as i16),
        stamp: input.number() as f32,
        position: [x, y, z],
        velocity,
        azimuth: input.number() as f32,
        angular_velocity: input.number() as f32,
        sounds: input.byte().is_multiple_of(8).then_some(1),
        ..TankUpdate::of(0)
    }
}

fn shot(input: &mut Input<'_>) -> ShotBegin {
    let (player, position) = (input.byte() % 12, floats(input));
    let velocity = floats(input);
    ShotBegin { stamp: 0.0, player, shot: 1, position, velocity, elapsed: 0.0, team: 0, flag: [0; 2], lifetime: 3.5 }
}

fn floats(input: &mut Input<'_>) -> [f32; 3] {
    [0; 3].map(|_: i32| input.number() as f32)
}

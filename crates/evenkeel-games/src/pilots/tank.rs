//! A driver in the arena.

use super::hands::{Hands, Plan};
use super::{Pilot, View, nearest, off};
use crate::arena::{Act, Arena, Field, RADIUS, SHOT_SPEED, TURN_RATE};
use alloc::vec::Vec;
use evenkeel::{Duration, GlobalTime, HostId, State, Vec3};

/// Good enough a direction: the driver does not turn for less. Radians.
const STRAIGHT: f64 = 0.05;
/// How far ahead the driver looks for walls. Metres.
const LOOKOUT: f64 = 25.0;
/// How far ahead the driver looks for targets. Metres.
const RANGE: f64 = 150.0;
/// How long the driver waits between shots.
const PAUSE: Duration = Duration::from_millis(700);
/// Which other ways the driver looks at when a wall is ahead, in this order. Radians.
const DETOURS: [f64; 6] = [0.6, -0.6, 1.2, -1.2, 2.0, -2.0];

/// A driver of a tank.
#[derive(Clone, Debug)]
pub struct TankPilot {
    player: HostId,
    hands: Hands,
    field: Field,
    wanted: (i8, i8),
    turns_until: GlobalTime,
    reverses_until: GlobalTime,
    roams_to: Vec3,
}

impl TankPilot {
    /// Where the driver wants to drive, walls or not.
    fn goal(&mut self, own: &State, target: Option<&State>) -> Vec3 {
        match (self.hands.plan, target) {
            (Plan::Chase, Some(target)) => aim(own, target),
            (Plan::Evade, Some(target)) => own.position * 2.0 - target.position,
            _ if own.position.distance(self.roams_to) < LOOKOUT => {
                let reach = 0.9 * self.field.half_side();
                let mut within = || self.hands.draws.between(-reach, reach);
                self.roams_to = Vec3::new(within(), within(), 0.0);
                self.roams_to
            }
            _ => self.roams_to,
        }
    }

    /// The angle off the nose to drive at: straight to the goal, or past the wall that is in the way.
    fn bearing(&self, own: &State, goal: Vec3) -> f64 {
        let off = off(own, goal);
        let reach = LOOKOUT.min(own.position.distance(goal));
        let free = |angle: f64| {
            let ahead = Vec3::from_heading(own.attitude.heading() + angle);
            let side = Vec3::new(-ahead.y, ahead.x, 0.0) * RADIUS;
            let clear = |from: Vec3| self.field.meets(from, from + ahead * (reach + RADIUS)).is_none();
            clear(own.position + side) && clear(own.position - side)
        };
        let ways = core::iter::once(0.0).chain(DETOURS).map(|detour| off + detour);
        ways.into_iter().find(|angle| free(*angle)).map_or(off, evenkeel::wrap_angle)
    }

    fn steer(&mut self, own: &State, goal: Vec3, now: GlobalTime) -> (i8, i8) {
        let stuck = self.wanted.0 != 0 && own.velocity == Vec3::ZERO;
        if stuck {
            self.reverses_until = now + Duration::from_secs_f64(self.hands.draws.between(0.6, 1.2));
            let turn = if self.hands.draws.chance(0.5) { 100 } else { -100 };
            // Whatever was in the way, the other way is free.
            let speed = if self.wanted.0 > 0 { -100 } else { 100 };
            self.turns_until = self.reverses_until;
            return (speed, turn);
        }
        if now < self.reverses_until {
            return self.wanted;
        }
        let bearing = self.bearing(own, goal);
        let held = libm::fabs(bearing) / TURN_RATE * self.hands.draws.between(0.85, 1.15);
        self.turns_until = now + Duration::from_secs_f64(held);
        let turn = if libm::fabs(bearing) < STRAIGHT { 0.0 } else { libm::copysign(100.0, bearing) };
        // Full speed ahead, slower into a bend, on the spot if the goal is behind.
        let speed = match libm::fabs(bearing) {
            off if off < 0.5 => 100,
            off if off < 1.4 => 60,
            _ => 0,
        };
        (speed, turn as i8)
    }

    /// Whether a shot would hit a target, by the look of it.
    fn in_line(&self, own: &State, target: &State) -> bool {
        let aim = aim(own, target);
        let distance = own.position.distance(aim);
        distance < RANGE
            && libm::fabs(off(own, aim)) * distance < 1.5 * RADIUS
            && self.field.meets(own.position, target.position).is_none()
    }

    fn want(&mut self, wanted: (i8, i8), acts: &mut Vec<Act>) {
        if wanted != self.wanted {
            self.wanted = wanted;
            acts.push(Act::Drive { speed: wanted.0, turn: wanted.1 });
        }
    }
}

/// Where a target will be when a shot gets there, roughly.
fn aim(own: &State, target: &State) -> Vec3 {
    target.position + target.velocity * (own.position.distance(target.position) / SHOT_SPEED)
}

impl Pilot<Arena> for TankPilot {
    fn seated(seed: u64, player: HostId, game: &Arena) -> Self {
        Self {
            player,
            hands: Hands::new(seed, 0x7A_0000_0000 | u64::from(player.0)),
            field: game.field().clone(),
            wanted: (0, 0),
            turns_until: GlobalTime::ZERO,
            reverses_until: GlobalTime::ZERO,
            roams_to: Vec3::ZERO,
        }
    }

    fn act(&mut self, view: &View<'_>, now: GlobalTime) -> Vec<Act> {
        let mut acts = Vec::new();
        let Some(own) = view.own else {
            self.hands.rest();
            return acts;
        };
        let target = nearest(self.player, &own, view);
        if self.hands.look(now) {
            let goal = self.goal(&own, target.as_ref());
            let wanted = self.steer(&own, goal, now);
            self.want(wanted, &mut acts);
        } else if self.wanted.1 != 0 && now >= self.turns_until {
            self.want((self.wanted.0, 0), &mut acts);
        }
        let sees = target.is_some_and(|target| self.in_line(&own, &target));
        if self.hands.strike(now, sees, PAUSE) {
            acts.push(Act::Fire);
        }
        acts
    }
}

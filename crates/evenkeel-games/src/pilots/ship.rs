//! A pilot of the game "spaceship".

use super::hands::{Hands, Plan};
use super::{Pilot, View, nearest, off};
use crate::spaceship::{Act, BEAM_LENGTH, FIELD, RADIUS, Spaceship, TOP_SPEED, TURN_RATE, Turn};
use alloc::vec::Vec;
use evenkeel::{Duration, GlobalTime, HostId, State, Vec3};

/// Good enough a direction: the pilot does not turn for less. Radians.
const STRAIGHT: f64 = 0.06;
/// Nearer than this the pilot slows down behind the one it chases. Pixels.
const NEAR: f64 = 130.0;
/// The pilot sees so far ahead when it leads a target. Seconds.
const LEAD: f64 = 0.2;

/// How long the pilot waits between shots, to see whether the last one hit.
const PAUSE: Duration = Duration::from_millis(800);

/// A pilot of a spaceship.
#[derive(Clone, Debug)]
pub struct ShipPilot {
    player: HostId,
    hands: Hands,
    turn: Turn,
    turns_until: GlobalTime,
    accelerates: bool,
    decelerates: bool,
    roams_to: Vec3,
}

impl ShipPilot {
    /// Where the pilot wants to fly.
    fn goal(&mut self, own: &State, target: Option<&State>) -> Vec3 {
        let outside = libm::fabs(own.position.x) > FIELD.0 / 2.0 || libm::fabs(own.position.y) > FIELD.1 / 2.0;
        match (self.hands.plan, target) {
            _ if outside => Vec3::ZERO,
            (Plan::Chase, Some(target)) => target.position + target.velocity * LEAD,
            (Plan::Evade, Some(target)) => own.position * 2.0 - target.position,
            _ if own.position.distance(self.roams_to) < 60.0 => {
                let mut within = |side: f64| self.hands.draws.between(-0.4 * side, 0.4 * side);
                self.roams_to = Vec3::new(within(FIELD.0), within(FIELD.1), 0.0);
                self.roams_to
            }
            _ => self.roams_to,
        }
    }

    fn steer(&mut self, own: &State, goal: Vec3, now: GlobalTime) -> Turn {
        let off = off(own, goal);
        if libm::fabs(off) < STRAIGHT {
            return Turn::None;
        }
        // A key is held for about as long as the turn takes, and not for ever.
        let held = libm::fabs(off) / TURN_RATE * self.hands.draws.between(0.8, 1.2);
        self.turns_until = now + Duration::from_secs_f64(held);
        if off > 0.0 { Turn::Left } else { Turn::Right }
    }

    /// Whether to accelerate, and whether to decelerate.
    fn throttle(&self, own: &State, goal: Vec3, target: Option<&State>) -> (bool, bool) {
        let speed = own.velocity.length();
        let turns_far = libm::fabs(off(own, goal)) > 1.3;
        let near = target.is_some_and(|target| own.position.distance(target.position) < NEAR);
        let brakes = (turns_far && speed > 0.5 * TOP_SPEED)
            || (near && self.hands.plan == Plan::Chase && speed > 0.3 * TOP_SPEED);
        (!brakes && speed < 0.95 * TOP_SPEED && !turns_far, brakes)
    }

    fn keys(&mut self, turn: Turn, (accelerates, decelerates): (bool, bool), acts: &mut Vec<Act>) {
        if turn != self.turn {
            acts.push(Act::Turn(turn));
        }
        if accelerates != self.accelerates {
            acts.push(Act::Accelerate(accelerates));
        }
        if decelerates != self.decelerates {
            acts.push(Act::Decelerate(decelerates));
        }
        (self.turn, self.accelerates, self.decelerates) = (turn, accelerates, decelerates);
    }
}

/// Whether a beam would hit a target, by the look of it. Pilots are confident: nearly counts.
fn in_line(own: &State, target: &State) -> bool {
    let distance = own.position.distance(target.position);
    distance < BEAM_LENGTH + RADIUS && libm::fabs(off(own, target.position)) * distance < 1.5 * RADIUS
}

impl Pilot<Spaceship> for ShipPilot {
    fn seated(seed: u64, player: HostId, _game: &Spaceship) -> Self {
        Self {
            player,
            hands: Hands::new(seed, 0x5B_0000_0000 | u64::from(player.0)),
            turn: Turn::None,
            turns_until: GlobalTime::ZERO,
            accelerates: false,
            decelerates: false,
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
            let turn = self.steer(&own, goal, now);
            let throttle = self.throttle(&own, goal, target.as_ref());
            self.keys(turn, throttle, &mut acts);
        } else if self.turn != Turn::None && now >= self.turns_until {
            self.keys(Turn::None, (self.accelerates, self.decelerates), &mut acts);
        }
        let sees = target.is_some_and(|target| in_line(&own, &target));
        if self.hands.strike(now, sees, PAUSE) {
            acts.push(Act::Fire);
        }
        acts
    }
}

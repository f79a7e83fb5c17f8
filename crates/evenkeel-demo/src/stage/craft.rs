//! A bot's craft, and its pilot, who acts by what its client shows.

use crate::settings::{GameName, Thresholds};
use evenkeel::{Duration, EntityConfig, GlobalTime, HostId, Motion, MotionKind, Threshold};
use evenkeel_games::arena::{self, Arena};
use evenkeel_games::spaceship::{self, Spaceship, Turn};
use evenkeel_games::words::{GameKind, Shot};
use evenkeel_games::{Craft, Pilot, SetupError, ShipPilot, TankPilot, View};

/// How long a step is.
pub(super) const STEP: Duration = Duration::from_millis(20);

/// A craft with a bot in it.
pub(super) struct Piloted {
    game: GameName,
    craft: Box<dyn Craft + Send>,
    pilot: Hands,
}

enum Hands {
    Tank(Box<TankPilot>),
    /// With the keys that are held.
    Ship(Box<ShipPilot>, Keys),
}

#[derive(Default)]
struct Keys {
    accelerates: bool,
    decelerates: bool,
    turn: Turn,
}

impl Piloted {
    /// A craft at a place that follows from the seed and its number.
    pub(super) fn launch(game: GameName, seed: u64, id: u32) -> Result<Self, SetupError> {
        let player = HostId(id);
        let (craft, pilot): (Box<dyn Craft + Send>, _) = match game {
            GameName::Tanks => {
                let rules = arena::Rules { step_length: STEP, ..arena::Rules::default() };
                let pilot = TankPilot::seated(seed, player, &Arena::new(rules, 1, seed)?);
                (Box::new(arena::Solo::new(rules, id, seed)?), Hands::Tank(Box::new(pilot)))
            }
            GameName::Ships => {
                let rules = spaceship::Rules { step_length: STEP, ..spaceship::Rules::default() };
                let pilot = ShipPilot::seated(seed, player, &Spaceship::new(rules, 1)?);
                (Box::new(spaceship::Solo::new(rules, id)?), Hands::Ship(Box::new(pilot), Keys::default()))
            }
        };
        Ok(Self { game, craft, pilot })
    }

    /// Looks, and does something. Answers what it fires; `at` is the time of the last step.
    pub(super) fn act(&mut self, view: &View<'_>, at: GlobalTime) -> Option<Shot> {
        let fires = match &mut self.pilot {
            Hands::Tank(pilot) => drive(&mut *self.craft, pilot.act(view, at)),
            Hands::Ship(pilot, keys) => fly(&mut *self.craft, keys, pilot.act(view, at)),
        };
        if fires { self.craft.fire(at) } else { None }
    }

    pub(super) fn step(&mut self) {
        self.craft.step();
    }

    pub(super) fn hit(&mut self) {
        self.craft.hit();
    }

    /// How it goes on; nothing while it is out of the game.
    pub(super) fn motion(&self) -> Option<Motion> {
        self.craft.state().map(|_| self.craft.pose().motion(kind(self.game)))
    }
}

fn drive(craft: &mut dyn Craft, acts: Vec<arena::Act>) -> bool {
    let mut fires = false;
    for act in acts {
        match act {
            arena::Act::Drive { speed, turn } => craft.want(speed, turn),
            arena::Act::Fire => fires = true,
        }
    }
    fires
}

fn fly(craft: &mut dyn Craft, keys: &mut Keys, acts: Vec<spaceship::Act>) -> bool {
    let mut fires = false;
    for act in acts {
        match act {
            spaceship::Act::Accelerate(held) => keys.accelerates = held,
            spaceship::Act::Decelerate(held) => keys.decelerates = held,
            spaceship::Act::Turn(turn) => keys.turn = turn,
            spaceship::Act::Fire => fires = true,
        }
    }
    let speed = 100 * (i8::from(keys.accelerates) - i8::from(keys.decelerates));
    let turn = match keys.turn {
        Turn::None => 0,
        Turn::Left => 100,
        Turn::Right => -100,
    };
    craft.want(speed, turn);
    fires
}

fn kind(game: GameName) -> MotionKind {
    match game {
        GameName::Tanks => MotionKind::Auto,
        GameName::Ships => MotionKind::Turning,
    }
}

/// How a craft of a game is filtered.
pub(super) fn filter(game: GameName, threshold: &Thresholds) -> EntityConfig {
    let threshold = Threshold::within(threshold.distance).turning(threshold.degrees.to_radians());
    EntityConfig { threshold, kind: kind(game) }
}

impl From<GameName> for GameKind {
    fn from(game: GameName) -> Self {
        match game {
            GameName::Tanks => Self::Tanks,
            GameName::Ships => Self::Ships,
        }
    }
}

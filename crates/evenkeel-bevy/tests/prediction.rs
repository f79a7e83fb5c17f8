//! What a player does shows at once, and the authority has the last word.

#![allow(clippy::unwrap_used)]

mod common;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::Replicated;
use bevy_transform::prelude::*;
use common::Bed;
use evenkeel::prediction::{Prediction, PredictionConfig, PredictionEvent};
use evenkeel::{Attitude, Duration, EntityId, HostId, Simulation, State, Tick};
use evenkeel_bevy::prelude::*;
use evenkeel_bevy::{Predicted, Predicting, PredictionPlugin, PredictionSaid};

/// One walker, by its name.
#[derive(Clone)]
struct Walker(EntityId, f64);

impl Default for Walker {
    fn default() -> Self {
        Self(EntityId(0), 0.0)
    }
}

impl Simulation for Walker {
    type Act = f64;
    type Snapshot = Self;
    type Verdict = ();
    fn step_length(&self) -> Duration {
        Duration::from_millis(50)
    }
    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }
    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }
    fn apply(&mut self, _: HostId, stride: &f64, _: &mut Vec<()>) {
        self.1 += stride;
    }
    fn step(&mut self, _: &mut Vec<()>) {}
    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        let position = evenkeel::Vec3::new(self.1, 0.0, 0.0);
        out.push((self.0, State { position, velocity: evenkeel::Vec3::ZERO, attitude: Attitude::None }));
    }
    fn digest(&self) -> u64 {
        self.1.to_bits()
    }
}

#[derive(Resource, Default)]
struct Revoked(usize);

#[test]
fn ones_own_entity_moves_at_once_and_is_set_right() {
    let mut bed = Bed::with(1, "delay=100ms", |app| {
        app.add_plugins(PredictionPlugin::<Walker>::default());
    });
    let walker = bed.server.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), Replicated)).id();
    bed.run(2.0);
    let name = bed.name(walker);
    let entity = bed.there(0, name).unwrap();
    let app = &mut bed.clients[0];
    app.init_resource::<Revoked>();
    app.add_systems(Update, |mut said: MessageReader<PredictionSaid<()>>, mut revoked: ResMut<Revoked>| {
        revoked.0 += said.read().filter(|said| matches!(said.0, PredictionEvent::Revoked { .. })).count();
    });
    let world = app.world_mut();
    let (you, now) = {
        let mut session = world.resource_mut::<Session>();
        (session.you().unwrap(), session.time().unwrap())
    };
    let prediction = Prediction::new(Walker(name.0, 0.0), PredictionConfig::of(you, name.0), now).unwrap();
    world.insert_resource(Predicting(prediction));
    world.entity_mut(entity).insert(Predicted);

    // A stride, and it is there within two frames' and a tick's time; no word has come from the server.
    world.resource_mut::<Predicting<Walker>>().0.act(1.0, now).unwrap();
    bed.run(0.1);
    assert_eq!(bed.seen(0, name).unwrap().translation.x, 1.0);

    // The server saw it run into a wall.
    let world = bed.clients[0].world_mut();
    let now = world.resource_mut::<Session>().time().unwrap();
    let tick = Tick::at_or_before(now - Duration::from_millis(50), Duration::from_millis(50));
    world.resource_mut::<Predicting<Walker>>().0.handle_state(tick, &Walker(name.0, 0.25), now).unwrap();
    bed.run(0.1);
    assert_eq!(bed.seen(0, name).unwrap().translation.x, 0.25);
    assert_eq!(bed.clients[0].world().resource::<Revoked>().0, 1);
}

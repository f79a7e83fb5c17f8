//! Placing alone: something was seen at a place, and goes on from there, in an arc. Everything else is the game's own.
//!
//! `cargo run -p evenkeel-bevy --example extrapolate`

use bevy_app::{ScheduleRunnerPlugin, TaskPoolPlugin, prelude::*};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_time::{Real, Time, TimePlugin};
use bevy_transform::prelude::*;
use evenkeel_bevy::prelude::*;
use std::time::Duration;

fn main() {
    let frames = ScheduleRunnerPlugin::run_loop(Duration::from_millis(100));
    App::new()
        .add_plugins((TaskPoolPlugin::default(), TimePlugin, frames, ExtrapolatePlugin::default()))
        .add_systems(Startup, hear_of_it)
        .add_systems(Update, draw)
        .run();
}

/// What the game's own network says: where it was, how it moved, and when.
fn hear_of_it(time: Res<Time<Real>>, mut commands: Commands) {
    let moving = Moving { velocity: Vec3::NEG_Z * 10.0, turning: Vec3::Y * 0.5 };
    let seen = Extrapolated::new(&Transform::IDENTITY, &moving, Turns::Upright, Axes::YUp, time.elapsed());
    commands.spawn((Transform::IDENTITY, seen));
}

fn draw(time: Res<Time<Real>>, places: Query<&Transform>, mut exit: MessageWriter<AppExit>) {
    for place in &places {
        println!("{:.1} s: at {:6.2}", time.elapsed_secs(), place.translation);
    }
    if time.elapsed_secs() > 2.0 {
        exit.write(AppExit::Success);
    }
}

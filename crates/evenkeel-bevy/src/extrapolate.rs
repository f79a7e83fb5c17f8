//! Placing alone: for games that bring everything else themselves.

use crate::prelude::*;
use bevy_time::{Real, Time};
use evenkeel::Motion;
use std::time::Duration;

/// An entity that goes on as it was seen to move, until it is said otherwise.
///
/// ```
/// use bevy_math::Vec3;
/// use bevy_transform::prelude::*;
/// use evenkeel_bevy::{Axes, Extrapolated, Moving, Turns};
/// # use std::time::Duration;
/// // The game's own network says where something was, how it moved, and when, by this app's `Time<Real>`.
/// let (at, moving) = (Transform::from_xyz(10.0, 0.0, 0.0), Moving { velocity: Vec3::X, ..Moving::default() });
/// let seen = Extrapolated::new(&at, &moving, Turns::Freely, Axes::YUp, Duration::from_secs(5));
/// # let _ = seen;
/// ```
#[derive(Component, Clone, Copy, Debug)]
pub struct Extrapolated {
    motion: Motion,
    since: Duration,
}

impl Extrapolated {
    /// It was there and moved so at this moment of the app's `Time<Real>`.
    pub fn new(at: &Transform, moving: &Moving, turns: Turns, axes: Axes, since: Duration) -> Self {
        Self { motion: axes.pose(at, Some(moving), turns, 1.0).motion(MotionKind::Auto), since }
    }
}

/// Moves what is [`Extrapolated`], in `PreUpdate`. It needs neither a [`Session`](crate::Session) nor [`EvenkeelPlugin`](crate::EvenkeelPlugin).
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtrapolatePlugin {
    /// Which way is up.
    pub axes: Axes,
}

impl Plugin for ExtrapolatePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.axes).add_systems(PreUpdate, extrapolate);
    }
}

fn extrapolate(time: Res<Time<Real>>, axes: Res<Axes>, mut all: Query<(&Extrapolated, &mut Transform)>) {
    for (seen, mut transform) in &mut all {
        let age = time.elapsed_secs_f64() - seen.since.as_secs_f64();
        let there = axes.transform(&seen.motion.at(age.max(0.0)), &transform);
        transform.set_if_neq(there);
    }
}

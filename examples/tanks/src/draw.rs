//! What is to be seen: tanks where this app shows them, ghosts where they truly are, and how far that is apart.

use crate::arena::{HALF, Tank};
use crate::rules::Rules;
use crate::truth::{Truth, wall};
use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy::time::common_conditions::on_real_timer;
use evenkeel_bevy::prelude::*;
use std::time::Duration;

const BACKGROUND: Color = Color::srgb(0.055, 0.065, 0.085);
const GRID: Color = Color::srgb(0.10, 0.12, 0.15);
const WALL: Color = Color::srgb(0.30, 0.34, 0.40);
const TEXT: Color = Color::srgb(0.72, 0.76, 0.82);
/// Metres between the lines of the grid.
const CELL: f32 = 8.0;
const HULL: Vec2 = Vec2::new(3.6, 2.6);
const BARREL: f32 = 2.6;

/// Whether ghosts are to be seen.
#[derive(Resource)]
struct Ghosts(bool);

/// What the title says.
#[derive(Resource, Default)]
struct Status(String);

/// Draws everything.
pub fn plugin(app: &mut App) {
    app.insert_resource(ClearColor(BACKGROUND)).insert_resource(Ghosts(true)).init_resource::<Status>();
    app.add_systems(Startup, set_up);
    let sometimes = on_real_timer(Duration::from_millis(500));
    app.add_systems(Update, (dress, switch))
        .add_systems(PostUpdate, (draw_ghosts, draw_status, tell.run_if(sometimes)));
}

/// A camera from above, and the arena's floor.
fn set_up(mut commands: Commands, mut gizmos: ResMut<GizmoConfigStore>) {
    let size = 2.0 * (HALF + vec2(2.0, 4.8));
    let scaling_mode = ScalingMode::AutoMin { min_width: size.x, min_height: size.y };
    let projection = OrthographicProjection { scaling_mode, ..OrthographicProjection::default_2d() };
    // There is room for words at the top.
    commands.spawn((Camera2d, Projection::Orthographic(projection), Transform::from_xyz(0.0, 2.0, 0.0)));
    gizmos.config_mut::<DefaultGizmoConfigGroup>().0.line.width = 1.5;
    let mut line = |at: Vec2, size: Vec2, colour: Color, height: f32| {
        commands.spawn((Sprite::from_color(colour, size), Transform::from_translation(at.extend(height))));
    };
    for (along, across, length) in [(Vec2::X, HALF.x, HALF.y), (Vec2::Y, HALF.y, HALF.x)] {
        let thin = |width: f32| along * width + along.yx() * (2.0 * length + width);
        let lines = (across / CELL) as i32;
        (-lines..=lines).for_each(|number| line(along * number as f32 * CELL, thin(0.08), GRID, -2.0));
        for side in [-1.0, 1.0] {
            line(along * side * (across + 1.5), thin(0.2) + along.yx() * 3.0, WALL, -1.0);
        }
    }
}

type New = (Or<(Added<Owned>, Added<Placed>)>, Without<Children>);

/// A tank looks like one as soon as it is somewhere.
fn dress(new: Query<(Entity, &Tank), New>, mut commands: Commands) {
    for (entity, tank) in &new {
        let colour = tank.colour();
        let part = |x: f32, y: f32, z: f32, length: f32, width: f32, lightness: f32| {
            let colour = colour.with_luminance(colour.luminance() * lightness);
            (Sprite::from_color(colour, vec2(length, width)), Transform::from_xyz(x, y, z))
        };
        commands.entity(entity).with_children(|parts| {
            parts.spawn(part(0.0, 0.95, 0.1, HULL.x, 0.7, 0.5));
            parts.spawn(part(0.0, -0.95, 0.1, HULL.x, 0.7, 0.5));
            parts.spawn(part(0.0, 0.0, 0.2, 3.2, 1.5, 1.0));
            parts.spawn(part(BARREL / 2.0, 0.0, 0.3, BARREL, 0.32, 0.7));
            parts.spawn(part(-0.2, 0.0, 0.4, 1.3, 1.1, 0.8));
        });
    }
}

fn switch(keys: Res<ButtonInput<KeyCode>>, mut ghosts: ResMut<Ghosts>) {
    ghosts.0 ^= keys.just_pressed(KeyCode::KeyG);
}

type Seen<'a> = (&'a Tank, &'a NetId, &'a Transform, Has<Owned>);
type Somewhere = Or<(With<Owned>, With<Placed>)>;

/// Thin and pale, where tanks truly are. What this player drives has a ring about it: it has no ghost.
fn draw_ghosts(
    tanks: Query<Seen<'_>, Somewhere>,
    session: Res<Session>,
    truth: Res<Truth>,
    ghosts: Res<Ghosts>,
    time: Res<Time<Real>>,
    mut gizmos: Gizmos,
) {
    let now = wall(&time);
    for (tank, name, transform, owned) in &tanks {
        let at = transform.translation.truncate();
        if owned && !session.is_server() {
            gizmos.circle_2d(at, 3.4, Color::WHITE.with_alpha(0.6));
        }
        let Some((truly, heading)) = truth.of(*name, now).filter(|_| ghosts.0 && !owned) else { continue };
        let pale = tank.colour().mix(&Color::WHITE, 0.5).with_alpha(0.75);
        let ahead = Vec2::from_angle(heading);
        gizmos.rect_2d(Isometry2d::new(truly, Rot2::radians(heading)), HULL, pale);
        gizmos.line_2d(truly, truly + ahead * BARREL, pale);
        gizmos.line_2d(at, truly, Color::WHITE);
    }
}

fn draw_status(status: Res<Status>, mut gizmos: Gizmos) {
    let at = vec2(-HALF.x - 1.5, HALF.y + 2.1);
    gizmos.text_2d(at, &status.0, 1.2, vec2(-0.5, -0.5), TEXT);
}

/// Says in the title how things are.
fn tell(
    rules: Option<Single<&Rules>>,
    truth: Res<Truth>,
    session: Res<Session>,
    mut status: ResMut<Status>,
    mut window: Single<&mut Window>,
) {
    let who = if session.is_server() { "server" } else { "player" };
    let off = truth.off().map_or_else(String::new, |off| format!(" | here off by {off:.2} m"));
    let rules = rules.map_or_else(|| " | connecting".to_owned(), |rules| format!(" | {}", rules.told()));
    status.0 = format!("{who}{off}{rules}");
    window.title = format!("tanks: {} | 1-5 policy, L lag, G ghosts, arrows drive", status.0.replace('\n', " | "));
}

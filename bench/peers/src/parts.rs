//! The components that the peers replicate, plain and written with our quantiser.

use bevy_ecs::prelude::*;
use bevy_replicon::bytes::{Buf, Bytes};
use bevy_replicon::shared::replication::registry::ctx::{SerializeCtx, WriteCtx};
use evenkeel::wire::{BODY_BYTES, BitReader, BitWriter, Format, emit_absolute, parse_body};
use evenkeel::{GlobalTime, Motion, MotionKind, Pose, State, Vec3};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

thread_local! {
    /// What [`write_moving`] and [`read_moving`] write and read in. The libraries take functions and nothing with them,
    /// and each contender lives in one thread.
    static FORMAT: Cell<Format> = Cell::new(Format::bzflag());
}

/// While it lives, [`Moving`] is written in another format, in this thread.
pub struct Writing {
    before: Format,
}

impl Writing {
    /// From now on in this one.
    pub fn in_format(format: Format) -> Self {
        Self { before: FORMAT.replace(format) }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        FORMAT.set(self.before);
    }
}

/// Which entity it is, for the one who measures. Sent once.
#[derive(Component, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Id(pub u32);

/// Where it is.
#[derive(Component, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Position(pub [f32; 3]);

/// How fast it moves.
#[derive(Component, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Velocity(pub [f32; 3]);

/// All there is to know about a motion, in one component, so that it can be written as our vectors are.
#[derive(Component, Clone, Copy, PartialEq)]
pub struct Moving(pub Motion);

/// What is replicated of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// [`Moving`] in our quantiser's bits, and not [`Position`] and [`Velocity`] in the library's own serialisation.
    pub quantised: bool,
    /// How it moves on, besides where it is. Who only shows what was received has no use for it.
    pub motion: bool,
}

/// Sends a motion as our quantiser has it.
pub fn write_moving(_: &mut SerializeCtx, moving: &Moving, message: &mut Vec<u8>) -> Result<()> {
    encode(&FORMAT.get(), &moving.0, message)
}

/// Reads what [`write_moving`] wrote.
pub fn read_moving(_: &mut WriteCtx, message: &mut Bytes) -> Result<Moving> {
    decode(&FORMAT.get(), message).map(Moving)
}

fn encode(format: &Format, motion: &Motion, message: &mut Vec<u8>) -> Result<()> {
    let quantised = format.quantise(motion, GlobalTime::ZERO)?;
    let mut body = [0; BODY_BYTES];
    let mut writer = BitWriter::new(&mut body);
    emit_absolute(format, &quantised, &mut writer)?;
    message.extend_from_slice(writer.as_bytes());
    Ok(())
}

fn decode(format: &Format, message: &mut Bytes) -> Result<Motion> {
    let mut reader = BitReader::new(message);
    let quantised = parse_body(format, &mut reader, 0, None)?;
    let length = reader.position_bits().div_ceil(8);
    message.advance(length);
    Ok(format.restore(&quantised))
}

impl Moving {
    /// What is sent of a pose.
    pub fn of(pose: &Pose, fields: Fields) -> Self {
        let motion = pose.motion(MotionKind::Auto);
        Self(if fields.motion { motion } else { Motion::stationary(motion.position) })
    }
}

impl Position {
    /// Where a pose is.
    pub fn of(pose: &Pose) -> Self {
        Self(narrow(pose.position()))
    }
}

impl Velocity {
    /// How fast a pose moves.
    pub fn of(pose: &Pose) -> Self {
        Self(narrow(pose.motion(MotionKind::Auto).velocity_at(0.0)))
    }
}

fn narrow(v: Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

/// Single precision, as games have it, in double.
pub fn wide(v: [f32; 3]) -> Vec3 {
    Vec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]))
}

/// The components of a server's entity.
pub fn insert(entity: &mut EntityWorldMut<'_>, id: u32, pose: &Pose, fields: Fields) {
    entity.insert(Id(id));
    if fields.quantised {
        entity.insert(Moving::of(pose, fields));
        return;
    }
    entity.insert(Position::of(pose));
    if fields.motion {
        entity.insert(Velocity::of(pose));
    }
}

/// Changes the components of a server's entity, and only those that are different.
pub fn update(world: &mut World, entity: Entity, pose: &Pose, fields: Fields) {
    if fields.quantised {
        set(world, entity, Moving::of(pose, fields));
        return;
    }
    set(world, entity, Position::of(pose));
    if fields.motion {
        set(world, entity, Velocity::of(pose));
    }
}

fn set<C: Component<Mutability = bevy_ecs::component::Mutable> + PartialEq>(
    world: &mut World,
    entity: Entity,
    value: C,
) {
    if let Some(mut component) = world.get_mut::<C>(entity) {
        component.set_if_neq(value);
    }
}

/// What a receiver has of an entity: where it was, and how it goes on.
pub fn received(position: Option<&Position>, velocity: Option<&Velocity>, moving: Option<&Moving>) -> Option<Motion> {
    if let Some(Moving(motion)) = moving {
        return Some(*motion);
    }
    let position = wide(position?.0);
    Some(match velocity {
        Some(velocity) => Motion::linear(position, wide(velocity.0)),
        None => Motion::stationary(position),
    })
}

/// Where that is after so many seconds; as long as our receivers extrapolate and no longer.
pub fn extrapolated(motion: &Motion, seconds: f64) -> Vec3 {
    let State { position, .. } = motion.at(seconds.clamp(0.0, LONGEST));
    position
}

/// Nobody extrapolates longer than this, in seconds.
pub const LONGEST: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motions_come_back_rounded_and_one_after_the_other() {
        let format = Format::bzflag();
        let tank = Motion::circular(Vec3::new(12.34, -56.78, 0.0), 1.0, 25.0, 0.5);
        let still = Motion::stationary(Vec3::new(-1.0, 2.0, 3.0));
        let mut message = Vec::new();
        encode(&format, &tank, &mut message).unwrap();
        let first = message.len();
        encode(&format, &still, &mut message).unwrap();
        assert!(message.len() - first < first && first < 16, "{first} and {} bytes", message.len() - first);
        let mut message = Bytes::from(message);
        for sent in [tank, still] {
            let motion = decode(&format, &mut message).unwrap();
            assert!(motion.position.distance(sent.position) < 0.02);
            assert!(motion.velocity_at(0.0).distance(sent.velocity_at(0.0)) < 0.02);
        }
        assert!(message.is_empty() && decode(&format, &mut message).is_err());
    }

    #[test]
    fn another_format_holds_until_it_is_let_go() {
        let coarse = Format { position_step: 2.0, velocity_step: 1.0, ..Format::bzflag() };
        let shown = |format: Format| {
            let mut message = Vec::new();
            encode(&format, &Motion::stationary(Vec3::new(12.34, 0.0, 0.0)), &mut message).unwrap();
            decode(&FORMAT.get(), &mut Bytes::from(message)).unwrap().position.x
        };
        {
            let _writing = Writing::in_format(coarse);
            assert_eq!(shown(coarse), 12.0);
        }
        assert!((shown(Format::bzflag()) - 12.34).abs() < 0.011);
    }
}

//! What others own: heard of, and placed.

use crate::axes::Axes;
use crate::components::{About, Followed, Moving, NetId, Owned, Owner, Placed, Seen};
use crate::owners::Roster;
use crate::prediction::Predicted;
use crate::session::{Session, SessionSaid};
use crate::trouble::Complain;
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use bevy_transform::prelude::*;
use evenkeel::{EntityId, HostId, Instant, PlaceError, Placement, State};
use evenkeel_net::part::News;
use std::collections::HashMap;
use std::time::Duration;

/// A frame that took longer than this is worth a word.
const JUMP: Duration = Duration::from_secs(5);
/// Nothing having been heard of an entity for so long is worth a word.
const PATIENCE: Duration = Duration::from_secs(5);

/// The app's time goes on, and with it the session's.
pub(crate) fn pass_time(mut session: ResMut<Session>, time: Option<Res<Time<Real>>>, mut complain: Complain) {
    let Some(time) = time else {
        return complain.about(None, "there is no Time<Real>: add Bevy's TimePlugin, or nothing moves", "");
    };
    if time.delta() > JUMP {
        complain.about(None, "Bevy's time has jumped", format!("by {:.1} s", time.delta_secs()));
    }
    session.set_now(Instant::from_nanos(i64::try_from(time.elapsed().as_nanos()).unwrap_or(i64::MAX)));
    session.hub(|hub, now| hub.advance(now));
}

/// What has happened becomes components, and messages for the game.
pub(crate) fn hear(world: &mut World) {
    world.try_resource_scope(|world, mut session: Mut<Session>| {
        let serves = session.is_server();
        if session.take_new() {
            // There may have been another before.
            begin_anew(world, serves);
        }
        while let Some(event) = session.part(|mut part, _| part.poll_event()) {
            match event.news() {
                Some(News::Owned { entity, owner, about }) => take_note(world, entity, owner, about),
                Some(News::Gone(entity)) => forget(world, entity),
                Some(News::Anew) => begin_anew(world, serves),
                None => {}
            }
            world.write_message(SessionSaid(event));
        }
    });
}

/// An entity is here, or has another owner, who may be this app.
fn take_note(world: &mut World, id: EntityId, owner: HostId, about: &[u8]) {
    let mut roster = world.resource_mut::<Roster>();
    roster.owners.insert(id, owner);
    match roster.entities.get(&id).copied() {
        Some(entity) => {
            if let Ok(mut entity) = world.get_entity_mut(entity)
                && entity.get() != Some(&Owner(owner))
            {
                entity.insert(Owner(owner)).remove::<(Owned, Followed)>();
            }
        }
        None if roster.spawns => _ = world.spawn((NetId(id), Owner(owner), About(about.to_vec()))),
        None => {}
    }
}

fn forget(world: &mut World, id: EntityId) {
    let mut roster = world.resource_mut::<Roster>();
    roster.owners.remove(&id);
    if let Some(entity) = roster.entities.get(&id).copied().filter(|_| roster.spawns) {
        world.despawn(entity);
    }
}

/// Nobody knows what was here: what this app owns is told anew, and what others own comes again.
fn begin_anew(world: &mut World, serves: bool) {
    let mut named = world.query_filtered::<(Entity, Has<Owned>), With<NetId>>();
    let named: Vec<(Entity, bool)> = named.iter(world).collect();
    let spawns = world.resource::<Roster>().spawns;
    for (entity, owned) in named {
        match owned && (spawns || serves) {
            true => _ = world.entity_mut(entity).remove::<(NetId, Owner, Owned)>(),
            false if spawns => _ = world.despawn(entity),
            // What somebody else brings is whose that one says.
            false => _ = world.entity_mut(entity).remove::<(Owner, Owned, Followed)>(),
        }
    }
    let mut roster = world.resource_mut::<Roster>();
    roster.owners.clear();
    roster.departed.clear();
}

/// Puts everything where it is to be seen now. What has not moved is not touched.
pub(crate) fn place(
    mut session: ResMut<Session>,
    mut shown: Query<
        (Entity, &NetId, Option<&mut Transform>, Option<&mut Moving>, Option<&mut Seen>, Has<Placed>),
        (With<Followed>, Without<Predicted>),
    >,
    axes: Res<Axes>,
    time: Option<Res<Time<Real>>>,
    mut unheard: Local<HashMap<Entity, Duration>>,
    mut complain: Complain,
    mut commands: Commands,
) {
    let elapsed = time.map(|time| time.elapsed()).unwrap_or_default();
    // Those who are gone are not looked for.
    unheard.retain(|_, since| elapsed.saturating_sub(*since) < 2 * PATIENCE);
    session.part(|mut part, now| {
        let Some((time, receiver)) = part.time(now).zip(part.receiver()) else { return };
        for (entity, name, transform, moving, seen, placed) in &mut shown {
            let placement = match receiver.place(name.0, time) {
                Ok(placement) => placement,
                Err(PlaceError::Unknown(_)) => {
                    let since = *unheard.entry(entity).or_insert(elapsed);
                    if elapsed.saturating_sub(since) > PATIENCE {
                        complain.about(
                            Some(entity),
                            "nothing is heard of it in this session, and it stays where it is",
                            name.0,
                        );
                    }
                    continue;
                }
                Err(_) => continue,
            };
            if !unheard.is_empty() {
                unheard.remove(&entity);
            }
            let state = state_of(&placement);
            match transform {
                Some(mut transform) => {
                    let there = axes.transform(&state, &transform);
                    transform.set_if_neq(there);
                }
                None => {
                    commands.entity(entity).try_insert(axes.transform(&state, &Transform::IDENTITY));
                }
            }
            if !placed {
                commands.entity(entity).try_insert(Placed);
            }
            if let Some(mut moving) = moving {
                moving.set_if_neq(axes.moving(&state));
            }
            if let Some(mut seen) = seen {
                seen.set_if_neq(Seen(Some(placement)));
            }
        }
    });
}

fn state_of(placement: &Placement) -> State {
    State { position: placement.position, velocity: placement.velocity, attitude: placement.attitude }
}

//! What others own: heard of, and placed.

use crate::prelude::*;
use bevy_time::{Real, Time};
use evenkeel_net::part::News;
use std::collections::HashMap;

/// A frame that took longer than this is worth a word, and so is an entity of which nothing is heard for so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The app's time goes on, and with it the session's.
pub(crate) fn pass_time(mut session: ResMut<Session>, time: Option<Res<Time<Real>>>, mut complain: Complain) {
    let Some(time) = time else {
        return complain.about(None, "there is no Time<Real>", "add Bevy's TimePlugin, or nothing moves");
    };
    if time.delta_secs_f64() > PATIENCE.as_secs_f64() {
        complain.about(None, "Bevy's time has jumped", format!("by {:.1} s", time.delta_secs()));
    }
    session.advance(Instant::from_nanos(i64::try_from(time.elapsed().as_nanos()).unwrap_or(i64::MAX)));
}

/// What happened in the session: for the game. What concerns entities has become components already.
#[derive(Message, Clone, Debug)]
pub struct SessionSaid(pub PartEvent);

/// What has happened becomes components, and messages for the game.
pub(crate) fn hear(world: &mut World) {
    world.try_resource_scope(|world, mut session: Mut<Session>| {
        let serves = session.is_server();
        while let Some(event) = session.poll_event() {
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
    let roster = world.resource::<Roster>();
    match roster.entities.get(&id).copied() {
        Some(entity) => {
            let other = world.get_entity_mut(entity).ok().filter(|entity| entity.get() != Some(&Owner(owner)));
            other.map(|mut entity| entity.insert((Owner(owner), Told(owner))).remove::<(Owned, Followed)>().id());
        }
        None if roster.brought => {}
        None => _ = world.spawn((NetId(id), Owner(owner), Told(owner), About(about.to_vec()))),
    }
}

fn forget(world: &mut World, id: EntityId) {
    let Roster { entities, brought, .. } = world.resource();
    match entities.get(&id).copied().map(|entity| (entity, *brought)) {
        Some((entity, false)) => _ = world.despawn(entity),
        // Who brings it takes it away, or it is only hidden.
        Some((entity, true)) => _ = world.entity_mut(entity).remove::<(Owner, Told, Owned, Followed, Placed)>(),
        None => {}
    }
}

/// Nobody knows what was here: what this app owns is told anew, and what others own comes again.
fn begin_anew(world: &mut World, serves: bool) {
    let named: Vec<_> = world.query_filtered::<(Entity, Has<Owned>), With<NetId>>().iter(world).collect();
    let brought = world.resource::<Roster>().brought;
    for (entity, owned) in named {
        match owned && (serves || !brought) {
            true => _ = world.entity_mut(entity).remove::<(NetId, Owner, Told, Owned)>(),
            // What somebody else brings is whose that one says.
            false if brought => _ = world.entity_mut(entity).remove::<(Owner, Told, Owned, Followed)>(),
            false => _ = world.despawn(entity),
        }
    }
    world.resource_mut::<Roster>().departed.clear();
}

/// What has a name of which nothing is heard is worth a word.
pub(crate) fn wonder(
    session: Res<Session>,
    unheard: Query<(Entity, &NetId), (Without<Owned>, Without<Placed>, Without<Predicted>)>,
    mut since: Local<HashMap<Entity, Instant>>,
    mut complain: Complain,
) {
    since.retain(|entity, _| unheard.contains(*entity));
    for (entity, name) in &unheard {
        if session.now().since(*since.entry(entity).or_insert(session.now())) > PATIENCE {
            complain.about(Some(entity), "nothing is heard of it in this session, and it stays where it is", name.0);
        }
    }
}

type Shown<'a> = (Entity, &'a NetId, &'a mut Transform, Option<&'a mut Moving>, Option<&'a mut Seen>, Has<Placed>);

/// Puts everything where it is to be seen now. What has not moved is not touched.
pub(crate) fn place(
    mut session: ResMut<Session>,
    mut shown: Query<Shown<'_>, (With<Followed>, Without<Predicted>)>,
    axes: Res<Axes>,
    mut commands: Commands,
) {
    session.part(|mut part, now| {
        let Some((time, receiver)) = part.time(now).zip(part.receiver()) else { return };
        for (entity, name, mut transform, moving, seen, placed) in &mut shown {
            let Ok(placement) = receiver.place(name.0, time) else { continue };
            let there = axes.transform(&placement.state(), &transform);
            transform.set_if_neq(there);
            moving.map(|mut moving| moving.set_if_neq(axes.moving(&placement.state())));
            seen.map(|mut seen| seen.set_if_neq(Seen(Some(placement))));
            if !placed {
                commands.entity(entity).try_insert(Placed);
            }
        }
    });
}

//! What this app owns: named, observed, handed over, taken away.

use crate::prelude::*;
use bevy_time::{Fixed, Time, Virtual};
use std::collections::HashMap;

/// Which entity has which name.
#[derive(Resource, Default)]
pub(crate) struct Roster {
    pub(crate) entities: HashMap<EntityId, Entity>,
    /// Of this app's, those that are gone and whose names nobody has been told to forget.
    pub(crate) departed: Vec<EntityId>,
    /// Whether other apps' entities come by other means, and are not spawned here.
    pub(crate) brought: bool,
}

pub(crate) fn name_added(added: On<Add, NetId>, names: Query<&NetId>, mut roster: ResMut<Roster>) {
    if let Ok(name) = names.get(added.entity) {
        roster.entities.insert(name.0, added.entity);
    }
}

pub(crate) fn name_removed(removed: On<Remove, NetId>, names: Query<(&NetId, Has<Owned>)>, mut roster: ResMut<Roster>) {
    let Ok((name, owned)) = names.get(removed.entity) else { return };
    if roster.entities.get(&name.0) == Some(&removed.entity) {
        roster.entities.remove(&name.0);
        roster.departed.extend(owned.then_some(name.0));
    }
}

type Nameless<'a> = (Entity, &'a DeadReckoned, Option<&'a About>, Option<&'a Owner>, Has<Transform>);

/// Whatever is to be seen by others gets a name.
pub(crate) fn enlist(
    mut session: ResMut<Session>,
    nameless: Query<Nameless<'_>, (Without<NetId>, Without<Followed>)>,
    roster: Res<Roster>,
    mut complain: Complain,
    mut commands: Commands,
) {
    for (entity, reckoned, about, owner, placed) in &nameless {
        let made = if !placed {
            Err(Refused::Because("it has no Transform".into()))
        } else if roster.brought && !session.is_server() {
            Err(Refused::Because("with replicon, spawn it on the server, and hand it over by Owner".into()))
        } else {
            let about = about.map(|about| about.0.clone()).unwrap_or_default();
            session.part(|mut part, now| part.make(reckoned.config(), about, now))
        };
        if let Some(id) = complain.unless_done(made, entity, "others cannot be told of it").zip(session.you()) {
            // One that was spawned for somebody else is handed over at once.
            commands.entity(entity).try_insert((NetId(id.0), owner.copied().unwrap_or(Owner(id.1)), Told(id.1), Owned));
        }
    }
}

/// What is gone is taken away.
pub(crate) fn dismiss(mut session: ResMut<Session>, mut roster: ResMut<Roster>) {
    // What cannot be said now is said later; what is not known any more needs no word.
    roster.departed.retain(|id| session.part(|mut part, now| part.unmake(*id, now)) == Err(Refused::NotReady));
}

/// What has a name is either moved by this app or followed by it.
pub(crate) fn sort_out(
    mut session: ResMut<Session>,
    unsorted: Query<(Entity, &NetId, Option<&DeadReckoned>), (Without<Owned>, Without<Followed>)>,
    mut complain: Complain,
    mut commands: Commands,
) {
    for (entity, name, reckoned) in &unsorted {
        let (owner, you) = session.part(|part, _| (part.owner(name.0), part.you()));
        // Its name may come before word of it.
        let Some(owner) = owner else { continue };
        if you != Some(owner) {
            commands.entity(entity).try_insert((Owner(owner), Told(owner), Followed));
            continue;
        }
        let reckoned = reckoned.copied().unwrap_or_default();
        let taken = session.part(|mut part, now| part.adopt(name.0, reckoned.config(), now));
        if complain.unless_done(taken, entity, "it was given to this app, which cannot take it").is_some() {
            commands.entity(entity).try_insert_if_new(reckoned).try_insert((Owner(owner), Told(owner), Owned));
        }
    }
}

/// The game has written another owner.
pub(crate) fn hand_over(
    mut session: ResMut<Session>,
    mut written: Query<(Entity, &NetId, &mut Owner, &mut Told, Has<Owned>), Changed<Owner>>,
    mut complain: Complain,
    mut commands: Commands,
) {
    let others = written.iter_mut().filter(|(.., owner, told, _)| owner.0 != told.0);
    for (entity, name, mut owner, mut told, owned) in others {
        let given = match owned || session.is_server() {
            true => session.part(|mut part, now| part.give(name.0, owner.0, now)),
            false => Err(Refused::Because("only its owner and the server can do that".into())),
        };
        match complain.unless_done(given, entity, "it cannot be handed over, and stays whose it was") {
            Some(()) => told.0 = owner.0,
            None => owner.0 = told.0,
        }
        commands.entity(entity).try_remove::<(Owned, Followed)>();
    }
}

type Written<'a> = (Entity, Ref<'a, NetId>, Option<Ref<'a, DeadReckoned>>, Option<&'a Relevances>, Has<Owned>);

/// The game has written other thresholds, or how much something matters to whom.
pub(crate) fn configure(
    mut session: ResMut<Session>,
    written: Query<Written<'_>, Or<(Added<NetId>, Changed<DeadReckoned>, Changed<Relevances>)>>,
    mut complain: Complain,
) {
    for (entity, name, reckoned, relevances, owned) in &written {
        if let Some(reckoned) = reckoned.as_deref().filter(|_| owned) {
            let configured = session.part(|mut part, _| part.configure(name.0, reckoned.config()));
            complain.unless_done(configured, entity, "its thresholds are of no use, and the old ones stay");
        }
        let new = name.is_added() || reckoned.as_ref().is_none_or(|reckoned| reckoned.is_added());
        let priority = reckoned.map_or(1.0, |reckoned| reckoned.priority);
        // Where nothing was said, nothing is said either: the game may speak to the hub itself.
        let said = relevances.cloned().or_else(|| (!new || priority != 1.0).then(Relevances::default));
        let Some(Relevances { usual, to }) = said else { continue };
        let usual = usual.unwrap_or(Relevance::Weight(priority));
        let weighed = session.part(|mut part, now| part.set_relevances(name.0, usual, &to, now));
        complain.unless_done(weighed, entity, "how much it matters cannot be said");
    }
}

/// Tells the session where everything is that this app moves.
pub(crate) fn observe(
    mut session: ResMut<Session>,
    owned: Query<(Entity, &NetId, &DeadReckoned, &Transform, Option<&Moving>), With<Owned>>,
    (axes, plugin): (Res<Axes>, Res<EvenkeelPlugin>),
    (time, fixed): (Res<Time<Virtual>>, Res<Time<Fixed>>),
    mut complain: Complain,
) {
    if time.is_paused() {
        complain.about(None, "Bevy's time is paused", "what this app owns stands still for all");
    }
    let (speed, since_step) = (time.effective_speed(), fixed.overstep().as_secs_f64());
    session.part(|mut part, now| {
        owned.iter().for_each(|(entity, name, reckoned, transform, moving)| {
            let mut pose = axes.pose(transform, moving, reckoned.turns, speed);
            if plugin.fixed {
                pose = pose.motion(reckoned.kind).at(since_step).into();
            }
            complain.unless_done(part.observe(name.0, pose, now), entity, "where it is cannot be told");
        });
    });
}

//! What this app owns: named, observed, handed over, taken away.

use crate::axes::Axes;
use crate::components::{About, DeadReckoned, Followed, Moving, NetId, Owned, Owner, Relevances};
use crate::session::{Session, SessionSaid};
use crate::trouble::Complain;
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, Virtual};
use bevy_transform::prelude::*;
use evenkeel::{EntityId, HostId, Relevance};
use evenkeel_net::hub::HubEvent;
use evenkeel_net::part::{PartEvent, Refused};
use std::collections::HashMap;

/// Which entity has which name.
#[derive(Resource, Default)]
pub(crate) struct Roster {
    pub(crate) entities: HashMap<EntityId, Entity>,
    /// Whose they are, as far as this app has been told: of entities that are not here yet, too.
    pub(crate) owners: HashMap<EntityId, HostId>,
    /// Of this app's, those that are gone and whose names nobody has been told to forget.
    pub(crate) departed: Vec<EntityId>,
    /// Whether other apps' entities are spawned here, or come by other means.
    pub(crate) spawns: bool,
}

impl Roster {
    pub(crate) fn spawning() -> Self {
        Self { spawns: true, ..Self::default() }
    }
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
        if owned {
            roster.departed.push(name.0);
        }
    }
}

/// Whatever is to be seen by others gets a name.
pub(crate) fn enlist(
    mut session: ResMut<Session>,
    nameless: Query<
        (Entity, &DeadReckoned, Option<&About>, Option<&Owner>, Has<Transform>),
        (Without<NetId>, Without<Followed>),
    >,
    mut roster: ResMut<Roster>,
    mut complain: Complain,
    mut commands: Commands,
) {
    for (entity, reckoned, about, owner, placed) in &nameless {
        if !placed {
            complain.about(Some(entity), "a DeadReckoned entity needs a Transform, and is left out without one", "");
            continue;
        }
        if !roster.spawns && !session.is_server() {
            complain.about(
                Some(entity),
                "with replicon, spawn on the server, and hand over by Owner: this is seen by nobody",
                "",
            );
            continue;
        }
        let about = about.map(|about| about.0.clone()).unwrap_or_default();
        let made = session.part(|mut part, now| part.make(reckoned.config(), about, now).map(|id| (id, part.you())));
        match made {
            Ok((id, Some(you))) => {
                // One that was spawned for somebody else is handed over at once.
                let owner = owner.copied().unwrap_or(Owner(you));
                roster.owners.insert(id, you);
                commands.entity(entity).try_insert((NetId(id), owner, Owned));
            }
            Err(Refused::Because(why)) => complain.about(Some(entity), "others cannot be told of it", why),
            Ok((_, None)) | Err(Refused::NotReady) => {}
        }
    }
}

/// What is gone is taken away.
pub(crate) fn dismiss(mut session: ResMut<Session>, mut roster: ResMut<Roster>) {
    if roster.departed.is_empty() {
        return;
    }
    let departed = std::mem::take(&mut roster.departed);
    // What cannot be said now is said later; what is not known any more needs no word.
    let later = |id: &EntityId| session.part(|mut part, now| matches!(part.unmake(*id, now), Err(Refused::NotReady)));
    roster.departed = departed.into_iter().filter(later).collect();
}

/// What has a name is either moved by this app or followed by it.
pub(crate) fn sort_out(
    mut session: ResMut<Session>,
    roster: Res<Roster>,
    unsorted: Query<(Entity, &NetId, Option<&DeadReckoned>), (Without<Owned>, Without<Followed>)>,
    mut complain: Complain,
    mut commands: Commands,
) {
    for (entity, name, reckoned) in &unsorted {
        // Its name may come before word of it.
        let Some(owner) = roster.owners.get(&name.0) else { continue };
        let mut entity_commands = commands.entity(entity);
        if session.you() != Some(*owner) {
            entity_commands.try_insert((Owner(*owner), Followed));
            continue;
        }
        let reckoned = reckoned.copied().unwrap_or_default();
        match session.part(|mut part, now| part.adopt(name.0, reckoned.config(), now)) {
            Ok(()) => _ = entity_commands.try_insert((Owner(*owner), reckoned, Owned)),
            Err(Refused::Because(why)) => {
                complain.about(Some(entity), "it was given to this app, which cannot take it", why)
            }
            Err(Refused::NotReady) => {}
        }
    }
}

/// The game has written another owner.
pub(crate) fn hand_over(
    mut session: ResMut<Session>,
    mut roster: ResMut<Roster>,
    mut written: Query<(Entity, &NetId, &mut Owner, Has<Owned>), Changed<Owner>>,
    mut complain: Complain,
    mut commands: Commands,
) {
    for (entity, name, mut owner, owned) in &mut written {
        let Some(known) = roster.owners.get(&name.0).copied().filter(|known| *known != owner.0) else { continue };
        let may = owned || session.is_server();
        let given = match may {
            true => session.part(|mut part, now| part.give(name.0, owner.0, now)),
            false => Err(Refused::Because("only its owner and the server can do that".into())),
        };
        match given {
            Ok(()) => {
                roster.owners.insert(name.0, owner.0);
                commands.entity(entity).try_remove::<(Owned, Followed)>();
            }
            Err(refused) => {
                owner.0 = known;
                if let Refused::Because(why) = refused {
                    complain.about(Some(entity), "it cannot be handed over, and stays whose it was", why);
                }
            }
        }
    }
}

/// The game has written other thresholds.
pub(crate) fn configure(
    mut session: ResMut<Session>,
    written: Query<(Entity, &NetId, &DeadReckoned), (With<Owned>, Changed<DeadReckoned>)>,
    mut complain: Complain,
) {
    for (entity, name, reckoned) in &written {
        if let Err(Refused::Because(why)) = session.part(|mut part, _| part.configure(name.0, reckoned.config())) {
            complain.about(Some(entity), "its thresholds are of no use, and the old ones stay", why);
        }
    }
}

type Weighed<'a> = (Entity, &'a NetId, Option<&'a Relevances>, Option<&'a DeadReckoned>);

/// Players are told how much things matter to them, when that changes and when they come.
pub(crate) fn weigh(
    mut session: ResMut<Session>,
    all: Query<Weighed<'_>>,
    changed: Query<Weighed<'_>, Or<(Changed<Relevances>, Changed<DeadReckoned>)>>,
    mut said: MessageReader<SessionSaid>,
    mut complain: Complain,
) {
    let came = said.read().filter(|said| matches!(said.0, PartEvent::Hub(HubEvent::Came { .. }))).count() > 0;
    if !came && changed.is_empty() {
        return;
    }
    session.hub(|hub, now| {
        let hosts: Vec<HostId> = hub.players().map(|(host, _)| host).collect();
        let mut weigh = |(entity, name, relevances, reckoned): Weighed<'_>| {
            let priority = reckoned.map_or(1.0, |reckoned| reckoned.priority);
            if relevances.is_none() && priority == 1.0 {
                return;
            }
            for host in &hosts {
                let said = relevances.and_then(|relevances| relevances.0.get(host).copied());
                if let Err(why) = hub.set_relevance(name.0, *host, said.unwrap_or(Relevance::Weight(priority)), now) {
                    complain.about(Some(entity), "how much it matters cannot be said", why);
                }
            }
        };
        if came { all.iter().for_each(&mut weigh) } else { changed.iter().for_each(&mut weigh) }
    });
}

/// Whether the game moves things in `FixedUpdate`.
#[derive(Resource)]
pub(crate) struct MovedInSteps(pub(crate) bool);

/// Tells the session where everything is that this app moves.
pub(crate) fn observe(
    mut session: ResMut<Session>,
    owned: Query<(Entity, &NetId, &DeadReckoned, &Transform, Option<&Moving>), With<Owned>>,
    axes: Res<Axes>,
    steps: Res<MovedInSteps>,
    time: Option<Res<Time<Virtual>>>,
    fixed: Option<Res<Time<Fixed>>>,
    mut complain: Complain,
) {
    let speed = time.as_ref().map_or(1.0, |time| time.effective_speed());
    if time.is_some_and(|time| time.is_paused()) {
        complain.about(None, "Bevy's time is paused: what this app owns stands still for all", "");
    }
    let since_step = fixed.filter(|_| steps.0).map(|fixed| fixed.overstep().as_secs_f64());
    session.part(|mut part, now| {
        owned.iter().for_each(|(entity, name, reckoned, transform, moving)| {
            let mut pose = axes.pose(transform, moving, reckoned.turns, speed);
            if let Some(since) = since_step {
                pose = pose.motion(reckoned.kind).at(since).into();
            }
            if let Err(Refused::Because(why)) = part.observe(name.0, pose, now) {
                complain.about(Some(entity), "where it is cannot be told", why);
            }
        });
    });
}

//! Whoever joins from outside: shown as the server knows it, and in the other session as the server's own.

use super::cast::Cast;
use super::craft::filter;
use super::house::{House, LEFT, RIGHT};
use super::roles::is_reserved;
use super::truth::{Track, onwards};
use crate::settings::Settings;
use evenkeel::{EntityId, GlobalTime, HostId, State};
use evenkeel_games::words::{about, craft_of};
use evenkeel_net::hub::Hub;
use evenkeel_net::protocol::SERVER;
use std::collections::BTreeMap;

/// Somebody with a craft.
pub(super) struct Person {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) entity: Option<EntityId>,
    pub(super) mirror: Option<EntityId>,
    pub(super) track: Track,
}

/// All of them, by their numbers in the played session.
#[derive(Default)]
pub(super) struct People {
    pub(super) here: BTreeMap<HostId, Person>,
    /// Everybody who has a connection, with or without a craft.
    pub(super) names: Vec<String>,
}

/// Somebody in the session, and its craft if it has one.
type Present = (HostId, String, Option<(EntityId, Option<State>)>);

impl People {
    /// Looks who is here; of whoever is out of the game, nothing is. Answers whether that has changed.
    pub(super) fn follow(
        &mut self,
        house: &House,
        cast: &mut Cast,
        settings: &Settings,
        is_out: impl Fn(HostId) -> bool,
        now: GlobalTime,
    ) -> bool {
        let Some(present) = house.with(LEFT, |hub, _| present(hub, settings, now)) else { return false };
        // Also who has left and is not known to have, or comes and does not know yet: names tell.
        let strangers: Vec<Present> = present.into_iter().filter(|(_, name, _)| !is_reserved(name)).collect();
        let mut names: Vec<String> = strangers.iter().map(|(_, name, _)| name.clone()).collect();
        names.sort();
        let before = (std::mem::replace(&mut self.names, names), self.here.len());
        self.here.retain(|host, _| strangers.iter().any(|(here, ..)| here == host));
        let mut changed = before.1 != self.here.len();
        for (host, name, craft) in strangers {
            if craft.is_some() && !self.here.contains_key(&host) {
                let (id, track) = (cast.next_id(), Track::default());
                self.here.insert(host, Person { id, name, entity: None, mirror: None, track });
                changed = true;
            }
            if let Some(person) = self.here.get_mut(&host) {
                person.entity = craft.map(|(entity, _)| entity);
                person.track.note(now, craft.and_then(|(_, state)| state).filter(|_| !is_out(host)).map(onwards));
            }
        }
        changed || before.0 != self.names
    }

    /// Shows them in the other session, while there is one.
    pub(super) fn mirror(&mut self, house: &House, settings: &Settings, now: GlobalTime) {
        let config = filter(settings.game, &settings.threshold);
        let right = settings.right.is_some();
        house.with(RIGHT, |hub, instant| {
            let mirrors: Vec<EntityId> = hub.entities().filter(|e| e.owner == SERVER).map(|e| e.entity).collect();
            for person in self.here.values_mut() {
                let pose = person.track.pose(now).filter(|_| right);
                person.mirror = person.mirror.filter(|mirror| mirrors.contains(mirror) && pose.is_some());
                if let Some(pose) = pose {
                    let made = person.mirror.or_else(|| hub.make(config, about(settings.game.into()), instant).ok());
                    person.mirror = made;
                    // What is not observed now is observed with the next step.
                    let _ = made.map(|mirror| hub.observe(mirror, pose, instant));
                }
            }
            let kept: Vec<EntityId> = self.here.values().filter_map(|person| person.mirror).collect();
            for gone in mirrors.iter().filter(|mirror| !kept.contains(mirror)) {
                let _ = hub.unmake(*gone, instant);
            }
        });
    }
}

/// Who is in the session, and where their crafts are as far as the server knows.
fn present(hub: &Hub, settings: &Settings, now: GlobalTime) -> Vec<Present> {
    let mut crafts: BTreeMap<HostId, EntityId> = BTreeMap::new();
    for made in hub.entities().filter(|made| craft_of(&made.about) == Some(settings.game.into())) {
        // The newest, if there are several.
        crafts.insert(made.owner, made.entity);
    }
    let craft = |host: HostId| {
        let entity = *crafts.get(&host)?;
        let placed = hub.receiver().place(entity, now).ok();
        let state = placed.map(|p| State { position: p.position, velocity: p.velocity, attitude: p.attitude });
        Some((entity, state))
    };
    hub.players().map(|(host, name)| (host, name.to_owned(), craft(host))).collect()
}

//! Who and what is here: told after every welcome, and compared with what was known before.

use super::{Seat, SeatError, SeatEvent};
use crate::protocol::{Entity, Player, ToServer, maker_of};
use evenkeel::{EntityId, HostId, Instant};
use std::collections::BTreeSet;

/// What was told so far.
#[derive(Debug, Default)]
pub(super) struct Present {
    players: BTreeSet<HostId>,
    entities: BTreeSet<EntityId>,
}

impl Seat {
    /// The server tells of some of who and what is here. After the last, what was known and is not among it is gone.
    pub(super) fn look_around(
        &mut self,
        players: Vec<Player>,
        entities: Vec<Entity>,
        last: bool,
        now: Instant,
    ) -> Result<(), SeatError> {
        self.present.players.extend(players.iter().map(|player| player.host));
        self.present.entities.extend(entities.iter().map(|entity| entity.entity));
        players.into_iter().for_each(|player| self.greet(player));
        for entity in entities {
            let mine = Some(entity.owner) == self.you();
            if !mine {
                self.hear_of(entity, now);
            } else if let Some(word) = self.parted.get(&entity.entity).cloned() {
                // The server has not heard yet that we gave it up.
                self.say(&word).map_err(SeatError::Message)?;
            } else if !self.own.contains_key(&entity.entity) && !self.given.contains_key(&entity.entity) {
                // It was given to us, or we gave it away, when nobody was listening.
                self.be_given(entity);
            }
        }
        if last { self.miss_the_others(now) } else { Ok(()) }
    }

    fn miss_the_others(&mut self, now: Instant) -> Result<(), SeatError> {
        let Present { players, entities } = std::mem::take(&mut self.present);
        self.parted.retain(|entity, _| entities.contains(entity));
        for host in self.players.difference(&players).copied().collect::<Vec<_>>() {
            self.part(host, "it left meanwhile".into());
        }
        let known = self.inside.as_ref().map(|inside| inside.registry.keys().copied().collect::<Vec<_>>());
        for entity in known.unwrap_or_default() {
            if !entities.contains(&entity) && !self.own.contains_key(&entity) {
                self.end_entity(entity, true, now);
            }
        }
        let missing: Vec<_> = self.own.iter().filter(|(entity, _)| !entities.contains(entity)).collect();
        let missing: Vec<_> = missing.into_iter().map(|(entity, (_, about))| (*entity, about.clone())).collect();
        for (entity, about) in missing {
            if Some(maker_of(entity)) == self.you() {
                // The server has not heard of it yet, or not any more.
                self.say(&ToServer::Make { entity, about }).map_err(SeatError::Message)?;
            } else {
                self.hear_end(entity, now);
            }
        }
        Ok(())
    }

    pub(super) fn greet(&mut self, player: Player) {
        // Whoever is known already is no news.
        if self.players.insert(player.host) {
            self.tell(SeatEvent::Came(player));
        }
    }

    pub(super) fn part(&mut self, host: HostId, why: String) {
        self.players.remove(&host);
        self.lose_peer(host);
        self.tell(SeatEvent::Left { host, why });
    }
}

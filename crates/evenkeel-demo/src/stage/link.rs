//! A bot's or a receiver's connection to one session.

use super::house::{House, SESSIONS, Time};
use super::truth::Track;
use evenkeel::{Duration, EntityConfig, EntityId, GlobalTime, HostId, State};
use evenkeel_net::levels::{Level, Party};
use evenkeel_net::protocol::SERVER;
use evenkeel_net::seat::{SeatConfig, SeatError, SeatEvent};
use evenkeel_net::{Client, LinkState};

/// One player's place in one session.
pub(super) struct Link {
    client: Client,
    entity: Option<EntityId>,
    /// Whether there is nothing left to hope for.
    over: bool,
}

/// What a receiver shows of everything at a moment.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// The session's time, as it is.
    pub(super) at: GlobalTime,
    /// The session's time, as the receiver has it.
    pub(super) clock: Option<GlobalTime>,
    /// How far off that may be, as the receiver sees it.
    pub(super) uncertainty: Option<Duration>,
    /// By craft; nothing of what it does not show.
    pub(super) seen: Vec<Option<Seen>>,
}

/// What a receiver shows of a craft.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) state: State,
    pub(super) frozen: bool,
}

impl Link {
    pub(super) fn start(house: &House, world: usize, name: &str) -> Option<Self> {
        let session = (*SESSIONS.get(world)?).into();
        let seat = SeatConfig { session, token: house.token(), ..SeatConfig::named(name) };
        match Client::start(&house.url(), house.trust(), seat) {
            Ok(client) => Some(Self { client, entity: None, over: false }),
            Err(error) => {
                tracing::warn!(name, %error, "a bot cannot start");
                None
            }
        }
    }

    pub(super) fn entity(&self) -> Option<EntityId> {
        self.entity
    }

    pub(super) fn host(&self) -> Option<HostId> {
        self.client.you()
    }

    pub(super) fn is_over(&self) -> bool {
        self.over || matches!(self.client.link(), LinkState::Over { .. })
    }

    /// Makes the craft known while it is in the game, tells where it is, and takes it away when it is out, and also was at the
    /// time that is shown: who comes back elsewhere is another to those who watch, and nobody sees it jump.
    pub(super) fn tell(&mut self, track: &Track, config: EntityConfig, about: &[u8], time: Time, shown: GlobalTime) {
        let entity = &mut self.entity;
        let told = self.client.with(|seat, now| {
            // After a restart of the server everything is gone.
            *entity = entity.filter(|entity| seat.owned().any(|owned| owned == *entity));
            let pose = track.pose(time.now());
            match (*entity, pose) {
                (None, Some(_)) if seat.is_ready() => *entity = Some(seat.make(config, about.to_vec(), now)?),
                (Some(gone), None) if track.at(shown).is_none() => {
                    seat.unmake(gone, now)?;
                    *entity = None;
                }
                _ => {}
            }
            match (*entity, pose) {
                (Some(entity), Some(pose)) => seat.observe(entity, pose, now),
                _ => Ok(()),
            }
        });
        // Another connection has names for more of them. What else fails is tried again with the next step.
        self.over |= matches!(told, Err(SeatError::TooManyEntities));
    }

    /// Filters the craft in another way.
    pub(super) fn configure(&self, config: EntityConfig) {
        if let Some(entity) = self.entity {
            let _ = self.client.with(|seat, _| seat.configure(entity, config));
        }
    }

    /// Takes the craft away.
    pub(super) fn unmake(&mut self) {
        if let Some(entity) = self.entity.take() {
            let _ = self.client.unmake(entity);
        }
    }

    /// Tells the other players, and the referee.
    pub(super) fn announce(&self, bytes: &[u8]) {
        self.client.with(|seat, now| {
            for party in [Party::Everybody, Party::Host(SERVER)] {
                // Who has no connection shoots in vain.
                let _ = seat.send(party, Level::Quickest, bytes.to_vec(), now);
            }
        });
    }

    /// What the server said since the last time.
    pub(super) fn heard(&self) -> Vec<Vec<u8>> {
        let said = |event| match event {
            SeatEvent::Message { from: SERVER, bytes, .. } => Some(bytes),
            _ => None,
        };
        self.client.with(|seat, _| std::iter::from_fn(|| seat.poll_event()).filter_map(said).collect())
    }

    /// What is shown of these crafts now.
    pub(super) fn look(&self, crafts: &[Option<EntityId>], time: Time) -> Look {
        self.client.with(|seat, now| {
            let mut place = |entity: &Option<EntityId>| {
                let placed = seat.place((*entity)?, now).ok()?;
                let state = State { position: placed.position, velocity: placed.velocity, attitude: placed.attitude };
                Some(Seen { state, frozen: placed.frozen })
            };
            let seen = crafts.iter().map(&mut place).collect();
            Look { at: time.now(), clock: seat.now(now), uncertainty: seat.clock().uncertainty(), seen }
        })
    }
}

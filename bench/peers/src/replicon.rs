//! bevy_replicon, without a messaging backend: its messages are carried by hand, and what it wants carried reliably is.

use crate::contender::{Contender, Parcel, STD_TICK};
use crate::parts::{self, Fields, Id, Moving, Position, Velocity};
use anyhow::{Context, Result};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_replicon::client::confirm_history::ConfirmHistory;
use bevy_replicon::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_state::app::StatesPlugin;
use bevy_state::prelude::NextState;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use evenkeel::{GlobalTime, Motion, Pose, Vec3};
use std::collections::HashMap;

/// The largest message that is not split: as in its own tests, and as our datagrams.
const MAX_SIZE: usize = 1200;

/// What its clients show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The newest value received: as it comes.
    Received,
    /// That, moved on since it was received: what a client can do without a clock that agrees with the server's.
    SinceArrival,
    /// That, moved on since the server's tick it is of: given a perfect clock, which the library does not have.
    SinceTick,
}

/// How it is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many clients.
    pub receivers: usize,
    /// What is replicated.
    pub fields: Fields,
    /// Ticks of the game between two of its own.
    pub every: u32,
    /// What clients show.
    pub shows: Shows,
}

struct Client {
    app: App,
    /// The server's entity for it.
    link: Entity,
    query: QueryState<Seen>,
    /// Of every entity, the newest tick and when it was first there.
    arrived: HashMap<u32, (u32, GlobalTime)>,
}

type Seen = (
    &'static Id,
    &'static ConfirmHistory,
    Option<&'static Position>,
    Option<&'static Velocity>,
    Option<&'static Moving>,
);

/// A server and its clients.
pub struct Replicon {
    setup: Setup,
    server: App,
    clients: Vec<Client>,
    by_link: HashMap<Entity, usize>,
    entities: HashMap<u32, Entity>,
    /// When each of the server's ticks was.
    ticks: HashMap<u32, GlobalTime>,
    reliable_down: Vec<bool>,
    reliable_up: Vec<bool>,
}

fn app(setup: &Setup) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .insert_resource(TimeUpdateStrategy::ManualDuration(STD_TICK))
        .insert_resource(Time::<Fixed>::from_duration(STD_TICK * setup.every))
        .replicate::<Id>();
    if setup.fields.quantised {
        app.replicate_with(RuleFns::new(parts::write_moving, parts::read_moving));
    } else {
        app.replicate::<Position>().replicate::<Velocity>();
    }
    app.finish();
    app.cleanup();
    app
}

fn reliability(channels: &[Channel]) -> Vec<bool> {
    channels.iter().map(|channel| *channel != Channel::Unreliable).collect()
}

impl Replicon {
    /// A running server with connected clients.
    pub fn new(setup: Setup) -> Self {
        let mut server = app(&setup);
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        server.update();
        let channels = server.world().resource::<RepliconChannels>();
        let reliable_down = reliability(channels.server_channels());
        let reliable_up = reliability(channels.client_channels());
        let mut client = || {
            let link = server.world_mut().spawn(ConnectedClient { max_size: MAX_SIZE }).id();
            let mut app = app(&setup);
            app.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
            let query = app.world_mut().query::<Seen>();
            Client { app, link, query, arrived: HashMap::new() }
        };
        let clients: Vec<Client> = (0..setup.receivers).map(|_| client()).collect();
        let by_link = clients.iter().enumerate().map(|(n, client)| (client.link, n)).collect();
        let (entities, ticks) = (HashMap::new(), HashMap::new());
        Self { setup, server, clients, by_link, entities, ticks, reliable_down, reliable_up }
    }

    fn place(shows: Shows, motion: &Motion, arrived: GlobalTime, sent: GlobalTime, now: GlobalTime) -> Vec3 {
        let since = match shows {
            Shows::Received => return motion.position,
            Shows::SinceArrival => arrived,
            Shows::SinceTick => sent,
        };
        parts::extrapolated(motion, now.since(since).as_secs_f64())
    }
}

impl Contender for Replicon {
    fn spawn(&mut self, id: u32, pose: &Pose, _: GlobalTime) -> Result<()> {
        let mut entity = self.server.world_mut().spawn(Replicated);
        parts::insert(&mut entity, id, pose, self.setup.fields);
        self.entities.insert(id, entity.id());
        Ok(())
    }

    fn despawn(&mut self, id: u32, _: GlobalTime) -> Result<()> {
        let entity = self.entities.remove(&id).context("no such entity")?;
        self.server.world_mut().despawn(entity);
        Ok(())
    }

    fn tell(&mut self, id: u32, pose: &Pose, due: bool) {
        if let Some(entity) = self.entities.get(&id).filter(|_| due) {
            parts::update(self.server.world_mut(), *entity, pose, self.setup.fields);
        }
    }

    fn serve(&mut self, now: GlobalTime) -> Result<()> {
        self.server.update();
        // Only this needs it, and a server's memory is counted.
        if self.setup.shows == Shows::SinceTick {
            let tick = self.server.world().resource::<ServerTick>().get();
            self.ticks.entry(tick).or_insert(now);
        }
        Ok(())
    }

    fn sent(&mut self) -> Vec<Parcel> {
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        let all = messages.drain_sent().filter_map(|(link, channel, bytes)| {
            let receiver = *self.by_link.get(&link)?;
            Some(Parcel { receiver, channel, reliable: self.reliable_down[channel], bytes })
        });
        all.collect()
    }

    fn arrive_at_server(&mut self, parcel: Parcel, _: GlobalTime) {
        let link = self.clients[parcel.receiver].link;
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        messages.insert_received(link, parcel.channel, parcel.bytes);
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, _: GlobalTime) -> Result<()> {
        let app = &mut self.clients[parcel.receiver].app;
        app.world_mut().resource_mut::<ClientMessages>().insert_received(parcel.channel, parcel.bytes);
        Ok(())
    }

    fn frame(&mut self, receiver: usize, _: GlobalTime) -> Result<Vec<Parcel>> {
        let app = &mut self.clients[receiver].app;
        app.update();
        let mut messages = app.world_mut().resource_mut::<ClientMessages>();
        let parcel = |(channel, bytes)| Parcel { receiver, channel, reliable: self.reliable_up[channel], bytes };
        Ok(messages.drain_sent().map(parcel).collect())
    }

    fn show(&mut self, receiver: usize, now: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        let Client { app, query, arrived, .. } = &mut self.clients[receiver];
        for (id, confirmed, position, velocity, moving) in query.iter(app.world()) {
            let Some(motion) = parts::received(position, velocity, moving) else { continue };
            let tick = confirmed.last_tick().get();
            let arrived = arrived.entry(id.0).or_insert((tick, now));
            if arrived.0 != tick {
                *arrived = (tick, now);
            }
            let sent = self.ticks.get(&tick).copied().unwrap_or(now);
            to(id.0, Self::place(self.setup.shows, &motion, arrived.1, sent, now));
        }
    }
}

//! A server's app and players' apps, stepped in turns, with a network of ours between their replicons.
#![allow(dead_code, clippy::unwrap_used)]

use bevy_app::TaskPoolPlugin;
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_state::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::*;
use evenkeel::GlobalTime;
use evenkeel_bevy::prelude::*;
use evenkeel_link::{Conditions, Link, Topology};
use std::time::Duration;

/// How long a frame takes.
pub const FRAME: Duration = Duration::from_millis(10);

pub struct Bed {
    pub server: App,
    pub clients: Vec<App>,
    /// The client's entity at the server, if it is connected.
    pub connected: Vec<Option<Entity>>,
    unreliable: Link<(usize, usize, Bytes)>,
    reliable: Link<(usize, usize, Bytes)>,
    pub now: GlobalTime,
    set_up: fn(&mut App),
}

/// An app without a window, whose time goes on by a frame at each update.
pub fn app(evenkeel: EvenkeelPlugin, set_up: fn(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    app.add_plugins(RepliconPlugins.set(ServerPlugin::new(PostUpdate)));
    app.add_plugins(EvenkeelRepliconPlugin { evenkeel });
    app.init_resource::<Troubles>().add_systems(Last, remember);
    set_up(&mut app);
    app.finish();
    app
}

impl Bed {
    /// A server and so many players, all connected by paths of these conditions.
    pub fn new(players: usize, conditions: &str) -> Self {
        Self::with(players, conditions, |_| {})
    }

    /// The same, with a server that moves things in `FixedUpdate`, and says so or not.
    pub fn fixed(players: usize, conditions: &str, fixed: bool) -> Self {
        Self::made(players, conditions, |_| {}, fixed)
    }

    /// The same, with players' apps set up further.
    pub fn with(players: usize, conditions: &str, set_up: fn(&mut App)) -> Self {
        Self::made(players, conditions, set_up, false)
    }

    fn made(players: usize, conditions: &str, set_up: fn(&mut App), fixed: bool) -> Self {
        let mut server = app(EvenkeelPlugin { fixed, ..EvenkeelPlugin::default() }, |_| {});
        server.insert_resource(Session::host(HubConfig { secret: [9; 16], ..HubConfig::default() }).unwrap());
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        let conditions: Conditions = conditions.parse().unwrap();
        let sure = Conditions::delay(conditions.delay);
        let mut bed = Self {
            server,
            clients: Vec::new(),
            connected: Vec::new(),
            unreliable: Link::new(Topology::uniform(conditions).unwrap(), 7),
            reliable: Link::new(Topology::uniform(sure).unwrap(), 7),
            now: GlobalTime::ZERO,
            set_up,
        };
        bed.server.update();
        for _ in 0..players {
            bed.join();
        }
        bed
    }

    /// One more player.
    pub fn join(&mut self) -> usize {
        let number = self.clients.len();
        let mut client = app(EvenkeelPlugin::default(), self.set_up);
        let config = SeatConfig { secret: [number as u8 + 1; 16], ..SeatConfig::named(format!("player {number}")) };
        client.insert_resource(Session::join(config).unwrap());
        self.clients.push(client);
        self.connected.push(None);
        self.connect(number);
        number
    }

    pub fn connect(&mut self, client: usize) {
        let entity = self.server.world_mut().spawn(ConnectedClient { max_size: 1200 }).id();
        self.connected[client] = Some(entity);
        self.clients[client].world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
    }

    pub fn disconnect(&mut self, client: usize) {
        if let Some(entity) = self.connected[client].take() {
            self.server.world_mut().despawn(entity);
        }
        self.clients[client].world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Disconnected);
    }

    /// One frame of everybody's.
    pub fn step(&mut self) {
        self.now += evenkeel::Duration::from_nanos(FRAME.as_nanos() as i64);
        self.deliver();
        self.server.update();
        for client in &mut self.clients {
            client.update();
        }
        self.collect();
    }

    pub fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / FRAME.as_secs_f64()).round() as usize {
            self.step();
        }
    }

    /// What is due by now arrives.
    pub fn deliver(&mut self) {
        for link in [&mut self.reliable, &mut self.unreliable] {
            while let Some(delivery) = link.poll(self.now) {
                let (client, channel, bytes) = delivery.payload;
                let Some(entity) = self.connected[client] else { continue };
                if delivery.to == 0 {
                    let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
                    messages.insert_received(entity, channel, bytes);
                } else {
                    let mut messages = self.clients[client].world_mut().resource_mut::<ClientMessages>();
                    messages.insert_received(channel, bytes);
                }
            }
        }
    }

    fn collect(&mut self) {
        let channels = self.server.world().resource::<RepliconChannels>().clone();
        let sent: Vec<_> = self.server.world_mut().resource_mut::<ServerMessages>().drain_sent().collect();
        for (entity, channel, bytes) in sent {
            let Some(client) = self.connected.iter().position(|connected| *connected == Some(entity)) else { continue };
            let sure = channels.server_channels()[channel] != Channel::Unreliable;
            let link = if sure { &mut self.reliable } else { &mut self.unreliable };
            link.send(self.now, 0, client as u32 + 1, bytes.len(), (client, channel, bytes));
        }
        for (client, app) in self.clients.iter_mut().enumerate() {
            let sent: Vec<_> = app.world_mut().resource_mut::<ClientMessages>().drain_sent().collect();
            for (channel, bytes) in sent {
                let sure = channels.client_channels()[channel] != Channel::Unreliable;
                let link = if sure { &mut self.reliable } else { &mut self.unreliable };
                link.send(self.now, client as u32 + 1, 0, bytes.len(), (client, channel, bytes));
            }
        }
    }

    /// The entity of a name at a player's.
    pub fn there(&mut self, client: usize, name: NetId) -> Option<Entity> {
        find(&mut self.clients[client], name)
    }

    pub fn name(&self, entity: Entity) -> NetId {
        *self.server.world().get::<NetId>(entity).expect("it has a name")
    }

    /// Where a player sees the entity of a name.
    pub fn seen(&mut self, client: usize, name: NetId) -> Option<Transform> {
        let entity = self.there(client, name)?;
        self.clients[client].world().get::<Transform>(entity).copied()
    }

    /// Which host a player is.
    pub fn host(&self, client: usize) -> HostId {
        let entity = self.connected[client].expect("it is connected");
        self.server.world().get::<PlayerHost>(entity).expect("it has been let in").0
    }
}

pub fn find(app: &mut App, name: NetId) -> Option<Entity> {
    let world = app.world_mut();
    world.query::<(Entity, &NetId)>().iter(world).find(|(_, there)| **there == name).map(|(entity, _)| entity)
}

/// What went wrong so far, in the order it was said.
#[derive(Resource, Default)]
struct Troubles(Vec<Trouble>);

fn remember(mut said: MessageReader<Trouble>, mut troubles: ResMut<Troubles>) {
    troubles.0.extend(said.read().cloned());
}

/// What went wrong in an app since the last time that was asked.
pub fn troubles(app: &mut App) -> Vec<Trouble> {
    std::mem::take(&mut app.world_mut().resource_mut::<Troubles>().0)
}

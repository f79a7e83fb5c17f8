//! lightyear over channels of our own: raw connections, so that nothing but the library's own bytes is carried.

use crate::contender::{Contender, Parcel, STD_TICK};
use crate::parts::{self, Fields, Id, Moving, Position, Velocity, wide};
use anyhow::{Context, Result};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::RuleFns;
use bevy_state::app::StatesPlugin;
use bevy_time::TimeUpdateStrategy;
use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, unbounded};
use evenkeel::{GlobalTime, Motion, Pose, Vec3};
use lightyear::crossbeam::CrossbeamIo;
use lightyear::prelude::client::{ClientPlugins, Connect, RawClient};
use lightyear::prelude::server::{RawServer, ServerPlugins};
use lightyear::prelude::{
    AppComponentExt, AppInterpolationExt, Client as ClientRole, InterpolationConfig, InterpolationFns,
    InterpolationTarget, Link, LinkOf, LinkStart, Linked, LocalAddr, NetworkTarget, PeerAddr, PingConfig, PingManager,
    Replicate, ReplicationMetadata, ReplicationReceiver, ReplicationSender, SyncConfig,
};
use mock_instant::global::MockClock;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// How its clients show things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The newest value received: no interpolation. For the measurement of the server alone.
    Received,
    /// Interpolated with the delays that the library chooses by default.
    Interpolated,
    /// Interpolated with the shortest delays that its settings allow, and with a fifth of its pings.
    Tuned,
    /// Interpolated so far behind that even the farthest receiver has something to interpolate towards.
    Smooth,
}

/// How it is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many clients.
    pub receivers: usize,
    /// What is replicated.
    pub fields: Fields,
    /// Ticks between two replications.
    pub every: u32,
    /// How clients show things.
    pub shows: Shows,
}

/// The far ends of a pair of channels.
struct Ends {
    into: Sender<Bytes>,
    out: Receiver<Bytes>,
}

impl Ends {
    fn new() -> (CrossbeamIo, Self) {
        let (into, receiver) = unbounded();
        let (sender, out) = unbounded();
        (CrossbeamIo::new(sender, receiver), Self { into, out })
    }
}

struct Client {
    app: App,
    at_client: Ends,
    at_server: Ends,
    query: QueryState<Seen>,
}

type Seen = (&'static Id, Option<&'static Position>, Option<&'static Moving>);

/// A server and its clients.
pub struct Lightyear {
    setup: Setup,
    server: App,
    clients: Vec<Client>,
    entities: HashMap<u32, Entity>,
}

fn lerp(from: Vec3, to: Vec3, t: f32) -> Vec3 {
    from + (to - from) * f64::from(t)
}

fn lerp_position(from: Position, to: Position, t: f32) -> Position {
    let mix = |n: usize| from.0[n] + (to.0[n] - from.0[n]) * t;
    Position([mix(0), mix(1), mix(2)])
}

fn lerp_moving(from: Moving, to: Moving, t: f32) -> Moving {
    Moving(Motion { position: lerp(from.0.position, to.0.position, t), ..to.0 })
}

/// What both sides must register alike, after the plugins and before any connection.
fn protocol(app: &mut App, setup: &Setup) {
    app.component::<Id>().replicate();
    if setup.fields.quantised {
        app.component::<Moving>().replicate_with(RuleFns::new(parts::write_moving, parts::read_moving));
        app.interpolate_with::<Moving>(InterpolationFns::interpolate(lerp_moving));
    } else {
        app.component::<Position>().replicate();
        app.component::<Velocity>().replicate();
        app.interpolate_with::<Position>(InterpolationFns::interpolate(lerp_position));
    }
}

/// The shortest delay behind the newest update that its settings allow: no margin for jitter, one interval and no more.
fn shortest() -> InterpolationConfig {
    let sync = SyncConfig { jitter_multiple: 0, jitter_margin: 0.0, ..SyncConfig::default() };
    InterpolationConfig { min_delay: Duration::ZERO, send_interval_ratio: 1.0, sync }
}

/// Behind the server by more than any path takes.
fn smooth() -> InterpolationConfig {
    InterpolationConfig::default().with_min_delay(Duration::from_millis(300))
}

/// Pings are bytes too.
fn pings(setup: &Setup) -> PingManager {
    let default = PingConfig::default();
    PingManager::new(match setup.shows {
        Shows::Tuned => PingConfig { ping_interval: default.ping_interval * 5 },
        _ => default,
    })
}

fn address(number: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 10_000 + number as u16))
}

fn server(setup: &Setup) -> App {
    let mut app = App::new();
    app.add_plugins((StatesPlugin, ServerPlugins { tick_duration: STD_TICK }))
        .insert_resource(TimeUpdateStrategy::ManualDuration(STD_TICK));
    if setup.every > 1 {
        app.insert_resource(ReplicationMetadata::new(STD_TICK * setup.every));
    }
    protocol(&mut app, setup);
    app.finish();
    app.cleanup();
    app
}

fn client(setup: &Setup, number: usize, io: CrossbeamIo) -> App {
    let mut app = App::new();
    app.add_plugins((StatesPlugin, ClientPlugins { tick_duration: STD_TICK }))
        .insert_resource(TimeUpdateStrategy::ManualDuration(STD_TICK));
    match setup.shows {
        Shows::Received | Shows::Interpolated => {}
        Shows::Tuned => drop(app.insert_resource(shortest())),
        Shows::Smooth => drop(app.insert_resource(smooth())),
    }
    protocol(&mut app, setup);
    app.finish();
    app.cleanup();
    let parts = (ClientRole, RawClient, Link::default(), ReplicationReceiver, LocalAddr(address(number)), io);
    let entity = app.world_mut().spawn((parts, pings(setup))).id();
    app.world_mut().trigger(Connect { entity });
    app
}

impl Lightyear {
    /// A running server with clients that begin to connect.
    pub fn new(setup: Setup) -> Self {
        let mut server = server(&setup);
        let host = server.world_mut().spawn(RawServer).id();
        server.world_mut().entity_mut(host).insert(Linked);
        server.update();
        let mut connect = |number: usize| {
            let (io, at_server) = Ends::new();
            let parts = (LinkOf { server: host }, Link::default(), ReplicationSender, PeerAddr(address(number)), io);
            let entity = server.world_mut().spawn((parts, pings(&setup))).id();
            server.world_mut().trigger(LinkStart { entity });
            let (io, at_client) = Ends::new();
            let mut app = client(&setup, number, io);
            let query = app.world_mut().query::<Seen>();
            Client { app, at_client, at_server, query }
        };
        let clients = (0..setup.receivers).map(&mut connect).collect();
        Self { setup, server, clients, entities: HashMap::new() }
    }
}

/// Its clock is the model's.
fn set_clock(now: GlobalTime) {
    MockClock::set_time(Duration::from_nanos(now.as_nanos().max(0) as u64));
}

fn parcels(receiver: usize, out: &Receiver<Bytes>) -> impl Iterator<Item = Parcel> + '_ {
    out.try_iter().map(move |bytes| Parcel { receiver, channel: 0, reliable: false, bytes })
}

impl Contender for Lightyear {
    fn spawn(&mut self, id: u32, pose: &Pose, _: GlobalTime) -> Result<()> {
        let mut entity = self.server.world_mut().spawn(Replicate::to_clients(NetworkTarget::All));
        if self.setup.shows != Shows::Received {
            entity.insert(InterpolationTarget::to_clients(NetworkTarget::All));
        }
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
        set_clock(now);
        self.server.update();
        Ok(())
    }

    fn sent(&mut self) -> Vec<Parcel> {
        let all = self.clients.iter().enumerate();
        all.flat_map(|(receiver, client)| parcels(receiver, &client.at_server.out)).collect()
    }

    fn arrive_at_server(&mut self, parcel: Parcel, _: GlobalTime) {
        // The other end is held by an app that lives as long as this.
        let _ = self.clients[parcel.receiver].at_server.into.send(parcel.bytes);
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, _: GlobalTime) -> Result<()> {
        Ok(self.clients[parcel.receiver].at_client.into.send(parcel.bytes)?)
    }

    fn frame(&mut self, receiver: usize, now: GlobalTime) -> Result<Vec<Parcel>> {
        set_clock(now);
        let client = &mut self.clients[receiver];
        client.app.update();
        Ok(parcels(receiver, &client.at_client.out).collect())
    }

    fn show(&mut self, receiver: usize, _: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        let Client { app, query, .. } = &mut self.clients[receiver];
        for (id, position, moving) in query.iter(app.world()) {
            let place = moving.map(|moving| moving.0.position).or(position.map(|position| wide(position.0)));
            if let Some(place) = place {
                to(id.0, place);
            }
        }
    }
}

//! Evenkeel as a game made with Bevy has it: the plugin in a server's app, whose bytes the app carries, and players' seats.

use crate::contender::{Contender, Parcel, STD_TICK};
use anyhow::{Context, Result};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3 as BevyVec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::*;
use bytes::Bytes;
use evenkeel::wire::Format;
use evenkeel::{Attitude, Duration, EntityId, GlobalTime, Instant, MotionKind, Pose, Threshold, Vec3};
use evenkeel_bevy::prelude::*;
use evenkeel_net::hub::{Connection, What};
use evenkeel_net::seat::{Seat, SeatEvent, ToSend};
use std::collections::HashMap;

/// What is carried: datagrams, and messages that must arrive.
const DATAGRAM: usize = 0;
const MESSAGE: usize = 1;
/// The largest datagram: as the others have it.
const MAX_SIZE: usize = 1200;

/// What has arrived at the server, and what leaves it.
#[derive(Resource, Default)]
struct Carried {
    inbox: Vec<Parcel>,
    outbox: Vec<Parcel>,
}

struct Player {
    seat: Seat,
    /// The names of entities in the session, and the measurement's.
    names: HashMap<EntityId, u32>,
}

/// A server's app and its players.
pub struct InBevy {
    server: App,
    threshold: Threshold,
    entities: HashMap<u32, Entity>,
    players: Vec<Player>,
}

fn connection(receiver: usize) -> Connection {
    Connection(receiver as u64)
}

fn local(now: GlobalTime) -> Instant {
    Instant::from_nanos(now.as_nanos())
}

fn take_in(mut session: ResMut<Session>, mut carried: ResMut<Carried>) {
    session.hub(|hub, now| {
        for Parcel { receiver, channel, bytes, .. } in carried.inbox.drain(..) {
            match channel {
                DATAGRAM => hub.handle_datagram(connection(receiver), &bytes, now),
                _ => hub.handle_message(connection(receiver), &bytes, now),
            }
        }
    });
}

fn give_out(mut session: ResMut<Session>, mut carried: ResMut<Carried>) {
    session.hub(|hub, now| {
        while let Some(outgoing) = hub.poll_transmit(now) {
            let (channel, bytes) = match outgoing.what {
                What::Datagram(bytes) => (DATAGRAM, bytes),
                What::Message(bytes) => (MESSAGE, bytes),
                What::Unordered(_) | What::Close(_) => continue,
            };
            let (receiver, reliable) = (outgoing.to.0 as usize, channel == MESSAGE);
            carried.outbox.push(Parcel { receiver, channel, reliable, bytes: bytes.into() });
        }
    });
}

/// The game's components for a pose.
fn components(pose: &Pose) -> (Transform, Moving) {
    let state = pose.motion(MotionKind::Auto).at(0.0);
    let bevy = |v: Vec3| BevyVec3::new(v.x as f32, v.y as f32, v.z as f32);
    let (heading, turn_rate) = match state.attitude {
        Attitude::Heading { heading, turn_rate } => (heading as f32, turn_rate as f32),
        _ => (0.0, 0.0),
    };
    let transform = Transform::from_translation(bevy(state.position)).with_rotation(Quat::from_rotation_z(heading));
    (transform, Moving { velocity: bevy(state.velocity), turning: BevyVec3::Z * turn_rate })
}

impl InBevy {
    /// A server's app with connected players, whose books reach back as far as `history`.
    pub fn new(receivers: usize, threshold: Threshold, history: Duration) -> Result<Self> {
        let config = HubConfig { format: Format::bzflag(), max_datagram: MAX_SIZE, history, ..HubConfig::default() };
        let mut server = App::new();
        server
            .add_plugins((TimePlugin, EvenkeelPlugin::flat()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(STD_TICK))
            .insert_resource(Session::host(config)?)
            .init_resource::<Carried>()
            .add_systems(PreUpdate, take_in.in_set(EvenkeelSystems::Receive))
            .add_systems(PostUpdate, give_out.in_set(EvenkeelSystems::Send));
        server.finish();
        server.cleanup();
        server.update();
        let mut players = Vec::new();
        for receiver in 0..receivers {
            let config = SeatConfig { secret: [receiver as u8 + 1; 16], ..SeatConfig::named(format!("{receiver}")) };
            players.push(Player { seat: Seat::new(config)?, names: HashMap::new() });
            let mut session = server.world_mut().resource_mut::<Session>();
            session.hub(|hub, now| hub.handle_connected(connection(receiver), None, now));
        }
        Ok(Self { server, threshold, entities: HashMap::new(), players })
    }
}

impl Contender for InBevy {
    fn spawn(&mut self, id: u32, pose: &Pose, _: GlobalTime) -> Result<()> {
        let reckoned = DeadReckoned { threshold: self.threshold, ..DeadReckoned::default() }.upright();
        let about = About(id.to_le_bytes().to_vec());
        let entity = self.server.world_mut().spawn((components(pose), reckoned, about)).id();
        self.entities.insert(id, entity);
        Ok(())
    }

    fn despawn(&mut self, id: u32, _: GlobalTime) -> Result<()> {
        let entity = self.entities.remove(&id).context("no such entity")?;
        self.server.world_mut().despawn(entity);
        Ok(())
    }

    /// The game writes its components; what is due, the plugin finds out.
    fn tell(&mut self, id: u32, pose: &Pose, _: bool) {
        let Some(entity) = self.entities.get(&id) else { return };
        let (transform, moving) = components(pose);
        let mut entity = self.server.world_mut().entity_mut(*entity);
        if let Some(mut there) = entity.get_mut() {
            *there = transform;
        }
        if let Some(mut there) = entity.get_mut() {
            *there = moving;
        }
    }

    fn serve(&mut self, _: GlobalTime) -> Result<()> {
        self.server.update();
        Ok(())
    }

    fn sent(&mut self) -> Vec<Parcel> {
        std::mem::take(&mut self.server.world_mut().resource_mut::<Carried>().outbox)
    }

    fn arrive_at_server(&mut self, parcel: Parcel, _: GlobalTime) {
        self.server.world_mut().resource_mut::<Carried>().inbox.push(parcel);
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, at: GlobalTime) -> Result<()> {
        let seat = &mut self.players[parcel.receiver].seat;
        match parcel.channel {
            DATAGRAM => seat.handle_datagram(&parcel.bytes, local(at)),
            _ => seat.handle_message(&parcel.bytes, local(at))?,
        }
        Ok(())
    }

    fn frame(&mut self, receiver: usize, now: GlobalTime) -> Result<Vec<Parcel>> {
        let Player { seat, names } = &mut self.players[receiver];
        while let Some(event) = seat.poll_event() {
            if let SeatEvent::Made(made) = event {
                let id: [u8; 4] = made.about.as_slice().try_into().context("not an entity of the measurement's")?;
                names.insert(made.entity, u32::from_le_bytes(id));
            }
        }
        let mut parcels = Vec::new();
        while let Some(send) = seat.poll_transmit(local(now)) {
            let (channel, bytes) = match send {
                ToSend::Datagram(bytes) => (DATAGRAM, bytes),
                ToSend::Message(bytes) => (MESSAGE, bytes),
                ToSend::Unordered(_) | ToSend::ToPeer(..) => continue,
            };
            parcels.push(Parcel { receiver, channel, reliable: channel == MESSAGE, bytes: Bytes::from(bytes) });
        }
        Ok(parcels)
    }

    /// Its players' clocks are its own, and here the way to the server takes a tick and the way back none: half a tick's error.
    fn tolerance(&self) -> f64 {
        0.4
    }

    fn show(&mut self, receiver: usize, now: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        let Player { seat, names } = &mut self.players[receiver];
        let Some((time, receiver)) = seat.now(local(now)).zip(seat.receiver()) else { return };
        for entity in receiver.entities() {
            if let (Some(id), Ok(placement)) = (names.get(&entity), receiver.place(entity, time)) {
                to(*id, placement.position);
            }
        }
    }
}

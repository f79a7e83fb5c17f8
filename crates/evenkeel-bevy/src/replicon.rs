//! Beside bevy_replicon: it brings entities, components and a connection; vectors, receipts and the clock travel as its messages.

use crate::components::{DeadReckoned, NetId};
use crate::owners::Roster;
use crate::session::Session;
use crate::trouble::Complain;
use crate::{EvenkeelPlugin, EvenkeelSystems};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_state::prelude::*;
use evenkeel::HostId;
use evenkeel_net::hub::{Connection, What};
use evenkeel_net::seat::ToSend;
use std::collections::HashSet;

/// Carries a [`Session`] by replicon, over whatever backend that has. Add it after `RepliconPlugins`; it brings [`EvenkeelPlugin`].
///
/// Entities are spawned on the server with `Replicated` and [`DeadReckoned`], and replicon brings them to clients. Their `Transform` is
/// not to be replicated: that is what this is for.
#[derive(Default)]
pub struct EvenkeelRepliconPlugin {
    /// What does not depend on who carries it.
    pub evenkeel: EvenkeelPlugin,
}

/// On the server, on a client's entity: the number by which the session knows it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerHost(pub HostId);

/// What a session sends to a player. `HOW` is what it asks of the network.
#[derive(Message)]
struct Down<const HOW: u8>(Bytes);

/// What a player sends to a session.
#[derive(Message)]
struct Up<const HOW: u8>(Bytes);

const ORDERED: u8 = 0;
const UNORDERED: u8 = 1;
const UNRELIABLE: u8 = 2;

impl Plugin for EvenkeelRepliconPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(self.evenkeel.clone());
        app.insert_resource(Roster::default());
        app.replicate_once::<NetId>().replicate::<DeadReckoned>();
        add::<ORDERED>(app, Channel::Ordered);
        add::<UNORDERED>(app, Channel::Unordered);
        add::<UNRELIABLE>(app, Channel::Unreliable);
        let receive = (serve_arrivals.after(ServerSystems::Receive), take_arrivals.after(ClientSystems::Receive));
        app.add_systems(PreUpdate, receive.in_set(EvenkeelSystems::Receive));
        // Stamps say when something leaves: what is polled in between would wait for replicon's next tick.
        let serve = serve_departures.before(ServerSystems::Send).run_if(resource_changed::<ServerTick>);
        let take = take_departures.before(ClientSystems::Send).run_if(in_state(ClientState::Connected));
        app.add_systems(PostUpdate, (serve, take).in_set(EvenkeelSystems::Send));
    }
}

/// Bytes as they are: they are encoded already.
fn add<const HOW: u8>(app: &mut App, channel: Channel) {
    app.add_server_message_with::<Down<HOW>>(
        channel,
        |_, down, out| {
            out.extend_from_slice(&down.0);
            Ok(())
        },
        |_, bytes| Ok(Down(std::mem::take(bytes))),
    );
    app.make_message_independent::<Down<HOW>>();
    app.add_client_message_with::<Up<HOW>>(
        channel,
        |_, up, out| {
            out.extend_from_slice(&up.0);
            Ok(())
        },
        |_, bytes| Ok(Up(std::mem::take(bytes))),
    );
}

fn connection(client: Entity) -> Connection {
    Connection(client.to_bits())
}

/// On the server: who comes, who goes, and what they say.
fn serve_arrivals(
    mut session: ResMut<Session>,
    clients: Query<Entity, With<ConnectedClient>>,
    nameless: Query<Entity, (With<ConnectedClient>, Without<PlayerHost>)>,
    mut ordered: MessageReader<FromClient<Up<ORDERED>>>,
    mut unordered: MessageReader<FromClient<Up<UNORDERED>>>,
    mut unreliable: MessageReader<FromClient<Up<UNRELIABLE>>>,
    mut known: Local<HashSet<Entity>>,
    mut commands: Commands,
) {
    if !session.is_server() {
        return;
    }
    if session.take_fresh() {
        known.clear();
    }
    session.hub(|hub, now| {
        for client in &clients {
            if known.insert(client) {
                hub.handle_connected(connection(client), None, now);
            }
        }
        known.retain(|client| {
            let here = clients.contains(*client);
            if !here {
                hub.handle_disconnected(connection(*client), now);
            }
            here
        });
        for (client, up) in ordered.read().filter_map(|up| Some((up.client_id.entity()?, &up.message))) {
            hub.handle_message(connection(client), &up.0, now);
        }
        for (client, up) in unordered.read().filter_map(|up| Some((up.client_id.entity()?, &up.message))) {
            hub.handle_unordered(connection(client), &up.0, now);
        }
        for (client, up) in unreliable.read().filter_map(|up| Some((up.client_id.entity()?, &up.message))) {
            hub.handle_datagram(connection(client), &up.0, now);
        }
        for client in &nameless {
            if let Some(host) = hub.host_of(connection(client)) {
                commands.entity(client).try_insert(PlayerHost(host));
            }
        }
    });
}

fn serve_departures(
    mut session: ResMut<Session>,
    mut ordered: MessageWriter<ToClients<Down<ORDERED>>>,
    mut unordered: MessageWriter<ToClients<Down<UNORDERED>>>,
    mut unreliable: MessageWriter<ToClients<Down<UNRELIABLE>>>,
    mut disconnect: MessageWriter<DisconnectRequest>,
) {
    session.hub(|hub, now| {
        while let Some(outgoing) = hub.poll_transmit(now) {
            let client = Entity::from_bits(outgoing.to.0);
            let targets = SendTargets::Single(ClientId::Client(client));
            match outgoing.what {
                What::Message(bytes) => _ = ordered.write(ToClients { targets, message: Down(bytes.into()) }),
                What::Unordered(bytes) => _ = unordered.write(ToClients { targets, message: Down(bytes.into()) }),
                What::Datagram(bytes) => _ = unreliable.write(ToClients { targets, message: Down(bytes.into()) }),
                What::Close(_) => _ = disconnect.write(DisconnectRequest { client }),
            }
        }
    });
}

/// On a client: whether it is connected, and what the server says.
fn take_arrivals(
    mut session: ResMut<Session>,
    state: Res<State<ClientState>>,
    mut ordered: MessageReader<Down<ORDERED>>,
    mut unordered: MessageReader<Down<UNORDERED>>,
    mut unreliable: MessageReader<Down<UNRELIABLE>>,
    mut was: Local<Option<bool>>,
    mut complain: Complain,
) {
    if session.is_server() {
        return;
    }
    let connected = **state == ClientState::Connected;
    // A new seat says hello by itself; one that was connected before does it again.
    let before = if session.take_fresh() { None } else { *was };
    *was = if connected || before.is_some() { Some(connected) } else { None };
    session.seat(|seat, now| {
        match (before, connected) {
            (Some(true), false) => seat.handle_lost("replicon lost the connection", now),
            (Some(false), true) => {
                if let Err(why) = seat.reconnect() {
                    complain.about(None, "this app cannot join again", why);
                }
            }
            _ => {}
        }
        for down in ordered.read() {
            if let Err(why) = seat.handle_message(&down.0, now) {
                complain.about(None, "what the server says cannot be used", why);
            }
        }
        for down in unordered.read() {
            if let Err(why) = seat.handle_unordered(&down.0) {
                complain.about(None, "what the server says cannot be used", why);
            }
        }
        unreliable.read().for_each(|down| seat.handle_datagram(&down.0, now));
    });
}

fn take_departures(
    mut session: ResMut<Session>,
    mut ordered: MessageWriter<Up<ORDERED>>,
    mut unordered: MessageWriter<Up<UNORDERED>>,
    mut unreliable: MessageWriter<Up<UNRELIABLE>>,
) {
    session.seat(|seat, now| {
        while let Some(send) = seat.poll_transmit(now) {
            match send {
                ToSend::Message(bytes) => _ = ordered.write(Up(bytes.into())),
                ToSend::Unordered(bytes) => _ = unordered.write(Up(bytes.into())),
                ToSend::Datagram(bytes) => _ = unreliable.write(Up(bytes.into())),
                // Replicon's clients know nobody but the server.
                ToSend::ToPeer(..) => {}
            }
        }
    });
}

//! Beside bevy_replicon: it brings entities, components and a connection; vectors, receipts and the clock travel as its messages.

use crate::prelude::*;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_state::prelude::*;
use evenkeel_net::hub::Connection;
use evenkeel_net::part::{Carriage, Errand, TO_SERVER};

/// Carries a [`Session`] by replicon, over whatever backend that has. Add it after `RepliconPlugins`; it brings [`EvenkeelPlugin`].
///
/// Entities are spawned on the server with `Replicated` and [`DeadReckoned`], and replicon brings them to clients. Their `Transform` is
/// not to be replicated: that is what this is for. What a player owned when it left for good
/// ([`HubEvent::Left`](evenkeel_net::hub::HubEvent::Left)) is the server's to despawn, or to keep: see [`HubConfig::heir`](evenkeel_net::hub::HubConfig::heir).
#[derive(Default)]
pub struct EvenkeelRepliconPlugin {
    /// What does not depend on who carries it.
    pub evenkeel: EvenkeelPlugin,
}

/// On the server, on a client's entity: the number by which the session knows it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerHost(pub HostId);

/// What a session sends to a player, by one of replicon's [channels](CHANNELS).
#[derive(Message)]
struct Down<const HOW: usize>(Bytes);

/// What a player sends to a session.
#[derive(Message)]
struct Up<const HOW: usize>(Bytes);

const CHANNELS: [(Carriage, Channel); 3] = [
    (Carriage::Ordered, Channel::Ordered),
    (Carriage::Unordered, Channel::Unordered),
    (Carriage::Unreliable, Channel::Unreliable),
];

impl Plugin for EvenkeelRepliconPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(self.evenkeel.clone());
        app.insert_resource(Roster { brought: true, ..Roster::default() });
        app.replicate_once::<NetId>().replicate::<DeadReckoned>();
        [add::<0>, add::<1>, add::<2>].into_iter().for_each(|add| add(app));
        let receive = (connect, arrive::<0>, arrive::<1>, arrive::<2>, introduce).chain();
        let receive = receive.after(ServerSystems::Receive).after(ClientSystems::Receive);
        app.add_systems(PreUpdate, receive.in_set(EvenkeelSystems::Receive));
        // Stamps say when something leaves: what is polled in between would wait for replicon's next tick.
        let leaves = resource_exists_and_changed::<ServerTick>.or_else(in_state(ClientState::Connected));
        let send = depart.before(ServerSystems::Send).before(ClientSystems::Send).run_if(leaves);
        app.add_systems(PostUpdate, send.in_set(EvenkeelSystems::Send));
    }
}

/// Bytes as they are: they are encoded already.
fn add<const HOW: usize>(app: &mut App) {
    app.add_server_message_with::<Down<HOW>>(
        CHANNELS[HOW].1,
        |_, down, out| {
            out.extend_from_slice(&down.0);
            Ok(())
        },
        |_, bytes| Ok(Down(std::mem::take(bytes))),
    );
    app.make_message_independent::<Down<HOW>>();
    app.add_client_message_with::<Up<HOW>>(
        CHANNELS[HOW].1,
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

/// Who is connected: at the server its clients, at a client the server.
fn connect(
    mut session: ResMut<Session>,
    clients: Query<Entity, With<ConnectedClient>>,
    state: Res<State<ClientState>>,
    mut complain: Complain,
) {
    let here = match session.is_server() {
        true => clients.iter().map(connection).collect(),
        false => (*state == ClientState::Connected).then_some(TO_SERVER).into_iter().collect(),
    };
    if let Err(why) = session.set_connections(here) {
        complain.about(None, "this app cannot join", why);
    }
}

/// What others say.
fn arrive<const HOW: usize>(
    mut session: ResMut<Session>,
    mut up: MessageReader<FromClient<Up<HOW>>>,
    mut down: MessageReader<Down<HOW>>,
    mut complain: Complain,
) {
    let up = up.read().filter_map(|up| Some((connection(up.client_id.entity()?), &up.message.0)));
    let said = up.chain(down.read().map(|down| (TO_SERVER, &down.0)));
    session.part(|mut part, now| {
        for (from, bytes) in said {
            if let Err(why) = part.handle(from, CHANNELS[HOW].0, bytes, now) {
                complain.about(None, "what the server says cannot be used", why);
            }
        }
    });
}

/// At the server: whoever has come in has a number.
fn introduce(
    mut session: ResMut<Session>,
    nameless: Query<Entity, (With<ConnectedClient>, Without<PlayerHost>)>,
    mut commands: Commands,
) {
    session.hub(|hub, _| {
        for (client, host) in nameless.iter().filter_map(|client| Some((client, hub.host_of(connection(client))?))) {
            commands.entity(client).try_insert(PlayerHost(host));
        }
    });
}

/// What this app says.
fn depart(world: &mut World) {
    world.try_resource_scope(|world, mut session: Mut<Session>| {
        while let Some((to, errand)) = session.part(|mut part, now| part.poll_transmit(now)) {
            let client = Entity::try_from_bits(to.0).filter(|client| world.get::<ConnectedClient>(*client).is_some());
            if to != TO_SERVER && client.is_none() {
                continue; // It left in this very frame, and backends do not take that lightly.
            }
            match errand {
                Errand::Carry(Carriage::Ordered, bytes) => send::<0>(world, to, bytes.into()),
                Errand::Carry(Carriage::Unordered, bytes) => send::<1>(world, to, bytes.into()),
                Errand::Carry(Carriage::Unreliable, bytes) => send::<2>(world, to, bytes.into()),
                Errand::Close(_) => _ = client.map(|client| world.write_message(DisconnectRequest { client })),
            }
        }
    });
}

fn send<const HOW: usize>(world: &mut World, to: Connection, bytes: Bytes) {
    if to == TO_SERVER {
        world.write_message(Up::<HOW>(bytes));
    } else {
        let targets = SendTargets::Single(ClientId::Client(Entity::from_bits(to.0)));
        world.write_message(ToClients { targets, message: Down::<HOW>(bytes) });
    }
}

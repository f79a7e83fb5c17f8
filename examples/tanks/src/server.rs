//! The server: it drives bots, and gives everybody who joins a tank.

use crate::arena::{Bot, Tank};
use crate::rules::{self, Rules};
use crate::truth::Truth;
use crate::{Common, game};
use anyhow::Result;
use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_renet::RenetServer;
use bevy_replicon_renet::netcode::{NetcodeServerTransport, ServerAuthentication, ServerConfig};
use evenkeel_bevy::evenkeel::Duration;
use evenkeel_bevy::prelude::*;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Players at once.
const MAX_CLIENTS: usize = 16;

/// For whom a tank was made.
#[derive(Component)]
struct MadeFor(HostId);

/// Serves until its window is closed.
pub fn run(common: &Common, bots: u8, policy: u8) -> Result<AppExit> {
    let address = SocketAddr::new(common.ip, common.port);
    let (socket, beside) = (game::bind(address)?, game::bind(SocketAddr::new(common.ip, common.port + 1))?);
    let config = ServerConfig {
        current_time: SystemTime::now().duration_since(UNIX_EPOCH)?,
        max_clients: MAX_CLIENTS,
        protocol_id: game::PROTOCOL,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    let transport = NetcodeServerTransport::new(config, socket)?;
    // Clients do not come back: each is another player.
    let hub = HubConfig { rejoin_within: Duration::from_secs(1), secret: game::secret(), ..HubConfig::default() };
    let session = Session::host(hub)?;
    let truth = Truth::new(beside, None)?;

    let mut app = game::app("tanks: server", common);
    app.insert_resource(RenetServer::new(game::connection(&app)));
    app.insert_resource(transport).insert_resource(session).insert_resource(truth);
    app.add_plugins(rules::server_plugin);
    app.add_systems(Update, (welcome, hand_over, say_goodbye));
    let between = forget_the_gone.after(ServerSystems::Send).before(ServerSystems::SendPackets);
    app.add_systems(PostUpdate, between);
    app.world_mut().spawn((Rules::beginning_with(policy), Replicated));
    for number in 0..bots {
        app.world_mut().spawn((Tank::bundle(number), Bot::new(number)));
    }
    Ok(app.run())
}

/// Everybody who comes gets a tank, with the lowest number that is free.
fn welcome(players: Query<&PlayerHost, Added<PlayerHost>>, tanks: Query<&Tank>, mut commands: Commands) {
    let mut taken: Vec<u8> = tanks.iter().map(|tank| tank.0).collect();
    for player in &players {
        let Some(number) = (0..u8::MAX).find(|number| !taken.contains(number)) else { return };
        taken.push(number);
        commands.spawn((Tank::bundle(number), MadeFor(player.0)));
    }
}

/// A tank is the server's when it gets its name, and is given away then.
fn hand_over(mut named: Query<(&MadeFor, &mut Owner), Added<Owner>>) {
    for (made_for, mut owner) in &mut named {
        owner.set_if_neq(Owner(made_for.0));
    }
}

fn say_goodbye(mut said: MessageReader<SessionSaid>, tanks: Query<(Entity, &MadeFor)>, mut commands: Commands) {
    for said in said.read() {
        let PartEvent::Hub(HubEvent::Left { host, .. }) = &said.0 else { continue };
        for (tank, _) in tanks.iter().filter(|(_, made_for)| made_for.0 == *host) {
            commands.entity(tank).despawn();
        }
    }
}

/// What is for somebody who has gone in this very frame is for nobody: the backend would panic over it.
fn forget_the_gone(mut messages: ResMut<ServerMessages>, clients: Query<(), With<ConnectedClient>>) {
    messages.retain_sent(|(client, ..)| clients.contains(*client));
}

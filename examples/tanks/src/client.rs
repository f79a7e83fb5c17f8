//! A client: it drives the tank it is given, and sees all others.

use crate::arena::{Bot, Pedals, Tank};
use crate::truth::Truth;
use crate::{Common, forward, game};
use anyhow::{Context, Result};
use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_renet::RenetClient;
use bevy_replicon_renet::netcode::{ClientAuthentication, NetcodeClientTransport};
use evenkeel_bevy::prelude::*;
use evenkeel_link::Conditions;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whoever does not answer for so long is not there. The delay comes on top.
const PATIENCE: Duration = Duration::from_secs(6);

/// Whom this client looks for, and how.
#[derive(Resource)]
struct Server {
    address: SocketAddr,
    patience: Duration,
}

/// Whether the tank is to drive by itself.
#[derive(Resource)]
struct Autopilot(bool);

/// Plays until the window is closed, or the server is gone.
pub fn run(common: &Common, conditions: Conditions, autopilot: bool) -> Result<AppExit> {
    let address = SocketAddr::new(common.ip, common.port);
    let delay = Duration::from_nanos(conditions.delay.as_nanos().unsigned_abs());
    let title = format!("tanks: a player with {conditions}");
    let socket = UdpSocket::bind(("127.0.0.1", 0)).context("no port is free for a client")?;
    let server_addr = forward::start(&socket, address, conditions)?;
    let secret = game::secret();
    let client_id = u64::from_le_bytes(*secret.first_chunk().unwrap_or(&[1; 8]));
    let protocol_id = game::PROTOCOL;
    let authentication = ClientAuthentication::Unsecure { client_id, protocol_id, server_addr, user_data: None };
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let transport = NetcodeClientTransport::new(now, authentication, socket)?;
    let session = Session::join(SeatConfig { secret: game::secret(), ..SeatConfig::named("player") })?;
    let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let truth = Truth::new(UdpSocket::bind(any)?, Some(SocketAddr::new(common.ip, common.port + 1)))?;

    let mut app = game::app(&title, common);
    app.insert_resource(RenetClient::new(game::connection(&app)));
    app.insert_resource(transport).insert_resource(session).insert_resource(truth);
    app.insert_resource(Autopilot(autopilot)).insert_resource(Server { address, patience: PATIENCE + 6 * delay });
    app.add_systems(Update, (take_over, drive, give_up));
    let exit = app.run();
    // So that what was said last, goodbye, gets through the forwarder.
    std::thread::sleep(delay + Duration::from_millis(100));
    Ok(exit)
}

type Given<'a> = (Entity, &'a Tank, &'a mut Transform, Has<Placed>);

/// A tank is given to this client.
fn take_over(mut given: Query<Given<'_>, Added<Owned>>, autopilot: Res<Autopilot>, mut commands: Commands) {
    for (entity, tank, mut transform, placed) in &mut given {
        // It may be given before it has been seen anywhere.
        if !placed {
            *transform = tank.home();
        }
        if autopilot.0 {
            commands.entity(entity).insert(Bot::new(tank.0));
        }
    }
}

type Driven<'a> = (Entity, &'a mut Transform, &'a mut Moving, Has<Bot>);

fn drive(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    mut driven: Query<Driven<'_>, (With<Tank>, With<Owned>)>,
    mut commands: Commands,
) {
    let pedals = Pedals::pressed(&keys);
    for (entity, mut transform, mut moving, bot) in &mut driven {
        if !bot {
            pedals.drive(&mut transform, &mut moving, time.delta_secs());
        } else if !pedals.idle() {
            commands.entity(entity).remove::<Bot>();
        }
    }
}

/// Says what is wrong if the server is not there, or is no more.
fn give_up(
    state: Res<State<ClientState>>,
    server: Res<Server>,
    time: Res<Time<Real>>,
    mut said: MessageReader<SessionSaid>,
    mut was_connected: Local<bool>,
    mut exit: MessageWriter<AppExit>,
) {
    let address = server.address;
    let refused = said.read().find_map(|said| match &said.0 {
        PartEvent::Seat(SeatEvent::Refused(why)) => Some(format!("the server at {address} refuses: {why}")),
        _ => None,
    });
    let connected = *state.get() == ClientState::Connected;
    let why = match (*was_connected, *state.get()) {
        _ if refused.is_some() => refused,
        (true, ClientState::Disconnected) => {
            Some(format!("the server at {address} has gone, or cannot be reached any more"))
        }
        (false, state) if state != ClientState::Connected && time.elapsed() > server.patience => Some(format!(
            "no server answers at {address}: start one by `cargo run -- server`, or say where it is by --ip and --port"
        )),
        _ => None,
    };
    *was_connected |= connected;
    if let Some(why) = why {
        eprintln!("tanks: {why}");
        exit.write(AppExit::from_code(2));
    }
}

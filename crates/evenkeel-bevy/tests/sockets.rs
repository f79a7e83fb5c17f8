//! Two apps on our own network, without replicon: on real sockets.

#![allow(clippy::unwrap_used)]

use bevy_app::{TaskPoolPlugin, prelude::*};
use bevy_diagnostic::{DiagnosticPath, DiagnosticsPlugin, DiagnosticsStore};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_time::TimePlugin;
use bevy_transform::prelude::*;
use evenkeel_bevy::diagnostics::{CLOCK_UNCERTAINTY, VECTORS};
use evenkeel_bevy::prelude::*;
use evenkeel_net::transport::{Identity, ListenConfig, Trust};
use std::time::Duration;

fn app(session: Session) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, EvenkeelPlugin::default()));
    app.add_plugins((DiagnosticsPlugin, EvenkeelDiagnosticsPlugin));
    app.insert_resource(session);
    app
}

/// Both apps go on until something holds, which does not take for ever.
#[track_caller]
fn until(server: &mut App, client: &mut App, mut holds: impl FnMut(&mut App, &mut App) -> bool) {
    for _ in 0..2_000 {
        std::thread::sleep(Duration::from_millis(5));
        server.update();
        client.update();
        if holds(server, client) {
            return;
        }
    }
    panic!("it never holds: {:?} and {:?}", followed(server), followed(client));
}

fn followed(app: &mut App) -> Vec<(Vec<u8>, Vec3)> {
    let world = app.world_mut();
    let mut query = world.query_filtered::<(&About, &Transform), (With<Followed>, With<Placed>)>();
    query.iter(world).map(|(about, transform)| (about.0.clone(), transform.translation)).collect()
}

fn sees(app: &mut App, what: &[u8], at: Vec3) -> bool {
    matches!(&followed(app)[..], [(about, there)] if about == what && there.distance(at) < 0.2)
}

#[test]
fn a_server_and_a_player_see_each_others_things() {
    let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(86_400)).unwrap();
    let trust = Trust::in_hash(&identity.hash_text()).unwrap();
    let listen = ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity);
    let server = Server::spawn(ServerConfig::new(listen, HubConfig::default())).unwrap();
    let url = format!("https://{}/", server.address());
    let client = Client::spawn(ClientConfig::new(&url, trust, SeatConfig::named("Ada"))).unwrap();
    let (mut server, mut client) = (app(Session::server(server)), app(Session::client(client)));

    let thing = |at, about: &[u8]| (Transform::from_translation(at), DeadReckoned::within(0.1), About(about.to_vec()));
    let rock = server.world_mut().spawn(thing(Vec3::X, b"rock")).id();
    let ship = client.world_mut().spawn(thing(Vec3::Y, b"ship")).id();
    until(&mut server, &mut client, |server, client| sees(server, b"ship", Vec3::Y) && sees(client, b"rock", Vec3::X));
    client.world_mut().get_mut::<Transform>(ship).unwrap().translation = Vec3::Z;
    server.world_mut().get_mut::<Transform>(rock).unwrap().translation = Vec3::Z * 2.0;
    until(&mut server, &mut client, |server, client| {
        sees(server, b"ship", Vec3::Z) && sees(client, b"rock", Vec3::Z * 2.0)
    });

    // The server takes the ship, and the player's game is told of it.
    let world = server.world_mut();
    let taken = world.query_filtered::<Entity, With<Followed>>().single(world).unwrap();
    world.get_mut::<Owner>(taken).unwrap().0 = SERVER;
    until(&mut server, &mut client, |server, _| server.world().entity(taken).contains::<Owned>());
    until(&mut server, &mut client, |_, client| client.world().entity(ship).contains::<Followed>());
    server.world_mut().get_mut::<Transform>(taken).unwrap().translation = Vec3::ONE;
    until(&mut server, &mut client, |_, client| {
        client.world().get::<Transform>(ship).unwrap().translation.distance(Vec3::ONE) < 0.2
    });

    until(&mut server, &mut client, |server, client| {
        let measured = |app: &App, path: DiagnosticPath| {
            app.world().resource::<DiagnosticsStore>().get(&path).and_then(|diagnostic| diagnostic.value())
        };
        measured(server, VECTORS).is_some() && measured(client, CLOCK_UNCERTAINTY).is_some()
    });
    server.world_mut().despawn(taken);
    server.world_mut().despawn(rock);
    until(&mut server, &mut client, |_, client| {
        followed(client).is_empty() && client.world().get_entity(ship).is_err()
    });
}

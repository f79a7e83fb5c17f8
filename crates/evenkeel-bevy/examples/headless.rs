//! A server without a window, and a player's app beside it, both in one program: on real sockets, with 100 ms between them.
//!
//! `cargo run -p evenkeel-bevy --example headless`

use bevy_app::{ScheduleRunnerPlugin, TaskPoolPlugin, prelude::*};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::{Real, Time, TimePlugin};
use bevy_transform::prelude::*;
use evenkeel_bevy::prelude::*;
use evenkeel_net::transport::{Conditioner, Identity, ListenConfig, Trust};
use std::time::Duration;

const SECONDS: f32 = 5.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(14 * 24 * 3600))?;
    let hash = identity.hash_text();
    let bad_network = Conditioner::new(1);
    bad_network.set_default("delay=100ms,loss=2%".parse()?, "delay=100ms".parse()?)?;
    let listen = ListenConfig { conditioner: Some(bad_network), ..ListenConfig::new("127.0.0.1:0".parse()?, identity) };
    let server = Server::spawn(ServerConfig::new(listen, HubConfig::default()))?;
    let url = format!("https://{}/", server.address());
    println!("a server at {url}, certificate {hash}");
    let client = Client::spawn(ClientConfig::new(&url, Trust::in_hash(&hash)?, SeatConfig::named("Ada")))?;

    let player = std::thread::spawn(move || play(client));
    serve(server);
    player.join().map_err(|_| "the player's app came to grief")?;
    Ok(())
}

fn app() -> App {
    let mut app = App::new();
    let frames = ScheduleRunnerPlugin::run_loop(Duration::from_millis(16));
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, frames, EvenkeelPlugin::default()));
    app.add_systems(Last, |time: Res<Time<Real>>, mut exit: MessageWriter<AppExit>| {
        if time.elapsed_secs() > SECONDS {
            exit.write(AppExit::Success);
        }
    });
    app
}

/// The server drives a tank in figures of eight.
fn serve(server: Server) {
    let mut app = app();
    app.insert_resource(Session::server(server));
    app.insert_resource(FairPolicy::named("even", Budget::PerSecond(100.0)));
    app.add_systems(Startup, |mut commands: Commands| {
        let reckoned = DeadReckoned::within(0.1).turning(0.05).upright();
        commands.spawn((Transform::default(), Moving::default(), reckoned, About(b"tank".to_vec())));
    });
    app.add_systems(Update, drive);
    app.run();
}

fn drive(time: Res<Time<Real>>, mut tanks: Query<(&mut Transform, &mut Moving), With<Owned>>) {
    for (mut transform, mut moving) in &mut tanks {
        let turning = Vec3::Y * (time.elapsed_secs() * 0.7).sin().signum();
        transform.rotation *= Quat::from_rotation_y(turning.y * time.delta_secs());
        let velocity = transform.rotation * Vec3::NEG_Z * 10.0;
        transform.translation += velocity * time.delta_secs();
        *moving = Moving { velocity, turning };
    }
}

/// The player's app reads `Transform` like any other.
fn play(client: Client) {
    let mut app = app();
    app.insert_resource(Session::client(client));
    app.add_systems(Update, |news: Query<(&About, &Transform), Added<Placed>>| {
        for (about, transform) in &news {
            println!("there is a {} at {:.1}", String::from_utf8_lossy(&about.0), transform.translation);
        }
    });
    app.add_systems(Update, |time: Res<Time<Real>>, mut next: Local<f32>, seen: Query<&Transform, With<Placed>>| {
        if time.elapsed_secs() > *next {
            *next += 0.5;
            seen.iter()
                .for_each(|seen| println!("{:.1} s: the tank is at {:6.2}", time.elapsed_secs(), seen.translation));
        }
    });
    app.run();
}

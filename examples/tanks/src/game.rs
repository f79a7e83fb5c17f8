//! What a server's window and a client's have in common.

use crate::{Common, arena, draw, rules, truth, watch};
use anyhow::{Context, Result};
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::winit::{UpdateMode, WinitSettings};
use bevy_replicon::prelude::*;
use bevy_replicon_renet::renet::ConnectionConfig;
use bevy_replicon_renet::{RenetChannelsExt, RepliconRenetPlugins};
use evenkeel_bevy::prelude::*;
use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Others' programs are not to join by mistake.
pub const PROTOCOL: u64 = 0x7461_6e6b_7330_0001;

/// A window, the game and its network, but neither half of a session yet.
pub fn app(title: &str, common: &Common) -> App {
    let mut app = App::new();
    let window = Window { title: title.into(), resolution: (960, 660).into(), ..default() };
    let window = WindowPlugin { primary_window: Some(window), ..default() };
    app.add_plugins(DefaultPlugins.set(window).set(LogPlugin { level: Level::WARN, ..default() }));
    // Several windows are open, and all are to go on: whoever is seen by others does not pause.
    let sixty = UpdateMode::reactive_low_power(Duration::from_secs_f64(1.0 / 60.0));
    app.insert_resource(WinitSettings { focused_mode: sixty, unfocused_mode: sixty });
    app.add_plugins((RepliconPlugins.set(ServerPlugin::new(PostUpdate)), RepliconRenetPlugins));
    app.add_plugins(EvenkeelRepliconPlugin { evenkeel: EvenkeelPlugin::flat() });
    app.add_plugins(EvenkeelDiagnosticsPlugin);
    app.replicate::<arena::Tank>();
    app.add_systems(Update, arena::drive_bots);
    app.add_plugins((rules::plugin, truth::plugin, draw::plugin, watch::Watch::new(common)));
    app
}

/// Renet's half of the connection. All messages have to be registered by now.
pub fn connection(app: &App) -> ConnectionConfig {
    let channels = app.world().resource::<RepliconChannels>();
    ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..default()
    }
}

/// A port for others to find.
pub fn bind(address: SocketAddr) -> Result<UdpSocket> {
    UdpSocket::bind(address).with_context(|| {
        format!("cannot listen at {address}: is another server running? Stop it, or choose another port by --port")
    })
}

/// Bytes nobody guesses.
pub fn secret() -> [u8; 16] {
    let half = || RandomState::new().hash_one(0).to_le_bytes();
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&half());
    secret[8..].copy_from_slice(&half());
    secret
}

//! Accurate and fair movement for multiplayer games made with Bevy.
//!
//! The owner's game writes `Transform`; everybody else's reads it. What is sent to whom and when, so that all see everything where it
//! is and nobody is worse off than another, is the [heart](evenkeel)'s to decide: this crate has no logic of its own.
//!
//! # With a network of our own
//!
//! Whatever has a [`DeadReckoned`] and a `Transform` is seen by all others, whose apps spawn an entity for it. The server:
//!
//! ```no_run
//! # use bevy_app::{ScheduleRunnerPlugin, TaskPoolPlugin, prelude::*};
//! # use bevy_ecs::prelude::*;
//! # use bevy_time::TimePlugin;
//! # use bevy_transform::prelude::*;
//! use evenkeel_bevy::prelude::*;
//! use evenkeel_net::transport::{Identity, ListenConfig};
//! # use std::time::Duration;
//! # #[derive(Component)] struct Tank;
//! # let mut app = App::new();
//! # app.add_plugins((TaskPoolPlugin::default(), TimePlugin, ScheduleRunnerPlugin::default()));
//! let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(14 * 24 * 3600))?;
//! println!("certificate {}", identity.hash_text());
//! let listen = ListenConfig::new("0.0.0.0:4433".parse()?, identity);
//! let server = Server::spawn(ServerConfig::new(listen, HubConfig::default()))?;
//!
//! app.add_plugins(EvenkeelPlugin::default())
//!     .insert_resource(Session::server(server))
//!     .insert_resource(FairPolicy::named("even", Budget::PerSecond(200.0)))
//!     .add_systems(Startup, |mut commands: Commands| {
//!         let tank = About(b"tank".to_vec()); // what others are told of it
//!         commands.spawn((Tank, Transform::default(), DeadReckoned::within(0.1).upright(), tank));
//!     })
//!     .run();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A player's app:
//!
//! ```no_run
//! # use bevy_app::prelude::*;
//! # use bevy_ecs::prelude::*;
//! # use bevy_transform::prelude::*;
//! use evenkeel_bevy::prelude::*;
//! use evenkeel_net::transport::Trust;
//! # let (mut app, hash) = (App::new(), String::new());
//! let config = ClientConfig::new("https://127.0.0.1:4433/", Trust::in_hash(&hash)?, SeatConfig::named("Ada"));
//! app.add_plugins(EvenkeelPlugin::default())
//!     .insert_resource(Session::client(Client::spawn(config)?))
//!     .add_systems(Update, |new: Query<(Entity, &About, &Transform), Added<Placed>>| {
//!         for (entity, about, transform) in &new {
//!             // Add what is to be seen of it. Its `Transform` is kept where it is from now on.
//! #           let _ = (entity, about, transform);
//!         }
//!     });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Beside bevy_replicon
//!
//! With the feature `replicon`, the game is replicated as ever, but for movement: add [`EvenkeelRepliconPlugin`] after
//! `RepliconPlugins`, do not replicate `Transform`, and put a [`DeadReckoned`] on what moves.
//!
#![cfg_attr(feature = "replicon", doc = "```no_run")]
#![cfg_attr(not(feature = "replicon"), doc = "```ignore")]
//! # use bevy_app::prelude::*;
//! # use bevy_ecs::prelude::*;
//! # use bevy_transform::prelude::*;
//! use bevy_replicon::prelude::*;
//! use evenkeel_bevy::prelude::*;
//! # let mut app = App::new();
//! app.add_plugins((RepliconPlugins, EvenkeelRepliconPlugin::default()));
//! // On the server; with `Session::join(SeatConfig::named("Ada"))?` on clients.
//! app.insert_resource(Session::host(HubConfig::default())?);
//! app.world_mut().spawn((Transform::default(), DeadReckoned::within(0.1), Replicated));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What else there is
//!
//! - Who owns what: write [`Owner`], and an entity is handed over. [`Owned`] and [`Followed`] tell whether this app writes or reads.
//! - Who sees what: [`Relevances`]. What must stay secret is better kept by [`HubConfig::scope`](evenkeel_net::hub::HubConfig::scope).
//! - While it goes on: [`FairPolicy`], [`ShownLag`], [`ClockUsed`] are resources of the server's.
//! - What happened: [`SessionSaid`]; what went wrong: [`Trouble`]; how well it goes: [`diagnostics`], and [`Seen`] of each entity.
//! - One's own entity ahead of the authority: [`PredictionPlugin`]. Placing alone, for games with networks of their own:
//!   [`ExtrapolatePlugin`].

#![forbid(unsafe_code)]
// Systems say by their arguments what they touch.
#![allow(clippy::too_many_arguments, clippy::type_complexity)]

mod axes;
mod components;
pub mod diagnostics;
mod extrapolate;
mod others;
mod owners;
mod prediction;
#[cfg(feature = "replicon")]
mod replicon;
mod settings;
mod trouble;

pub use diagnostics::EvenkeelDiagnosticsPlugin;
pub use evenkeel_net::Session;
#[cfg(feature = "replicon")]
pub use replicon::{EvenkeelRepliconPlugin, PlayerHost};
pub use {axes::*, components::*, extrapolate::*, others::SessionSaid, prediction::*, settings::*, trouble::Trouble};
pub use {evenkeel, evenkeel_net};

// Modules have these, too, by the prelude.
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_transform::prelude::*;
use evenkeel::{Duration, EntityId, Instant};
use {owners::Roster, trouble::Complain};

/// What a game usually needs.
pub mod prelude {
    pub use crate::*;
    pub use evenkeel::{Budget, ClockRule, HostId, MotionKind, Relevance, Threshold};
    #[cfg(feature = "net")]
    pub use evenkeel_net::{Client, ClientConfig, Server, ServerConfig};
    pub use evenkeel_net::{hub::HubConfig, hub::HubEvent, part::PartEvent, part::Refused, protocol::SERVER};
    pub use evenkeel_net::{seat::SeatConfig, seat::SeatEvent};
}

/// Where in a frame things happen.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvenkeelSystems {
    /// In `PreUpdate`: bytes arrive, if the app carries them.
    Receive,
    /// In `PreUpdate`: what has happened becomes components and messages.
    Hear,
    /// In `PreUpdate`: everything of others' is put where it is to be seen.
    Place,
    /// In `PostUpdate`: the session is told where everything is that this app moves.
    Observe,
    /// In `PostUpdate`: bytes leave, if the app carries them.
    Send,
}

/// Takes part in a [`Session`], once there is one.
#[derive(Resource, Clone, Debug, Default)]
pub struct EvenkeelPlugin {
    /// Which way is up.
    pub axes: Axes,
    /// Whether the game moves things in `FixedUpdate`. Between its ticks what it owns is then told as if it went on as its [`Moving`]
    /// says; otherwise others would see it go in steps. Default: no.
    pub fixed: bool,
}

impl EvenkeelPlugin {
    /// For two dimensions: see [`Axes::Flat`].
    pub fn flat() -> Self {
        Self { axes: Axes::Flat, ..Self::default() }
    }

    /// For a game that moves things in `FixedUpdate`.
    pub fn fixed(self) -> Self {
        Self { fixed: true, ..self }
    }
}

impl Plugin for EvenkeelPlugin {
    fn build(&self, app: &mut App) {
        use EvenkeelSystems::{Hear, Observe, Place, Receive, Send};
        app.insert_resource(self.clone()).insert_resource(self.axes).init_resource::<Roster>();
        app.init_resource::<trouble::Said>().add_message::<Trouble>().add_message::<SessionSaid>();
        app.add_observer(owners::name_added).add_observer(owners::name_removed);
        let running = resource_exists::<Session>;
        app.configure_sets(PreUpdate, (Receive, Hear, Place).chain().run_if(running));
        app.configure_sets(PostUpdate, (Observe, Send).chain().run_if(running));
        // Whoever brings bytes finds out when.
        app.add_systems(PreUpdate, others::pass_time.before(Receive).run_if(running));
        app.add_systems(PreUpdate, (others::hear, owners::sort_out).chain().in_set(Hear));
        app.add_systems(PreUpdate, (others::place, others::wonder).chain().in_set(Place));
        let settings = (
            settings::choose_policy.run_if(resource_exists_and_changed::<FairPolicy>),
            settings::choose_lag.run_if(resource_exists_and_changed::<ShownLag>),
            settings::choose_rule.run_if(resource_exists_and_changed::<ClockUsed>),
        );
        let owning = (owners::dismiss, owners::enlist, owners::configure, owners::hand_over).chain();
        let observe = owners::observe.run_if(resource_exists::<bevy_time::Time<bevy_time::Virtual>>);
        app.add_systems(PostUpdate, (settings, owning, observe).chain().in_set(Observe));
    }
}

#[cfg(test)]
mod tests {
    /// The plugin calls the heart and has no logic of its own: that takes few lines. The transport by replicon, and placing alone, are
    /// plugins of their own.
    #[test]
    fn it_is_small() {
        let code = |text: &str| {
            let code = text.split("#[cfg(test)]").next().into_iter().flat_map(str::lines).map(str::trim);
            code.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
        };
        let plugin = [
            include_str!("axes.rs"),
            include_str!("components.rs"),
            include_str!("diagnostics.rs"),
            include_str!("lib.rs"),
            include_str!("others.rs"),
            include_str!("owners.rs"),
            include_str!("prediction.rs"),
            include_str!("settings.rs"),
            include_str!("trouble.rs"),
        ];
        let lines: usize = plugin.into_iter().map(code).sum();
        assert!(lines < 600, "{lines} lines");
    }
}

/// The examples in the README are tests too.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

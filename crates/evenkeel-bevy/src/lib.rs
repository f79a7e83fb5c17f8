//! Accurate and fair movement for multiplayer games made with Bevy.
//!
//! The owner's game writes `Transform`; everybody else's reads it. What is sent to whom and when, so that all see everything where it
//! is and nobody is worse off than another, is the [heart](evenkeel)'s to decide: this crate has no logic of its own.

#![forbid(unsafe_code)]

mod axes;
mod components;
pub mod diagnostics;
mod extrapolate;
mod others;
mod owners;
mod prediction;
#[cfg(feature = "replicon")]
mod replicon;
mod session;
mod settings;
mod trouble;

pub use axes::Axes;
pub use components::{About, DeadReckoned, Followed, Moving, NetId, Owned, Owner, Placed, Relevances, Seen, Turns};
pub use diagnostics::EvenkeelDiagnosticsPlugin;
pub use evenkeel;
pub use evenkeel_net;
pub use extrapolate::{ExtrapolatePlugin, Extrapolated};
pub use prediction::{Predicted, Predicting, PredictionPlugin, PredictionSaid};
#[cfg(feature = "replicon")]
pub use replicon::{EvenkeelRepliconPlugin, PlayerHost};
pub use session::{Session, SessionSaid};
pub use settings::{ClockUsed, FairPolicy, ShownLag};
pub use trouble::Trouble;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use owners::Roster;

/// What a game usually needs.
pub mod prelude {
    pub use crate::{
        About, Axes, ClockUsed, DeadReckoned, EvenkeelDiagnosticsPlugin, EvenkeelPlugin, EvenkeelSystems,
        ExtrapolatePlugin, Extrapolated, FairPolicy, Followed, Moving, NetId, Owned, Owner, Placed, Relevances, Seen,
        Session, SessionSaid, ShownLag, Trouble, Turns,
    };
    #[cfg(feature = "replicon")]
    pub use crate::{EvenkeelRepliconPlugin, PlayerHost};
    pub use evenkeel::policy::Budget;
    pub use evenkeel::{ClockRule, HostId, MotionKind, Relevance, Threshold};
    pub use evenkeel_net::hub::{HubConfig, HubEvent};
    pub use evenkeel_net::part::PartEvent;
    pub use evenkeel_net::protocol::SERVER;
    pub use evenkeel_net::seat::{SeatConfig, SeatEvent};
    #[cfg(feature = "net")]
    pub use evenkeel_net::{Client, ClientConfig, Server, ServerConfig};
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
#[derive(Clone, Debug, Default)]
pub struct EvenkeelPlugin {
    /// Which way is up.
    pub axes: Axes,
}

impl EvenkeelPlugin {
    /// For two dimensions: see [`Axes::Flat`].
    pub fn flat() -> Self {
        Self { axes: Axes::Flat }
    }
}

impl Plugin for EvenkeelPlugin {
    fn build(&self, app: &mut App) {
        use EvenkeelSystems::{Hear, Observe, Place, Receive, Send};
        app.insert_resource(self.axes).insert_resource(Roster::spawning()).init_resource::<trouble::Said>();
        app.add_message::<Trouble>().add_message::<SessionSaid>();
        app.add_observer(owners::name_added).add_observer(owners::name_removed);
        let running = resource_exists::<Session>;
        app.configure_sets(PreUpdate, (Receive, Hear, Place).chain().run_if(running));
        app.configure_sets(PostUpdate, (Observe, Send).chain().run_if(running));
        app.add_systems(
            PreUpdate,
            (
                others::pass_time.in_set(Receive),
                (others::hear, owners::sort_out).chain().in_set(Hear),
                others::place.in_set(Place),
            ),
        );
        let settings = (
            settings::choose_policy.run_if(resource_exists_and_changed::<FairPolicy>),
            settings::choose_lag.run_if(resource_exists_and_changed::<ShownLag>),
            settings::choose_rule.run_if(resource_exists_and_changed::<ClockUsed>),
        );
        let owning =
            (owners::dismiss, owners::enlist, owners::configure, owners::hand_over, owners::weigh, owners::observe);
        app.add_systems(PostUpdate, (settings, owning.chain()).chain().in_set(Observe));
    }
}

//! What can be changed while a session goes on. These are resources of the server's app: players are told.

use crate::prelude::*;
use evenkeel::policy::{UnknownPolicy, by_name};
use evenkeel::{LagChange, Policy};

/// Who is told what and when, and what that may cost.
///
/// ```
/// use evenkeel_bevy::prelude::*;
/// # let mut app = bevy_app::App::new();
/// app.insert_resource(FairPolicy::named("even", Budget::PerSecond(200.0)));
/// ```
#[derive(Resource)]
pub struct FairPolicy(Box<dyn Fn() -> Result<Box<dyn Policy>, UnknownPolicy> + Send + Sync>);

impl FairPolicy {
    /// One of the [policies that have names](evenkeel::policy::NAMES).
    pub fn named(name: impl Into<String>, budget: Budget) -> Self {
        let name = name.into();
        Self(Box::new(move || by_name(&name, budget, 0)))
    }

    /// One of the game's own.
    pub fn own<P: Policy + 'static>(make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self(Box::new(move || Ok(Box::new(make()))))
    }
}

/// How long everything waits before it is shown, so that all see it alike.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLag(pub Duration);

/// By whose clock players extrapolate what they are told.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockUsed(pub ClockRule);

/// So long before it begins everybody hears that the lag changes.
const NOTICE: Duration = Duration::from_millis(500);

pub(crate) fn choose_policy(mut session: ResMut<Session>, policy: Res<FairPolicy>, mut complain: Complain) {
    match policy.0() {
        Ok(policy) => _ = session.hub(|hub, _| hub.set_policy(policy)),
        Err(why) => complain.about(None, "the policy stays as it was", why),
    }
}

pub(crate) fn choose_lag(mut session: ResMut<Session>, lag: Res<ShownLag>, mut complain: Complain) {
    let changed = session.hub(|hub, now| {
        let (before, begins) = (hub.sender().ledger().placing().lag, hub.now(now) + NOTICE);
        hub.set_lag(LagChange::usual(before, lag.0, begins), now)
    });
    if let Some(Err(why)) = changed {
        complain.about(None, "the lag stays as it was", why);
    }
}

pub(crate) fn choose_rule(mut session: ResMut<Session>, rule: Res<ClockUsed>, mut complain: Complain) {
    if let Some(Err(why)) = session.hub(|hub, now| hub.set_rule(rule.0, now)) {
        complain.about(None, "the rule stays as it was", why);
    }
}

//! What can be changed while a session goes on. These are resources of the server's app: players are told.

use crate::session::Session;
use crate::trouble::Complain;
use bevy_ecs::prelude::*;
use evenkeel::policy::{Budget, by_name};
use evenkeel::{ClockRule, Duration, LagChange, Policy};

/// Who is told what and when, and what that may cost.
///
/// ```
/// use evenkeel_bevy::prelude::*;
/// # let mut app = bevy_app::App::new();
/// app.insert_resource(FairPolicy::named("even", Budget::PerSecond(200.0)));
/// ```
#[derive(Resource)]
pub struct FairPolicy(Choice);

enum Choice {
    Named(String, Budget),
    Own(Option<Box<dyn Policy + Sync>>),
}

impl FairPolicy {
    /// One of the [policies that have names](evenkeel::policy::NAMES).
    pub fn named(name: impl Into<String>, budget: Budget) -> Self {
        Self(Choice::Named(name.into(), budget))
    }

    /// One of the game's own.
    pub fn own(policy: impl Policy + Sync + 'static) -> Self {
        Self(Choice::Own(Some(Box::new(policy))))
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

pub(crate) fn choose_policy(mut session: ResMut<Session>, mut choice: ResMut<FairPolicy>, mut complain: Complain) {
    let policy = match &mut choice.bypass_change_detection().0 {
        Choice::Named(name, budget) => by_name(name, *budget, 0),
        Choice::Own(own) => match own.take() {
            Some(policy) => Ok(policy as Box<dyn Policy>),
            None => return,
        },
    };
    match policy {
        Ok(policy) => _ = session.hub(|hub, _| hub.set_policy(policy)),
        Err(why) => complain.about(None, "the policy stays as it was", why),
    }
}

pub(crate) fn choose_lag(mut session: ResMut<Session>, lag: Res<ShownLag>, mut complain: Complain) {
    let changed = session.hub(|hub, now| {
        let before = hub.sender().ledger().placing().lag;
        let begins = hub.now(now) + NOTICE;
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

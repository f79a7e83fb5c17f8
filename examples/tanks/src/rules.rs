//! What everybody can change by a key: who is told what, and how late it is shown.

use bevy::diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy::prelude::*;
use bevy_replicon::prelude::*;
use evenkeel_bevy::diagnostics::{BYTES, ERROR_MEAN, ERROR_SPREAD, VECTORS};
use evenkeel_bevy::evenkeel::Duration;
use evenkeel_bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// By keys 1 to 5. All but the first send a third of what it sends.
pub const POLICIES: [&str; 5] = ["base", "base/3", "credits", "tolerance", "even"];
/// How long everything waits before it is shown, in milliseconds.
const LAGS: [u16; 3] = [0, 100, 200];
/// Numbers are means over so many seconds.
const SECONDS: usize = 5;

/// What holds, and what it costs: an entity of the server's that everybody sees.
#[derive(Component, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rules {
    policy: u8,
    lag: u8,
    /// How far off players see things, on average, and how much that differs among them, as the server reckons.
    error: (f32, f32),
    /// Sent to all, a second.
    vectors: f32,
    bytes: f32,
}

/// Somebody has pressed a key.
#[derive(Message, Clone, Copy, Serialize, Deserialize)]
enum Wish {
    Policy(u8),
    NextLag,
}

impl Rules {
    /// To begin with this policy.
    pub fn beginning_with(policy: u8) -> Self {
        Self { policy, ..Self::default() }
    }

    /// In two lines.
    pub fn told(&self) -> String {
        let policy = POLICIES.get(usize::from(self.policy)).unwrap_or(&"?");
        let Self { error: (mean, spread), vectors, bytes, .. } = self;
        let lag = LAGS.get(usize::from(self.lag)).unwrap_or(&0);
        let cost = format!("{vectors:.0} vectors/s, {:.1} kB/s to all", bytes / 1e3);
        let players = format!("players off by {mean:.2} +- {spread:.2} m");
        format!("policy {} {policy} | lag {lag} ms\n{players} | {cost}", self.policy + 1)
    }

    fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::Policy(policy) if usize::from(policy) < POLICIES.len() => self.policy = policy,
            Wish::Policy(_) => {}
            Wish::NextLag => self.lag = (self.lag + 1) % LAGS.len() as u8,
        }
    }
}

/// Both windows' part.
pub fn plugin(app: &mut App) {
    app.replicate::<Rules>().add_client_message::<Wish>(Channel::Ordered);
    app.add_systems(Update, wish);
}

/// The server's part.
pub fn server_plugin(app: &mut App) {
    app.add_systems(Update, (grant, apply, reckon).chain());
}

fn wish(keys: Res<ButtonInput<KeyCode>>, mut wishes: MessageWriter<Wish>) {
    let digits = [KeyCode::Digit1, KeyCode::Digit2, KeyCode::Digit3, KeyCode::Digit4, KeyCode::Digit5];
    for (policy, _) in (0..).zip(digits).filter(|(_, digit)| keys.just_pressed(*digit)) {
        wishes.write(Wish::Policy(policy));
    }
    if keys.just_pressed(KeyCode::KeyL) {
        wishes.write(Wish::NextLag);
    }
}

fn grant(mut wishes: MessageReader<FromClient<Wish>>, mut rules: Single<&mut Rules>) {
    for wish in wishes.read() {
        rules.grant(wish.message);
    }
}

/// Tells the session, once for each change.
fn apply(rules: Single<&Rules>, mut before: Local<Option<(u8, u8)>>, mut commands: Commands) {
    let (policy, lag) = before.unwrap_or((u8::MAX, 0));
    if rules.policy != policy {
        let name = POLICIES[usize::from(rules.policy)];
        commands.insert_resource(FairPolicy::named(name, Budget::of_base(1, 3)));
    }
    if rules.lag != lag {
        commands.insert_resource(ShownLag(Duration::from_millis(LAGS[usize::from(rules.lag)].into())));
    }
    *before = Some((rules.policy, rules.lag));
}

/// What it has cost of late.
fn reckon(diagnostics: Res<DiagnosticsStore>, mut rules: Single<&mut Rules>) {
    let recent = |path: &DiagnosticPath| {
        let measured = diagnostics.get(path)?;
        let count = measured.history_len().min(SECONDS);
        let sum: f64 = measured.values().skip(measured.history_len() - count).sum();
        (count > 0).then(|| (sum / count as f64) as f32)
    };
    let recent = |path| recent(&path).unwrap_or_default();
    let (error, vectors, bytes) = ((recent(ERROR_MEAN), recent(ERROR_SPREAD)), recent(VECTORS), recent(BYTES));
    let reckoned = Rules { error, vectors, bytes, ..**rules };
    rules.set_if_neq(reckoned);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_granted_within_reason() {
        let mut rules = Rules::default();
        rules.grant(Wish::Policy(4));
        rules.grant(Wish::Policy(5));
        assert_eq!(rules.policy, 4);
        for lag in [1, 2, 0] {
            rules.grant(Wish::NextLag);
            assert_eq!(rules.lag, lag);
        }
    }
}

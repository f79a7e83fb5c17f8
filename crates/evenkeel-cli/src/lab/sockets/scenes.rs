//! Which scenarios run on sockets, and how.

use evenkeel_lab::study::{Body, Scenario};
use evenkeel_lab::workload::Motion;
use evenkeel_link::Conditions;

/// The studies drive one tank for ten minutes; a run of less than a minute needs several for chance to count as little.
const TANKS: u32 = 4;

/// One scenario on sockets.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) scenario: Scenario,
    /// What players call themselves, if not by their delays.
    pub(super) names: Option<Vec<String>>,
    /// Whether a first look has it.
    pub(super) quick: bool,
    /// Whether it is about the clock only.
    pub(super) clock: bool,
}

/// All of them. A place in this list is what the server's process is told.
pub(super) fn scenes(seconds: f64) -> Vec<Scene> {
    let plain = |scenario: Scenario| {
        let scenario = scenario.of(TANKS);
        let quick = scenario.policy == "even" || scenario.body == Body::Motion(Motion::Tank);
        Scene { quick: quick && scenario.policy != "base/3", scenario, names: None, clock: false }
    };
    let accuracy = Scenario::accuracy(seconds).into_iter();
    let policies = Scenario::policies(seconds, false, &["base/3", "credits", "even"]).into_iter();
    let jittery = Scenario::policies(seconds, true, &["base/3", "even"]).into_iter();
    let mut all: Vec<Scene> = accuracy.chain(policies).map(plain).collect();
    all.iter_mut().filter(|scene| scene.scenario.policy == "credits").for_each(|scene| scene.quick = false);
    all.extend(jittery.map(|scenario| Scene { quick: false, ..plain(scenario) }));
    all.extend(Scenario::policies(seconds, false, &["even"]).into_iter().map(misnamed));
    all.extend(far(seconds));
    all
}

/// The same, but what the server is told about its players is wrong: everybody claims to be where another is, and comes in
/// another order.
fn misnamed(scenario: Scenario) -> Scene {
    let mut scenario = scenario.of(TANKS);
    scenario.paths.rotate_left(1);
    let mut names: Vec<String> = scenario.paths.iter().map(name_of).collect();
    names.rotate_left(1);
    Scene { scenario, names: Some(names), quick: false, clock: false }
}

/// Three players on the path `far` of the clock's targets.
fn far(seconds: f64) -> Option<Scene> {
    let tank = Scenario::accuracy(seconds).into_iter().next()?;
    let path = Conditions::named("far").ok()?;
    let names = (1..=3).map(|number| format!("far {number}")).collect();
    let scenario = Scenario { study: "clock", paths: vec![path; 3], ..tank };
    Some(Scene { scenario, names: Some(names), quick: true, clock: true })
}

/// What a player is called who is honest about its delay.
pub(super) fn name_of(path: &Conditions) -> String {
    format!("{:.0} ms", path.delay.as_millis_f64())
}

impl Scene {
    /// What tables call it.
    pub(super) fn name(&self) -> String {
        match (&self.names, self.clock) {
            (Some(_), false) => format!("{}, misnamed", self.scenario.name()),
            _ => self.scenario.name(),
        }
    }

    /// What the players call themselves, in the order of the paths.
    pub(super) fn players(&self) -> Vec<String> {
        self.names.clone().unwrap_or_else(|| self.scenario.paths.iter().map(name_of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misnamed_lie_and_a_first_look_is_short() {
        let all = scenes(30.0);
        let misnamed = all.iter().find(|scene| scene.name().contains("misnamed")).unwrap();
        for (player, path) in misnamed.players().iter().zip(&misnamed.scenario.paths) {
            assert_ne!(*player, name_of(path));
        }
        let quick: Vec<String> = all.iter().filter(|scene| scene.quick).map(Scene::name).collect();
        assert_eq!(quick, ["accuracy tank", "policies tank", "clock tank, jitter"]);
    }
}

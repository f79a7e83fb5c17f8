//! Single cells of the studies as bodies that also run elsewhere: the same fleet, rules, policy, budget and paths in the
//! laboratory's world and on real sockets.

use super::accuracy::Drive;
use super::cells::{DELAYS_MS, JITTERS_MS, papers};
use super::measure::{ACCURACY_DELAYS_MS, rules};
use super::{Brief, Size};
use crate::experiment::{Source, paths};
use crate::policies::make_policy;
use crate::workload::{Entity, Motion};
use crate::world::{Fleet, Outcome, Rules, Setting, run};
use anyhow::Result;
use evenkeel::{Budget, ClockRule, GlobalTime};
use evenkeel_link::Conditions;

/// What moves in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A synthetic motion.
    Motion(Motion),
    /// A tank driven straight on, with pauses, and back: the thesis's "linear".
    DrivenStraight,
    /// The same with the stick held to one side: the thesis's "circular".
    DrivenInCircles,
}

impl Body {
    /// All of them, by name. A place in this list is a number that others may keep: append only.
    pub const ALL: [(&str, Self); 9] = [
        ("tank", Self::Motion(Motion::Tank)),
        ("tank-inertia", Self::Motion(Motion::TankInertia)),
        ("linear", Self::Motion(Motion::Linear)),
        ("circular", Self::Motion(Motion::Circular)),
        ("random", Self::Motion(Motion::Random)),
        ("shots", Self::Motion(Motion::Shots)),
        ("spaceship", Self::Motion(Motion::Spaceship)),
        ("driven-straight", Self::DrivenStraight),
        ("driven-in-circles", Self::DrivenInCircles),
    ];

    /// The body with this name.
    pub fn by_name(name: &str) -> Result<Self> {
        match Self::ALL.iter().find(|(known, _)| *known == name) {
            Some((_, body)) => Ok(*body),
            // It knows which names are near.
            None => Motion::by_name(name).map(Self::Motion),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, body)| *body == self).map_or("", |(name, _)| name)
    }

    /// So many entities that move like this.
    pub fn entities(self, count: u32, seconds: f64, seed: u64) -> Vec<Entity> {
        let drive = match self {
            Self::Motion(motion) => return motion.entities(count, seconds, seed),
            Self::DrivenStraight => Drive::Linear,
            Self::DrivenInCircles => Drive::Circular,
        };
        let apart = |number: u32| seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (0..count).flat_map(|number| drive.entities(seconds, apart(number))).collect()
    }
}

/// One cell of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Which study it is of.
    pub study: &'static str,
    /// What moves.
    pub body: Body,
    /// How many of them.
    pub entities: u32,
    /// For how long, in seconds.
    pub seconds: f64,
    /// Who is told what and when, by name.
    pub policy: String,
    /// What the policy may spend.
    pub budget: Budget,
    /// How vectors are made and placed.
    pub rules: Rules,
    /// The way to each receiver, and back.
    pub paths: Vec<Conditions>,
}

impl Scenario {
    /// The cells of `accuracy` on the session's clock: every drive, the base case, the thesis's delays.
    pub fn accuracy(seconds: f64) -> Vec<Self> {
        let drives = [Body::Motion(Motion::Tank), Body::DrivenStraight, Body::DrivenInCircles];
        let cell = |body| Self {
            study: "accuracy",
            body,
            entities: 1,
            seconds,
            policy: "base".into(),
            budget: Budget::Unlimited,
            rules: rules(ClockRule::Global),
            paths: paths(&ACCURACY_DELAYS_MS, 0.0, 0.0),
        };
        drives.map(cell).to_vec()
    }

    /// The papers' cells of `policies`, a tank within a third of all vectors, for these policies: without jitter, or with the
    /// papers' first.
    pub fn policies(seconds: f64, jitter: bool, policies: &[&str]) -> Vec<Self> {
        let brief = Brief::new(Size { seconds, ..Size::QUICK });
        let settings = papers(&brief, JITTERS_MS[usize::from(jitter)], policies);
        debug_assert_eq!(settings.paths.len(), DELAYS_MS.len());
        let Source::Motion { motion, entities } = settings.source else { return Vec::new() };
        let cell = |policy: &String| Self {
            study: "policies",
            body: Body::Motion(motion),
            entities,
            seconds,
            policy: policy.clone(),
            budget: settings.budget,
            rules: settings.rules,
            paths: settings.paths.clone(),
        };
        settings.policies.iter().map(cell).collect()
    }

    /// What it is called in tables.
    pub fn name(&self) -> String {
        let jitter = if self.paths.iter().any(|path| !path.jitter.is_empty()) { ", jitter" } else { "" };
        format!("{} {}{jitter}", self.study, self.body.name())
    }

    /// The fleet, for one seed.
    pub fn fleet(&self, seed: u64) -> Result<Fleet> {
        Fleet::new("sender".into(), self.body.entities(self.entities, self.seconds, seed), &self.rules)
    }

    /// The same with so many of what moves: in a short run chance counts for less.
    pub fn of(self, entities: u32) -> Self {
        Self { entities, ..self }
    }

    /// Runs it in the laboratory's world, where the owner's vectors reach the server over this uplink. What moves follows from
    /// `seed`; from `draws`, what happens to packets, and what a policy leaves to chance.
    pub fn run(&self, seed: u64, draws: u64, uplink: &Conditions) -> Result<Outcome> {
        run(Setting {
            fleet: &self.fleet(seed)?,
            rules: self.rules,
            policy: make_policy(&self.policy, &[], self.budget, draws)?,
            paths: &self.paths,
            uplink: Some(uplink),
            seed: draws,
            origin: GlobalTime::ZERO,
            recorder: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_the_cells_of_the_studies() {
        let [tank, straight, circles] = &Scenario::accuracy(30.0)[..] else { panic!() };
        assert!(tank.fleet(4).unwrap().changes(0) > straight.fleet(4).unwrap().changes(0));
        assert_eq!(Body::by_name(circles.body.name()).unwrap(), circles.body);
        let [third, even] = &Scenario::policies(30.0, true, &["base/3", "even"])[..] else { panic!() };
        assert_eq!((third.budget, even.entities, even.paths.len()), (Budget::of_base(1, 3), 1, 3));
        assert!(even.name().contains("jitter"), "{}", even.name());
        let up = Conditions::ideal();
        let (base, direct) = (tank.run(4, 4, &up).unwrap(), third.run(4, 4, &up).unwrap());
        assert!(base.receivers[0].real_error < base.receivers[2].real_error);
        assert!(direct.vectors > 0);
        assert_eq!(third.clone().of(3).fleet(1).unwrap().lives(), 3);
        assert!(Body::by_name("tnak").is_err());
    }

    #[test]
    fn bodies_follow_from_their_seeds() {
        for (name, body) in Body::ALL {
            let [once, again] = [(); 2].map(|()| format!("{:?}", body.entities(2, 10.0, 5)));
            assert_eq!(once, again, "{name}");
            assert_ne!(once, format!("{:?}", body.entities(2, 10.0, 6)), "{name}");
        }
    }
}

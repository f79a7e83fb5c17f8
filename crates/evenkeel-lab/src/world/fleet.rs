//! What one sender owns, and what it exports of it: the yardstick for every policy.

use crate::workload::{Entity, Life, Sample};
use anyhow::Result;
use evenkeel::wire::Format;
use evenkeel::{
    Attitude, Cause, EntityConfig, EntityId, GlobalTime, Motion, MotionKind, Placing, Sender, SenderConfig,
    SenderError, Threshold, Vec3,
};

/// Which motion vectors carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum VectorKind {
    /// Straight lines, whatever happens.
    Linear,
    /// Arcs along the heading, lines where it is not known; parabolas for what falls or is under thrust.
    Arc,
    /// Whatever fits the pose best.
    #[default]
    Auto,
}

impl VectorKind {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 3] = [("linear", Self::Linear), ("arc", Self::Arc), ("auto", Self::Auto)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    fn motion(self, sample: &Sample) -> MotionKind {
        match self {
            Self::Linear => MotionKind::Linear,
            Self::Arc if sample.accelerated => MotionKind::Accelerated,
            Self::Arc if sample.pose.attitude() == Attitude::None => MotionKind::Linear,
            Self::Arc => MotionKind::Circular,
            Self::Auto => MotionKind::Auto,
        }
    }
}

/// How vectors are made and placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What vectors carry.
    pub vector: VectorKind,
    /// When a new one is due.
    pub threshold: Threshold,
    /// How receivers place them.
    pub placing: Placing,
    /// Whether every sample is a vector already, and nothing is compared with a threshold: for recorded streams of vectors.
    pub relays: bool,
}

impl Default for Rules {
    /// Whatever fits, the usual thresholds, and extrapolation for ten heartbeats: whoever is sent a tenth of the vectors
    /// still sees things move.
    fn default() -> Self {
        let threshold = Threshold::default();
        let placing = Placing { max_age: threshold.time * 10, ..Placing::default() };
        Self { vector: VectorKind::default(), threshold, placing, relays: false }
    }
}

/// The wire format of all runs: the default, with the gravity of the traces.
pub fn format() -> Format {
    Format { gravity: Vec3::new(0.0, 0.0, -9.8), ..Format::default() }
}

/// One sample of one life, when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) at: GlobalTime,
    pub(super) life: usize,
    pub(super) sample: usize,
}

/// What one sender owns: lives, and the path that the base case exports of each.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// What tables call the sender.
    pub name: String,
    /// What it owns, by name.
    pub(super) entities: Vec<String>,
    pub(super) lives: Vec<Life>,
    /// By life, whose it is.
    pub(super) owners: Vec<usize>,
    pub(super) moments: Vec<Moment>,
    /// Per life, the vectors of the base case with their times of generation.
    pub(super) exported: Vec<Vec<(GlobalTime, Motion)>>,
    /// Per life, when and why each of them became due. Generation is the beginning of the format's tick in which that was.
    triggers: Vec<Vec<(GlobalTime, Cause)>>,
}

impl Fleet {
    /// A sender of these entities, and its exported paths by these rules.
    pub fn new(name: String, entities: Vec<Entity>, rules: &Rules) -> Result<Self> {
        let names = entities.iter().map(|entity| entity.name.clone()).collect();
        let all = entities.into_iter().enumerate();
        let mut owned: Vec<(usize, Life)> =
            all.flat_map(|(owner, entity)| entity.lives.into_iter().map(move |life| (owner, life))).collect();
        owned.sort_by_key(|(owner, life)| (life.span(), *owner));
        let (owners, lives): (Vec<usize>, Vec<Life>) = owned.into_iter().unzip();
        let all = lives.iter().enumerate().flat_map(|(life, it)| {
            it.samples().iter().enumerate().map(move |(sample, s)| Moment { at: s.at, life, sample })
        });
        let mut moments: Vec<Moment> = all.collect();
        moments.sort();
        let (exported, triggers) = (vec![Vec::new(); lives.len()], vec![Vec::new(); lives.len()]);
        let mut fleet = Self { name, entities: names, owners, exported, triggers, lives, moments };
        fleet.export(rules)?;
        Ok(fleet)
    }

    /// Whether a moment is the last of its life.
    pub(super) fn is_last(&self, moment: &Moment) -> bool {
        moment.sample + 1 == self.lives[moment.life].samples().len()
    }

    /// How many lives it has.
    pub fn lives(&self) -> usize {
        self.lives.len()
    }

    /// The first and the last moment of a life.
    pub fn life_span(&self, life: usize) -> (GlobalTime, GlobalTime) {
        self.lives[life].span()
    }

    /// The vectors that the base case sends in a life, with their times of generation.
    pub fn exported(&self, life: usize) -> &[(GlobalTime, Motion)] {
        &self.exported[life]
    }

    /// Which of the sender's entities a life is of.
    pub(crate) fn owner(&self, life: usize) -> usize {
        self.owners[life]
    }

    /// The vectors that a sender could make in a life, one of each observation: when, with which time of generation, and what
    /// they say. Made by these rules, which must be the ones the fleet was made with.
    pub(crate) fn observations(&self, life: usize, rules: &Rules) -> Result<Vec<(GlobalTime, GlobalTime, Motion)>> {
        let (format, mut before) = (format(), None);
        let mut vectors = Vec::new();
        for sample in self.lives[life].samples() {
            let pose = match (&before, rules.relays) {
                (_, true) => sample.pose,
                (None, _) => sample.pose.derived_from(None),
                (Some((pose, at)), _) => sample.pose.derived_from(Some((pose, sample.at.since(*at).as_secs_f64()))),
            };
            before = Some((pose, sample.at));
            let quantised = format.quantise(&pose.motion(rules.vector.motion(sample)), sample.at)?;
            vectors.push((sample.at, format.time_of(quantised.tick()), format.restore(&quantised)));
        }
        Ok(vectors)
    }

    /// When and why each of the vectors that the base case sends in a life became due.
    pub(crate) fn triggers(&self, life: usize) -> &[(GlobalTime, Cause)] {
        &self.triggers[life]
    }

    /// How many vectors of a life became due because its path had changed: neither the first nor a heartbeat.
    pub fn changes(&self, life: usize) -> usize {
        self.triggers[life].iter().filter(|(_, cause)| matches!(cause, Cause::Distance | Cause::Angle)).count()
    }

    /// The first and the last moment; the origin if there are none.
    pub fn span(&self) -> (GlobalTime, GlobalTime) {
        let ends = self.moments.first().zip(self.moments.last());
        ends.map_or((GlobalTime::ZERO, GlobalTime::ZERO), |(first, last)| (first.at, last.at))
    }

    /// Lets a sender without receivers say what it would export: triggers do not depend on who listens.
    fn export(&mut self, rules: &Rules) -> Result<()> {
        let config = SenderConfig { format: format(), placing: rules.placing, books: false, ..SenderConfig::default() };
        let mut owner = Owner::new(Sender::new(config)?, *rules);
        let moments = std::mem::take(&mut self.moments);
        for moment in &moments {
            if let Some(cause) = owner.observe(self, moment)? {
                self.triggers[moment.life].push((moment.at, cause));
                let ledger = owner.sender.ledger();
                let newest = ledger.entity(id_of(moment.life)).and_then(|entity| ledger.newest(entity));
                self.exported[moment.life].extend(newest.map(|vector| (vector.generated, vector.motion)));
            }
            if self.is_last(moment) {
                owner.sender.remove_entity(id_of(moment.life), moment.at)?;
            }
        }
        self.moments = moments;
        Ok(())
    }
}

/// Every life has a name of its own on the wire, so that no receiver mistakes one for the next.
pub(super) fn id_of(life: usize) -> EntityId {
    EntityId(life as u32)
}

/// A sender that lives through what its fleet does.
pub(super) struct Owner {
    pub(super) sender: Sender,
    rules: Rules,
    /// By life, what its vectors carry at the moment.
    kinds: Vec<MotionKind>,
}

impl Owner {
    pub(super) fn new(sender: Sender, rules: Rules) -> Self {
        Self { sender, rules, kinds: Vec::new() }
    }

    /// Tells the sender what is real at a moment.
    pub(super) fn observe(&mut self, fleet: &Fleet, moment: &Moment) -> Result<Option<Cause>> {
        let sample = &fleet.lives[moment.life].samples()[moment.sample];
        let (id, kind) = (id_of(moment.life), self.rules.vector.motion(sample));
        let config = EntityConfig { threshold: self.rules.threshold, kind };
        if moment.sample == 0 {
            self.sender.add_entity(id, config, moment.at)?;
            self.kinds.resize(self.kinds.len().max(moment.life + 1), kind);
        } else if self.kinds[moment.life] != kind {
            self.sender.configure_entity(id, config)?;
        }
        self.kinds[moment.life] = kind;
        if !self.rules.relays {
            return Ok(self.sender.observe(id, sample.pose, moment.at)?);
        }
        match self.sender.relay(id, &sample.pose.motion(kind), moment.at, moment.at) {
            Ok(()) => Ok(Some(Cause::Forced)),
            // Two rows in one tick of the format.
            Err(SenderError::StaleVector(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

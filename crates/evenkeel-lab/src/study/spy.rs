//! What a policy decided, trigger by trigger, and when vectors arrived: for claims about single vectors.

use super::{Watch, cells::Take};
use crate::experiment::{Progress, network_seed};
use crate::policies::make_policy;
use crate::world::{Fleet, Rules, Setting, run};
use anyhow::Result;
use evenkeel::ledger::{EntityIndex, Ledger, ReceiverIndex};
use evenkeel::policy::{Decision, Overtaken, Settled, Trigger};
use evenkeel::{Budget, Cause, Duration, GlobalTime, Motion, Policy, VectorNumber};
use evenkeel_link::Conditions;
use std::sync::mpsc;

/// One trigger, and what became of its vector.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    /// When it was generated.
    pub(super) at: GlobalTime,
    /// What it says.
    pub(super) motion: Motion,
    /// Whether it is the first of its life.
    pub(super) first: bool,
    /// By receiver, when it was to be sent, if at all.
    pub(super) sends: Vec<Option<GlobalTime>>,
    /// By receiver, what the delay was taken to be.
    pub(super) delays: Vec<Duration>,
    /// By receiver, when it arrived as far as the sender knows.
    pub(super) arrivals: Vec<Option<GlobalTime>>,
    number: VectorNumber,
}

impl Noted {
    /// Whether the vector was still held for a receiver when the next one came, and so never left under a rule that drops.
    pub(super) fn dropped(&self, receiver: usize, next: &Self) -> bool {
        self.sends.get(receiver).copied().flatten().is_some_and(|send| send > next.at)
    }
}

enum Note {
    Decided(Box<Noted>),
    Arrived { vector: VectorNumber, receiver: usize, at: GlobalTime },
}

/// Runs one sender of one entity with one policy and takes notes.
pub(super) struct Spied<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) rules: Rules,
    pub(super) paths: &'a [Conditions],
    /// The seed as users count them.
    pub(super) seed: u64,
}

impl Spied<'_> {
    /// Runs a policy by its name, within a third of the base case if it takes a budget. Answers what came of it, with its
    /// course, and what was decided at every trigger.
    pub(super) fn by_name(&self, name: &str, watch: &Watch<'_>) -> Result<(Take, Vec<Noted>)> {
        let seed = network_seed(self.seed, 0);
        self.policy(make_policy(name, &[], Budget::of_base(1, 3), seed)?, watch)
    }

    /// The same with any policy.
    pub(super) fn policy(&self, policy: Box<dyn Policy>, watch: &Watch<'_>) -> Result<(Take, Vec<Noted>)> {
        watch(Progress::Expect(1));
        let (notes, noted) = mpsc::channel();
        let setting = Setting {
            fleet: self.fleet,
            rules: self.rules,
            policy: Box::new(Spy { policy, notes }),
            paths: self.paths,
            uplink: None,
            seed: network_seed(self.seed, 0),
            origin: self.fleet.span().0,
            recorder: None,
        };
        let outcome = run(setting)?;
        watch(Progress::Done);
        Ok((Take::new(&[outcome], true), in_order(noted)))
    }
}

/// Notes in the order of triggers, each with its arrivals.
fn in_order(notes: impl IntoIterator<Item = Note>) -> Vec<Noted> {
    let mut all: Vec<Noted> = Vec::new();
    for note in notes {
        match note {
            Note::Decided(noted) => all.push(*noted),
            Note::Arrived { vector, receiver, at } => {
                // What arrives was decided a moment ago.
                let place = all.iter_mut().rev().find(|noted| noted.number == vector);
                if let Some(slot) = place.and_then(|noted| noted.arrivals.get_mut(receiver)) {
                    *slot = Some(at);
                }
            }
        }
    }
    all
}

/// A policy that is watched.
struct Spy {
    policy: Box<dyn Policy>,
    notes: mpsc::Sender<Note>,
}

impl Spy {
    /// Nobody listens only once the run is over.
    fn note(&self, note: Note) {
        self.notes.send(note).ok();
    }
}

impl Policy for Spy {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn decide(&mut self, ledger: &Ledger, trigger: &Trigger, decisions: &mut [Decision]) {
        self.policy.decide(ledger, trigger, decisions);
        let Some(vector) = ledger.vector(trigger.entity, trigger.vector) else { return };
        let send = |decision: &Decision| match decision {
            Decision::Now => Some(trigger.at),
            Decision::At(at) => Some(*at),
            Decision::Not => None,
        };
        self.note(Note::Decided(Box::new(Noted {
            at: trigger.at,
            motion: vector.motion,
            first: trigger.cause == Cause::First,
            sends: decisions.iter().map(send).collect(),
            delays: ledger.receivers().map(|receiver| ledger.pair(trigger.entity, receiver).delay()).collect(),
            arrivals: vec![None; decisions.len()],
            number: trigger.vector,
        })));
    }

    fn overtaken(&self) -> Overtaken {
        self.policy.overtaken()
    }

    fn reads_error(&self) -> bool {
        self.policy.reads_error()
    }

    fn tolerance(&self) -> f64 {
        self.policy.tolerance()
    }

    fn patience(&self) -> f64 {
        self.policy.patience()
    }

    fn wants_base_triggers(&self) -> bool {
        self.policy.wants_base_triggers()
    }

    fn base_trigger(&mut self, ledger: &Ledger, entity: EntityIndex, cause: Cause, at: GlobalTime) {
        self.policy.base_trigger(ledger, entity, cause, at);
    }

    fn next_wake(&self) -> Option<GlobalTime> {
        self.policy.next_wake()
    }

    fn wake(&mut self, ledger: &Ledger, now: GlobalTime, send: &mut dyn FnMut(EntityIndex, ReceiverIndex)) {
        self.policy.wake(ledger, now, send);
    }

    fn wants_settled(&self) -> bool {
        true
    }

    fn settled(&mut self, ledger: &Ledger, settled: &Settled) {
        if self.policy.wants_settled() {
            self.policy.settled(ledger, settled);
        }
        if let Some(at) = settled.arrival {
            self.note(Note::Arrived { vector: settled.vector, receiver: settled.receiver.0, at });
        }
    }

    fn receiver_left(&mut self, receiver: ReceiverIndex) {
        self.policy.receiver_left(receiver);
    }

    fn entity_left(&mut self, entity: EntityIndex) {
        self.policy.entity_left(entity);
    }
}

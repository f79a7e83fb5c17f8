//! How far off a receiver is, by how old the vector is that it shows: read from recordings, frame by frame.

use super::claims_thesis::{THESIS_DROP_GAP_RATE, THESIS_DROP_GAP_RATE_HIGH};
use super::{Found, settings};
use crate::experiment::{Progress, Settings, network_seed};
use crate::policies::make_policy;
use crate::recorder::Recorder;
use crate::study::{Brief, Finding, Observation, Watch};
use crate::workload::Motion;
use crate::world::{Fleet, Setting, VectorKind, run};
use anyhow::Result;
use evenkeel::{Budget, GlobalTime};
use evenkeel_link::recording::{Event, RecordingReader};
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;

/// Where one age ends and the next begins, in seconds.
const AGES: [f64; 3] = [1.0, 2.0, 4.0];
const POLICIES: [&str; 2] = ["schedule-drop", "lottery-fixed"];

pub(super) fn findings(brief: &Brief, watch: &Watch<'_>) -> Result<Found> {
    let settings = settings(brief, 0.0, VectorKind::Auto);
    let (mut steps, mut ends) = (Vec::new(), Vec::new());
    for policy in POLICIES {
        let seeds: Vec<u64> = brief.size.each_seed().collect();
        let one = |seed: u64| distances(policy, &settings, brief, seed, watch);
        let all: Vec<Vec<f64>> = seeds.into_par_iter().map(one).collect::<Result<_>>()?;
        let smallest = |ages: &Vec<f64>| ages.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min);
        steps.push(Observation::new(policy, all.iter().map(smallest).collect()));
        let last = |ages: &Vec<f64>| ages.last().zip(ages.first()).map_or(f64::NAN, |(last, first)| last / first);
        ends.push(Observation::new(policy, all.iter().map(last).collect()));
    }
    let remark = "Ages that do not occur in a run are left out; vectors are extrapolated for 3 s at most.";
    let findings = vec![
        Finding::new(THESIS_DROP_GAP_RATE, steps).remarking(remark),
        Finding::new(THESIS_DROP_GAP_RATE_HIGH, ends).remarking(remark),
    ];
    Ok((findings, brief.size.seconds * (brief.size.seeds * 2) as f64))
}

/// The mean distance between exported and placed path by age of the vector shown, without ages that do not occur.
fn distances(policy: &str, settings: &Settings, brief: &Brief, seed: u64, watch: &Watch<'_>) -> Result<Vec<f64>> {
    watch(Progress::Expect(1));
    let fleet = Fleet::new("all".into(), Motion::Tank.entities(1, brief.size.seconds, seed), &settings.rules)?;
    let seed = network_seed(seed, 0);
    let recording = Recording::default();
    run(Setting {
        fleet: &fleet,
        rules: settings.rules,
        policy: make_policy(policy, &[], Budget::of_base(1, 3), seed)?,
        paths: &settings.paths,
        uplink: None,
        seed,
        origin: GlobalTime::ZERO,
        recorder: Some(Recorder::new(Box::new(recording.clone()), seed, &[], 1, settings.paths.len() as u32 + 1)?),
    })?;
    let mut ages = Ages::default();
    for event in &mut RecordingReader::new(recording.0.borrow().as_slice(), &[])? {
        ages.hear(event?);
    }
    watch(Progress::Done);
    Ok(ages.means())
}

/// What is written down, for two to hold.
#[derive(Clone, Default)]
struct Recording(Rc<RefCell<Vec<u8>>>);

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sums over all receivers of one entity.
#[derive(Default)]
struct Ages {
    exported: Option<(GlobalTime, evenkeel::Motion)>,
    generated: BTreeMap<u64, GlobalTime>,
    /// By receiver, when the vector it shows was generated.
    shown: BTreeMap<u32, GlobalTime>,
    /// By age, distances added up, and how many.
    sums: [(f64, u32); AGES.len() + 1],
}

impl Ages {
    fn hear(&mut self, event: Event) {
        match event {
            Event::Exported { sequence, generated, motion, .. } => {
                self.exported = Some((generated, motion));
                self.generated.insert(sequence, generated);
            }
            Event::Received { sequence, by, .. } => {
                if let Some(generated) = self.generated.get(&sequence) {
                    self.shown.insert(by, *generated);
                }
            }
            Event::Placed { by, at, position, .. } => {
                let (Some((since, motion)), Some(shown)) = (&self.exported, self.shown.get(&by)) else { return };
                let age = at.since(*shown).as_secs_f64();
                let sum = &mut self.sums[AGES.iter().filter(|end| age > **end).count()];
                sum.0 += position.distance(motion.position_at(at.since(*since).as_secs_f64()));
                sum.1 += 1;
            }
            _ => {}
        }
    }

    fn means(&self) -> Vec<f64> {
        self.sums.iter().filter(|(_, count)| *count > 0).map(|(sum, count)| sum / f64::from(*count)).collect()
    }
}

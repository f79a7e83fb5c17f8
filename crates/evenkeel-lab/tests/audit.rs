//! An audit of what a world did says what the world itself measured.
#![allow(clippy::unwrap_used)]

use evenkeel::GlobalTime;
use evenkeel_lab::audit::{Question, audit};
use evenkeel_lab::experiment::paths;
use evenkeel_lab::policies::make_policy;
use evenkeel_lab::recorder::Recorder;
use evenkeel_lab::workload::Motion;
use evenkeel_lab::world::{Fleet, Outcome, Rules, Setting, run};
use evenkeel_lab::{Budget, Conditions};
use evenkeel_link::recording::{Event, RecordingReader};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A buffer that outlives its writer.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a world, and writes down as CSV what was real (under 0) and what each receiver showed (from 1 on).
fn run_and_log(policy: &str, paths: &[Conditions]) -> (Outcome, BTreeMap<u32, String>) {
    let (rules, out) = (Rules::default(), Shared::default());
    let fleet = Fleet::new("all".into(), Motion::Tank.entities(3, 90.0, 5), &rules).unwrap();
    let recorder = Recorder::new(Box::new(out.clone()), 1, &[], 3, paths.len() as u32 + 1).unwrap();
    let policy = make_policy(policy, &[], Budget::of_base(1, 3), 1).unwrap();
    let (origin, recorder) = (GlobalTime::ZERO, Some(recorder));
    let outcome =
        run(Setting { fleet: &fleet, rules, policy, paths, uplink: None, seed: 1, origin, recorder }).unwrap();
    let mut logs: BTreeMap<u32, String> = BTreeMap::new();
    for event in RecordingReader::new(out.0.borrow().as_slice(), &[]).unwrap() {
        let (log, entity, at, position) = match event.unwrap() {
            Event::Real { entity, at, position, .. } => (0, entity, at, position),
            Event::Placed { entity, by, at, position, .. } => (by, entity, at, position),
            _ => continue,
        };
        let log = logs.entry(log).or_insert_with(|| "t_s,entity,x,y,z\n".into());
        let (x, y, z) = (position.x, position.y, position.z);
        log.push_str(&format!("{},{entity},{x},{y},{z}\n", at.as_secs_f64()));
    }
    (outcome, logs)
}

fn write(folder: &Path, logs: &BTreeMap<u32, String>) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).unwrap();
    let file = |(number, text): (&u32, &String)| {
        let path = folder.join(format!("{number}.csv"));
        std::fs::write(&path, text).unwrap();
        path
    };
    logs.iter().map(file).collect()
}

#[test]
fn an_audit_finds_what_the_world_measured() {
    let paths = paths(&[800.0, 500.0, 200.0], 100.0, 0.0);
    for policy in ["base", "credits"] {
        let (outcome, logs) = run_and_log(policy, &paths);
        let files = write(&Path::new(env!("CARGO_TARGET_TMPDIR")).join(policy), &logs);
        let placed = files[1..].iter().map(|path| (path.display().to_string(), path.clone())).collect();
        let found = audit(&Question { real: files[0].clone(), placed, max_gap: 1.0 }).unwrap();
        let close = |what: &str, ours: f64, theirs: f64, within: f64| {
            assert!((ours / theirs - 1.0).abs() < within, "{policy}: {what} is {ours}, and the world says {theirs}");
        };
        for (witness, seen) in found.receivers.iter().zip(&outcome.receivers) {
            close("real error", witness.real_error, seen.real_error, 0.01);
        }
        let over = |pick: fn((f64, f64, f64)) -> f64| {
            let all = outcome.entities.iter().map(|party| pick(party.over_receivers(|seen| seen.real_error)));
            all.sum::<f64>() / outcome.entities.len() as f64
        };
        close("mean", found.real_mean, over(|(mean, ..)| mean), 0.01);
        close("std", found.real_std, over(|(_, std, _)| std), 0.01);
        close("max", found.real_max, over(|(.., max)| max), 0.01);
        close("spread", found.spread, outcome.spread, 0.01);
        close("flips", found.flips, outcome.flips, 0.1);
    }
}

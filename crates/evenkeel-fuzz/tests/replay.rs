//! Every file of the corpus goes through its target, and every target has a corpus.

use evenkeel_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable directory").path()).collect();
    paths.sort();
    paths
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[test]
fn every_input_keeps_its_targets_promises() {
    for (name, target) in TARGETS {
        let files = entries(&corpus().join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            // Shown only if the target panics.
            println!("{}", file.display());
            target(&fs::read(&file).expect("a readable file"));
        }
    }
}

#[test]
fn every_corpus_has_a_target_and_is_small() {
    let names: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_string()).collect();
    let mut bytes = 0;
    for directory in entries(&corpus()) {
        let name = directory.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(names.contains(&name), "there is no target {name}");
        bytes += entries(&directory).iter().map(|file| fs::metadata(file).expect("a file").len()).sum::<u64>();
    }
    assert!(bytes < 300_000, "{bytes} bytes of corpus");
}

#[test]
fn every_target_has_its_fuzzing_program() {
    let programs = corpus().join("../../../fuzz/fuzz_targets");
    let found: BTreeSet<_> = entries(&programs)
        .iter()
        .map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, TARGETS.iter().map(|(name, _)| (*name).to_string()).collect());
}

#[test]
fn nothing_at_all_is_an_input_too() {
    for (_, target) in TARGETS {
        target(&[]);
        for byte in 0..=255 {
            target(&[byte]);
        }
    }
}

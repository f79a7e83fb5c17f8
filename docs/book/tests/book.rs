//! What the book says about the project is so: command lines are understood, links lead somewhere, names exist.
#![allow(clippy::unwrap_used)]

mod page;

use page::{Page, pages};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that are not ours: their command lines are for reading.
const OTHERS: &[&str] =
    &["apt-get", "bzflag", "bzfs", "cargo", "curl", "install", "mdbook", "podman", "rustup", "systemctl"];

fn book() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn root() -> PathBuf {
    book().join("../..")
}

#[test]
fn every_command_line_is_understood() {
    let mut checked = 0;
    for page in pages(book()) {
        // Within a sentence a command need not be whole: whoever asks for help may leave out what is required.
        let named = page.code().into_iter().filter(|code| code.starts_with("evenkeel ")).map(|code| code + " --help");
        for line in page.commands().into_iter().chain(named) {
            checked += usize::from(check(&line).unwrap_or_else(|wrong| panic!("{}: `{line}`: {wrong}", page.name)));
        }
    }
    assert!(checked > 50, "only {checked} command lines: are they still found?");
}

/// Whether a command line is ours; an error if it is and would not be understood.
fn check(line: &str) -> Result<bool, String> {
    let words: Vec<&str> = line.split_whitespace().take_while(|word| !["#", "|", ">", "<"].contains(word)).collect();
    let ours = match words.as_slice() {
        ["evenkeel", ..] => words.clone(),
        ["cargo", "run", "--release", "--", rest @ ..] => [&["evenkeel"], rest].concat(),
        ["cargo", "run", "-p", package, "--example", example, ..] => {
            let file = root().join(format!("crates/{package}/examples/{example}.rs"));
            return file.exists().then_some(true).ok_or(format!("there is no {}", file.display()));
        }
        [other, ..] if OTHERS.contains(other) => return Ok(false),
        _ => return Err("neither ours nor known".into()),
    };
    match evenkeel_cli::command().try_get_matches_from(ours) {
        // Help is an error with which the program ends well.
        Err(error) if error.exit_code() != 0 => Err(error.to_string()),
        _ => Ok(true),
    }
}

#[test]
fn a_command_line_that_is_wrong_is_found() {
    for wrong in [
        "evenkel compare",
        "evenkeel compere",
        "evenkeel lab run",
        "evenkeel lab run budget --seeds many",
        "evenkeel serve --no-such-flag",
        "evenkeel serve --no-such-flag --help",
        "evenkeel serve --max-players many --help",
        "cargo run --release -- compere",
        "cargo run -p evenkeel --example no_such",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
    assert_eq!(check("evenkeel serve --session arena   # open to all"), Ok(true));
}

/// Snippets for pages are read by node, where there is one; where the browser's part is tested, there must be.
#[test]
fn every_script_is_javascript() {
    for page in pages(book()) {
        for script in page.blocks("js") {
            match is_javascript(script) {
                Ok(wrong) => assert_eq!(wrong, None, "{}", page.name),
                Err(error) => assert!(std::env::var_os("EVENKEEL_WEB_TESTS").is_none(), "node: {error}"),
            }
        }
    }
}

/// What is wrong with a script, if anything; an error if there is nobody to ask.
fn is_javascript(script: &str) -> std::io::Result<Option<String>> {
    let mut node = Command::new("node")
        .args(["--input-type=module", "--check"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    node.stdin.take().unwrap().write_all(script.as_bytes())?;
    let answer = node.wait_with_output()?;
    Ok((!answer.status.success()).then(|| String::from_utf8_lossy(&answer.stderr).into_owned()))
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages(book());
    for page in &pages {
        for link in page.links().into_iter().filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", page.name);
            if !anchor.is_empty() && target.extension().is_some_and(|extension| extension == "md") {
                let anchors = Page::read(&target).anchors();
                assert!(anchors.contains(anchor), "{}: {link}: there is no such heading", page.name);
            }
        }
    }
}

/// Pages name files of the project instead of linking to them: a built book does not stand beside them.
#[test]
fn every_file_that_is_named_exists() {
    let folders = [".ci/", "crates/", "data/", "deploy/", "docs/", "e2e/", "tools/"];
    let mut checked = 0;
    for page in pages(book()) {
        let code = page.code();
        let files = code.iter().filter(|it| folders.iter().any(|folder| it.starts_with(folder)) || it.ends_with(".md"));
        for file in files.filter(|it| !it.contains(['*', ' '])) {
            assert!(root().join(file).exists(), "{}: there is no {file}", page.name);
            checked += 1;
        }
        let outward = page.links().into_iter().find(|link| link.contains(".."));
        assert_eq!(outward, None, "{}: a built book cannot follow this link: name the file", page.name);
    }
    assert!(checked > 10, "only {checked} files: are they still found?");
}

#[test]
fn no_page_and_no_picture_is_forgotten() {
    let pages = pages(book());
    let linked = |from: &str| -> BTreeSet<String> {
        pages.iter().filter(|page| from.is_empty() || page.name == from).flat_map(Page::links).collect()
    };
    let (summary, anywhere, check) = (linked("SUMMARY.md"), linked(""), include_str!("../check.rs"));
    for page in pages.iter().filter(|page| page.name != "SUMMARY.md") {
        assert!(summary.contains(&page.name), "{} is not in the summary", page.name);
        assert!(check.contains(&format!("\"src/{}\"", page.name)), "the snippets of {} are not checked", page.name);
    }
    for picture in std::fs::read_dir(book().join("src/pictures")).unwrap() {
        let name = format!("pictures/{}", picture.unwrap().file_name().to_string_lossy());
        assert!(anywhere.contains(&name), "{name} is on no page");
    }
}

#[test]
fn every_metric_and_policy_that_is_named_exists() {
    let metrics: BTreeSet<String> = evenkeel_net::metrics::names().into_iter().collect();
    let operating = Page::read(&book().join("src/operating.md"));
    let named: Vec<String> = operating
        .code_words()
        .into_iter()
        .filter(|word| word.starts_with("evenkeel_") && !word.contains("::"))
        .collect();
    assert!(named.len() > 10, "only {} metrics: are they still found?", named.len());
    for name in named {
        assert!(metrics.contains(&name), "there is no metric {name}");
    }
    let policies = Page::read(&book().join("src/choosing.md")).first_column("policy");
    assert!(policies.len() > 4, "only {} policies: are they still found?", policies.len());
    for name in policies {
        let budget = evenkeel::Budget::of_base(1, 3);
        assert!(evenkeel::policy::by_name(&name, budget, 0).is_ok(), "there is no policy {name}");
    }
}

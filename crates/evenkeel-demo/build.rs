//! Finds the module with which people play in a browser, or builds it, or goes without: `OUT_DIR/web.rs` says which.
//!
//! - `EVENKEEL_WEB=FILE` is that module; `EVENKEEL_WEB=none` is to go without;
//! - else `page/evenkeel.wasm`, which `tools/web` makes and release archives carry;
//! - else, where the compiler has the target, it is built here.
//!
//! Nothing of this ever fails the build: the demonstration can be watched without.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// What the module is made of, beside this crate.
const SOURCES: [&str; 4] = ["evenkeel", "evenkeel-games", "evenkeel-session", "evenkeel-web"];
const HOW: &str = "to enable it, `rustup target add wasm32-unknown-unknown` or run tools/web, and build again";

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-env-changed=EVENKEEL_WEB");
    println!("cargo::rerun-if-changed=build.rs");
    // The folder and not the file: a file that is not there would count as changed every time.
    println!("cargo::rerun-if-changed=page");
    let module = find(&here, &out).unwrap_or_else(|why| {
        println!("cargo::warning=playing in the browser is off ({why}); {HOW}");
        None
    });
    if let Err(error) = fs::write(out.join("web.rs"), constant(module.as_deref())) {
        println!("cargo::error=web.rs cannot be written: {error}");
    }
}

/// The module, nothing if that is what is wanted, or why there is none.
fn find(here: &Path, out: &Path) -> Result<Option<PathBuf>, String> {
    if let Some(wanted) = env::var_os("EVENKEEL_WEB").filter(|wanted| !wanted.is_empty()) {
        if wanted == "none" {
            return Ok(None);
        }
        // As seen from where one stands, which is the root and not this folder.
        let wanted = here.join("../..").join(wanted);
        println!("cargo::rerun-if-changed={}", wanted.display());
        return checked(wanted).map(Some);
    }
    let carried = here.join("page/evenkeel.wasm");
    if carried.is_file() {
        return checked(carried).map(Some);
    }
    build(here, out).map(Some)
}

/// A file that is a module, by its first bytes.
fn checked(path: PathBuf) -> Result<PathBuf, String> {
    let path = fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if bytes.starts_with(b"\0asm") { Ok(path) } else { Err(format!("{} is no module", path.display())) }
}

fn build(here: &Path, out: &Path) -> Result<PathBuf, String> {
    let root = here.join("../..");
    let missing = SOURCES.iter().find(|name| !root.join("crates").join(name).is_dir());
    if missing.is_some() {
        return Err("its sources are not here".into());
    }
    for name in SOURCES {
        for part in ["src", "Cargo.toml"] {
            println!("cargo::rerun-if-changed={}", root.join("crates").join(name).join(part).display());
        }
    }
    if !has_target() {
        return Err(format!("the compiler has no {TARGET}"));
    }
    let into = out.join("web");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&root).args(["build", "--quiet", "--profile", "web", "--package", "evenkeel-web", "--lib"]);
    cargo.args(["--target", TARGET, "--target-dir"]).arg(&into);
    // What is meant for this build, its machine, or clippy is not meant for that one.
    let ours =
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    for name in ours {
        cargo.env_remove(name);
    }
    let built = cargo.output().map_err(|error| format!("cargo does not run: {error}"))?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr);
        let error = said.lines().find(|line| line.starts_with("error")).unwrap_or("error without words").to_owned();
        return Err(format!("building it failed: {error}"));
    }
    checked(into.join(TARGET).join("web/evenkeel_web.wasm"))
}

fn has_target() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    asked.is_ok_and(|answer| {
        answer.status.success() && Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_dir()
    })
}

fn constant(module: Option<&Path>) -> String {
    let value = module.map_or("None".into(), |path| format!("Some(include_bytes!({:?}))", path.display().to_string()));
    format!(
        "/// The module with which people play in a browser, if there is one.\npub const MODULE: Option<&[u8]> = {value};\n"
    )
}

//! Where results go: files, a page, the terminal.

use anyhow::{Context, Result, ensure};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where results go besides the terminal.
#[derive(clap::Args)]
pub(super) struct Outputs {
    /// Also write the results as JSON to this file; `-` prints them instead of the text.
    #[arg(long, value_name = "PATH", help_heading = "Runs and results")]
    json: Option<PathBuf>,
    /// Also write them as CSV; `-` prints them instead of the text.
    #[arg(long, value_name = "PATH", help_heading = "Runs and results")]
    csv: Option<PathBuf>,
    /// Also write a page with plots, index.html, into this directory.
    #[arg(long, value_name = "DIR", help_heading = "Runs and results")]
    report: Option<PathBuf>,
}

/// Results in every form there is.
pub(super) trait Report {
    fn json(&self) -> serde_json::Value;
    fn csv(&self) -> Result<String>;
    fn html(&self) -> String;
    fn text(&self) -> String;
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Outputs {
    /// Whether the results can go where they are wanted, before anybody waits for them.
    pub(super) fn check(&self) -> Result<()> {
        let files = || [&self.json, &self.csv].into_iter().flatten();
        ensure!(files().filter(|path| is_dash(path)).count() < 2, "only one of --json and --csv can be `-`");
        for path in files().filter(|path| !is_dash(path)) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", path.display());
            ensure!(!path.is_dir(), "cannot write {}: it is a directory", path.display());
        }
        let taken = self.report.as_ref().filter(|folder| folder.exists() && !folder.is_dir());
        ensure!(taken.is_none(), "--report needs a directory, and there is a file of that name");
        Ok(())
    }

    /// Writes results wherever they are wanted.
    pub(super) fn write(&self, results: &impl Report) -> Result<()> {
        let mut quiet = false;
        if let Some(path) = &self.json {
            put(path, &format!("{:#}\n", results.json()))?;
            quiet |= is_dash(path);
        }
        if let Some(path) = &self.csv {
            put(path, &results.csv()?)?;
            quiet |= is_dash(path);
        }
        if let Some(folder) = &self.report {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
            put(&folder.join("index.html"), &results.html())?;
        }
        if quiet {
            return Ok(());
        }
        let details = match &self.report {
            Some(folder) => folder.join("index.html").display().to_string(),
            None => "--report DIR".into(),
        };
        print(&format!("{} Details: {details}\n", results.text()))
    }
}

fn put(path: &Path, text: &str) -> Result<()> {
    if is_dash(path) {
        return print(text);
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Prints, and does not mind if nobody reads on.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

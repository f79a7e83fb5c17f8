//! Where results go: files, a page, the terminal.

use anyhow::{Context, Result, ensure};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where results go besides the terminal.
#[derive(clap::Args)]
pub(crate) struct Outputs {
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
pub(crate) trait Report {
    fn json(&self) -> serde_json::Value;
    fn csv(&self) -> Result<String>;
    fn html(&self) -> String;
    fn text(&self) -> String;
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where a path leads, whatever it is called, and even if there is nothing yet.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => resolved(folder).join(name),
        _ => path,
    })
}

impl Outputs {
    /// The files to write. What is no file, like /dev/null, takes anything from anybody.
    fn files(&self) -> Vec<PathBuf> {
        let page = self.page();
        let all = [&self.json, &self.csv, &page].into_iter().flatten().filter(|path| !is_dash(path));
        all.filter(|path| path.is_file() || !path.exists()).cloned().collect()
    }

    fn page(&self) -> Option<PathBuf> {
        self.report.as_ref().map(|folder| folder.join("index.html"))
    }

    /// Nothing may be written over what is read, or over other results.
    fn check_clashes(&self, inputs: &[&Path]) -> Result<()> {
        let mut taken: Vec<PathBuf> = inputs.iter().map(|input| resolved(input)).collect();
        taken.extend(self.report.as_ref().map(|folder| resolved(folder)));
        for file in self.files() {
            let place = resolved(&file);
            let clash = taken.iter().position(|other| *other == place);
            let use_of = if clash.is_some_and(|n| n < inputs.len()) { "is read from" } else { "takes other results" };
            ensure!(clash.is_none(), "cannot write {}: the same file {use_of}", file.display());
            taken.push(place);
        }
        Ok(())
    }

    /// Whether the results can go where they are wanted, before anybody waits for them. `inputs` must stay as they are.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<()> {
        let files = || [&self.json, &self.csv].into_iter().flatten();
        ensure!(files().filter(|path| is_dash(path)).count() < 2, "only one of --json and --csv can be `-`");
        for path in files().filter(|path| !is_dash(path)) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            ensure!(folder.is_none_or(Path::is_dir), "cannot write {}: there is no such directory", path.display());
            ensure!(!path.is_dir(), "cannot write {}: it is a directory", path.display());
        }
        let taken = self.report.as_ref().filter(|folder| folder.exists() && !folder.is_dir());
        ensure!(taken.is_none(), "--report needs a directory, and there is a file of that name");
        let page = self.page().filter(|page| page.is_dir());
        ensure!(page.is_none(), "--report needs a directory whose index.html is a file");
        self.check_clashes(inputs)
    }

    /// Writes results wherever they are wanted.
    pub(crate) fn write(&self, results: &impl Report) -> Result<()> {
        let json = self.json.as_ref().map(|path| (path, format!("{:#}\n", results.json())));
        let csv = self.csv.as_ref().map(|path| results.csv().map(|text| (path, text))).transpose()?;
        let page = self.page();
        // Everything that can fail comes before the first file, so that there are all of them or none.
        if let Some(folder) = &self.report {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
        }
        let html = page.as_ref().map(|path| (path, results.html()));
        let mut quiet = false;
        for (path, text) in [json, csv, html].into_iter().flatten() {
            put(path, &text)?;
            quiet |= is_dash(path);
        }
        if quiet {
            return Ok(());
        }
        let details = page.map_or_else(|| "--report DIR".into(), |page| page.display().to_string());
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
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

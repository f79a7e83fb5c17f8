//! What is given: files, and who is a player in them.

use anyhow::{Context, Result, ensure};
use evenkeel_sites::input::{Candidates, File, Files, Input, InputError, Missing, Options, Place, Players, read};
use evenkeel_sites::{Problem, Site, Use};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files beyond this are refused; those that unpack to more are, too.
const MAX_BYTES: u64 = 1 << 30;

#[derive(Clone, Copy, clap::ValueEnum)]
enum MissingName {
    Refuse,
    Mirror,
    Relay,
    Unreachable,
}

#[derive(clap::Args)]
pub(super) struct Given {
    /// Round-trip times between those of --rtt's columns, if --rtt is players by candidates.
    #[arg(long, value_name = "FILE", help_heading = "What is given")]
    between: Option<PathBuf>,
    /// What is known of the sites: name, and any of cost, capacity, use, latitude, longitude.
    #[arg(long, value_name = "FILE", help_heading = "What is given")]
    sites: Option<PathBuf>,
    /// Who plays: a file of names (and weights), how many to draw by --seed, or names with commas between them.
    #[arg(long, value_name = "N|FILE|NAMES", help_heading = "What is given")]
    players: Option<String>,
    /// Where servers may stand: rest (whoever is no player), all, the first N, or names with commas between them.
    #[arg(long, value_name = "rest|all|N|NAMES", help_heading = "What is given")]
    candidates: Option<String>,
    /// What stands for a round-trip time that is missing.
    #[arg(long, value_name = "HOW", default_value = "mirror", help_heading = "What is given")]
    missing: MissingName,
    /// How many players a site can hold, where the sites' table says nothing.
    #[arg(long, value_name = "C", help_heading = "What is given")]
    capacity: Option<f64>,
    /// Sites that have a server in any case.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "What is given")]
    require: Vec<String>,
    /// Sites that have none in any case.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "What is given")]
    forbid: Vec<String>,
}

/// A problem, and where its sites are.
pub(super) struct Known {
    pub(super) problem: Problem,
    pub(super) places: Vec<Option<Place>>,
    /// What was not measured, in words.
    pub(super) filled: Option<String>,
}

/// What the files hold.
pub(super) struct Loaded {
    rtt: (PathBuf, Vec<u8>),
    between: Option<Vec<u8>>,
    sites: Option<Vec<u8>>,
    players: Option<Vec<u8>>,
}

impl Given {
    fn players_file(&self) -> Option<&Path> {
        self.players.as_deref().map(Path::new).filter(|path| path.is_file())
    }

    /// The files that are read.
    pub(super) fn files(&self) -> Vec<&Path> {
        let all = [self.between.as_deref(), self.sites.as_deref(), self.players_file()];
        all.into_iter().flatten().collect()
    }

    /// Reads the files.
    pub(super) fn load(&self, rtt: &Path) -> Result<Loaded> {
        let some = |path: Option<&Path>| path.map(bytes).transpose();
        let (between, sites) = (some(self.between.as_deref())?, some(self.sites.as_deref())?);
        Ok(Loaded { rtt: (rtt.to_owned(), bytes(rtt)?), between, sites, players: some(self.players_file())? })
    }

    /// The problem, with this seed, and with so many players if nothing is said of them.
    pub(super) fn known(&self, loaded: &Loaded, seed: u64, draw: Option<usize>) -> Result<Known> {
        let Loaded { rtt, between, sites, players } = loaded;
        let files = Files {
            between: between.as_deref(),
            sites: sites.as_deref(),
            players: players.as_deref(),
            ..Files::new(&rtt.1)
        };
        let missing = match self.missing {
            MissingName::Refuse => Missing::Refuse,
            MissingName::Mirror => Missing::Mirror,
            MissingName::Relay => Missing::Relay,
            MissingName::Unreachable => Missing::Unreachable,
        };
        let players = match &self.players {
            Some(said) if players.is_none() => Some(players_by(said, seed)?),
            Some(_) => None,
            None => draw.map(|count| Players::Drawn { count, seed }),
        };
        let candidates = self.candidates.as_deref().map(candidates_by).transpose()?;
        let options = Options { missing, players, candidates, ..Options::default() };
        let input = read(&files, &options).map_err(|error| self.placed(&rtt.0, error))?;
        self.finished(input)
    }

    /// An error with the name of its file.
    fn placed(&self, rtt: &Path, error: InputError) -> anyhow::Error {
        let path = match error.file {
            Some(File::Between) => self.between.as_deref(),
            Some(File::Sites) => self.sites.as_deref(),
            Some(File::Players) => self.players_file(),
            _ => None,
        };
        anyhow::anyhow!("{}: {}", path.unwrap_or(rtt).display(), InputError { file: None, ..error })
    }

    /// What the flags say of sites comes on top of what the table says.
    fn finished(&self, Input { problem, places, filled, .. }: Input) -> Result<Known> {
        let parts = [(filled.mirrored, "mirrored"), (filled.relayed, "relayed"), (filled.unreachable, "unreachable")];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("{count} {how}"));
        let filled = parts.reduce(|a, b| format!("{a}, {b}"));
        let mut sites = problem.sites().to_vec();
        self.apply(&mut sites)?;
        let problem = if sites == problem.sites() { problem } else { with_sites(&problem, sites)? };
        Ok(Known { problem, places, filled })
    }

    fn apply(&self, sites: &mut [Site]) -> Result<()> {
        if let Some(capacity) = self.capacity {
            ensure!(capacity > 0.0 && capacity.is_finite(), "--capacity {capacity}: it must be above 0");
            sites.iter_mut().for_each(|site| site.capacity = site.capacity.or(Some(capacity)));
        }
        for (flag, names, usage) in
            [("--require", &self.require, Use::Required), ("--forbid", &self.forbid, Use::Forbidden)]
        {
            for name in names {
                let site = sites.iter_mut().find(|site| site.name == *name);
                site.with_context(|| format!("{flag}: no candidate is called \"{name}\""))?.usage = usage;
            }
        }
        let both = self.require.iter().find(|name| self.forbid.contains(name));
        ensure!(both.is_none(), "--require and --forbid: \"{}\" cannot be both", both.map_or("", |name| name));
        Ok(())
    }

    /// How many players to draw, if that is all that is said; nothing if more is.
    pub(super) fn drawn(&self) -> Option<Option<usize>> {
        let more =
            self.between.is_some() || self.sites.is_some() || self.candidates.is_some() || self.capacity.is_some();
        if more || !self.require.is_empty() || !self.forbid.is_empty() {
            return None;
        }
        self.players.as_ref().map(|said| said.parse().ok()).map_or(Some(None), |count| count.map(Some))
    }

    /// What it says, by name.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let path = |path: &PathBuf| path.display().to_string();
        let missing = ["refuse", "mirror", "relay", "unreachable"][self.missing as usize];
        let list = |names: &Vec<String>| (!names.is_empty()).then(|| names.join(","));
        let all = [
            ("between", self.between.as_ref().map(path)),
            ("sites", self.sites.as_ref().map(path)),
            ("players", self.players.clone()),
            ("candidates", self.candidates.clone()),
            ("missing", Some(missing.to_owned())),
            ("capacity", self.capacity.map(|capacity| capacity.to_string())),
            ("require", list(&self.require)),
            ("forbid", list(&self.forbid)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// The same with other sites.
fn with_sites(problem: &Problem, sites: Vec<Site>) -> Result<Problem> {
    let rtt = (0..problem.players().len()).flat_map(|p| problem.row(p).iter().copied()).collect();
    Ok(Problem::new(problem.players().to_vec(), sites, rtt, between(problem))?)
}

/// The round-trip times between sites.
pub(super) fn between(problem: &Problem) -> Vec<f32> {
    let m = problem.sites().len();
    (0..m * m).map(|i| (2.0 * problem.between(i / m, i % m)) as f32).collect()
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).with_context(cannot)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(cannot)?;
    ensure!(bytes.len() as u64 <= MAX_BYTES, "{}: the file is larger than {} MiB", path.display(), MAX_BYTES >> 20);
    Ok(bytes)
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_owned()).collect()
}

fn players_by(said: &str, seed: u64) -> Result<Players> {
    ensure!(!said.trim().is_empty(), "--players: who?");
    Ok(match said.parse() {
        Ok(count) => Players::Drawn { count, seed },
        Err(_) => Players::Named(names(said)),
    })
}

fn candidates_by(said: &str) -> Result<Candidates> {
    ensure!(!said.trim().is_empty() && said != "0", "--candidates: which?");
    Ok(match (said, said.parse()) {
        ("rest", _) => Candidates::Rest,
        ("all", _) => Candidates::All,
        (_, Ok(count)) => Candidates::First(count),
        _ => Candidates::Named(names(said)),
    })
}

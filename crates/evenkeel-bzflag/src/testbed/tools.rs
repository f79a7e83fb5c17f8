//! What must be installed.

use std::fmt;
use std::path::{Path, PathBuf};

/// The programs that a [`Bed`](super::Bed) starts.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The game's server.
    pub bzfs: PathBuf,
    /// The game's client.
    pub bzflag: PathBuf,
    /// The game's client for a terminal: it only watches.
    pub bzadmin: PathBuf,
    /// A C compiler.
    pub cc: PathBuf,
}

/// Programs that are not installed, and the Debian packages that bring them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(Vec<(&'static str, &'static str)>);

impl Tools {
    /// Looks for all of them on the `PATH` and where Debian puts games. Installs nothing.
    pub fn find() -> Result<Self, Missing> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // A service's path often leaves the games out.
        let games = ["/usr/games", "/usr/local/games"].map(PathBuf::from);
        Self::find_in(&std::env::split_paths(&path).chain(games).collect::<Vec<_>>())
    }

    fn find_in(folders: &[PathBuf]) -> Result<Self, Missing> {
        let mut missing = Vec::new();
        let mut find = |name, package| {
            let found = folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path));
            found.unwrap_or_else(|| {
                missing.push((name, package));
                PathBuf::new()
            })
        };
        let tools = Self {
            bzfs: find("bzfs", "bzflag-server"),
            bzflag: find("bzflag", "bzflag-client"),
            bzadmin: find("bzadmin", "bzflag-server"),
            cc: find("cc", "gcc libc6-dev"),
        };
        if missing.is_empty() { Ok(tools) } else { Err(Missing(missing)) }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
        let mut packages: Vec<_> = self.0.iter().map(|(_, package)| *package).collect();
        packages.sort_unstable();
        packages.dedup();
        write!(f, "{} not found; on Debian: apt-get install {}", names.join(", "), packages.join(" "))
    }
}

impl std::error::Error for Missing {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let missing = Tools::find_in(&[]).unwrap_err().to_string();
        let expected = "bzfs, bzflag, bzadmin, cc not found; \
                        on Debian: apt-get install bzflag-client bzflag-server gcc libc6-dev";
        assert_eq!(missing, expected);
    }

    #[test]
    fn the_first_program_on_the_way_is_taken() {
        let root = std::env::temp_dir().join(format!("evenkeel-bzflag-tools-{}", std::process::id()));
        let folders = ["empty", "plain", "first", "second"].map(|name| root.join(name));
        for folder in &folders {
            std::fs::create_dir_all(folder).unwrap();
        }
        for (folder, mode) in [(&folders[1], 0o644), (&folders[2], 0o755), (&folders[3], 0o755)] {
            for name in ["bzfs", "bzflag", "bzadmin", "cc"] {
                std::fs::write(folder.join(name), "").unwrap();
                std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).unwrap();
            }
        }
        assert_eq!(Tools::find_in(&folders).unwrap().bzflag, folders[2].join("bzflag"));
        std::fs::remove_dir_all(root).unwrap();
    }
}

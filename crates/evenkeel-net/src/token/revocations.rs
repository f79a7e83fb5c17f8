//! Revoked tokens in a file, so that a restarted server knows them.
//!
//! ```text
//! # Empty lines and lines that start like this one say nothing.
//! TOKEN-ID EXPIRES
//! ```

use super::{RegisterFull, TokenId};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file longer than this is not one of ours, in bytes: it would hold more tokens than are remembered.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// A file of revoked tokens: one line each, with when the token expires (Unix seconds). Several programs may append to it.
#[derive(Clone, Debug)]
pub struct Revocations {
    path: PathBuf,
    /// How the file looked when it was last read.
    seen: Option<(SystemTime, u64)>,
}

/// What is wrong with a file of revoked tokens.
#[derive(Debug)]
#[non_exhaustive]
pub enum RevocationError {
    /// It cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not a token's id and when it expires.
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
    },
    /// There are too many.
    Full(RegisterFull),
}

impl fmt::Display for RevocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Line { path, line } => {
                write!(f, "{}, line {line}: expected a token's id and when it expires in Unix seconds", path.display())
            }
            Self::Full(full) => full.fmt(f),
        }
    }
}

impl std::error::Error for RevocationError {}

impl Revocations {
    /// Those in a file, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), seen: None }
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of them, if the file has changed since it was last read.
    pub fn read_if_changed(&mut self) -> Result<Option<Vec<(TokenId, u64)>>, RevocationError> {
        let looks = match std::fs::metadata(&self.path) {
            Ok(data) => (data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.failed(source)),
        };
        if self.seen == Some(looks) {
            return Ok(None);
        }
        if looks.1 > MAX_FILE {
            return Err(self.failed(io::Error::other("too long for a file of revoked tokens")));
        }
        let text = std::fs::read_to_string(&self.path).map_err(|source| self.failed(source))?;
        let revoked = self.parse(&text)?;
        self.seen = Some(looks);
        Ok(Some(revoked))
    }

    /// Adds one, and returns when it is safe from a crash.
    pub fn append(&self, token: TokenId, expires: u64) -> Result<(), RevocationError> {
        let write = || {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
            // One call: lines of programs that write at the same time do not mix.
            file.write_all(format!("{token} {expires}\n").as_bytes())?;
            file.sync_all()
        };
        write().map_err(|source| self.failed(source))
    }

    fn parse(&self, text: &str) -> Result<Vec<(TokenId, u64)>, RevocationError> {
        let mut revoked = Vec::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim_ascii)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parsed = line.split_once(' ').and_then(|(id, expires)| Some((id.parse().ok()?, expires.parse().ok()?)));
            revoked.push(parsed.ok_or_else(|| RevocationError::Line { path: self.path.clone(), line: number })?);
        }
        Ok(revoked)
    }

    fn failed(&self, source: io::Error) -> RevocationError {
        RevocationError::File { path: self.path.clone(), source }
    }
}

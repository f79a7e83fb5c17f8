//! Where recordings are while the demo runs: in a folder of its own, which goes with it.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// So many recordings are kept, the newest.
const KEPT: usize = 4;
/// How their names end.
const EXTENSION: &str = "evkrec";

/// The recordings of a run of the program.
pub(crate) struct Recordings {
    folder: Arc<Folder>,
    next: AtomicU32,
    kept: Mutex<VecDeque<(String, Spool)>>,
}

impl Recordings {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { folder: Arc::new(Folder::new()?), next: AtomicU32::new(1), kept: Mutex::default() })
    }

    /// The demo stops.
    pub(crate) fn close(&self) {
        self.folder.closed.store(true, Ordering::Relaxed);
    }

    /// A name for a new recording, and where it goes.
    pub(super) fn name(&self) -> (String, Spool) {
        let name = format!("evenkeel-{}.{EXTENSION}", self.next.fetch_add(1, Ordering::Relaxed));
        let spool = Spool { path: self.folder.path.join(&name), folder: self.folder.clone() };
        (name, spool)
    }

    /// Somewhere for what comes from outside.
    pub(crate) fn spool(&self) -> Spool {
        let name = format!("opened-{}", self.next.fetch_add(1, Ordering::Relaxed));
        Spool { path: self.folder.path.join(name), folder: self.folder.clone() }
    }

    /// Keeps a recording that is complete; the oldest makes room for it.
    pub(super) fn keep(&self, name: &str, spool: Spool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((name.to_owned(), spool));
        while kept.len() > KEPT {
            kept.pop_front();
        }
    }

    /// Where a recording is that was kept.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == name).map(|(_, spool)| spool.path.clone())
    }
}

/// A file that goes when nobody needs it any longer.
pub(crate) struct Spool {
    path: PathBuf,
    folder: Arc<Folder>,
}

impl Spool {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Nobody needs it any longer.
    pub(super) fn is_closed(&self) -> bool {
        self.folder.closed.load(Ordering::Relaxed)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A folder that only this user may look into, and that is removed with all that is in it.
struct Folder {
    path: PathBuf,
    /// The demo stops: what is being read need not be read to its end.
    closed: AtomicBool,
}

impl Folder {
    fn new() -> io::Result<Self> {
        let mut last = io::Error::other("no name for it is free");
        for attempt in 0..16 {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let name = format!("evenkeel-{}-{}-{attempt}", std::process::id(), now.as_nanos());
            let path = std::env::temp_dir().join(name);
            let mut builder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Self { path, closed: AtomicBool::new(false) }),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

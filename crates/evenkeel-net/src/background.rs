//! A thread that does the waiting, for programs that have no tokio runtime: most games.

use std::io;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// What connections still have to say when it is to end may take so long: a farewell lingers for a second at most.
const LAST_WORDS: Duration = Duration::from_millis(1_500);

/// A runtime on a thread of its own. It ends when this is dropped, as soon as all is said.
pub(crate) struct Background {
    handle: Handle,
    /// Dropping it lets the thread go.
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Background {
    pub(crate) fn start(name: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(async {
                // It ends with an error, when the other end is dropped: that is what it waits for.
                let _ = stopped.await;
                fall_silent(&Handle::current()).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, stop, thread })
    }

    /// Makes something on the thread and waits for it.
    pub(crate) fn run<T: Send + 'static>(&self, make: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (give, take) = std::sync::mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let _ = give.send(make.await);
        });
        take.recv().ok()
    }

    /// Ends, and waits until all is said.
    pub(crate) fn finish(self) {
        drop(self.stop);
        // Had it panicked, there would be nothing left to wait for either.
        let _ = self.thread.join();
    }
}

/// Waits until no task is left, but not for ever.
async fn fall_silent(runtime: &Handle) {
    let start = Instant::now();
    while runtime.metrics().num_alive_tasks() > 0 && start.elapsed() < LAST_WORDS {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_is_under_way_is_finished_before_it_ends() {
        let background = Background::start("a test").unwrap();
        let said = Arc::new(AtomicBool::new(false));
        let saying = said.clone();
        background.run(async move {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                saying.store(true, Ordering::Relaxed);
            });
        });
        background.finish();
        assert!(said.load(Ordering::Relaxed));
    }
}

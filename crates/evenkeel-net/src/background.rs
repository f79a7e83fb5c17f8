//! A thread that does the waiting, for programs that have no tokio runtime: most games.

use std::io;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// How long what is to be said at the end may take.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(200);

/// A runtime on a thread of its own. It ends when this is dropped.
pub(crate) struct Background {
    handle: Handle,
    /// Dropping it lets the thread go.
    _stop: oneshot::Sender<()>,
}

impl Background {
    pub(crate) fn start(name: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(async {
                // It ends with an error, when the other end is dropped: that is what it waits for.
                let _ = stopped.await;
                // Nothing runs here but within this: what connections still have to say may take a moment.
                tokio::time::sleep(LAST_WORDS).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _stop: stop })
    }

    /// Makes something on the thread and waits for it.
    pub(crate) fn run<T: Send + 'static>(&self, make: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (give, take) = std::sync::mpsc::sync_channel(1);
        self.handle.spawn(async move {
            let _ = give.send(make.await);
        });
        take.recv().ok()
    }
}

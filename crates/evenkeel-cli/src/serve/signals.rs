//! What the outside world can tell a running program.

use anyhow::Result;

/// What was asked for.
pub(crate) enum Asked {
    /// To end, by this.
    Stop(&'static str),
    /// To read the certificate and the keys of tokens again.
    Reload,
}

/// Ctrl-C, or what a service manager sends.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn asked(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Stop("SIGTERM"),
            _ = self.interrupt.recv() => Asked::Stop("Ctrl-C"),
            _ = self.hang_up.recv() => Asked::Reload,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {})
    }

    pub(crate) async fn asked(&mut self) -> Asked {
        // Without signals to be had it runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Asked::Stop("Ctrl-C")
    }
}

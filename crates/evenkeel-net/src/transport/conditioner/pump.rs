//! The thread that lets packets out when their time has come.

use super::Shared;
use super::port::Packet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How long the thread waits for more when there is nothing to do.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts the thread, and says whether that worked.
pub(super) fn start(shared: &Arc<Shared>) -> bool {
    let shared = shared.clone();
    std::thread::Builder::new().name("evenkeel-conditioner".into()).spawn(move || pump(&shared)).is_ok()
}

fn pump(shared: &Arc<Shared>) {
    let mut due = Vec::new();
    while wait(shared, &mut due) {
        for packet in due.drain(..) {
            if !packet.come_out() {
                shared.given_up.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Waits until packets are due, and takes them. When nobody needs the thread any longer, it says so.
fn wait(shared: &Arc<Shared>, due: &mut Vec<Packet>) -> bool {
    let mut state = shared.lock();
    let mut idle = false;
    loop {
        let now = shared.now();
        while let Some(delivery) = state.link.poll(now) {
            due.push(delivery.payload);
        }
        if !due.is_empty() {
            return true;
        }
        let next = state.link.poll_timeout();
        if idle && next.is_none() || Arc::strong_count(shared) == 1 {
            state.pumping = false;
            return false;
        }
        let pause = next.map_or(PATIENCE, |next| until(next.since(now)).min(PATIENCE));
        let (again, waited) = shared.sooner.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
        state = again;
        idle = next.is_none() && waited.timed_out();
    }
}

fn until(span: evenkeel::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(0))
}

//! How much may be under way unacknowledged: QUIC's usual answer, but never less than a floor.
//!
//! Congestion control is for those who take all they can get. Movement does not: a game sends so many datagrams per
//! second, and a budget bounds them already. What it cannot bear is to wait. After a black-out of some seconds nothing
//! that was sent has been acknowledged, the window is full or has shrunk to two packets, and QUIC would send nothing but
//! a probe now and then, with pauses that have grown to seconds by then: datagrams would come seconds after the network
//! is back. With a floor under the window they come at once.
//!
//! What bounds it: no more than the floor per round trip is sent against the will of congestion control, messages
//! included, and the pacing that spreads the window over the round trip stays as it is. Whoever sends more than the floor
//! during a black-out waits for QUIC's next probe after all.

use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Makes [`Floored`] ones.
pub(super) struct Floor(pub u64);

impl ControllerFactory for Floor {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Floored { inner: Arc::new(CubicConfig::default()).build(now, mtu), floor: self.0 })
    }
}

/// Cubic, with a floor under its window.
struct Floored {
    inner: Box<dyn Controller>,
    floor: u64,
}

impl Controller for Floored {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.inner.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window().max(self.floor)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        metrics.congestion_window = self.window();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), floor: self.floor })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window().max(self.floor)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_do_not_bring_the_window_below_the_floor() {
        let now = Instant::now();
        let mut floored = Arc::new(Floor(20_000)).build(now, 1200);
        let mut cubic = Arc::new(CubicConfig::default()).build(now, 1200);
        assert_eq!(floored.window(), 20_000.max(cubic.window()));
        for controller in [&mut floored, &mut cubic] {
            controller.on_congestion_event(now, now, true, 10_000);
        }
        assert!(cubic.window() < 5_000);
        assert_eq!((floored.window(), floored.clone_box().window()), (20_000, 20_000));
    }
}

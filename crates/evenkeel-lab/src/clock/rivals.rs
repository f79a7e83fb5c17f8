//! The clock rules games use today, fed with the same packets.
//!
//! All three are written generously: they get receive stamps to the nanosecond and no tick to round to.

use evenkeel::{GlobalTime, Instant};

/// The four times of an exchange: ping sent (host), received (session), pong sent (session), received (host).
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Ping sent, by the host's clock.
    pub t1: Instant,
    /// Ping received, by the session's.
    pub t2: GlobalTime,
    /// Pong sent, by the session's.
    pub t3: GlobalTime,
    /// Pong received, by the host's.
    pub t4: Instant,
}

impl Exchange {
    fn round_trip_ms(&self) -> f64 {
        (self.t4.since(self.t1) - self.t3.since(self.t2)).as_millis_f64()
    }

    /// Session time minus host time by the middle of both ways.
    fn offset_ms(&self) -> f64 {
        (offset_ms(self.t2, self.t1) + offset_ms(self.t3, self.t4)) / 2.0
    }
}

fn offset_ms(session: GlobalTime, host: Instant) -> f64 {
    (session.as_nanos() - host.as_nanos()) as f64 / 1e6
}

/// One rule for the offset.
pub trait Rival {
    /// A pong arrived.
    fn exchange(&mut self, exchange: &Exchange);
    /// A stamped datagram arrived.
    fn stamp(&mut self, _sent: GlobalTime, _received: Instant) {}
    /// Session time minus host time in ms, if known.
    fn offset_ms(&self) -> Option<f64>;
}

/// The usual rule: the last pong's time plus half of a smoothed round trip, smoothed again.
#[derive(Debug, Default)]
pub struct Ewma {
    round_trip_ms: Option<f64>,
    offset_ms: Option<f64>,
}

impl Rival for Ewma {
    fn exchange(&mut self, exchange: &Exchange) {
        let round_trip = smooth(&mut self.round_trip_ms, exchange.round_trip_ms(), 0.125);
        smooth(&mut self.offset_ms, offset_ms(exchange.t3, exchange.t4) + round_trip / 2.0, 0.125);
    }

    fn offset_ms(&self) -> Option<f64> {
        self.offset_ms
    }
}

fn smooth(mean: &mut Option<f64>, sample: f64, weight: f64) -> f64 {
    let smoothed = mean.map_or(sample, |mean| mean + weight * (sample - mean));
    *mean = Some(smoothed);
    smoothed
}

/// NTP's clock filter (RFC 5905, section 10): of the last eight exchanges, the one with the shortest round trip.
#[derive(Debug, Default)]
pub struct MinOfEight {
    last: std::collections::VecDeque<(f64, f64)>,
}

impl Rival for MinOfEight {
    fn exchange(&mut self, exchange: &Exchange) {
        if self.last.len() == 8 {
            self.last.pop_front();
        }
        self.last.push_back((exchange.round_trip_ms(), exchange.offset_ms()));
    }

    fn offset_ms(&self) -> Option<f64> {
        self.last.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1)
    }
}

/// lightyear's remote timeline: every packet's stamp plus half the round trip (smoothed by 1/12, outliers cut off),
/// smoothed by 0.02 to 0.10, less the more jitter there is; after three pongs.
#[derive(Debug, Default)]
pub struct Lightyear {
    pongs: u32,
    round_trip_ms: Option<f64>,
    deviation_ms: f64,
    newest: Option<GlobalTime>,
    offset_ms: Option<f64>,
}

impl Rival for Lightyear {
    fn exchange(&mut self, exchange: &Exchange) {
        self.pongs += 1;
        let mut sample = exchange.round_trip_ms();
        match self.round_trip_ms {
            None => self.deviation_ms = sample / 2.0,
            Some(mean) => {
                let cut = (mean + 3.0 * self.deviation_ms).min(3.0 * mean).min(mean + 500.0).max(1.2 * mean);
                if self.pongs > 2 {
                    sample = sample.min(cut);
                }
                self.deviation_ms += ((sample - mean).abs() - self.deviation_ms) / 6.0;
            }
        }
        smooth(&mut self.round_trip_ms, sample, 1.0 / 12.0);
        self.stamp(exchange.t3, exchange.t4);
    }

    fn stamp(&mut self, sent: GlobalTime, received: Instant) {
        let Some(round_trip) = self.round_trip_ms else { return };
        if self.pongs < 3 || self.newest.is_some_and(|newest| sent < newest) {
            return;
        }
        self.newest = Some(sent);
        let jitter = self.deviation_ms / 2.0;
        let weight = 0.10 - ((jitter - 1.0) / 9.0).clamp(0.0, 1.0) * 0.08;
        smooth(&mut self.offset_ms, offset_ms(sent, received) + round_trip / 2.0, weight);
    }

    fn offset_ms(&self) -> Option<f64> {
        self.offset_ms
    }
}

//! One direction of a connection: [`Path`] says what becomes of a packet sent at a given moment.

use crate::conditions::{Conditions, ConditionsError, Jitter, Loss, MAX_DELAY};
use crate::noise::Noise;
use core::f64::consts::FRAC_PI_2;
use evenkeel::{Duration, GlobalTime};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives.
    Arrives {
        /// When.
        at: GlobalTime,
        /// When it arrives for a second time, if it does; not before the first.
        again: Option<GlobalTime>,
    },
}

impl Fate {
    /// When the packet arrives first, if it does.
    pub fn arrival(&self) -> Option<GlobalTime> {
        match *self {
            Self::Lost => None,
            Self::Arrives { at, .. } => Some(at),
        }
    }
}

/// One direction of a connection.
///
/// **A packet's fate is a function of the seed, the path's id and the moment it is sent, and of nothing else**: not of
/// other packets, nor of which were asked about before. The rate limit, which does depend on the traffic, is therefore
/// not applied here but in [`Link`](crate::Link).
///
/// ```
/// use evenkeel::GlobalTime;
/// use evenkeel_link::{Conditions, Path};
/// let path = Path::new("far,loss=2%".parse()?, 42, 7)?;
/// let sent = GlobalTime::from_secs_f64(1.5);
/// assert_eq!(path.fate(sent), path.fate(sent));
/// if let Some(arrival) = path.fate(sent).arrival() {
///     assert!(arrival.since(sent).as_millis() >= 100);
/// }
/// # Ok::<(), evenkeel_link::ConditionsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    conditions: Conditions,
    noise: Noise,
}

/// The lanes of the noise, one for each question asked about a packet or a slot of time.
mod lane {
    pub const LOSS: u32 = 0;
    pub const REORDER: u32 = 1;
    pub const DUPLICATE: u32 = 2;
    /// How many changes of state a cell of time holds.
    pub const CHANGES: u32 = 3;
    /// When they happen, [`MAX_CHANGES`](super::MAX_CHANGES) lanes.
    pub const CHANGE_AT: u32 = 16;
    /// Where they lead, as many lanes.
    pub const CHANGE_TO: u32 = 32;
    /// The jitter, four lanes for every part of it, twice as many for packet and copy.
    pub const JITTER: u32 = 64;
    pub const LANES_PER_JITTER: u32 = 4;
}

/// A cell of time holds one change of state on average, so that more than this is out of reach (probability 1e-14).
const MAX_CHANGES: u32 = 16;

/// How many cells of time to look back for the last change of state; each holds none with probability 1/e.
const MAX_CELLS: i64 = 64;

impl Path {
    /// The path of this id under a seed. Fails if the conditions make no sense.
    pub fn new(conditions: Conditions, seed: u64, path_id: u64) -> Result<Self, ConditionsError> {
        conditions.validate()?;
        Ok(Self { conditions, noise: Noise::new(seed, path_id) })
    }

    /// What the path does to packets.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// What becomes of a packet sent at this moment.
    pub fn fate(&self, sent: GlobalTime) -> Fate {
        if self.loses(sent) {
            return Fate::Lost;
        }
        let at = sent + self.delay(sent);
        let twice = self.noise.chance(sent.as_nanos(), lane::DUPLICATE, self.conditions.duplicate);
        // The copy never comes first: with or without duplication, the first arrival is the same.
        let again = twice.then(|| at.max(sent + self.delay_of(sent, 1)));
        Fate::Arrives { at, again }
    }

    /// How long a packet sent at this moment takes, if it is not lost.
    pub fn delay(&self, sent: GlobalTime) -> Duration {
        self.delay_of(sent, 0)
    }

    /// Whether a packet sent at this moment is lost.
    pub fn loses(&self, sent: GlobalTime) -> bool {
        let probability = match self.conditions.loss {
            Loss::None => return false,
            Loss::Independent(probability) => probability,
            Loss::GilbertElliott { mean_good, mean_bad, loss_good, loss_bad } => {
                if self.is_bad(sent, mean_good, mean_bad) { loss_bad } else { loss_good }
            }
        };
        self.noise.chance(sent.as_nanos(), lane::LOSS, probability)
    }

    fn delay_of(&self, sent: GlobalTime, copy: u32) -> Duration {
        let mut delay = self.conditions.delay + self.conditions.changes.at(sent);
        for (part, jitter) in (0..).zip(&self.conditions.jitter) {
            let first_lane = lane::JITTER + (2 * part + copy) * lane::LANES_PER_JITTER;
            delay += self.jitter(jitter, sent.as_nanos(), first_lane, lane::JITTER + 2 * part * lane::LANES_PER_JITTER);
        }
        if self.noise.chance(sent.as_nanos(), lane::REORDER, self.conditions.reorder.probability) {
            delay += self.conditions.reorder.extra;
        }
        delay.clamp(Duration::ZERO, MAX_DELAY)
    }

    /// One part of the jitter. What belongs to the packet is drawn from `lane`; what belongs to the time it is sent at,
    /// and is the same for a packet and its copy, from `shared_lane`.
    fn jitter(&self, jitter: &Jitter, nanos: i64, lane: u32, shared_lane: u32) -> Duration {
        let noise = &self.noise;
        match *jitter {
            Jitter::None => Duration::ZERO,
            Jitter::Uniform { plus_minus } => plus_minus.mul_f64(2.0 * noise.uniform(nanos, lane) - 1.0),
            Jitter::Normal { std_dev } => std_dev.mul_f64(noise.normal(nanos, lane)),
            Jitter::Exponential { mean } => mean.mul_f64(noise.exponential(nanos, lane)),
            Jitter::Pareto { scale, shape } => {
                // u^(-1/shape) - 1, and -ln u is exponentially distributed.
                scale.mul_f64(libm::expm1(noise.exponential(nanos, lane) / shape)).min(MAX_DELAY)
            }
            Jitter::Correlated { std_dev, time_constant } => {
                std_dev.mul_f64(self.correlated(nanos, time_constant, shared_lane))
            }
            Jitter::Bursts { probability, height, length } => {
                let slot = if length == Duration::ZERO { nanos } else { nanos.div_euclid(length.as_nanos()) };
                if noise.chance(slot, shared_lane, probability) { height } else { Duration::ZERO }
            }
        }
    }

    /// A standard normal that moves smoothly in time: independent normals one time constant apart, blended between them
    /// by weights whose squares sum to one, so that the variance is the same at every moment.
    fn correlated(&self, nanos: i64, time_constant: Duration, lane: u32) -> f64 {
        let slot = nanos.div_euclid(time_constant.as_nanos());
        let fraction = nanos.rem_euclid(time_constant.as_nanos()) as f64 / time_constant.as_nanos() as f64;
        let (to_weight, from_weight) = libm::sincos(FRAC_PI_2 * fraction);
        from_weight * self.noise.normal(slot, lane) + to_weight * self.noise.normal(slot.wrapping_add(1), lane)
    }

    /// Whether a two-state path is in its bad state.
    ///
    /// A two-state Markov process is a Poisson process of moments, at rate 1/mean_good + 1/mean_bad, each of which sets
    /// the state afresh, to bad with the long-run probability of bad. So the state now is what the last such moment
    /// set, and that is never far back: time is cut into cells that hold one moment on average.
    fn is_bad(&self, sent: GlobalTime, mean_good: Duration, mean_bad: Duration) -> bool {
        let (good, bad) = (mean_good.as_nanos() as f64, mean_bad.as_nanos() as f64);
        let bad_share = bad / (good + bad);
        let cell_nanos = (good * bad_share).max(1.0) as i64;
        let cell = sent.as_nanos().div_euclid(cell_nanos);
        let mut until = sent.as_nanos().rem_euclid(cell_nanos) as f64 / cell_nanos as f64;
        for back in 0..MAX_CELLS {
            if let Some(change) = self.last_change(cell.wrapping_sub(back), until) {
                return self.noise.chance(cell.wrapping_sub(back), lane::CHANGE_TO + change, bad_share);
            }
            until = 1.0;
        }
        false
    }

    /// The last change of state in a cell up to a fraction of it, as a number.
    fn last_change(&self, cell: i64, until: f64) -> Option<u32> {
        let mut last = None;
        for change in 0..poisson_of_mean_one(self.noise.uniform(cell, lane::CHANGES)) {
            let at = self.noise.uniform(cell, lane::CHANGE_AT + change);
            if at <= until && last.is_none_or(|(latest, _)| at > latest) {
                last = Some((at, change));
            }
        }
        last.map(|(_, change)| change)
    }
}

/// Turns a uniform number into one from the Poisson distribution of mean 1.
fn poisson_of_mean_one(uniform: f64) -> u32 {
    let mut probability = libm::exp(-1.0);
    let mut cumulative = probability;
    let mut count = 0;
    while uniform > cumulative && count < MAX_CHANGES {
        count += 1;
        probability /= f64::from(count);
        cumulative += probability;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::Changes;
    use crate::text::tests::any_conditions;
    use proptest::prelude::*;

    const PACKETS: i64 = 100_000;

    /// Packets sent every 10 ms.
    fn times() -> impl Iterator<Item = GlobalTime> {
        (0..PACKETS).map(|i| GlobalTime::from_millis(10 * i))
    }

    fn path(text: &str) -> Path {
        Path::new(text.parse().unwrap(), 42, 7).unwrap()
    }

    fn mean_and_std_millis(path: &Path) -> (f64, f64) {
        let delays: Vec<f64> = times().map(|sent| path.delay(sent).as_millis_f64()).collect();
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        let variance = delays.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / delays.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn jitter_has_the_moments_it_says() {
        // Five standard errors of the mean are 1.6 % of the deviation with independent packets; a correlated path has
        // 1,000 independent stretches, a bursting one 1 % of 20,000.
        for (text, mean, std, mean_error, std_error) in [
            ("delay=100ms,jitter=uniform:20ms", 100.0, 20.0 / 3f64.sqrt(), 0.2, 0.1),
            ("delay=100ms,jitter=normal:10ms", 100.0, 10.0, 0.16, 0.12),
            ("delay=100ms,jitter=exp:20ms", 120.0, 20.0, 0.32, 0.5),
            ("delay=100ms,jitter=pareto:30ms:4", 110.0, 10.0 * 2f64.sqrt(), 0.3, 1.0),
            ("delay=100ms,jitter=correlated:10ms:1s", 100.0, 10.0, 1.6, 0.8),
            ("delay=100ms,jitter=bursts:1%:50ms:50ms", 100.5, 50.0 * (0.01f64 * 0.99).sqrt(), 0.18, 0.9),
            ("delay=100ms,jitter=exp:20ms+uniform:30ms", 120.0, (400.0f64 + 300.0).sqrt(), 0.42, 0.5),
        ] {
            let (found_mean, found_std) = mean_and_std_millis(&path(text));
            assert!((found_mean - mean).abs() < mean_error, "{text}: mean {found_mean} instead of {mean}");
            assert!((found_std - std).abs() < std_error, "{text}: deviation {found_std} instead of {std}");
        }
    }

    #[test]
    fn correlated_jitter_moves_smoothly_and_forgets() {
        let path = path("delay=1s,jitter=correlated:10ms:1s");
        let deviation = |sent: GlobalTime| path.delay(sent).as_millis_f64() - 1000.0;
        let correlation = |lag: i64| {
            let lag = Duration::from_millis(lag);
            times().map(|sent| deviation(sent) * deviation(sent + lag)).sum::<f64>() / PACKETS as f64 / 100.0
        };
        assert!(correlation(10) > 0.95);
        assert!((correlation(1000) - core::f64::consts::FRAC_1_PI).abs() < 0.08);
        assert!(correlation(2000).abs() < 0.1);
        let steepest =
            times().map(|t| (deviation(t + Duration::from_millis(1)) - deviation(t)).abs()).fold(0.0, f64::max);
        assert!(steepest < 0.1, "{steepest} ms in 1 ms");
    }

    #[test]
    fn losses_are_as_frequent_as_said() {
        for (text, tolerance) in
            [("loss=2%", 0.0025), ("loss=50%", 0.008), ("loss=bursts:2s:200ms:1%:80%", 0.02), ("loss=0%", 0.0)]
        {
            let path = path(text);
            let rate = times().filter(|sent| path.loses(*sent)).count() as f64 / PACKETS as f64;
            let wanted = path.conditions().loss.rate();
            assert!((rate - wanted).abs() <= tolerance, "{text}: {rate} instead of {wanted}");
        }
        assert!(times().all(|sent| path("loss=100%").loses(sent)));
    }

    #[test]
    fn bursts_of_loss_last_as_long_as_said() {
        // Sampled every millisecond, so that few changes of state go unseen.
        let path = path("loss=bursts:300ms:100ms:0%:100%");
        let lost: Vec<bool> = (0..2_000_000).map(|i| path.loses(GlobalTime::from_millis(i))).collect();
        let mut lengths = Vec::new();
        for burst in lost.chunk_by(|a, b| a == b).filter(|run| run[0]) {
            lengths.push(burst.len() as f64);
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let long = lengths.iter().filter(|length| **length > 100.0).count() as f64 / lengths.len() as f64;
        assert!((mean - 100.0).abs() < 6.0, "{mean} ms in {} bursts", lengths.len());
        assert!((long - (-1.0f64).exp()).abs() < 0.03, "{long} of the bursts exceed the mean");
    }

    #[test]
    fn duplicates_come_second_and_change_nothing_else() {
        let (single, double) = (path("far,loss=5%"), path("far,loss=5%,duplicate=10%"));
        let mut copies = 0;
        for sent in times() {
            assert_eq!(single.fate(sent).arrival(), double.fate(sent).arrival());
            if let Fate::Arrives { at, again: Some(again) } = double.fate(sent) {
                assert!(again >= at);
                copies += 1;
            }
        }
        assert!((copies as f64 / PACKETS as f64 - 0.095).abs() < 0.005, "{copies}");
    }

    #[test]
    fn held_back_packets_are_overtaken() {
        let path = path("delay=50ms,reorder=3%:40ms");
        let held_back = times().filter(|sent| path.delay(*sent).as_millis() == 90).count();
        assert!((held_back as f64 / PACKETS as f64 - 0.03).abs() < 0.003);
    }

    #[test]
    fn paths_of_different_seed_or_id_are_unrelated() {
        let conditions: Conditions = "far".parse().unwrap();
        let delays = |seed, id| {
            let path = Path::new(conditions.clone(), seed, id).unwrap();
            times().take(100).map(|sent| path.delay(sent)).collect::<Vec<_>>()
        };
        assert_eq!(delays(1, 2), delays(1, 2));
        assert_ne!(delays(1, 2), delays(2, 1));
        assert_ne!(delays(1, 2), delays(1, 3));
    }

    proptest! {
        #[test]
        fn nothing_arrives_before_it_was_sent(conditions in any_conditions(), seed: u64, id: u64, nanos: i64) {
            let path = Path::new(conditions, seed, id).unwrap();
            let sent = GlobalTime::from_nanos(nanos);
            let fate = path.fate(sent);
            prop_assert_eq!(fate, path.clone().fate(sent));
            if let Fate::Arrives { at, again } = fate {
                prop_assert!(sent <= at && at.since(sent) <= MAX_DELAY);
                prop_assert!(again.is_none_or(|again| at <= again));
            }
        }

        #[test]
        fn order_is_kept_without_jitter_and_reordering(millis in 0i64..1000, sent: i32, gap in 0i64..1_000_000_000, loss in 0.0..1.0) {
            let loss = Loss::Independent(loss);
            let steps = Changes::Steps(vec![(GlobalTime::ZERO, Duration::from_millis(5))]);
            let conditions = Conditions::delay(Duration::from_millis(millis)).with_loss(loss).with_changes(steps);
            let path = Path::new(conditions, 1, 2).unwrap();
            let first = GlobalTime::from_nanos(sent.into());
            let second = first + Duration::from_nanos(gap);
            prop_assert!(first + path.delay(first) <= second + path.delay(second));
        }
    }
}

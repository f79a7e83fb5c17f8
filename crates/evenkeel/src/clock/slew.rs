//! The output stage: follows the estimate without ever running backwards.

use crate::time::{Duration, GlobalTime, Instant};

/// Errors up to this are corrected gently, larger ones as fast as a clock that must not run backwards can.
const GENTLE: Duration = Duration::from_millis(10);
/// Rate of a gentle correction: 5 % faster or slower than time itself.
const GENTLE_RATE: f64 = 0.05;
/// Rate of an urgent one: the output runs at 0.1x or 1.9x.
const URGENT_RATE: f64 = 0.9;

/// What the clock last said, and when.
#[derive(Clone, Copy, Debug)]
struct Said {
    at: Instant,
    time: GlobalTime,
}

/// Turns a moving estimate into a time that never runs backwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slew {
    said: Option<Said>,
}

impl Slew {
    /// The time to show at `now`, where the estimate says `target` and runs `skew` faster than this host's clock. Also
    /// answers by how much it jumped ahead, if the estimate was further ahead than `jump_over`.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        target: GlobalTime,
        skew: f64,
        jump_over: Duration,
    ) -> (GlobalTime, Option<Duration>) {
        let Some(said) = self.said else {
            self.said = Some(Said { at: now, time: target });
            return (target, None);
        };
        let elapsed = now.since(said.at);
        if elapsed.is_negative() {
            return (said.time, None);
        }
        let unaided = said.time + elapsed + elapsed.mul_f64(skew);
        let error = target.since(unaided);
        let jumped = error > jump_over;
        let time = if jumped { target } else { unaided + limited(error, elapsed) };
        // Rounding and saturation must not undo the promise.
        let time = time.max(said.time);
        self.said = Some(Said { at: now, time });
        (time, jumped.then_some(error))
    }

    /// The time to show at `now` with no estimate to follow: it goes on as it was, if there is any.
    pub(super) fn go_on(&mut self, now: Instant, skew: f64) -> Option<GlobalTime> {
        let said = self.said?;
        let elapsed = now.since(said.at).max(Duration::ZERO);
        let time = (said.time + elapsed + elapsed.mul_f64(skew)).max(said.time);
        self.said = Some(Said { at: said.at.max(now), time });
        Some(time)
    }

    /// Leaves out the time until `now`, as if it had not passed.
    pub(super) fn skip_to(&mut self, now: Instant) {
        if let Some(said) = &mut self.said {
            said.at = said.at.max(now);
        }
    }

    /// Takes over what another role has shown.
    pub(super) fn begin(&mut self, now: Instant, shown: GlobalTime) {
        self.said = Some(Said { at: now, time: shown });
    }

    /// What was last shown.
    pub(super) fn last(&self) -> Option<GlobalTime> {
        self.said.map(|said| said.time)
    }

    /// Takes `now` as the moment of the last output. For a host clock that was set back, which would otherwise have to
    /// run up to where it was before the output moves again.
    pub(super) fn rebase(&mut self, now: Instant) {
        if let Some(said) = &mut self.said {
            said.at = said.at.min(now);
        }
    }
}

/// As much of `error` as may be corrected while `elapsed` passes.
fn limited(error: Duration, elapsed: Duration) -> Duration {
    let rate = if error.abs() <= GENTLE { GENTLE_RATE } else { URGENT_RATE };
    let most = elapsed.mul_f64(rate);
    error.clamp(-most, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUMP: Duration = Duration::from_millis(250);

    /// Milliseconds shown when the estimate moves from `from` to `to` ms ahead of the host's clock, `after` ms later.
    fn shown(from: i64, to: i64, after: i64) -> (f64, Option<Duration>) {
        let mut slew = Slew::default();
        slew.advance(Instant::ZERO, GlobalTime::from_millis(from), 0.0, JUMP);
        let mut jumped = None;
        for at in 1..=after {
            let now = Instant::from_millis(at);
            jumped = jumped.or(slew.advance(now, GlobalTime::from_millis(to + at), 0.0, JUMP).1);
        }
        (slew.last().unwrap().as_secs_f64() * 1e3, jumped)
    }

    #[test]
    fn small_errors_go_at_five_percent() {
        assert_eq!(shown(0, 5, 20), (21.0, None));
        assert_eq!(shown(5, 0, 20), (24.0, None));
    }

    #[test]
    fn large_errors_go_faster_but_never_backwards() {
        assert_eq!(shown(500, 0, 100), (510.0, None));
        assert_eq!(shown(0, 200, 100), (190.0, None));
        assert_eq!(shown(0, 500, 1), (501.0, Some(Duration::from_millis(500))));
    }

    #[test]
    fn a_host_clock_that_goes_back_repeats_the_last_answer() {
        let mut slew = Slew::default();
        slew.advance(Instant::from_millis(1_000), GlobalTime::from_millis(7), 0.0, JUMP);
        let back = Instant::from_millis(400);
        assert_eq!(slew.advance(back, GlobalTime::ZERO, 0.0, JUMP).0, GlobalTime::from_millis(7));
        slew.rebase(back);
        let later = Instant::from_millis(410);
        assert_eq!(slew.advance(later, GlobalTime::from_millis(17), 0.0, JUMP).0, GlobalTime::from_millis(17));
    }
}

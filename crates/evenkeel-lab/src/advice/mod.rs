//! Which lag and which policy a game should have, from short runs of it.
//!
//! Lags up to what players bear are tried with several policies. Of those that keep to the budget the one with the smallest error
//! wins, error being mean plus standard deviation over receivers: accurate, and fair. Of its lags the shortest that buys nearly
//! as much as the longest is recommended, since every millisecond is paid for by all players, all the time.

mod limits;
mod show;
mod verdicts;
mod words;

pub use limits::Limits;
pub use verdicts::Waiting;

use crate::experiment::{Progress, Row, Settings, digest, paths};
use anyhow::{Result, ensure};
use evenkeel::policy::by_name;
use evenkeel::{Budget, Duration};

/// Beyond this lag players notice that their own actions come late, and need prediction or an echo of them.
const BEARABLE: Duration = Duration::from_millis(100);
/// A lag is long enough if it buys this share of what the longest buys.
const MOST_OF_IT: f64 = 0.9;
/// Lag that buys a smaller share than this is not worth any waiting.
const WORTH_WAITING: f64 = 0.05;
/// Whoever sends more than this share beyond the budget does not keep to it: some policies cannot on some games.
const TOLERATED: f64 = 0.05;
/// So many lags are tried besides none.
const LAGS: i64 = 3;
/// Who shares out what the budget allows.
const POLICIES: [&str; 3] = ["tolerance", "credits", "even"];

/// The ways to the receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// One-way delays in milliseconds.
    pub delays_ms: Vec<f64>,
    /// Jitter of so many milliseconds either way, evenly spread.
    pub jitter_ms: f64,
    /// The share of packets that are lost.
    pub loss: f64,
}

/// What somebody wants advice about.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The game: what moves, within which budget, and how much of it to run. Its policies, paths and lag do not matter.
    pub game: Settings,
    /// Who listens.
    pub network: Network,
    /// How long actions may wait.
    pub limits: Limits,
    /// The game's tick: lags are whole numbers of them.
    pub tick: Duration,
}

/// One lag with one policy, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The lag of movement, which is also how much later players see what they do.
    pub lag: Duration,
    /// The policy.
    pub policy: String,
    /// Vectors sent.
    pub vectors: f64,
    /// Export error per second (metres) at shown time: the mean over receivers.
    pub mean: f64,
    /// Its standard deviation over receivers.
    pub std: f64,
    /// Its maximum over receivers.
    pub max: f64,
    /// Whether it sends no more than the budget allows.
    pub affordable: bool,
}

impl Alternative {
    fn new(lag: Duration, row: &Row) -> Self {
        Self {
            lag,
            policy: row.policy.clone(),
            vectors: row.vectors_sent,
            mean: row.mean,
            std: row.std,
            max: row.max,
            affordable: row.off_budget().is_none_or(|off| off <= TOLERATED),
        }
    }

    /// What is to be small: errors, and differences between players.
    fn badness(&self) -> f64 {
        self.mean + self.std
    }
}

/// What to set, what it buys and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What was tried, lag by lag; every lag has the same policies in the same order.
    pub alternatives: Vec<Alternative>,
    /// Which of them is recommended.
    pub chosen: usize,
    /// Which of them stands for doing without: no lag, and every k-th vector to everybody.
    pub reference: usize,
    /// How long verdicts should wait.
    pub verdicts: Waiting,
    /// The budget that was asked for.
    pub budget: Budget,
    /// How many receivers there are.
    pub receivers: usize,
    /// How many seconds were simulated, over all runs.
    pub simulated_seconds: f64,
}

impl Advice {
    /// The recommended lag and policy.
    pub fn recommended(&self) -> &Alternative {
        &self.alternatives[self.chosen]
    }

    /// No lag, and every k-th vector to everybody.
    pub fn without(&self) -> &Alternative {
        &self.alternatives[self.reference]
    }

    /// Whether players would notice the lag of their own actions, so that these must be predicted or echoed.
    pub fn needs_prediction(&self) -> bool {
        self.recommended().lag > BEARABLE
    }

    /// Whether verdicts come before all that they depend on has arrived, so that some must be rolled back.
    pub fn needs_timewarp(&self) -> bool {
        !self.verdicts.is_enough()
    }
}

impl Question {
    /// Whether it can be answered.
    pub fn check(&self) -> Result<()> {
        let tick_ms = self.tick.as_millis_f64();
        ensure!(tick_ms > 0.0 && tick_ms <= 1000.0, "--tick-ms must be above 0 and at most 1000");
        self.settings(&["base".into()], Duration::ZERO).check()
    }

    /// The game with these policies and this lag.
    fn settings(&self, policies: &[String], lag: Duration) -> Settings {
        let Network { delays_ms, jitter_ms, loss } = &self.network;
        let mut settings = self.game.clone();
        settings.policies = policies.to_vec();
        settings.paths = paths(delays_ms, *jitter_ms, *loss);
        settings.rules.placing.lag = lag;
        settings
    }

    /// The lags to try: none, and whole ticks up to the limit, or up to where nothing is left to wait for.
    fn lags(&self) -> Vec<Duration> {
        let tick = self.tick.as_nanos().max(1);
        let millis = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        let farthest = self.network.delays_ms.iter().copied().fold(0.0, f64::max) + self.network.jitter_ms;
        let covered = (millis(farthest).as_nanos() + tick - 1) / tick;
        // Six sixtieths of a second are a tenth, even if a sixtieth was rounded up to a nanosecond.
        let longest = ((self.limits.movement.as_nanos() + tick / 1_000) / tick).min(covered);
        let mut ticks: Vec<i64> = (0..=LAGS).map(|part| (longest * part + LAGS - 1) / LAGS).collect();
        ticks.dedup();
        ticks.into_iter().map(|ticks| Duration::from_micros((ticks * tick + 500) / 1_000)).collect()
    }
}

/// Answers a question. The answer follows from the question alone.
pub fn advise(question: &Question, progress: &(dyn Fn(Progress) + Sync)) -> Result<Advice> {
    question.check()?;
    let (policies, mut simulated_seconds) = policies(question, progress)?;
    let mut alternatives = Vec::new();
    for lag in question.lags() {
        let (digests, seconds) = digest(&question.settings(&policies, lag), progress, &|_| ())?;
        alternatives.extend(digests.iter().map(|digest| Alternative::new(lag, &digest.row)));
        simulated_seconds += seconds;
    }
    Ok(Advice {
        chosen: choose(&alternatives, policies.len(), question.game.rules.threshold.tolerance.value()),
        reference: 0,
        alternatives,
        verdicts: Waiting::new(&question.network, question.limits.verdicts, question.tick),
        budget: question.game.budget,
        receivers: question.network.delays_ms.len(),
        simulated_seconds,
    })
}

/// Whom to try within the budget, every k-th vector to everybody first, and how many seconds it took to find that out.
fn policies(question: &Question, progress: &(dyn Fn(Progress) + Sync)) -> Result<(Vec<String>, f64)> {
    let budget = question.game.budget;
    let (base, simulated) = match budget.rate() {
        Some(_) => {
            let (digests, seconds) = digest(&question.settings(&["base".into()], Duration::ZERO), progress, &|_| ())?;
            let sent = |row: &Row| if budget.is_in_bytes() { row.bytes_sent } else { row.vectors_sent };
            let sent: f64 = digests.iter().map(|digest| sent(&digest.row)).sum();
            let receivers = if budget.is_per_receiver() { question.network.delays_ms.len().max(1) } else { 1 };
            (sent * question.game.seeds as f64 / (receivers as f64 * seconds.max(1e-9)), seconds)
        }
        None => (0.0, 0.0),
    };
    let share = budget.share_of_base(base);
    // Rounding must not make a third a quarter.
    let k = (1.0 / share.max(1e-6) - 1e-6).ceil().max(1.0);
    if k <= 1.0 {
        return Ok((vec!["base".into()], simulated));
    }
    let every_kth = format!("base/{k:.0}");
    // Not all of them can keep every kind of budget.
    let policies = POLICIES.iter().filter(|name| by_name(name, budget, 0).is_ok()).map(|name| (*name).to_owned());
    Ok(([every_kth].into_iter().chain(policies).collect(), simulated))
}

/// The policy that gets furthest with the longest lag, and its shortest lag that buys nearly as much. What buys less than the
/// trigger lets pass anyway, the threshold in metres, is not worth waiting for.
fn choose(alternatives: &[Alternative], policies: usize, threshold: f64) -> usize {
    let badness = |index: usize| alternatives[index].badness();
    let last = alternatives.len().saturating_sub(policies);
    let affordable = (last..alternatives.len()).filter(|index| alternatives[*index].affordable);
    let best = affordable.min_by(|a, b| badness(*a).total_cmp(&badness(*b)));
    let policy = best.map_or(0, |best| best - last);
    let mut lags = (policy..alternatives.len()).step_by(policies.max(1));
    let (none, longest) = (badness(policy), badness(last + policy));
    if none - longest < threshold.max(WORTH_WAITING * none) {
        return policy;
    }
    let enough = |index: &usize| none - badness(*index) >= MOST_OF_IT * (none - longest);
    lags.find(enough).unwrap_or(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(limit_ms: i64, delays_ms: &[f64]) -> Question {
        Question {
            game: Settings { seconds: Some(20.0), ..Settings::default() },
            network: Network { delays_ms: delays_ms.to_vec(), jitter_ms: 0.0, loss: 0.0 },
            limits: Limits { movement: Duration::from_millis(limit_ms), ..Limits::default() },
            tick: Duration::from_millis(20),
        }
    }

    #[test]
    fn lags_are_whole_ticks_within_the_limit_and_no_longer_than_delays() {
        let lags = |limit, delays: &[f64]| -> Vec<i64> {
            question(limit, delays).lags().into_iter().map(Duration::as_millis).collect()
        };
        assert_eq!(lags(100, &[200.0]), [0, 40, 80, 100]);
        assert_eq!(lags(110, &[30.0, 200.0]), [0, 40, 80, 100]);
        assert_eq!(lags(100, &[30.0]), [0, 20, 40]);
        let sixtieth = Question { tick: Duration::from_nanos(16_666_667), ..question(100, &[200.0]) };
        assert_eq!(sixtieth.lags().last(), Some(&Duration::from_millis(100)));
        assert_eq!(lags(15, &[200.0]), [0]);
        assert_eq!(lags(100, &[0.0]), [0]);
    }

    fn alternative(lag_ms: i64, policy: &str, mean: f64) -> Alternative {
        let lag = Duration::from_millis(lag_ms);
        Alternative { lag, policy: policy.into(), vectors: 9.0, mean, std: 0.0, max: mean, affordable: true }
    }

    /// By lag of 0, 50 and 100 ms, what `base/3` and `even` make of it.
    fn chosen(means: [[f64; 2]; 3]) -> (i64, String) {
        let lags = [0, 50, 100].into_iter().zip(means);
        let both =
            |(lag, [third, even]): (i64, [f64; 2])| [alternative(lag, "base/3", third), alternative(lag, "even", even)];
        let all: Vec<Alternative> = lags.flat_map(both).collect();
        let chosen = &all[choose(&all, 2, 0.1)];
        (chosen.lag.as_millis(), chosen.policy.clone())
    }

    #[test]
    fn the_best_policy_is_chosen_and_its_shortest_lag_that_does() {
        assert_eq!(chosen([[9.0, 5.0], [8.0, 3.0], [7.0, 1.0]]), (100, "even".into()));
        assert_eq!(chosen([[9.0, 5.0], [8.0, 1.2], [7.0, 1.0]]), (50, "even".into()));
        assert_eq!(chosen([[9.0, 5.0], [8.0, 4.9], [7.0, 4.9]]), (0, "even".into()));
        assert_eq!(chosen([[9.0, 5.0], [2.0, 4.9], [1.0, 4.9]]), (100, "base/3".into()));
        assert_eq!(chosen([[0.0, 0.0]; 3]), (0, "base/3".into()));
        assert_eq!(chosen([[0.9, 0.09], [0.9, 0.05], [0.9, 0.0]]), (0, "even".into()), "nobody sees nine centimetres");
    }

    #[test]
    fn nobody_is_recommended_who_sends_too_much() {
        let dear = Alternative { affordable: false, ..alternative(0, "tolerance", 0.1) };
        let all = [alternative(0, "base/3", 3.0), dear, alternative(0, "even", 2.0)];
        assert_eq!(choose(&all, 3, 0.1), 2);
    }

    #[test]
    fn every_kth_keeps_to_the_budget() {
        let first = |budget: &str| {
            let mut question = question(0, &[50.0]);
            question.game.budget = budget.parse().unwrap();
            policies(&question, &|_| {}).unwrap().0
        };
        assert_eq!(first("1/3"), ["base/3", "tolerance", "credits", "even"]);
        assert_eq!(first("0.4")[0], "base/3");
        assert_eq!(first("0.8")[0], "base/2");
        assert_eq!(first("1"), ["base"]);
        assert!(first("1/s")[0].starts_with("base/"));
        assert_eq!(first("20B/s")[1..], ["tolerance", "credits", "even"]);
        // No other keeps a budget per receiver.
        assert_eq!(first("20B/s/receiver")[1..], ["even"]);
    }

    #[test]
    fn equal_questions_have_equal_answers() {
        let question = question(60, &[30.0, 80.0]);
        let [once, again] = [(); 2].map(|()| advise(&question, &|_| {}).unwrap());
        assert_eq!(once, again);
        assert!(once.recommended().lag <= Duration::from_millis(60));
        assert_eq!((once.without().lag, &*once.without().policy), (Duration::ZERO, "base/3"));
        assert!(!once.needs_prediction() && !once.needs_timewarp());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let fine = question(60, &[30.0]);
        let tick = |ms| Question { tick: Duration::from_millis(ms), ..fine.clone() };
        let loss = Network { loss: 1.5, ..fine.network.clone() };
        for wrong in [tick(0), tick(-1), tick(5_000), question(60, &[]), Question { network: loss, ..fine.clone() }] {
            assert!(advise(&wrong, &|_| {}).is_err(), "{wrong:?}");
        }
    }
}

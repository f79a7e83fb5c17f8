//! The advice in three sentences: what to set, what it buys, what remains and what it costs.

use super::{Advice, Alternative};
use evenkeel::{Budget, Duration};

impl Advice {
    /// What to set; what that buys; what remains and what it costs.
    pub fn sentences(&self) -> [String; 3] {
        [self.what_to_set(), self.what_it_buys(), self.what_remains()]
    }

    fn what_to_set(&self) -> String {
        let Alternative { lag, policy, .. } = self.recommended();
        let movement = match *lag {
            Duration::ZERO => "Show movement at once".to_owned(),
            lag => format!("Show movement {} late", ms(lag)),
        };
        let helpers = match (self.needs_timewarp(), self.needs_prediction()) {
            (false, false) => "neither timewarp nor prediction is needed",
            (true, false) => "verdicts need timewarp",
            (false, true) => "players need prediction or an echo of their own actions",
            (true, true) => "verdicts need timewarp, and players prediction or an echo of their own actions",
        };
        let budget = match self.budget {
            _ if policy == "base" => "everything".to_owned(),
            Budget::Unlimited => "everything".to_owned(),
            Budget::OfBase { share } => format!("{} of all updates", fraction(share)),
            Budget::PerSecond(rate) => format!("{rate} updates per second"),
            Budget::BytesPerSecond(rate) => format!("{rate} bytes per second"),
            Budget::PerSecondEach(rate) => format!("{rate} updates per second to each player"),
            Budget::BytesPerSecondEach(rate) => format!("{rate} bytes per second to each player"),
        };
        let verdicts = ms(self.verdicts.lag);
        format!(
            "{movement}, announce verdicts after {verdicts}, and send {budget} by the policy `{policy}`: {helpers}."
        )
    }

    fn what_it_buys(&self) -> String {
        let (best, without) = (self.recommended(), self.without());
        let kth = &without.policy;
        if self.chosen == self.reference {
            let figures = format!("{} on average, {} between players", metres(without.mean), metres(without.std));
            return format!("Within these limits nothing is better than no lag and `{kth}` ({figures}).");
        }
        let mean = change(best.mean, without.mean, "the mean error");
        let std = change(best.std, without.std, "its standard deviation between players");
        // One verb does for both.
        let std = if mean.starts_with("takes") { std.trim_start_matches("takes ") } else { &std };
        let fair = if self.receivers > 1 { format!(" and {std}") } else { String::new() };
        let parts: Vec<String> = [self.alone(best.lag, kth), self.alone(Duration::ZERO, &best.policy)]
            .into_iter()
            .flatten()
            .filter(|part| part != best && part != without)
            .map(|part| {
                let name = if part.lag > Duration::ZERO { "the lag".into() } else { format!("`{}`", part.policy) };
                format!("{name} alone {}", change(part.mean, without.mean, "the mean"))
            })
            .collect();
        let parts = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        format!("Against no lag and `{kth}` that {mean}{fair}{parts}.")
    }

    /// A lag with a policy, if it was tried.
    fn alone(&self, lag: Duration, policy: &str) -> Option<Alternative> {
        self.alternatives.iter().find(|other| other.lag == lag && other.policy == policy).cloned()
    }

    fn what_remains(&self) -> String {
        let best = self.recommended();
        let worst =
            if self.receivers > 1 { format!(", {} for whoever is worst off", metres(best.max)) } else { String::new() };
        let cost = match best.lag {
            Duration::ZERO => "players see what they do at once".to_owned(),
            lag => format!("players see what they do {} later", ms(lag)),
        };
        let few = match self.verdicts.covered {
            covered if covered < 0.005 => "none".to_owned(),
            covered => format!("only {}", percent(covered)),
        };
        let late = match self.verdicts.wanted {
            _ if self.verdicts.is_enough() => {
                format!("{} are there before their verdict", percent(self.verdicts.covered))
            }
            Some(wanted) => {
                format!("{few} are there before their verdict, which takes timewarp or a wait of {}", ms(wanted))
            }
            None => format!("{few} are there before their verdict since packets get lost, which takes timewarp"),
        };
        format!(
            "What remains is an error of {} on average{worst}; {cost}, and of the farthest player's actions {late}.",
            metres(best.mean)
        )
    }
}

fn ms(span: Duration) -> String {
    format!("{:.0} ms", span.as_millis_f64())
}

/// A share as people write it: 1/3 and not 0.3333.
fn fraction(share: f64) -> String {
    let k = (1.0 / share).round();
    if (share * k - 1.0).abs() < 1e-9 { format!("1/{k:.0}") } else { format!("{:.0} %", 100.0 * share) }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Metres to about two digits that matter.
fn metres(value: f64) -> String {
    match value.abs() {
        size if size >= 10.0 => format!("{value:.0} m"),
        size if size >= 0.995 => format!("{value:.1} m"),
        size if size >= 0.0095 || size == 0.0 => format!("{value:.2} m"),
        _ => "less than 0.01 m".into(),
    }
}

/// Beyond this, how many times as much does not matter.
const MOST_TIMES: f64 = 3.0;

/// What becomes of a figure, as in "takes 62 % off the mean (2.9 m to 1.1 m)".
fn change(now: f64, before: f64, what: &str) -> String {
    let from_to = format!("({} to {})", metres(before), metres(now));
    let off = 100.0 * (1.0 - now / before);
    match off {
        _ if now > MOST_TIMES * before => format!("raises {what} {from_to}"),
        off if off.is_nan() || off.abs() < 0.5 => format!("leaves {what} as it is {from_to}"),
        off if off > 0.0 => format!("takes {off:.0} % off {what} {from_to}"),
        off => format!("adds {:.0} % to {what} {from_to}", -off),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Waiting;
    use super::*;

    fn advice(lag_ms: i64, verdicts: (i64, i64, f64)) -> Advice {
        let millis = Duration::from_millis;
        let one = |lag, policy: &str, mean: f64, std: f64| Alternative {
            lag: millis(lag),
            policy: policy.into(),
            vectors: 100.0,
            mean,
            std,
            max: mean + std,
            affordable: true,
        };
        let (none, long) = ([("base/3", 2.0, 1.0), ("even", 1.5, 0.2)], [("base/3", 1.6, 0.8), ("even", 1.0, 0.1)]);
        let none = none.map(|(policy, mean, std)| one(0, policy, mean, std));
        let long = long.map(|(policy, mean, std)| one(lag_ms, policy, mean, std));
        let (lag, wanted, covered) = verdicts;
        Advice {
            alternatives: none.into_iter().chain(long).collect(),
            chosen: 3,
            reference: 0,
            verdicts: Waiting { lag: millis(lag), wanted: Some(millis(wanted)), covered },
            budget: Budget::of_base(1, 3),
            receivers: 3,
            simulated_seconds: 1.0,
        }
    }

    #[test]
    fn three_sentences_say_what_to_do_and_why() {
        assert_eq!(
            advice(100, (217, 217, 1.0)).sentences(),
            [
                "Show movement 100 ms late, announce verdicts after 217 ms, and send 1/3 of all updates by the policy `even`: \
                 neither timewarp nor prediction is needed.",
                "Against no lag and `base/3` that takes 50 % off the mean error (2.0 m to 1.0 m) and 90 % off its standard \
                 deviation between players (1.0 m to 0.10 m); the lag alone takes 20 % off the mean (2.0 m to 1.6 m), `even` \
                 alone takes 25 % off the mean (2.0 m to 1.5 m).",
                "What remains is an error of 1.0 m on average, 1.1 m for whoever is worst off; players see what they do 100 ms \
                 later, and of the farthest player's actions 100 % are there before their verdict.",
            ]
        );
    }

    #[test]
    fn limits_that_are_too_short_ask_for_timewarp_and_long_lags_for_prediction() {
        let [set, _, remains] = advice(180, (250, 516, 0.0)).sentences();
        assert!(
            set.ends_with("verdicts need timewarp, and players prediction or an echo of their own actions."),
            "{set}"
        );
        assert!(
            remains.ends_with("none are there before their verdict, which takes timewarp or a wait of 516 ms."),
            "{remains}"
        );
    }

    #[test]
    fn nothing_better_is_said_plainly_and_so_is_one_receiver() {
        let plain = Advice { chosen: 0, ..advice(100, (217, 217, 1.0)) };
        assert!(plain.sentences()[1].starts_with("Within these limits nothing is better than no lag and `base/3`"));
        assert!(plain.sentences()[0].starts_with("Show movement at once, "));
        let alone = Advice { receivers: 1, ..advice(100, (217, 217, 1.0)) };
        assert!(alone.sentences().iter().all(|s| !s.contains("between players") && !s.contains("worst off")));
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(
            [12.34, 1.23, 0.123, 0.001, 0.0].map(metres),
            ["12 m", "1.2 m", "0.12 m", "less than 0.01 m", "0.00 m"]
        );
        assert_eq!([1.0 / 3.0, 0.4, 0.5].map(fraction), ["1/3", "40 %", "1/2"]);
        assert!(change(1.1, 1.0, "it").starts_with("adds 10 % to it"));
        assert!(change(0.0, 0.0, "it").starts_with("leaves it as it is"));
        assert_eq!(change(0.1, 0.0, "it"), "raises it (0.00 m to 0.10 m)");
    }
}

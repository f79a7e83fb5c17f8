//! All plans there can be, where they are few enough to look at each: ten sites have a thousand, and so have fifty with two servers.

use crate::{
    Objective,
    strategy::search::{Judge, Lack, Worth},
};

/// Who plays where costs this much more to find out than everybody's nearest server, if servers can be full.
const SEATING: f64 = 100.0;

/// The best servers, no worse than those that are known. Nothing if there are no servers at all that will do, or too many to look at
/// each with so many responses of players at most.
pub(crate) fn best(judge: &mut Judge<'_>, known: Option<&[usize]>, responses: u64) -> Option<Vec<usize>> {
    if !exact(judge) || work(judge) > responses as f64 {
        return None;
    }
    let worth = known.map(|servers| judge.worth(servers, None)).filter(|worth| worth.lack == Lack::Nothing);
    let mut best = worth.map(|worth| (known.unwrap_or_default().to_vec(), worth));
    let free = judge.field.usable.iter().copied().filter(|s| !judge.field.required.contains(s)).collect::<Vec<_>>();
    let mut servers = judge.field.required.clone();
    look(judge, &mut servers, &free, &mut best);
    best.map(|(servers, _)| servers)
}

/// Whether servers alone say what a plan is worth: where they can be full, the best seats are known for some objectives only.
fn exact(judge: &Judge<'_>) -> bool {
    let known = match judge.goal.objective {
        Objective::Critical | Objective::Servers | Objective::Cost => true,
        Objective::Mean => judge.goal.limit.is_infinite(),
        _ => false,
    };
    !judge.limited() || (known && judge.weights.equal)
}

/// How many responses of players there are in all plans together.
fn work(judge: &Judge<'_>) -> f64 {
    let (required, all) = (judge.field.required.len(), judge.field.usable.len());
    let most = judge.goal.servers.min(all);
    let (mut ways, mut servers) = (1.0, 0.0);
    for more in 0..=most.saturating_sub(required) {
        servers += ways * (required + more) as f64;
        ways *= (all - required).saturating_sub(more) as f64 / (more + 1) as f64;
    }
    servers * judge.field.players() as f64 * if judge.limited() { SEATING } else { 1.0 }
}

/// Looks at these servers, and at all that come of them with some of `free`.
fn look(judge: &mut Judge<'_>, servers: &mut Vec<usize>, free: &[usize], best: &mut Option<(Vec<usize>, Worth)>) {
    if !servers.is_empty() {
        let worth = judge.worth(servers, best.as_ref().map(|(_, worth)| worth));
        if worth.lack == Lack::Nothing && best.as_ref().is_none_or(|(_, known)| worth.better(known)) {
            *best = Some((judge.field.with_required(servers), worth));
        }
    }
    if servers.len() < judge.goal.servers {
        for (i, &s) in free.iter().enumerate() {
            servers.push(s);
            look(judge, servers, &free[i + 1..], best);
            servers.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        field::Field,
        strategy::search::Goal,
        testing::{all_plans, lags, problems},
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn no_plan_is_overlooked(problem in problems(), lag in lags(), most in 1usize..8, limit in 50.0f64..300.0) {
            let Ok(field) = Field::new(&problem, lag) else { return Ok(()) };
            let goal = Goal { objective: Objective::Mean, price: 2.0, limit, servers: most, idle: false };
            let mut judge = Judge::new(&field, goal, u64::MAX);
            let plans: Vec<Vec<usize>> = all_plans(&field).into_iter().map(|(servers, _)| servers).collect();
            let worths = plans.iter().map(|servers| judge.worth(servers, None)).filter(|w| w.lack == Lack::Nothing);
            let least = worths.map(|worth| worth.value).reduce(f64::min);
            let found = best(&mut judge, None, u64::MAX);
            prop_assert_eq!(found.map(|servers| judge.worth(&servers, None).value), least);
        }
    }
}

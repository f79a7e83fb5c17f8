//! Small problems of every kind, and all their plans.

use proptest::{collection::vec, option, prelude::*};

use crate::{Lag, Player, Problem, Rule, Site, Use, field::Field};

/// Up to 7 sites and 8 players: in a plane or anywhere, with ways that are missing and sites that must or must not be used.
pub(crate) fn problems() -> impl Strategy<Value = Problem> {
    (1usize..=7, 1usize..=8, any::<bool>(), any::<bool>())
        .prop_flat_map(|(m, n, metric, weighted)| {
            let times = vec(prop_oneof![9 => (0u16..200).prop_map(f32::from), 1 => Just(f32::INFINITY)], (n + m) * m);
            let places =
                option::of(vec((0.0f32..100.0, 0.0f32..100.0), n + m)).prop_filter("", move |p| p.is_some() || !metric);
            let usage =
                vec(prop_oneof![6 => Just(Use::Allowed), 1 => Just(Use::Required), 1 => Just(Use::Forbidden)], m);
            let weights = vec(if weighted { 1u8..5 } else { 1u8..2 }, n);
            (Just(m), times, places, usage, weights, vec(1u8..4, m))
        })
        .prop_filter_map("no site", |(m, times, places, usage, weights, costs)| {
            let n = weights.len();
            let times = places.map_or(times, |places| {
                let far = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).hypot(a.1 - b.1);
                (0..(n + m) * m)
                    .map(|i| far(places[m..].get(i / m).copied().unwrap_or_else(|| places[i / m - n]), places[i % m]))
                    .collect()
            });
            let site =
                |(s, usage): (usize, Use)| Site { usage, cost: f64::from(costs[s]), ..Site::new(format!("s{s}")) };
            let player = |(p, w): (usize, u8)| Player { weight: f64::from(w), ..Player::new(format!("p{p}")) };
            let sites = usage.into_iter().enumerate().map(site).collect();
            let players = weights.into_iter().enumerate().map(player).collect();
            Problem::new(players, sites, times[..n * m].to_vec(), times[n * m..].to_vec()).ok()
        })
}

/// Both rules, conservative and partial.
pub(crate) fn lags() -> impl Strategy<Value = Lag> {
    let rule = prop_oneof![Just(Rule::PerServer), Just(Rule::Common)];
    (rule, prop_oneof![Just(1.0), Just(0.5)]).prop_map(|(rule, share)| Lag::new(rule, share).unwrap())
}

/// The responses of every possible plan in which everybody can play.
pub(crate) fn all_plans(field: &Field<'_>) -> Vec<(Vec<usize>, Vec<f64>)> {
    let sets = 1u32..1 << field.usable.len();
    let servers = sets.map(|set| {
        let chosen = field.usable.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        chosen.map(|(_, s)| *s).collect::<Vec<usize>>()
    });
    let allowed = servers.filter(|servers| field.required.iter().all(|s| servers.contains(s)));
    let valued =
        allowed.map(|servers| (field.responses(&servers), servers)).map(|(responses, servers)| (servers, responses));
    valued.filter(|(_, responses)| responses.iter().all(|response| response.is_finite())).collect()
}

//! What the relay is for, without the game: recorded paths, clients that place by the game's loop, and delays.

mod stage;

use evenkeel::policy::Budget;
use evenkeel_bzflag::{Decider, RelayConfig, Summary};
use stage::{Part, Stage, trace};

fn config(live: Decider) -> RelayConfig {
    let third = Budget::of_base(1, 3);
    let all = [
        Decider::today(),
        Decider::with("base", Budget::Unlimited),
        Decider::with("base/3", third),
        Decider::with("credits", third),
        Decider::with("even", third),
    ];
    let (first, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|decider| *decider == live);
    let deciders = first.into_iter().chain(others).collect();
    RelayConfig { deciders, ..RelayConfig::default() }
}

fn part(follows: u8, delay_ms: i64) -> Part {
    Part { follows: Some(follows), delay_ms, said_to_be_ms: None }
}

fn look(live: Decider, parts: &[Part], seconds: f64) -> (Summary, Vec<f64>) {
    let players: Vec<u8> = parts.iter().filter_map(|part| part.follows).collect();
    let mut stage = Stage::new(config(live), &trace("bzflag-dense-b", &players, seconds + 5.0), parts);
    stage.play(seconds);
    (Summary::of(&stage.relay), stage.shown().iter().map(|shown| shown.mean_m()).collect())
}

#[test]
fn scratch() {
    let parts = [part(2, 0), part(4, 50), part(6, 50), part(8, 100)];
    for live in
        [Decider::today(), Decider::with("base", Budget::Unlimited), Decider::with("even", Budget::of_base(1, 3))]
    {
        let (summary, shown) = look(live, &parts, 60.0);
        for d in &summary.deciders {
            let clients: Vec<_> = d.clients.iter().map(|c| (c.mean_m * 1000.0).round() / 1000.0).collect();
            println!(
                "{:16} live {} mean {:.3} std {:.3} max {:.3} updates {} {clients:?}",
                d.name, d.live, d.mean_m, d.std_m, d.max_m, d.updates
            );
        }
        println!("shown {shown:.3?} rtt {:?}", summary.round_trips_ms);
    }
}

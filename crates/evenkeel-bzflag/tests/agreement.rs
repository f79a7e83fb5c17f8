//! The recorded traces through the relay's way of deciding agree with the laboratory's result for the same settings.

mod stage;

use evenkeel::policy::{Budget, by_name};
use evenkeel::{Duration, GlobalTime, Placing, Threshold};
use evenkeel_bzflag::{Decider, RelayConfig, Summary};
use evenkeel_lab::Conditions;
use evenkeel_lab::workload::trace::{Cuts, Trace};
use evenkeel_lab::world::{Fleet, Rules, Setting, VectorKind, run};
use stage::{Part, Stage};
use std::fmt::Write;

const DELAYS_MS: [i64; 4] = [20, 100, 200, 400];
const SECONDS: f64 = 90.0;

fn deciders() -> Vec<Decider> {
    let third = Budget::of_base(1, 3);
    let with = |policy| Decider::with(policy, third);
    vec![Decider::with("base", Budget::Unlimited), with("base/3"), with("credits"), with("even"), Decider::today()]
}

fn threshold() -> Threshold {
    Threshold::per_axis(0.09).turning(0.05).at_most_every(Duration::from_millis(33))
}

/// Robots, which never jump: the relay lets nobody miss a jump, and the laboratory knows no such rule.
fn robots() -> stage::Trace {
    let mut trace = stage::trace("bzflag-dense-a", &(0..10).collect::<Vec<u8>>(), SECONDS);
    trace.retain(|_, rows| rows.iter().all(|row| row.status.0 & 65 != 65));
    trace
}

/// What the laboratory's receivers see on average, and how many vectors that takes.
fn in_the_laboratory(trace: &stage::Trace, decider: &Decider) -> (Vec<f64>, u64) {
    let mut csv = String::from("t_s,player,x,y,z,vx,vy,vz,azimuth,angvel,status,order\n");
    let mut rows: Vec<_> = trace.values().flatten().collect();
    rows.sort_by(|a, b| a.stamp.total_cmp(&b.stamp));
    for row in rows {
        let ([x, y, z], [vx, vy, vz]) = (row.position, row.velocity);
        let (t, player, azimuth, turn) = (row.stamp, row.player, row.azimuth, row.angular_velocity);
        writeln!(csv, "{t},{player},{x},{y},{z},{vx},{vy},{vz},{azimuth},{turn},{},{}", row.status.0, row.order)
            .expect("a string takes all");
    }
    let entities = Trace::parse("robots", csv.as_bytes(), Cuts::default()).expect("it is a trace");
    let rule = if decider.advance { evenkeel::ClockRule::Global } else { evenkeel::ClockRule::Local };
    let placing = Placing { rule, max_age: Duration::from_secs(5), ..Placing::default() };
    let rules = Rules { vector: VectorKind::Arc, threshold: threshold(), placing, ..Rules::default() };
    let entities = entities.truth("robots", None, false).expect("it is dense");
    let fleet = Fleet::new("robots".into(), entities, &rules).expect("it can be exported");
    let outcome = run(Setting {
        fleet: &fleet,
        rules,
        policy: by_name(&decider.policy, decider.budget, 1).expect("there is such a policy"),
        paths: &DELAYS_MS.map(|ms| Conditions::delay(Duration::from_millis(ms))),
        uplink: None,
        seed: 1,
        origin: GlobalTime::ZERO,
        recorder: None,
    });
    let outcome = outcome.expect("it runs");
    (outcome.receivers.iter().map(|seen| seen.real_error).collect(), outcome.vectors)
}

#[test]
fn the_relay_decides_as_the_laboratory_does() {
    let trace = robots();
    // Frames so short that they make no difference, and nobody's own tank: the laboratory has neither.
    let config = RelayConfig {
        deciders: deciders(),
        threshold: threshold(),
        frames_per_second: 1000.0,
        ..RelayConfig::default()
    };
    let parts = DELAYS_MS.map(|delay_ms| Part { follows: None, delay_ms, said_to_be_ms: None });
    let mut stage = Stage::new(config, &trace, &parts);
    stage.play(SECONDS);
    for (decider, ours) in deciders().iter().zip(Summary::of(&stage.relay).deciders) {
        let (theirs, vectors) = in_the_laboratory(&trace, decider);
        let ours_m: Vec<f64> = ours.clients.iter().map(|client| client.mean_m).collect();
        println!("{:16} relay {ours_m:.3?} {} laboratory {theirs:.3?} {vectors}", ours.name, ours.updates);
        let (ours_updates, ours_mean, theirs_mean) = (ours.updates as f64, mean(&ours_m), mean(&theirs));
        // Seen: 3 % in vectors and 6 % in the mean. `even` learns, and small differences in time change what: at 25, 60, 200 and 1000
        // frames per second its mean is 10, 8, 12 and 16 % below the laboratory's.
        let most = if decider.policy == "even" { 0.2 } else { 0.1 };
        assert!(
            (ours_updates / vectors as f64 - 1.0).abs() < 0.1,
            "{}: {ours_updates} and {vectors} vectors",
            ours.name
        );
        assert!((ours_mean / theirs_mean - 1.0).abs() < most, "{}: {ours_mean} and {theirs_mean} m", ours.name);
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

//! The examples run, and what they say of themselves holds.

#[path = "../examples/game_loop.rs"]
mod game_loop;
#[path = "../examples/local_lag.rs"]
mod local_lag;
#[path = "../examples/own_policy.rs"]
mod own_policy;
#[path = "../examples/timewarp.rs"]
mod timewarp;

#[test]
fn game_loop_runs() {
    game_loop::main().unwrap();
}

#[test]
fn local_lag_holds() {
    local_lag::main().unwrap();
}

#[test]
fn own_policy_runs() {
    own_policy::main().unwrap();
}

#[test]
fn timewarp_holds() {
    timewarp::main().unwrap();
}

//! Faults over real sockets: whatever happens to networks, hosts and clocks, and whatever somebody sends, the others see each
//! other exactly again within two seconds of the first packet that can pass, time runs backwards for nobody, and nobody moves
//! what is somebody else's.

#![allow(clippy::unwrap_used)]

mod arena;
mod child;
mod clocks;
mod killed;
mod network;
mod run;

use std::process::ExitCode;

macro_rules! faults {
    ($($module:ident::$name:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), || run::block_on($module::$name()))),*]
    };
}

fn main() -> ExitCode {
    if let Ok(role) = std::env::var(child::ROLE) {
        child::be(&role);
        return ExitCode::SUCCESS;
    }
    let together: &[run::Fault] = &faults![
        network::ten_seconds_of_heavy_loss_are_over_when_they_are_over,
        network::one_player_is_blacked_out_and_the_others_do_not_notice,
        network::the_server_is_blacked_out,
        network::packets_overtake_each_other_and_come_twice,
        killed::a_client_is_killed_and_its_tank_goes_when_its_time_is_up,
        killed::the_server_is_killed_and_restarted,
        killed::the_server_is_down_for_longer_than_connections_last,
        killed::the_host_of_peers_is_killed_and_another_leads,
        clocks::a_clock_is_set_a_minute_forward,
        clocks::a_clock_is_set_a_minute_back,
    ];
    run::all(together, &[])
}

//! Faults over real sockets: whatever happens to networks, hosts and clocks, and whatever somebody sends, the others see each
//! other exactly again within two seconds of the first packet that can pass, time runs backwards for nobody, and nobody moves
//! what is somebody else's.

#![allow(clippy::unwrap_used)]

mod arena;
mod network;
mod run;

use std::process::ExitCode;

macro_rules! faults {
    ($($module:ident::$name:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), || run::block_on($module::$name()))),*]
    };
}

fn main() -> ExitCode {
    let together: &[run::Fault] = &faults![
        network::ten_seconds_of_heavy_loss_are_over_when_they_are_over,
        network::one_player_is_blacked_out_and_the_others_do_not_notice,
        network::the_server_is_blacked_out,
        network::packets_overtake_each_other_and_come_twice,
    ];
    run::all(together, &[])
}

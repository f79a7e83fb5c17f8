//! Faults over real sockets: whatever happens to networks, hosts and clocks, and whatever somebody sends, the others see each
//! other exactly again within two seconds of the first packet that can pass, time runs backwards for nobody, and nobody moves
//! what is somebody else's.

#![allow(clippy::unwrap_used)]

mod arena;
mod child;
mod clocks;
mod doors;
mod eve;
mod flood;
mod hostile;
mod killed;
mod masquerade;
mod namespaces;
mod network;
mod peers;
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
        network::every_vector_is_decoded_as_it_was_exported,
        killed::a_client_is_killed_and_its_tank_goes_when_its_time_is_up,
        killed::the_server_is_killed_and_restarted,
        killed::the_server_is_down_for_longer_than_connections_last,
        killed::the_host_of_peers_is_killed_and_another_leads,
        clocks::a_clock_is_set_a_minute_forward,
        clocks::a_clock_is_set_a_minute_back,
        hostile::whoever_reads_nothing_is_dropped_and_the_others_get_their_messages,
        hostile::garbage_at_the_servers_port_is_nothing_to_anybody,
        hostile::whoever_sends_random_datagrams_is_sent_away,
        hostile::nobody_is_moved_by_forged_vectors_receipts_and_pings,
        hostile::what_is_replayed_changes_nothing,
        hostile::messages_in_others_names_get_one_sent_away_or_nowhere,
        doors::tokens_that_are_expired_forged_or_stolen_let_nobody_in,
        peers::peers_who_cannot_reach_each_other_are_passed_on,
        namespaces::client_server_and_peers_are_hosts_of_their_own,
        namespaces::peers_behind_routers_that_hide_them_open_directly,
        flood::no_more_is_answered_than_was_asked_before_the_asker_is_known,
    ];
    let alone: &[run::Fault] = &faults![flood::a_flood_of_handshakes_keeps_nobody_from_playing];
    run::all(together, alone)
}

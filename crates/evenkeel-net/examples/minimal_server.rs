//! A whole server: `cargo run -p evenkeel-net --example minimal_server [ADDRESS]`, then give what it prints to `minimal_client`.

use evenkeel::Budget;
use evenkeel::policy::Even;
use evenkeel_net::Server;
use evenkeel_net::hub::HubConfig;
use evenkeel_net::transport::{Identity, ListenConfig};
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4433".into()).parse()?;
    let fortnight = Duration::from_secs(14 * 24 * 3600);
    let identity = Identity::self_made(["localhost", "127.0.0.1"], fortnight)?;
    let hash = identity.hash_text();

    // Half of all updates, to those whom they help most.
    let policy = Box::new(Even::new(Budget::of_base(1, 2)));
    let server =
        Server::start(ListenConfig::new(address, identity), HubConfig { policy, ..HubConfig::default() }).await?;
    println!("minimal_client {} {hash}", server.address());

    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        while let Some(event) = server.poll_event() {
            println!("{event:?}");
        }
        let (players, fairness) = server.with(|hub, now| (hub.players().count(), hub.fairness(now)));
        println!("{players} players, {:.3} m off on average, {:.3} m apart", fairness.mean, fairness.std);
    }
}

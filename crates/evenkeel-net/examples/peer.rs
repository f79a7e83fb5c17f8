//! A whole peer: like `minimal_client`, but others are told directly. It needs a server that introduces peers to each other:
//! `cargo run -p evenkeel-net --example peer serve`, then `... --example peer ADDRESS HASH` as often as you like, with what it prints.

use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::Model;
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::{Identity, ListenConfig, Trust};
use evenkeel_net::{Peer, Server};
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => introduce().await,
        [address, hash] => play(address, hash).await,
        _ => Err("say `serve`, or give the address and the hash that it prints".into()),
    }
}

/// Introduces players to each other, and hears nothing of what they do.
async fn introduce() -> Result<(), Box<dyn std::error::Error>> {
    let identity = Identity::self_made(["localhost", "127.0.0.1"], Duration::from_secs(14 * 24 * 3600))?;
    let session = HubConfig { model: Model::PeerToPeer, ..HubConfig::default() };
    let server = Server::start(ListenConfig::new("127.0.0.1:0".parse()?, identity.clone()), session).await?;
    println!("peer {} {}", server.address(), identity.hash_text());
    std::future::pending().await
}

async fn play(address: &str, hash: &str) -> Result<(), Box<dyn std::error::Error>> {
    let peer = Peer::start(&format!("https://{address}/"), Trust::in_hash(hash)?, SeatConfig::named("peer")).await?;
    for frame in 0u64.. {
        tokio::time::sleep(Duration::from_millis(16)).await;
        let seen = peer.frame();
        for event in seen.events {
            println!("{event:?}");
            if let SeatEvent::Refused(why) = event {
                return Err(why.into());
            }
        }
        let Some(now) = seen.time.filter(|_| peer.is_ready()) else { continue };
        let tank = match peer.with(|seat, _| seat.owned().next()) {
            Some(tank) => tank,
            None => peer.make(Threshold::within(0.1).turning(0.05), Vec::new())?,
        };
        let (heading, speed) = ((now.as_nanos() % 6_283_185_307) as f64 / 1e9, 10.0);
        let position = Vec3::new(speed * heading.sin(), -speed * heading.cos(), 0.0);
        peer.observe(
            tank,
            Pose::at(position).moving(Vec3::from_heading(heading) * speed).facing(heading).turning(1.0),
        )?;
        for (entity, placed) in seen.placed.iter().filter(|_| frame % 120 == 0) {
            println!("{entity} is at {:.2} {:.2}", placed.position.x, placed.position.y);
        }
    }
    Ok(())
}

//! A whole client: drives a tank in circles and says where it sees the others.
//! `cargo run -p evenkeel-net --example minimal_client ADDRESS HASH`, as `minimal_server` prints them.

use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_net::Client;
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::Trust;
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(hash)) = (arguments.next(), arguments.next()) else {
        return Err("give the address and the hash that minimal_server prints".into());
    };
    let client = Client::start(&format!("https://{address}/"), Trust::in_hash(&hash)?, SeatConfig::named("driver"))?;
    let (mut tank, mut others) = (None, std::collections::BTreeSet::new());
    for frame in 0u64.. {
        tokio::time::sleep(Duration::from_millis(16)).await;
        while let Some(event) = client.poll_event() {
            match event {
                SeatEvent::Made(made) => {
                    others.insert(made.entity);
                }
                SeatEvent::Gone { entity } => {
                    others.remove(&entity);
                }
                // Another session, or the same anew: everything of before is gone.
                SeatEvent::Welcome { again: false, .. } => (tank, others) = Default::default(),
                SeatEvent::Refused(why) => return Err(why.into()),
                other => println!("{other:?}"),
            }
        }
        let Some(now) = client.now().filter(|_| client.is_ready()) else { continue };
        let tank = match tank {
            Some(tank) => tank,
            None => *tank.insert(client.make(Threshold::within(0.1).turning(0.05), Vec::new())?),
        };
        let (heading, speed) = (now.as_secs_f64(), 10.0);
        let position = Vec3::new(speed * heading.sin(), -speed * heading.cos(), 0.0);
        let velocity = Vec3::from_heading(heading) * speed;
        client.observe(tank, Pose::at(position).moving(velocity).facing(heading).turning(1.0))?;
        for other in others.iter().filter(|_| frame % 120 == 0) {
            if let Ok(seen) = client.place(*other) {
                println!("{other} is at {:.2} {:.2}", seen.position.x, seen.position.y);
            }
        }
    }
    Ok(())
}

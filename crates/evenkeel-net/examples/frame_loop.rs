//! A player in an ordinary game loop, without tokio: drives a tank in circles for half a minute and says where it sees the others.
//! `cargo run -p evenkeel-net --example frame_loop ADDRESS HASH`, as `minimal_server` prints them.

use evenkeel::{EntityId, GlobalTime, Pose, Threshold, Vec3};
use evenkeel_net::seat::{SeatConfig, SeatEvent};
use evenkeel_net::transport::Trust;
use evenkeel_net::{Client, ClientConfig};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(hash)) = (arguments.next(), arguments.next()) else {
        return Err("give the address and the hash that minimal_server prints".into());
    };
    let (url, trust) = (format!("https://{address}/"), Trust::in_hash(&hash)?);
    let client = Client::spawn(ClientConfig::new(&url, trust, SeatConfig::named("driver")))?;
    let mut tank: Option<EntityId> = None;
    for number in 0..30 * 60 {
        std::thread::sleep(Duration::from_millis(16));
        // All of this frame is as of one moment: what happened, what time it is, and where everything is.
        let frame = client.frame();
        for event in frame.events {
            match event {
                SeatEvent::Refused(why) => return Err(why.into()),
                // Another session, or the same anew: everything of before is gone.
                SeatEvent::Welcome { again: false, .. } => tank = None,
                other => println!("{other:?}"),
            }
        }
        if let Some(trouble) = client.trouble().filter(|_| number % 60 == 0) {
            println!("{trouble}");
        }
        if let Some(now) = frame.time.filter(|_| client.is_ready()) {
            let tank = match tank {
                Some(tank) => tank,
                None => *tank.insert(client.make(Threshold::within(0.1).turning(0.05), Vec::new())?),
            };
            client.observe(tank, drive(now))?;
        }
        for (entity, seen) in frame.placed.iter().filter(|_| number % 60 == 0) {
            println!("{entity} is at {:.2} {:.2}", seen.position.x, seen.position.y);
        }
    }
    client.leave_blocking();
    Ok(())
}

/// Where the tank is: the game's own affair.
fn drive(now: GlobalTime) -> Pose {
    let (heading, speed) = (now.as_secs_f64(), 10.0);
    let position = Vec3::new(speed * heading.sin(), -speed * heading.cos(), 0.0);
    Pose::at(position).moving(Vec3::from_heading(heading) * speed).facing(heading).turning(1.0)
}

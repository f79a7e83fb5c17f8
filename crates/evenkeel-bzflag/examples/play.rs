use evenkeel::policy::Budget;
use evenkeel_bzflag::testbed::{Bed, ClientOptions, ServerOptions, Tools};
use evenkeel_bzflag::{Decider, RelayConfig, Service, ServiceConfig};
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let third = Budget::of_base(1, 3);
    let with = |policy| Decider::with(policy, third);
    let seconds: u64 = std::env::args().nth(1).map_or(Ok(60), |s| s.parse())?;
    let live = std::env::args().nth(2).unwrap_or("base".into());
    let dense = std::env::args().nth(3).is_none_or(|s| s != "default");
    let all =
        vec![Decider::with("base", Budget::Unlimited), Decider::today(), with("base/3"), with("credits"), with("even")];
    let (first, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|d| d.name() == live || d.policy == live && d.advance);
    let deciders = first.into_iter().chain(rest).collect();
    let mut bed = Bed::new(Tools::find()?, "/tmp/bz/bed")?;
    let server = bed.server(&ServerOptions { dense, ..Default::default() })?;
    bed.watch(server)?;
    let conditions = [("Bob", 50), ("Cid", 100), ("Dan", 200)];
    let service = Service::start(ServiceConfig {
        listen: "127.0.0.1:5999".parse()?,
        server,
        conditions: conditions
            .iter()
            .map(|(n, ms)| (n.to_string(), format!("delay={ms}ms").parse().unwrap()))
            .collect(),
        most_clients: 64,
        handshake: evenkeel::Duration::from_secs(10),
        relay: RelayConfig { deciders, ..RelayConfig::default() },
    })
    .await?;
    for name in ["Ada", "Bob", "Cid", "Dan"] {
        bed.client(&ClientOptions::new(name, service.local_addr()))?;
    }
    for _ in 0..seconds {
        tokio::time::sleep(Duration::from_secs(1)).await;
        bed.check()?;
    }
    let summary = service.summary().await;
    for d in &summary.deciders {
        println!(
            "{:16} live {} mean {:.3} std {:.3} max {:.3} updates {}",
            d.name, d.live, d.mean_m, d.std_m, d.max_m, d.updates
        );
        for c in &d.clients {
            println!(
                "    {:8} mean {:.3} p99 {:.2} largest {:.2} seconds {:.0} unseen {:.1} updates {}",
                c.name, c.mean_m, c.p99_m, c.largest_m, c.seconds, c.unseen_seconds, c.updates
            );
        }
    }
    println!("{:?}\n{:?}\n{:?}", summary.round_trips_ms, bed.tallies()?, bed.cpu_seconds());
    bed.stop();
    Ok(())
}

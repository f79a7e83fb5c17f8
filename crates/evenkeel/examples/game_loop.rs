//! A whole game loop: two hosts with clocks of their own, each driving a tank and watching the other's.
//!
//! `cargo run -p evenkeel --example game_loop`
//!
//! What to look for: which time goes where (only the clock sees an `Instant`), and how one socket serves sender, receiver
//! and clock.

use evenkeel::clock::{ClockConfig, Ping, Pong};
use evenkeel::wire::datagram::Kind;
use evenkeel::{
    Clock, Duration, EntityId, GlobalTime, HostId, Instant, Pose, Receiver, ReceiverConfig, Sender, SenderConfig,
    Threshold, Vec3,
};
use std::collections::VecDeque;
use std::error::Error;

/// A stand-in for a socket: datagrams that arrive at the other end after some time.
type Wire = VecDeque<(u64, HostId, Vec<u8>)>;

const DELAY_MS: u64 = 60;

struct Host {
    id: HostId,
    other: HostId,
    clock: Clock,
    sender: Sender,
    receiver: Receiver,
    /// How far this machine's clock is ahead of the other's.
    ahead: Duration,
    joined: bool,
}

impl Host {
    fn new(id: HostId, other: HostId, clock: Clock, ahead: Duration) -> Result<Self, Box<dyn Error>> {
        let sender = Sender::new(SenderConfig::default())?;
        let receiver = Receiver::new(ReceiverConfig::default())?;
        Ok(Self { id, other, clock, sender, receiver, ahead, joined: false })
    }

    /// This machine's own clock, in a real game `std::time::Instant`.
    fn instant(&self, millis: u64) -> Instant {
        Instant::from_millis(millis as i64) + self.ahead
    }

    /// Datagrams are handled when they arrive, not in the frame loop.
    fn handle(&mut self, millis: u64, bytes: &[u8], out: &mut Wire) -> Result<(), Box<dyn Error>> {
        let received = self.instant(millis);
        match Kind::of(bytes) {
            Some(Kind::Ping) => {
                let pong = self.clock.handle_ping(Ping::parse(bytes)?, received)?;
                let mut buffer = [0; Pong::LEN];
                let length = pong.emit(&mut buffer);
                out.push_back((millis + DELAY_MS, self.other, buffer[..length].to_vec()));
            }
            // A late or repeated pong is no harm.
            Some(Kind::Pong) => drop(self.clock.handle_pong(Pong::parse(bytes)?, received)),
            Some(kind) => {
                let Some(now) = self.clock.now(received) else { return Ok(()) };
                if !self.joined {
                    return Ok(());
                }
                match kind {
                    Kind::Receipts => self.sender.handle_datagram(self.other, bytes, now)?,
                    _ => drop(self.receiver.handle_datagram(self.other, bytes, now)?),
                }
            }
            None => eprintln!("{}: not for us", self.id),
        }
        Ok(())
    }

    /// One frame: say where the own tank is, send what is due, look at the other's.
    fn frame(&mut self, millis: u64, out: &mut Wire) -> Result<(), Box<dyn Error>> {
        let instant = self.instant(millis);
        if let Some(ping) = self.clock.poll_ping(instant) {
            let mut buffer = [0; Ping::LEN];
            let length = ping.emit(&mut buffer);
            out.push_back((millis + DELAY_MS, self.other, buffer[..length].to_vec()));
        }
        let Some(now) = self.clock.now(instant) else { return Ok(()) };
        if !self.joined {
            self.join(now)?;
        }
        self.sender.observe(EntityId(self.id.0), drive(self.id, now), now)?;
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            out.push_back((millis + DELAY_MS, datagram.to, datagram.bytes.to_vec()));
        }
        while let Some(receipt) = self.receiver.poll_transmit(now) {
            out.push_back((millis + DELAY_MS, receipt.to, receipt.bytes.to_vec()));
        }
        Ok(())
    }

    /// Once the time is known: listen before anything is sent, then offer the own tank.
    fn join(&mut self, now: GlobalTime) -> Result<(), Box<dyn Error>> {
        self.receiver.add_sender(self.other, self.sender.agreement(), now)?;
        self.sender.add_receiver(self.other, now)?;
        self.sender.add_entity(EntityId(self.id.0), Threshold::within(0.1).turning(0.05), now)?;
        self.joined = true;
        Ok(())
    }
}

/// Where a tank is: round in circles, one way for two seconds, then the other.
fn drive(id: HostId, t: GlobalTime) -> Pose {
    let (seconds, speed) = (t.as_secs_f64(), 10.0);
    let phase = (seconds / 2.0).floor();
    let turn_rate = if phase % 2.0 == 0.0 { 0.6 } else { -0.6 };
    let heading = 0.6 * if phase % 2.0 == 0.0 { seconds - 2.0 * phase } else { 2.0 - (seconds - 2.0 * phase) };
    let position = Vec3::new(speed * seconds, 20.0 * f64::from(id.0) + 3.0 * heading.sin(), 0.0);
    Pose::at(position)
        .facing(heading)
        .moving(Vec3::new(speed, 1.8 * heading.cos() * turn_rate / 0.6, 0.0))
        .turning(turn_rate)
}

/// The example. Public for the test that runs it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let (server, client) = (HostId(0), HostId(1));
    let mut hosts = [
        Host::new(server, client, Clock::reference(Duration::ZERO), Duration::ZERO)?,
        Host::new(client, server, Clock::follower(ClockConfig::default()), Duration::from_secs(77))?,
    ];
    let mut wire = Wire::new();
    for millis in 0..10_000 {
        while wire.front().is_some_and(|(due, ..)| *due <= millis) {
            if let Some((_, to, bytes)) = wire.pop_front() {
                hosts[to.0 as usize].handle(millis, &bytes, &mut wire)?;
            }
        }
        if millis % 16 == 0 {
            for host in &mut hosts {
                host.frame(millis, &mut wire)?;
            }
        }
    }
    for host in &mut hosts {
        let instant = host.instant(10_000);
        let Some(now) = host.clock.now(instant) else { continue };
        let seen = host.receiver.place(EntityId(host.other.0), now)?;
        let off = seen.position.distance(drive(host.other, GlobalTime::from_millis(10_000)).position());
        println!(
            "{} sees the other's tank {off:.3} m from where it is, told {:.0} ms ago",
            host.id,
            seen.age.as_millis_f64()
        );
        let fairness = host.sender.fairness(now);
        println!("  and its own is shown {:.3} m off, by {} vectors", fairness.mean, fairness.spent.vectors);
    }
    Ok(())
}

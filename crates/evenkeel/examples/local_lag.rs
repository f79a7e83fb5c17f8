//! Local lag: two hosts, 120 ms apart, each fly a craft by keys, and come to show both craft alike.
//!
//! `cargo run -p evenkeel --example local_lag`
//!
//! It prints how far apart the two hosts show the same craft, before and after the lag has adapted to the delays (about 0.11 m
//! and 0.015 m), and how many laser shots hit it, each decided a delay later (about half, and all).
//!
//! What to look for: one host decides the lag for both, and everybody applies it to all they have; verdicts ask where the
//! target was at the shown time of the shot.

use evenkeel::lag::{ActionKind, Adaptive, Lag, LagPolicy, LagTable, LocalSite};
use evenkeel::wire::datagram::Kind;
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, LagChange, Motion, MotionKind, Pose, Receiver, ReceiverConfig, Sender,
    SenderConfig, Simulation, Threshold, Vec3,
};
use std::error::Error;

const STEP: Duration = Duration::from_millis(20);

/// A craft: it thrusts and turns as its keys say, and the air slows it down.
#[derive(Clone, Default)]
struct Craft {
    position: Vec3,
    velocity: Vec3,
    heading: f64,
    thrust: f64,
    turn: f64,
}

impl Simulation for Craft {
    /// Thrust and turn, as the keys are held.
    type Act = (f64, f64);
    type Snapshot = Self;
    type Verdict = ();

    fn step_length(&self) -> Duration {
        STEP
    }

    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }

    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }

    fn step(&mut self, _: &mut Vec<()>) {
        let dt = STEP.as_secs_f64();
        self.heading += self.turn * dt;
        self.velocity = self.velocity * 0.98 + Vec3::from_heading(self.heading) * (self.thrust * dt);
        self.position += self.velocity * dt;
    }

    fn apply(&mut self, _: HostId, keys: &(f64, f64), _: &mut Vec<()>) {
        (self.thrust, self.turn) = *keys;
    }

    fn digest(&self) -> u64 {
        0 // a local site goes back to nothing and compares nothing
    }
}

impl Craft {
    /// As it goes on from a moment after its tick.
    fn motion(&self, past_tick: Duration) -> Motion {
        let pose = Pose::at(self.position).moving(self.velocity).facing(self.heading).turning(self.turn);
        pose.motion(MotionKind::Auto).advanced(past_tick.as_secs_f64())
    }
}

/// What travels: datagrams of sender and receiver, and two messages of the game's own.
enum Message {
    Datagram(Vec<u8>),
    Delay(Duration),
    Lag(LagChange),
}

/// A stand-in for a network: what is on its way, and when it will be where.
type Network = Vec<(GlobalTime, HostId, Message)>;

fn send(network: &mut Network, to: HostId, message: Message, now: GlobalTime) {
    let jitter = (network.len() as i64 + now.as_nanos() / 1_000_000) * 7 % 25;
    network.push((now + Duration::from_millis(120 + jitter), to, message));
}

struct Host {
    id: HostId,
    other: HostId,
    site: LocalSite<Craft>,
    sender: Sender,
    receiver: Receiver,
    lags: LagTable,
}

impl Host {
    fn new(id: u32, now: GlobalTime) -> Result<Self, Box<dyn Error>> {
        let (id, other) = (HostId(id), HostId(1 - id));
        let mut sender = Sender::new(SenderConfig::default())?;
        let mut receiver = Receiver::new(ReceiverConfig::default())?;
        receiver.add_sender(other, sender.agreement(), now)?;
        sender.add_receiver(other, now)?;
        sender.add_entity(EntityId(id.0), Threshold::within(0.05).turning(0.05), now)?;
        let mut lags = LagTable::default();
        let adaptive = Adaptive { tick: STEP, cap: Duration::from_millis(250), ..Adaptive::default() };
        lags.set(ActionKind::MOVEMENT, LagPolicy::Adaptive(adaptive))?;
        lags.set(ActionKind::VERDICT, LagPolicy::Fixed(Duration::from_millis(200)))?;
        lags.set_notice(Duration::from_millis(300)); // more than a delay: the other hears of a change before it begins
        let craft = Craft { position: Vec3::new(0.0, 20.0 * f64::from(id.0), 0.0), ..Craft::default() };
        let site = LocalSite::new(craft, Lag::default(), now);
        Ok(Self { id, other, site, sender, receiver, lags })
    }

    fn handle(&mut self, message: Message, now: GlobalTime, network: &mut Network) -> Result<(), Box<dyn Error>> {
        match message {
            Message::Datagram(bytes) if Kind::of(&bytes) == Some(Kind::Receipts) => {
                self.sender.handle_datagram(self.other, &bytes, now)?;
            }
            Message::Datagram(bytes) => match self.receiver.handle_datagram(self.other, &bytes, now)?.sent {
                Some(sent) if self.id == HostId(0) => self.lags.handle_delay(now.since(sent), now),
                Some(sent) => send(network, HostId(0), Message::Delay(now.since(sent)), now),
                None => {}
            },
            Message::Delay(delay) => self.lags.handle_delay(delay, now),
            Message::Lag(change) => self.set_lag(change, now)?,
        }
        Ok(())
    }

    /// Everything that shows, and everything that reckons with what is shown.
    fn set_lag(&mut self, change: LagChange, now: GlobalTime) -> Result<(), Box<dyn Error>> {
        self.site.set_lag(change, now)?;
        self.sender.set_lag(change, now)?;
        Ok(self.receiver.set_lag(change, now)?)
    }

    /// Tells what the own keys lead to, at once, whatever the lag.
    fn frame(&mut self, now: GlobalTime, network: &mut Network) -> Result<(), Box<dyn Error>> {
        self.site.advance(now)?;
        let motion = self.site.late().motion(self.site.late_past_tick());
        self.sender.observe_motion(EntityId(self.id.0), &motion, now)?;
        self.sender.handle_timeout(now);
        while let Some(datagram) = self.sender.poll_transmit(now) {
            send(network, datagram.to, Message::Datagram(datagram.bytes.to_vec()), now);
        }
        while let Some(receipt) = self.receiver.poll_transmit(now) {
            send(network, receipt.to, Message::Datagram(receipt.bytes.to_vec()), now);
        }
        Ok(())
    }

    /// Where the own craft is shown here.
    fn shows_own(&self) -> Vec3 {
        self.site.real().motion(self.site.past_tick()).position_at(0.0)
    }
}

/// The example. Public for the test that runs it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut hosts = [Host::new(0, GlobalTime::ZERO)?, Host::new(1, GlobalTime::ZERO)?];
    let mut network = Network::new();
    // When it was fired, where at, where the target was for its owner, and whether with lag.
    let mut shots: Vec<(GlobalTime, Vec3, Vec3, usize)> = Vec::new();
    // How far apart, and whether shots hit and how far off that verdict was: without lag, and with it.
    let (mut apart, mut verdicts) = ([vec![], vec![]], [vec![], vec![]]);
    for millis in 0..12_000_i64 {
        let now = GlobalTime::from_millis(millis);
        while let Some(arrived) = network.iter().position(|(due, ..)| *due <= now) {
            let (_, to, message) = network.remove(arrived);
            hosts[to.0 as usize].handle(message, now, &mut network)?;
        }
        // Players press keys whenever they like.
        for host in hosts.iter_mut().filter(|host| millis % 170 == 7 + 60 * i64::from(host.id.0)) {
            let pick = (millis * millis / 1_000) as usize;
            host.site.issue(host.id, ([5.0, 15.0][pick % 2], [-2.0, 0.0, 2.0][pick % 3]), now)?;
        }
        if millis % 10 != 0 {
            continue;
        }
        for host in &mut hosts {
            host.frame(now, &mut network)?;
        }
        // Host 0 decides for both. In a game from the start, here after five seconds without lag.
        while let Some((_, change)) = (millis >= 5_000).then(|| hosts[0].lags.poll_change(now)).flatten() {
            println!("{now}: the lag goes to {} from {} on", change.to, change.begins);
            hosts[0].set_lag(change, now)?;
            send(&mut network, HostId(1), Message::Lag(change), now);
        }
        // Host 0 fires at what it shows, and decides when all that the shot depends on must have arrived.
        let [a, b] = &hosts;
        let wait = a.lags.at(ActionKind::VERDICT, now);
        let (due, waiting): (Vec<_>, Vec<_>) = shots.into_iter().partition(|(fired, ..)| now.since(*fired) >= wait);
        shots = waiting;
        for (fired, aim, truth, with_lag) in due {
            let target = a.receiver.recall(EntityId(1), a.receiver.lag().shown(fired))?.position;
            verdicts[with_lag].push((target.distance(aim) < 0.1, target.distance(truth)));
        }
        let with_lag = match millis {
            1_000..5_000 => 0,
            7_000.. => 1,
            _ => continue,
        };
        let (shown, truth) = (a.receiver.place(EntityId(1), now)?.position, b.shows_own());
        apart[with_lag].push(shown.distance(truth));
        if millis % 210 == 0 {
            shots.push((now, shown, truth, with_lag));
        }
    }
    let apart = apart.map(|apart| apart.iter().sum::<f64>() / apart.len() as f64);
    let hits = [0, 1].map(|i| verdicts[i].iter().filter(|(hit, _)| *hit).count());
    for (i, when) in ["without lag", "with lag"].iter().enumerate() {
        let (apart, hits, shots) = (apart[i], hits[i], verdicts[i].len());
        println!("{when}: the hosts show the same craft {apart:.3} m apart; {hits} of {shots} shots hit it");
    }
    let off = verdicts.iter().flatten().fold(0.0_f64, |most, (_, off)| most.max(*off));
    println!("where it had been was known a delay later to within {off:.3} m");
    assert!(apart[0] > 0.08 && apart[1] < 0.03, "lag pays for the delay");
    assert!(hits[0] < verdicts[0].len() && hits[1] == verdicts[1].len(), "with lag one aims at what is there");
    assert!(off < 0.06, "with hindsight the threshold is all that is left");
    Ok(())
}

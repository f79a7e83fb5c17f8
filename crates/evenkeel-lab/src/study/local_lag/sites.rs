//! The test bed: a local site where recorded operations are played back, a remote site, and a network of constant delay.
//!
//! Both methods are the heart's own: [`LocalSite`] keeps s_real and s_late, a [`Sender`] compares s_late with what the remote
//! site extrapolates and sends it, a [`Receiver`] is the remote site. Without lag this is GS-DR.

use super::game::{Game, MEASURED_FROM};
use super::setting::{NEVER, Setting};
use anyhow::{Result, ensure};
use evenkeel::lag::{Lag, LocalSite};
use evenkeel::wire::datagram::Stamp;
use evenkeel::{
    ClockRule, Duration, EntityConfig, EntityId, GlobalTime, HostId, Motion, MotionKind, Placing, Receiver,
    ReceiverConfig, Sender, SenderConfig, Tick, Vec3,
};
use evenkeel_games::spaceship::Act;
use evenkeel_games::{Game as _, Spaceship};
use evenkeel_link::{Conditions, Link, Topology};

const LOCAL: HostId = HostId(0);
const REMOTE: HostId = HostId(1);

/// A ship as both sites show it at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glimpse {
    /// The time of the game that is shown: the time on the clock less the lag.
    pub(super) shown: GlobalTime,
    /// Where the local site shows it: s_real.
    pub(super) local: Vec3,
    /// Where the remote site shows it: s_remote.
    pub(super) remote: Vec3,
    /// By how much the headings differ, in radians.
    pub(super) turned: f64,
    /// Whether an update that speaks of this time or an earlier one was sent and is not shown yet.
    pub(super) under_way: bool,
    /// How far the remote site shows it from where the newest update says.
    pub(super) off_update: f64,
}

impl Glimpse {
    /// The inconsistency: formula 3.
    pub(super) fn off(&self) -> f64 {
        self.local.distance(self.remote)
    }
}

/// One run: what both sites showed, and what was sent.
pub(super) struct Run {
    /// By ship, then tick by tick.
    pub(super) ships: Vec<Vec<Glimpse>>,
    /// When updates were sent, by ship.
    pub(super) sent: Vec<Vec<GlobalTime>>,
    /// How long it lasted.
    pub(super) lasted: Duration,
}

/// Plays a game back. Every run shows the same stretch of the game, which takes a lag longer to be shown.
pub(super) fn play(game: &Game, setting: &Setting) -> Result<Run> {
    let mut sites = Sites::new(game, *setting)?;
    let ships = sites.site.late().players() as usize;
    let mut run = Run { ships: vec![Vec::new(); ships], sent: Vec::new(), lasted: Duration::ZERO };
    let mut tick = Tick(0);
    while sites.site.real_tick() < game.last {
        tick = tick.next();
        let now = tick.time(game.step());
        sites.operate(now)?;
        sites.export(now)?;
        sites.exchange(now)?;
        let shown = now - setting.lag();
        if shown >= MEASURED_FROM {
            for (ship, glimpses) in run.ships.iter_mut().enumerate() {
                glimpses.extend(sites.glimpse(ship, shown, now));
            }
        }
        run.lasted = now.since(GlobalTime::ZERO);
    }
    ensure!(sites.receiver.vectors_given_up() == 0, "the remote site gave updates up");
    let of_ship = |updates: &Vec<(GlobalTime, Motion)>| updates.iter().map(|(at, _)| *at).collect();
    run.sent = sites.updates.iter().map(of_ship).collect();
    Ok(run)
}

struct Sites<'a> {
    setting: Setting,
    site: LocalSite<Spaceship>,
    /// What is yet to be operated.
    operations: &'a [evenkeel::Operation<Act>],
    sender: Sender,
    receiver: Receiver,
    link: Link<Vec<u8>>,
    /// What was sent, by ship: when, and what it says after rounding.
    updates: Vec<Vec<(GlobalTime, Motion)>>,
}

impl<'a> Sites<'a> {
    fn new(game: &'a Game, setting: Setting) -> Result<Self> {
        let (format, start) = (setting.format(), GlobalTime::ZERO);
        let placing = Placing { rule: setting.rule, lag: setting.lag(), max_age: NEVER };
        // Nobody reads the sender's books: what is off is measured from outside.
        let config = SenderConfig { format, placing, books: false, ..SenderConfig::default() };
        let mut sender = Sender::new(config)?;
        let mut receiver = Receiver::new(ReceiverConfig { placing, ..ReceiverConfig::default() })?;
        sender.add_receiver(REMOTE, start)?;
        receiver.add_sender(LOCAL, receiver.agreement(&format), start)?;
        let site = LocalSite::new(game.start()?, Lag::constant(setting.lag())?, start);
        let ships = site.late().players();
        for ship in 0..ships {
            // Foresees all that nobody operates, but for a ship that gets to its top speed or to a stop.
            let config = EntityConfig { kind: MotionKind::Turning, ..setting.limit.threshold().into() };
            sender.add_entity(EntityId(ship), config, start)?;
        }
        let link = Link::new(Topology::uniform(Conditions::delay(setting.delay()))?, 0);
        let operations = game.recording.operations();
        Ok(Self { setting, site, operations, sender, receiver, link, updates: vec![Vec::new(); ships as usize] })
    }

    /// The players do what the recording says.
    fn operate(&mut self, now: GlobalTime) -> Result<()> {
        let (due, later) = self.operations.split_at(self.operations.partition_point(|operation| operation.at <= now));
        self.operations = later;
        for operation in due {
            self.site.issue(operation.issuer, operation.act, operation.at)?;
        }
        Ok(self.site.advance(now)?)
    }

    /// Sends s_late where it is too far from what the remote site extrapolates.
    fn export(&mut self, now: GlobalTime) -> Result<()> {
        let format = self.setting.format();
        for (ship, updates) in self.updates.iter_mut().enumerate() {
            let id = EntityId(ship as u32);
            let Some(pose) = self.site.late().pose(HostId(id.0)) else {
                // Shot out of the game. The second time there is nobody to be removed.
                let _ = self.sender.remove_entity(id, now);
                continue;
            };
            if self.sender.observe(id, pose, now)?.is_some() {
                let motion = pose.motion(MotionKind::Turning);
                updates.push((now, format.restore(&format.quantise(&motion, now)?)));
            }
        }
        Ok(())
    }

    /// Hands on what is to be sent and what has arrived, until nothing more happens at this moment.
    fn exchange(&mut self, now: GlobalTime) -> Result<()> {
        loop {
            self.sender.handle_timeout(now);
            while let Some(datagram) = self.sender.poll_transmit(now) {
                self.link.send(now, LOCAL.0, REMOTE.0, datagram.bytes.len(), datagram.bytes.to_vec());
            }
            while let Some(datagram) = self.receiver.poll_transmit(now) {
                self.link.send(now, REMOTE.0, LOCAL.0, datagram.bytes.len(), datagram.bytes.to_vec());
            }
            let Some(delivery) = self.link.poll(now) else { return Ok(()) };
            if delivery.to == REMOTE.0 {
                self.receiver.handle_datagram(LOCAL, &delivery.payload, delivery.arrived)?;
            } else {
                self.sender.handle_datagram(REMOTE, &delivery.payload, delivery.arrived)?;
            }
        }
    }

    /// A ship as both sites show it now; nothing while one of them does not.
    fn glimpse(&self, ship: usize, shown: GlobalTime, now: GlobalTime) -> Option<Glimpse> {
        let local = self.site.real().state(HostId(ship as u32))?;
        let remote = self.receiver.place(EntityId(ship as u32), now).ok()?;
        let (sent, motion) = self.updates[ship].iter().rfind(|(at, _)| *at <= shown)?;
        // Without synchronised clocks, age is counted from the arrival's stamp, which may be a unit before it.
        let unsynchronised = self.setting.delay() - Stamp::UNIT;
        let before = if self.setting.rule == ClockRule::Global { Duration::ZERO } else { unsynchronised };
        Some(Glimpse {
            shown,
            local: local.position,
            remote: remote.position,
            turned: local.attitude.angle_to(&remote.attitude),
            under_way: shown - remote.age - before < *sent,
            off_update: remote.position.distance(motion.position_at(shown.since(*sent).as_secs_f64())),
        })
    }
}

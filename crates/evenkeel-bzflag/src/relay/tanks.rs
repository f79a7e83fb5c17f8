//! What the relay knows of the tanks, and what it does about their updates and shots.

use super::client::{Client, Lateness};
use super::{Out, Relay, Way};
use crate::desk::{Kind, Seen, Told};
use crate::message::{Frame, ShotBegin, Status, TankUpdate};
use crate::rules::{frame, vec3};
use evenkeel::{Duration, EntityId, GlobalTime, HostId};

/// What clients must hear of at once: it changes the rule by which they place a tank, or is seen in another way.
const TOLD_AT_ONCE: Status =
    Status(Status::ALIVE.0 | Status::PAUSED.0 | Status::FALLING.0 | Status::TELEPORTING.0 | Status::FLAG_ACTIVE.0);

/// Desks tell moments apart by microseconds. Several updates in one datagram share a moment, and are taken in so far apart.
const APART: Duration = Duration::from_micros(3);

/// One player's tank.
pub(super) struct Tank {
    /// The newest that was heard of it from the server, or from its client before that.
    update: TankUpdate,
    /// The order of the newest that the server passed on.
    passed: Option<i32>,
    /// The name of its life, if it is alive.
    pub(super) life: Option<EntityId>,
    /// When the server passed on the newest, and how late it was.
    heard: Option<(GlobalTime, Lateness)>,
    /// Whether that was an announcement: its sounds belong to it.
    announced: bool,
}

impl Tank {
    fn new(update: &TankUpdate) -> Self {
        Self { update: *update, passed: None, life: None, heard: None, announced: false }
    }

    /// What an update about it says besides how it moves. What is heard of it is heard once.
    pub(super) fn like(&self, generated: GlobalTime) -> TankUpdate {
        let heard = self.announced && self.is_newest(generated);
        TankUpdate {
            sounds: self.update.sounds.filter(|_| heard),
            status: self.update.status.with(Status::SOUND, heard && self.update.sounds.is_some()),
            ..self.update
        }
    }

    /// By how much a vector that was generated then was held up on the way here.
    pub(super) fn held_up(&self, generated: GlobalTime) -> Duration {
        self.heard.filter(|_| self.is_newest(generated)).map_or(Duration::ZERO, |(_, lateness)| lateness.held_up)
    }

    /// Whether a vector of then is the newest update; vectors are a microsecond coarse.
    fn is_newest(&self, generated: GlobalTime) -> bool {
        self.heard.is_some_and(|(at, _)| generated.since(at).abs() < Duration::from_micros(2))
    }

    /// Whether what is new about it must be heard by everybody.
    fn is_announcement(&self, update: &TankUpdate) -> bool {
        let before = self.update;
        let kept = |status: Status| status.0 & TOLD_AT_ONCE.0;
        kept(update.status) != kept(before.status) || update.sounds.is_some() || update.driver != before.driver
    }
}

impl Relay {
    /// A client says where its tank is. The server will pass it on.
    pub(super) fn witness(&mut self, from: HostId, update: &TankUpdate, now: GlobalTime) {
        let life = self.live_or_die(Some(from), update, now);
        let (Some(life), Some(client)) = (life, self.clients.get(&from)) else { return };
        if let Some(made) = self.truly_made(from, client, update.stamp) {
            self.gauge.truth(life, Some(from), self.rules.motion(update), made);
        }
    }

    /// The server passes an update on to a client.
    pub(super) fn tank_update(&mut self, to: HostId, way: Way, update: &TankUpdate, now: GlobalTime) {
        self.hear(update, now);
        let decided = self.tanks.get(&update.player).is_some_and(|tank| tank.life.is_some());
        let alive = update.status.contains(Status::ALIVE);
        let Some(client) = self.clients.get_mut(&to) else { return };
        if client.playing && decided && alive {
            return;
        }
        let update = TankUpdate { order: client.next_order(update.player), ..*update };
        let mut bytes = Vec::new();
        update.emit(&mut bytes);
        self.out.push_back(Out { client: to, to_client: true, way, bytes });
    }

    /// Takes in the first copy of an update that the server passes on.
    fn hear(&mut self, update: &TankUpdate, now: GlobalTime) {
        let own = self.clients.values().find(|client| client.player == update.player);
        let lateness = own.map(|client| client.lateness(update.stamp, self.config.frames_per_second, now));
        let tank = self.tanks.entry(update.player).or_insert_with(|| Tank::new(update));
        if tank.passed.is_some_and(|passed| update.order <= passed) {
            return;
        }
        tank.passed = Some(update.order);
        let (announced, earliest) = (tank.announced, tank.heard.map_or(now, |(at, _)| at + APART));
        let now = self.not_before(now.max(earliest));
        if announced {
            // What it says is told before it is replaced.
            self.run_desks(now);
        }
        if lateness.is_none() {
            self.follow_stranger(update, now);
        }
        let Some(tank) = self.tanks.get_mut(&update.player) else { return };
        let lateness = lateness.unwrap_or_default();
        let announcement = tank.is_announcement(update);
        (tank.update, tank.heard, tank.announced) = (*update, Some((now, lateness)), announcement);
        let Some(life) = tank.life.filter(|_| update.status.contains(Status::ALIVE)) else { return };
        let kind = match (announcement, self.rules.dense) {
            (true, _) => Kind::Announcement,
            (false, true) => Kind::Frame,
            (false, false) => Kind::Vector,
        };
        let Lateness { held_up, age } = lateness;
        let seen = Seen { motion: self.rules.motion(update), held_up, age, kind };
        self.desks.iter_mut().for_each(|desk| desk.observe(life, &seen, now));
    }

    /// A tank whose client is not behind this relay: what the server passes on is all there is to know.
    fn follow_stranger(&mut self, update: &TankUpdate, now: GlobalTime) {
        self.show(now, update);
        if let Some(life) = self.live_or_die(None, update, now) {
            self.gauge.truth(life, None, self.rules.motion(update), now);
        }
    }

    /// The server passes a shot on to a client, who will move the shooter to where the shot began. Where positions are advanced, that is
    /// behind the tank: the same datagram tells the client where it is.
    pub(super) fn shot(&mut self, to: HostId, way: Way, frame: Frame<'_>, now: GlobalTime) {
        let Ok(shot) = ShotBegin::parse(frame) else { return self.pass(to, true, way, frame) };
        let mut bytes = Vec::new();
        self.advanced_shot(to, &shot, now).emit(&mut bytes);
        if let Some(life) = self.tanks.get(&shot.player).and_then(|tank| tank.life) {
            self.gauge.shot(to, life, shot.position, now);
            bytes.append(&mut self.place_shooter(to, life, now));
        }
        self.out.push_back(Out { client: to, to_client: true, way, bytes });
    }

    /// Tells the clients of every decider that advances positions where a tank is, as far as they were told before. Answers what the live
    /// decider's client is told.
    fn place_shooter(&mut self, to: HostId, life: EntityId, now: GlobalTime) -> Vec<u8> {
        let mut live = Vec::new();
        for decider in 0..self.desks.len() {
            let desk = &self.desks[decider];
            let told = desk.told_last(to, life).filter(|_| desk.decider().advance);
            let Some((generated, motion)) = told else { continue };
            let update = self.tell(decider, &Told { to, tank: life, motion, generated }, now);
            live.extend(update.filter(|_| decider == 0).unwrap_or_default());
        }
        live
    }

    /// A shot as a client is told of it: as it is, or, if that is wanted, as far on as it will be when the client counts from it.
    fn advanced_shot(&mut self, to: HostId, shot: &ShotBegin, now: GlobalTime) -> ShotBegin {
        let own = self.clients.iter().find(|(_, client)| client.player == shot.player);
        let age = own
            .map_or(Duration::ZERO, |(_, client)| client.lateness(shot.stamp, self.config.frames_per_second, now).age);
        let made = own.and_then(|(host, client)| self.truly_made(*host, client, shot.stamp)).unwrap_or(now);
        let ahead = self.counts_from(to, now).since(now) + age;
        let speed = vec3(shot.velocity).length();
        self.gauge.shot_error(to, speed, made, ahead, now);
        let advances = self.desks.first().is_some_and(|live| live.decider().advance);
        if !self.config.advance_shots || !advances {
            return *shot;
        }
        // Not `clamp`, which panics if a stranger's shot lives for less than no time.
        let seconds = (ahead.as_secs_f64() as f32).min(shot.lifetime).max(0.0);
        let position = std::array::from_fn(|axis| shot.position[axis] + shot.velocity[axis] * seconds);
        ShotBegin { position, lifetime: shot.lifetime - seconds, ..*shot }
    }

    /// When something with this stamp was made, known by when it was received.
    fn truly_made(&self, host: HostId, client: &Client, stamp: f32) -> Option<GlobalTime> {
        // Conditions are put on clients that are near: what they do not add takes no time.
        let frames_per_second = self.config.frames_per_second;
        let conditioned = self.gauge.is_conditioned(host);
        let under_way = if conditioned { Duration::ZERO } else { client.one_way(frames_per_second) };
        Some(client.true_stamps.arrival(stamp)? - under_way - frame(frames_per_second))
    }

    /// A life begins or ends, if an update says so. Answers which it is then in.
    fn live_or_die(&mut self, own: Option<HostId>, update: &TankUpdate, now: GlobalTime) -> Option<EntityId> {
        let life = |relay: &Self| relay.tanks.get(&update.player).and_then(|tank| tank.life);
        match (update.status.contains(Status::ALIVE), life(self)) {
            (false, Some(_)) => self.end_life(update.player, now),
            (true, None) => self.begin_life(own, update, now),
            _ => {}
        }
        life(self)
    }

    fn begin_life(&mut self, own: Option<HostId>, update: &TankUpdate, now: GlobalTime) {
        let life = self.next_life();
        let tank = self.tanks.entry(update.player).or_insert_with(|| Tank::new(update));
        tank.life = Some(life);
        self.desks.iter_mut().for_each(|desk| desk.add_tank(life, own, now));
    }

    pub(super) fn end_life(&mut self, player: u8, now: GlobalTime) {
        let Some(life) = self.tanks.get_mut(&player).and_then(|tank| tank.life.take()) else { return };
        self.desks.iter_mut().for_each(|desk| desk.remove_tank(life, now));
        self.gauge.died(life, now);
    }
}

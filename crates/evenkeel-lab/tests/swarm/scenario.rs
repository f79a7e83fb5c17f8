//! One random session, and what must hold in it.

use crate::draw::Draw;
use crate::motion::{Library, Motion};
use crate::network::{black_out, calm, conditions};
use evenkeel::determinism::Transcript;
use evenkeel::wire::datagram::DatagramError;
use evenkeel::wire::{Agreement, Format};
use evenkeel::{
    Budget, Duration, EntityId, GlobalTime, Handover, HostId, PlaceError, Placing, Receiver, ReceiverConfig,
    ReceiverError, Relevance, Sender, SenderConfig, Threshold, Vec3, policy,
};
use evenkeel_link::{Conditions, Link, Oracle, Topology};
use std::collections::BTreeMap;

/// Senders are hosts 0 and 1, receivers follow.
const SENDERS: [u32; 2] = [0, 1];
/// When the network turns perfect and everything stands still, and how long that is given to settle.
const QUIET: GlobalTime = GlobalTime::from_millis(8_000);
const END: GlobalTime = GlobalTime::from_millis(14_000);
const LATE_END: GlobalTime = GlobalTime::from_millis(76_000);
/// How often the world looks once it is quiet.
const QUIET_FRAME: Duration = Duration::from_millis(40);
/// What a receiver forgot may be missed for so long after it is spoken of again: many round trips with most datagrams lost.
const HEALS_WITHIN: Duration = Duration::from_secs(5);
/// Books are looked at after every so many frames.
const BOOKS_EVERY: u64 = 16;

/// A datagram, and of which acquaintance of its two ends.
#[derive(Clone)]
struct Packet {
    meeting: u32,
    bytes: Vec<u8>,
}

struct Client {
    receiver: Receiver,
    /// To and from each sender.
    paths: [(Conditions, Conditions); 2],
    /// Counts how often each sender has met it.
    meetings: [u32; 2],
    forgot: Vec<Forgotten>,
}

/// What a receiver has lost the memory of.
struct Forgotten {
    entity: EntityId,
    at: GlobalTime,
    /// When its sender first spoke of it again: until then it cannot know.
    spoken_of: Option<GlobalTime>,
}

struct Subject {
    owner: usize,
    epoch: u32,
    motion: Motion,
    /// From which distance on its owner speaks of it.
    distance: f64,
    threshold: Threshold,
    /// Nobody owns it until then.
    away: Option<(GlobalTime, Handover)>,
}

pub struct Scenario<'a> {
    draw: Draw,
    library: &'a Library,
    senders: [Sender; 2],
    clients: BTreeMap<u32, Client>,
    subjects: BTreeMap<u32, Subject>,
    link: Link<Packet>,
    oracle: Oracle,
    agreement: Agreement,
    /// Paths that are black until then: from, to, and what they are otherwise.
    black: Vec<(GlobalTime, u32, u32, Conditions)>,
    tick: Duration,
    /// How often something is disturbed, per second.
    unrest: f64,
    /// When everybody must have got the last vector. Under a policy that leaves receivers out it takes some heartbeats more.
    end: GlobalTime,
    /// Whether differences may stay that are not worth a vector: such as the owner itself does not speak of.
    patient: bool,
    seed: u64,
    next_host: u32,
    next_entity: u32,
    frames: u64,
    now: GlobalTime,
}

impl<'a> Scenario<'a> {
    pub fn new(seed: u64, library: &'a Library) -> Self {
        let mut draw = Draw::new(seed);
        let format = [Format::default(), Format::bzflag(), Format::lossless()][draw.below(3) as usize];
        let lag = if draw.one_in(3) { draw.millis(200.0) } else { Duration::ZERO };
        let placing = Placing { lag, ..Placing::default() };
        let name = policy::NAMES[draw.below(policy::NAMES.len() as u32) as usize].0.replace("/k", "/2");
        let max_datagram = 320 + draw.below(1000) as usize;
        let sender = |number: u64| {
            let policy = policy::by_name(&name, Budget::of_base(1, 3), seed).unwrap();
            let secret = [number as u8 + 1; 16];
            Sender::new(SenderConfig { format, placing, policy, max_datagram, secret, ..SenderConfig::default() })
                .unwrap()
        };
        let senders = [sender(0), sender(1)];
        let mut scenario = Self {
            agreement: senders[0].agreement(),
            senders,
            clients: BTreeMap::new(),
            subjects: BTreeMap::new(),
            link: Link::new(Topology::uniform(Conditions::ideal()).unwrap(), seed),
            oracle: Oracle::default(),
            black: Vec::new(),
            // 120, 60 or 50 frames a second.
            tick: Duration::from_micros([8_333, 16_667, 20_000][draw.below(3) as usize]),
            unrest: 4.0 * draw.unit(),
            end: if ["lottery", "credits", "even"].iter().any(|slow| name.starts_with(slow)) { LATE_END } else { END },
            patient: name == "even",
            seed,
            next_host: 2,
            next_entity: 0,
            frames: 0,
            now: GlobalTime::ZERO,
            draw,
            library,
        };
        (0..=scenario.draw.below(3)).for_each(|_| scenario.join());
        (0..=scenario.draw.below(5)).for_each(|_| scenario.spawn());
        scenario
    }

    /// A receiver comes, and hears both senders.
    fn join(&mut self) {
        let host = self.next_host;
        self.next_host += 1;
        let mut path = || (conditions(&mut self.draw), conditions(&mut self.draw));
        let paths = [path(), path()];
        let config = ReceiverConfig { placing: self.agreement.placing, ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config).unwrap();
        for (sender, (there, back)) in SENDERS.into_iter().zip(&paths) {
            self.link.set_conditions(sender, host, there.clone()).unwrap();
            self.link.set_conditions(host, sender, back.clone()).unwrap();
            receiver.add_sender(HostId(sender), self.agreement, self.now).unwrap();
            self.senders[sender as usize].add_receiver(HostId(host), self.now).unwrap();
        }
        self.clients.insert(host, Client { receiver, paths, meetings: [0; 2], forgot: Vec::new() });
    }

    fn leave(&mut self, host: u32) {
        self.clients.remove(&host);
        for sender in &mut self.senders {
            sender.remove_receiver(HostId(host)).unwrap();
        }
    }

    fn spawn(&mut self) {
        let entity = self.next_entity;
        self.next_entity += 1;
        let distance = 0.01 + self.draw.unit() * self.draw.unit();
        let threshold = Threshold::within(distance).turning(0.02 + self.draw.unit());
        let owner = self.draw.below(2) as usize;
        self.senders[owner].add_entity(EntityId(entity), threshold, self.now).unwrap();
        let motion = Motion::draw(&mut self.draw, self.seed, entity, self.now, self.library);
        self.subjects.insert(entity, Subject { owner, epoch: 0, motion, distance, threshold, away: None });
    }

    /// Now and then somebody comes, goes, changes hands, looks away, is cut off or forgets.
    fn disturb(&mut self) {
        if self.draw.unit() > self.unrest * self.tick.as_secs_f64() {
            return;
        }
        let entity = self.draw.pick(self.subjects.keys()).copied();
        let host = self.draw.pick(self.clients.keys()).copied();
        let (Some(entity), Some(host)) = (entity, host) else { return };
        let here = self.subjects[&entity].away.is_none();
        match self.draw.below(12) {
            0 if self.clients.len() < 6 => self.join(),
            1 if self.clients.len() > 1 => self.leave(host),
            2 if self.subjects.len() < 8 => self.spawn(),
            3 if here && self.subjects.len() > 1 => self.remove(entity),
            4 if here => self.look(entity, host, Relevance::OutOfScope),
            5 if here => self.look(entity, host, Relevance::USUAL),
            6 | 7 if here => self.die_and_return(entity),
            8 if here => self.hand_over(entity),
            9 => self.cut_off(host),
            10 => self.meet_anew(host),
            11 => self.forget(entity, host),
            _ => {}
        }
    }

    fn remove(&mut self, entity: u32) {
        let subject = self.subjects.remove(&entity).unwrap();
        self.senders[subject.owner].remove_entity(EntityId(entity), self.now).unwrap();
    }

    fn look(&mut self, entity: u32, host: u32, relevance: Relevance) {
        let sender = &mut self.senders[self.subjects[&entity].owner];
        sender.set_relevance(EntityId(entity), HostId(host), relevance, self.now).unwrap();
    }

    /// It is back before most receivers know that it had gone.
    fn die_and_return(&mut self, entity: u32) {
        let back = self.now + self.draw.millis(300.0);
        let subject = self.subjects.get_mut(&entity).unwrap();
        self.senders[subject.owner].remove_entity(EntityId(entity), self.now).unwrap();
        let handover = Handover { entity: EntityId(entity), epoch: subject.epoch, motion: None };
        subject.away = Some((back, handover));
    }

    fn hand_over(&mut self, entity: u32) {
        let arrives = self.now + self.draw.millis(200.0);
        let subject = self.subjects.get_mut(&entity).unwrap();
        let handover = self.senders[subject.owner].release_entity(EntityId(entity), self.now).unwrap();
        (subject.owner, subject.epoch) = (1 - subject.owner, handover.epoch);
        subject.away = Some((arrives, handover));
    }

    /// Nothing gets through one way or the other, for longer than any window.
    fn cut_off(&mut self, host: u32) {
        let (sender, until) = (self.draw.below(2), self.now + self.draw.millis(4_000.0));
        let (there, back) = self.clients[&host].paths[sender as usize].clone();
        for (from, to, otherwise) in [(sender, host, there), (host, sender, back)] {
            if !self.draw.one_in(3) {
                self.link.set_conditions(from, to, black_out(&otherwise)).unwrap();
                self.black.push((until, from, to, otherwise));
            }
        }
    }

    /// A sender forgets a receiver and meets it anew, while datagrams of before are under way.
    fn meet_anew(&mut self, host: u32) {
        let number = self.draw.below(2) as usize;
        self.senders[number].remove_receiver(HostId(host)).unwrap();
        self.senders[number].add_receiver(HostId(host), self.now).unwrap();
        self.clients.get_mut(&host).unwrap().meetings[number] += 1;
    }

    /// A receiver loses what it knows of an entity, and with it what its sender codes against.
    fn forget(&mut self, entity: u32, host: u32) {
        let client = self.clients.get_mut(&host).unwrap();
        // Whatever has gone must stay remembered as gone: late vectors would bring it back.
        if client.receiver.owner(EntityId(entity)).is_some() {
            client.receiver.discard(EntityId(entity));
            client.forgot.push(Forgotten { entity: EntityId(entity), at: self.now, spoken_of: None });
        }
    }

    fn calm_down(&mut self) {
        self.black.clear();
        for (host, client) in &self.clients {
            for (sender, (there, back)) in SENDERS.into_iter().zip(&client.paths) {
                self.link.set_conditions(sender, *host, calm(there)).unwrap();
                self.link.set_conditions(*host, sender, calm(back)).unwrap();
            }
        }
    }

    /// Goes on by a frame; whether there is another.
    pub fn frame(&mut self, transcript: &mut Transcript) -> bool {
        let quiet = self.now >= QUIET;
        self.now += if quiet { QUIET_FRAME } else { self.tick };
        if !quiet && self.now >= QUIET {
            self.calm_down();
        }
        self.deliver(transcript);
        if self.now < QUIET {
            self.disturb();
            // A disturbance may export something, and so may the same frame's poses.
            self.note();
            self.light_up();
        }
        self.observe();
        self.note();
        self.transmit(transcript);
        self.see_who_is_spoken_of();
        self.frames += 1;
        if self.frames.is_multiple_of(BOOKS_EVERY) {
            self.check_books();
        }
        self.now < self.end
    }

    /// Paths that were black work again.
    fn light_up(&mut self) {
        for (_, from, to, conditions) in self.black.extract_if(.., |(until, ..)| *until <= self.now) {
            self.link.set_conditions(from, to, conditions).unwrap();
        }
    }

    fn observe(&mut self) {
        for (entity, subject) in &mut self.subjects {
            let (id, sender) = (EntityId(*entity), &mut self.senders[subject.owner]);
            match subject.away.take_if(|(until, _)| *until <= self.now) {
                Some((_, handover)) => sender.adopt_entity(&handover, subject.threshold, self.now).unwrap(),
                None if subject.away.is_some() => continue,
                None => {}
            }
            let pose = subject.motion.to(self.now.min(QUIET));
            let still = pose.moving(Vec3::ZERO).turning(0.0).accelerating(Vec3::ZERO);
            sender.observe(id, if self.now < QUIET { pose } else { still }, self.now).unwrap();
        }
    }

    fn note(&mut self) {
        for (number, sender) in SENDERS.into_iter().zip(&self.senders) {
            self.oracle.note(HostId(number), sender);
        }
    }

    fn transmit(&mut self, transcript: &mut Transcript) {
        let Self { senders, clients, link, now, .. } = self;
        for (number, sender) in senders.iter_mut().enumerate() {
            sender.handle_timeout(*now);
            let mut spaced = *now;
            while let Some(datagram) = sender.poll_transmit(*now) {
                transcript.bytes(datagram.bytes);
                let meeting = clients[&datagram.to.0].meetings[number];
                let packet = Packet { meeting, bytes: datagram.bytes.to_vec() };
                // Datagrams of one moment do not share their fate.
                link.send(spaced, number as u32, datagram.to.0, packet.bytes.len(), packet);
                spaced += Duration::from_nanos(1);
            }
            while let Some(event) = sender.poll_event() {
                transcript.event(&event);
            }
        }
        for (host, client) in clients {
            while let Some(receipt) = client.receiver.poll_transmit(*now) {
                let meeting = client.meetings[receipt.to.0 as usize];
                let packet = Packet { meeting, bytes: receipt.bytes.to_vec() };
                link.send(*now, *host, receipt.to.0, packet.bytes.len(), packet);
            }
            while let Some(event) = client.receiver.poll_event(*now) {
                transcript.event(&event);
            }
        }
    }

    fn see_who_is_spoken_of(&mut self) {
        for (host, client) in &mut self.clients {
            for forgotten in client.forgot.iter_mut().filter(|forgotten| forgotten.spoken_of.is_none()) {
                let Some(subject) = self.subjects.get(&forgotten.entity.0) else { continue };
                let ledger = self.senders[subject.owner].ledger();
                let receiver = ledger.receiver(HostId(*host)).unwrap();
                let sent = ledger.entity(forgotten.entity).and_then(|entity| ledger.pair(entity, receiver).last_sent());
                forgotten.spoken_of = sent.map(|(_, sent)| sent).filter(|sent| *sent > forgotten.at);
            }
        }
    }

    fn deliver(&mut self, transcript: &mut Transcript) {
        while let Some(delivery) = self.link.poll(self.now) {
            // Frames are when this world looks, so that is when datagrams count as received.
            let Packet { meeting, bytes } = &delivery.payload;
            if let Some(sender) = self.senders.get_mut(delivery.to as usize) {
                // Receipts of hosts that left come from nobody.
                let known = self.clients.contains_key(&delivery.from);
                assert_eq!(sender.handle_datagram(HostId(delivery.from), bytes, self.now).is_ok(), known);
            } else if let Some(client) = self.clients.get_mut(&delivery.to) {
                let from = HostId(delivery.from);
                let handled = client.receiver.handle_datagram(from, bytes, self.now);
                transcript.event(&handled);
                match handled {
                    Ok(_) => {
                        let checked = self.oracle.check(from, &client.receiver);
                        checked.unwrap_or_else(|mismatch| panic!("seed {}: {mismatch}", self.seed));
                    }
                    Err(error) => {
                        let excused = client.excuses(*meeting, from, &error, self.now);
                        assert!(excused, "seed {}: at {} from {from}: {error}", self.seed, self.now);
                    }
                }
            }
        }
    }

    fn check_books(&self) {
        for sender in &self.senders {
            for row in sender.fairness(self.now).receivers {
                let sane = row.error.before >= -1e-9 && row.error.after >= -1e-9 && row.mean_distance.is_finite();
                assert!(sane, "seed {}: {row:?}", self.seed);
            }
            assert!(sender.ledger().memory_bytes() < 8_000_000, "seed {}", self.seed);
        }
    }

    /// Long after the last movement everybody shows exactly what was exported last.
    pub fn check_agreement(&self) {
        assert!(self.oracle.checked() > 0, "seed {}: nothing was compared", self.seed);
        for (host, client) in &self.clients {
            for (entity, subject) in &self.subjects {
                self.check_pair(*host, client, EntityId(*entity), subject);
            }
            // Farewells are forgotten with the receiver that they were for: a session tells who is here by other means.
            let met_once = client.meetings == [0; 2];
            let dead = client.receiver.entities().filter(|entity| !self.subjects.contains_key(&entity.0)).count();
            assert!(dead == 0 || !met_once, "seed {}: the dead live on at host {host}", self.seed);
        }
    }

    fn check_pair(&self, host: u32, client: &Client, entity: EntityId, subject: &Subject) {
        let sender = &self.senders[subject.owner];
        let ledger = sender.ledger();
        let index = ledger.entity(entity).unwrap();
        let vector = ledger.newest(index).unwrap();
        let shown = self.now - self.agreement.placing.lag;
        let exported = vector.motion.position_at(shown.since(vector.generated).as_secs_f64());
        let pair = ledger.pair(index, ledger.receiver(HostId(host)).unwrap());
        let forgotten = client.forgot.iter().rfind(|forgotten| forgotten.entity == entity);
        if forgotten.is_some_and(|forgotten| forgotten.spoken_of.is_none()) {
            return;
        }
        match client.receiver.place(entity, self.now) {
            Ok(placed) => {
                let off = placed.position.distance(exported);
                let most = if self.patient { subject.distance.max(0.25) } else { 1e-6 };
                let policy = sender.policy().name();
                assert!(off < most, "seed {} ({policy}): {entity} off by {off} m at host {host}", self.seed);
            }
            Err(PlaceError::Unknown(_)) => {
                assert_eq!(pair.relevance(), Relevance::OutOfScope, "seed {}: {entity} at host {host}", self.seed);
            }
            Err(error) => panic!("seed {}: {error} at host {host}", self.seed),
        }
    }
}

impl Client {
    /// Whether a datagram may be refused: it is of an earlier acquaintance, or speaks of what was forgotten just now.
    fn excuses(&self, meeting: u32, from: HostId, error: &ReceiverError, now: GlobalTime) -> bool {
        let heals = |f: &Forgotten| f.spoken_of.is_none_or(|spoken_of| now.since(spoken_of) < HEALS_WITHIN);
        let forgot = |entity: &EntityId| self.forgot.iter().any(|f| f.entity == *entity && heals(f));
        meeting != self.meetings[from.0 as usize]
            || matches!(error, ReceiverError::Datagram(DatagramError::NoBaseline(entity)) if forgot(entity))
    }
}

//! A player: a seat in the session, a craft of its own, and what it knows of the others.

use crate::frame::{Beam, Frame, Other, Own, Status};
use crate::own::{OwnCraft, filter};
use crate::shots::Shots;
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Instant, Lag, Placement};
use evenkeel_games::arena::{Field, OUT};
use evenkeel_games::words::{BEAM_SHOWN, GameKind, Hit, Rules, Score, Shot, Word, about};
use evenkeel_session::levels::{Level, Party};
use evenkeel_session::protocol::{MessageError, SERVER};
use evenkeel_session::seat::{Seat, SeatConfig, SeatError, SeatEvent, ToSend};
use std::collections::BTreeMap;

/// A player of the demonstration. Call [`step`](Self::step) about every 20 ms, [`frame`](Self::frame) whenever something is to be
/// drawn, and [`poll`](Self::poll) after everything.
pub struct Player {
    seat: Seat,
    name: String,
    connections: u32,
    rules: Rules,
    field: Field,
    own: Option<OwnCraft>,
    wanted: (i8, i8),
    /// Whose crafts there are.
    others: BTreeMap<EntityId, HostId>,
    names: BTreeMap<HostId, String>,
    /// Who was hit, and until when that one is out.
    out: BTreeMap<HostId, GlobalTime>,
    shots: Shots,
    scores: Vec<Score>,
    status: Status,
    why: String,
    told: u32,
}

impl Player {
    /// A player who wants to join a session. The secret must be random.
    pub fn new(session: &str, name: &str, secret: [u8; 16]) -> Result<Self, MessageError> {
        let config = SeatConfig { session: session.into(), secret, ..SeatConfig::named(name) };
        let rules = Rules::default();
        Ok(Self {
            seat: Seat::new(config)?,
            name: name.into(),
            connections: 0,
            rules,
            field: Field::new(rules.half_side.into()),
            own: None,
            wanted: (0, 0),
            others: BTreeMap::new(),
            names: BTreeMap::new(),
            out: BTreeMap::new(),
            shots: Shots::default(),
            scores: Vec::new(),
            status: Status::Connecting,
            why: String::new(),
            told: 0,
        })
    }

    /// There is a connection to the server, the first or another.
    pub fn connected(&mut self) -> Result<(), MessageError> {
        if self.connections > 0 {
            self.seat.reconnect()?;
        }
        self.connections += 1;
        Ok(())
    }

    /// The connection was lost.
    pub fn lost(&mut self, why: &str, now: Instant) {
        self.seat.handle_lost(why, now);
        self.listen(now);
    }

    /// A message arrived in order. After an error the server is not one of ours: connect anew, or give up.
    pub fn message(&mut self, bytes: &[u8], now: Instant) -> Result<(), SeatError> {
        let result = self.seat.handle_message(bytes, now);
        self.listen(now);
        result
    }

    /// A message arrived that waited for no other.
    pub fn unordered(&mut self, bytes: &[u8], now: Instant) -> Result<(), SeatError> {
        let result = self.seat.handle_unordered(bytes);
        self.listen(now);
        result
    }

    /// A datagram arrived. What cannot be used is left out.
    pub fn datagram(&mut self, bytes: &[u8], now: Instant) {
        self.seat.handle_datagram(bytes, now);
        self.listen(now);
    }

    /// The next thing to send, at once.
    pub fn poll(&mut self, now: Instant) -> Option<ToSend> {
        self.seat.poll_transmit(now)
    }

    /// When to [`poll`](Self::poll) again if nothing else happens before.
    pub fn timeout(&self) -> Option<Instant> {
        self.seat.poll_timeout()
    }

    /// What the driver wants from now on: -100 to 100 each.
    pub fn keys(&mut self, speed: i8, turn: i8) {
        self.wanted = (speed, turn);
    }

    /// Fires, if it can. Answers whether it did.
    pub fn fire(&mut self, now: Instant) -> bool {
        self.step(now);
        let Some(you) = self.seat.you().filter(|_| self.status == Status::Joined) else { return false };
        let Some(shot) = self.own.as_mut().and_then(OwnCraft::fire) else { return false };
        let bytes = Word::Shot(shot).emit();
        // The referee is the server's, and what is for everybody is passed on unread.
        let to_all = self.seat.send(Party::Everybody, Level::Quickest, bytes.clone(), now);
        let told = to_all.and_then(|()| self.seat.send(SERVER, Level::Quickest, bytes, now)).is_ok();
        if told {
            self.shots.add(you, shot, shot.at);
        }
        told
    }

    /// Says farewell: send what [`poll`](Self::poll) still has, and close.
    pub fn leave(&mut self) {
        let _ = self.seat.leave();
        self.stand(Status::Over, String::new());
    }

    /// Lets time pass for the player's own craft, and tells where it is.
    pub fn step(&mut self, now: Instant) {
        let Some(time) = self.seat.now(now).filter(|_| self.seat.is_ready()) else { return };
        if matches!(self.status, Status::Refused | Status::Over) {
            return;
        }
        if self.own.is_none() {
            self.enter(time, now);
        }
        if self.status == Status::Connecting && self.own.is_some() {
            self.stand(Status::Joined, String::new());
        }
        if let Some(own) = &mut self.own {
            own.advance(self.wanted, time);
            let (entity, pose) = (own.entity, own.pose(time));
            let _ = self.seat.observe(entity, pose, now);
        }
        let shown = self.seat.lag().map_or(time, |lag| lag.shown(time));
        self.shots.forget(shown);
        self.out.retain(|_, until| *until > shown);
    }

    /// Makes a craft. If that cannot be it is tried again with the next step.
    fn enter(&mut self, time: GlobalTime, now: Instant) {
        let Some(you) = self.seat.you() else { return };
        let made = self.seat.make(filter(&self.rules), about(self.rules.game), now);
        match made.map(|entity| OwnCraft::new(entity, &self.rules, you, time)) {
            Ok(Ok(own)) => self.own = Some(own),
            Ok(Err(error)) => self.stand(Status::Refused, error.to_string()),
            Err(error) => self.stand(self.status, error.to_string()),
        }
    }

    fn listen(&mut self, now: Instant) {
        // The page knows one server: the one it came from hears at once that it is not to be waited for.
        if self.seat.poll_move().is_some() {
            self.seat.stay("a page in a browser stays where it is", now);
        }
        while let Some(event) = self.seat.poll_event() {
            self.hear(event, now);
        }
    }

    fn hear(&mut self, event: SeatEvent, now: Instant) {
        match event {
            SeatEvent::Welcome { you, again } => {
                if !again {
                    self.forget();
                }
                self.call(you, self.name.clone());
                self.stand(Status::Connecting, "the session's time is being found".into());
            }
            SeatEvent::Refused(refusal) => {
                let status = if self.seat.is_refused() { Status::Refused } else { Status::Lost };
                self.stand(status, refusal.to_string());
            }
            SeatEvent::Lost { why } if !matches!(self.status, Status::Refused | Status::Over) => {
                self.stand(Status::Lost, why);
            }
            SeatEvent::Came(player) => self.call(player.host, player.name),
            SeatEvent::Left { host, .. } => {
                self.names.remove(&host);
                self.told = self.told.wrapping_add(1);
            }
            SeatEvent::Made(entity) => {
                self.others.insert(entity.entity, entity.owner);
            }
            SeatEvent::Gone { entity } => {
                self.others.remove(&entity);
                // It is made anew with the next step.
                self.own.take_if(|own| own.entity == entity);
            }
            SeatEvent::Message { from, bytes, .. } => {
                if let Some(word) = Word::parse(&bytes) {
                    self.take(from, word, now);
                }
            }
            SeatEvent::Ending { why } => self.stand(self.status, why),
            _ => {}
        }
    }

    /// Only the referee says who was hit, and what is played. Rules come with the welcome, before the time is known.
    fn take(&mut self, from: HostId, word: Word, now: Instant) {
        match (word, self.seat.now(now)) {
            (Word::Shot(shot), Some(time)) => self.shots.add(from, shot, time),
            (Word::Hit(hit), Some(time)) if from == SERVER => self.be_told(hit, time),
            (Word::Scores(scores), _) if from == SERVER => self.scores = scores,
            (Word::Rules(rules), _) if from == SERVER => self.play_by(rules, now),
            _ => {}
        }
    }

    fn be_told(&mut self, hit: Hit, time: GlobalTime) {
        self.shots.remove(hit.shooter, hit.shot);
        if Some(hit.target) != self.seat.you() {
            if self.others.values().any(|owner| *owner == hit.target) {
                self.out.insert(hit.target, time + OUT);
            }
        } else if let Some(own) = &mut self.own {
            own.craft.hit();
        }
    }

    fn play_by(&mut self, rules: Rules, now: Instant) {
        let before = std::mem::replace(&mut self.rules, rules);
        self.field = Field::new(rules.half_side.into());
        let thresholds = Rules { distance: rules.distance, degrees: rules.degrees, ..before };
        if thresholds != rules {
            // Another game, or another field: with another craft.
            if let Some(own) = self.own.take() {
                let _ = self.seat.unmake(own.entity, now);
            }
        } else if let Some(own) = &self.own {
            let _ = self.seat.configure(own.entity, filter(&rules));
        }
    }

    /// Nothing is as it was.
    fn forget(&mut self) {
        self.own = None;
        self.others.clear();
        self.names.clear();
        self.out.clear();
        self.scores.clear();
        self.shots = Shots::default();
    }

    fn stand(&mut self, status: Status, why: String) {
        if (self.status, &self.why) != (status, &why) {
            (self.status, self.why) = (status, why);
            self.told = self.told.wrapping_add(1);
        }
    }

    fn call(&mut self, host: HostId, name: String) {
        self.names.insert(host, name);
        self.told = self.told.wrapping_add(1);
    }

    /// How things stand, and why.
    pub fn status(&self) -> (Status, &str) {
        (self.status, &self.why)
    }

    /// Who is here, oneself included.
    pub fn names(&self) -> impl Iterator<Item = (HostId, &str)> {
        self.names.iter().map(|(host, name)| (*host, name.as_str()))
    }

    /// The player's seat.
    pub fn seat(&self) -> &Seat {
        &self.seat
    }

    /// Everything that is to be drawn now.
    pub fn frame(&mut self, now: Instant) -> Frame {
        self.step(now);
        let time = self.seat.now(now);
        let lag = self.seat.lag().cloned().unwrap_or_default();
        let clock = self.seat.clock();
        let path = self.seat.receiver().and_then(|receiver| receiver.path(SERVER));
        let mut frame = Frame {
            status: self.status,
            told: self.told,
            time,
            you: self.seat.you(),
            uncertainty: clock.uncertainty_at(now),
            delay: path.and_then(|path| path.delay()),
            round_trip: clock.rtt_min(),
            lag: time.map_or(Duration::ZERO, |time| lag.at(time)),
            own: time.and_then(|time| self.draw_own(&lag, time)),
            others: self.draw_others(now),
            shots: Vec::new(),
            beams: Vec::new(),
            scores: self.scores.clone(),
        };
        if let Some(time) = time {
            let shown = lag.shown(time);
            for (shooter, shot) in self.shots.iter() {
                self.draw_shot(*shooter, shot, shown, &mut frame);
            }
        }
        frame
    }

    fn draw_own(&self, lag: &Lag, time: GlobalTime) -> Option<Own> {
        let own = self.own.as_ref()?;
        let (state, at_once) = own.shown(lag, time);
        Some(Own {
            place: [state.position.x, state.position.y, state.attitude.heading()],
            alive: own.craft.state().is_some(),
            out: own.craft.out(),
            loaded: own.craft.loaded(),
            at_once,
        })
    }

    /// Those who are in the game, as far as anything is known of them.
    fn draw_others(&mut self, now: Instant) -> Vec<Other> {
        let Self { seat, others, out, .. } = self;
        let alive = others.iter().filter(|(_, host)| !out.contains_key(host));
        let placed = alive.filter_map(|(entity, host)| Some((*host, seat.place(*entity, now).ok()?)));
        let draw = |(host, placement): (HostId, Placement)| Other {
            host,
            place: [placement.position.x, placement.position.y, placement.attitude.heading()],
            age: placement.age,
            frozen: placement.frozen,
        };
        placed.map(draw).collect()
    }

    fn draw_shot(&self, shooter: HostId, shot: &Shot, shown: GlobalTime, frame: &mut Frame) {
        match self.rules.game {
            GameKind::Tanks => {
                let place = shot.place(&self.field, shown);
                frame.shots.extend(place.map(|place| ([place.x, place.y], shooter)));
            }
            GameKind::Ships if (Duration::ZERO..BEAM_SHOWN).contains(&shown.since(shot.at)) => {
                let (from, to) = shot.beam();
                frame.beams.push(Beam { ends: [from.x, from.y, to.x, to.y], shooter });
            }
            GameKind::Ships => {}
        }
    }
}

//! The loop that drives it all, fifty times a second.

use super::Shared;
use super::cast::{Cast, Player};
use super::craft::STEP;
use super::gauge::{Body, Gauge, Sight, own_time};
use super::house::{House, LEFT, RIGHT};
use super::link::Look;
use super::people::People;
use super::referee::{Referee, Verdict};
use super::roles::is_reserved;
use super::second::Clerk;
use crate::feed::{CraftInfo, Frame, Mark, Score, State, Text, ViewInfo};
use crate::settings::{Network, Settings};
use evenkeel::{Duration, EntityId, GlobalTime, HostId, Lag, LagChange};
use evenkeel_games::View;
use evenkeel_games::words::{self, Word};
use evenkeel_net::hub::HubEvent;
use evenkeel_net::levels::Level;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

/// What is further behind is left out.
const CATCH_UP: Duration = Duration::from_millis(400);
/// A change of lag begins when everybody has heard of it, and a little later.
const NOTICE: Duration = Duration::from_millis(100);
/// What people's networks are unless somebody says otherwise: their own.
const UNTOUCHED: Network = Network { delay_ms: 0.0, jitter_ms: 0.0, loss_percent: 0.0 };

/// Something to be done in between.
pub(super) enum Order {
    Restart(oneshot::Sender<()>),
    Stop,
}

/// See the [module](self).
pub(super) struct Show {
    shared: Arc<Shared>,
    house: House,
    seed: u64,
    settings: Settings,
    version: Option<u64>,
    resets: u64,
    cast: Cast,
    people: People,
    referee: Referee,
    gauge: Gauge,
    clerk: Clerk,
    lag: Lag,
    next_step: GlobalTime,
    /// What networks were made to be.
    networks: BTreeMap<String, Network>,
    scores: BTreeMap<u32, (u32, u32)>,
    generation: u64,
}

impl Show {
    pub(super) fn new(shared: Arc<Shared>, house: House, seed: u64) -> Self {
        let settings = shared.wanted().settings.clone();
        let lag = Lag::constant(settings.movement_lag()).unwrap_or_default();
        Self {
            next_step: house.now(),
            referee: Referee::new(settings.game),
            gauge: Gauge::new(settings.game, 0, 0),
            cast: Cast::new(seed),
            clerk: Clerk::new(),
            people: People::default(),
            version: None,
            resets: 0,
            networks: BTreeMap::new(),
            scores: BTreeMap::new(),
            generation: 0,
            shared,
            house,
            seed,
            settings,
            lag,
        }
    }

    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut ticks = tokio::time::interval(std::time::Duration::from_nanos(STEP.as_nanos().unsigned_abs()));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.tick(),
                order = orders.recv() => match order {
                    Some(Order::Restart(done)) => {
                        self.restart().await;
                        let _ = done.send(());
                    }
                    Some(Order::Stop) => return self.house.close().await,
                    None => return,
                },
            }
        }
    }

    async fn restart(&mut self) {
        if let Err(error) = self.house.reopen(&self.settings).await {
            tracing::error!(%error, "the server does not come back");
        }
        // What the old one was told, the new one is told again.
        self.networks.clear();
        self.referee = Referee::new(self.settings.game);
        self.lag = Lag::constant(self.settings.movement_lag()).unwrap_or_default();
        self.next_step = self.house.now();
        self.condition();
    }

    fn tick(&mut self) {
        let now = self.house.now();
        // Whoever has come or gone changes the settings too: a picture never belongs to another state than the one it says.
        self.follow_people(now);
        self.follow_settings(now);
        self.cast.connect(&self.house, &self.settings, now);
        let stepped = self.step(now);
        let entities = self.entities();
        let left = self.look(LEFT, &entities[LEFT], |_| true);
        if let Some(at) = stepped {
            self.act(&left, at);
        }
        let time = self.house.time;
        let shown = self.lag.shown(now);
        self.cast.players.iter_mut().for_each(|player| player.tell(&self.settings, time, shown));
        self.people.mirror(&self.house, &self.settings, now);
        self.judge();
        let right = self.settings.right.is_some();
        let right = right.then(|| self.look(RIGHT, &entities[RIGHT], |player| player.role.watches));
        self.measure(left, right);
        if self.clerk.is_due() {
            let views: Vec<_> = self.views().map(Player::hosts).collect();
            let second = self.clerk.second(&self.house, &mut self.gauge, &self.settings, &views);
            self.say(Text::Second(Box::new(second)));
        }
    }

    fn say(&self, text: Text) {
        // Perhaps nobody listens.
        let _ = self.shared.texts.send(Arc::new(text));
    }

    fn news(&self, text: String) {
        self.say(Text::News { text });
    }

    /// Does what somebody has asked for since the last time.
    fn follow_settings(&mut self, now: GlobalTime) {
        let (first, wanted) = {
            let wanted = self.shared.wanted();
            if self.version == Some(wanted.version) {
                return;
            }
            (self.version.is_none(), wanted.clone())
        };
        self.version = Some(wanted.version);
        let before = std::mem::replace(&mut self.settings, wanted.settings);
        let game = (!first).then_some(before.game);
        self.cast.follow(&self.settings, game);
        if !first {
            self.apply(&before, now);
        }
        self.condition();
        if first || self.resets != wanted.resets {
            self.resets = wanted.resets;
            self.begin_anew();
        }
        self.publish();
    }

    /// Tells sessions and crafts what has changed.
    fn apply(&mut self, before: &Settings, now: GlobalTime) {
        let settings = &self.settings;
        if settings.clock != before.clock {
            self.house.set_rule(settings);
        }
        if settings.lag.movement_ms != before.lag.movement_ms {
            let farthest = settings.players.values().map(|network| network.delay_ms).fold(0.0, f64::max);
            let begins = now + NOTICE + Duration::from_secs_f64(farthest / 1e3);
            let to = settings.movement_lag();
            let change = LagChange { to, begins, over: (to - self.lag.target()).abs() * 2 };
            if self.lag.change(change, now).is_ok() {
                self.house.set_lag(change);
            }
        }
        if settings.threshold != before.threshold {
            self.cast.configure(settings);
        }
        if settings.game != before.game {
            self.referee = Referee::new(settings.game);
            self.scores.clear();
        }
        if (settings.game, settings.threshold) != (before.game, before.threshold) {
            let rules = Word::Rules(self.rules()).emit();
            self.house.with(LEFT, |hub, now| hub.broadcast(Level::Ordered, &rules, now));
        }
    }

    /// What who joins must know.
    fn rules(&self) -> words::Rules {
        let (game, threshold) = (self.settings.game.into(), self.settings.threshold);
        let (distance, degrees) = (threshold.distance, threshold.degrees);
        words::Rules { game, seed: self.seed, distance, degrees, ..words::Rules::default() }
    }

    /// Makes networks what they are set to be.
    fn condition(&mut self) {
        let (house, players) = (&self.house, &self.settings.players);
        self.networks.retain(|name, _| {
            let stays = players.contains_key(name);
            if !stays {
                house.release(name);
            }
            stays
        });
        for (name, network) in &self.settings.players {
            let known = self.networks.get(name);
            if known != Some(network) && !(known.is_none() && *network == UNTOUCHED) {
                self.house.condition(name, network);
                self.networks.insert(name.clone(), *network);
            }
        }
    }

    /// Windows begin anew, and policies without debts from before.
    fn begin_anew(&mut self) {
        self.house.set_policy(LEFT, &self.settings.left);
        if let Some(right) = &self.settings.right {
            self.house.set_policy(RIGHT, right);
        }
        let (worlds, views) = (1 + usize::from(self.settings.right.is_some()), self.views().count());
        self.gauge = Gauge::new(self.settings.game, worlds, views);
    }

    /// Looks who has joined from outside.
    fn follow_people(&mut self, now: GlobalTime) {
        let before = self.people.names.clone();
        let is_out = |host| self.referee.is_out(host);
        if !self.people.follow(&self.house, &mut self.cast, &self.settings, is_out, now) {
            return;
        }
        let after = self.people.names.clone();
        after.iter().filter(|name| !before.contains(name)).for_each(|name| self.news(format!("{name} has joined")));
        before.iter().filter(|name| !after.contains(name)).for_each(|name| self.news(format!("{name} has left")));
        let mut wanted = self.shared.wanted();
        wanted.settings.players.retain(|name, _| is_reserved(name) || after.contains(name));
        for name in after {
            wanted.settings.players.entry(name).or_insert(UNTOUCHED);
        }
        wanted.version += 1;
    }

    /// Crafts go on. Answers when they did, if it was time.
    fn step(&mut self, now: GlobalTime) -> Option<GlobalTime> {
        if now.since(self.next_step) > CATCH_UP {
            self.next_step = now;
        }
        let mut stepped = None;
        while self.next_step <= now {
            let at = self.next_step;
            self.cast.players.iter_mut().for_each(|player| player.step(at));
            (self.next_step, stepped) = (at + STEP, Some(at));
        }
        if let Some(at) = stepped {
            self.cast.players.iter_mut().for_each(|player| player.listen(at));
        }
        stepped
    }

    /// The players who drive, in the order of their crafts.
    fn drivers(&self) -> impl Iterator<Item = &Player> {
        self.cast.players.iter().filter(|player| player.role.drives)
    }

    /// The players whose pictures are shown, in that order.
    fn views(&self) -> impl Iterator<Item = &Player> {
        self.cast.players.iter().filter(|player| player.role.watches)
    }

    /// All crafts by world: first the bots', then people's.
    fn entities(&self) -> [Vec<Option<EntityId>>; 2] {
        [LEFT, RIGHT].map(|world| {
            let bots = self.drivers().map(|player| player.entity(world));
            let people = self.people.here.values().map(|p| if world == LEFT { p.entity } else { p.mirror });
            bots.chain(people).collect()
        })
    }

    fn look(&self, world: usize, crafts: &[Option<EntityId>], who: impl Fn(&Player) -> bool) -> Vec<Option<Look>> {
        let look = |player: &Player| who(player).then(|| player.look(world, crafts, self.house.time)).flatten();
        self.cast.players.iter().map(look).collect()
    }

    /// Bots look and act.
    fn act(&mut self, looks: &[Option<Look>], at: GlobalTime) {
        let ids: Vec<u32> = self.bodies().iter().map(|body| body.id).collect();
        let own = own_time(self.settings.game, &self.lag, at);
        for (player, look) in self.cast.players.iter_mut().zip(looks).filter(|(player, _)| player.role.drives) {
            let seen = look.iter().flat_map(|look| ids.iter().zip(&look.seen));
            let shown: Vec<_> = seen.filter_map(|(id, seen)| Some((HostId(*id), seen.as_ref()?.state))).collect();
            let view = View { own: player.track.at(own), shown: &shown };
            if let Some(shot) = player.act(&view, at) {
                self.gauge.fired(player.id, shot);
            }
        }
    }

    fn bodies(&self) -> Vec<Body<'_>> {
        let bots = self.drivers().map(|p| Body { id: p.id, track: &p.track, measured: true });
        let people = self.people.here.values().map(|p| Body { id: p.id, track: &p.track, measured: false });
        bots.chain(people).collect()
    }

    /// Whose craft has which number.
    fn id_of(&self, host: HostId) -> Option<u32> {
        let bot = self.drivers().find(|player| player.host() == Some(host)).map(|player| player.id);
        bot.or_else(|| self.people.here.get(&host).map(|person| person.id))
    }

    fn name_of(&self, id: u32) -> Option<&str> {
        let bot = self.drivers().find(|player| player.id == id).map(|player| player.role.name.as_str());
        bot.or_else(|| self.people.here.values().find(|person| person.id == id).map(|person| person.name.as_str()))
    }

    /// Hears of shots, and decides about them.
    fn judge(&mut self) {
        let (rules, until) = (Word::Rules(self.rules()).emit(), self.house.now());
        let Self { house, referee, lag, settings, .. } = self;
        let judged = house.with(LEFT, |hub, instant| {
            let mut heard = Vec::new();
            while let Some(event) = hub.poll_event() {
                match event {
                    HubEvent::Came { host, .. } => drop(hub.send(host, Level::Ordered, rules.clone(), instant)),
                    HubEvent::Message { from, bytes, .. } => {
                        if let Some(Word::Shot(shot)) = Word::parse(&bytes) {
                            heard.extend(referee.hear(hub, from, shot, until).map(|shot| (from, shot)));
                        }
                    }
                    _ => {}
                }
            }
            let present: Vec<HostId> = hub.players().map(|(host, _)| host).collect();
            referee.forget_but(&present);
            (heard, referee.judge(hub, instant, until - settings.verdict_lag(), lag))
        });
        house.with(RIGHT, |hub, _| while hub.poll_event().is_some() {});
        let Some((heard, verdicts)) = judged else { return };
        for (from, shot) in heard {
            if let Some(person) = self.people.here.get(&from) {
                self.gauge.fired(person.id, shot);
            }
        }
        verdicts.iter().for_each(|verdict| self.enter(verdict));
        if verdicts.iter().any(|verdict| verdict.target.is_some()) {
            self.tell_scores();
        }
    }

    /// Enters a verdict in the books.
    fn enter(&mut self, verdict: &Verdict) {
        let Some(shooter) = self.id_of(verdict.shooter) else { return };
        let target = verdict.target.and_then(|host| self.id_of(host));
        self.gauge.decided(shooter, verdict.number, target);
        if let Some(target) = target {
            self.scores.entry(shooter).or_default().0 += 1;
            self.scores.entry(target).or_default().1 += 1;
            if let (Some(winner), Some(loser)) = (self.name_of(shooter), self.name_of(target)) {
                self.news(format!("{winner} hit {loser}"));
            }
        }
    }

    fn tell_scores(&mut self) {
        let hosts = self.drivers().filter_map(|p| Some((p.host()?, p.id)));
        let hosts = hosts.chain(self.people.here.iter().map(|(host, person)| (*host, person.id)));
        let score = |(host, id): (HostId, u32)| {
            let (hits, deaths) = self.scores.get(&id).copied().unwrap_or_default();
            words::Score { host, hits, deaths }
        };
        let scores = Word::Scores(hosts.map(score).collect()).emit();
        self.house.with(LEFT, |hub, now| hub.broadcast(Level::Unordered, &scores, now));
        let state = State { scores: self.scores(), ..(**self.shared.state.borrow()).clone() };
        self.tell_state(state);
    }

    fn scores(&self) -> Vec<Score> {
        let score = |body: &Body<'_>| {
            let (hits, deaths) = self.scores.get(&body.id).copied().unwrap_or_default();
            Score { id: body.id, hits, deaths }
        };
        self.bodies().iter().map(score).collect()
    }

    /// Compares, and publishes a picture.
    fn measure(&mut self, left: Vec<Option<Look>>, right: Option<Vec<Option<Look>>>) {
        let now = self.house.now();
        let own: BTreeMap<u32, usize> = self.drivers().enumerate().map(|(index, player)| (player.id, index)).collect();
        let sights = |looks: Vec<Option<Look>>| -> Vec<Sight> {
            let views = self.cast.players.iter().zip(looks).filter(|(player, _)| player.role.watches);
            views.map(|(player, look)| Sight { own: own.get(&player.id).copied(), look }).collect()
        };
        let sights: Vec<Vec<Sight>> = [Some(left), right].into_iter().flatten().map(sights).collect();
        let mut gauge = std::mem::replace(&mut self.gauge, Gauge::new(self.settings.game, 0, 0));
        gauge.measure(&self.bodies(), &sights, &self.lag, now);
        self.gauge = gauge;
        self.shared.frames.send_replace(Arc::new(self.picture(&sights, now)));
    }

    fn picture(&self, sights: &[Vec<Sight>], now: GlobalTime) -> Frame {
        let (bodies, own) = (self.bodies(), own_time(self.settings.game, &self.lag, now));
        let real =
            |body: &Body<'_>, at: GlobalTime, flags: u8| body.track.at(at).map(|s| mark(&s, flags)).unwrap_or_default();
        let view = |sight: &Sight| -> Vec<Mark> {
            let shown = |(index, body): (usize, &Body<'_>)| match &sight.look {
                _ if sight.own == Some(index) => real(body, own, 1 | 4),
                Some(look) => look
                    .seen
                    .get(index)
                    .copied()
                    .flatten()
                    .map_or_else(Mark::default, |seen| mark(&seen.state, if seen.frozen { 1 | 2 } else { 1 })),
                None => Mark::default(),
            };
            bodies.iter().enumerate().map(shown).collect()
        };
        let shooter = |id: u32| bodies.iter().position(|body| body.id == id).and_then(|index| u8::try_from(index).ok());
        Frame {
            generation: self.generation,
            time_s: self.clerk.time_s(),
            truth: bodies.iter().map(|body| real(body, self.lag.shown(now), 1)).collect(),
            shown: sights.iter().map(|world| world.iter().map(view).collect()).collect(),
            shots: self.gauge.shots(now).map(|(id, place)| (place.x, place.y, shooter(id))).collect(),
        }
    }

    /// Tells everybody what the demo is made of.
    fn publish(&mut self) {
        self.generation += 1;
        let bots = self.drivers().map(|p| (p.id, p.role.name.clone(), p.colour, false));
        let people = self.people.here.values().map(|p| (p.id, p.name.clone(), (p.id % 16) as u8, true));
        let crafts = bots.chain(people).map(|(id, name, colour, human)| CraftInfo { id, name, colour, human });
        let crafts: Vec<CraftInfo> = crafts.collect();
        self.scores.retain(|id, _| crafts.iter().any(|craft| craft.id == *id));
        let delay = |name: &String| self.settings.players.get(name).map_or(0.0, |network| network.delay_ms);
        let views = self.views().map(|p| ViewInfo { name: p.role.name.clone(), delay_ms: delay(&p.role.name) });
        let state = State {
            generation: self.generation,
            settings: self.settings.clone(),
            views: views.collect(),
            scores: self.scores(),
            crafts,
            recording: false,
            opened: None,
        };
        self.tell_state(state);
    }

    fn tell_state(&self, state: State) {
        self.shared.state.send_replace(Arc::new(state.clone()));
        self.say(Text::State(Box::new(state)));
    }
}

fn mark(state: &evenkeel::State, flags: u8) -> Mark {
    Mark { x: state.position.x, y: state.position.y, heading: state.attitude.heading(), flags }
}

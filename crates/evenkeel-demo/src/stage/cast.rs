//! The bots and receivers: real clients, one in each session.

use super::craft::{Piloted, filter};
use super::house::{House, LEFT, RIGHT, Time};
use super::link::{Link, Look};
use super::roles::{Role, roles};
use super::truth::Track;
use crate::settings::{GameName, Settings};
use evenkeel::{Duration, EntityId, GlobalTime, HostId};
use evenkeel_games::words::{Shot, Word, about};

/// Who could not come in tries again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// One of the cast.
pub(super) struct Player {
    pub(super) role: Role,
    /// Its craft's number.
    pub(super) id: u32,
    pub(super) colour: u8,
    craft: Option<Piloted>,
    pub(super) track: Track,
    links: [Option<Link>; 2],
    retry: GlobalTime,
}

/// All of them.
pub(super) struct Cast {
    pub(super) players: Vec<Player>,
    seed: u64,
    last_id: u32,
}

impl Player {
    /// Its craft in a session.
    pub(super) fn entity(&self, world: usize) -> Option<EntityId> {
        self.links.get(world)?.as_ref()?.entity()
    }

    pub(super) fn host(&self) -> Option<HostId> {
        self.links[LEFT].as_ref()?.host()
    }

    /// Its numbers in the sessions.
    pub(super) fn hosts(&self) -> [Option<HostId>; 2] {
        [LEFT, RIGHT].map(|world| self.links[world].as_ref()?.host())
    }

    /// What it shows in a session.
    pub(super) fn look(&self, world: usize, crafts: &[Option<EntityId>], time: Time) -> Option<Look> {
        Some(self.links.get(world)?.as_ref()?.look(crafts, time))
    }

    /// Connects where it should be, and leaves where it should not.
    fn connect(&mut self, house: &House, right: bool, now: GlobalTime) {
        for (world, link) in self.links.iter_mut().enumerate() {
            if world == RIGHT && !right {
                *link = None;
                continue;
            }
            if link.as_ref().is_some_and(Link::is_over) {
                (*link, self.retry) = (None, now + TRY_AGAIN);
            }
            if link.is_none() && now >= self.retry {
                *link = Link::start(house, world, &self.role.name);
                self.retry = if link.is_none() { now + TRY_AGAIN } else { self.retry };
            }
        }
    }

    /// The craft goes on up to a time, in steps.
    pub(super) fn step(&mut self, at: GlobalTime) {
        let Some(craft) = &mut self.craft else { return };
        craft.step();
        self.track.note(at, craft.motion());
    }

    /// Looks and acts. Answers what it fires.
    pub(super) fn act(&mut self, view: &evenkeel_games::View<'_>, at: GlobalTime) -> Option<Shot> {
        let craft = self.craft.as_mut()?;
        let shot = craft.act(view, at);
        self.track.note(at, craft.motion());
        let shot = shot?;
        if let Some(link) = &self.links[LEFT] {
            link.announce(&Word::Shot(shot).emit());
        }
        Some(shot)
    }

    /// Tells both sessions where the craft is. By now what everybody is to see is where it was at `shown`.
    pub(super) fn tell(&mut self, settings: &Settings, time: Time, shown: GlobalTime) {
        let config = filter(settings.game, &settings.threshold);
        for link in self.links.iter_mut().flatten() {
            link.tell(&self.track, config, &about(settings.game.into()), time, shown);
        }
    }

    /// Hears what the server said: whether its craft was hit.
    pub(super) fn listen(&mut self, at: GlobalTime) {
        let host = self.host();
        for link in self.links.iter().flatten() {
            for bytes in link.heard() {
                let hit = matches!(Word::parse(&bytes), Some(Word::Hit(hit)) if Some(hit.target) == host);
                if let (true, Some(craft)) = (hit, &mut self.craft) {
                    craft.hit();
                    self.track.note(at, craft.motion());
                }
            }
        }
    }
}

impl Cast {
    pub(super) fn new(seed: u64) -> Self {
        Self { players: Vec::new(), seed, last_id: 0 }
    }

    /// Who is needed comes, who is not leaves, and the others do not notice.
    pub(super) fn follow(&mut self, settings: &Settings, game: Option<GameName>) {
        let roles = roles(settings);
        let mut known: Vec<Option<Player>> = self.players.drain(..).map(Some).collect();
        for (place, role) in roles.into_iter().enumerate() {
            let found = known.iter_mut().find(|player| player.as_ref().is_some_and(|p| p.role.name == role.name));
            let player = found.and_then(Option::take);
            let mut player = player.unwrap_or_else(|| self.newcomer(role.clone(), place));
            player.role = role;
            self.seat(&mut player, settings.game, game != Some(settings.game));
            self.players.push(player);
        }
    }

    fn newcomer(&mut self, role: Role, place: usize) -> Player {
        let (links, retry) = ([None, None], GlobalTime::MIN);
        Player {
            role,
            id: self.next_id(),
            colour: (place % 16) as u8,
            craft: None,
            track: Track::default(),
            links,
            retry,
        }
    }

    /// A number that no craft has had.
    pub(super) fn next_id(&mut self) -> u32 {
        self.last_id = self.last_id.wrapping_add(1);
        self.last_id
    }

    /// Gives a player the craft that it should have.
    fn seat(&mut self, player: &mut Player, game: GameName, anew: bool) {
        let has = player.craft.is_some();
        if has && (anew || !player.role.drives) {
            player.links.iter_mut().flatten().for_each(Link::unmake);
            (player.craft, player.track) = (None, Track::default());
        }
        if player.role.drives && player.craft.is_none() {
            player.craft = Piloted::launch(game, self.seed, player.id).ok();
        }
    }

    pub(super) fn connect(&mut self, house: &House, settings: &Settings, now: GlobalTime) {
        self.players.iter_mut().for_each(|player| player.connect(house, settings.right.is_some(), now));
    }

    /// Filters all crafts in another way.
    pub(super) fn configure(&self, settings: &Settings) {
        let config = filter(settings.game, &settings.threshold);
        self.players.iter().flat_map(|player| player.links.iter().flatten()).for_each(|link| link.configure(config));
    }
}

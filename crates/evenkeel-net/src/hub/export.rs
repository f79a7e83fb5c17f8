//! A session written down, to go on at another server.

use super::moving::{GOOD_FOR, MoveError};
use super::{Hub, HubConfig, Pass};
use crate::levels::{LevelError, Levels, LevelsState};
use crate::protocol::{
    self, ENTITIES_PER_HOST, Entity, MAX_ABOUT, MAX_NAME, Model, SERVER, Tags, decode_within, encode_within,
};
use crate::token::{Rights, TokenId};
use evenkeel::{ConfigError, Duration, EntityId, GlobalTime, Handover, HostId, Instant, Motion, Relevance, Threshold};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// An export is no longer, in bytes.
pub const MAX_EXPORT: usize = 64 * 1024 * 1024;
/// What an export begins with: what it is, and the version of the rest.
const BEGIN: [u8; 5] = *b"EKMV\x02";
/// Session time goes on by no more than this between export and import, whatever wall clocks say.
const LONGEST_WAY: Duration = Duration::from_secs(600);
/// Session time is within this of zero.
const LONGEST_TIME: i64 = i64::MAX / 4;

/// Why nothing can be made of an export.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImportError {
    /// It is not one, or of another version, or not all of it.
    Malformed,
    /// It is one that no session writes: what is wrong with it.
    Impossible(&'static str),
    /// A player's messages are such as no session writes.
    Level(LevelError),
    /// It has more players than the session here may have.
    TooManyPlayers,
    /// The session here is set up for peers.
    Model,
    /// The session here is set up wrongly.
    Config(ConfigError),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(f, "this is no export of a session, or of another version, or not all of it"),
            Self::Impossible(what) => write!(f, "the export cannot be used: {what}"),
            Self::Level(error) => write!(f, "the export cannot be used: {error}"),
            Self::TooManyPlayers => write!(f, "the export has more players than may come: raise max_players"),
            Self::Model => write!(f, "only a session of clients and a server can be moved, not one with peers"),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ImportError {}

/// All that another server must know.
#[derive(Serialize, Deserialize)]
struct State {
    session: String,
    tags: Tags,
    /// The session's time, and that since 1970.
    time: GlobalTime,
    since_1970: Duration,
    agreement: Vec<u8>,
    last_host: u32,
    made: u32,
    members: Vec<MemberState>,
    entities: Vec<(Entity, Option<(GlobalTime, Motion)>)>,
    /// How much what matters to whom, where it is not as usual; nothing for what may not be seen. The server stands for everybody else.
    judged: Vec<(EntityId, HostId, Option<f32>)>,
}

#[derive(Serialize, Deserialize)]
struct MemberState {
    host: HostId,
    name: String,
    secret: u64,
    max_entities: u32,
    rights: u8,
    token: Option<[u8; 16]>,
    levels: LevelsState,
}

impl Hub {
    /// Writes the session down for another server to [import](Self::import), and stops deciding anything here: see
    /// [`move_to`](Self::move_to), which must follow within half a minute, or everything goes on here. An error changes nothing.
    ///
    /// **It holds secrets**: whoever has it can take every player's place. Carry it as you would carry a private key, and do not keep it. What
    /// [`poll_event`](Self::poll_event) has told, and what the application itself knows, is not in it.
    pub fn export(&mut self, since_1970: Duration, now: Instant) -> Result<Vec<u8>, MoveError> {
        self.may_move()?;
        let time = self.now(now);
        let member = |(host, member): (&HostId, &super::Member)| MemberState {
            host: *host,
            name: member.name.clone(),
            secret: member.secret,
            max_entities: member.pass.max_entities,
            rights: member.pass.rights.bits(),
            token: member.pass.holder.map(|holder| holder.token().0),
            levels: member.levels.state(),
        };
        let judged = |(&(entity, host), relevance): (&(EntityId, HostId), &Relevance)| match relevance {
            Relevance::Weight(weight) => (entity, host, Some(*weight)),
            Relevance::OutOfScope => (entity, host, None),
        };
        let mut judged: Vec<_> = self.judged.iter().map(judged).collect();
        judged.sort_by_key(|(entity, host, _)| (*entity, *host));
        let state = State {
            session: self.config.session.clone(),
            tags: self.config.tags.clone(),
            time,
            since_1970,
            agreement: protocol::encode_agreement(&self.sender.agreement()),
            last_host: self.last_host,
            made: self.made,
            members: self.members.iter().map(member).collect(),
            entities: self.entities.values().map(|made| (made.clone(), self.newest(made))).collect(),
            judged,
        };
        let body = encode_within(&state, MAX_EXPORT - BEGIN.len()).map_err(|_| MoveError::TooLarge)?;
        self.freeze(now);
        Ok([&BEGIN[..], &body].concat())
    }

    /// The last that is known of an entity's movement.
    fn newest(&self, made: &Entity) -> Option<(GlobalTime, Motion)> {
        let ledger = self.sender.ledger();
        let passed_on = || ledger.newest(ledger.entity(made.entity)?).map(|vector| (vector.generated, vector.motion));
        self.receiver.newest(made.entity).filter(|_| made.owner != SERVER).or_else(passed_on)
    }

    /// Goes on with a session that another server has [exported](Self::export). Name, tags, format, placing and time are the
    /// session's; all else is as configured, and had better be as it was there. Its players have places here, which are kept for
    /// [`rejoin_within`](HubConfig::rejoin_within) and half a minute.
    ///
    /// What the server itself owns has the usual thresholds: [`configure`](Self::configure) it.
    pub fn import(
        mut config: HubConfig,
        bytes: &[u8],
        since_1970: Duration,
        now: Instant,
    ) -> Result<Self, ImportError> {
        let state = State::parse(bytes)?;
        state.check()?;
        if config.model != Model::ClientServer {
            return Err(ImportError::Model);
        }
        if state.members.len() > config.max_players {
            return Err(ImportError::TooManyPlayers);
        }
        let on_the_way = (since_1970 - state.since_1970).clamp(Duration::ZERO, LONGEST_WAY);
        let time = state.time + on_the_way;
        config.origin = Some(time.since(GlobalTime::from_nanos(now.as_nanos())));
        let agreement = protocol::decode_agreement(&state.agreement);
        let agreement = agreement.map_err(|error| ImportError::Config(ConfigError::Format(error)))?;
        (config.format, config.placing) = (agreement.format, agreement.placing);
        (config.session, config.tags) = (state.session, state.tags);
        let mut hub = Self::new(config).map_err(ImportError::Config)?;
        hub.info().check().map_err(|_| ImportError::Impossible("its name or its tags"))?;
        (hub.last_host, hub.made) = (state.last_host, state.made);
        let seats: Vec<(HostId, Option<TokenId>)> =
            state.members.iter().map(|member| (member.host, member.token.map(TokenId))).collect();
        state.members.into_iter().try_for_each(|member| hub.keep_place(member, now))?;
        state.entities.into_iter().try_for_each(|(made, motion)| hub.keep_entity(made, motion, now))?;
        hub.judged.extend(
            state.judged.into_iter().map(|(entity, host, weight)| {
                ((entity, host), weight.map_or(Relevance::OutOfScope, Relevance::Weight))
            }),
        );
        seats.into_iter().for_each(|(host, token)| hub.resume(host, token, now));
        Ok(hub)
    }

    /// A player has a place here, and is waited for.
    fn keep_place(&mut self, state: MemberState, now: Instant) -> Result<(), ImportError> {
        let rights = Rights::from_bits(state.rights).ok_or(ImportError::Impossible("a player's rights"))?;
        let pass = Pass { max_entities: state.max_entities, rights, holder: None };
        let levels = Levels::restore(self.level_limits(), state.levels, now).map_err(ImportError::Level)?;
        let time = self.now(now);
        let mut member = self.member(state.name, state.secret, pass, levels, now);
        // It says again what the server before did not take in any more.
        member.let_repeat(true, now);
        self.members.insert(state.host, member);
        self.lost.insert(state.host, now + GOOD_FOR);
        self.receiver
            .add_sender(state.host, self.receiver.agreement(&self.config.format), time)
            .map_err(|_| ImportError::Impossible("it has too many players"))
    }

    /// An entity goes on as it was until its owner speaks.
    fn keep_entity(
        &mut self,
        made: Entity,
        motion: Option<(GlobalTime, Motion)>,
        now: Instant,
    ) -> Result<(), ImportError> {
        let (entity, time) = (made.entity, self.now(now));
        let added = self.sender.add_entity(entity, Threshold::default(), time);
        added.map_err(|_| ImportError::Impossible("it has too many entities"))?;
        let _ = self.sender.begin_epoch(entity, made.epoch);
        if made.owner != SERVER {
            self.receiver.grant(entity, made.owner, made.epoch);
            let _ = self.receiver.await_owner(&Handover { entity, epoch: made.epoch, motion }, made.owner, time);
        }
        if let Some((generated, motion)) = motion {
            let _ = self.sender.relay(entity, &motion, generated, time);
        }
        self.entities.insert(entity, made);
        Ok(())
    }

    /// Asks the gate about a player who has come from another server.
    fn resume(&mut self, host: HostId, token: Option<TokenId>, now: Instant) {
        let Some(pass) = self.members.get(&host).map(|member| member.pass) else { return };
        match (self.config.gate.resume(pass, token), self.members.get_mut(&host)) {
            (Some(pass), Some(member)) => member.pass = pass,
            _ => self.leave(host, "it is not let in here", now),
        }
    }
}

impl State {
    fn parse(bytes: &[u8]) -> Result<Self, ImportError> {
        let body = bytes.strip_prefix(&BEGIN).ok_or(ImportError::Malformed)?;
        decode_within(body, MAX_EXPORT - BEGIN.len()).map_err(|_| ImportError::Malformed)
    }

    /// Whether a session could have written it.
    fn check(&self) -> Result<(), ImportError> {
        let hosts: BTreeSet<HostId> = self.members.iter().map(|member| member.host).collect();
        let entities: BTreeSet<EntityId> = self.entities.iter().map(|(made, _)| made.entity).collect();
        let named = |member: &MemberState| (1..=MAX_NAME).contains(&member.name.len());
        let numbered = |host: &HostId| (1..=65_535).contains(&host.0);
        let owned = |made: &Entity| made.owner == SERVER || hosts.contains(&made.owner);
        let real = |motion: &Option<(GlobalTime, Motion)>| motion.as_ref().is_none_or(|(_, motion)| motion.is_valid());
        let viewer = |host: &HostId| *host == SERVER || hosts.contains(host);
        let sane = |weight: Option<f32>| weight.is_none_or(|weight| weight.is_finite() && weight >= 0.0);
        let rules = [
            (hosts.len() == self.members.len() && hosts.iter().all(numbered), "its players' numbers"),
            (self.members.iter().all(named), "its players' names"),
            (entities.len() == self.entities.len(), "an entity is there twice"),
            (self.entities.iter().all(|(made, _)| owned(made)), "an entity has no owner"),
            (self.entities.iter().all(|(made, _)| made.about.len() <= MAX_ABOUT), "what is said about an entity"),
            (self.entities.iter().all(|(_, motion)| real(motion)), "an entity moves in no way there is"),
            (
                self.judged
                    .iter()
                    .all(|(entity, host, weight)| entities.contains(entity) && viewer(host) && sane(*weight)),
                "who may see what",
            ),
            (self.last_host <= 65_535 && self.made <= ENTITIES_PER_HOST, "its counts"),
            (self.time.as_nanos().unsigned_abs() <= LONGEST_TIME.unsigned_abs(), "its time"),
        ];
        rules.into_iter().find(|(kept, _)| !kept).map_or(Ok(()), |(_, what)| Err(ImportError::Impossible(what)))
    }
}

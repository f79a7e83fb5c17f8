//! What there is once the server has said welcome: one's own movement out, everybody else's in.

use super::SeatConfig;
use crate::protocol::{self, Entity, Model, SERVER, Welcome};
use evenkeel::policy::by_name;
use evenkeel::wire::{Agreement, Difference, Format};
use evenkeel::{
    Budget, ClockRule, EntityConfig, EntityId, GlobalTime, Handover, HostId, LagChange, Placing, Pose, Receiver,
    ReceiverConfig, Sender, SenderConfig, SenderError, SenderEvent,
};
use std::collections::BTreeMap;

/// Senders and receiver of one session. There are two senders because the server is to hear everything at once, and other
/// players what the session's policy grants them.
pub(super) struct Inside {
    pub(super) you: HostId,
    pub(super) secret: u64,
    pub(super) model: Model,
    pub(super) format: Format,
    pub(super) to_server: Option<Sender>,
    pub(super) to_peers: Option<Sender>,
    pub(super) receiver: Receiver,
    /// Everything there is, one's own included, as the server said.
    pub(super) registry: BTreeMap<EntityId, (HostId, u32)>,
}

impl Inside {
    /// Makes it all as the welcome has it, or says what is wrong with that.
    pub(super) fn furnish(welcome: &Welcome, config: &SeatConfig, now: GlobalTime) -> Result<Self, String> {
        let agreement = protocol::decode_agreement(&welcome.agreement).map_err(|error| error.to_string())?;
        let (model, Agreement { format, placing, .. }) = (welcome.model, agreement);
        let terms = Terms { format, config, now };
        let to_server = model.has_server().then(|| terms.to_server()).transpose()?;
        let to_peers = model.has_peers().then(|| terms.to_peers(placing, &welcome.peers_policy)).transpose()?;
        let receiver = terms.receiver(&agreement, model)?;
        let (you, secret) = (welcome.you, welcome.secret);
        Ok(Self { you, secret, model, format, to_server, to_peers, receiver, registry: BTreeMap::new() })
    }

    fn senders(&mut self) -> impl Iterator<Item = &mut Sender> {
        self.to_server.iter_mut().chain(&mut self.to_peers)
    }

    /// The next thing that either sender has to tell.
    pub(super) fn poll_sender_event(&mut self) -> Option<SenderEvent> {
        self.senders().find_map(Sender::poll_event)
    }

    pub(super) fn add_entity(
        &mut self,
        entity: EntityId,
        config: EntityConfig,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        self.senders().try_for_each(|sender| sender.add_entity(entity, config, now))
    }

    pub(super) fn configure(&mut self, entity: EntityId, config: EntityConfig) -> Result<(), SenderError> {
        self.senders().try_for_each(|sender| sender.configure_entity(entity, config))
    }

    pub(super) fn observe(&mut self, entity: EntityId, pose: Pose, now: GlobalTime) -> Result<(), SenderError> {
        self.senders().try_for_each(|sender| sender.observe(entity, pose, now).map(|_| ()))
    }

    pub(super) fn remove_entity(&mut self, entity: EntityId, now: GlobalTime) -> Result<(), SenderError> {
        self.senders().try_for_each(|sender| sender.remove_entity(entity, now))
    }

    /// One's own entity is somebody else's: it is shown as it was until that one speaks.
    pub(super) fn release(&mut self, entity: EntityId, via: HostId, now: GlobalTime) -> Result<(), SenderError> {
        let mut handover = None;
        for sender in self.senders() {
            handover = Some(sender.release_entity(entity, now)?);
        }
        if let Some(handover) = handover {
            self.receiver.grant(entity, via, handover.epoch);
            // Whoever is not known as a sender shows up as one later; the entity then appears with its first vector.
            let _ = self.receiver.await_owner(&handover, via, now);
        }
        Ok(())
    }

    /// Somebody else's entity is one's own from now on.
    pub(super) fn adopt(
        &mut self,
        entity: EntityId,
        epoch: u32,
        config: EntityConfig,
        now: GlobalTime,
    ) -> Result<(), SenderError> {
        let handover = Handover { entity, epoch, motion: self.receiver.newest(entity) };
        self.senders().try_for_each(|sender| sender.adopt_entity(&handover, config, now))?;
        self.receiver.forget(&handover);
        Ok(())
    }

    /// The server says that there is an entity, and whose. `via` is who tells about it: its owner or the server.
    pub(super) fn register(&mut self, entity: &Entity, via: HostId) {
        self.registry.insert(entity.entity, (entity.owner, entity.epoch));
        if self.model.has_peers() && entity.owner != self.you {
            self.receiver.grant(entity.entity, via, entity.epoch);
        }
    }

    /// The server says that an entity is no more. What it tells about itself, it takes leave of, and that is shown with lag; what
    /// nobody takes leave of any more goes at once.
    pub(super) fn unregister(&mut self, entity: EntityId, at_once: bool, now: Option<GlobalTime>) {
        self.registry.remove(&entity);
        if at_once {
            self.receiver.discard(entity);
        } else if let Some(now) = now.filter(|_| self.model.has_peers()) {
            // Without a grant the farewell is not believed if this overtook it.
            let _ = self.receiver.retire(entity, now);
        }
        self.receiver.revoke(entity);
    }

    /// A player has left: what it said is forgotten with it.
    pub(super) fn forget_peer(&mut self, host: HostId) {
        self.remove_peer(host);
        let _ = self.receiver.remove_sender(host);
    }

    /// Another way leads to what a player owns.
    pub(super) fn reroute(&mut self, owner: HostId, via: HostId) {
        let owned = self.registry.iter().filter(|(_, (other, _))| *other == owner);
        for (entity, (_, epoch)) in owned {
            self.receiver.grant(*entity, via, *epoch);
        }
    }

    /// A player can be told things, and can tell them, without the server.
    pub(super) fn add_peer(&mut self, host: HostId, now: GlobalTime) {
        if let Some(sender) = &mut self.to_peers {
            // Whoever is known already is told everything anew.
            let _ = sender.remove_receiver(host);
            let _ = sender.add_receiver(host, now);
        }
        let _ = self.receiver.add_sender(host, self.receiver.agreement(&self.format), now);
    }

    pub(super) fn remove_peer(&mut self, host: HostId) {
        if let Some(sender) = &mut self.to_peers {
            let _ = sender.remove_receiver(host);
        }
    }

    /// Everything is shown later, or sooner, from when the change begins.
    pub(super) fn set_lag(&mut self, change: LagChange, now: GlobalTime) {
        // The server checked it, and a late change begins now.
        let _ = self.receiver.set_lag(change, now);
        let _ = self.to_peers.as_mut().map(|sender| sender.set_lag(change, now));
    }

    /// Everything that arrives from now on is extrapolated by another rule.
    pub(super) fn set_rule(&mut self, rule: ClockRule, now: GlobalTime) {
        self.receiver.set_rule(rule);
        let _ = self.to_peers.as_mut().map(|sender| sender.set_rule(rule, now));
    }

    /// In what the server's agreement differs from the one so far, but for what may change.
    pub(super) fn difference(&self, theirs: &Agreement) -> Option<Difference> {
        self.receiver.agreement(&self.format).fixed_difference(theirs)
    }

    /// The server as if it were new: it is told everything from the beginning, and may have changed lag and rule meanwhile.
    pub(super) fn begin_anew(&mut self, agreement: &Agreement, now: GlobalTime) -> Result<(), SenderError> {
        let (before, lag) = (self.receiver.lag().target(), agreement.placing.lag);
        if before != lag {
            self.set_lag(LagChange::usual(before, lag, now), now);
        }
        self.set_rule(agreement.placing.rule, now);
        match &mut self.to_server {
            Some(sender) => {
                let _ = sender.remove_receiver(SERVER);
                sender.add_receiver(SERVER, now)
            }
            None => Ok(()),
        }
    }
}

/// What senders and receiver have in common.
struct Terms<'a> {
    format: Format,
    config: &'a SeatConfig,
    now: GlobalTime,
}

impl Terms<'_> {
    fn sender(&self) -> SenderConfig {
        let SeatConfig { max_datagram, secret, .. } = *self.config;
        SenderConfig { format: self.format, max_datagram, secret, ..SenderConfig::default() }
    }

    /// The server shows nothing: it passes on, at once.
    fn to_server(&self) -> Result<Sender, String> {
        let mut sender = Sender::new(self.sender()).map_err(|error| error.to_string())?;
        sender.add_receiver(SERVER, self.now).map_err(|error| error.to_string())?;
        Ok(sender)
    }

    fn to_peers(&self, placing: Placing, (name, budget): &(String, String)) -> Result<Sender, String> {
        let budget = match budget.as_str() {
            "" => Budget::Unlimited,
            text => text.parse().map_err(|error: evenkeel::policy::BudgetError| error.to_string())?,
        };
        let [a, b, c, d, e, f, g, h, ..] = self.config.secret;
        let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let policy = by_name(name, budget, seed).map_err(|error| error.to_string())?;
        Sender::new(SenderConfig { policy, placing, ..self.sender() }).map_err(|error| error.to_string())
    }

    fn receiver(&self, agreement: &Agreement, model: Model) -> Result<Receiver, String> {
        let placing = agreement.placing;
        let SeatConfig { max_datagram, smoothing, .. } = *self.config;
        // Players are not to be trusted with what others own; the server is.
        let require_grants = model.has_peers();
        let config = ReceiverConfig { placing, smoothing, max_datagram, require_grants, ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(config).map_err(|error| error.to_string())?;
        if model.has_server() {
            receiver.add_sender(SERVER, *agreement, self.now).map_err(|error| error.to_string())?;
        }
        Ok(receiver)
    }
}

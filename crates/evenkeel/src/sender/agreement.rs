//! What a sender does about receivers that hold something else to be agreed.

use super::{HandleError, Sender, SenderEvent, Timer};
use crate::constraint::constraint_id;
use crate::ids::HostId;
use crate::ledger::{EntityIndex, Placing, ReceiverIndex};
use crate::time::{Duration, GlobalTime};
use crate::wire::{Agreement, BitReader, BitWriter, By};

/// News of another lag or clock rule may take so long to reach a receiver.
const GRACE: Duration = Duration::from_secs(5);
/// A receiver that disagrees is asked this often.
const ASK_EVERY: Duration = Duration::from_secs(3);
/// A receiver is told everything again no more often than this, however often it asks.
const REPEAT_EVERY: Duration = Duration::from_secs(1);

impl Sender {
    /// Everything that its receivers must hold as it does: give it to [`Receiver::add_sender`](crate::Receiver::add_sender).
    pub fn agreement(&self) -> Agreement {
        self.agreement_at(self.ledger.usual_lag())
    }

    /// The same for one receiver, which may have a lag of its own.
    fn agreement_with(&self, receiver: ReceiverIndex) -> Agreement {
        self.agreement_at(self.ledger.lag(receiver).target())
    }

    fn agreement_at(&self, lag: Duration) -> Agreement {
        let placing = Placing { lag, ..*self.ledger.placing() };
        Agreement { format: self.format, placing, constraint: constraint_id(self.constraint.as_deref()) }
    }

    /// Compares the terms by which a receiver places things with those that the books assume.
    pub(super) fn compare_terms(&mut self, receiver: ReceiverIndex, theirs: u8) {
        let agrees = self.agreement_with(receiver).terms() == theirs;
        let now = self.now;
        let meeting = &mut self.outboxes[receiver.0].meeting;
        if agrees {
            meeting.differs_since = None;
            return;
        }
        let since = *meeting.differs_since.get_or_insert(now);
        if now.since(since) > GRACE {
            self.ask(receiver);
        }
    }

    /// Sends the agreement and asks for the receiver's, unless that was done just now.
    fn ask(&mut self, receiver: ReceiverIndex) {
        let now = self.now;
        let meeting = &mut self.outboxes[receiver.0].meeting;
        if meeting.asked.is_some_and(|asked| now.since(asked) < ASK_EVERY) {
            return;
        }
        (meeting.asked, meeting.owed) = (Some(now), Some(true));
        self.mark_dirty(receiver);
    }

    /// A receiver that disagreed some time ago is asked again.
    pub(super) fn ask_again(&mut self, host: HostId) {
        let Some(receiver) = self.ledger.receiver(host) else { return };
        let meeting = &mut self.outboxes[receiver.0].meeting;
        meeting.will_ask = meeting.suspended && self.now < GlobalTime::MAX;
        if meeting.will_ask {
            self.ask(receiver);
            self.set_timer(self.now + ASK_EVERY, Timer::Ask(host));
        }
    }

    /// A receiver says what it holds to be agreed.
    pub(super) fn handle_agreement(
        &mut self,
        receiver: ReceiverIndex,
        r: &mut BitReader<'_>,
        now: GlobalTime,
    ) -> Result<(), HandleError> {
        let (asks, theirs) = Agreement::parse_alone(By::Receiver, r)?;
        self.advance(now)?;
        let ours = self.agreement_with(receiver);
        // A receiver that tells has not understood something: the next datagram says everything.
        self.ledger.receivers[receiver.0].log.forget_received();
        let meeting = &mut self.outboxes[receiver.0].meeting;
        if asks {
            meeting.owed.get_or_insert(false);
        }
        // A change of lag or rule may be on its way still.
        let patient = meeting.differs_since.is_none_or(|since| now.since(since) <= GRACE) && !meeting.suspended;
        let difference = if patient { ours.fixed_difference(&theirs) } else { ours.difference(&theirs) };
        let suspended = meeting.suspended;
        let with = self.ledger.host(receiver);
        match difference {
            Some(difference) if !suspended => {
                self.suspend(receiver);
                self.events.push(SenderEvent::Disagreement { with, difference });
            }
            None if suspended && self.may_repeat(receiver) => {
                self.resume(receiver);
                self.events.push(SenderEvent::Agreed { with });
            }
            None if !suspended && asks && self.may_repeat(receiver) => self.say_everything_again(receiver),
            _ => {}
        }
        self.mark_dirty(receiver);
        Ok(())
    }

    /// Whether a receiver may be told everything again: not if that was done just now.
    fn may_repeat(&mut self, receiver: ReceiverIndex) -> bool {
        let now = self.now;
        let repeated = &mut self.outboxes[receiver.0].meeting.repeated;
        let may = repeated.is_none_or(|repeated| now.since(repeated) >= REPEAT_EVERY);
        if may {
            *repeated = Some(now);
        }
        may
    }

    /// A receiver knows nothing of the stream: perhaps it has lost everything. It is told all of it, each vector by itself.
    fn say_everything_again(&mut self, receiver: ReceiverIndex) {
        for entity in (0..self.ledger.entities.len()).map(EntityIndex) {
            if self.ledger.entity_id(entity).is_some() {
                self.ledger.forget_baseline(entity, receiver);
                self.queue_newest(entity, receiver, true);
            }
        }
    }

    /// Stops serving a receiver: books about what it shows would be wrong. Farewells wait until the two agree.
    fn suspend(&mut self, receiver: ReceiverIndex) {
        for entity in (0..self.ledger.entities.len()).map(EntityIndex) {
            let farewell = self.ledger.book(entity, receiver).farewell();
            self.ledger.finish_pair(entity, receiver, self.now);
            self.ledger.book_mut(entity, receiver).set_farewell(farewell);
        }
        let outbox = &mut self.outboxes[receiver.0];
        outbox.keep_farewells();
        outbox.meeting.suspended = true;
        if !core::mem::replace(&mut outbox.meeting.will_ask, true) {
            self.set_timer(self.now + ASK_EVERY, Timer::Ask(self.ledger.host(receiver)));
        }
    }

    /// Serves it again, as if it were new.
    fn resume(&mut self, receiver: ReceiverIndex) {
        let meeting = &mut self.outboxes[receiver.0].meeting;
        (meeting.suspended, meeting.differs_since) = (false, None);
        for entity in 0..self.ledger.entities.len() {
            self.introduce(EntityIndex(entity), receiver);
        }
    }

    /// Writes the agreement, if it is owed.
    pub(super) fn write_agreement(&mut self, receiver: ReceiverIndex) -> Option<usize> {
        let asks = self.outboxes[receiver.0].meeting.owed.take()?;
        let agreement = self.agreement_with(receiver);
        let mut w = BitWriter::new(&mut self.buffer);
        agreement.emit_alone(By::Sender, asks, &mut w).ok()?;
        Some(w.len_bytes())
    }
}

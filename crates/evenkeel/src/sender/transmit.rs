//! From decisions to datagrams.

use super::outbox::Outgoing;
use super::{Sender, SenderEvent, Timer, Transmit};
use crate::ids::{EntityId, HostId, VectorNumber};
use crate::ledger::{At, Carried, EntityIndex, Farewell, Fate, Ledger, ReceiverIndex, SheetId};
use crate::policy::Settled;
use crate::time::{Duration, GlobalTime};
use crate::wire::datagram::{BASELINE_WINDOW, Cursor, Digest, Record, Stamp, VectorsHeader, seal_check};
use crate::wire::{BitWriter, Full};
use core::cmp::Reverse;
use core::hash::Hasher;
use siphasher::sip::SipHasher13;

/// An acknowledgement waits this long for a datagram that goes anyway.
pub(super) const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(100);

/// A loss timer is not planned anew for less than this.
const LOSS_TIMER_SLACK: Duration = Duration::from_millis(20);

impl Sender {
    /// Does what is due by now: releases vectors that were held, sees to losses, wakes the policy. Call it when
    /// [`poll_timeout`](Self::poll_timeout) says so, and before [`poll_transmit`](Self::poll_transmit). Time that seems to go
    /// backwards is taken as standing still.
    pub fn handle_timeout(&mut self, now: GlobalTime) {
        self.now = self.now.max(now);
        self.run_timers();
        self.ledger.settle(self.now);
        self.wake_policy();
    }

    /// The next datagram to send, if any: call it until it answers `None`. Time that seems to go backwards is taken as
    /// standing still.
    ///
    /// The bytes are valid until the next call. Send them at once: they carry `now` as their send time.
    pub fn poll_transmit(&mut self, now: GlobalTime) -> Option<Transmit<'_>> {
        self.now = self.now.max(now);
        self.ledger.settle(self.now);
        loop {
            let host = *self.dirty.front()?;
            let Some(receiver) = self.ledger.receiver(host) else {
                self.dirty.pop_front();
                continue;
            };
            // After an agreement there may be more to say.
            let agreement = self.write_agreement(receiver);
            let more = agreement.is_some();
            let length =
                agreement.or_else(|| self.write_vectors(receiver)).or_else(|| self.write_acknowledgement(receiver));
            let outbox = &mut self.outboxes[receiver.0];
            if !more && (outbox.is_empty() || outbox.meeting.suspended) {
                self.dirty.pop_front();
                outbox.dirty = false;
            }
            if let Some(length) = length {
                self.ledger.receivers[receiver.0].bytes += length as u64;
                self.ledger.spent.bytes += length as u64;
                self.ledger.spent.datagrams += 1;
                return Some(Transmit { to: host, bytes: &self.buffer[..length] });
            }
        }
    }

    /// Fills a datagram with what waits for a receiver. `None` if nothing does.
    fn write_vectors(&mut self, receiver: ReceiverIndex) -> Option<usize> {
        let outbox = &self.outboxes[receiver.0];
        if outbox.is_empty() || outbox.meeting.suspended {
            return None;
        }
        let log = &self.ledger.receivers[receiver.0].log;
        let (now, stream, number) = (self.now, outbox.stream, log.next_number());
        let header = VectorsHeader {
            form: outbox.form(log, now),
            stream,
            number,
            sent: Stamp::at(now),
            nonce: nonce(&self.secret, self.ledger.host(receiver), stream.id, number),
            acknowledged: outbox.acknowledged(now),
            check: 0,
        };
        let mut buffer = core::mem::take(&mut self.buffer);
        let mut w = BitWriter::new(&mut buffer);
        let written = header.emit(&mut w).ok().map(|()| {
            let copied = self.copy_records(receiver, &mut w);
            let (sheet, digest) = copied.unwrap_or_else(|| self.write_records(receiver, header.sent, &mut w));
            seal_check(header.check_of(digest.value()), &mut w);
            sheet
        });
        let length = w.len_bytes();
        self.buffer = buffer;
        let sheet = written?;
        let count = self.ledger.sheets.items(sheet).len();
        if count == 0 {
            self.ledger.sheets.release(sheet);
            return None;
        }
        self.ledger.receivers[receiver.0].log.record(now, sheet, count as u16);
        self.outboxes[receiver.0].acknowledgement_owed = None;
        self.arm_loss_timer(receiver);
        Some(length)
    }

    /// Copies the records that were just written for another receiver, if they are what this one is due. Answers what they are about,
    /// and what stands for them.
    fn copy_records(&mut self, receiver: ReceiverIndex, w: &mut BitWriter<'_>) -> Option<(SheetId, Digest)> {
        self.drafts.begin(self.now, &mut self.ledger.sheets);
        let outbox = (&self.outboxes[receiver.0], receiver);
        let (sheet, digest) = self.drafts.copy(&self.ledger, outbox, w)?;
        self.ledger.sheets.share(sheet);
        let number = self.ledger.receivers[receiver.0].log.next_number();
        let count = self.ledger.sheets.items(sheet).len();
        for slot in 0..count {
            let item = self.ledger.sheets.items(sheet)[slot];
            if let Some(vector) = item.vector {
                let at = At { number, slot: slot as u16 };
                self.ledger.send_at(EntityIndex(item.place as usize), receiver, vector, at, self.now);
            }
        }
        self.outboxes[receiver.0].pop_newest(count);
        Some((sheet, digest))
    }

    /// Writes records until the datagram is full or nothing waits. Answers what they are about, and what stands for them.
    fn write_records(&mut self, receiver: ReceiverIndex, sent: Stamp, w: &mut BitWriter<'_>) -> (SheetId, Digest) {
        let (sheet, header_bits) = (self.ledger.sheets.begin(), w.len_bits());
        let (mut digest, mut usual) = (Digest::default(), true);
        let mut cursor = Cursor::new(self.format.tick_of(sent.end()));
        while let Some(outgoing) = self.outboxes[receiver.0].peek() {
            let start = w.len_bits();
            if self.ledger.sheets.items(sheet).len() == usize::from(u16::MAX) {
                break;
            }
            match self.write_record(receiver, outgoing, cursor, sheet, w) {
                Ok(Some(written)) => {
                    digest.add(written.digest);
                    cursor = cursor.after(written.entity, written.tick);
                    usual &= matches!(outgoing, Outgoing::Newest { again: false, .. });
                }
                Ok(None) => usual = false,
                Err(Full) => {
                    w.truncate(start);
                    if !self.ledger.sheets.items(sheet).is_empty() {
                        break;
                    }
                    // Not even alone: no datagram can carry it. Dropping it is all that can be done.
                    self.events.push(SenderEvent::QueueFull { to: self.ledger.host(receiver) });
                }
            }
            self.outboxes[receiver.0].pop();
        }
        if usual && self.outboxes.len() > 1 {
            let outbox = (&self.outboxes[receiver.0], receiver);
            self.drafts.keep(&mut self.ledger, outbox, (sheet, digest), header_bits, w);
        }
        (sheet, digest)
    }

    /// Writes what waits. Nothing if the vector is gone.
    fn write_record(
        &mut self,
        receiver: ReceiverIndex,
        outgoing: Outgoing,
        cursor: Cursor,
        sheet: SheetId,
        w: &mut BitWriter<'_>,
    ) -> Result<Option<Written>, Full> {
        let (entity, number, again) = match outgoing {
            Outgoing::Newest { entity, again } => (entity, self.ledger.desk(entity, receiver).queued, again),
            Outgoing::Exactly { entity, number } => (entity, Some(number), false),
            Outgoing::Farewell(farewell) => {
                let Farewell { entity, epoch, tick } = farewell;
                let record = Record::retired(entity, epoch, tick);
                record.emit(&self.format, cursor, None, w)?;
                self.ledger.sheets.push_farewell(sheet, farewell);
                return Ok(Some(Written { entity, tick, digest: record.digest() }));
            }
        };
        let Some(number) = number else { return Ok(None) };
        let written = self.write_vector(receiver, (entity, number), cursor, sheet, w)?;
        if written.is_some() {
            self.ledger.spent.resent += u64::from(again);
        }
        Ok(written)
    }

    /// Writes one vector against the newest baseline the receiver is known to have, and books it as sent.
    #[inline]
    fn write_vector(
        &mut self,
        receiver: ReceiverIndex,
        (entity, number): (EntityIndex, VectorNumber),
        cursor: Cursor,
        sheet: SheetId,
        w: &mut BitWriter<'_>,
    ) -> Result<Option<Written>, Full> {
        let Ledger { entities, receivers, .. } = &mut self.ledger;
        let (book, to) = (&mut entities[entity.0], &mut receivers[receiver.0]);
        let Some(id) = book.id.filter(|_| book.exported.has(number)) else { return Ok(None) };
        let pair = &mut to.pairs[entity.0];
        let in_window = |old| number.since(old).is_some_and(|age| (1..BASELINE_WINDOW).contains(&age));
        let usable = |old: &VectorNumber| *old >= book.since && in_window(*old) && book.exported.has(*old);
        let baseline = pair.acknowledged.filter(usable);
        let Some(record) = self.owned[entity.0].encoded.get(&self.format, book, number, baseline) else {
            return Ok(None);
        };
        record.emit(id, cursor, w)?;
        let written = Written { entity: id, tick: record.tick, digest: record.digest };
        self.ledger.send(entity, receiver, number, sheet, self.now);
        Ok(Some(written))
    }

    fn write_acknowledgement(&mut self, receiver: ReceiverIndex) -> Option<usize> {
        let outbox = &mut self.outboxes[receiver.0];
        let acknowledged = outbox.acknowledged(self.now)?;
        outbox.acknowledgement_owed = None;
        let mut w = BitWriter::new(&mut self.buffer);
        acknowledged.emit_alone(outbox.stream.tag(), &mut w).ok()?;
        Some(w.len_bytes())
    }

    fn run_timers(&mut self) {
        while let Some(Reverse((at, timer))) = self.timers.peek().copied() {
            if at > self.now {
                break;
            }
            self.timers.pop();
            match timer {
                Timer::Release { entity, host, number } => self.release(entity, host, number),
                Timer::Loss(host) => self.check_losses(host, at),
                Timer::Ask(host) => self.ask_again(host),
                Timer::Acknowledge(host) => {
                    // Not if the receipt it was set for is acknowledged already and a later one still has time: most are
                    // acknowledged by vectors that go anyway.
                    let now = self.now;
                    let due = |since: GlobalTime| since + ACKNOWLEDGE_AFTER <= now;
                    let receiver = self.ledger.receiver(host);
                    if let Some(receiver) =
                        receiver.filter(|r| self.outboxes[r.0].acknowledgement_owed.is_some_and(due))
                    {
                        self.mark_dirty(receiver);
                    }
                }
            }
        }
    }

    /// The time of a held vector has come, unless it was overtaken.
    fn release(&mut self, entity: EntityIndex, host: HostId, number: VectorNumber) {
        let Some(receiver) = self.ledger.receiver(host) else { return };
        if self.ledger.entity_id(entity).is_none() {
            return;
        }
        let pair = self.ledger.book_mut(entity, receiver);
        if pair.held().is_some_and(|held| held.vector == number) {
            pair.take_held();
            self.queue_newest(entity, receiver, false);
        }
    }

    /// Sees to it that losses are looked for as soon as the oldest open datagram may count as lost: sooner than was planned
    /// if the delay turned out to be smaller.
    pub(super) fn arm_loss_timer(&mut self, receiver: ReceiverIndex) {
        let loss_after = self.ledger.path(receiver).loss_after();
        let open = self.ledger.receivers[receiver.0].log.oldest_open();
        let outbox = &mut self.outboxes[receiver.0];
        // At the end of time nothing can be waited for: a timer set there would be due again at once, for ever.
        let planned = open.map(|sent| sent + loss_after).filter(|at| *at < GlobalTime::MAX);
        let Some(at) = planned else { return };
        if outbox.loss_timer.is_none_or(|planned| at + LOSS_TIMER_SLACK < planned) {
            outbox.loss_timer = Some(at);
            self.set_timer(at, Timer::Loss(self.ledger.host(receiver)));
        }
    }

    /// A loss timer has run out.
    fn check_losses(&mut self, host: HostId, planned: GlobalTime) {
        let Some(receiver) = self.ledger.receiver(host) else { return };
        if self.outboxes[receiver.0].loss_timer == Some(planned) {
            self.outboxes[receiver.0].loss_timer = None;
            self.find_losses(receiver);
        }
    }

    /// Sees to everything that counts as lost by now, and brings the books up to date.
    pub(super) fn find_losses(&mut self, receiver: ReceiverIndex) {
        let path = self.ledger.path(receiver);
        let (loss_after, reordering) = (path.loss_after(), path.reordering());
        let now = self.now;
        while let Some((number, sent)) = self.ledger.receivers[receiver.0].log.next_lost(now, loss_after, reordering) {
            self.events.push(SenderEvent::DatagramLost { to: self.ledger.host(receiver) });
            self.ledger.miss(receiver, number, Fate::Lost);
            for at in self.ledger.receivers[receiver.0].log.carried(number) {
                if let Some(carried) = self.ledger.carried_at(receiver, at) {
                    self.lose(receiver, carried, sent);
                }
            }
        }
        self.ledger.settle_later(receiver);
        self.arm_loss_timer(receiver);
    }

    /// Sees to something that a receiver got but could not decode: it is said again at once, by itself.
    pub(super) fn say_again(&mut self, receiver: ReceiverIndex, carried: Carried, sent: GlobalTime) {
        match carried {
            Carried::Farewell(farewell) => self.push(receiver, Outgoing::Farewell(farewell)),
            Carried::Vector { entity, number } => {
                self.ledger.lose(entity, receiver, number);
                self.ledger.forget_baseline(entity, receiver);
                self.note_missed(entity, receiver, number, sent);
                self.queue_newest(entity, receiver, true);
            }
        }
    }

    fn lose(&mut self, receiver: ReceiverIndex, carried: Carried, sent: GlobalTime) {
        match carried {
            Carried::Farewell(farewell) => self.push(receiver, Outgoing::Farewell(farewell)),
            Carried::Vector { entity, number } => {
                let nothing_newer = self.ledger.lose(entity, receiver, number);
                let left_with_nothing = self.ledger.desk(entity, receiver).sent.is_none();
                self.note_missed(entity, receiver, number, sent);
                let resends = self.resend_lost && (left_with_nothing || !self.policy.makes_up_for_losses());
                if nothing_newer && resends {
                    self.queue_newest(entity, receiver, true);
                }
            }
        }
    }

    fn note_missed(&mut self, entity: EntityIndex, receiver: ReceiverIndex, vector: VectorNumber, sent: GlobalTime) {
        if self.policy.wants_settled() {
            let settled = Settled { entity, receiver, vector, sent, arrival: None, late: false };
            self.policy.settled(&self.ledger, &settled);
        }
    }

    fn wake_policy(&mut self) {
        if self.policy.next_wake().is_none_or(|at| at > self.now) {
            return;
        }
        let mut wakes = core::mem::take(&mut self.wakes);
        self.policy.wake(&self.ledger, self.now, &mut |entity, receiver| wakes.push((entity, receiver)));
        for (entity, receiver) in wakes.drain(..) {
            if entity.0 < self.ledger.entities.len() && receiver.0 < self.outboxes.len() {
                self.queue_newest(entity, receiver, false);
            }
        }
        self.wakes = wakes;
    }
}

/// A record in a datagram.
struct Written {
    entity: EntityId,
    tick: i64,
    /// Stands for what it says.
    digest: u64,
}

/// The nonce of a datagram: 12 bits.
pub(super) fn nonce(secret: &[u8; 16], host: HostId, stream: u64, number: u64) -> u16 {
    (secret_number(secret, host, stream ^ number.rotate_left(32)) >> 52) as u16
}

/// A number that only this sender can know.
pub(super) fn secret_number(secret: &[u8; 16], host: HostId, of: u64) -> u64 {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write_u32(host.0);
    hasher.write_u64(of);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use crate::{EntityId, GlobalTime, HostId, Pose, Receiver, ReceiverConfig, Sender, SenderConfig, Threshold, Vec3};

    /// Vectors that go meanwhile take the acknowledgement along; a later receipt then waits its own time.
    #[test]
    fn an_acknowledgement_alone_waits_for_company_after_each_receipt() {
        let ms = GlobalTime::from_millis;
        let mut sender = Sender::new(SenderConfig::default()).unwrap();
        let mut receiver = Receiver::new(ReceiverConfig::default()).unwrap();
        sender.add_receiver(HostId(1), ms(0)).unwrap();
        sender.add_entity(EntityId(7), Threshold::within(0.1), ms(0)).unwrap();
        receiver.add_sender(HostId(0), sender.agreement(), ms(0)).unwrap();
        for at in [0, 50] {
            sender.observe(EntityId(7), Pose::at(Vec3::new(at as f64, 0.0, 0.0)), ms(at)).unwrap();
            let vectors = sender.poll_transmit(ms(at)).expect("a vector is due").bytes.to_vec();
            receiver.handle_datagram(HostId(0), &vectors, ms(at + 10)).unwrap();
            let receipt = receiver.poll_transmit(ms(at + 10)).expect("a receipt is owed").bytes.to_vec();
            sender.handle_datagram(HostId(1), &receipt, ms(at + 10)).unwrap();
        }
        sender.handle_timeout(ms(159));
        assert!(sender.poll_transmit(ms(159)).is_none(), "the second receipt came at 60 ms");
        sender.handle_timeout(ms(160));
        assert!(sender.poll_transmit(ms(160)).is_some());
    }
}

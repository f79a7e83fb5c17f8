//! What is out of the ordinary in a run: receivers that lie, ways back unlike the ways there, a sender that believes all.

use evenkeel::{GlobalTime, HostId, SenderEvent};
use evenkeel_link::Conditions;

/// What is out of the ordinary in a run. Nothing, by default.
#[derive(Default)]
pub struct Twist<'a> {
    /// The way back from each receiver, if it is not like the way there.
    pub back: Option<&'a [Conditions]>,
    /// Whether the sender believes every reception time it is told.
    pub trusting: bool,
    /// Somebody between the receivers and the network.
    pub tamper: Option<Box<dyn Tamper>>,
}

/// Does something to what receivers send back before it leaves: a receiver that lies.
pub trait Tamper {
    /// A datagram arrives at the receiver with this number: what a liar knows.
    fn saw(&mut self, _receiver: usize, _bytes: &[u8]) {}

    /// What leaves instead of a datagram of receipts by the receiver with this number, and when; no earlier than now.
    fn instead(&mut self, receiver: usize, bytes: &[u8], now: GlobalTime) -> Vec<(GlobalTime, Vec<u8>)>;
}

/// What a sender did not believe of one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Doubts {
    /// Reception times outside of what round trips allow.
    pub bounded: u64,
    /// Receipts for datagrams that it cannot have seen.
    pub forged: u64,
    /// Datagrams that count as lost.
    pub lost: u64,
}

/// Counts what a sender says about its receivers, which count from host 1.
pub(super) fn count(doubts: &mut [Doubts], event: SenderEvent) {
    let mut of = |host: HostId, add: fn(&mut Doubts)| {
        if let Some(doubts) = (host.0 as usize).checked_sub(1).and_then(|index| doubts.get_mut(index)) {
            add(doubts);
        }
    };
    match event {
        SenderEvent::ClaimBounded { from, .. } => of(from, |doubts| doubts.bounded += 1),
        SenderEvent::ForgedReceipt { from } => of(from, |doubts| doubts.forged += 1),
        SenderEvent::DatagramLost { to } => of(to, |doubts| doubts.lost += 1),
        _ => {}
    }
}

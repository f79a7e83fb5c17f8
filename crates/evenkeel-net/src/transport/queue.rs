//! The two queues of a connection: towards the game, and towards the socket. Both are bounded.

use super::bell::Bell;
use super::{Arrived, Limits, SendError, What};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What a queued item costs besides its bytes, roughly: a peer that sends empty messages must not fill memory either.
const OVERHEAD: usize = 64;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds one of these locks; were it to, the queue would still be in order.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What has arrived and waits for the game.
pub(super) struct Inbox {
    limits: Limits,
    state: Mutex<Waiting>,
    /// Something came, or nothing will come any more.
    came: Notify,
    /// Something was taken.
    taken: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Numbered, so that both kinds come out in the order in which they came in.
    datagrams: VecDeque<(u64, Instant, Bytes)>,
    messages: VecDeque<(u64, Instant, What)>,
    message_bytes: usize,
    next: u64,
    dropped: u64,
    finished: bool,
    abandoned: bool,
    /// Who is to be told instead of whoever waits here, and under which name.
    bell: Option<(Arc<Bell>, u64)>,
    /// It was told and has not taken everything since.
    rung: bool,
}

/// How full an inbox is.
pub(super) struct Depth {
    pub datagrams: usize,
    pub message_bytes: usize,
    pub dropped: u64,
}

impl Inbox {
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: Mutex::default(), came: Notify::new(), taken: Notify::new() }
    }

    /// Puts a datagram in, dropping the oldest ones for it if need be.
    pub fn datagram(&self, at: Instant, bytes: Bytes) {
        let mut state = lock(&self.state);
        if state.abandoned {
            return;
        }
        let number = state.number();
        state.datagrams.push_back((number, at, bytes));
        while state.datagrams.len() > self.limits.incoming_datagrams.max(1) {
            state.datagrams.pop_front();
            state.dropped += 1;
        }
        self.tell(state);
    }

    /// Puts a message in. Whoever reads the stream asks for [`room`](Self::room) before.
    pub fn message(&self, at: Instant, what: What) {
        let mut state = lock(&self.state);
        if state.abandoned {
            return;
        }
        let number = state.number();
        state.message_bytes += weight(&what);
        state.messages.push_back((number, at, what));
        self.tell(state);
    }

    /// Rings a bell from now on, whenever something comes and nothing was there, and at the end.
    pub fn ring(&self, bell: Arc<Bell>, name: u64) {
        let mut state = lock(&self.state);
        state.bell = Some((bell, name));
        if !state.is_empty() || state.finished {
            self.tell(state);
        }
    }

    fn tell(&self, mut state: MutexGuard<'_, Waiting>) {
        match &state.bell {
            Some((bell, name)) if !state.rung => {
                bell.ring(*name);
                state.rung = true;
            }
            Some(_) => {}
            None => {
                drop(state);
                self.came.notify_one();
            }
        }
    }

    /// Waits until one more message may be read.
    pub async fn room(&self) {
        loop {
            if self.has_room() {
                // Somebody else may wait, too, and there may be room for both.
                self.taken.notify_one();
                return;
            }
            self.taken.notified().await;
        }
    }

    fn has_room(&self) -> bool {
        let state = lock(&self.state);
        state.abandoned || state.message_bytes < self.limits.incoming_messages
    }

    /// The next that waits.
    pub fn try_take(&self) -> Option<Arrived> {
        let mut state = lock(&self.state);
        state.shed(self.limits.incoming_age);
        let arrived = state.take()?;
        drop(state);
        self.taken.notify_one();
        Some(arrived)
    }

    /// Takes up to so many of what waits; if something is left, the bell rings again. Answers whether nothing will come any more.
    pub fn take_some(&self, most: usize, into: &mut Vec<Arrived>) -> bool {
        let mut state = lock(&self.state);
        state.shed(self.limits.incoming_age);
        into.extend(std::iter::from_fn(|| state.take()).take(most));
        state.rung = false;
        let over = state.is_empty() && state.finished;
        if !state.is_empty() {
            self.tell(state);
        }
        self.taken.notify_one();
        over
    }

    /// The next, or nothing once nothing will come any more.
    pub async fn take(&self) -> Option<Arrived> {
        loop {
            if let Some(arrived) = self.try_take() {
                return Some(arrived);
            }
            if lock(&self.state).finished {
                // What came between the two looks is still there.
                return self.try_take();
            }
            self.came.notified().await;
        }
    }

    /// Nothing will come any more.
    pub fn finish(&self) {
        let mut state = lock(&self.state);
        state.finished = true;
        self.tell(state);
    }

    /// Nobody will take any more: what comes is thrown away, so that the peer is not held up by it.
    pub fn abandon(&self) {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.datagrams = VecDeque::new();
        state.messages = VecDeque::new();
        state.message_bytes = 0;
        drop(state);
        self.taken.notify_one();
    }

    pub fn depth(&self) -> Depth {
        let state = lock(&self.state);
        Depth { datagrams: state.datagrams.len(), message_bytes: state.message_bytes, dropped: state.dropped }
    }
}

impl Waiting {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn is_empty(&self) -> bool {
        self.datagrams.is_empty() && self.messages.is_empty()
    }

    /// Gives up datagrams that have waited for too long: whoever lags behind catches up by leaving out what is stale.
    fn shed(&mut self, age: Duration) {
        let Some((_, oldest, _)) = self.datagrams.front() else { return };
        let Some(since) = Instant::now().checked_sub(age).filter(|since| oldest < since) else { return };
        while self.datagrams.front().is_some_and(|(_, at, _)| *at < since) {
            self.datagrams.pop_front();
            self.dropped += 1;
        }
    }

    fn take(&mut self) -> Option<Arrived> {
        let datagram = self.datagrams.front().map_or(u64::MAX, |d| d.0);
        let message = self.messages.front().map_or(u64::MAX, |m| m.0);
        if datagram < message {
            let (_, at, bytes) = self.datagrams.pop_front()?;
            return Some(Arrived { at, what: What::Datagram(bytes) });
        }
        let (_, at, what) = self.messages.pop_front()?;
        self.message_bytes -= weight(&what);
        Some(Arrived { at, what })
    }
}

/// What waits for the socket.
pub(super) struct Outbox {
    limits: Limits,
    state: Mutex<Leaving>,
    came: Notify,
}

#[derive(Default)]
struct Leaving {
    queue: VecDeque<What>,
    /// Of what is queued and of what the socket has not taken yet.
    bytes: usize,
    closing: bool,
}

/// What an item counts for in [`Outbox::written`].
pub(super) fn weight(what: &What) -> usize {
    what.bytes().len() + OVERHEAD
}

impl Outbox {
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: Mutex::default(), came: Notify::new() }
    }

    /// Queues it, unless too much waits already.
    pub fn push(&self, what: What) -> Result<(), SendError> {
        let limit = match what {
            What::Datagram(_) => self.limits.outgoing_datagrams,
            What::Message(_) | What::Unordered(_) => self.limits.outgoing_messages,
        };
        let mut state = lock(&self.state);
        if state.closing {
            return Err(SendError::Closed);
        }
        // An empty queue takes anything, or a limit below the longest message would block that one for ever.
        if state.bytes > 0 && state.bytes + weight(&what) > limit {
            return Err(SendError::Full);
        }
        state.bytes += weight(&what);
        state.queue.push_back(what);
        drop(state);
        self.came.notify_one();
        Ok(())
    }

    pub fn try_next(&self) -> Option<What> {
        lock(&self.state).queue.pop_front()
    }

    /// The next to be written, or nothing once closing and empty.
    pub async fn next(&self) -> Option<What> {
        loop {
            if let Some(what) = self.try_next() {
                return Some(what);
            }
            if lock(&self.state).closing {
                // What came between the two looks is still there.
                return self.try_next();
            }
            self.came.notified().await;
        }
    }

    /// The socket has taken items of this [`weight`].
    pub fn written(&self, weight: usize) {
        let mut state = lock(&self.state);
        state.bytes = state.bytes.saturating_sub(weight);
    }

    /// Takes nothing more; what is queued may still leave.
    pub fn close(&self) {
        lock(&self.state).closing = true;
        self.came.notify_one();
    }

    pub fn bytes(&self) -> usize {
        lock(&self.state).bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { incoming_datagrams: 2, incoming_messages: 100, outgoing_messages: 200, ..Limits::default() }
    }

    #[tokio::test]
    async fn both_kinds_leave_in_the_order_of_their_coming() {
        let inbox = Inbox::new(limits());
        let now = Instant::now();
        inbox.message(now, What::Message(Bytes::from_static(b"a")));
        inbox.datagram(now, Bytes::from_static(b"b"));
        inbox.message(now, What::Unordered(Bytes::from_static(b"c")));
        inbox.finish();
        let mut seen = Vec::new();
        while let Some(arrived) = inbox.take().await {
            seen.extend_from_slice(arrived.what.bytes());
        }
        assert_eq!(seen, b"abc");
    }

    #[tokio::test]
    async fn all_who_wait_for_room_get_it() {
        let inbox = Inbox::new(limits());
        inbox.message(Instant::now(), What::Message(vec![0; 100].into()));
        let take = async {
            tokio::task::yield_now().await;
            inbox.try_take().unwrap();
        };
        let both = async { tokio::join!(inbox.room(), inbox.room(), take) };
        tokio::time::timeout(std::time::Duration::from_secs(5), both).await.expect("one of them still waits");
    }

    #[test]
    fn the_oldest_datagram_is_dropped_and_counted() {
        let inbox = Inbox::new(limits());
        for n in 0..5u8 {
            inbox.datagram(Instant::now(), Bytes::copy_from_slice(&[n]));
        }
        assert_eq!(inbox.depth().dropped, 3);
        assert_eq!(inbox.try_take().unwrap().what.bytes()[0], 3);
    }

    #[test]
    fn stale_datagrams_are_dropped_and_counted_but_messages_never_are() {
        let inbox = Inbox::new(Limits { incoming_age: Duration::from_secs(60), ..Limits::default() });
        let now = Instant::now();
        let long_ago = now.checked_sub(Duration::from_secs(61)).expect("this machine has just been started");
        inbox.datagram(long_ago, Bytes::from_static(b"a"));
        inbox.message(long_ago, What::Message(Bytes::from_static(b"b")));
        inbox.datagram(long_ago, Bytes::from_static(b"c"));
        inbox.datagram(now, Bytes::from_static(b"d"));
        let seen: Vec<Bytes> = std::iter::from_fn(|| inbox.try_take()).map(|a| a.what.bytes().clone()).collect();
        assert_eq!((seen, inbox.depth().dropped), (vec![Bytes::from_static(b"b"), Bytes::from_static(b"d")], 2));
    }

    #[tokio::test]
    async fn the_bell_rings_once_for_all_that_waits_and_again_for_what_is_left() {
        let (bell, inbox) = (Arc::<Bell>::default(), Inbox::new(Limits::default()));
        let (mut rung, mut taken) = (Vec::new(), Vec::new());
        inbox.datagram(Instant::now(), Bytes::from_static(b"a"));
        inbox.ring(bell.clone(), 7);
        inbox.datagram(Instant::now(), Bytes::from_static(b"b"));
        inbox.message(Instant::now(), What::Message(Bytes::from_static(b"c")));
        for expected in [2, 1] {
            assert_eq!(bell.waiting(), 1);
            bell.listen(&mut rung, 10).await;
            assert_eq!(std::mem::take(&mut rung), [7]);
            assert!(!inbox.take_some(2, &mut taken));
            assert_eq!(std::mem::take(&mut taken).len(), expected);
        }
        assert_eq!(bell.waiting(), 0, "nothing is left");
        inbox.finish();
        assert_eq!(bell.waiting(), 1);
        assert!(inbox.take_some(2, &mut taken), "it is over");
    }

    #[test]
    fn a_full_outbox_says_so_but_an_empty_one_takes_anything() {
        let outbox = Outbox::new(limits());
        outbox.push(What::Message(vec![0; 1000].into())).unwrap();
        assert_eq!(outbox.push(What::Message(Bytes::new())), Err(SendError::Full));
        let first = outbox.try_next().unwrap();
        assert_eq!(outbox.push(What::Message(Bytes::new())), Err(SendError::Full), "not yet taken by the socket");
        outbox.written(weight(&first));
        outbox.push(What::Message(Bytes::new())).unwrap();
        outbox.close();
        assert_eq!(outbox.push(What::Message(Bytes::new())), Err(SendError::Closed));
    }
}

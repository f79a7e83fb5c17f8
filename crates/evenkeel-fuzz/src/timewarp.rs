//! A timewarp and operations in any order.

use crate::input::Input;
use crate::script::timewarp as op;
use evenkeel::timewarp::{Accepted, Briefing, OperationError, TimewarpStats};
use evenkeel::{
    Attitude, Duration, EntityId, GlobalTime, HostId, Operation, Simulation, State, Tick, Timewarp, TimewarpConfig,
    TimewarpEvent, Vec3,
};

const STEP: Duration = Duration::from_millis(20);
const HISTORY: Duration = Duration::from_millis(400);
const MAX_OPERATIONS: usize = 200;
/// Hosts below this number may act.
const PLAYERS: u32 = 3;
const MAX_ISSUERS: usize = 4;
const MAX_PER_ISSUER: usize = 24;
const MAX_EVENTS: usize = 64;
/// Far more than the history of a game this small takes.
const MAX_MEMORY: usize = 256 << 10;

/// A [`Timewarp`] that is told anything in any order has, in the end, exactly the state and the verdicts of what it accepted,
/// executed in order; it is not changed by what it refuses, and stays within its limits.
pub fn timewarp(data: &[u8]) {
    let mut input = Input(data);
    let flags = input.byte();
    let config = TimewarpConfig {
        history: HISTORY,
        ahead: Duration::from_millis(200),
        snapshot_every: 1 + u32::from(flags & 3),
        verdict_lag: STEP * i64::from(flags >> 2 & 3),
        max_catch_up: Duration::from_secs(2),
        max_operations_per_issuer: MAX_PER_ISSUER,
        max_issuers: MAX_ISSUERS,
        max_events: MAX_EVENTS,
        verify_every: (flags & 16 != 0).then_some(7),
        digest_every: (flags & 32 != 0).then_some(5),
    };
    let start = || Timewarp::new(Counters::default(), config.clone(), GlobalTime::ZERO).expect("every flag is valid");
    let mut bench = Bench {
        warp: start(),
        // Another site, whose briefings and states are taken.
        other: start(),
        now: GlobalTime::ZERO,
        taken: Vec::new(),
        standing: Vec::new(),
        overruled: false,
    };
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = input.next() else { break };
        bench.perform(operation % op::COUNT, &mut input);
        bench.check();
    }
    bench.finish();
}

/// Three counters whose history is in their values: any two operations that change places change the state.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counters([u32; PLAYERS as usize]);

impl Simulation for Counters {
    type Act = u8;
    type Snapshot = Self;
    type Verdict = (u32, u32);

    fn step_length(&self) -> Duration {
        STEP
    }

    fn save(&self, into: &mut Self) {
        into.clone_from(self);
    }

    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }

    fn step(&mut self, verdicts: &mut Vec<(u32, u32)>) {
        self.0[0] = self.0[0].wrapping_mul(3).wrapping_add(1);
        if self.0[0].is_multiple_of(11) {
            verdicts.push((PLAYERS, self.0[1]));
        }
    }

    fn apply(&mut self, issuer: HostId, act: &u8, verdicts: &mut Vec<(u32, u32)>) {
        let own = &mut self.0[issuer.0 as usize];
        *own = own.wrapping_mul(5).wrapping_add(u32::from(*act));
        let own = *own;
        let next = &mut self.0[(issuer.0 as usize + 1) % PLAYERS as usize];
        *next ^= own.rotate_left(7);
        if own.is_multiple_of(4) {
            verdicts.push((issuer.0, own));
        }
    }

    fn digest(&self) -> u64 {
        evenkeel::determinism::digest(|hasher| self.0.iter().for_each(|n| hasher.write_u32(*n)))
    }

    fn permits(&self, issuer: HostId, _: &u8) -> bool {
        issuer.0 < PLAYERS
    }

    fn places(&self, out: &mut Vec<(EntityId, State)>) {
        let place = |n: &u32| Vec3::new(f64::from(*n), 0.0, 0.0);
        let state = |n| State { position: place(n), velocity: Vec3::ZERO, attitude: Attitude::None };
        out.extend((0..).map(EntityId).zip(self.0.iter().map(state)));
    }
}

type Verdict = (Tick, (u32, u32));

struct Bench {
    warp: Timewarp<Counters>,
    other: Timewarp<Counters>,
    now: GlobalTime,
    /// What was accepted.
    taken: Vec<Operation<u8>>,
    /// Verdicts that were announced and not revoked.
    standing: Vec<Verdict>,
    /// Whether somebody else's word was taken: then what was accepted does not tell the state.
    overruled: bool,
}

impl Bench {
    fn perform(&mut self, operation: u8, input: &mut Input<'_>) {
        match operation {
            op::WAIT => self.now += input.span(),
            op::ADVANCE => {
                let (before, tick) = (self.warp.digest(), self.warp.tick());
                match self.warp.advance(self.now) {
                    Ok(_) => assert_eq!(self.warp.tick(), Tick::at_or_before(self.now, STEP).max(tick)),
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        assert_eq!((self.warp.digest(), self.warp.tick()), (before, tick), "refused: {error}");
                    }
                }
                let _ = self.other.advance(self.now);
                while self.other.poll_event().is_some() {}
            }
            op::OPERATION => {
                let operation = self.operation(input);
                self.take(operation);
            }
            op::AGAIN => {
                let back = usize::from(input.byte());
                let Some(&known) = self.taken.iter().rev().nth(back) else { return };
                let act = if input.byte().is_multiple_of(2) { known.act } else { known.act.wrapping_add(1) };
                self.take(Operation { act, ..known });
            }
            op::ELSEWHERE => {
                let operation = self.operation(input);
                let _ = self.other.handle_operation(operation, self.now);
            }
            op::OVERRULE => {
                let tick = Tick(self.warp.tick().0.saturating_add(i64::from(input.byte() as i8)));
                let state = Counters([u32::from(input.byte()); PLAYERS as usize]);
                let before = self.seen();
                match self.warp.overrule(tick, &state, self.now) {
                    Ok(()) => self.overruled = true,
                    Err(error) => assert_eq!(self.seen(), before, "refused: {error}"),
                }
            }
            _ => self.brief(),
        }
    }

    /// A host from 0 to 7, a span before or after now, a sequence in a byte, an act.
    fn operation(&self, input: &mut Input<'_>) -> Operation<u8> {
        let issuer = HostId(u32::from(input.byte() % 8));
        let at = self.now - input.span();
        Operation { at, issuer, sequence: u32::from(input.byte()), act: input.byte() }
    }

    fn take(&mut self, operation: Operation<u8>) {
        let (before, tick) = (self.seen(), Tick::at_or_after(operation.at, STEP));
        match self.warp.handle_operation(operation, self.now) {
            Ok(accepted) => {
                assert!(operation.issuer.0 < PLAYERS, "{operation:?} is not permitted");
                assert_eq!(accepted == Accepted::InTime, tick > self.warp.tick());
                assert!(tick > self.warp.settled_until());
                self.taken.push(operation);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let after = self.seen();
                assert_eq!((&after.0, &after.1), (&before.0, &before.1), "refused: {error}");
                assert_eq!(after.2.refused.total(), before.2.refused.total() + 1);
                if error == OperationError::Duplicate {
                    assert!(self.overruled || self.taken.contains(&operation));
                }
            }
        }
    }

    /// Takes the other site's word for everything.
    fn brief(&mut self) {
        let Some(briefing) = self.other.briefing() else { return };
        let Briefing { tick, ref operations, .. } = briefing;
        assert!(operations.iter().all(|operation| Tick::at_or_after(operation.at, STEP) > tick));
        let before = self.seen();
        match self.warp.resume(&briefing, self.now) {
            Ok(()) => self.overruled = true,
            Err(error) => assert_eq!(self.seen(), before, "refused: {error}"),
        }
    }

    /// What an application can see, and the counts.
    fn seen(&self) -> (Counters, [Tick; 2], TimewarpStats) {
        (self.warp.simulation().clone(), [self.warp.tick(), self.warp.settled_until()], self.warp.stats())
    }

    fn check(&mut self) {
        let mut waited = 0;
        while let Some(event) = self.warp.poll_event() {
            waited += 1;
            match event {
                TimewarpEvent::Decided { tick, verdict, .. } => self.standing.push((tick, verdict)),
                TimewarpEvent::Revoked { tick, verdict } => {
                    let found = self.standing.iter().position(|standing| *standing == (tick, verdict));
                    assert!(self.dropped() || found.is_some(), "{verdict:?} was never announced");
                    found.map(|index| self.standing.swap_remove(index));
                }
                TimewarpEvent::Diverged { tick, .. } => panic!("the same operations led elsewhere at {tick}"),
                _ => {}
            }
        }
        assert!(waited <= 2 * MAX_EVENTS, "{waited} events waited");
        assert!(self.warp.settled_until() < self.warp.tick().next());
        let memory = self.warp.memory_bytes();
        assert!(memory <= MAX_MEMORY, "{memory} bytes");
    }

    /// Whether more was announced at once than anybody polled for.
    fn dropped(&self) -> bool {
        self.warp.stats().decisions_dropped > 0
    }

    /// Lets everything settle, and compares with the execution in order.
    fn finish(&mut self) {
        let end = self.warp.tick().time(STEP).max(self.now);
        for n in 1..=2 {
            // Where time has come to its end, nothing settles any more.
            if self.warp.advance(end + HISTORY * n + STEP).is_err() {
                return;
            }
            self.check();
        }
        if self.overruled {
            return;
        }
        let (state, verdicts) = in_order(&self.taken, self.warp.tick());
        assert_eq!(self.warp.simulation(), &state);
        if !self.dropped() {
            self.standing.sort_unstable();
            let due = self.warp.settled_until();
            let mut announced = self.standing.clone();
            announced.retain(|verdict| verdict.0 <= due);
            let mut expected = verdicts;
            expected.retain(|verdict| verdict.0 <= due);
            expected.sort_unstable();
            assert_eq!(announced, expected);
        }
    }
}

/// What the operations lead to, plainly: at each tick the step, and then the operations by issuer and sequence.
fn in_order(taken: &[Operation<u8>], until: Tick) -> (Counters, Vec<Verdict>) {
    let mut sorted = taken.to_vec();
    sorted.sort_by_key(|o| (Tick::at_or_after(o.at, STEP), o.issuer, o.sequence));
    let mut due = sorted.iter().peekable();
    let (mut state, mut all, mut reached) = (Counters::default(), Vec::new(), Vec::new());
    for tick in (0..=until.0).map(Tick) {
        if tick > Tick(0) {
            state.step(&mut reached);
        }
        while let Some(o) = due.next_if(|o| Tick::at_or_after(o.at, STEP) <= tick) {
            state.apply(o.issuer, &o.act, &mut reached);
        }
        all.extend(reached.drain(..).map(|verdict| (tick, verdict)));
    }
    (state, all)
}

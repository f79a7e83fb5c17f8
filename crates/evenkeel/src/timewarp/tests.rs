use super::toy::{Act, PLAYERS, STEP, Toy, Verdict, in_order, operation, time};
use super::*;
use crate::ids::HostId;
use proptest::prelude::*;
use std::vec;

const END: i64 = 120;

fn warp(config: TimewarpConfig) -> Timewarp<Toy> {
    Timewarp::new(Toy::default(), config, GlobalTime::ZERO).unwrap()
}

fn drain(warp: &mut Timewarp<Toy>) -> Vec<TimewarpEvent<Verdict>> {
    core::iter::from_fn(|| warp.poll_event()).collect()
}

/// The verdicts that stand after all that was announced and revoked, sorted.
fn standing(events: &[TimewarpEvent<Verdict>]) -> Vec<(Tick, Verdict)> {
    let mut out = vec![];
    for event in events {
        match event {
            TimewarpEvent::Decided { tick, verdict, .. } => out.push((*tick, *verdict)),
            TimewarpEvent::Revoked { tick, verdict } => {
                let index =
                    out.iter().position(|v| v == &(*tick, *verdict)).expect("only what was announced is revoked");
                out.swap_remove(index);
            }
            _ => {}
        }
    }
    out.sort();
    out
}

#[test]
fn a_late_operation_takes_effect_when_it_should_have() {
    let mut warp = warp(TimewarpConfig::default());
    warp.advance(time(20)).unwrap();
    assert_eq!(warp.handle_operation(operation(5, 0, 0, Act::Steer(1.0)), time(20)), Ok(Accepted::Late { depth: 15 }));
    assert_eq!(warp.handle_operation(operation(9, 0, 1, Act::Steer(2.0)), time(20)), Ok(Accepted::Late { depth: 11 }));
    assert_eq!(warp.advance(time(21)), Ok(Advanced { stepped: 1, replayed: 15 }));
    let operations = [operation(5, 0, 0, Act::Steer(1.0)), operation(9, 0, 1, Act::Steer(2.0))];
    assert_eq!(warp.simulation(), &in_order(&operations, 21).0);
    let stats = warp.stats();
    assert_eq!((stats.rollbacks, stats.late, stats.deepest), (1, 2, 15), "one rollback for both");
}

#[test]
fn whoever_is_shot_in_hindsight_vanishes_and_whoever_is_not_comes_back() {
    let mut warp = warp(TimewarpConfig::default());
    warp.advance(time(10)).unwrap();
    for sequence in 0..3 {
        warp.handle_operation(operation(5, 0, sequence, Act::Shoot), time(10)).unwrap();
    }
    warp.advance(time(11)).unwrap();
    let fates = |warp: &mut Timewarp<Toy>| {
        let fate = |event| match event {
            TimewarpEvent::Vanished { entity, depth } => Some((entity.0, false, depth)),
            TimewarpEvent::Appeared { entity, depth } => Some((entity.0, true, depth)),
            _ => None,
        };
        core::iter::from_fn(|| warp.poll_event()).filter_map(fate).collect::<Vec<_>>()
    };
    assert_eq!(fates(&mut warp), [(1, false, 5)]);
    warp.overrule(Tick(8), &Toy::default(), time(11)).unwrap();
    assert_eq!(fates(&mut warp), [(1, true, 3)]);
}

#[test]
fn corrections_say_how_far_things_moved() {
    let mut warp = warp(TimewarpConfig::default());
    warp.advance(time(20)).unwrap();
    let before = warp.simulation().x(1);
    warp.handle_operation(operation(10, 1, 0, Act::Steer(2.0)), time(20)).unwrap();
    warp.advance(time(20)).unwrap();
    let events = drain(&mut warp);
    let [TimewarpEvent::Corrected { entity: EntityId(1), by, turned, depth: 10 }] = events[..] else {
        panic!("one entity moved: {events:?}")
    };
    assert_eq!(by.x, warp.simulation().x(1) - before);
    assert!(by.x > 0.3 && turned != 0.0);
}

#[test]
fn a_verdict_that_is_revised_before_it_is_announced_is_nobodys_business() {
    let lag = TimewarpConfig { verdict_lag: STEP * 10, ..TimewarpConfig::default() };
    for (config, paradoxical) in [(TimewarpConfig::default(), true), (lag, false)] {
        let mut warp = warp(config);
        warp.handle_operation(operation(5, 0, 0, Act::Shoot), time(0)).unwrap();
        warp.advance(time(10)).unwrap();
        // The target had left.
        warp.handle_operation(operation(1, 1, 0, Act::Steer(40.0)), time(10)).unwrap();
        for tick in 10..60 {
            warp.advance(time(tick)).unwrap();
        }
        let events = drain(&mut warp);
        let operations = [operation(5, 0, 0, Act::Shoot), operation(1, 1, 0, Act::Steer(40.0))];
        let mut expected = in_order(&operations, 40).1;
        expected.sort();
        let mut standing = standing(&events);
        standing.retain(|(tick, _)| *tick <= Tick(40));
        assert_eq!(standing, expected);
        assert_eq!(warp.stats().paradoxes() > 0, paradoxical, "{events:?}");
        assert_eq!(events.iter().any(|e| matches!(e, TimewarpEvent::Revoked { .. })), paradoxical);
    }
}

#[test]
fn verdicts_wait_as_long_as_the_history_reaches_and_no_longer() {
    let second = Duration::from_secs(1);
    let config = TimewarpConfig { verdict_lag: second * 9, ..TimewarpConfig::default() };
    let refused = TimewarpConfigError::VerdictsTooLate { lag: second * 9, history: second };
    assert_eq!(Timewarp::new(Toy::default(), config, GlobalTime::ZERO).err(), Some(refused));
    let mut warp = warp(TimewarpConfig::default());
    assert_eq!(warp.set_verdict_lag(second * 9), Err(refused));
    warp.set_verdict_lag(second).unwrap();
    warp.handle_operation(operation(5, 0, 0, Act::Shoot), time(0)).unwrap();
    warp.advance(time(54)).unwrap();
    assert_eq!(warp.poll_event(), None);
    warp.advance(time(55)).unwrap();
    assert!(matches!(warp.poll_event(), Some(TimewarpEvent::Decided { tick: Tick(5), late: false, .. })));
}

#[test]
fn what_one_does_oneself_is_never_late() {
    let mut warp = warp(TimewarpConfig::default());
    for tick in 0..50 {
        warp.advance(time(tick)).unwrap();
        let issued = warp.issue(HostId(1), Act::Shoot, Duration::ZERO, time(tick)).unwrap();
        assert_eq!(issued.sequence, tick as u32);
    }
    warp.advance(time(50)).unwrap();
    let stats = warp.stats();
    assert_eq!((stats.accepted, stats.late, stats.rollbacks, stats.paradoxes()), (50, 0, 0, 0));
}

#[test]
fn time_neither_goes_back_nor_runs_away() {
    let mut warp = warp(TimewarpConfig::default());
    warp.advance(time(10)).unwrap();
    let digest = warp.digest();
    assert_eq!(warp.advance(time(9)), Err(AdvanceError::TimeWentBackwards { by: STEP }));
    assert_eq!(warp.advance(time(261)), Err(AdvanceError::TooFarBehind { ticks: 251, limit: 250 }));
    assert!(matches!(warp.advance(GlobalTime::MAX), Err(AdvanceError::TooFarBehind { .. })));
    assert_eq!((warp.digest(), warp.tick()), (digest, Tick(10)));
    assert_eq!(warp.advance(time(260)).map(|advanced| advanced.stepped), Ok(250));
}

#[test]
fn what_is_refused_changes_nothing_and_is_counted() {
    let config = TimewarpConfig { max_operations_per_issuer: 2, max_issuers: 2, ..TimewarpConfig::default() };
    let mut warp = warp(config);
    warp.advance(time(100)).unwrap();
    warp.handle_operation(operation(100, 0, 7, Act::Shoot), time(100)).unwrap();
    warp.handle_operation(operation(101, 0, 8, Act::Shoot), time(100)).unwrap();
    warp.handle_operation(operation(101, 1, 8, Act::Shoot), time(100)).unwrap();
    warp.advance(time(100)).unwrap();
    let (digest, accepted) = (warp.digest(), warp.stats().accepted);
    let mut refused = |operation| warp.handle_operation(operation, time(100)).unwrap_err();
    assert_eq!(refused(operation(100, 0, 7, Act::Shoot)), OperationError::Duplicate);
    assert_eq!(refused(operation(100, 0, 7, Act::Steer(1.0))), OperationError::Conflict);
    assert_eq!(refused(operation(99, 0, 7, Act::Shoot)), OperationError::Conflict);
    assert_eq!(refused(operation(151, 1, 0, Act::Shoot)), OperationError::FromTheFuture { by: STEP });
    assert_eq!(refused(operation(49, 1, 0, Act::Shoot)), OperationError::BeforeHistory { by: STEP });
    assert_eq!(refused(operation(100, PLAYERS, 0, Act::Shoot)), OperationError::NotPermitted);
    assert_eq!(refused(operation(100, 0, 9, Act::Shoot)), OperationError::TooManyOperations { limit: 2 });
    assert_eq!(refused(operation(100, 2, 9, Act::Shoot)), OperationError::TooManyIssuers { limit: 2 });
    for at in [GlobalTime::MIN, GlobalTime::MAX] {
        refused(Operation { at, ..operation(0, 1, 55, Act::Shoot) });
    }
    warp.advance(time(100)).unwrap();
    assert_eq!((warp.digest(), warp.stats().accepted), (digest, accepted));
    let expected = Refused {
        from_the_future: 2,
        before_history: 2,
        overruled: 0,
        duplicate: 1,
        conflict: 2,
        not_permitted: 1,
        too_many: 2,
    };
    assert_eq!(warp.stats().refused, expected);
    assert_eq!(expected.total(), 10);
}

#[test]
fn a_duplicate_is_known_even_when_its_tick_has_left_the_history() {
    let mut warp = warp(TimewarpConfig::default());
    warp.handle_operation(operation(10, 0, 0, Act::Shoot), time(0)).unwrap();
    warp.advance(time(80)).unwrap();
    assert!(warp.settled_until() > Tick(10));
    assert_eq!(warp.handle_operation(operation(10, 0, 0, Act::Shoot), time(80)), Err(OperationError::Duplicate));
}

#[test]
fn the_authority_replaces_the_state_and_later_operations_are_replayed() {
    let later = [operation(12, 0, 0, Act::Steer(1.0)), operation(30, 1, 0, Act::Shoot)];
    let unknown_here = operation(8, 2, 0, Act::Steer(-3.0));
    let mut warp = warp(TimewarpConfig { snapshot_every: 3, ..TimewarpConfig::default() });
    for operation in later {
        warp.handle_operation(operation, time(0)).unwrap();
    }
    warp.advance(time(20)).unwrap();
    warp.overrule(Tick(10), &in_order(&[unknown_here], 10).0, time(20)).unwrap();
    let all = [later[0], later[1], unknown_here];
    assert_eq!(warp.simulation(), &in_order(&all, 20).0, "replayed at once");
    assert_eq!(warp.handle_operation(unknown_here, time(20)), Err(OperationError::Overruled { by: STEP * 3 }));
    assert_eq!(warp.overrule(Tick(9), &Toy::default(), time(20)), Err(OverruleError::BeforeHistory { by: 1 }));
    assert_eq!(warp.overrule(Tick(71), &Toy::default(), time(20)), Err(OverruleError::FromTheFuture { by: 1 }));
    // Late operations after it are as welcome as ever.
    let late = operation(11, 2, 1, Act::Steer(4.0));
    warp.handle_operation(late, time(20)).unwrap();
    warp.advance(time(40)).unwrap();
    assert_eq!(warp.simulation(), &in_order(&[later[0], later[1], unknown_here, late], 40).0);
    // A jump ahead.
    warp.overrule(Tick(60), &in_order(&all, 60).0, time(41)).unwrap();
    assert_eq!(warp.tick(), Tick(60));
    warp.advance(time(41)).unwrap();
    warp.advance(time(70)).unwrap();
    assert_eq!(warp.simulation(), &in_order(&all, 70).0);
}

#[test]
fn another_sites_briefing_heals_what_came_too_late_and_lets_a_newcomer_in() {
    let operations = [operation(10, 0, 0, Act::Steer(3.0)), operation(30, 1, 0, Act::Shoot)];
    let (missed, recent) = (operation(20, 2, 0, Act::Steer(4.0)), operation(88, 0, 1, Act::Shoot));
    let [mut informed, mut healed] = [warp(TimewarpConfig::default()), warp(TimewarpConfig::default())];
    for operation in operations {
        informed.handle_operation(operation, time(0)).unwrap();
        healed.handle_operation(operation, time(0)).unwrap();
    }
    assert!(informed.briefing().is_none(), "nothing is settled yet");
    informed.handle_operation(missed, time(0)).unwrap();
    let mut events = vec![];
    for tick in 0..=90 {
        informed.advance(time(tick)).unwrap();
        healed.advance(time(tick)).unwrap();
        events.extend(drain(&mut healed));
    }
    assert!(matches!(healed.handle_operation(missed, time(90)), Err(OperationError::BeforeHistory { .. })));
    informed.handle_operation(recent, time(90)).unwrap();
    let briefing = informed.briefing().unwrap();
    assert_eq!((briefing.tick, briefing.operations.len()), (Tick(39), 1));
    // It takes a while to get there, until its tick has left the history there.
    let mut newcomer = Timewarp::new(Toy::default(), TimewarpConfig::default(), time(100)).unwrap();
    for warp in [&mut healed, &mut newcomer] {
        warp.advance(time(100)).unwrap();
        assert!(warp.settled_until() > briefing.tick);
        warp.resume(&briefing, time(100)).unwrap();
        assert_eq!(warp.settled_until(), Tick(49), "the history reaches no further back than before");
        for tick in 100..130 {
            warp.advance(time(tick)).unwrap();
        }
    }
    events.extend(drain(&mut healed));
    let expected = in_order(&[operations[0], operations[1], missed, recent], 129);
    assert_eq!(healed.simulation(), &expected.0);
    assert_eq!(newcomer.simulation(), &expected.0);
    assert_eq!(healed.stats().refused.total(), 1);
    let recent = |verdicts: Vec<(Tick, Verdict)>| verdicts.into_iter().filter(|v| v.0 > Tick(39)).collect::<Vec<_>>();
    let mut expected = recent(expected.1);
    expected.sort();
    assert_eq!(recent(standing(&events)), expected, "no verdict is announced twice");
}

#[test]
fn a_briefing_from_before_living_memory_announces_nothing_again() {
    let operations = [operation(20, 0, 0, Act::Shoot), operation(110, 1, 0, Act::Shoot)];
    let mut informed = warp(TimewarpConfig::default());
    let mut other = warp(TimewarpConfig::default());
    for operation in operations {
        informed.handle_operation(operation, time(60)).unwrap();
        other.handle_operation(operation, time(60)).unwrap();
    }
    informed.advance(time(61)).unwrap();
    let briefing = informed.briefing().unwrap();
    assert!(briefing.tick < Tick(20));
    other.advance(time(170)).unwrap();
    let before = drain(&mut other);
    assert!(before.len() >= 2);
    assert!(matches!(
        other.overrule(briefing.tick, &briefing.state, time(170)),
        Err(OverruleError::BeforeHistory { .. })
    ));
    other.resume(&briefing, time(170)).unwrap();
    other.advance(time(175)).unwrap();
    assert_eq!(drain(&mut other), []);
    assert_eq!(other.simulation(), &in_order(&operations, 175).0);
}

#[test]
fn the_past_can_be_looked_at_and_its_digests_outlive_it() {
    for snapshot_every in [1, 4] {
        let operations = [operation(3, 0, 0, Act::Steer(1.0)), operation(50, 1, 0, Act::Shoot)];
        let mut warp = warp(TimewarpConfig { snapshot_every, digest_every: Some(10), ..TimewarpConfig::default() });
        for operation in operations {
            warp.handle_operation(operation, time(0)).unwrap();
        }
        for tick in 0..=90 {
            warp.advance(time(tick)).unwrap();
        }
        let present = warp.simulation().clone();
        for tick in [0, 10, 20, 30, 39, 50, 77, 90] {
            assert_eq!(warp.digest_at(Tick(tick)), Some(in_order(&operations, tick).0.digest()), "tick {tick}");
        }
        assert_eq!(warp.settled_until(), Tick(39));
        assert_eq!((warp.digest_at(Tick(31)), warp.digest_at(Tick(91))), (None, None));
        assert_eq!(warp.look_back(Tick(60), Toy::clone), Some(in_order(&operations, 60).0));
        assert_eq!(warp.simulation(), &present);
    }
}

#[test]
fn events_that_nobody_polls_for_are_bounded_and_corrections_do_not_push_out_verdicts() {
    let mut warp = warp(TimewarpConfig { max_events: 4, max_operations_per_issuer: 5000, ..TimewarpConfig::default() });
    warp.handle_operation(operation(1, 0, 0, Act::Shoot), time(0)).unwrap();
    for tick in 0..30 {
        warp.advance(time(tick)).unwrap();
        warp.handle_operation(operation((tick - 3).max(0), 1, tick as u32, Act::Steer(0.01)), time(tick)).unwrap();
    }
    let stats = warp.stats();
    assert!(stats.corrections_dropped > 0 && stats.decisions_dropped == 0, "{stats:?}");
    let events = drain(&mut warp);
    assert!(events.len() <= 8 && matches!(events[0], TimewarpEvent::Decided { .. }), "{events:?}");
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    let new = |config| Timewarp::new(Toy::default(), config, GlobalTime::ZERO).err();
    let default = TimewarpConfig::default;
    assert_eq!(
        new(TimewarpConfig { history: Duration::ZERO, ..default() }),
        Some(TimewarpConfigError::Negative("history"))
    );
    assert_eq!(new(TimewarpConfig { ahead: -STEP, ..default() }), Some(TimewarpConfigError::Negative("ahead")));
    assert_eq!(
        new(TimewarpConfig { snapshot_every: 0, ..default() }),
        Some(TimewarpConfigError::Zero("snapshot_every"))
    );
    let too_long = new(TimewarpConfig { history: Duration::MAX, ..default() });
    assert!(matches!(too_long, Some(TimewarpConfigError::HistoryTooLong { .. })));
    assert_eq!(new(TimewarpConfig { ahead: Duration::ZERO, ..default() }), None);
}

/// An operation and the tick at which it arrives.
fn arrivals() -> impl Strategy<Value = Vec<(Operation<Act>, i64)>> {
    let act = prop_oneof![(-3.0..3.0).prop_map(Act::Steer), Just(Act::Shoot)];
    let one = (0..END, 0..PLAYERS, 0..40u32, act, -20..40i64, 0..STEP.as_nanos());
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let named = |(number, (tick, issuer, shuffle, act, delay, before)): (usize, (i64, u32, u32, Act, i64, i64))| {
            let sequence = number as u32 + shuffle * 1000;
            let mut operation = operation(tick, issuer, sequence, act);
            operation.at = operation.at - Duration::from_nanos(before);
            (operation, (tick + delay).clamp(0, END))
        };
        all.into_iter().enumerate().map(named).collect()
    })
}

/// Lets operations arrive, some twice, and answers the end and everything that was announced.
fn play(
    arrivals: &[(Operation<Act>, i64)],
    config: TimewarpConfig,
    frame: i64,
) -> (Timewarp<Toy>, Vec<TimewarpEvent<Verdict>>) {
    let mut warp = warp(config);
    let mut events = vec![];
    for tick in 0..=END + 60 {
        for (operation, _) in arrivals.iter().filter(|(o, at)| *at == tick || (at + 3 == tick && o.sequence % 2 == 0)) {
            match warp.handle_operation(*operation, time(tick)) {
                Ok(_) | Err(OperationError::Duplicate) => {}
                Err(error) => panic!("{error}"),
            }
        }
        if tick % frame == 0 || tick == END + 60 {
            warp.advance(time(tick)).unwrap();
            events.extend(drain(&mut warp));
        }
    }
    (warp, events)
}

proptest! {
    #[test]
    fn any_order_lateness_and_duplication_lead_to_the_same_state_and_verdicts(
        arrivals in arrivals(),
        snapshot_every in 1u32..6,
        verdict_lag in 0i64..50,
        frame in 1i64..5,
    ) {
        let config = TimewarpConfig {
            snapshot_every,
            verdict_lag: STEP * verdict_lag,
            verify_every: Some(7),
            digest_every: Some(25),
            ..TimewarpConfig::default()
        };
        let (mut warp, events) = play(&arrivals, config, frame);
        let operations: Vec<_> = arrivals.iter().map(|(operation, _)| *operation).collect();
        let (expected, mut verdicts) = in_order(&operations, END + 60);
        prop_assert_eq!(warp.simulation(), &expected);
        verdicts.retain(|(tick, _)| time(tick.0) + STEP * verdict_lag <= time(END + 60));
        verdicts.sort();
        prop_assert_eq!(standing(&events), verdicts);
        for tick in [25, 50, 100, 125, 150, 180] {
            prop_assert_eq!(warp.digest_at(Tick(tick)), Some(in_order(&operations, tick).0.digest()));
        }
        let stats = warp.stats();
        prop_assert_eq!(stats.diverged, 0);
        prop_assert!(stats.deepest <= 50 && stats.rollbacks <= stats.late && stats.late <= stats.accepted);
        prop_assert_eq!(stats.accepted, operations.len() as u64);
        prop_assert!(warp.history.slots().len() as u32 <= 51 / snapshot_every + 2);
        if verdict_lag >= 44 {
            prop_assert_eq!(stats.paradoxes(), 0, "nothing comes that late");
        }
    }

    #[test]
    fn operations_that_are_refused_leave_no_trace(
        arrivals in arrivals(),
        bad in prop::collection::vec((any::<i64>(), 0..PLAYERS + 2, any::<u32>(), 0i64..=END), 0..20),
    ) {
        let mut warps = [warp(TimewarpConfig::default()), warp(TimewarpConfig::default())];
        let mut refused = 0;
        for tick in 0..=END {
            for (operation, _) in arrivals.iter().filter(|(_, at)| *at == tick) {
                for warp in &mut warps {
                    warp.handle_operation(*operation, time(tick)).unwrap();
                }
            }
            for (at, issuer, sequence, _) in bad.iter().filter(|bad| bad.3 == tick) {
                let at = GlobalTime::from_nanos(*at);
                let operation = Operation { at, issuer: HostId(*issuer), sequence: *sequence, act: Act::Shoot };
                let before = warps[0].digest();
                if warps[0].handle_operation(operation, time(tick)).is_err() {
                    refused += 1;
                    prop_assert_eq!(before, warps[0].digest());
                } else {
                    warps[1].handle_operation(operation, time(tick)).unwrap();
                }
            }
            for warp in &mut warps {
                warp.advance(time(tick)).unwrap();
            }
            prop_assert_eq!(warps[0].digest(), warps[1].digest());
        }
        prop_assert_eq!(warps[0].stats().refused.total(), refused);
        prop_assert_eq!(warps[1].stats().refused.total(), 0);
    }
}

/// A simulation with a flaw.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    /// Operations read a counter that is not saved.
    Hidden,
    /// Every run begins with another counter.
    Global,
    /// A digested number is not restored.
    Forgotten,
    /// A step reads a number that is not saved.
    HiddenInStep,
}

#[derive(Clone, Debug)]
struct Flawed {
    flaw: Flaw,
    value: u64,
    hidden: u64,
}

impl Simulation for Flawed {
    type Act = u64;
    type Snapshot = (u64, u64);
    type Verdict = ();

    fn step_length(&self) -> Duration {
        STEP
    }

    fn save(&self, into: &mut (u64, u64)) {
        *into = (self.value, self.hidden);
    }

    fn restore(&mut self, from: &(u64, u64)) {
        self.value = from.0;
        if self.flaw == Flaw::None {
            self.hidden = from.1;
        }
    }

    fn step(&mut self, _: &mut Vec<()>) {
        self.value = self.value.wrapping_mul(31).wrapping_add(1);
        if self.flaw == Flaw::HiddenInStep {
            self.hidden += 1;
            self.value += u64::from(self.hidden == 4);
        }
    }

    fn apply(&mut self, _: HostId, act: &u64, _: &mut Vec<()>) {
        match self.flaw {
            Flaw::Hidden | Flaw::Global | Flaw::None if *act > 5 => self.value += self.hidden,
            _ => self.value += act,
        }
        self.hidden += 1;
    }

    fn digest(&self) -> u64 {
        self.value ^ if self.flaw == Flaw::Forgotten { self.hidden << 32 } else { 0 }
    }
}

fn flawed_operations() -> Vec<Operation<u64>> {
    let operation = |tick, issuer, sequence, act| Operation { at: time(tick), issuer: HostId(issuer), sequence, act };
    vec![operation(2, 1, 0, 1), operation(6, 1, 1, 9), operation(6, 0, 0, 2), operation(8, 0, 1, 3)]
}

#[test]
fn the_check_names_the_first_operation_or_step_that_is_not_deterministic() {
    let run = |flaw| {
        let mut runs = 0;
        let fresh = || {
            runs += 1;
            Flawed { flaw, value: 1, hidden: if flaw == Flaw::Global { runs } else { 0 } }
        };
        check(fresh, &flawed_operations(), Tick(0)..=Tick(20), 3)
    };
    assert!(run(Flaw::None).is_ok());
    let diverged = |tick, operation, how| Err(Diverged { tick: Tick(tick), operation, how });
    let culprit = Some((HostId(1), 1));
    assert_eq!(run(Flaw::Global), diverged(6, culprit, Divergence::SecondRun));
    assert_eq!(run(Flaw::Forgotten), diverged(2, None, Divergence::Restored));
    assert_eq!(run(Flaw::Hidden), diverged(6, culprit, Divergence::Replayed));
    assert_eq!(run(Flaw::HiddenInStep), diverged(3, None, Divergence::Replayed));
}

#[test]
fn a_timewarp_that_verifies_itself_names_the_first_operation_too() {
    for (flaw, expected) in [(Flaw::None, None), (Flaw::Hidden, Some((Tick(6), Some((HostId(1), 1)))))] {
        let simulation = Flawed { flaw, value: 1, hidden: 0 };
        let config = TimewarpConfig { verify_every: Some(10), ..TimewarpConfig::default() };
        let mut warp = Timewarp::new(simulation, config, GlobalTime::ZERO).unwrap();
        for operation in flawed_operations() {
            warp.handle_operation(operation, time(0)).unwrap();
        }
        for tick in 0..20 {
            warp.advance(time(tick)).unwrap();
        }
        let found = warp.poll_event().map(|event| match event {
            TimewarpEvent::Diverged { tick, operation } => (tick, operation),
            other => panic!("{other:?}"),
        });
        assert_eq!(found, expected);
        assert_eq!(warp.stats().diverged, u64::from(expected.is_some()));
    }
}

#[test]
fn what_is_executed_again_is_verified_again() {
    let config = TimewarpConfig { verify_every: Some(10), ..TimewarpConfig::default() };
    let mut warp = Timewarp::new(Flawed { flaw: Flaw::Hidden, value: 1, hidden: 0 }, config, GlobalTime::ZERO).unwrap();
    warp.handle_operation(flawed_operations()[0], time(0)).unwrap();
    warp.advance(time(12)).unwrap();
    assert_eq!(warp.poll_event(), None);
    warp.handle_operation(flawed_operations()[1], time(12)).unwrap();
    warp.advance(time(20)).unwrap();
    let expected = TimewarpEvent::Diverged { tick: Tick(6), operation: Some((HostId(1), 1)) };
    assert_eq!(warp.poll_event(), Some(expected));
}

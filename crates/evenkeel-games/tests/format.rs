//! The text format of recordings: round trips, and what is said about texts that are none.
#![allow(clippy::unwrap_used)]

use evenkeel::{Duration, GlobalTime, HostId, Operation};
use evenkeel_games::operations::game_of;
use evenkeel_games::{Arena, Game, Recording, Setup, Spaceship, arena, spaceship};
use proptest::prelude::*;
use spaceship::Turn;

const HEAD: &str = "# evenkeel operations 1\n# game: spaceship\n# players: 2\n# seed: 0\n# ticks: 10\n\
                    # step_ns: 20000000\n# life: 3\n";
const COLUMNS: &str = "t_s,player,sequence,act,value\n";

fn error(text: impl AsRef<[u8]>) -> String {
    Recording::<Spaceship>::parse(text.as_ref()).unwrap_err().to_string()
}

#[test]
fn errors_say_which_line_and_what_is_wrong() {
    let row = |row: &str| format!("{HEAD}{COLUMNS}{row}\n");
    let head = |from: &str, to: &str| format!("{}{COLUMNS}", HEAD.replace(from, to));
    for (text, wanted) in [
        (String::new(), "line 1: the recording is empty"),
        ("t_s,x\n".into(), "line 1: expected `# evenkeel operations 1`, found `t_s,x`"),
        (HEAD.into(), "line 7: the recording ends before its columns"),
        (format!("{HEAD}{HEAD}"), "line 8: expected `# name: value` or `t_s,player,sequence,act,value`"),
        (format!("{HEAD}# life: 4\n{COLUMNS}"), "line 8: `life` is said twice"),
        (format!("{HEAD}\n{COLUMNS}"), "line 8: expected `# name: value`"),
        (head("spaceship", "chess"), "line 2: this is a recording of `chess`, not of `spaceship`"),
        (head("# seed: 0\n", ""), "line 7: `# seed: ...` is missing above"),
        (head("# life: 3\n", ""), "line 7: `# life: ...` is missing above"),
        (head("players: 2", "players: two"), "line 3: `players` is `two`, which is not a whole number in range"),
        (head("players: 2", "players: +2"), "line 3: `players` is `+2`, which is not a whole number in range"),
        (head("players: 2", "players: 99999999999"), "line 3: `players` is `99999999999`, which is not"),
        (head("players: 2", "players: 5000"), "line 8: a game has 1 to 4096 players, not 5000"),
        (head("ticks: 10", "ticks: 99999999"), "line 8: a recording has at most 10000000 ticks, not 99999999"),
        (head("step_ns: 20000000", "step_ns: 0"), "line 8: a step takes 1 ms to 250 ms, not 0 ms"),
        (head("step_ns: 20000000", "step_ns: -9223372036854775808"), "line 8: a step takes 1 ms to 250 ms"),
        (head("life: 3", "life: 0"), "line 8: the rule `life` has a value that"),
        (head("life: 3", "life: 256"), "line 7: spaceship has no rule `life` of 256"),
        (head("life: 3", "lives: 3"), "line 7: spaceship has no rule `lives` of 3"),
        (row("0.1,0,0,fire"), "line 9: the row ends before column `value`"),
        (row("0.1,0,0,fire,,"), "line 9: the row has more than five columns"),
        (row("0.1,0,0,jump,"), "line 9: spaceship has no act `jump` with value ``"),
        (row("0.1,0,0,turn,up"), "line 9: spaceship has no act `turn` with value `up`"),
        (row("-0.1,0,0,fire,"), "line 9: `t_s` is `-0.1`, which is not seconds with up to nine decimals"),
        (row("0.1234567891,0,0,fire,"), "line 9: `t_s` is `0.1234567891`, which is not"),
        (row("1e3,0,0,fire,"), "line 9: `t_s` is `1e3`, which is not"),
        (row("99999999999.0,0,0,fire,"), "line 9: `t_s` is `99999999999.0`, which is not"),
        (row("NaN,0,0,fire,"), "line 9: `t_s` is `NaN`, which is not"),
        (row("0.1,2,0,fire,"), "line 9: there is no player 2 among 2, counted from 0"),
        (row("0.1,0,-1,fire,"), "line 9: `sequence` is `-1`, which is not a whole number in range"),
        (row("0.1,0,0,fire,\n\n# note\n0.05,1,0,fire,"), "line 12: time goes backwards (0.050000 s after 0.100000 s)"),
        (row("0.1,0,5,fire,\n0.1,0,5,fire,"), "line 10: player 0 comes with sequence 5 again or too late"),
    ] {
        assert!(error(&text).starts_with(wanted), "{}\n for {text}", error(&text));
    }
    let long = format!("{HEAD}{COLUMNS}0.1,0,0,{},\n", "x".repeat(10_000));
    assert!(error(long).len() < 200);
    assert_eq!(error(b"# evenkeel\n\xff"), "line 2: there are bytes that are not text (UTF-8)");
    assert_eq!(game_of(b"").unwrap_err().line, 1);
}

#[test]
fn seconds_lose_nothing_and_notes_are_skipped() {
    let rows = "0,0,0,fire,\n# a note\n\n0.5,1,0,turn,left\n12.000000001,0,7,accelerate,1\n";
    let recording = Recording::<Spaceship>::parse(format!("{HEAD}{COLUMNS}{rows}").as_bytes()).unwrap();
    let times: Vec<i64> = recording.operations().iter().map(|operation| operation.at.as_nanos()).collect();
    assert_eq!(times, [0, 500_000_000, 12_000_000_001]);
    let windows = Recording::<Spaceship>::parse(format!("{HEAD}{COLUMNS}{rows}").replace('\n', "\r\n").as_bytes());
    assert_eq!(windows, Ok(recording));
}

fn ship_act() -> impl Strategy<Value = spaceship::Act> {
    use spaceship::Act;
    let turn = prop_oneof![Just(Turn::None), Just(Turn::Left), Just(Turn::Right)];
    prop_oneof![
        any::<bool>().prop_map(Act::Accelerate),
        any::<bool>().prop_map(Act::Decelerate),
        turn.prop_map(Act::Turn),
        Just(Act::Fire),
    ]
}

fn tank_act() -> impl Strategy<Value = arena::Act> {
    let drive = any::<(i8, i8)>().prop_map(|(speed, turn)| arena::Act::Drive { speed, turn });
    prop_oneof![drive, Just(arena::Act::Fire)]
}

/// Operations of so many players in order, from how long each is after the one before, whose it is and what.
fn operations<A: Clone>(players: u32, rows: Vec<(u32, u32, u32, A)>) -> Vec<Operation<A>> {
    let (mut at, mut sequences) = (GlobalTime::ZERO, vec![0u32; players as usize]);
    let mut operation = |(wait, player, skip, act): (u32, u32, u32, A)| {
        let issuer = player % players;
        at += Duration::from_nanos(wait.into());
        let sequence = sequences[issuer as usize] + skip % 3;
        sequences[issuer as usize] = sequence + 1;
        Operation { at, issuer: HostId(issuer), sequence, act }
    };
    rows.into_iter().map(&mut operation).collect()
}

fn survives<G: Game>(setup: Setup<G::Rules>, operations: Vec<Operation<G::Act>>) {
    let recording = Recording::<G>::new(setup, operations).unwrap();
    let text = recording.to_text();
    let again = Recording::<G>::parse(text.as_bytes()).unwrap();
    assert!(again == recording && again.to_text() == text);
    assert_eq!(recording.replay().unwrap().count(), recording.setup().ticks as usize);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn duels_survive_being_written(
        (players, seed, ticks, life, step) in (1..5u32, any::<u64>(), 0..50u32, 1..=255u8, 1_000_000..250_000_000i64),
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>(), ship_act()), 0..40),
    ) {
        let rules = spaceship::Rules { step_length: Duration::from_nanos(step), life };
        survives::<Spaceship>(Setup { rules, players, seed, ticks }, operations(players, rows));
    }

    #[test]
    fn tank_battles_survive_being_written(
        (players, seed, ticks, half_side, inertia) in (1..9u32, any::<u64>(), 0..50u32, 50..1_000u16, any::<bool>()),
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>(), tank_act()), 0..40),
    ) {
        let rules = arena::Rules { half_side, inertia, ..Default::default() };
        survives::<Arena>(Setup { rules, players, seed, ticks }, operations(players, rows));
    }
}

/// Whatever is read can be played a little. What is wrong is said in one line.
fn endures<G: Game>(bytes: &[u8]) {
    let _ = game_of(bytes);
    match Recording::<G>::parse(bytes) {
        Ok(recording) => assert!(recording.replay().unwrap().take(20).count() <= 20),
        Err(error) => assert!(error.line > 0 && !error.problem.is_empty()),
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        endures::<Spaceship>(&bytes);
        endures::<Arena>(&bytes);
        endures::<Spaceship>(&[HEAD.as_bytes(), COLUMNS.as_bytes(), &bytes].concat());
        endures::<Spaceship>(&[HEAD.as_bytes(), &bytes].concat());
    }

    #[test]
    fn no_damage_makes_it_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[\\x00-\\x7f]|[0-9,.\n#-]{1,6}"), 1..6),
    ) {
        let mut text = format!("{HEAD}{COLUMNS}0.1,0,0,fire,\n0.25,1,0,turn,left\n0.3,0,1,accelerate,1\n");
        for (index, patch) in damage {
            // A patch may be longer than what is left.
            let from = index.index(text.len());
            let to = (from + patch.len()).min(text.len());
            text.replace_range(from..to, &patch);
        }
        endures::<Spaceship>(text.as_bytes());
        endures::<Arena>(text.replace("spaceship", "arena").as_bytes());
    }
}

use super::*;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn everything() -> Options {
    Options { players: Some(Players::All), candidates: Some(Candidates::All), ..Options::default() }
}

fn names(input: &Input) -> (Vec<&str>, Vec<&str>) {
    let players = input.problem.players().iter().map(|player| &*player.name).collect();
    (players, input.problem.sites().iter().map(|site| &*site.name).collect())
}

#[test]
fn a_square_with_and_without_names_plain_and_packed() {
    let plain = b"\xef\xbb\xbf\n0, 10.5 ,3\r\n9.5,0,7\r\n3,8,0\r\n\r\n";
    let input = read(&Files::new(plain), &everything()).unwrap();
    assert_eq!(names(&input), (vec!["0", "1", "2"], vec!["0", "1", "2"]));
    assert_eq!((input.problem.rtt(0, 1), input.problem.rtt(1, 0)), (10.5, 9.5));
    assert_eq!(input.problem.between(0, 1), 5.0, "half the mean of both directions");
    assert_eq!(read(&Files::new(&gzip(plain)), &everything()), Ok(input.clone()));
    // Rows in another order than columns.
    let named = b"1,a,\"b, b\",c\nc,3,8,0\na,0,10.5,3\n\"b, b\",9.5,0,7\n";
    let again = read(&Files::new(named), &everything()).unwrap();
    assert_eq!(names(&again).1, ["a", "b, b", "c"]);
    assert!((0..3).all(|i| again.problem.row(i) == input.problem.row(i)));
}

#[test]
fn names_that_look_like_missing_values_are_names() {
    let named = read(&Files::new(b"at,NA,EU\nNA,0,90\nEU,91,0\n"), &everything()).unwrap();
    assert_eq!(names(&named).0, ["NA", "EU"]);
    let unnamed = read(&Files::new(b"0,NA,3\n1,0,4\n5,6,0\n"), &everything()).unwrap();
    assert_eq!((unnamed.problem.rtt(0, 1), unnamed.filled.mirrored), (1.0, 2), "a player's and a site's");
}

#[test]
fn players_by_candidates_need_a_second_table() {
    let latencies = b"player,Oslo,weight,Lima\nAda,20,3,200\nBo,180,0.5,NA\n";
    let between = b"x,Lima,Rome,Oslo\nLima,0,5,210\nRome,5,0,5\nOslo,190,5,0\n";
    let mut files = Files { between: Some(between), ..Files::new(latencies) };
    let options = Options { missing: Missing::Relay, ..Options::default() };
    let input = read(&files, &options).unwrap();
    assert_eq!(input.format, Format::Rectangle);
    assert_eq!(names(&input), (vec!["Ada", "Bo"], vec!["Oslo", "Lima"]));
    assert_eq!(input.problem.players()[1].weight, 0.5);
    assert_eq!(input.problem.between(0, 1), 100.0);
    assert_eq!((input.problem.rtt(1, 1), input.filled.relayed), (180.0 + 190.0, 1));
    let error = read(&files, &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("line 3, column 4: the round-trip time from \"Bo\" to \"Lima\" is missing"), "{error}");
    let weighed = Files { players: Some(b"name,weight\nAda,9\n"), ..files };
    assert_eq!(
        read(&weighed, &options).unwrap().problem.players()[0].weight,
        9.0,
        "the players' table has the last word"
    );
    files.between = None;
    assert_eq!(read(&files, &options).unwrap_err().fault, Fault::NoSecond);
    files.between = Some(b"from,to,rtt_ms\nOslo,Lima,77\n");
    assert_eq!(read(&files, &options).unwrap().problem.between(1, 0), 38.5);
    files.between = Some(b"0,1\n1,0\n");
    let error = read(&files, &options).unwrap_err().to_string();
    assert_eq!(error, "candidates' table: there is nothing called \"Oslo\" among the round-trip times");
    let square = Files { between: Some(between), ..Files::new(b"from,to,rtt_ms\na,b,1\n") };
    assert_eq!(read(&square, &options).unwrap_err().fault, Fault::Unneeded);
}

#[test]
fn of_repeated_measurements_the_median_counts() {
    let text = b"when,to,from,rtt_ms\n1,b,a,10\n2,b,a,90\n3,b,a,12\n4,a,b,20\n5,a,b,30\n6,c,a,-\n7,c,b,1\n8,a,a,2\n";
    let options = Options { missing: Missing::Unreachable, ..everything() };
    let input = read(&Files::new(text), &options).unwrap();
    assert_eq!((input.format, names(&input).0), (Format::Pairs, vec!["a", "b", "c"]));
    assert_eq!(input.problem.row(0), [2.0, 12.0, f32::INFINITY]);
    assert_eq!(input.problem.row(1), [25.0, 0.0, 1.0]);
    let relayed = read(&Files::new(text), &Options { missing: Missing::Relay, ..everything() }).unwrap();
    assert_eq!((relayed.problem.rtt(0, 2), relayed.problem.rtt(2, 0)), (13.0, 1.0 + 25.0));
}

/// Everybody through one hub: few ways to look at. A table that is as empty has as many as there are nodes.
#[test]
fn relays_are_not_looked_for_forever() {
    let relay = Options { missing: Missing::Relay, candidates: Some(Candidates::All), ..Options::default() };
    let nodes = 40;
    let pairs: String = (1..nodes).map(|i| format!("hub,n{i},{i}\n")).collect();
    let read_all = |text: &str| read(&Files::new(text.as_bytes()), &relay);
    let star = read_all(&format!("from,to,rtt_ms\n{pairs}")).unwrap();
    assert!(star.filled.relayed > 1000);
    let row = |i: usize| (0..nodes).map(|j| if i == 0 { format!(",{j}") } else { ",".into() }).collect::<String>();
    let names: String = (0..nodes).map(|i| format!(",n{i}")).collect();
    let rows: String = (0..nodes).map(|i| format!("n{i}{}\n", row(i))).collect();
    let error = read_all(&format!("x{names}\n{rows}")).unwrap_err();
    assert!(error.to_string().contains("too much is missing"), "{error}");
}

#[test]
fn missing_values_go_by_the_rule() {
    let text = b"0,5,,40\n6,0,7,30\n,,0,-\n,30,8,0\n";
    let with = |missing| read(&Files::new(text), &Options { missing, ..everything() });
    let error = with(Missing::Refuse).unwrap_err().to_string();
    assert!(error.starts_with("line 1, column 3: the round-trip time from \"0\" to \"2\" is missing; "), "{error}");
    let one_way = Options { missing: Missing::Refuse, ..everything() };
    assert!(read(&Files::new(b"0,5\n-,0\n"), &one_way).is_err(), "even if there is the other direction");
    let error = with(Missing::Mirror).unwrap_err().to_string();
    assert!(error.starts_with("line 1, column 3: ") && error.contains("\"relay\""), "{error}");
    let relayed = with(Missing::Relay).unwrap().problem;
    assert_eq!((relayed.rtt(0, 2), relayed.rtt(2, 0), relayed.rtt(2, 3), relayed.rtt(3, 0)), (12.0, 13.0, 8.0, 40.0));
    assert_eq!(with(Missing::Unreachable).unwrap().problem.rtt(0, 2), f64::INFINITY);
    // What nobody needs may be missing.
    let players = Some(Players::Named(words(&["1", "3"])));
    assert!(
        read(&Files::new(text), &Options { players, candidates: Some(Candidates::First(1)), ..everything() }).is_ok()
    );
}

#[test]
fn players_are_drawn_and_the_rest_are_candidates() {
    let text: String = (0..10).map(|_| "1,1,1,1,1,1,1,1,1,1\n").collect();
    let drawn = |count, seed, candidates| {
        let players = Some(Players::Drawn { count, seed });
        read(&Files::new(text.as_bytes()), &Options { players, candidates, ..Options::default() })
    };
    let input = drawn(4, 7, None).unwrap();
    let (players, sites) = names(&input);
    assert_eq!((players.len(), sites.len()), (4, 6));
    assert!(players.iter().all(|name| !sites.contains(name)));
    assert_eq!(drawn(4, 7, None), Ok(input.clone()));
    assert_ne!(drawn(4, 8, None), Ok(input.clone()));
    assert_eq!(drawn(4, 7, Some(Candidates::All)).unwrap().problem.sites().len(), 10);
    let said = |count, candidates| drawn(count, 7, candidates).unwrap_err().to_string();
    assert_eq!(said(0, None), "0 players cannot be drawn from 10");
    assert_eq!(said(11, None), "11 players cannot be drawn from 10");
    assert_eq!(said(10, None), "nothing is left as a candidate: everything is a player");
    assert_eq!(said(1, Some(Candidates::First(0))), said(10, None));
    let twice = Some(Candidates::Named(words(&["1", "1"])));
    assert_eq!(said(1, twice), "\"1\" is there twice");
    let rest = Options { players: Some(Players::Rest), candidates: Some(Candidates::Rest), ..Options::default() };
    assert_eq!(read(&Files::new(text.as_bytes()), &rest).unwrap_err().fault, Fault::BothRest);
}

#[test]
fn tables_say_more_of_sites_and_players() {
    let sites = b"use,name,capacity,latitude,cost,longitude\nrequired,Oslo,50,59.9,2.5,10.7\n,Rome,-,,,\n";
    let mut files = Files { sites: Some(sites), ..Files::new(b"from,to,rtt_ms\nAda,Oslo,1\nBo,Rome,2\nOslo,Rome,3\n") };
    let options = Options { missing: Missing::Unreachable, ..Options::default() };
    let input = read(&files, &options).unwrap();
    assert_eq!(names(&input), (vec!["Ada", "Bo"], vec!["Oslo", "Rome"]));
    let oslo = crate::Site { name: "Oslo".into(), cost: 2.5, capacity: Some(50.0), usage: crate::Use::Required };
    assert_eq!(input.problem.sites(), [oslo, crate::Site::new("Rome")]);
    assert_eq!(input.places, [Some(Place { latitude: 59.9, longitude: 10.7 }), None]);
    files.players = Some(b"Bo\n");
    assert_eq!(names(&read(&files, &options).unwrap()).0, ["Bo"]);
    files.players = Some(b"weight,name\n4,Bo\n,Ada\n");
    let weighted = read(&files, &options).unwrap();
    assert_eq!(names(&weighted).0, ["Bo", "Ada"]);
    assert_eq!(weighted.problem.weight(), 5.0);
    for (table, said) in [
        (&b"name\nParis\n"[..], "sites' table: line 2: there is nothing called \"Paris\""),
        (
            b"name,capcity\n",
            "sites' table: line 1, column 2: a column \"capcity\" means nothing here; known are name, ",
        ),
        (b"cost\n1\n", "sites' table: line 1: there is no column \"name\""),
        (b"name,cost\nOslo,-1\n", "line 2, column 2: \"-1\" is negative"),
        (b"name,use\nOslo,maybe\n", "line 2, column 2: \"maybe\" is not one of allowed, required, forbidden"),
        (b"name,latitude\nOslo,91\n", "line 2, column 2: \"91\" is out of range for degrees"),
        (b"name\nOslo\nOslo\n", "line 3: \"Oslo\" is there twice"),
        (b"name,cost,cost\n", "line 1, column 3: \"cost\" is there twice"),
        (b"name\n", "sites' table: there is nothing in it"),
        (b"name,use\nOslo,forbidden\n", "there is no site that may be used"),
    ] {
        let error = read(&Files { sites: Some(table), ..files }, &options).unwrap_err().to_string();
        assert!(error.contains(said), "{error:?} should contain {said:?}");
    }
    for (table, said) in [
        (&b"Cy\n"[..], "players' table: line 1: there is nothing called \"Cy\""),
        (b"name,weight\nBo,0\n", "line 2, column 2: \"0\" is no weight"),
        (b"name,weight\nBo\n", "line 2: 1 cells where the first line has 2"),
        (b"Bo\nBo\n", "line 2, column 1: \"Bo\" is there twice"),
    ] {
        let error = read(&Files { players: Some(table), ..files }, &options).unwrap_err().to_string();
        assert!(error.contains(said), "{error:?} should contain {said:?}");
    }
}

#[test]
fn errors_name_the_place() {
    for (text, said) in [
        (&b""[..], "there is nothing in it"),
        (b"name,a\n", "there is nothing in it"),
        (b"0,1\n\n1,x\n", "line 3, column 2: \"x\" is not a number"),
        (b"0,1\n-4,0\n", "line 2, column 1: \"-4\" is negative"),
        (b"0,1\ninf,0\n", "line 2, column 1: \"inf\" is not a finite number"),
        (b"0,1\n3600001,0", "line 2, column 1: \"3600001\" is more than an hour"),
        (b"0,1\n1,0,3\n", "line 2: 3 cells where the first line has 2"),
        (b"0,1\n\n1,0\n2,3\n", "3 rows but 2 columns; it must be square"),
        (b"n,a,b\na,0,1\n", "there is a column but no row \"b\""),
        (b"n,a,b\na,0,1\na,1,2\n", "line 3, column 1: \"a\" is there twice"),
        (b"\nn,a,a\na,0,1\n", "line 2, column 3: \"a\" is there twice"),
        (b"n,a,b\na,0,1\nc,1,2\n", "line 3, column 1: \"c\" is a row but not a column"),
        (b"n,a,,b\na,0,1,2\n", "line 1, column 3: a name must not be empty"),
        (b"n,a\n,0\n", "line 2, column 1: a name must not be empty"),
        (b"n,a\nb,0\n", "needs a second one"),
        (b"from,to,rtt\na,b,1\n", "line 1: there is no column \"rtt_ms\""),
        (b"from,to,rtt_ms\na,,1\n", "line 2, column 2: a name must not be empty"),
        (b"from,to,rtt_ms\na,b\n", "line 2: 2 cells where the first line has 3"),
        (b"from,to,rtt_ms\na,b,-1\n", "line 2, column 3: \"-1\" is negative"),
        (b"from,to,rtt_ms\n", "there is nothing in it"),
        (b"n,\"a\na\",0\n", "line 1: a quotation mark is not closed"),
        (b"\xff\xfe", "not UTF-8"),
        (b"\x1f\x8bnonsense..", "does not unpack"),
        (b"n,a,weight\na,0,1\n", "needs a second one"),
    ] {
        let error = read(&Files::new(text), &everything()).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{error:?} should contain {said:?}");
    }
    assert!(read(&Files::new(&gzip(b"0,1\n1,0\n")[..20]), &everything()).is_err());
    let forced = |text, format| read(&Files::new(text), &Options { format: Some(format), ..everything() });
    assert!(forced(b"n,a,weight\na,0,1\nweight,1,0\n", Format::Square).is_ok());
    assert_eq!(forced(b"0,1\n1,0\n", Format::Rectangle).unwrap_err().fault, Fault::NoNames);
    assert_eq!(forced(b"0,1\n1,0\n", Format::Pairs).unwrap_err().fault, Fault::NoColumn("from"));
}

#[test]
fn a_few_names_do_not_ask_for_all_memory() {
    let text: String = (0..25_000).map(|i| format!("{i},0,1\n")).collect();
    let read = read(&Files::new(format!("from,to,rtt_ms\n{text}").as_bytes()), &everything());
    assert_eq!(read.unwrap_err().fault, Fault::TooMany { players: 25_000, candidates: 25_000 });
}

#[test]
fn what_would_not_read_is_not_written() {
    let line = |from, rtt_ms| write_pairs([Pair { from, to: "b", rtt_ms }]).unwrap_err().to_string();
    assert!(line("", 1.0).starts_with("line 2, column 1: a name"));
    assert!(line("a\nb", 1.0).starts_with("line 2, column 1: a name"));
    assert_eq!(line("a", -1.0), "line 2, column 3: \"-1\" is negative");
    assert_eq!(line("a", f32::INFINITY), "line 2, column 3: \"inf\" is not a finite number");
}

#[test]
fn planetlab_reads() {
    let bytes = include_bytes!("../../../../data/latency/planetlab490_median_rtt_ms.csv.gz");
    let players = Some(Players::Drawn { count: 48, seed: 1 });
    let input = read(&Files::new(bytes), &Options { players, ..Options::default() }).unwrap();
    assert_eq!((input.problem.players().len(), input.problem.sites().len()), (48, 442));
    assert_eq!((input.format, input.filled), (Format::Square, Filled::default()));
    let all = read(&Files::new(bytes), &everything()).unwrap().problem;
    let mut values: Vec<f32> = (0..490).flat_map(|i| all.row(i)[..i].to_vec()).collect();
    values.sort_by(f32::total_cmp);
    assert_eq!((values.len(), values[values.len() / 2], values.last()), (119_805, 133.91, Some(&675.17)));
}

proptest! {
    #[test]
    fn hostile_input_never_panics(bytes: Vec<u8>, text in "[0-9.,\n a\"-]{0,60}", pairs in "from,to,rtt_ms\n[0-9.,\n a\"-]{0,60}") {
        for bytes in [&bytes[..], text.as_bytes(), pairs.as_bytes(), &gzip(text.as_bytes())] {
            for missing in [Missing::Refuse, Missing::Mirror, Missing::Relay, Missing::Unreachable] {
                let _ = read(&Files::new(bytes), &Options { missing, ..everything() });
            }
            for other in [text.as_bytes(), pairs.as_bytes(), b"n,a\na,0"] {
                let files = Files { latencies: b"n,a\nb,0", between: Some(other), sites: Some(bytes), players: Some(bytes) };
                let _ = read(&files, &Options::default());
                let _ = read(&Files { between: None, ..files }, &Options::default());
            }
        }
    }

    #[test]
    fn what_is_written_reads_the_same(
        names in proptest::collection::btree_set("[^\n]{1,6}", 2..8),
        rtt in proptest::collection::vec(0.0f32..3.6e6, 64),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let pairs = names.iter().enumerate().flat_map(|(i, from)| {
            let rtt = &rtt;
            names.iter().enumerate().map(move |(j, to)| Pair { from, to, rtt_ms: rtt[i * 8 + j] })
        });
        let text = write_pairs(pairs).unwrap();
        let input = read(&Files::new(text.as_bytes()), &everything()).unwrap();
        for (i, name) in names.iter().enumerate() {
            prop_assert_eq!(&input.problem.players()[i].name, name);
            prop_assert_eq!(input.problem.row(i), &rtt[i * 8..][..names.len()]);
        }
    }
}

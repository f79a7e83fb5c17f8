//! Files from which servers are placed.

use evenkeel_sites::input::{Candidates, Files, Format, Missing, Options, Pair, Players, read, write_pairs};

/// Whatever files and options: a problem that reads has values that can be, and reads the same from what is written of it.
///
/// Two bytes of options, then files, with a zero byte between two: latencies, those between the candidates, sites, players. An empty one
/// is not there.
pub fn sites(data: &[u8]) {
    let Some(([how, which], rest)) = data.split_first_chunk() else { return };
    // What is compressed has zero bytes of its own.
    let files = if rest.starts_with(&[0x1f, 0x8b]) { 1 } else { 4 };
    let mut parts = rest.splitn(files, |byte| *byte == 0);
    let latencies = parts.next().unwrap_or_default();
    let [between, sites, players] = [(); 3].map(|()| parts.next().filter(|part| !part.is_empty()));
    let files = Files { latencies, between, sites, players };
    let options = options(*how, *which);
    let input = match read(&files, &options) {
        Ok(input) => input,
        Err(error) => return assert!(!error.to_string().is_empty() && !error.to_string().contains('\n')),
    };
    let problem = &input.problem;
    assert_eq!(input.places.len(), problem.sites().len());
    let unreachable = problem.players().iter().enumerate().flat_map(|(i, _)| problem.row(i));
    assert!(unreachable.clone().all(|rtt| (0.0..=7_200_000.0).contains(rtt) || *rtt == f32::INFINITY));
    assert!(options.missing == Missing::Unreachable || unreachable.clone().all(|rtt| rtt.is_finite()));
    if let Players::Drawn { count, .. } = options.players.unwrap_or(Players::All) {
        assert_eq!(problem.players().len(), count);
    }
    written(&input.problem);
}

/// From players to sites, under names that cannot be mistaken for each other.
fn written(problem: &evenkeel_sites::Problem) {
    let players: Vec<String> = problem.players().iter().map(|player| format!("p{}", player.name)).collect();
    let sites: Vec<String> = problem.sites().iter().map(|site| format!("s{}", site.name)).collect();
    let pairs = players.iter().enumerate().flat_map(|(i, from)| {
        let rtt = problem.row(i).iter().map(|rtt| if *rtt <= 3_600_000.0 { *rtt } else { f32::NAN });
        sites.iter().zip(rtt).map(move |(to, rtt_ms)| Pair { from, to, rtt_ms })
    });
    let text = write_pairs(pairs).expect("names that were read can be written");
    let options = Options {
        players: Some(Players::Named(players)),
        candidates: Some(Candidates::Named(sites)),
        missing: Missing::Unreachable,
        ..Options::default()
    };
    let again = read(&Files::new(text.as_bytes()), &options).expect("it was just written").problem;
    for i in 0..problem.players().len() {
        let same = |(a, b): (&f32, &f32)| a == b || *a > 3_600_000.0 && *b == f32::INFINITY;
        assert!(problem.row(i).iter().zip(again.row(i)).all(same), "player {i}");
    }
}

fn options(how: u8, which: u8) -> Options {
    let missing = [Missing::Mirror, Missing::Refuse, Missing::Relay, Missing::Unreachable][usize::from(how & 3)];
    let format = [None, Some(Format::Square), Some(Format::Rectangle), Some(Format::Pairs)][usize::from(how >> 2 & 3)];
    let count = usize::from(which >> 4);
    let named = vec!["a".to_owned(), "b".to_owned()];
    let players = match which & 3 {
        0 => None,
        1 => Some(Players::All),
        2 => Some(Players::Drawn { count, seed: u64::from(how) }),
        _ => Some(Players::Named(named.clone())),
    };
    let candidates = match which >> 2 & 3 {
        0 => None,
        1 => Some(Candidates::All),
        2 => Some(Candidates::First(count)),
        _ => Some(Candidates::Named(named)),
    };
    Options { format, missing, players, candidates }
}

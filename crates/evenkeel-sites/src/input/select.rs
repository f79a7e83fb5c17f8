//! Who is a player, and what is a candidate.

use super::error::Fault;
use super::known::Names;
use crate::random::Random;

/// Which nodes are players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Players {
    /// All of them.
    All,
    /// Some, drawn by chance: the same for the same seed.
    Drawn {
        /// How many.
        count: usize,
        /// Of the chance.
        seed: u64,
    },
    /// These, in this order.
    Named(Vec<String>),
    /// Those that are no candidates.
    Rest,
}

/// Which nodes are candidates for servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All of them, those of players too.
    All,
    /// Those that are no players.
    Rest,
    /// These, in this order.
    Named(Vec<String>),
    /// So many from the beginning of the file, those of players too; all if there are fewer.
    First(usize),
}

/// The numbers of the players and of the candidates, where both are nodes of one file.
pub(crate) fn among_nodes(
    players: &Players,
    candidates: &Candidates,
    names: &Names,
) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let (chosen, sites) = match (players, candidates) {
        (Players::Rest, Candidates::Rest) => return Err(Fault::BothRest),
        (Players::Rest, _) => {
            let sites = chosen_candidates(candidates, names)?;
            (others(&sites, names.len()), sites)
        }
        (_, Candidates::Rest) => {
            let chosen = chosen_players(players, names)?;
            let sites = others(&chosen, names.len());
            (chosen, sites)
        }
        _ => (chosen_players(players, names)?, chosen_candidates(candidates, names)?),
    };
    both(chosen, sites)
}

/// The numbers of the players and of the candidates, where each has names of its own: the rest is all.
pub(crate) fn among_both(
    (players, player_names): (&Players, &Names),
    (candidates, candidate_names): (&Candidates, &Names),
) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    both(chosen_players(players, player_names)?, chosen_candidates(candidates, candidate_names)?)
}

fn both(players: Vec<usize>, sites: Vec<usize>) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    match (players.is_empty(), sites.is_empty()) {
        (true, _) => Err(Fault::NoPlayersLeft),
        (_, true) => Err(Fault::NoCandidatesLeft),
        _ => Ok((players, sites)),
    }
}

fn chosen_players(players: &Players, names: &Names) -> Result<Vec<usize>, Fault> {
    match players {
        Players::All | Players::Rest => Ok((0..names.len()).collect()),
        Players::Drawn { count, .. } if *count == 0 || *count > names.len() => {
            Err(Fault::Draw { wanted: *count, of: names.len() })
        }
        Players::Drawn { count, seed } => Ok(Random::new(*seed).draw(*count, names.len())),
        Players::Named(list) => named(list, names),
    }
}

fn chosen_candidates(candidates: &Candidates, names: &Names) -> Result<Vec<usize>, Fault> {
    match candidates {
        Candidates::All | Candidates::Rest => Ok((0..names.len()).collect()),
        Candidates::First(count) => Ok((0..names.len().min(*count)).collect()),
        Candidates::Named(list) => named(list, names),
    }
}

fn named(list: &[String], names: &Names) -> Result<Vec<usize>, Fault> {
    let mut seen = Names::default();
    for name in list {
        seen.add(name.clone())?;
    }
    list.iter().map(|name| names.find(name)).collect()
}

fn others(taken: &[usize], n: usize) -> Vec<usize> {
    let mut free = vec![true; n];
    taken.iter().for_each(|i| free[*i] = false);
    (0..n).filter(|i| free[*i]).collect()
}

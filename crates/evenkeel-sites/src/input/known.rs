//! What is known of the round trips between nodes, and what to do where nothing is.

use super::error::{Fault, InputError, shown};
use std::collections::HashMap;

/// So many ways through other nodes are looked at for all that is missing together, at most: few in tests.
const MOST_RELAYS: usize = if cfg!(test) { 1 << 12 } else { 1 << 32 };

/// What stands for a round-trip time that is missing.
///
/// Only what is needed is asked for: from players to candidates and between candidates. Between a node and itself, what is missing
/// is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Nothing: it is an error.
    Refuse,
    /// That of the other direction; if that is missing too, it is an error.
    #[default]
    Mirror,
    /// That of the other direction; else the fastest way through one other node; else it is an error. It is one, too, if so much
    /// is missing that to look at all ways would take minutes.
    Relay,
    /// That of the other direction; else there is no way at all.
    Unreachable,
}

/// How many round-trip times were not measured but made up, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Those of the other direction.
    pub mirrored: usize,
    /// The fastest ways through one other node.
    pub relayed: usize,
    /// Those that are infinite.
    pub unreachable: usize,
}

/// Different names, each with its number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The name's number, and whether it is new.
    pub(crate) fn insert(&mut self, name: &str) -> (u32, bool) {
        if let Some(number) = self.numbers.get(name) {
            return (*number, false);
        }
        let number = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        (number, true)
    }

    /// The name must be new.
    pub(crate) fn add(&mut self, name: String) -> Result<(), Fault> {
        if self.insert(&name).1 { Ok(()) } else { Err(Fault::Twice(shown(&name))) }
    }

    pub(crate) fn find(&self, name: &str) -> Result<usize, Fault> {
        let number = self.numbers.get(name).ok_or_else(|| Fault::Unknown(shown(name)))?;
        Ok(*number as usize)
    }

    pub(crate) fn list(&self) -> &[String] {
        &self.list
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// Nodes, and the round-trip times between them as far as they are known.
pub(crate) struct Known {
    pub(crate) names: Names,
    pub(crate) links: Links,
}

pub(crate) enum Links {
    /// Row by row; not a number where nothing is known. With the line of each row, and the column of the first value.
    Square { rtt: Vec<f32>, lines: Vec<usize>, first_column: usize },
    /// For each node the others, ascending, with the round trip from the node to the other and back; not a number where nothing is known.
    Pairs(Vec<Vec<(u32, [f32; 2])>>),
}

fn some(rtt: f32) -> Option<f32> {
    (!rtt.is_nan()).then_some(rtt)
}

impl Known {
    pub(crate) fn measured(&self, from: usize, to: usize) -> Option<f32> {
        match &self.links {
            Links::Square { rtt, .. } => some(rtt[from * self.names.len() + to]),
            Links::Pairs(near) => {
                let at = near[from].binary_search_by_key(&(to as u32), |(other, _)| *other).ok()?;
                some(near[from][at].1[0])
            }
        }
    }

    /// In either direction, the given one first.
    pub(crate) fn either(&self, from: usize, to: usize) -> Option<f32> {
        self.measured(from, to).or_else(|| self.measured(to, from))
    }

    /// The fastest way through one other node, where nothing is known of the direct one.
    fn relayed(&self, from: usize, to: usize) -> Option<f32> {
        let through = |k: usize| Some(self.either(from, k)? + self.either(k, to)?);
        match &self.links {
            Links::Square { .. } => (0..self.names.len()).filter_map(through).min_by(f32::total_cmp),
            Links::Pairs(near) => near[from].iter().filter_map(|(k, _)| through(*k as usize)).min_by(f32::total_cmp),
        }
    }

    /// Through how many nodes a way from this one may lead.
    fn relays(&self, from: usize) -> usize {
        match &self.links {
            Links::Square { .. } => self.names.len(),
            Links::Pairs(near) => near[from].len(),
        }
    }

    /// The round-trip time by the rule.
    pub(crate) fn rtt(&self, from: usize, to: usize, rule: Missing, filled: &mut Filled) -> Result<f32, InputError> {
        if let Some(rtt) = self.measured(from, to).or((from == to).then_some(0.0)) {
            return Ok(rtt);
        }
        if let Some(rtt) = self.measured(to, from).filter(|_| rule != Missing::Refuse) {
            filled.mirrored += 1;
            return Ok(rtt);
        }
        let names = self.names.list();
        made_up(rule, (self.relays(from), || self.relayed(from, to)), filled)?.ok_or_else(|| {
            let fault = missing(&names[from], &names[to], rule);
            match &self.links {
                Links::Square { lines, first_column, .. } => fault.at(lines[from], first_column + to),
                Links::Pairs(_) => fault.into(),
            }
        })
    }
}

/// What the rule makes of a round-trip time that was measured in neither direction, if anything. The fastest way comes with how
/// many are looked at for it.
pub(crate) fn made_up(
    rule: Missing,
    (ways, relayed): (usize, impl FnOnce() -> Option<f32>),
    filled: &mut Filled,
) -> Result<Option<f32>, Fault> {
    Ok(match rule {
        Missing::Refuse | Missing::Mirror => None,
        Missing::Relay if filled.relayed.saturating_mul(ways) > MOST_RELAYS => return Err(Fault::MuchMissing),
        Missing::Relay => relayed().inspect(|_| filled.relayed += 1),
        Missing::Unreachable => {
            filled.unreachable += 1;
            Some(f32::INFINITY)
        }
    })
}

pub(crate) fn missing(from: &str, to: &str, rule: Missing) -> Fault {
    let advice = match rule {
        Missing::Refuse => "; the rule \"mirror\" takes that of the other direction, if there is one",
        Missing::Mirror | Missing::Unreachable => {
            " in both directions; the rule \"relay\" takes the fastest way through another node, \"unreachable\" none at all"
        }
        Missing::Relay => ", and no single node relays it; the rule \"unreachable\" does without",
    };
    Fault::Missing { from: shown(from), to: shown(to), advice }
}

//! Very many players as a few: those who are equally far from every site count as one.

use crate::{Player, Problem, ProblemError, Site};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// Merges players whose rows are the same, exactly or after rounding, into groups. Players come one by one; what is kept of each
/// is only which group it went to.
///
/// ```
/// use evenkeel_sites::{Crowd, Site};
///
/// let mut crowd = Crowd::new(2, 1.0)?;
/// crowd.push("Ada", 1.0, &[20.2, 99.7])?;
/// crowd.push("Bo", 2.0, &[19.9, 100.1])?;
/// crowd.push("Cy", 1.0, &[80.0, 40.0])?;
/// assert_eq!(crowd.groups(), 2);
/// assert_eq!(crowd.group_of(), [0, 0, 1]);
/// assert!((0.29..=0.5).contains(&crowd.error_ms()));
/// let problem = crowd.into_problem(vec![Site::new("Oslo"), Site::new("Lima")], vec![0.0, 210.0, 210.0, 0.0]).unwrap();
/// assert_eq!((problem.row(0), problem.players()[0].weight), (&[20.0, 100.0][..], 3.0));
/// # Ok::<(), evenkeel_sites::CrowdError>(())
/// ```
///
/// # What rounding does to what is proven
///
/// Every round-trip time is off by [`error_ms`](Crowd::error_ms) at most: half the step, give or take the last digit of a number. Responses grow with
/// round trips, one for one: of every choice of sites, the response of every player, and so their weighted mean, every quantile and
/// the worst, is off by `error_ms` at most. A lower bound for the groups, less `error_ms`, is one for the players; what a choice
/// achieves for the groups, plus `error_ms`, it achieves for the players. A gap is wider by twice that at most.
#[derive(Clone, Debug)]
pub struct Crowd {
    sites: usize,
    step_ms: f64,
    players: Vec<Player>,
    /// Group by group.
    rtt_ms: Vec<f32>,
    group_of: Vec<u32>,
    error_ms: f64,
    hasher: RandomState,
    /// By the hash of a row the last group that has it, and for each group the one before it.
    last: HashMap<u64, u32>,
    before: Vec<Option<u32>>,
    /// The row at hand, and its bytes.
    rounded: Vec<f32>,
    bytes: Vec<u8>,
}

/// Steps beyond this are slips of the pen.
const MAX_STEP_MS: f64 = 1_000.0;

impl Crowd {
    /// Nobody yet. Round-trip times to `sites` sites are rounded to multiples of `step_ms` milliseconds; with 0 only those are merged
    /// whose rows are identical.
    pub fn new(sites: usize, step_ms: f64) -> Result<Self, CrowdError> {
        // Below this, steps would be finer than the numbers.
        if !(step_ms == 0.0 || (1e-3..=MAX_STEP_MS).contains(&step_ms)) {
            return Err(CrowdError::Step(step_ms));
        }
        Ok(Self {
            sites,
            step_ms,
            players: Vec::new(),
            rtt_ms: Vec::new(),
            group_of: Vec::new(),
            error_ms: 0.0,
            hasher: RandomState::new(),
            last: HashMap::new(),
            before: Vec::new(),
            rounded: Vec::new(),
            bytes: vec![0; 4 * sites],
        })
    }

    /// Adds a player with its round-trip times in milliseconds, infinite where there is no way. Gives the group, which is called like
    /// the first who went there.
    pub fn push(&mut self, name: &str, weight: f64, row: &[f32]) -> Result<u32, CrowdError> {
        if row.len() != self.sites {
            return Err(CrowdError::Length { found: row.len(), sites: self.sites });
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(CrowdError::Weight(weight));
        }
        if self.group_of.len() >= u32::MAX as usize {
            return Err(CrowdError::TooMany);
        }
        let error_ms = self.round(row)?;
        let group = self.find_or_add(name);
        self.error_ms = self.error_ms.max(error_ms);
        self.players[group as usize].weight += weight;
        self.group_of.push(group);
        Ok(group)
    }

    /// Rounds a row, and says by how much at most.
    fn round(&mut self, row: &[f32]) -> Result<f64, CrowdError> {
        if let Some(wrong) = row.iter().find(|value| value.is_nan() || **value < 0.0) {
            return Err(CrowdError::Value(*wrong));
        }
        self.rounded.clear();
        if self.step_ms == 0.0 {
            // Nothing and minus nothing are the same.
            self.rounded.extend(row.iter().map(|value| value.abs()));
            return Ok(0.0);
        }
        let (step, steps) = (self.step_ms, 1.0 / self.step_ms);
        let mut error: f64 = 0.0;
        self.rounded.extend(row.iter().map(|value| {
            let exact = f64::from(*value);
            // Whole numbers of this type are exact below; beyond, and to infinity, a step is less than the last digit.
            if exact * steps > 9e15 {
                return *value;
            }
            let rounded = ((exact * steps + 0.5) as i64 as f64 * step) as f32;
            error = error.max((f64::from(rounded) - exact).abs());
            rounded
        }));
        Ok(error)
    }

    fn find_or_add(&mut self, name: &str) -> u32 {
        // In one piece: value by value takes several times as long.
        for (bytes, value) in self.bytes.chunks_exact_mut(4).zip(&self.rounded) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        let hash = self.hasher.hash_one(&self.bytes);
        let last = self.last.get(&hash).copied();
        let mut candidate = last;
        while let Some(group) = candidate {
            if self.rtt_ms[group as usize * self.sites..][..self.sites] == self.rounded {
                return group;
            }
            candidate = self.before[group as usize];
        }
        let group = self.players.len() as u32;
        self.players.push(Player { name: name.to_owned(), weight: 0.0 });
        self.rtt_ms.extend_from_slice(&self.rounded);
        self.before.push(last);
        self.last.insert(hash, group);
        group
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.players.len()
    }

    /// For each player, in the order they came, its group.
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// By how many milliseconds rounding changed a round-trip time at most.
    pub fn error_ms(&self) -> f64 {
        self.error_ms
    }

    /// The groups as players, in the order in which their first members came.
    pub fn into_problem(self, sites: Vec<Site>, between: Vec<f32>) -> Result<Problem, ProblemError> {
        Problem::new(self.players, sites, self.rtt_ms, between)
    }
}

/// Why a player cannot be added.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CrowdError {
    /// A step that is negative, tiny or huge.
    Step(f64),
    /// Not one round-trip time for each site.
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        sites: usize,
    },
    /// No round-trip time.
    Value(f32),
    /// No weight.
    Weight(f64),
    /// More players than have numbers.
    TooMany,
}

impl fmt::Display for CrowdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => {
                write!(f, "round-trip times are rounded to steps of 0.001 to 1000 ms, or 0, not {step} ms")
            }
            Self::Length { found, sites } => write!(f, "{found} round-trip times for {sites} sites"),
            Self::Value(value) => write!(f, "a round-trip time cannot be {value} ms"),
            Self::Weight(weight) => write!(f, "a player's weight cannot be {weight}"),
            Self::TooMany => f.write_str("there are too many players"),
        }
    }
}

impl std::error::Error for CrowdError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::f32::{INFINITE, POSITIVE};
    use proptest::prelude::*;

    #[test]
    fn only_what_is_identical_without_a_step() {
        let mut crowd = Crowd::new(2, 0.0).unwrap();
        let pushed = [[0.0, 1.5], [-0.0, 1.5], [0.0, 1.5000001], [f32::INFINITY, 0.0], [f32::INFINITY, 0.0]]
            .map(|row| crowd.push("p", 1.0, &row).unwrap());
        assert_eq!(pushed, [0, 0, 1, 2, 2]);
        assert_eq!(crowd.error_ms(), 0.0);
    }

    #[test]
    fn what_cannot_be_changes_nothing() {
        let mut crowd = Crowd::new(1, 1.0).unwrap();
        crowd.push("a", 1.0, &[7.4]).unwrap();
        assert_eq!(crowd.push("b", 1.0, &[1.0, 2.0]), Err(CrowdError::Length { found: 2, sites: 1 }));
        assert_eq!(crowd.push("b", 0.0, &[1.0]), Err(CrowdError::Weight(0.0)));
        assert_eq!(crowd.push("b", 1.0, &[-1.0]), Err(CrowdError::Value(-1.0)));
        assert!(crowd.push("b", 1.0, &[f32::NAN]).is_err() && crowd.push("b", f64::NAN, &[1.0]).is_err());
        assert_eq!((crowd.groups(), crowd.group_of()), (1, &[0][..]));
        for step in [-1.0, 1e-9, 1e9, f64::NAN, f64::INFINITY] {
            assert!(Crowd::new(1, step).is_err(), "{step}");
        }
    }

    #[test]
    fn a_crowd_of_a_city_is_small() {
        let world =
            crate::topology::Cities { sites: 20, players: 20_000, cities: 30, ..Default::default() }.generate(1);
        let mut crowd = Crowd::new(20, 0.0).unwrap();
        let (mut players, mut row) = (world.players(), [0.0; 20]);
        while players.next_into(&mut row) {
            crowd.push("", 1.0, &row).unwrap();
        }
        assert_eq!(crowd.groups(), 30 * 5 * 4, "city, district, access");
        assert_eq!(crowd.group_of().len(), 20_000);
        let problem = crowd.into_problem(world.sites(), world.between().to_vec()).unwrap();
        assert_eq!(problem.weight(), 20_000.0);
    }

    proptest! {
        #[test]
        fn rounding_stays_within_its_bound(
            rows in proptest::collection::vec((0.0f32..50.0, 0.0f32..4e6, POSITIVE | INFINITE), 1..40),
            step in prop_oneof![Just(0.0), 1e-3..100.0f64],
        ) {
            let rows: Vec<[f32; 3]> = rows.into_iter().map(|(a, b, c)| [a, b, c.abs()]).collect();
            let mut crowd = Crowd::new(3, step).unwrap();
            for row in &rows {
                crowd.push("p", 1.0, row).unwrap();
            }
            let kept = crowd.rtt_ms.clone();
            for (row, group) in rows.iter().zip(crowd.group_of()) {
                // Half a step, and the last digit.
                prop_assert!((row[0] - kept[*group as usize * 3]).abs() <= step as f32 / 2.0 + 1e-4);
                for (value, kept) in row.iter().zip(&kept[*group as usize * 3..]) {
                    let off = (f64::from(*value) - f64::from(*kept)).abs();
                    prop_assert!(value == kept || off <= crowd.error_ms());
                }
            }
            // No two groups are the same.
            for (i, j) in (0..crowd.groups()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                prop_assert_ne!(&kept[i * 3..][..3], &kept[j * 3..][..3]);
            }
        }
    }
}

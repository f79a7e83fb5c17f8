//! Very many players in the cities of a globe.

use crate::input::Place;
use crate::random::Random;
use crate::{Problem, ProblemError, Site};
use libm::{asin, cos, sin};

/// Sites and very many players in cities on a globe, row by row: a million players need not be in memory at once.
///
/// Some cities are much larger than others. Players live in districts of cities and have one of four kinds of access, so that many
/// have the same row, as those have whose latencies are known by region and provider.
///
/// ```
/// use evenkeel_sites::topology::Cities;
///
/// let world = Cities { sites: 3, players: 1_000, ..Cities::default() }.generate(1);
/// let mut row = [0.0; 3];
/// let mut players = world.players();
/// let mut most = 0.0f32;
/// while players.next_into(&mut row) {
///     most = row.iter().copied().fold(most, f32::max);
/// }
/// assert!((100.0..400.0).contains(&most));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cities {
    /// How many sites, each in a city: 300.
    pub sites: usize,
    /// How many players: 1,000,000.
    pub players: usize,
    /// How many cities: 400.
    pub cities: usize,
    /// How many districts a city has: 5.
    pub districts: usize,
    /// The most that a player's own noise adds to all of its round trips, in milliseconds: 0. With it, no two rows are the same.
    pub noise_ms: f64,
}

impl Default for Cities {
    fn default() -> Self {
        Self { sites: 300, players: 1_000_000, cities: 400, districts: 5, noise_ms: 0.0 }
    }
}

/// Round trips in milliseconds by kilometres: fibre there and back, half as long again as the great circle.
const MS_PER_KM: f64 = 2.0 * 1.5 / 200.0;
const EARTH_DIAMETER_KM: f64 = 12_742.0;
/// What access adds to a round trip, in milliseconds: fibre, cable, copper, mobile.
const ACCESS_MS: [f32; 4] = [3.0, 12.0, 25.0, 45.0];

/// Sites, and how far they are from the districts where players live.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    setup: Cities,
    places: Vec<Place>,
    between: Vec<f32>,
    /// District by district.
    rows: Vec<f32>,
    /// For each city the sum of the sizes up to it.
    sizes: Vec<f64>,
    seed: u64,
}

impl Cities {
    /// Places cities, sites and districts. At least one of each.
    pub fn generate(&self, seed: u64) -> World {
        let mut random = Random::new(seed);
        let setup = Self { cities: self.cities.max(1), districts: self.districts.max(1), ..*self };
        let cities: Vec<Place> = (0..setup.cities).map(|_| somewhere(&mut random)).collect();
        // The n-th city is an n-th as large as the first.
        let sizes = (1..=setup.cities).scan(0.0, |sum, n| {
            *sum += 1.0 / n as f64;
            Some(*sum)
        });
        let sizes = sizes.collect();
        let places: Vec<Place> = (0..self.sites).map(|i| near(cities[i % setup.cities], 0.3, &mut random)).collect();
        let ends: Vec<[f64; 3]> = places.iter().map(direction).collect();
        let row = |from: &Place| {
            let from = direction(from);
            ends.iter().map(move |to| rtt_ms(from, *to)).collect::<Vec<f32>>()
        };
        let between = places.iter().flat_map(row).collect();
        let mut rows = Vec::with_capacity(setup.cities * setup.districts * self.sites);
        for city in &cities {
            for _ in 0..setup.districts {
                rows.extend(row(&near(*city, 0.5, &mut random)));
            }
        }
        World { setup, places, between, rows, sizes, seed: random.bits() }
    }
}

impl World {
    /// Where the sites are.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The sites, by number.
    pub fn sites(&self) -> Vec<Site> {
        (0..self.places.len()).map(|i| Site::new(format!("site-{i}"))).collect()
    }

    /// The round-trip times between the sites, in milliseconds, site by site.
    pub fn between(&self) -> &[f32] {
        &self.between
    }

    /// The players, one after another: the same every time.
    pub fn players(&self) -> Rows<'_> {
        Rows { world: self, random: Random::new(self.seed), left: self.setup.players }
    }

    /// All of it in memory at once.
    pub fn problem(&self) -> Result<Problem, ProblemError> {
        let m = self.places.len();
        let mut rtt = vec![0.0; self.setup.players * m];
        let mut rows = self.players();
        rtt.chunks_exact_mut(m.max(1)).for_each(|row| {
            rows.next_into(row);
        });
        let players = (0..self.setup.players).map(|i| crate::Player::new(format!("player-{i}"))).collect();
        Problem::new(players, self.sites(), rtt, self.between.clone())
    }
}

/// Players, one after another.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    world: &'a World,
    random: Random,
    left: usize,
}

impl Rows<'_> {
    /// The next player's round-trip times to the sites, in milliseconds. False, and nothing, when there are no more players.
    ///
    /// # Panics
    ///
    /// If there is not one place for each site.
    pub fn next_into(&mut self, row: &mut [f32]) -> bool {
        let World { setup, sizes, rows, places, .. } = self.world;
        assert_eq!(row.len(), places.len(), "a place for each site");
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let at = self.random.unit() * sizes.last().copied().unwrap_or(0.0);
        let city = sizes.partition_point(|sum| *sum <= at).min(setup.cities - 1);
        let district = city * setup.districts + self.random.below(setup.districts);
        let access = ACCESS_MS[self.random.below(ACCESS_MS.len())];
        let own = access + self.random.between(0.0, setup.noise_ms) as f32;
        let known = &rows[district * places.len()..][..places.len()];
        row.iter_mut().zip(known).for_each(|(mine, known)| *mine = known + own);
        true
    }
}

/// As a vector of length 1.
fn direction(place: &Place) -> [f64; 3] {
    let (north, east) = (place.latitude.to_radians(), place.longitude.to_radians());
    [cos(north) * cos(east), cos(north) * sin(east), sin(north)]
}

/// Evenly over the globe between 60 degrees north and 45 south, where people live.
fn somewhere(random: &mut Random) -> Place {
    let height = random.between(-0.707, 0.866);
    Place { latitude: asin(height).to_degrees(), longitude: random.between(-180.0, 180.0) }
}

fn near(place: Place, degrees: f64, random: &mut Random) -> Place {
    let mut off = || random.between(-degrees, degrees);
    Place { latitude: place.latitude + off(), longitude: place.longitude + off() }
}

/// By the length of the chord, which stays exact where the angle is small.
fn rtt_ms(a: [f64; 3], b: [f64; 3]) -> f32 {
    let square: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
    (EARTH_DIAMETER_KM * asin((square.sqrt() / 2.0).min(1.0)) * MS_PER_KM) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_globe() {
        let place = |latitude, longitude| direction(&Place { latitude, longitude });
        let km = |a, b| f64::from(rtt_ms(a, b)) / MS_PER_KM;
        assert!((km(place(0.0, 0.0), place(0.0, 180.0)) - 20_015.0).abs() < 2.0);
        // Paris and New York.
        assert!((km(place(48.8566, 2.3522), place(40.7128, -74.0060)) - 5_837.0).abs() < 5.0);
    }

    #[test]
    fn rows_come_one_by_one_or_all_at_once() {
        let setup = Cities { sites: 7, players: 500, cities: 9, ..Cities::default() };
        let world = setup.generate(3);
        let problem = world.problem().unwrap();
        let (mut rows, mut row) = (world.players(), [0.0; 7]);
        for player in 0..500 {
            assert!(rows.next_into(&mut row));
            assert_eq!(problem.row(player), row);
        }
        assert!(!rows.next_into(&mut row));
        assert_eq!(setup.generate(3), world);
        assert_ne!(setup.generate(4).problem(), world.problem());
        // The first city is the largest: more than a third of the harmonic sum's share of nine.
        let mut shares = [0; 9];
        let nearest = |row: &[f32]| (0..7).min_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
        (0..500).for_each(|player| shares[nearest(problem.row(player))] += 1);
        assert!(shares[0] > 500 / 4, "{shares:?}");
    }
}

//! What players and a referee tell each other where owners move their crafts, as bytes.
//!
//! Everything begins with a byte for the version and one for the kind. Numbers are little-endian.
//!
//! | kind | who says it | what follows |
//! |---|---|---|
//! | 1 [`Shot`] | its owner, to everybody | number `u32`, time in nanoseconds `i64`, x, y, heading `f64` |
//! | 2 [`Hit`] | the referee, to everybody | shooter, target, number of the shot: `u32` |
//! | 3 [`Score`]s | the referee, to everybody | count `u16`, for each host, hits, deaths: `u32` |
//! | 4 [`Rules`] | the server, to who joins and when they change | game `u8`, seed `u64`, half a side `u16`, inertia `u8`, thresholds: distance and degrees, `f64` |
//!
//! What others are told of a craft itself when it is made is [`about`].
//!
//! ```
//! use evenkeel::HostId;
//! use evenkeel_games::words::{Hit, Word};
//! let word = Word::Hit(Hit { shooter: HostId(2), target: HostId(1), shot: 7 });
//! assert_eq!(Word::parse(&word.emit()), Some(word));
//! assert_eq!(Word::parse(b"nonsense"), None);
//! ```

mod bytes;
mod shot;

pub use shot::{BEAM_SHOWN, Shot, strikes};

use crate::arena;
use alloc::vec::Vec;
use bytes::{Reader, number};
use evenkeel::HostId;

/// The version of these words.
pub const VERSION: u8 = 1;
/// Scores are told of so many players at most.
pub const MAX_SCORES: usize = 256;

/// Which game is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameKind {
    /// [`arena`].
    Tanks,
    /// [`spaceship`](crate::spaceship).
    Ships,
}

/// The referee has decided: who is hit is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hit {
    /// Who shot.
    pub shooter: HostId,
    /// Whose craft was hit.
    pub target: HostId,
    /// The shot's number among the shooter's.
    pub shot: u32,
}

/// A player's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Score {
    /// Whose.
    pub host: HostId,
    /// How many it hit.
    pub hits: u32,
    /// How often it was hit.
    pub deaths: u32,
}

/// What a player must know to take part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Which game.
    pub game: GameKind,
    /// Where crafts come in follows from it.
    pub seed: u64,
    /// Half the side of the arena in metres; ships have no use for it.
    pub half_side: u16,
    /// Whether tanks have inertia.
    pub inertia: bool,
    /// When owners tell of movement: a distance in the game's unit, above 0.
    pub distance: f64,
    /// When owners tell of movement: an angle in degrees, above 0.
    pub degrees: f64,
}

impl Default for Rules {
    /// Tanks, as [`arena::Rules`] has them; 0.5 m, 3 degrees.
    fn default() -> Self {
        let arena::Rules { half_side, inertia, .. } = arena::Rules::default();
        Self { game: GameKind::Tanks, seed: 0, half_side, inertia, distance: 0.5, degrees: 3.0 }
    }
}

impl Rules {
    /// The arena that these rules mean.
    pub fn arena(&self) -> arena::Rules {
        arena::Rules { half_side: self.half_side, inertia: self.inertia, ..arena::Rules::default() }
    }

    fn can_be(&self) -> bool {
        let positive = |number: f64, most: f64| number > 0.0 && number <= most;
        self.half_side >= arena::MIN_HALF_SIDE && positive(self.distance, 1e6) && positive(self.degrees, 180.0)
    }
}

/// Something that is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// A shot was fired.
    Shot(Shot),
    /// A craft was hit.
    Hit(Hit),
    /// The scores at present, of [`MAX_SCORES`] players at most.
    Scores(Vec<Score>),
    /// What is played.
    Rules(Rules),
}

impl Word {
    /// As bytes. Scores beyond [`MAX_SCORES`] are left out.
    pub fn emit(&self) -> Vec<u8> {
        let mut bytes = Vec::from([VERSION]);
        match self {
            Self::Shot(shot) => {
                bytes.push(1);
                shot.emit(&mut bytes);
            }
            Self::Hit(hit) => {
                bytes.push(2);
                [hit.shooter.0, hit.target.0, hit.shot].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            }
            Self::Scores(scores) => {
                let scores = &scores[..scores.len().min(MAX_SCORES)];
                bytes.push(3);
                bytes.extend((scores.len() as u16).to_le_bytes());
                let numbers = scores.iter().flat_map(|score| [score.host.0, score.hits, score.deaths]);
                numbers.for_each(|n| bytes.extend(n.to_le_bytes()));
            }
            Self::Rules(rules) => {
                bytes.extend([4, rules.game.number()]);
                bytes.extend(rules.seed.to_le_bytes());
                bytes.extend(rules.half_side.to_le_bytes());
                bytes.push(rules.inertia.into());
                [rules.distance, rules.degrees].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            }
        }
        bytes
    }

    /// From bytes: all of them, and nothing else. Nothing if it is no word, or says what cannot be.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader::after_version(bytes)?;
        let word = match r.byte()? {
            1 => Self::Shot(Shot::read(&mut r)?),
            2 => Self::Hit(Hit { shooter: HostId(r.u32()?), target: HostId(r.u32()?), shot: r.u32()? }),
            3 => {
                let count = u16::from_le_bytes(r.take()?);
                if usize::from(count) > MAX_SCORES {
                    return None;
                }
                Self::Scores((0..count).map(|_| Score::read(&mut r)).collect::<Option<_>>()?)
            }
            4 => Self::Rules(Rules::read(&mut r)?),
            _ => return None,
        };
        r.is_at_end().then_some(word)
    }
}

impl Score {
    fn read(r: &mut Reader<'_>) -> Option<Self> {
        Some(Self { host: HostId(r.u32()?), hits: r.u32()?, deaths: r.u32()? })
    }
}

impl Rules {
    fn read(r: &mut Reader<'_>) -> Option<Self> {
        let rules = Self {
            game: GameKind::from_number(r.byte()?)?,
            seed: u64::from_le_bytes(r.take()?),
            half_side: u16::from_le_bytes(r.take()?),
            inertia: number(r.byte()?, 1)? == 1,
            distance: r.finite()?,
            degrees: r.finite()?,
        };
        rules.can_be().then_some(rules)
    }
}

impl GameKind {
    fn number(self) -> u8 {
        match self {
            Self::Tanks => 0,
            Self::Ships => 1,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Tanks),
            1 => Some(Self::Ships),
            _ => None,
        }
    }
}

/// What others are told of a craft when it is made: of which game it is. Its name is its owner's.
///
/// ```
/// use evenkeel_games::words::{GameKind, about, craft_of};
/// assert_eq!(craft_of(&about(GameKind::Ships)), Some(GameKind::Ships));
/// assert_eq!(craft_of(b"a crate"), None);
/// ```
pub fn about(game: GameKind) -> Vec<u8> {
    [VERSION, game.number()].into()
}

/// Of which game a craft is, if it is one.
pub fn craft_of(about: &[u8]) -> Option<GameKind> {
    let mut r = Reader::after_version(about)?;
    let game = GameKind::from_number(r.byte()?)?;
    r.is_at_end().then_some(game)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::{GlobalTime, Vec3};
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = Word> {
        let length = -1e9..1e9f64;
        let shot = (any::<u32>(), any::<i64>(), length.clone(), length, -4.0..4.0f64);
        let shot = shot.prop_map(|(number, at, x, y, heading)| {
            Word::Shot(Shot { number, at: GlobalTime::from_nanos(at), position: Vec3::new(x, y, 0.0), heading })
        });
        let hit =
            any::<[u32; 3]>().prop_map(|[a, b, shot]| Word::Hit(Hit { shooter: HostId(a), target: HostId(b), shot }));
        let score = any::<[u32; 3]>().prop_map(|[host, hits, deaths]| Score { host: HostId(host), hits, deaths });
        let scores = prop::collection::vec(score, 0..=MAX_SCORES).prop_map(Word::Scores);
        let rules = (any::<(bool, u64, bool)>(), 50..=u16::MAX, 1e-9..1e6f64, 1e-9..180.0f64);
        let rules = rules.prop_map(|((ships, seed, inertia), half_side, distance, degrees)| {
            let game = if ships { GameKind::Ships } else { GameKind::Tanks };
            Word::Rules(Rules { game, seed, half_side, inertia, distance, degrees })
        });
        prop_oneof![shot, hit, scores, rules]
    }

    proptest! {
        #[test]
        fn words_arrive_as_they_were_said(word in word(), rest in any::<u8>(), cut in any::<prop::sample::Index>()) {
            let mut bytes = word.emit();
            prop_assert_eq!(Word::parse(&bytes), Some(word));
            prop_assert_eq!(Word::parse(&bytes[..cut.index(bytes.len())]), None);
            bytes.push(rest);
            prop_assert_eq!(Word::parse(&bytes), None);
        }

        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..6u8) {
            if let [version, second, ..] = &mut bytes[..] {
                (*version, *second) = (VERSION, kind);
            }
            if let Some(word) = Word::parse(&bytes) {
                prop_assert_eq!(word.emit(), bytes);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let rules = Rules::default();
        let shot = Shot { number: 1, at: GlobalTime::ZERO, position: Vec3::ZERO, heading: f64::NAN };
        for word in [
            Word::Rules(Rules { half_side: 49, ..rules }),
            Word::Rules(Rules { distance: 0.0, ..rules }),
            Word::Rules(Rules { distance: f64::INFINITY, ..rules }),
            Word::Rules(Rules { degrees: 181.0, ..rules }),
            Word::Shot(shot),
        ] {
            assert_eq!(Word::parse(&word.emit()), None, "{word:?}");
        }
        assert_eq!(Word::parse(&[VERSION, 3, 255, 255]), None);
        let many = Score { host: HostId(1), hits: 0, deaths: 0 };
        let told = Word::parse(&Word::Scores(alloc::vec![many; MAX_SCORES + 1]).emit());
        assert_eq!(told, Some(Word::Scores(alloc::vec![many; MAX_SCORES])));
    }
}

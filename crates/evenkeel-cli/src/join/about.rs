//! What an entity's `about` bytes say of how it moves, so that any other process can work out where it really is.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `EKmv` |
//! | 1 | version, 1 |
//! | 1 | what moves: its place in [`Body::ALL`], or 255 for a trace |
//! | 8 | the seed, or a number that tells traces apart |
//! | 4 | how many entities the fleet has |
//! | 4 | for how long it moves, in milliseconds |
//! | 4 | which life of the fleet this is |
//! | 8 | when the fleet's time was zero: nanoseconds since 1970 |
//!
//! All numbers are little-endian. Anything else is an entity of which nothing is known: other programs say other things.

use evenkeel_lab::study::Body;

const MAGIC: [u8; 4] = *b"EKmv";
const VERSION: u8 = 1;
const TRACE: u8 = 255;
const LENGTH: usize = 34;
/// No fleet is worked out of more entities times seconds: it would take memory that a stranger should not command.
pub(crate) const MAX_ENTITY_SECONDS: f64 = 20_000.0;
/// No fleet has more entities.
pub(crate) const MAX_ENTITIES: u32 = 64;

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mover {
    /// A body of the laboratory's.
    Body(Body),
    /// A recorded game, which only those know who have the file.
    Trace,
}

/// A fleet, as anybody can work it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FleetName {
    pub(crate) mover: Mover,
    /// Of a trace, a number that tells it from others.
    pub(crate) seed: u64,
    pub(crate) entities: u32,
    pub(crate) millis: u32,
}

/// How one entity moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) fleet: FleetName,
    pub(crate) life: u32,
    /// When the fleet's time was zero: nanoseconds since 1970.
    pub(crate) start: i64,
}

impl About {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let FleetName { mover, seed, entities, millis } = self.fleet;
        let place = match mover {
            Mover::Body(body) => Body::ALL.iter().position(|(_, known)| *known == body).map_or(TRACE, |at| at as u8),
            Mover::Trace => TRACE,
        };
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, place]);
        bytes.extend(seed.to_le_bytes());
        for number in [entities, millis, self.life] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.start.to_le_bytes());
        bytes
    }

    /// Nothing if it is somebody else's way of saying things, or out of bounds.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != LENGTH || bytes[..4] != MAGIC || bytes[4] != VERSION {
            return None;
        }
        let mover = match bytes[5] {
            TRACE => Mover::Trace,
            place => Mover::Body(Body::ALL.get(usize::from(place))?.1),
        };
        let short = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let seed = u64::from_le_bytes(bytes.get(6..14)?.try_into().ok()?);
        let (entities, millis, life) = (short(14)?, short(18)?, short(22)?);
        let start = i64::from_le_bytes(bytes.get(26..34)?.try_into().ok()?);
        let fleet = FleetName { mover, seed, entities, millis };
        (fleet.is_bounded() && start >= 0).then_some(Self { fleet, life, start })
    }
}

impl FleetName {
    /// Whether it can be worked out in reasonable time and memory.
    pub(crate) fn is_bounded(&self) -> bool {
        let size = f64::from(self.entities) * f64::from(self.millis) / 1e3;
        match self.mover {
            Mover::Body(_) => {
                (1..=MAX_ENTITIES).contains(&self.entities) && self.millis > 0 && size <= MAX_ENTITY_SECONDS
            }
            Mover::Trace => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn abouts() -> impl Strategy<Value = About> {
        let mover = prop_oneof![Just(Mover::Trace), (0..Body::ALL.len()).prop_map(|at| Mover::Body(Body::ALL[at].1))];
        let fleet = (mover, any::<u64>(), 1..=MAX_ENTITIES, 1..=300_000u32);
        (fleet, any::<u32>(), 0..i64::MAX).prop_map(|((mover, seed, entities, millis), life, start)| About {
            fleet: FleetName { mover, seed, entities, millis },
            life,
            start,
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(about in abouts()) {
            prop_assert_eq!(About::decode(&about.encode()), Some(about));
        }

        #[test]
        fn anything_can_come_and_what_is_taken_is_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(about) = About::decode(&bytes) {
                prop_assert!(about.fleet.is_bounded());
            }
        }

        #[test]
        fn damage_is_noticed_or_within_bounds(about in abouts(), at in 0usize..LENGTH, with in any::<u8>()) {
            let mut bytes = about.encode();
            bytes[at] ^= with;
            if let Some(other) = About::decode(&bytes) {
                prop_assert!(other.fleet.is_bounded());
                prop_assert_eq!(other.encode(), bytes);
            }
            let whole = about.encode();
            prop_assert_eq!(About::decode(&whole[..LENGTH - 1]), None);
        }
    }

    #[test]
    fn what_would_take_too_much_is_not_known() {
        let fleet = FleetName { mover: Mover::Body(Body::ALL[0].1), seed: 1, entities: 64, millis: u32::MAX };
        assert_eq!(About::decode(&About { fleet, life: 0, start: 1 }.encode()), None);
        assert_eq!(About::decode(b"red"), None);
        assert_eq!(About::decode(&[]), None);
    }
}

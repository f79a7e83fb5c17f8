//! Making everybody's own actions take effect equally late.

use crate::ids::HostId;
use crate::time::Duration;
use alloc::vec::Vec;

/// What equal waiting costs one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padded {
    /// Who.
    pub host: HostId,
    /// How soon its own actions would take effect on its screen.
    pub response: Duration,
    /// How much longer it waits: the price, and the lag to hold its actions for.
    pub pad: Duration,
    /// How much slower than the chosen response time it is all the same.
    pub beyond: Duration,
}

/// What equal waiting costs, and what it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equalised {
    /// The response time that everybody is padded to.
    pub target: Duration,
    /// Player by player, in the order given.
    pub players: Vec<Padded>,
    /// What the players wait longer, on average.
    pub mean_price: Duration,
    /// What the quickest, who pays most, waits longer.
    pub largest_price: Duration,
    /// The difference between the slowest and the quickest that is left: none if everybody can make the target.
    pub spread: Duration,
}

/// Pads every player to the same response time: the chosen one, or that of the slowest.
///
/// Whoever cannot make the chosen response time is not padded, and is said to be [beyond](Padded::beyond) it. The pad is held
/// where it can be enforced, at whoever sends: a player asked to wait by itself need not.
///
/// ```
/// use evenkeel::{Duration, HostId, lag::equalise};
/// let ms = Duration::from_millis;
/// let players = [(HostId(1), ms(30)), (HostId(2), ms(90)), (HostId(3), ms(240))];
/// let fair = equalise(&players, None);
/// assert_eq!((fair.target, fair.mean_price, fair.spread), (ms(240), ms(120), ms(0)));
/// let playable = equalise(&players, Some(ms(100)));
/// assert_eq!((playable.players[0].pad, playable.players[2].beyond, playable.spread), (ms(70), ms(140), ms(140)));
/// ```
pub fn equalise(players: &[(HostId, Duration)], target: Option<Duration>) -> Equalised {
    let slowest = players.iter().map(|(_, response)| *response).max().unwrap_or(Duration::ZERO);
    let target = target.unwrap_or(slowest).max(Duration::ZERO);
    let padded = |&(host, response): &(HostId, Duration)| Padded {
        host,
        response,
        pad: (target - response).max(Duration::ZERO),
        beyond: (response - target).max(Duration::ZERO),
    };
    let players: Vec<Padded> = players.iter().map(padded).collect();
    let pads = || players.iter().map(|p| p.pad);
    let padded_responses = || players.iter().map(|p| p.response + p.pad);
    let sum = pads().fold(Duration::ZERO, |sum, pad| sum + pad);
    let none = Duration::ZERO;
    Equalised {
        target,
        mean_price: sum / (players.len().max(1) as i64),
        largest_price: pads().max().unwrap_or(none),
        spread: padded_responses().max().unwrap_or(none) - padded_responses().min().unwrap_or(none),
        players,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nobody_pays_nothing() {
        let none = equalise(&[], None);
        assert_eq!((none.target, none.mean_price, none.spread), (Duration::ZERO, Duration::ZERO, Duration::ZERO));
    }

    proptest! {
        #[test]
        fn everybody_who_can_gets_the_same(responses in prop::collection::vec(0i64..1_000, 1..20), target in 0i64..1_000) {
            let players: Vec<_> = (0..).map(HostId).zip(responses.iter().map(|r| Duration::from_millis(*r))).collect();
            prop_assert_eq!(equalise(&players, None).spread, Duration::ZERO);
            let target = Duration::from_millis(target);
            for player in equalise(&players, Some(target)).players {
                prop_assert_eq!(player.response + player.pad, target.max(player.response));
                prop_assert_eq!(player.response + player.pad - player.beyond, target);
            }
        }
    }
}

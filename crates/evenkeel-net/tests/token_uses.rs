//! What the register of tokens in use promises.

use evenkeel_net::token::{Player, RegisterFull, Rights, SecondUse, Token, TokenError, TokenId, Uses};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn token(n: u8, expires: u64) -> Token {
    Token {
        player: Player::Number(u64::from(n)),
        session: "arena".into(),
        rights: Rights::OBSERVE,
        not_before: 0,
        expires,
        id: TokenId([n; 16]),
        max_entities: 0,
    }
}

#[test]
fn who_was_first_stays() {
    let mut uses = Uses::new(SecondUse::Refused, 10, 10);
    let first = uses.begin(&token(1, 100), 0).unwrap();
    assert_eq!(uses.begin(&token(1, 100), 1), Err(TokenError::InUse));
    assert!(uses.begin(&token(2, 100), 1).is_ok());
    assert!(uses.end(first.holder) && !uses.end(first.holder));
    let again = uses.begin(&token(1, 100), 2).unwrap();
    assert!(again.displaced.is_none() && again.holder != first.holder);
    assert!(!uses.end(first.holder), "that was another use");
    assert_eq!(uses.holder(TokenId([1; 16])), Some(again.holder));
}

#[test]
fn who_comes_takes_over() {
    let mut uses = Uses::new(SecondUse::TakesOver, 1, 10);
    let first = uses.begin(&token(1, 100), 0).unwrap();
    // Full, but with itself.
    let second = uses.begin(&token(1, 100), 1).unwrap();
    assert_eq!(second.displaced, Some(first.holder));
    assert!(!uses.end(first.holder));
    assert_eq!(uses.in_use(), 1);
    assert!(uses.end(second.holder));
    assert_eq!(uses.in_use(), 0);
}

#[test]
fn the_revoked_stay_out_until_they_expire() {
    let mut uses = Uses::new(SecondUse::Refused, 10, 10);
    let begun = uses.begin(&token(1, 100), 0).unwrap();
    assert_eq!(uses.revoke(TokenId([1; 16]), 100, 5), Ok(Some(begun.holder)));
    assert_eq!(uses.in_use(), 0);
    // Not shorter.
    assert_eq!(uses.revoke(TokenId([1; 16]), 50, 5), Ok(None));
    assert_eq!(uses.revocations().collect::<Vec<_>>(), [(TokenId([1; 16]), 100)]);
    assert_eq!(uses.begin(&token(1, 100), 99), Err(TokenError::Revoked));
    assert_eq!(uses.begin(&token(1, 100), 100), Err(TokenError::Expired { since: 100 }));
    assert!(!uses.is_revoked(TokenId([1; 16])), "forgotten");
    // The clock is set back.
    assert_eq!(uses.begin(&token(1, 100), 50), Err(TokenError::Expired { since: 100 }));
}

#[test]
fn players_leave_room_for_revocations_and_the_other_way_round() {
    let mut uses = Uses::new(SecondUse::Refused, 1, 1);
    let _ = uses.begin(&token(1, 100), 0).unwrap();
    assert_eq!(uses.begin(&token(2, 100), 0), Err(TokenError::Full));
    assert_eq!(uses.revoke(TokenId([2; 16]), 50, 0), Ok(None));
    assert_eq!(uses.revoke(TokenId([1; 16]), 50, 0), Err(RegisterFull));
    assert_eq!(uses.in_use(), 1, "nothing changed");
    // What has expired needs no room, and makes some.
    assert_eq!(uses.revoke(TokenId([3; 16]), 10, 10), Ok(None));
    assert_eq!(uses.revoke(TokenId([4; 16]), 90, 50), Ok(None));
    assert!(uses.begin(&token(2, 200), 100).is_ok());
}

#[test]
fn whoever_stays_too_long_is_named() {
    let mut uses = Uses::new(SecondUse::Refused, 10, 10);
    let holders = [(1, 30), (2, 10), (3, 20)].map(|(n, expires)| uses.begin(&token(n, expires), 0).unwrap().holder);
    assert_eq!(uses.expire(9), []);
    assert_eq!(uses.expire(20), [holders[1], holders[2]]);
    assert_eq!(uses.in_use(), 1);
    assert!(!uses.end(holders[1]));
}

#[derive(Clone, Debug)]
enum Step {
    Begin(u8),
    End(usize),
    Revoke(u8),
    Expire,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..12u8).prop_map(Step::Begin),
        2 => (0..40usize).prop_map(Step::End),
        1 => (0..12u8).prop_map(Step::Revoke),
        1 => Just(Step::Expire),
        1 => (0..30u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..80)
}

/// When each of the tokens of the tests below expires.
fn expiry(n: u8) -> u64 {
    20 + u64::from(n) * 15
}

proptest! {
    /// The register against the simplest thing that could do the same.
    #[test]
    fn one_holder_at_a_time_and_none_of_the_revoked(steps in steps(), takes_over: bool) {
        let second = if takes_over { SecondUse::TakesOver } else { SecondUse::Refused };
        let mut uses = Uses::new(second, 6, 4);
        let (mut now, mut all, mut holding, mut revoked) = (0, Vec::new(), BTreeMap::new(), Vec::new());
        for step in steps {
            match step {
                Step::Begin(n) => match uses.begin(&token(n, expiry(n)), now) {
                    Ok(begun) => {
                        prop_assert!(now < expiry(n) && !revoked.contains(&n));
                        holding.retain(|&m, _| now < expiry(m) || uses.holder(TokenId([m; 16])).is_some());
                        let before = holding.insert(n, begun.holder);
                        prop_assert_eq!(begun.displaced, before);
                        prop_assert!(before.is_none() || takes_over);
                        all.push(begun.holder);
                    }
                    Err(TokenError::Expired { since }) => prop_assert!(since <= now),
                    Err(TokenError::Revoked) => prop_assert!(revoked.contains(&n)),
                    Err(TokenError::InUse) => prop_assert!(holding.contains_key(&n) && !takes_over),
                    Err(error) => {
                        prop_assert_eq!(error, TokenError::Full);
                        // Those who stayed too long made room, which was not enough.
                        prop_assert_eq!(uses.in_use(), 6);
                        holding.retain(|&m, _| uses.holder(TokenId([m; 16])).is_some());
                    }
                },
                Step::End(i) => if let Some(&holder) = all.get(i) {
                    let n = holder.token().0[0];
                    let current = holding.get(&n) == Some(&holder);
                    prop_assert_eq!(uses.end(holder), current);
                    if current {
                        holding.remove(&n);
                    }
                },
                Step::Revoke(n) => if let Ok(ended) = uses.revoke(TokenId([n; 16]), expiry(n), now) {
                    prop_assert_eq!(ended, holding.remove(&n));
                    revoked.push(n);
                },
                Step::Expire => for holder in uses.expire(now) {
                    let n = holder.token().0[0];
                    prop_assert!(expiry(n) <= now);
                    prop_assert_eq!(holding.remove(&n), Some(holder));
                },
                Step::Wait(seconds) => now += seconds,
            }
            prop_assert!(uses.in_use() <= 6 && uses.revocations().len() <= 4);
            prop_assert_eq!(uses.in_use(), holding.len());
        }
    }
}

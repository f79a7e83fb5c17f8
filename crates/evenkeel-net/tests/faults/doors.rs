//! A door that wants tokens, and whoever has none that is good.

use crate::arena::{Arena, Game, Link, Player, ms};
use evenkeel_net::hub::{HubConfig, TokenGate};
use evenkeel_net::protocol::Refusal;
use evenkeel_net::seat::SeatEvent;
use evenkeel_net::token::{self, KeyRing, Rights, SigningKey, Token, TokenId};
use evenkeel_net::{Client, LinkState};
use std::time::{Duration, SystemTime};

fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

fn token(number: u8) -> Token {
    Token {
        player: token::Player::Name(format!("Player {number}")),
        session: "main".into(),
        rights: Rights::JOIN | Rights::MOVE,
        not_before: now() - 60,
        expires: now() + 600,
        id: TokenId([number; 16]),
        max_entities: 2,
    }
}

fn client(arena: &Arena, number: u8, token: Vec<u8>) -> Client {
    let mut config = arena.client(number);
    config.seat.token = token;
    Client::start_with(config).unwrap()
}

pub async fn tokens_that_are_expired_forged_or_stolen_let_nobody_in() -> String {
    let key = SigningKey::generate([1; 32]);
    let gate = TokenGate::new(KeyRing::of(key.verifying_key()), 100, now);
    let hub = HubConfig { gate: Box::new(gate), token_needed: true, ..HubConfig::default() };
    let arena = Arena::start(hub, |_| {}).await;
    let players = (1..=3)
        .map(|number| Player::new(Link::Client(client(&arena, number, key.sign(&token(number)).unwrap())), number));
    let mut game = Game::of(players.collect(), Vec::new()).await;
    let expired = Token { not_before: now() - 600, expires: now() - 60, ..token(4) };
    let early = Token { not_before: now() + 300, ..token(4) };
    let mut forged = key.sign(&token(4)).unwrap();
    let last = forged.len() - 1;
    forged[last] ^= 1;
    let foreign = SigningKey::generate([2; 32]).sign(&token(4)).unwrap();
    let elsewhere = Token { session: "elsewhere".into(), ..token(4) };
    let stolen = key.sign(&token(1)).unwrap();
    let bad = [
        (4, Vec::new(), "there is none"),
        (4, key.sign(&expired).unwrap(), "expired"),
        (4, key.sign(&early).unwrap(), "valid from"),
        (4, forged, "signature"),
        (4, foreign, "key"),
        (4, key.sign(&elsewhere).unwrap(), "elsewhere"),
        // By its owner's name, while that one plays; and by another.
        (1, stolen.clone(), "in use"),
        (4, stolen, "for player Player 1"),
    ];
    for (number, token, expected) in bad {
        let thief = client(&arena, number, token);
        let mut reason = None;
        game.until("an answer", Duration::from_secs(5), |game| {
            assert_ne!(game.view_is_off(), Some(true));
            reason = reason.take().or_else(|| {
                std::iter::from_fn(|| thief.poll_event()).find_map(|event| match event {
                    SeatEvent::Refused(Refusal::Token(why)) => Some(why),
                    SeatEvent::Welcome { .. } => panic!("{expected}: it is let in"),
                    _ => None,
                })
            });
            reason.is_some()
        })
        .await;
        let reason = reason.unwrap();
        assert!(reason.contains(expected), "{expected}: {reason}");
        game.until("it is over", ms(3_000), |_| matches!(thief.link(), LinkState::Over { .. })).await;
        assert_eq!(arena.server().with(|hub, _| hub.players().count()), 3, "nothing is made for it");
    }
    game.play_exactly(ms(1_000)).await;
    arena.assert_owned(&game);
    "exact all the time; eight refused, each with its reason".into()
}

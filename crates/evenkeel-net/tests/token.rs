//! What tokens, key files and the register of uses promise.

use data_encoding::BASE64URL_NOPAD;
use evenkeel_net::token::{
    Fault, KeyFileError, KeyProblem, KeyRing, MAX_BYTES, MAX_KEYS, MAX_LIFETIME, MAX_NAME, MAX_TEXT, Malformed, Player,
    Rights, SigningKey, Token, TokenError, TokenId, VerifyingKey, Window,
};
use proptest::prelude::*;

fn key(n: u8) -> SigningKey {
    SigningKey::generate([n; 32])
}

fn ring(n: u8) -> KeyRing {
    KeyRing::of(key(n).verifying_key())
}

fn example() -> Token {
    Token {
        player: Player::Name("Ada".into()),
        session: "arena-3".into(),
        rights: Rights::JOIN | Rights::MOVE,
        not_before: 1_000,
        expires: 5_000,
        id: TokenId([9; 16]),
        max_entities: 4,
    }
}

fn players() -> impl Strategy<Value = Player> {
    prop_oneof![any::<u64>().prop_map(Player::Number), names().prop_map(Player::Name)]
}

fn names() -> impl Strategy<Value = String> {
    // Four bytes at most each.
    "\\PC{1,16}"
}

prop_compose! {
    fn tokens()(
        player in players(),
        session in names(),
        rights in (0..16u8).prop_filter_map("consistent", |bits| {
            Rights::from_bits(bits).filter(|rights| rights.are_consistent())
        }),
        not_before in 0..u64::MAX - MAX_LIFETIME,
        lifetime in 1..=MAX_LIFETIME,
        id in any::<[u8; 16]>(),
        entities in 1..=u32::MAX,
    ) -> Token {
        let max_entities = if rights.contains(Rights::MOVE) { entities } else { 0 };
        Token { player, session, rights, not_before, expires: not_before + lifetime, id: TokenId(id), max_entities }
    }
}

proptest! {
    #[test]
    fn what_is_signed_is_read(token in tokens(), seed in any::<[u8; 32]>(), when in 0.0..1.0) {
        let key = SigningKey::generate(seed);
        let ring = KeyRing::of(key.verifying_key());
        let now = token.not_before + ((token.expires - token.not_before) as f64 * when) as u64;
        let (bytes, text) = (key.sign(&token).unwrap(), key.sign_text(&token).unwrap());
        prop_assert!(bytes.len() <= MAX_BYTES && text.len() <= MAX_TEXT && !text.contains(char::is_whitespace));
        prop_assert_eq!(ring.verify_bytes(&bytes, now, &token.session), Ok(token.clone()));
        prop_assert_eq!(ring.verify(&text, now, &token.session), Ok(token.clone()));
        prop_assert_eq!(Token::read_unverified(&bytes), Ok((key.id(), token.clone())));
        prop_assert_eq!(Token::read_text_unverified(&text), Ok((key.id(), token)));
    }

    #[test]
    fn any_cut_or_addition_is_refused(token in tokens(), at in any::<prop::sample::Index>(), byte: u8) {
        let bytes = key(1).sign(&token).unwrap();
        let check = |bytes: &[u8]| ring(1).verify_bytes(bytes, token.not_before, &token.session);
        let at = at.index(bytes.len());
        prop_assert!(check(&bytes[..at]).is_err());
        prop_assert!(check(&bytes[at + 1..]).is_err());
        let mut longer = bytes.clone();
        longer.insert(at, byte);
        prop_assert!(check(&longer).is_err());
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), now: u64) {
        prop_assert!(ring(1).verify_bytes(&bytes, now, "arena").is_err());
        prop_assert!(ring(1).verify(&String::from_utf8_lossy(&bytes), now, "arena").is_err());
        prop_assert!(ring(1).verify(&BASE64URL_NOPAD.encode(&bytes), now, "arena").is_err());
        let _ = Token::read_unverified(&bytes);
        // As the inside of a token.
        let _ = Token::read_unverified(&[&[1; 9], &bytes[..], &[0; 64]].concat());
    }

    #[test]
    fn any_text_is_no_reason_to_panic(
        text in "(?s).{0,400}",
        line in "evenkeel-(key|secret)-1 [0-9a-f]{16} \\PC{0,60}",
    ) {
        prop_assert!(ring(1).verify(&text, 0, "arena").is_err());
        for text in [&text, &line] {
            let _ = KeyRing::parse(text);
            let _ = SigningKey::from_text(text);
            let _ = VerifyingKey::from_text(text);
        }
    }

    #[test]
    fn other_keys_sign_nothing(token in tokens(), other in 2..u8::MAX) {
        let mut bytes = key(other).sign(&token).unwrap();
        let check = |bytes: &[u8]| ring(1).verify_bytes(bytes, token.not_before, &token.session);
        prop_assert_eq!(check(&bytes), Err(TokenError::UnknownKey { key: key(other).id() }));
        // Whoever claims to be another does not sign as the other.
        bytes[1..9].copy_from_slice(&key(1).id().0);
        prop_assert_eq!(check(&bytes), Err(TokenError::BadSignature));
    }

    #[test]
    fn key_files_read_as_written(keys in prop::collection::btree_set(any::<[u8; 32]>(), 0..5), from: Option<u64>) {
        let mut ring = KeyRing::default();
        for (i, seed) in (1..).zip(keys) {
            let until = from.map_or(Some(i), |from| from.checked_add(i));
            ring.add(SigningKey::generate(seed).verifying_key(), Window { from, until }).unwrap();
        }
        prop_assert_eq!(KeyRing::parse(&ring.to_text()), Ok(ring));
    }
}

#[test]
fn any_flipped_bit_is_refused() {
    let (bytes, text) = (key(1).sign(&example()).unwrap(), key(1).sign_text(&example()).unwrap());
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = ring(1).verify_bytes(&flipped, 2_000, "arena-3").expect_err("a forgery");
        match bit / 8 {
            0 => assert_eq!(error, TokenError::Malformed(Malformed::Version(flipped[0]))),
            1..9 => assert!(matches!(error, TokenError::UnknownKey { .. }), "{bit}: {error:?}"),
            _ => assert_eq!(error, TokenError::BadSignature, "{bit}"),
        }
    }
    for bit in 0..text.len() * 8 {
        let mut flipped = text.clone().into_bytes();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let flipped = String::from_utf8_lossy(&flipped);
        assert!(ring(1).verify(&flipped, 2_000, "arena-3").is_err(), "{bit}");
    }
}

/// Adding the order of the group to a signature's scalar gives another one that is right by the equation.
#[test]
fn a_token_has_one_signature() {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = key(1).sign(&example()).unwrap();
    let scalar = bytes.len() - 32;
    let mut carry = 0;
    for (byte, add) in bytes[scalar..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(add);
        *byte = carry as u8;
        carry >>= 8;
    }
    assert_eq!(ring(1).verify_bytes(&bytes, 2_000, "arena-3"), Err(TokenError::BadSignature));
}

/// Tokens outlive programs: what was signed once reads forever. The files were made by another program, from the
/// table in the documentation and from RFC 8032.
#[test]
fn the_form_does_not_change() {
    let text = key(1).sign_text(&example()).unwrap();
    assert_eq!(text, include_str!("token-v1.txt").trim());
    let known = VerifyingKey::from_text(include_str!("token-v1.key")).unwrap();
    assert_eq!(KeyRing::of(known).verify(include_str!("token-v1.txt"), 2_000, "arena-3"), Ok(example()));
}

#[test]
fn a_token_is_valid_from_its_first_second_to_before_its_last() {
    let text = key(1).sign_text(&example()).unwrap();
    let at = |now| ring(1).verify(&text, now, "arena-3");
    assert_eq!(at(0), Err(TokenError::NotYet { until: 1_000 }));
    assert_eq!(at(999), Err(TokenError::NotYet { until: 1_000 }));
    assert_eq!(at(1_000), Ok(example()));
    assert_eq!(at(4_999), Ok(example()));
    assert_eq!(at(5_000), Err(TokenError::Expired { since: 5_000 }));
    assert_eq!(at(u64::MAX), Err(TokenError::Expired { since: 5_000 }));
}

#[test]
fn a_token_is_for_one_session() {
    let text = key(1).sign_text(&example()).unwrap();
    for session in ["", "arena", "arena-33", "Arena-3", "arena-3 "] {
        let refused = Err(TokenError::WrongSession { granted: "arena-3".into() });
        assert_eq!(ring(1).verify(&text, 2_000, session), refused, "{session:?}");
    }
}

#[test]
fn space_around_a_token_is_forgiven_and_within_is_not() {
    let text = key(1).sign_text(&example()).unwrap();
    assert!(ring(1).verify(&format!(" {text}\r\n"), 2_000, "arena-3").is_ok());
    let (a, b) = text.split_at(10);
    let refused = Err(TokenError::Malformed(Malformed::Text));
    assert_eq!(ring(1).verify(&format!("{a}\n{b}"), 2_000, "arena-3"), refused);
    let huge = "A".repeat(MAX_TEXT + 1);
    assert_eq!(ring(1).verify(&huge, 2_000, "arena-3"), Err(TokenError::Malformed(Malformed::Length)));
}

#[test]
fn keys_are_replaced_without_a_gap() {
    let (old, new) = (key(1), key(2));
    let mut ring = KeyRing::default();
    ring.add(old.verifying_key(), Window { from: None, until: Some(3_000) }).unwrap();
    ring.add(new.verifying_key(), Window { from: Some(2_000), until: None }).unwrap();
    let check = |ring: &KeyRing, key: &SigningKey, now| {
        ring.verify(&key.sign_text(&example()).unwrap(), now, "arena-3").map(|_| ())
    };
    let not_in_force = |key: &SigningKey| Err(TokenError::KeyNotInForce { key: key.id() });
    for (now, of_old, of_new) in [
        (1_999, Ok(()), not_in_force(&new)),
        (2_000, Ok(()), Ok(())),
        (2_999, Ok(()), Ok(())),
        (3_000, not_in_force(&old), Ok(())),
    ] {
        assert_eq!((check(&ring, &old, now), check(&ring, &new, now)), (of_old, of_new), "{now}");
    }
    assert!(ring.remove(old.id()) && !ring.remove(old.id()));
    assert_eq!(check(&ring, &old, 2_500), Err(TokenError::UnknownKey { key: old.id() }));
    assert_eq!(check(&ring, &new, 2_500), Ok(()));
}

#[test]
fn rings_are_small_and_hold_keys_once() {
    let mut ring = KeyRing::default();
    for n in 0..MAX_KEYS as u8 {
        ring.add(key(n).verifying_key(), Window::ALWAYS).unwrap();
    }
    assert_eq!(ring.keys().len(), MAX_KEYS);
    assert_eq!(ring.add(key(200).verifying_key(), Window::ALWAYS), Err(KeyProblem::TooMany));
    assert_eq!(ring.add(key(1).verifying_key(), Window::ALWAYS), Err(KeyProblem::Twice));
    let never = Window { from: Some(5), until: Some(5) };
    assert_eq!(ring.add(key(200).verifying_key(), never), Err(KeyProblem::Window));
}

#[test]
fn nonsense_is_not_signed() {
    let long = "é".repeat(MAX_NAME / 2) + "x";
    type Spoil = fn(&mut Token, &str);
    let wrong: [(Fault, Spoil); 12] = [
        (Fault::Player, |token, long| token.player = Player::Name(long.into())),
        (Fault::Player, |token, _| token.player = Player::Name(String::new())),
        (Fault::Player, |token, _| token.player = Player::Name("two\nlines".into())),
        (Fault::Session, |token, long| token.session = long.into()),
        (Fault::Session, |token, _| token.session.clear()),
        (Fault::Session, |token, _| token.session = "\u{85}".into()),
        (Fault::Rights, |token, _| token.rights = Rights::default()),
        (Fault::Rights, |token, _| token.rights = Rights::JOIN | Rights::OBSERVE),
        (Fault::Entities, |token, _| token.max_entities = 0),
        (Fault::Entities, |token, _| token.rights = Rights::JOIN),
        (Fault::Lifetime, |token, _| token.expires = token.not_before),
        (Fault::Lifetime, |token, _| token.expires = token.not_before + MAX_LIFETIME + 1),
    ];
    for (fault, spoil) in wrong {
        let mut token = example();
        spoil(&mut token, &long);
        assert_eq!(key(1).sign(&token), Err(fault), "{token:?}");
    }
}

#[test]
fn the_largest_token_fits() {
    let name = "x".repeat(MAX_NAME);
    let token = Token { player: Player::Name(name.clone()), session: name, ..example() };
    assert_eq!(key(1).sign(&token).unwrap().len(), MAX_BYTES);
    assert_eq!(key(1).sign_text(&token).unwrap().len(), MAX_TEXT);
}

#[test]
fn key_files_say_where_they_are_wrong() {
    let public = key(1).verifying_key().to_text();
    let good = public.trim();
    let (head, bytes) = good.rsplit_once(' ').unwrap();
    let other = key(2).verifying_key().to_text();
    let (_, others) = other.trim().rsplit_once(' ').unwrap();
    let weak = format!("{head} {}", "A".repeat(43));
    for (line, problem) in [
        ("evenkeel-key-2 a b".into(), KeyProblem::Words),
        ("evenkeel-key-1".into(), KeyProblem::Words),
        (head.into(), KeyProblem::Words),
        (key(1).to_text(), KeyProblem::Secret),
        (good.to_uppercase().replace("EVENKEEL-KEY", "evenkeel-key"), KeyProblem::Id),
        (format!("{head} {}", &bytes[1..]), KeyProblem::Bytes),
        (format!("{head} {bytes}="), KeyProblem::Bytes),
        (format!("{head}  {bytes}"), KeyProblem::Bytes),
        (format!("{head} {others}"), KeyProblem::Mismatch),
        (weak, KeyProblem::Weak),
        (format!("{good} until"), KeyProblem::Window),
        (format!("{good} until=soon"), KeyProblem::Window),
        (format!("{good} since=1"), KeyProblem::Window),
        (format!("{good} from=1 from=2"), KeyProblem::Window),
        (format!("{good} from=2 until=1"), KeyProblem::Window),
        (format!("{good}\n{good}"), KeyProblem::Twice),
    ] {
        let line_number = if problem == KeyProblem::Twice { 5 } else { 4 };
        let error = KeyFileError { line: line_number, problem };
        assert_eq!(KeyRing::parse(&format!("# keys\n\n{other}{line}\n")), Err(error), "{line}");
        assert!(error.to_string().starts_with(&format!("line {line_number}: ")));
    }
    assert_eq!(KeyRing::parse("").unwrap().keys().len(), 0);
}

#[test]
fn one_key_is_one_key() {
    let (secret, public) = (key(1).to_text(), key(1).verifying_key().to_text());
    let problem = |result: Result<SigningKey, KeyFileError>| result.map(|key| key.id()).map_err(|error| error.problem);
    assert_eq!(problem(SigningKey::from_text(&format!("# mine\n{secret}"))), Ok(key(1).id()));
    assert_eq!(problem(SigningKey::from_text(&public)), Err(KeyProblem::Public));
    assert_eq!(problem(SigningKey::from_text("")), Err(KeyProblem::NotOne));
    assert_eq!(problem(SigningKey::from_text(&secret.repeat(2))), Err(KeyProblem::NotOne));
    assert_eq!(problem(SigningKey::from_text(&format!("{} until=3", secret.trim()))), Err(KeyProblem::Words));
    let id = (key(1).id().to_string(), key(2).id().to_string());
    assert_eq!(problem(SigningKey::from_text(&secret.replace(&id.0, &id.1))), Err(KeyProblem::Mismatch));
    assert_eq!(VerifyingKey::from_text(&public), Ok(key(1).verifying_key()));
    assert!(VerifyingKey::from_text(&format!("{} until=3", public.trim())).is_err());
    assert!(VerifyingKey::from_text(&secret).is_err());
}

#[test]
fn every_refusal_says_what_to_do() {
    let key = key(1).id();
    for error in [
        TokenError::Malformed(Malformed::Text),
        TokenError::UnknownKey { key },
        TokenError::KeyNotInForce { key },
        TokenError::BadSignature,
        TokenError::Expired { since: 5 },
        TokenError::NotYet { until: 5 },
        TokenError::WrongSession { granted: "arena-3".into() },
        TokenError::Revoked,
        TokenError::InUse,
        TokenError::Full,
    ] {
        let text = error.to_string();
        let (what, todo) = text.split_once(": ").expect("two parts");
        assert!(!what.is_empty() && !todo.is_empty() && !text.contains("  "), "{text}");
    }
}

#[test]
fn rights_read_as_they_are_shown() {
    for bits in 1..16 {
        let rights = Rights::from_bits(bits).unwrap();
        assert_eq!(rights.to_string().parse(), Ok(rights));
    }
    assert!(Rights::from_bits(16).is_none());
    for text in ["", "join+", "join,move", "Join"] {
        assert!(text.parse::<Rights>().is_err(), "{text}");
    }
}

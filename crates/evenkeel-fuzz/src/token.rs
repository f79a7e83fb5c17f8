//! Join tokens, key files, and the register of tokens in use.

use evenkeel_net::token::{
    Holder, KeyRing, Player, Rights, SecondUse, SigningKey, Token, TokenError, TokenId, Uses, VerifyingKey,
};
use std::sync::LazyLock;

/// The key that signs what a fuzzer could not sign.
static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate([1; 32]));

/// Nothing is let in that the key did not sign; what it signs reads the same; key files are written as they read; and a
/// token has one holder.
pub fn token(data: &[u8]) {
    signed(data);
    if let Ok(text) = std::str::from_utf8(data) {
        texts(text);
    }
    uses(data);
}

/// A signature guards what matters, and no fuzzer gets past it: so what reads as a token is signed here.
fn signed(data: &[u8]) {
    let ring = KeyRing::of(KEY.verifying_key());
    let Ok((_, token)) = Token::read_unverified(data) else {
        assert!(ring.verify_bytes(data, 0, "arena-3").is_err());
        return;
    };
    assert_eq!(token.validate(), Ok(()));
    let bytes = KEY.sign(&token).expect("a token that was read can be signed");
    // There is one way to write it, and its key is its own: only that and the signature may differ.
    let body = 9..bytes.len() - 64;
    assert_eq!((bytes.len(), &bytes[body.clone()]), (data.len(), &data[body]));
    assert_eq!(ring.verify_bytes(&bytes, token.not_before, &token.session).as_ref(), Ok(&token));
    assert_eq!(ring.verify_bytes(&bytes, token.expires - 1, &token.session).as_ref(), Ok(&token));
    let expired = Err(TokenError::Expired { since: token.expires });
    assert_eq!(ring.verify_bytes(&bytes, token.expires, &token.session), expired);
    let verified = ring.verify_bytes(data, token.not_before, &token.session);
    assert_eq!(verified.is_ok(), data == bytes, "there is one signature");
}

fn texts(text: &str) {
    if let Ok((_, token)) = Token::read_text_unverified(text) {
        let signed = KEY.sign_text(&token).expect("a token that was read can be signed");
        let ring = KeyRing::of(KEY.verifying_key());
        assert_eq!(ring.verify(text, token.not_before, &token.session).is_ok(), text.trim_ascii() == signed);
    }
    match KeyRing::parse(text) {
        Ok(ring) => assert_eq!(KeyRing::parse(&ring.to_text()), Ok(ring)),
        Err(error) => assert!((1..=text.lines().count()).contains(&error.line), "{error}"),
    }
    if let Ok(key) = SigningKey::from_text(text) {
        assert!(VerifyingKey::from_text(text).is_err(), "no key is both");
        assert!(text.contains(key.to_text().trim_end()));
    }
}

/// A policy, then operations: what is done, to which token, and a number.
fn uses(data: &[u8]) {
    const CAPACITY: usize = 5;
    let Some((policy, script)) = data.split_first() else { return };
    let second = if policy & 1 == 0 { SecondUse::Refused } else { SecondUse::TakesOver };
    let mut uses = Uses::new(second, CAPACITY, CAPACITY);
    let mut begun: Vec<Holder> = Vec::new();
    let (mut now, mut latest) = (0u64, 0);
    for operation in script.chunks_exact(3).take(1_000) {
        let (token, number) = (some_token(operation[1] % 12), operation[2]);
        match operation[0] % 5 {
            0 => {
                latest = now.max(latest);
                begin(&mut uses, &token, now, latest, &mut begun);
            }
            1 => end(&mut uses, &begun, number),
            2 => {
                latest = now.max(latest);
                if uses.revoke(token.id, token.expires, now).is_ok() {
                    assert_eq!(uses.holder(token.id), None);
                    assert_eq!(uses.is_revoked(token.id), latest < token.expires);
                }
            }
            3 => {
                latest = now.max(latest);
                uses.expire(now).into_iter().for_each(|holder| assert!(!uses.end(holder)));
            }
            // Clocks are set back now and then.
            _ => now = (now + u64::from(number)).saturating_sub(40),
        }
        assert!(uses.in_use() <= CAPACITY && uses.revocations().len() <= CAPACITY);
    }
}

fn begin(uses: &mut Uses, token: &Token, now: u64, latest: u64, begun: &mut Vec<Holder>) {
    let (before, revoked) = (uses.holder(token.id), uses.is_revoked(token.id));
    let Ok(new) = uses.begin(token, now) else { return };
    assert!(!revoked && latest < token.expires);
    assert_eq!((new.displaced, uses.holder(token.id)), (before, Some(new.holder)));
    assert!(!begun.contains(&new.holder), "every use is another");
    begun.push(new.holder);
}

fn end(uses: &mut Uses, begun: &[Holder], number: u8) {
    let Some(&holder) = begun.get(usize::from(number)) else { return };
    let current = uses.holder(holder.token()) == Some(holder);
    assert_eq!(uses.end(holder), current);
    assert!(!uses.end(holder), "it ends once");
}

fn some_token(n: u8) -> Token {
    Token {
        player: Player::Number(u64::from(n)),
        session: "arena-3".into(),
        rights: Rights::OBSERVE,
        not_before: 0,
        expires: 50 + u64::from(n) * 100,
        id: TokenId([n; 16]),
        max_entities: 0,
    }
}

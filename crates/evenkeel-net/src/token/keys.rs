//! The operator's key, and what servers know of it.
//!
//! Ed25519 and SHA-512/256 are *ring*'s. It is the cryptography of the encrypted connections that tokens travel over:
//! if it is broken all is lost with or without tokens, so that a second implementation (`ed25519-dalek` and ten crates
//! below it) would double what has to be trusted and watched and gain nothing. It signs in constant time and refuses
//! signatures whose scalar is not reduced, so that a token cannot be turned into another valid one. What it does not do
//! is refuse public keys of small order: see [`VerifyingKey::from_bytes`].

use super::{KeyProblem, NotAnId, from_hex};
use data_encoding::HEXLOWER;
use ring::digest::{SHA512_256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fmt;
use std::str::FromStr;

/// The key that tokens are signed with: the operator's secret.
///
/// ```
/// use evenkeel_net::token::SigningKey;
/// let key = SigningKey::generate([7; 32]); // 32 bytes of the system's randomness
/// let text = key.to_text();
/// assert!(text.starts_with("evenkeel-secret-1 "));
/// assert_eq!(SigningKey::from_text(&text)?.verifying_key(), key.verifying_key());
/// # Ok::<(), evenkeel_net::token::KeyFileError>(())
/// ```
pub struct SigningKey {
    pub(super) seed: [u8; 32],
    pair: Ed25519KeyPair,
    public: VerifyingKey,
}

impl SigningKey {
    /// The key that follows from these bytes, all of which are possible and none of which may be guessed: they have to
    /// come from the system's source of randomness.
    pub fn generate(random: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&random).expect("every 32 bytes are a seed");
        let mut public = [0; 32];
        public.copy_from_slice(pair.public_key().as_ref());
        Self { seed: random, pair, public: VerifyingKey { id: KeyId::of(&public), bytes: public } }
    }

    /// What servers are given.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public
    }

    /// By what the key is named in tokens.
    pub fn id(&self) -> KeyId {
        self.public.id
    }

    pub(super) fn sign_raw(&self, message: &[u8]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.pair.sign(message).as_ref());
        bytes
    }
}

/// Shows no secret.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id())
    }
}

/// The key that signatures are checked with. Not a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey {
    id: KeyId,
    bytes: [u8; 32],
}

impl VerifyingKey {
    /// The key of these bytes, unless anybody can sign for it: there are a few points on the curve for which signatures
    /// are found without a secret, all zeros among them.
    ///
    /// Bytes that are no point at all are not noticed here, but no signature is ever right for them.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, KeyProblem> {
        if is_weak(&bytes) {
            return Err(KeyProblem::Weak);
        }
        Ok(Self { id: KeyId::of(&bytes), bytes })
    }

    /// The key as bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.bytes
    }

    /// By what the key is named in tokens.
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.bytes).verify(message, signature).is_ok()
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({})", self.id)
    }
}

/// By what a key is named: the first 8 bytes of the SHA-512/256 of the public key.
///
/// Enough to find a key in a ring and to notice a slip in a key file. It proves nothing: the signature does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    fn of(public: &[u8; 32]) -> Self {
        let mut id = [0; 8];
        id.copy_from_slice(&digest(&SHA512_256, public).as_ref()[..8]);
        Self(id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        from_hex(text).map(Self)
    }
}

/// Whether the point is one of the eight whose order divides eight, however it is written.
fn is_weak(bytes: &[u8; 32]) -> bool {
    // One of the two heights of the points of order eight; the other one is its negative.
    const EIGHTH: [u8; 32] = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
        0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ];
    let mut height = *bytes;
    // The highest bit tells left from right, and both are as weak.
    height[31] &= 0x7f;
    let low = |first: u8| height[0] == first && height[1..].iter().all(|&byte| byte == 0);
    // The prime is 2^255 - 19: these are -1, and 0 and 1 written as the prime and one more.
    let high = |first: u8| height[0] == first && height[1..31].iter().all(|&byte| byte == 0xff) && height[31] == 0x7f;
    let negative = |of: &[u8; 32]| {
        let prime = |i: usize| {
            if i == 0 {
                0xed
            } else if i == 31 {
                0x7f
            } else {
                0xff
            }
        };
        (0..32).all(|i| u16::from(height[i]) + u16::from(of[i]) == prime(i))
    };
    low(0) || low(1) || high(0xec) || high(0xed) || high(0xee) || height == EIGHTH || negative(&EIGHTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(hex: &str) -> [u8; 32] {
        HEXLOWER.decode(hex.as_bytes()).unwrap().try_into().unwrap()
    }

    #[test]
    fn the_first_test_vector_of_rfc_8032() {
        let signing = SigningKey::generate(key("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
        let public = key("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(signing.verifying_key().to_bytes(), public);
        let signature = signing.sign_raw(b"");
        assert!(
            HEXLOWER.encode(&signature).starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e0652249")
        );
        assert!(VerifyingKey::from_bytes(public).unwrap().verifies(b"", &signature));
        assert!(!VerifyingKey::from_bytes(public).unwrap().verifies(b"x", &signature));
    }

    /// The eight points of small order, in all their ways to be written: with either sign, and zero and one not
    /// reduced.
    const WEAK: [&str; 7] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];

    #[test]
    fn keys_that_anybody_can_sign_for_are_refused() {
        for weak in WEAK {
            for sign in [0, 0x80] {
                let mut bytes = key(weak);
                bytes[31] |= sign;
                assert_eq!(VerifyingKey::from_bytes(bytes), Err(KeyProblem::Weak), "{weak} {sign}");
                bytes[3] ^= 1;
                assert!(VerifyingKey::from_bytes(bytes).is_ok());
            }
        }
    }

    /// Why they are: the signature of nobody, of which one in eight is right or more.
    #[test]
    fn a_weak_key_would_have_let_anybody_in() {
        let weak = VerifyingKey { id: KeyId([0; 8]), bytes: key(WEAK[2]) };
        let mut nobodys = [0; 64];
        nobodys[0] = 1;
        assert!((0..200u8).any(|message| weak.verifies(&[message], &nobodys)));
    }

    #[test]
    fn secrets_are_not_shown() {
        let key = SigningKey::generate([3; 32]);
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.id()));
    }
}

//! Tokens as bytes and as text.

use super::{Fault, KeyId, MAX_NAME, Malformed, Player, Rights, SigningKey, Token, TokenId};
use data_encoding::BASE64URL_NOPAD;

/// The version of the form, its first byte.
pub const VERSION: u8 = 1;

/// What is signed starts with this, so that nothing else that the same key may sign is ever taken for a token.
pub const DOMAIN: &[u8] = b"evenkeel join token\0";

const SIGNATURE: usize = 64;
const HEAD: usize = 1 + 8;

/// No token has more bytes.
pub const MAX_BYTES: usize = HEAD + 1 + 4 + 8 + 8 + 16 + 2 * (1 + MAX_NAME) + SIGNATURE;

/// No token has more characters as text.
pub const MAX_TEXT: usize = MAX_BYTES.div_ceil(3) * 4;

impl SigningKey {
    /// The token, signed, as bytes.
    pub fn sign(&self, token: &Token) -> Result<Vec<u8>, Fault> {
        token.validate()?;
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.push(VERSION);
        bytes.extend(self.id().0);
        emit(token, &mut bytes);
        let signature = self.sign_raw(&signed(&bytes));
        bytes.extend(signature);
        Ok(bytes)
    }

    /// The token, signed, as one line of text.
    pub fn sign_text(&self, token: &Token) -> Result<String, Fault> {
        self.sign(token).map(|bytes| BASE64URL_NOPAD.encode(&bytes))
    }
}

impl Token {
    /// What bytes say that may be a token, and the key they name. Whether that key signed it is not looked at: this is
    /// for showing tokens, and lets nobody in.
    pub fn read_unverified(bytes: &[u8]) -> Result<(KeyId, Self), Malformed> {
        let parts = Parts::of(bytes)?;
        Ok((parts.key, parse(parts.body)?))
    }

    /// Like [`read_unverified`](Self::read_unverified), of text.
    pub fn read_text_unverified(text: &str) -> Result<(KeyId, Self), Malformed> {
        Self::read_unverified(&from_text(text)?)
    }
}

/// The bytes that a text stands for. Space around it is forgiven: it comes from files and clipboards.
pub(super) fn from_text(text: &str) -> Result<Vec<u8>, Malformed> {
    let text = text.trim_ascii();
    // Before anything is set aside for it.
    if text.len() > MAX_TEXT {
        return Err(Malformed::Length);
    }
    // Strict: one text per token, without padding, without bits left over.
    BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| Malformed::Text)
}

/// The message that a signature is of.
pub(super) fn signed(bytes: &[u8]) -> Vec<u8> {
    [DOMAIN, bytes].concat()
}

/// A token taken apart as far as needed for checking its signature, and no further: what follows is only read when it
/// is known who wrote it.
pub(super) struct Parts<'a> {
    pub key: KeyId,
    /// All but the signature.
    pub signed: &'a [u8],
    /// What the token says.
    pub body: &'a [u8],
    pub signature: &'a [u8],
}

impl<'a> Parts<'a> {
    pub fn of(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.first() {
            Some(&VERSION) => {}
            Some(&version) => return Err(Malformed::Version(version)),
            None => return Err(Malformed::Length),
        }
        if bytes.len() > MAX_BYTES {
            return Err(Malformed::Length);
        }
        let (signed, signature) = bytes.split_last_chunk::<SIGNATURE>().ok_or(Malformed::Length)?;
        let mut body = Reader(signed);
        let [_version] = body.array()?;
        let key = KeyId(body.array()?);
        Ok(Self { key, signed, body: body.0, signature })
    }
}

fn emit(token: &Token, bytes: &mut Vec<u8>) {
    bytes.push(token.rights.bits());
    bytes.extend(token.max_entities.to_le_bytes());
    bytes.extend(token.not_before.to_le_bytes());
    bytes.extend(token.expires.to_le_bytes());
    bytes.extend(token.id.0);
    match &token.player {
        Player::Number(number) => {
            bytes.push(0);
            bytes.extend(number.to_le_bytes());
        }
        Player::Name(name) => emit_name(name, bytes),
    }
    emit_name(&token.session, bytes);
}

fn emit_name(name: &str, bytes: &mut Vec<u8>) {
    debug_assert!(name.len() <= MAX_NAME, "tokens are validated before they are written");
    bytes.push(name.len() as u8);
    bytes.extend(name.as_bytes());
}

/// What the body of a token says: all of it, and valid.
pub(super) fn parse(body: &[u8]) -> Result<Token, Malformed> {
    let mut r = Reader(body);
    let [rights] = r.array()?;
    let token = Token {
        rights: Rights::from_bits(rights).ok_or(Malformed::Contents(Fault::Rights))?,
        max_entities: u32::from_le_bytes(r.array()?),
        not_before: u64::from_le_bytes(r.array()?),
        expires: u64::from_le_bytes(r.array()?),
        id: TokenId(r.array()?),
        player: r.player()?,
        session: r.name(Fault::Session)?.ok_or(Malformed::Contents(Fault::Session))?,
    };
    if !r.0.is_empty() {
        return Err(Malformed::Length);
    }
    token.validate().map_err(Malformed::Contents)?;
    Ok(token)
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(*array)
    }

    fn player(&mut self) -> Result<Player, Malformed> {
        match self.name(Fault::Player)? {
            Some(name) => Ok(Player::Name(name)),
            None => Ok(Player::Number(u64::from_le_bytes(self.array()?))),
        }
    }

    /// A length and a name; nothing if the length is none.
    fn name(&mut self, fault: Fault) -> Result<Option<String>, Malformed> {
        let [length] = self.array()?;
        let length = usize::from(length);
        if length > MAX_NAME {
            return Err(Malformed::Contents(fault));
        }
        let (name, rest) = self.0.split_at_checked(length).ok_or(Malformed::Length)?;
        self.0 = rest;
        let name = std::str::from_utf8(name).map_err(|_| Malformed::Contents(fault))?;
        Ok((length > 0).then(|| name.to_owned()))
    }
}

//! Keys as text: one per line.
//!
//! ```text
//! # Empty lines and lines that start like this one say nothing.
//! evenkeel-key-1 ID KEY
//! evenkeel-key-1 ID KEY until=1900000000
//! evenkeel-key-1 ID KEY from=1890000000 until=1990000000
//! ```
//!
//! Secret keys start with another word, so that neither is ever taken for the other: both are 32 bytes that look like
//! any other 32 bytes, and a secret in a server's file would be no secret any more.

use super::{KeyFileError, KeyId, KeyProblem, KeyRing, SigningKey, VerifyingKey, Window};
use data_encoding::BASE64URL_NOPAD;
use std::fmt::Write;

const PUBLIC: &str = "evenkeel-key-1";
const SECRET: &str = "evenkeel-secret-1";

impl SigningKey {
    /// The one secret key that a text has.
    pub fn from_text(text: &str) -> Result<Self, KeyFileError> {
        the_one(text, |line| {
            let (id, bytes, more) = words(line, SECRET)?;
            let key = Self::generate(bytes);
            match (key.id() == id, more) {
                (true, None) => Ok(key),
                (true, Some(_)) => Err(KeyProblem::Words),
                (false, _) => Err(KeyProblem::Mismatch),
            }
        })
    }

    /// The key as a line of text: a secret.
    pub fn to_text(&self) -> String {
        line(SECRET, self.id(), &self.seed)
    }
}

impl VerifyingKey {
    /// The one public key that a text has, without a window.
    pub fn from_text(text: &str) -> Result<Self, KeyFileError> {
        the_one(text, |line| match public(line)? {
            (key, None) => Ok(key),
            (_, Some(_)) => Err(KeyProblem::Words),
        })
    }

    /// The key as a line of text.
    pub fn to_text(&self) -> String {
        line(PUBLIC, self.id(), &self.to_bytes())
    }
}

impl KeyRing {
    /// Reads a key file: lines of `evenkeel-key-1 ID KEY`, each with `from=SECONDS`, `until=SECONDS` or both after it
    /// if the key is not always accepted. Empty lines and lines that start with `#` say nothing.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut ring = Self::default();
        for (number, line) in lines(text) {
            let added = public(line).and_then(|(key, more)| ring.add(key, window(more)?));
            added.map_err(|problem| KeyFileError { line: number, problem })?;
        }
        Ok(ring)
    }

    /// The ring as a key file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (key, window) in self.keys() {
            text += &key.to_text();
            // The newline of the key's own line comes last.
            text.pop();
            for (word, time) in [("from", window.from), ("until", window.until)] {
                if let Some(time) = time {
                    write!(text, " {word}={time}").expect("a string takes all");
                }
            }
            text.push('\n');
        }
        text
    }
}

fn line(word: &str, id: KeyId, bytes: &[u8; 32]) -> String {
    format!("{word} {id} {}\n", BASE64URL_NOPAD.encode(bytes))
}

/// The lines that say something, and their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim_ascii));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn the_one<T>(text: &str, parse: impl Fn(&str) -> Result<T, KeyProblem>) -> Result<T, KeyFileError> {
    let mut lines = lines(text);
    let (line, found) = lines.next().ok_or(KeyFileError { line: 1, problem: KeyProblem::NotOne })?;
    let key = parse(found).map_err(|problem| KeyFileError { line, problem })?;
    match lines.next() {
        None => Ok(key),
        Some((line, _)) => Err(KeyFileError { line, problem: KeyProblem::NotOne }),
    }
}

/// A public key, and what follows it on its line.
fn public(line: &str) -> Result<(VerifyingKey, Option<&str>), KeyProblem> {
    let (id, bytes, more) = words(line, PUBLIC)?;
    let key = VerifyingKey::from_bytes(bytes)?;
    if key.id() == id { Ok((key, more)) } else { Err(KeyProblem::Mismatch) }
}

/// The id and the bytes of a line that starts with this word, and what follows.
fn words<'a>(line: &'a str, first: &str) -> Result<(KeyId, [u8; 32], Option<&'a str>), KeyProblem> {
    let mut words = line.splitn(4, ' ');
    match words.next() {
        Some(word) if word == first => {}
        Some(SECRET) => return Err(KeyProblem::Secret),
        Some(PUBLIC) => return Err(KeyProblem::Public),
        _ => return Err(KeyProblem::Words),
    }
    let id = words.next().ok_or(KeyProblem::Words)?.parse().map_err(|_| KeyProblem::Id)?;
    let key = words.next().ok_or(KeyProblem::Words)?;
    Ok((id, bytes(key)?, words.next()))
}

fn bytes(text: &str) -> Result<[u8; 32], KeyProblem> {
    let mut bytes = [0; 32];
    // Decoding needs exactly as much room as the length tells.
    if BASE64URL_NOPAD.decode_len(text.len()) != Ok(bytes.len()) {
        return Err(KeyProblem::Bytes);
    }
    BASE64URL_NOPAD.decode_mut(text.as_bytes(), &mut bytes).map_err(|_| KeyProblem::Bytes)?;
    Ok(bytes)
}

fn window(words: Option<&str>) -> Result<Window, KeyProblem> {
    let mut window = Window::ALWAYS;
    for word in words.into_iter().flat_map(|words| words.split(' ')) {
        let (name, time) = word.split_once('=').ok_or(KeyProblem::Window)?;
        let place = match name {
            "from" => &mut window.from,
            "until" => &mut window.until,
            _ => return Err(KeyProblem::Window),
        };
        let time = time.parse().map_err(|_| KeyProblem::Window)?;
        if place.replace(time).is_some() {
            return Err(KeyProblem::Window);
        }
    }
    Ok(window)
}

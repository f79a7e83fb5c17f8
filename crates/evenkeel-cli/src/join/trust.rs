//! Whom to believe, and the leave to join.

use anyhow::{Context, Result, bail};
use evenkeel_net::transport::Trust;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Trusting {
    /// Believe the server whose certificate has this SHA-256 hash, in hex: `evenkeel serve` prints it. May be repeated.
    #[arg(long, value_name = "HEX", help_heading = "Server")]
    hash: Vec<String>,
    /// Believe whoever this machine believes (`system`), as for any web site. The default.
    #[arg(long, value_name = "system", conflicts_with_all = ["hash", "certificate"], help_heading = "Server")]
    trust: Option<String>,
    /// Believe whoever has this certificate, or one signed by it, in PEM.
    #[arg(long, value_name = "FILE", conflicts_with = "hash", help_heading = "Server")]
    certificate: Option<PathBuf>,
}

impl Trusting {
    pub(crate) fn trust(&self) -> Result<Trust> {
        if let Some(file) = &self.certificate {
            let pem = std::fs::read_to_string(file).with_context(|| format!("--certificate {}", file.display()))?;
            return Ok(Trust::Certificates(pem));
        }
        match self.trust.as_deref() {
            None | Some("system") => {}
            Some(other) => bail!("--trust {other}: only `system` can be trusted by name; give --hash or --certificate"),
        }
        if self.hash.is_empty() {
            return Ok(Trust::Roots);
        }
        Ok(Trust::Hashes(self.hash.iter().map(|text| read_hash(text)).collect::<Result<_>>()?))
    }
}

fn read_hash(text: &str) -> Result<[u8; 32]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> =
        digits.chunks(2).map(|pair| if pair.iter().all(u8::is_ascii_hexdigit) { byte(pair) } else { None }).collect();
    let hash = bytes.filter(|_| digits.len() == 64).and_then(|bytes| bytes.try_into().ok());
    hash.with_context(|| format!("--hash {text}: a hash has 64 hex digits"))
}

/// What a file says if there is one of that name, or else the text itself.
pub(crate) fn token(text: &str) -> Result<Vec<u8>> {
    let path = Path::new(text);
    let said = match path.is_file() {
        true => std::fs::read_to_string(path).with_context(|| format!("--token {text}"))?,
        false => text.to_owned(),
    };
    Ok(said.trim().as_bytes().to_vec())
}

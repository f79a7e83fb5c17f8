//! Who a server is: its certificate and key.

use super::Error;
use data_encoding::BASE64;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use ring::{digest, hmac};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

/// Browsers accept hashes only of certificates that live no longer.
const LONGEST: Duration = Duration::from_secs(14 * 24 * 3600);

/// A certificate is valid from so long before it is made: not every client's clock is right.
const SKEW: Duration = Duration::from_secs(3600);

/// A line before the certificate, which readers of PEM skip.
const EXPIRES: &str = "Expires: ";

/// A certificate, the chain above it, and the key to it.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    expires: Option<SystemTime>,
}

impl Identity {
    /// From PEM files, as an authority such as Let's Encrypt gives them.
    pub fn from_files(certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, Error> {
        let chain = certificates(&read(certificate.as_ref())?)?;
        Self::checked(chain, private_key(&read(key.as_ref())?)?, None)
    }

    /// Made on the spot (ECDSA on P-256), for the given names and addresses. Clients trust it by its
    /// [`hash`](Self::hash).
    ///
    /// It is valid for as long as asked, but for 14 days at most: browsers accept hashes of no others.
    pub fn self_made<S: AsRef<str>>(names: impl IntoIterator<Item = S>, valid: Duration) -> Result<Self, Error> {
        let now = SystemTime::now();
        let from = now - SKEW;
        // Whole seconds are what a certificate can say; a fraction must not make it a second too long.
        let until = from + (valid + SKEW).min(LONGEST - Duration::from_secs(1));
        let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let make = || -> Result<_, rcgen::Error> {
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name = DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, "Evenkeel");
            (params.not_before, params.not_after) = (OffsetDateTime::from(from), OffsetDateTime::from(until));
            let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
            Ok((params.self_signed(&key)?, key))
        };
        let (certificate, key) = make().map_err(|error| Error::Certificate(error.to_string()))?;
        let chain = vec![certificate.der().clone()];
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        Self::checked(chain, key, Some(until))
    }

    /// Writes certificate and key into one file that only its owner may read.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let mut text = String::new();
        if let Some(expires) = self.expires {
            let seconds = expires.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            text += &format!("{EXPIRES}{seconds}\n");
        }
        text += &self.certificate_pem();
        text += &self.key_pem()?;
        write_secret(path.as_ref(), &text).map_err(|source| file(path.as_ref(), source))
    }

    /// Reads what [`save`](Self::save) has written, or any PEM file with certificate and key in it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let pem = read(path.as_ref())?;
        let expires = String::from_utf8_lossy(&pem)
            .lines()
            .find_map(|line| line.strip_prefix(EXPIRES)?.trim().parse().ok())
            .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        Self::checked(certificates(&pem)?, private_key(&pem)?, expires)
    }

    /// Until when a self-made certificate is valid; unknown for others.
    pub fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    /// The SHA-256 of the certificate: what a client gives as [`Trust::Hashes`](super::Trust::Hashes), and a browser as
    /// `serverCertificateHashes`.
    pub fn hash(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        if let Some(certificate) = self.chain.first() {
            hash.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
        }
        hash
    }

    /// The same in hexadecimal digits, to be printed: [`Trust::in_hash`](super::Trust::in_hash) reads it.
    pub fn hash_text(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.hash())
    }

    /// The certificates in PEM, without the key: what a client gives as
    /// [`Trust::Certificates`](super::Trust::Certificates).
    pub fn certificate_pem(&self) -> String {
        self.chain.iter().map(|der| pem("CERTIFICATE", der)).collect()
    }

    /// A server's settings for TLS 1.3, over which the given protocol is spoken: for a server of one's own beside this one.
    pub fn tls(&self, protocol: &[u8]) -> Result<rustls::ServerConfig, Error> {
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .map_err(unusable)?;
        tls.alpn_protocols = vec![protocol.to_vec()];
        Ok(tls)
    }

    /// A secret for one purpose that a restarted server with the same key has again.
    pub(super) fn secret(&self, purpose: &str) -> [u8; 64] {
        let key = hmac::Key::new(hmac::HMAC_SHA512, self.key.secret_der());
        let mut secret = [0; 64];
        secret.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        secret
    }

    fn key_pem(&self) -> Result<String, Error> {
        match &self.key {
            PrivateKeyDer::Pkcs8(der) => Ok(pem("PRIVATE KEY", der.secret_pkcs8_der())),
            _ => Err(Error::Certificate("only keys in PKCS#8 can be saved".into())),
        }
    }

    fn checked(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        expires: Option<SystemTime>,
    ) -> Result<Self, Error> {
        let identity = Self { chain, key, expires };
        // Better now than when the first player comes: does the key belong to the certificate?
        identity.tls(b"")?;
        for der in &identity.chain {
            X509Certificate::from_der(der).map_err(|error| Error::Certificate(error.to_string()))?;
        }
        Ok(identity)
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key(), expires: self.expires }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key stays unsaid.
        f.debug_struct("Identity").field("hash", &self.hash()).field("expires", &self.expires).finish_non_exhaustive()
    }
}

/// All certificates in a PEM text.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|error| Error::Certificate(format!("not PEM: {error}")))?;
    if chain.is_empty() {
        return Err(Error::Certificate("there is no CERTIFICATE in the PEM text".into()));
    }
    Ok(chain)
}

/// In lines of 64, as RFC 7468 has it.
fn pem(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in der.chunks(48) {
        text += &BASE64.encode(line);
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| Error::Certificate(format!("no PRIVATE KEY to be had: {error}")))
}

fn unusable(error: rustls::Error) -> Error {
    Error::Certificate(error.to_string())
}

fn file(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: PathBuf::from(path), source }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| file(path, source))
}

/// Writes beside the file and renames, so that a crash leaves the old one or the new one.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let beside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

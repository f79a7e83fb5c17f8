//! Whom a client believes to be the server.

use super::pinned::Pinned;
use super::{Error, identity};
use rustls::RootCertStore;
use std::sync::Arc;

/// Whom a client believes to be the server.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Whoever the certificate authorities that this system trusts have certified.
    Roots,
    /// Whoever has a certificate with one of these SHA-256 hashes, as browsers do with `serverCertificateHashes`: it
    /// must be of ECDSA on P-256 and valid for 14 days at most.
    Hashes(Vec<[u8; 32]>),
    /// Whoever has one of these certificates, or one signed by them, in PEM.
    Certificates(String),
}

impl Trust {
    /// Whoever has the certificate of which this is the SHA-256 hash, in 64 hexadecimal digits, as servers print it.
    ///
    /// ```
    /// use evenkeel_net::transport::Trust;
    /// assert!(Trust::in_hash(&"0a".repeat(32)).is_ok());
    /// assert_eq!(Trust::in_hash("0a").unwrap_err().to_string(), "`0a` is not a hash of 64 hexadecimal digits");
    /// ```
    pub fn in_hash(text: &str) -> Result<Self, Error> {
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
        let hash = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let wrong = || Error::Setting(format!("`{text}` is not a hash of 64 hexadecimal digits"));
        Ok(Self::Hashes(vec![hash.ok_or_else(wrong)?]))
    }

    /// A client's settings for TLS. `protocols` are those of ALPN.
    pub(super) fn tls(&self, protocols: &[&[u8]]) -> Result<rustls::ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| Error::Certificate(error.to_string()))?;
        let mut tls = match self {
            Self::Roots => builder.with_root_certificates(system_roots()?).with_no_client_auth(),
            Self::Certificates(pem) => builder.with_root_certificates(given(pem)?).with_no_client_auth(),
            Self::Hashes(hashes) => {
                // rustls calls any verifier but its own dangerous. This one is what the WebTransport draft prescribes.
                let verifier = Arc::new(Pinned::new(hashes));
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
        };
        tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(tls)
    }
}

fn system_roots() -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(Error::Certificate("this system has no root certificates: install some, or trust a hash".into()));
    }
    Ok(roots)
}

fn given(pem: &str) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in identity::certificates(pem.as_bytes())? {
        roots.add(certificate).map_err(|error| Error::Certificate(error.to_string()))?;
    }
    Ok(roots)
}

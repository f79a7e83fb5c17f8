//! Certificates that are known by their hashes, by the rules that browsers have for `serverCertificateHashes`.

use ring::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use x509_parser::certificate::X509Certificate;
use x509_parser::oid_registry::{OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY};
use x509_parser::prelude::FromDer;

/// Browsers accept hashes only of certificates that live no longer, in seconds.
const LONGEST: i64 = 14 * 24 * 3600;

/// Believes whoever has a certificate with one of these hashes.
#[derive(Debug)]
pub(super) struct Pinned {
    hashes: Vec<[u8; 32]>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    pub fn new(hashes: &[[u8; 32]]) -> Self {
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        Self { hashes: hashes.to_vec(), algorithms }
    }

    fn check(&self, der: &[u8], now: i64) -> Result<(), CertificateError> {
        let (_, certificate) = X509Certificate::from_der(der).map_err(|_| CertificateError::BadEncoding)?;
        let validity = certificate.validity();
        let (from, until) = (validity.not_before.timestamp(), validity.not_after.timestamp());
        if now < from {
            return Err(CertificateError::NotValidYet);
        }
        if now > until {
            return Err(CertificateError::Expired);
        }
        let hash = digest::digest(&digest::SHA256, der);
        let known = self.hashes.iter().any(|known| known == hash.as_ref());
        if known && until - from <= LONGEST && is_p256(&certificate) {
            return Ok(());
        }
        Err(CertificateError::UnknownIssuer)
    }
}

fn is_p256(certificate: &X509Certificate<'_>) -> bool {
    let algorithm = &certificate.public_key().algorithm;
    let curve = algorithm.parameters.as_ref().and_then(|parameters| parameters.as_oid().ok());
    algorithm.algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY && curve.is_some_and(|curve| curve == OID_EC_P256)
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(certificate, i64::try_from(now.as_secs()).unwrap_or(i64::MAX))?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, SignatureAlgorithm};
    use time::{Duration, OffsetDateTime};

    fn made(algorithm: &'static SignatureAlgorithm, days: i64) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
        params.not_before = OffsetDateTime::from_unix_timestamp(1_000_000).unwrap();
        params.not_after = params.not_before + Duration::days(days);
        params.self_signed(&KeyPair::generate_for(algorithm).unwrap()).unwrap().der().to_vec()
    }

    fn judged(der: &[u8], now: i64) -> Result<(), CertificateError> {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest::digest(&digest::SHA256, der).as_ref());
        Pinned::new(&[[0; 32], hash]).check(der, now)
    }

    #[test]
    fn the_rules_of_browsers_hold() {
        let good = made(&PKCS_ECDSA_P256_SHA256, 14);
        assert_eq!(judged(&good, 1_000_000), Ok(()));
        assert_eq!(judged(&good, 999_999), Err(CertificateError::NotValidYet));
        assert_eq!(judged(&good, 1_000_000 + LONGEST + 1), Err(CertificateError::Expired));
        assert_eq!(Pinned::new(&[[0; 32]]).check(&good, 1_000_000), Err(CertificateError::UnknownIssuer));
        assert_eq!(judged(&made(&PKCS_ECDSA_P256_SHA256, 15), 1_000_000), Err(CertificateError::UnknownIssuer));
        assert_eq!(judged(&made(&PKCS_ECDSA_P384_SHA384, 14), 1_000_000), Err(CertificateError::UnknownIssuer));
        assert_eq!(judged(b"nonsense", 1_000_000), Err(CertificateError::BadEncoding));
    }
}

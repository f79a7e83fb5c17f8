//! Files, headers, ports, HTTPS.

use crate::client::{config, demo, get, host, post, request};
use evenkeel_demo::{Demo, DemoConfig};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_served_and_confined() {
    let demo = demo().await;
    let index = get(&demo, "/").await;
    assert_eq!((index.status, index.header("content-type").unwrap().as_str()), (200, "text/html; charset=utf-8"));
    assert!(index.text().contains("Evenkeel"));
    let policy = index.header("content-security-policy").unwrap();
    for part in
        ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "https://127.0.0.1:*", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(index.header("cache-control").unwrap(), "no-store");
    for (path, kind) in [("/app.js", "text/javascript"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml")] {
        let file = get(&demo, path).await;
        assert!(file.status == 200 && file.header("content-type").unwrap().starts_with(kind), "{path}: {}", file.head);
    }
    for path in ["/none.js", "/..%2FCargo.toml", "/%2e%2e/Cargo.toml", "/recordings/none.evkrec", "/recordings/..%2f"] {
        assert_eq!(get(&demo, path).await.status, 404, "{path}");
    }
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_others_lead_nowhere() {
    let demo = demo().await;
    let address = host(&demo);
    let named = async |name: &str| {
        let stream = TcpStream::connect(&address).await.unwrap();
        request(stream, "GET /", name, "", b"").await.status
    };
    assert_eq!(named("evil.example").await, 403);
    assert_eq!(named(&address.replace("127.0.0.1", "127.0.0.1.evil.example")).await, 403);
    assert_eq!(named(&address.replace("127.0.0.1", "localhost")).await, 200);
    assert_eq!(post(&demo, "Origin: http://evil.example\r\n", b"x").await.status, 403);
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_left_and_said() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let demo = Demo::start(DemoConfig { address, ..config() }).await.unwrap();
    assert_ne!(host(&demo), address.to_string());
    let notice = demo.notices().first().unwrap();
    assert!(notice.starts_with(&format!("Port {} is in use: ", address.port())), "{notice}");
    assert_eq!(get(&demo, "/").await.status, 200);
    demo.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_devices_get_it_over_https() {
    // Any free port: found, and taken again.
    let free = TcpListener::bind("0.0.0.0:0").await.unwrap().local_addr().unwrap().port();
    let demo = Demo::start(DemoConfig { lan: Some(free), ..config() }).await.unwrap();
    let moved = demo.notices().iter().find_map(|notice| notice.strip_prefix(&format!("Port {free} is in use: ")));
    let port = moved.map_or(free, |rest| rest.trim_end_matches(" instead.").parse().unwrap());
    let address = format!("127.0.0.1:{port}");
    let tls = TlsConnector::from(Arc::new(trusting()));
    let stream = TcpStream::connect(&address).await.unwrap();
    let stream = tls.connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await.unwrap();
    let index = request(stream, "GET /", &address, "", b"").await;
    assert!(index.status == 200 && index.text().contains("Evenkeel"), "{}", index.head);
    for link in demo.links() {
        assert!(link.url.starts_with("https://") && link.url.ends_with(&format!(":{port}/")), "{}", link.url);
        assert!(link.qr.starts_with("<svg") && link.warning.is_some());
    }
    demo.stop().await;
}

/// Takes any certificate, as somebody does who has been warned.
fn trusting() -> ClientConfig {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    config.dangerous().with_custom_certificate_verifier(Arc::new(Trusting)).with_no_client_auth()
}

#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}

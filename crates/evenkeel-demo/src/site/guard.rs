//! Who may talk to the site, and what its pages may do.
//!
//! A page of somebody else's that is open in the same browser can send requests here, but not choose their `Origin`. And a
//! name of somebody else's that leads here (DNS rebinding) makes that page one of this site, but gives itself away in `Host`.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Lets through what comes from pages of this site, and tells browsers what these may do.
pub(super) async fn guard(request: Request, next: Next) -> Response {
    let Some(host) = host(&request) else {
        return refuse("Host must be an address or localhost: a name may be anybody's");
    };
    if asks_for_something(&request) && !is_own(request.headers(), &host) {
        return refuse("only pages of this site may ask for that");
    }
    let mut response = next.run(request).await;
    harden(response.headers_mut(), &host);
    response
}

fn refuse(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, format!("{why}\n")).into_response()
}

/// What is neither the page nor a file.
fn asks_for_something(request: &Request) -> bool {
    request.uri().path() == "/feed" || !matches!(*request.method(), Method::GET | Method::HEAD)
}

/// `Host`, if it is one that nobody else can have. Requests in HTTP/1.1 name it once.
fn host(request: &Request) -> Option<String> {
    let mut named = request.headers().get_all(HOST).iter();
    let host = named.next()?.to_str().ok()?.to_ascii_lowercase();
    (named.next().is_none() && is_address(name(&host))).then_some(host)
}

fn is_address(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name == "localhost" || bare.parse::<IpAddr>().is_ok()
}

/// Without the port.
fn name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Browsers always say where a WebSocket or a POST comes from. Programs do not, but nobody can make them come.
fn is_own(headers: &HeaderMap, host: &str) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let own = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        ["http://", "https://"].iter().any(|scheme| origin.strip_prefix(scheme) == Some(host))
    };
    origins.all(own)
}

/// Nothing but this site's own files, no connection but to this machine.
fn harden(headers: &mut HeaderMap, host: &str) {
    let name = name(host);
    // The game has ports of its own. A policy cannot name an address of IPv6: there one watches.
    let game = if name.starts_with('[') { String::new() } else { format!(" https://{name}:* wss://{name}:*") };
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; \
         img-src 'self' data: blob:; connect-src 'self' ws://{host} wss://{host}{game}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let resources = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(resources, HeaderValue::from_static("same-origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "192.168.1.7", "[fe80::1]"] {
            assert!(is_address(name(host)), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io:80", "", ":80"] {
            assert!(!is_address(name(host)), "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_host() {
        let from = |origin: &'static str| HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
        assert!(is_own(&HeaderMap::new(), "127.0.0.1:8080"));
        assert!(is_own(&from("http://127.0.0.1:8080"), "127.0.0.1:8080"));
        for origin in ["null", "http://127.0.0.1:8081", "http://evil.example", "file://127.0.0.1:8080", ""] {
            assert!(!is_own(&from(origin), "127.0.0.1:8080"), "{origin}");
        }
    }
}

//! Other devices on the same network.

use qrcode::QrCode;
use qrcode::render::svg;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr};

/// So many addresses are offered: a machine with more has them for its containers.
const MAX_LINKS: usize = 8;

/// What to expect of a certificate that no authority has signed.
const WARNING: &str = "The browser will say that the connection is not private, because no authority vouches for this machine: \
                       choose Advanced, then Proceed (Safari: Show Details, visit this website). Only the demo is behind it.";

/// Where another device finds the page.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// To be opened there.
    pub url: String,
    /// The same for its camera: an SVG.
    pub qr: String,
    /// What the browser there will say.
    pub warning: Option<&'static str>,
}

impl Link {
    pub(super) fn new(address: Ipv4Addr, port: u16) -> Self {
        let url = format!("https://{address}:{port}/");
        Self { qr: square(&url), url, warning: Some(WARNING) }
    }
}

/// This machine's addresses on its networks. Only those of IPv4: they are what a page can be confined to, and everybody has one.
pub(crate) fn addresses() -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> =
        if_addrs::get_if_addrs().unwrap_or_default().iter().filter_map(|i| lan(i.ip())).collect();
    // Networks at home before those of containers.
    found.sort_by_key(|address| (address.octets()[0] == 172, *address));
    found.dedup();
    found.truncate(MAX_LINKS);
    found
}

fn lan(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) if !address.is_loopback() && !address.is_link_local() => Some(address),
        _ => None,
    }
}

fn square(url: &str) -> String {
    let drawn = QrCode::new(url).map(|code| code.render::<svg::Color<'_>>().min_dimensions(180, 180).build());
    // A page can put it where it likes: without what only a file needs before it. No address is too long for a square.
    drawn.unwrap_or_default().split_once("?>").map(|(_, svg)| svg.to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_a_square() {
        let link = Link::new(Ipv4Addr::new(192, 168, 1, 7), 8443);
        assert_eq!(link.url, "https://192.168.1.7:8443/");
        assert!(link.qr.starts_with("<svg") && link.qr.ends_with("</svg>"), "{}", link.qr);
        assert!(!link.qr.contains("style="), "what the page's policy forbids");
    }
}

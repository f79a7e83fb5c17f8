//! Makes a namespace a router that hides whoever is behind it, as those at home do: what leaves bears the router's address, and
//! what comes uninvited is dropped. Said to the kernel in its own words (nftables, by netlink): no tool is needed.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;

const AF_NETLINK: i32 = 16;
const NETLINK_NETFILTER: i32 = 12;
const NFTABLES: u16 = 10;
const IPV4: u8 = 2;
/// Flags: a request, to be answered, that creates something.
const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const CREATE: u16 = 0x400;

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn nested(kind: u16, parts: &[Vec<u8>]) -> Vec<u8> {
    attribute(kind | 0x8000, &parts.concat())
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), &[0]].concat())
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn message(kind: u16, flags: u16, family: u8, resource: u16, sequence: u32, attributes: &[Vec<u8>]) -> Vec<u8> {
    let attributes = attributes.concat();
    let mut bytes = ((20 + attributes.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((flags | REQUEST).to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// A chain of table `nat` that hooks in there.
fn chain(name: &str, kind: &str, hook: u32, priority: u32, policy: u32) -> Vec<Vec<u8>> {
    let hook = nested(4, &[number(1, hook), number(2, priority)]);
    vec![text(1, "nat"), text(3, name), hook, number(5, policy), text(7, kind)]
}

/// Hides whoever is behind this namespace.
pub fn start() -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
    let (input, postrouting) = (1, 4);
    let masquerade = nested(1, &[text(1, "masq"), nested(2, &[])]);
    let commands = [
        (0, vec![text(1, "nat"), number(2, 0)]),
        (3, chain("leaving", "nat", postrouting, 100, 1)),
        // Dropped before it is remembered: else it would stand in the way of what opens from within a moment later.
        (3, chain("uninvited", "filter", input, 0, 0)),
        (6, vec![text(1, "nat"), text(2, "leaving"), nested(4, &[masquerade])]),
    ];
    let mut batch = message(16, 0, 0, NFTABLES, 0, &[]);
    for (sequence, (kind, attributes)) in commands.iter().enumerate() {
        let kind = NFTABLES << 8 | kind;
        batch.extend(message(kind, CREATE | ACK, IPV4, 0, 1 + sequence as u32, attributes));
    }
    batch.extend(message(17, 0, 0, NFTABLES, 9, &[]));
    let socket = Socket::new(Domain::from(AF_NETLINK), Type::DGRAM, Some(Protocol::from(NETLINK_NETFILTER)))?;
    socket.set_read_timeout(Some(std::time::Duration::from_secs(2)))?;
    socket.send(&batch)?;
    let mut socket = socket;
    let mut answers = 0;
    while answers < commands.len() {
        let mut buffer = [0; 8192];
        let length = io::Read::read(&mut socket, &mut buffer)?;
        let mut rest = &buffer[..length];
        while let Some(head) = rest.get(..20) {
            let length = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let code = i32::from_ne_bytes([head[16], head[17], head[18], head[19]]);
            if u16::from_ne_bytes([head[4], head[5]]) == 2 && code != 0 {
                return Err(io::Error::from_raw_os_error(-code));
            }
            answers += 1;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
    Ok(())
}

//! One socket as the conditioner sees it: where packets come out again.

use super::Conditioner;
use crate::transport::arrivals::Arrivals;
use bytes::Bytes;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Instant;

/// So many packets may wait for QUIC to take them.
const READY: usize = 4096;

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// A packet under way.
#[derive(Clone)]
pub(super) struct Packet {
    port: Weak<Port>,
    way: Way,
    remote: SocketAddr,
    /// This side's address, if it was said.
    local: Option<IpAddr>,
    ecn: Option<EcnCodepoint>,
    bytes: Bytes,
}

impl Packet {
    /// The packet's time has come. Says whether somebody took it.
    pub fn come_out(self) -> bool {
        // A socket that was closed in the meantime misses nothing.
        let Some(port) = self.port.upgrade() else { return true };
        match self.way {
            Way::Out => port.send(&self),
            Way::In => port.put(self),
        }
    }
}

/// Where packets come out again.
pub(in crate::transport) struct Port {
    conditioner: Conditioner,
    /// The same socket as QUIC's, but without the runtime around it: packets leave by a thread that it does not know.
    socket: UdpSocket,
    options: UdpSocketState,
    arrivals: Arc<Arrivals>,
    ready: Mutex<Ready>,
}

#[derive(Default)]
struct Ready {
    packets: VecDeque<Packet>,
    waker: Option<Waker>,
}

impl Port {
    pub fn new(conditioner: Conditioner, socket: &UdpSocket, arrivals: Arc<Arrivals>) -> io::Result<Self> {
        let socket = socket.try_clone()?;
        let options = UdpSocketState::new((&socket).into())?;
        Ok(Self { conditioner, socket, options, arrivals, ready: Mutex::default() })
    }

    /// Whether any packet may be touched at all.
    pub fn is_active(&self) -> bool {
        self.conditioner.is_active()
    }

    /// Counts packets that were not touched.
    pub fn passed(&self, packets: usize) {
        self.conditioner.passed(packets);
    }

    /// Takes a packet that is to leave, unless it is to leave at once.
    pub fn take_outgoing(self: &Arc<Self>, transmit: &Transmit<'_>) -> bool {
        let packet = || Packet {
            port: Arc::downgrade(self),
            way: Way::Out,
            remote: transmit.destination,
            local: transmit.src_ip,
            ecn: transmit.ecn,
            bytes: Bytes::copy_from_slice(transmit.contents),
        };
        self.conditioner.take(Way::Out, transmit.destination, transmit.contents.len(), packet)
    }

    /// Takes what has come in: part of it will come out later, the rest is ready at once.
    pub fn take_incoming(self: &Arc<Self>, bytes: &[u8], meta: &RecvMeta) {
        for bytes in bytes[..meta.len.min(bytes.len())].chunks(meta.stride.max(1)) {
            let packet = || Packet {
                port: Arc::downgrade(self),
                way: Way::In,
                remote: meta.addr,
                local: meta.dst_ip,
                ecn: meta.ecn,
                bytes: Bytes::copy_from_slice(bytes),
            };
            if !self.conditioner.take(Way::In, meta.addr, bytes.len(), packet) {
                self.passed(1);
                self.put(packet());
            }
        }
    }

    /// Hands out what is ready. If there is nothing, the waker is kept.
    pub fn hand_out(&self, bufs: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta], waker: &Waker) -> usize {
        let mut ready = self.ready();
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            let Some(packet) = ready.packets.pop_front() else { break };
            let len = packet.bytes.len().min(buf.len());
            buf[..len].copy_from_slice(&packet.bytes[..len]);
            // Not made from parts: the type may gain some.
            (meta.addr, meta.len, meta.stride) = (packet.remote, len, len);
            (meta.ecn, meta.dst_ip) = (packet.ecn, packet.local);
            count += 1;
        }
        if count == 0 {
            ready.waker = Some(waker.clone());
        }
        count
    }

    fn send(&self, packet: &Packet) -> bool {
        let transmit = Transmit {
            destination: packet.remote,
            ecn: packet.ecn,
            contents: &packet.bytes,
            segment_size: None,
            src_ip: packet.local,
        };
        self.options.send((&self.socket).into(), &transmit).is_ok()
    }

    fn put(&self, packet: Packet) -> bool {
        self.arrivals.note(packet.remote, Instant::now());
        let mut ready = self.ready();
        let room = ready.packets.len() < READY;
        if room {
            ready.packets.push_back(packet);
        }
        let waker = ready.waker.take();
        drop(ready);
        if let Some(waker) = waker {
            waker.wake();
        }
        room
    }

    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

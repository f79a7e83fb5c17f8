//! The UDP socket that QUIC is given: it notes when packets come, and a conditioner may sit in it.

use super::arrivals::Arrivals;
use super::conditioner::{Conditioner, Port};
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

/// So often the system is asked in a row while all that comes is held back; then others have their turn.
const TURNS: usize = 32;

/// The UDP socket that QUIC is given.
pub(super) struct Socket {
    inner: Arc<dyn AsyncUdpSocket>,
    arrivals: Arc<Arrivals>,
    port: Option<Arc<Port>>,
}

impl Socket {
    pub fn bind(
        address: SocketAddr,
        arrivals: Arc<Arrivals>,
        conditioner: Option<Conditioner>,
    ) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let socket = UdpSocket::bind(address)?;
        let port = conditioner.map(|conditioner| Port::new(conditioner, &socket, arrivals.clone())).transpose()?;
        let inner = TokioRuntime.wrap_udp_socket(socket)?;
        Ok(Arc::new(Self { inner, arrivals, port: port.map(Arc::new) }))
    }

    /// The conditioner's port, if there is one and it has something to do.
    fn active(&self) -> Option<&Arc<Port>> {
        self.port.as_ref().filter(|port| port.is_active())
    }

    fn note(&self, meta: &[RecvMeta]) {
        let now = Instant::now();
        for meta in meta {
            self.arrivals.note(meta.addr, now);
        }
    }

    /// Receives by way of the conditioner.
    fn poll_conditioned(
        &self,
        port: &Arc<Port>,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut more = true;
        for _ in 0..TURNS {
            let Poll::Ready(received) = self.inner.poll_recv(cx, bufs, meta) else {
                more = false;
                break;
            };
            let count = received?;
            for (buf, meta) in bufs.iter().zip(meta.iter()).take(count) {
                port.take_incoming(buf, meta);
            }
        }
        match port.hand_out(bufs, meta, cx.waker()) {
            0 => {
                if more {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            count => Poll::Ready(Ok(count)),
        }
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let Some(port) = self.active() else {
            if let Some(port) = &self.port {
                port.passed(1);
            }
            return self.inner.try_send(transmit);
        };
        let size = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        let mut sent = Ok(());
        // Several at once only if conditions have just been changed.
        for contents in transmit.contents.chunks(size) {
            let one = Transmit { contents, segment_size: None, ..transmit.clone() };
            if !port.take_outgoing(&one) {
                port.passed(1);
                sent = self.inner.try_send(&one);
            }
        }
        sent
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if let Some(port) = &self.port {
            if port.is_active() {
                return self.poll_conditioned(port, cx, bufs, meta);
            }
            // What is still under way comes out even if conditions are ideal by now.
            match port.hand_out(bufs, meta, cx.waker()) {
                0 => {}
                count => return Poll::Ready(Ok(count)),
            }
        }
        let received = self.inner.poll_recv(cx, bufs, meta);
        if let Poll::Ready(Ok(count)) = received {
            self.note(&meta[..count]);
            if let Some(port) = &self.port {
                port.passed(count);
            }
        }
        received
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        // Each packet has a fate of its own.
        if self.active().is_some() { 1 } else { self.inner.max_transmit_segments() }
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("inner", &self.inner).finish_non_exhaustive()
    }
}

//! Where connections come in: TCP, with TLS or without, so many at a time and none that is silent for long.

use axum::serve::Listener;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep};
use tokio_rustls::TlsAcceptor;

/// The most connections at a time; further ones wait.
const MAX_GUESTS: usize = 256;
/// How long a guest may take to agree on secrets.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A connection on which nothing happens for so long is closed. Pages are made to show that they are there more often.
const IDLE: Duration = Duration::from_secs(60);
/// How long to wait when the system has no more to give.
const BREATH: Duration = Duration::from_millis(200);
/// So many ports are tried.
const PORTS: u16 = 20;

/// Listens at an address, or, if its port is in use, at one of the next.
pub(crate) async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let mut port = address.port();
    loop {
        match TcpListener::bind(SocketAddr::new(address.ip(), port)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && port != 0 => {
                port = port.checked_add(1).filter(|port| port - address.port() <= PORTS).ok_or(error)?;
            }
            other => return other,
        }
    }
}

/// A listener for [`axum::serve`].
pub(super) struct Door {
    address: SocketAddr,
    guests: mpsc::Receiver<(Guest, SocketAddr)>,
    porter: JoinHandle<()>,
}

impl Door {
    pub(super) fn open(listener: TcpListener, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (admit, guests) = mpsc::channel(16);
        let porter = tokio::spawn(attend(listener, tls, admit));
        Ok(Self { address, guests, porter })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.porter.abort();
    }
}

impl Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        match self.guests.recv().await {
            Some(guest) => guest,
            // The porter only ends with the door.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

async fn attend(listener: TcpListener, tls: Option<TlsAcceptor>, admit: mpsc::Sender<(Guest, SocketAddr)>) {
    let places = Arc::new(Semaphore::new(MAX_GUESTS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, from)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (tls, admit) = (tls.clone(), admit.clone());
        // On its own: nobody waits for another's handshake.
        tokio::spawn(async move {
            if let Ok(Ok(wire)) = tokio::time::timeout(HANDSHAKE, greet(stream, tls)).await {
                let _ = admit.send((Guest::new(wire, place), from)).await;
            }
        });
    }
}

async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<Box<dyn Wire>> {
    stream.set_nodelay(true)?;
    Ok(match tls {
        Some(tls) => Box::new(tls.accept(stream).await?),
        None => Box::new(stream),
    })
}

/// Bytes both ways.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection, with its place among all of them.
pub(super) struct Guest {
    wire: Box<dyn Wire>,
    idle: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    fn new(wire: Box<dyn Wire>, place: OwnedSemaphorePermit) -> Self {
        Self { wire, idle: Box::pin(tokio::time::sleep(IDLE)), _place: place }
    }

    /// Something happened, or it is time to give up.
    fn watch<T>(&mut self, context: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
            return poll;
        }
        self.idle.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Guest {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.wire).poll_read(context, into);
        self.watch(context, poll)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.wire).poll_write(context, bytes);
        self.watch(context, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}

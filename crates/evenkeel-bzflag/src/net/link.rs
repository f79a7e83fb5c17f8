//! One client's connections: to it, and on its behalf to the server.

use super::engine::Input;
use super::queue::Direction;
use crate::message::FrameReader;
use evenkeel::{GlobalTime, HostId};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// So many bytes may wait for a slow end before its connection is given up.
const MOST_WAITING: usize = 2 << 20;

/// What it costs to keep a message besides its bytes.
const OVERHEAD: usize = 64;

/// So long what was written may still go out once a connection is closed.
const LINGER: std::time::Duration = std::time::Duration::from_secs(2);

/// The server silently drops datagrams from ports whose low byte is below this.
const LEAST_LOW_BYTE: u16 = 4;

/// One side of a client's connections.
pub(super) struct Side {
    pub(super) reader: FrameReader,
    /// What has arrived before the hello is complete.
    pub(super) hello: Vec<u8>,
    pub(super) greeted: bool,
    writer: mpsc::UnboundedSender<Vec<u8>>,
    /// How many bytes wait to be written.
    waiting: Arc<AtomicUsize>,
    reading: AbortHandle,
    /// Dropped when the connection is closed.
    _open: oneshot::Sender<()>,
}

/// One client's connections.
pub(super) struct Link {
    pub(super) client: Side,
    pub(super) server: Side,
    /// Where the client's stream comes from.
    pub(super) address: SocketAddr,
    /// Where its datagrams come from, once one came.
    pub(super) datagrams: Option<SocketAddr>,
    /// From where datagrams go to the server on its behalf.
    pub(super) up: Arc<UdpSocket>,
    receiving: AbortHandle,
    /// By when it must have been greeted.
    pub(super) deadline: GlobalTime,
    pub(super) player: Option<u8>,
    /// Whether the server has said that it does not want it, and is saying why.
    pub(super) refused: bool,
}

impl Link {
    pub(super) fn new(
        host: HostId,
        streams: (TcpStream, TcpStream),
        address: SocketAddr,
        up: UdpSocket,
        deadline: GlobalTime,
        inputs: &mpsc::Sender<Input>,
    ) -> Self {
        let up = Arc::new(up);
        let receiving = tokio::spawn(receive(host, up.clone(), inputs.clone())).abort_handle();
        Self {
            client: Side::new(host, Direction::Up, streams.0, inputs),
            server: Side::new(host, Direction::Down, streams.1, inputs),
            address,
            datagrams: None,
            up,
            receiving,
            deadline,
            player: None,
            refused: false,
        }
    }

    /// The side that something going this way comes from.
    pub(super) fn source(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Up => &mut self.client,
            Direction::Down => &mut self.server,
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

impl Side {
    fn new(host: HostId, direction: Direction, stream: TcpStream, inputs: &mpsc::Sender<Input>) -> Self {
        // It makes no difference to what is right, only to when.
        let _ = stream.set_nodelay(true);
        let (from, to) = stream.into_split();
        let (writer, writes) = mpsc::unbounded_channel();
        let (_open, closed) = oneshot::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        tokio::spawn(write(to, writes, waiting.clone(), closed));
        let reading = tokio::spawn(read(host, direction, from, inputs.clone())).abort_handle();
        Self { reader: FrameReader::default(), hello: Vec::new(), greeted: false, writer, waiting, reading, _open }
    }

    /// Sends something. Answers whether there was room for it.
    pub(super) fn write(&self, bytes: Vec<u8>) -> bool {
        let cost = bytes.len() + OVERHEAD;
        let room = self.waiting.fetch_add(cost, Ordering::Relaxed) + cost <= MOST_WAITING;
        room && self.writer.send(bytes).is_ok()
    }
}

impl Drop for Side {
    /// What was written may still go out; nothing more is read.
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// A socket from which the server takes datagrams, at the same address as a stream.
pub(super) async fn socket_beside(stream: &TcpStream, server: SocketAddr) -> io::Result<UdpSocket> {
    let mut address = stream.local_addr()?;
    address.set_port(0);
    let mut kept = Vec::new();
    loop {
        let socket = UdpSocket::bind(address).await?;
        if socket.local_addr()?.port() & 255 >= LEAST_LOW_BYTE {
            socket.connect(server).await?;
            return Ok(socket);
        }
        // Kept until another is found, or the system might give the same port again.
        kept.push(socket);
    }
}

async fn read(host: HostId, direction: Direction, mut from: OwnedReadHalf, inputs: mpsc::Sender<Input>) {
    let mut buffer = [0; 4096];
    loop {
        let input = match from.read(&mut buffer).await {
            Ok(0) => Input::Closed { host, direction, why: None },
            Ok(length) => Input::Bytes { host, direction, bytes: buffer[..length].to_vec() },
            Err(problem) => Input::Closed { host, direction, why: Some(problem) },
        };
        let last = matches!(input, Input::Closed { .. });
        if inputs.send(input).await.is_err() || last {
            return;
        }
    }
}

async fn write(
    mut to: OwnedWriteHalf,
    mut writes: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    closed: oneshot::Receiver<()>,
) {
    let all = async {
        while let Some(bytes) = writes.recv().await {
            if to.write_all(&bytes).await.is_err() {
                // The reader of the same stream sees it too.
                return;
            }
            waiting.fetch_sub(bytes.len() + OVERHEAD, Ordering::Relaxed);
        }
        let _ = to.shutdown().await;
    };
    let too_long = async {
        // Nothing is ever sent: this ends when the other end is dropped.
        let _ = closed.await;
        tokio::time::sleep(LINGER).await;
    };
    tokio::select! {
        () = all => {}
        () = too_long => {}
    }
}

async fn receive(host: HostId, socket: Arc<UdpSocket>, inputs: mpsc::Sender<Input>) {
    let mut buffer = [0; 2048];
    loop {
        match socket.recv(&mut buffer).await {
            Ok(length) => {
                let bytes = buffer[..length].to_vec();
                if inputs.send(Input::FromServer { host, bytes }).await.is_err() {
                    return;
                }
            }
            // The server's port is closed: its stream tells. Not so fast that nothing else gets done meanwhile.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Of so many ports that the system chooses, some would be bad.
    #[tokio::test]
    async fn datagrams_come_from_ports_that_the_server_takes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there are ports");
        let server = listener.local_addr().expect("it has one");
        let stream = TcpStream::connect(server).await.expect("it listens");
        let mut sockets = Vec::new();
        for _ in 0..800 {
            let socket = socket_beside(&stream, server).await.expect("there are ports");
            let address = socket.local_addr().expect("it has one");
            assert!(address.port() & 255 >= 4 && address.ip() == server.ip(), "{address}");
            sockets.push(socket);
        }
    }
}

//! A server and clients of the game's protocol on the loopback, with the relay between them. Every wait ends: what does not come is a
//! failure, not a test that hangs.

use evenkeel::policy::Budget;
use evenkeel_bzflag::message::{CLIENT_HELLO, Code, Frame, FrameReader, LagPing, SetVar, TankUpdate, Text, frames};
use evenkeel_bzflag::{Decider, RelayConfig, Service, ServiceConfig};
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tracing::subscriber::DefaultGuard;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// A message as it travels.
pub fn message(code: Code, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame { code, payload }.emit(&mut bytes);
    bytes
}

pub fn update(update: &TankUpdate) -> Vec<u8> {
    let mut bytes = Vec::new();
    update.emit(&mut bytes);
    bytes
}

/// One end of a stream.
pub struct Peer {
    stream: TcpStream,
    reader: FrameReader,
}

impl Peer {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, reader: FrameReader::default() }
    }

    pub async fn connect(address: SocketAddr) -> Self {
        Self::new(soon("a connection", TcpStream::connect(address)).await.expect("the relay listens"))
    }

    pub fn address(&self) -> SocketAddr {
        self.stream.local_addr().expect("it has one")
    }

    pub async fn send(&mut self, bytes: &[u8]) {
        soon("room to write", self.stream.write_all(bytes)).await.expect("the other end is there");
    }

    /// Sends something to one who may have gone meanwhile.
    pub async fn try_send(&mut self, bytes: &[u8]) -> bool {
        soon("room to write", self.stream.write_all(bytes)).await.is_ok()
    }

    /// So many bytes, before any frame.
    pub async fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        soon("a hello", self.stream.read_exact(&mut bytes)).await.expect("the other end is there");
        bytes
    }

    /// The next message, but for what the relay asks on its own behalf; none if the other end is gone.
    pub async fn next_or_end(&mut self) -> Option<(Code, Vec<u8>)> {
        loop {
            while let Some(frame) = self.reader.next_frame().expect("whole frames") {
                let ours = LagPing::parse(frame).is_ok_and(|LagPing(number)| number >= 0x8000);
                if !ours {
                    return Some((frame.code, frame.payload.to_vec()));
                }
            }
            let mut buffer = [0; 4096];
            match soon("a message", self.stream.read(&mut buffer)).await {
                Ok(length) if length > 0 => self.reader.push(&buffer[..length]),
                _ => return None,
            }
        }
    }

    pub async fn next(&mut self) -> (Code, Vec<u8>) {
        self.next_or_end().await.expect("the other end is there")
    }

    pub async fn expect(&mut self, code: Code, payload: &[u8]) {
        assert_eq!(self.next().await, (code, payload.to_vec()));
    }

    /// Everything that comes until the other end is gone.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // One that closes with something unread resets the connection, which is an end too.
        let _ = soon("the end", self.stream.read_to_end(&mut rest)).await;
        rest
    }

    pub async fn is_closed(&mut self) {
        self.rest().await;
    }
}

/// A player in the game, seen from both ends.
pub struct Player {
    pub number: u8,
    /// The client's stream.
    pub near: Peer,
    /// The server's end of the stream that the relay keeps for it.
    pub far: Peer,
    /// The client's datagrams.
    pub udp: UdpSocket,
    /// Where the server sees its datagrams come from.
    pub up: SocketAddr,
}

pub struct World {
    pub service: Service,
    listener: TcpListener,
    pub datagrams: UdpSocket,
    log: Arc<Mutex<Vec<u8>>>,
    _logging: DefaultGuard,
}

pub fn config() -> ServiceConfig {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    ServiceConfig {
        listen: anywhere,
        server: anywhere,
        conditions: Vec::new(),
        most_clients: 16,
        handshake: evenkeel::Duration::from_secs(60),
        relay: RelayConfig { deciders: vec![Decider::with("base", Budget::Unlimited)], ..RelayConfig::default() },
    }
}

/// A stream and datagrams at one port, as the game has them.
pub async fn server_sockets() -> (TcpListener, UdpSocket) {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there are ports");
        let address = listener.local_addr().expect("it has one");
        if let Ok(datagrams) = UdpSocket::bind(address).await {
            return (listener, datagrams);
        }
    }
}

impl World {
    pub async fn new(config: ServiceConfig) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(move || Sink(sink.clone()))
            .finish();
        let logging = tracing::subscriber::set_default(subscriber);
        let (listener, datagrams) = server_sockets().await;
        let server = listener.local_addr().expect("it has one");
        let service = Service::start(ServiceConfig { server, ..config }).await.expect("it starts");
        Self { service, listener, datagrams, log, _logging: logging }
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().expect("nobody panicked")).into_owned()
    }

    /// Waits until something is in the log.
    pub async fn logged(&self, what: &str) {
        let written = async {
            while !self.log().contains(what) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, written).await;
        assert!(waited.is_ok(), "there is no '{what}' in the log:\n{}", self.log());
    }

    pub async fn client(&self) -> Peer {
        Peer::connect(self.service.local_addr()).await
    }

    /// The server's end of the next connection.
    pub async fn accept(&self) -> Peer {
        Peer::new(soon("a connection", self.listener.accept()).await.expect("the relay connects").0)
    }

    /// Closes the server's sockets, and tells where they were.
    pub fn without_server(self) -> (Service, SocketAddr, DefaultGuard) {
        (self.service, self.listener.local_addr().expect("it has one"), self._logging)
    }

    /// A client and the server's end of its connection, after the hellos.
    pub async fn greeted(&self, number: u8) -> (Peer, Peer) {
        let mut near = self.client().await;
        let mut far = self.accept().await;
        near.send(CLIENT_HELLO).await;
        assert_eq!(far.bytes(10).await, CLIENT_HELLO);
        let welcome = [b"BZFS0221", &[number][..]].concat();
        far.send(&welcome).await;
        assert_eq!(near.bytes(9).await, welcome);
        (near, far)
    }

    /// A client that was let into the game, with datagrams from the port of its stream.
    pub async fn join(&self, number: u8, name: &str) -> Player {
        let (near, far) = self.greeted(number).await;
        let udp = UdpSocket::bind(near.address()).await.expect("streams and datagrams have ports of their own");
        self.enter(number, name, near, far, udp).await
    }

    /// The rest of joining, with datagrams from this socket.
    pub async fn enter(&self, number: u8, name: &str, mut near: Peer, mut far: Peer, udp: UdpSocket) -> Player {
        let enter = [&[0; 4][..], &Text::<32>::new(name).0, &[0; 128]].concat();
        near.send(&message(Code::ENTER, &enter)).await;
        far.expect(Code::ENTER, &enter).await;
        let mut variables = Vec::new();
        SetVar(vec![(b"_positionTolerance", b"-1")]).emit(&mut variables);
        far.send(&variables).await;
        near.expect(Code::SET_VAR, &variables[4..]).await;
        far.send(&message(Code::ACCEPT, &[number])).await;
        near.expect(Code::ACCEPT, &[number]).await;
        let mut player = Player { number, near, far, udp, up: self.service.local_addr() };
        self.link(&mut player).await;
        player
    }

    /// A client's only request for a link, and the server's answers.
    async fn link(&self, player: &mut Player) {
        self.send_up(player, &message(Code::UDP_LINK_REQUEST, &[player.number])).await;
        let (bytes, from) = self.datagram().await;
        assert_eq!(bytes, message(Code::UDP_LINK_REQUEST, &[player.number]));
        assert!(from.port() & 255 >= 4, "the server would drop what comes from {from}");
        player.up = from;
        player.far.send(&message(Code::UDP_LINK_ESTABLISHED, &[])).await;
        player.near.expect(Code::UDP_LINK_ESTABLISHED, &[]).await;
        self.send_down(player, &message(Code::UDP_LINK_REQUEST, &[])).await;
        assert_eq!(received(player).await, message(Code::UDP_LINK_REQUEST, &[]));
    }

    /// A datagram of a client.
    pub async fn send_up(&self, player: &Player, bytes: &[u8]) {
        player.udp.send_to(bytes, self.service.local_addr()).await.expect("loopback takes it");
    }

    /// A datagram of the server for a client.
    pub async fn send_down(&self, player: &Player, bytes: &[u8]) {
        self.datagrams.send_to(bytes, player.up).await.expect("loopback takes it");
    }

    /// What the server receives next, and from where.
    pub async fn datagram(&self) -> (Vec<u8>, SocketAddr) {
        let mut buffer = [0; 2048];
        let (length, from) = soon("a datagram", self.datagrams.recv_from(&mut buffer)).await.expect("a datagram");
        (buffer[..length].to_vec(), from)
    }

    /// A message each way over the stream and by datagram: the player plays on.
    pub async fn plays_on(&self, player: &mut Player) {
        let said = [player.number, 1, 2, 3];
        player.near.send(&message(Code::MESSAGE, &said)).await;
        player.far.expect(Code::MESSAGE, &said).await;
        player.far.send(&message(Code::MESSAGE, &said)).await;
        player.near.expect(Code::MESSAGE, &said).await;
        self.send_up(player, &message(Code::SHOT_END, &said)).await;
        assert_eq!(self.datagram().await, (message(Code::SHOT_END, &said), player.up));
        self.send_down(player, &message(Code::SHOT_END, &said)).await;
        assert_eq!(received(player).await, message(Code::SHOT_END, &said));
    }
}

/// The next message that a client receives by datagram, but for what the relay asks on its own behalf.
pub async fn received(player: &Player) -> Vec<u8> {
    let mut buffer = [0; 2048];
    loop {
        let (length, _) = soon("a datagram", player.udp.recv_from(&mut buffer)).await.expect("a datagram");
        let bytes = &buffer[..length];
        let ours = frames(bytes).flatten().any(|f| LagPing::parse(f).is_ok_and(|LagPing(number)| number >= 0x8000));
        if !ours {
            return bytes.to_vec();
        }
    }
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

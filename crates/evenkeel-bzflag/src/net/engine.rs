//! The task that owns everything.

use super::link::{Link, socket_beside};
use super::queue::{Direction, Message, Queue};
use super::{ServiceConfig, Tap};
use crate::message::{Code, Frame, FrameReader, MessageError, TankUpdate, UdpLinkRequest, frames};
use crate::relay::{Out, Relay, Way};
use crate::summary::{Latency, Summary};
use evenkeel::{Duration, GlobalTime, HostId};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::TrySendError;
use std::time::Instant;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// So many things may wait to be looked at; readers wait beyond that.
const INPUTS: usize = 4096;

/// How many things are looked at before anything is sent.
const AT_ONCE: usize = 64;

/// How long the server has to take a connection.
const CONNECT: std::time::Duration = std::time::Duration::from_secs(5);

/// What the readers tell.
pub(super) enum Input {
    /// A client came, and the server took it.
    Joined { streams: (TcpStream, TcpStream), up: UdpSocket, address: SocketAddr },
    /// A client came, and the server did not take it.
    NotJoined { address: SocketAddr, problem: io::Error },
    /// Something came over a stream, going this way.
    Bytes { host: HostId, direction: Direction, bytes: Vec<u8>, at: Instant },
    /// A stream ended.
    Closed { host: HostId, direction: Direction, why: Option<io::Error> },
    /// A datagram came from a client, whoever it is.
    FromClient { from: SocketAddr, bytes: Vec<u8>, at: Instant },
    /// A datagram came from the server for a client.
    FromServer { host: HostId, bytes: Vec<u8>, at: Instant },
}

/// What a [`Service`](super::Service) asks.
pub(super) enum Command {
    Summary(oneshot::Sender<Summary>),
    Tap(Tap),
    Stop(oneshot::Sender<Summary>),
}

pub(super) struct Engine {
    config: ServiceConfig,
    pub(super) relay: Relay,
    queue: Queue,
    pub(super) links: BTreeMap<HostId, Link>,
    /// How many clients have come for whom the server has not yet taken a connection.
    connecting: usize,
    next_host: u32,
    listener: TcpListener,
    datagrams: Arc<UdpSocket>,
    receiving: AbortHandle,
    inputs: (mpsc::Sender<Input>, mpsc::Receiver<Input>),
    commands: mpsc::Receiver<Command>,
    start: Instant,
    /// When what was taken in since the last turn was read.
    taken: Vec<Instant>,
    latency: Latency,
}

impl Engine {
    pub(super) async fn bind(config: ServiceConfig, commands: mpsc::Receiver<Command>) -> io::Result<Self> {
        let relay =
            Relay::new(config.relay.clone()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let listener = TcpListener::bind(config.listen).await?;
        // The game takes datagrams at the same port.
        let datagrams = Arc::new(UdpSocket::bind(listener.local_addr()?).await?);
        let inputs = mpsc::channel(INPUTS);
        let receiving = tokio::spawn(receive(datagrams.clone(), inputs.0.clone())).abort_handle();
        Ok(Self {
            config,
            relay,
            queue: Queue::default(),
            links: BTreeMap::new(),
            connecting: 0,
            next_host: 0,
            listener,
            datagrams,
            receiving,
            inputs,
            commands,
            start: Instant::now(),
            taken: Vec::new(),
            latency: Latency::default(),
        })
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub(super) async fn run(mut self) {
        loop {
            let wait = self.wait();
            tokio::select! {
                input = self.inputs.1.recv() => self.take(input),
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => self.accept(stream, address),
                    Err(problem) => {
                        tracing::warn!(%problem, "a connection could not be accepted");
                        sleep(std::time::Duration::from_millis(50)).await;
                    }
                },
                command = self.commands.recv() => match command {
                    Some(Command::Summary(answer)) => drop(answer.send(self.summary())),
                    Some(Command::Tap(tap)) => self.tap(tap),
                    Some(Command::Stop(answer)) => return drop(answer.send(self.summary())),
                    // Nobody can ask any more.
                    None => return,
                },
                () = sleep(wait) => {}
            }
            for _ in 0..AT_ONCE {
                let Ok(input) = self.inputs.1.try_recv() else { break };
                self.take(Some(input));
            }
            self.turn();
            // However much comes in, what was written gets its turn to go out.
            tokio::task::yield_now().await;
        }
    }

    fn summary(&self) -> Summary {
        Summary { added_latency: self.latency, ..Summary::of(&self.relay) }
    }

    fn now(&self) -> GlobalTime {
        GlobalTime::from_nanos(i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX))
    }

    /// How long nothing need be done.
    fn wait(&self) -> std::time::Duration {
        let handshakes = self.links.values().filter(|link| link.player.is_none()).map(|link| link.deadline);
        let next = [self.relay.poll_timeout(), self.queue.poll_timeout()].into_iter().flatten().chain(handshakes).min();
        let wait = next.map_or(Duration::from_secs(1), |at| at.since(self.now()));
        std::time::Duration::from_nanos(wait.as_nanos().max(0) as u64)
    }

    /// Whoever writes updates down does so in its own time: what it has no room for is lost, and said.
    fn tap(&mut self, tap: Tap) {
        self.relay.set_tap(move |at, update| {
            if let Err(TrySendError::Full(_)) = tap.try_send((at, *update)) {
                tracing::warn!(player = update.player, "an update is missing in the record: it is written too slowly");
            }
        });
    }

    /// Sends everything whose time has come.
    fn turn(&mut self) {
        let now = self.now();
        let late: Vec<HostId> = self
            .links
            .iter()
            .filter(|(_, link)| link.player.is_none() && link.deadline <= now)
            .map(|(host, _)| *host)
            .collect();
        late.into_iter().for_each(|host| self.close(host, "it said nothing that the game says"));
        self.flush();
    }

    fn flush(&mut self) {
        let now = self.queue.moment(self.now());
        while let Some(message) = self.queue.poll(now) {
            match message.direction {
                Direction::Up => self.let_up(&message, now),
                Direction::Down => self.send_down(message.client, message.way, message.bytes),
            }
        }
        while let Some(out) = self.relay.poll(now) {
            self.send(out, now);
        }
        let done = Instant::now();
        self.taken.drain(..).for_each(|at| self.latency.add(done.duration_since(at)));
    }

    fn accept(&mut self, stream: TcpStream, address: SocketAddr) {
        let clients = self.links.len() + self.connecting;
        if clients >= self.config.most_clients {
            tracing::warn!(%address, "a client is turned away: there are {clients} already");
            return;
        }
        self.connecting += 1;
        let (server, inputs) = (self.config.server, self.inputs.0.clone());
        tokio::spawn(async move {
            let connected = async {
                let ours = timeout(CONNECT, TcpStream::connect(server)).await??;
                let up = socket_beside(&ours, server).await?;
                Ok((ours, up))
            };
            let input = match connected.await {
                Ok((ours, up)) => Input::Joined { streams: (stream, ours), up, address },
                Err(problem) => Input::NotJoined { address, problem },
            };
            // The relay may have stopped meanwhile.
            let _ = inputs.send(input).await;
        });
    }

    fn take(&mut self, input: Option<Input>) {
        match input {
            Some(Input::Joined { streams, up, address }) => self.join(streams, up, address),
            Some(Input::NotJoined { address, problem }) => {
                self.connecting -= 1;
                tracing::warn!(%address, %problem, "the server takes no connection for this client");
            }
            Some(Input::Bytes { host, direction, bytes, at }) => {
                self.taken.push(at);
                self.bytes(host, direction, &bytes);
            }
            Some(Input::Closed { host, direction, why }) => {
                let who = if direction == Direction::Up { "the client" } else { "the server" };
                let why = why.map_or_else(String::new, |problem| format!(": {problem}"));
                // What it said last is still to be heard.
                self.flush();
                self.close(host, &format!("{who} has gone{why}"));
            }
            Some(Input::FromClient { from, bytes, at }) => {
                self.taken.push(at);
                self.datagram(from, &bytes);
            }
            Some(Input::FromServer { host, bytes, at }) => {
                self.taken.push(at);
                let now = self.queue.moment(self.now());
                for frame in frames(&bytes) {
                    match frame {
                        Ok(frame) => self.relay.handle_server(host, Way::Udp, frame, now),
                        Err(problem) => tracing::debug!(%host, %problem, "a datagram of the server cannot be read"),
                    }
                }
            }
            None => {}
        }
    }

    fn join(&mut self, streams: (TcpStream, TcpStream), up: UdpSocket, address: SocketAddr) {
        // The server's numbers are below 256, and so are its clients at once: a name is never in use when it comes round again.
        self.connecting -= 1;
        let host = HostId(self.next_host);
        self.next_host = self.next_host.wrapping_add(1);
        let link = Link::new(host, streams, address, up, self.now() + self.config.handshake, &self.inputs.0);
        self.links.insert(host, link);
        tracing::info!(%address, %host, "a client came");
    }

    pub(super) fn close(&mut self, host: HostId, why: &str) {
        let Some(link) = self.links.remove(&host) else { return };
        let name = self.relay.name(host).unwrap_or("nobody yet").to_owned();
        tracing::info!(address = %link.address, name, "a client's connection is closed: {why}");
        // Last words are heard before their time rather than not at all.
        for message in self.queue.remove(host).filter(|m| m.direction == Direction::Down && m.way == Way::Tcp) {
            link.client.write(message.bytes);
        }
        self.relay.disconnected(host, self.now());
    }

    /// Something came over a stream.
    fn bytes(&mut self, host: HostId, direction: Direction, bytes: &[u8]) {
        let rest = match self.greet(host, direction, bytes) {
            Ok(Some(rest)) => rest,
            Ok(None) => return,
            Err(problem) => return self.close(host, &problem.to_string()),
        };
        let Some(link) = self.links.get_mut(&host) else { return };
        let mut reader = std::mem::take(&mut link.source(direction).reader);
        reader.push(&rest);
        let read = self.frames(host, direction, &mut reader);
        if let Some(link) = self.links.get_mut(&host) {
            link.source(direction).reader = reader;
        }
        if let Err(problem) = read {
            self.flush();
            self.close(host, &problem.to_string());
        }
    }

    fn frames(&mut self, host: HostId, direction: Direction, reader: &mut FrameReader) -> Result<(), MessageError> {
        let now = self.queue.moment(self.now());
        while let Some(frame) = reader.next_frame()? {
            match direction {
                Direction::Up => {
                    if is_update(frame.code) {
                        TankUpdate::parse(frame)?;
                    }
                    self.up(host, Way::Tcp, frame, now);
                }
                Direction::Down => self.relay.handle_server(host, Way::Tcp, frame, now),
            }
        }
        Ok(())
    }

    /// A datagram of a client: by where it comes from, or by the number in a request for a link.
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        let known = self.links.iter().find(|(_, link)| link.datagrams == Some(from)).map(|(host, _)| *host);
        let Some(host) = known.or_else(|| self.introduce(from, bytes)) else {
            tracing::debug!(%from, "a datagram of nobody known");
            return;
        };
        let now = self.queue.moment(self.now());
        for frame in frames(bytes) {
            match frame {
                Ok(frame) => self.up(host, Way::Udp, frame, now),
                Err(problem) => tracing::debug!(%from, %problem, "a datagram of a client cannot be read"),
            }
        }
    }

    /// Whose a request for a link is: that of the player with that number at that address, whoever sends it.
    fn introduce(&mut self, from: SocketAddr, bytes: &[u8]) -> Option<HostId> {
        let frame = frames(bytes).next()?.ok()?;
        let UdpLinkRequest(player) = UdpLinkRequest::parse(frame).ok()?;
        let is_it = |link: &Link| {
            // Clients ask once, from the port of their stream if nothing on the way changes it.
            let may_ask = link.datagrams.is_none() || link.address == from;
            may_ask && link.address.ip() == from.ip() && link.player == Some(player)
        };
        let (host, link) = self.links.iter_mut().rfind(|(_, link)| is_it(link))?;
        link.datagrams = Some(from);
        Some(*host)
    }

    /// A message of a client, which may have to wait.
    fn up(&mut self, host: HostId, way: Way, frame: Frame<'_>, now: GlobalTime) {
        // To the server everybody behind the relay has its address: it would believe it.
        let player = self.links.get(&host).and_then(|link| link.player);
        if let Some(UdpLinkRequest(other)) = UdpLinkRequest::parse(frame).ok().filter(|asked| Some(asked.0) != player) {
            return tracing::warn!(%host, "a client asks for the link of player {other}");
        }
        if !self.queue.holds(host, Direction::Up) {
            self.relay.handle_client(host, way, frame, now, now);
            if frame.code == Code::ENTER {
                self.put_under_conditions(host);
            }
            return;
        }
        let mut bytes = Vec::new();
        frame.emit(&mut bytes);
        let message = Message { client: host, direction: Direction::Up, way, received: now, bytes };
        self.queue.push(message, is_linking(frame.code), now);
    }

    fn let_up(&mut self, message: &Message, now: GlobalTime) {
        for frame in frames(&message.bytes).flatten() {
            self.relay.handle_client(message.client, message.way, frame, message.received, now);
        }
    }

    /// A client has said its name.
    fn put_under_conditions(&mut self, host: HostId) {
        let Some(name) = self.relay.name(host) else { return };
        let Some((_, conditions)) = self.config.conditions.iter().find(|(player, _)| player == name) else { return };
        match self.queue.set(host, conditions, self.config.relay.seed) {
            Ok(path) => self.relay.gauge_mut().set_conditions(host, path),
            Err(problem) => tracing::warn!(name, %problem, "conditions that make no sense"),
        }
    }

    fn send(&mut self, out: Out, now: GlobalTime) {
        let Out { client, to_client, way, bytes } = out;
        if to_client && self.queue.holds(client, Direction::Down) {
            let keep = frames(&bytes).flatten().any(|frame| is_linking(frame.code));
            let message = Message { client, direction: Direction::Down, way, received: now, bytes };
            return self.queue.push(message, keep, now);
        }
        if to_client {
            return self.send_down(client, way, bytes);
        }
        let Some(link) = self.links.get(&client) else { return };
        match way {
            // What the system does not take is lost, as datagrams are.
            Way::Udp => drop(link.up.try_send(&bytes)),
            Way::Tcp if !link.server.write(bytes) => self.close(client, "the server does not read what it is sent"),
            Way::Tcp => {}
        }
    }

    fn send_down(&mut self, client: HostId, way: Way, bytes: Vec<u8>) {
        let Some(link) = self.links.get(&client) else { return };
        match (way, link.datagrams) {
            (Way::Udp, Some(address)) => drop(self.datagrams.try_send_to(&bytes, address)),
            _ if !link.client.write(bytes) => self.close(client, "it does not read what it is sent"),
            _ => {}
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

fn is_update(code: Code) -> bool {
    code == Code::TANK_UPDATE || code == Code::TANK_UPDATE_SMALL
}

/// A client asks for its link once: neither that nor the answer may get lost.
fn is_linking(code: Code) -> bool {
    code == Code::UDP_LINK_REQUEST || code == Code::UDP_LINK_ESTABLISHED
}

async fn receive(socket: Arc<UdpSocket>, inputs: mpsc::Sender<Input>) {
    let mut buffer = [0; 2048];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            // A client's port was closed: that is no reason to stop, nor to spin.
            sleep(std::time::Duration::from_millis(1)).await;
            continue;
        };
        if inputs.send(Input::FromClient { from, bytes: buffer[..length].to_vec(), at: Instant::now() }).await.is_err()
        {
            return;
        }
    }
}

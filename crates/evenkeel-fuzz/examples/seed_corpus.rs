//! Writes the `seed-*` files of the corpus: `cargo run -p evenkeel-fuzz --example seed_corpus`.
//!
//! The same files every time.

use evenkeel::wire::datagram::{Acknowledged, KIND_AGREEMENT, VectorsHeader};
use evenkeel::wire::{
    AGREEMENT_BYTES, Agreement, BODY_BYTES, BitReader, BitWriter, FORMAT_BYTES, Format, Full, emit_absolute,
    emit_against,
};
use evenkeel::{
    Duration, EntityId, GlobalTime, HostId, Instant, Motion, Pose, Quat, Receiver, ReceiverConfig, Relevance, Sender,
    SenderConfig, Threshold, Vec3,
};
use evenkeel_bzflag::message as bzflag;
use evenkeel_fuzz::script::{Script, clock, levels, receiver, sender, timewarp};
use evenkeel_games::operations::record;
use evenkeel_games::words::{self, Word};
use evenkeel_games::{Arena, Setup, ShipPilot, Spaceship, TankPilot, arena, spaceship};
use evenkeel_link::Conditions;
use evenkeel_link::recording::{Event, FORMAT_VERSION, Header, MAGIC, RecordingWriter};
use evenkeel_net::hub::{Connection, Hub, HubConfig};
use evenkeel_net::levels::Level;
use evenkeel_net::protocol::{
    Entity, Filter, Introduction, PeerOffer, Refusal, ToPlayer, ToServer, VERSION, encode, pass_on,
};
use evenkeel_net::token::{KeyRing, Player, Rights, SigningKey, Token, TokenId, Window};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The formats that scripts name by their first byte.
const FORMATS: [(u8, fn() -> Format); 3] = [(0, Format::default), (1, Format::bzflag), (2, Format::lossless)];

fn main() -> Result<()> {
    for (name, seeds) in [
        ("format", formats()?),
        ("body", bodies()?),
        ("datagram", datagrams()?),
        ("receiver", receivers()?),
        ("sender", senders()),
        ("bzflag", games()?),
        ("bzflag_relay", relayed()),
        ("clock", clocks()),
        ("levels", conversations()),
        ("moving", moved()?),
        ("protocol", said()),
        ("session", strangers()),
        ("timewarp", timewarps()),
        ("token", tokens()?),
        ("words", words()),
        ("recording", recordings()?),
        ("conditions", conditions()),
        ("operations", operations()?),
        ("matrix", matrices()?),
        ("sites", placements()?),
        (
            "budget_and_policy",
            texts(&[
                "1/3",
                "0.4",
                "200/s",
                "1e-3/s",
                "base",
                "base/3",
                "even",
                "20kB/s",
                "3B/s",
                "200/s/receiver",
                "20kB/s/receiver",
            ]),
        ),
    ] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        fs::create_dir_all(&directory)?;
        for (i, seed) in seeds.iter().enumerate() {
            fs::write(directory.join(format!("seed-{i:02}")), seed)?;
        }
        println!("{name}: {} seeds, {} bytes", seeds.len(), seeds.iter().map(Vec::len).sum::<usize>());
    }
    Ok(())
}

/// What BZFlag's sides say: each message alone, all of them together, and a recording of it.
fn games() -> Result<Vec<Vec<u8>>> {
    let update = bzflag::TankUpdate { position: [10.0, -5.0, 0.5], azimuth: 4.0, ..bzflag::TankUpdate::of(3) };
    let options =
        bzflag::TankUpdate { jump_jets: Some(9), driver: Some(8), user: Some([7, 6]), sounds: Some(1), ..update };
    let mut said = vec![Vec::new(); 12];
    update.emit(&mut said[0]);
    options.emit(&mut said[1]);
    options.with_precision(bzflag::Precision::Small).emit(&mut said[2]);
    bzflag::SetVar(vec![(b"_radius", b"0.72 * (_length - 1) ^ 2"), (b"_length", b"6.0")]).emit(&mut said[3]);
    bzflag::LagPing(7).emit(&mut said[4]);
    bzflag::UdpLinkRequest(3).emit(&mut said[5]);
    bzflag::RemovePlayer(3).emit(&mut said[6]);
    bzflag::Alive { player: 3, position: [1.0; 3], azimuth: 0.5 }.emit(&mut said[7]);
    bzflag::Score(vec![(3, bzflag::PlayerScore { wins: 1, losses: 2, team_kills: 0 })]).emit(&mut said[8]);
    bzflag::Frame { code: bzflag::Code::SHOT_BEGIN, payload: &[0; 43] }.emit(&mut said[9]);
    bzflag::Frame { code: bzflag::Code::ADD_PLAYER, payload: &[b'x'; 171] }.emit(&mut said[10]);
    bzflag::Frame { code: bzflag::Code::KILLED, payload: b"\x01\x02pd\0\x03GM\0\0\0\x09" }.emit(&mut said[11]);

    let mut recording = b"rrBZ\0\0\0\x01".to_vec();
    recording.resize(426, 0);
    for (at, message) in said[..3].iter().enumerate() {
        let (head, payload) = message.split_at(4);
        recording.extend([&[0, 0], &head[2..], &[0, 0], &head[..2], &[0; 15], &[u8::try_from(at)?], &[0; 8]].concat());
        recording.extend(payload);
    }
    let hellos = [bzflag::CLIENT_HELLO.to_vec(), [&bzflag::VERSION[..], &[3]].concat()];
    let all = [&said[..], &[said.concat(), recording], &hellos].concat();
    Ok(all.iter().map(|bytes| [&[20], &bytes[..]].concat()).collect())
}

/// Three clients around a relay: they join, drive, shoot, die and leave; time goes by in frames.
fn relayed() -> Vec<Vec<u8>> {
    let driving = |player: u8, order: u8, status: u8| {
        let number = |n: u8| [1, 0, n];
        let position = [number(order), number(2), [1, 0, 0]].concat();
        let velocity = [&number(25)[..], &[0], &[0]].concat();
        let rest = [&[player, order, 0, status, 0][..], &number(order), &[0], &number(0), &[1]].concat();
        [position, velocity, rest].concat()
    };
    (0..4)
        .map(|decider| {
            let mut script = vec![decider];
            for host in 0..3 {
                script.extend([1, host, host, 6, host]);
            }
            // Where they are is known on every frame.
            let variables = b"\0\x01\x12_positionTolerance\x02-1";
            script.extend([4, 0, 6, variables.len() as u8, 0]);
            script.extend(variables);
            for frame in 1..20 {
                for player in 0..3 {
                    let status = if frame == 12 { 0 } else { 1 + 64 * (frame % 3 / 2) };
                    for (host, by_server) in (0..3).map(|n| (n, u8::from(n != player))) {
                        script.extend([&[5, host, by_server][..], &driving(player, frame, status)].concat());
                    }
                }
                if frame % 5 == 0 {
                    script.extend([&[7, 1, 0][..], &[1, 0, 9, 0, 0, 0, 0, 0]].concat());
                }
                script.extend([0, 0, 0, 16]);
            }
            // One answers a ping, another leaves, and a minute goes by.
            script.extend([3, 1, 3, 2, 0, 0x80, 0, 2, 2, 0, 0, 1, 0xff, 0xff, 0, 0, 1, 0xff, 0xff]);
            script
        })
        .collect()
}

/// The first seconds of short games of both kinds.
fn operations() -> Result<Vec<Vec<u8>>> {
    let ship = Setup { rules: spaceship::Rules::default(), players: 2, seed: 3, ticks: 200 };
    let tank = Setup { rules: arena::Rules::default(), players: 3, seed: 3, ticks: 200 };
    let ship = record::<Spaceship, ShipPilot>(ship)?.to_text();
    let tank = record::<Arena, TankPilot>(tank)?.to_text();
    Ok(texts(&[&ship, &tank]))
}

/// Sessions that are about to move: nobody in one, and two players with entities and messages under way in the other.
fn moved() -> Result<Vec<Vec<u8>>> {
    let (since, now) = (Duration::from_secs(1_700_000_000), Instant::from_millis(1_000));
    let empty = Hub::new(HubConfig::default())?.export(since, now)?;
    let mut hub = Hub::new(HubConfig::default())?;
    for (number, name) in [(1, "Ada"), (2, "Ben")] {
        let connection = Connection(number);
        let (session, name, token) = ("main".to_string(), name.to_string(), Vec::new());
        let hello = ToServer::Hello { version: VERSION, session, name, token, rejoin: None, peer: None };
        hub.handle_connected(connection, None, now);
        hub.handle_message(connection, &encode(&hello)?, now);
        let entity = EntityId(u32::try_from(number)? << 16);
        hub.handle_message(connection, &encode(&ToServer::Make { entity, about: b"a tank".to_vec() })?, now);
        hub.set_relevance(entity, HostId(1), Relevance::Weight(0.5), now)?;
        hub.send(HostId(u32::try_from(number)?), Level::Quickest, b"quick".to_vec(), now)?;
        hub.send(HostId(u32::try_from(number)?), Level::Ordered, b"in order".to_vec(), now)?;
        hub.handle_message(connection, &[0xA0, 0, 0, 0, 0, 0, 1, 7], now);
    }
    let ball = hub.make(Threshold::within(0.1), b"a ball".to_vec(), now)?;
    hub.observe(ball, Pose::at(Vec3::ZERO).moving(Vec3::new(1.0, 2.0, 3.0)), now)?;
    Ok(vec![empty, hub.export(since, now)?])
}

/// One of each kind, and what a craft is about.
fn words() -> Vec<Vec<u8>> {
    let (shooter, target, at) = (HostId(2), HostId(1), GlobalTime::from_millis(5_000));
    let shot = words::Shot { number: 7, at, position: Vec3::new(-90.0, 40.0, 0.0), heading: 1.2 };
    let score = words::Score { host: shooter, hits: 3, deaths: 1 };
    let ships = words::Rules { game: words::GameKind::Ships, ..words::Rules::default() };
    let said = [
        Word::Shot(shot),
        Word::Hit(words::Hit { shooter, target, shot: 7 }),
        Word::Scores(vec![score, words::Score { host: target, ..score }]),
        Word::Rules(words::Rules::default()),
        Word::Rules(ships),
    ];
    said.iter().map(Word::emit).chain([words::about(ships.game)]).collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn formats() -> Result<Vec<Vec<u8>>> {
    let all = FORMATS.iter().map(|(_, format)| {
        let mut buffer = [0; FORMAT_BYTES];
        let mut w = BitWriter::new(&mut buffer);
        format().emit(&mut w)?;
        Ok(w.as_bytes().to_vec())
    });
    all.collect()
}

fn motions() -> [Motion; 6] {
    let (place, velocity) = (Vec3::new(12.0, -34.5, 1.0), Vec3::new(3.0, 20.0, -1.0));
    [
        Motion::stationary(place),
        Motion::linear(place, velocity).facing(1.2, 0.3),
        Motion::accelerated(place, velocity, Vec3::new(0.0, 0.0, -9.81)),
        Motion::accelerated(place, velocity, Vec3::new(1.0, -2.0, 0.5)),
        Motion::circular(place, 0.5, 25.0, 0.785),
        Motion::linear(place, velocity)
            .oriented(Quat::from_rotation_vector(Vec3::new(0.3, -0.2, 0.9)), Vec3::new(0.1, 0.2, 3.0)),
    ]
}

fn bodies() -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for (byte, format) in FORMATS {
        let format = format();
        for (old, new) in motions().iter().zip(motions().iter().cycle().skip(1)) {
            let old = format.quantise(old, GlobalTime::ZERO)?;
            let new = format.quantise(&new.advanced(0.1), GlobalTime::from_millis(100))?;
            let mut script = Script::default();
            script.bytes(&[byte, 0]).bytes(&100u16.to_le_bytes());
            script.chunk(&body(|w| emit_absolute(&format, &old, w))?);
            script.bytes(&body(|w| emit_against(&format, &new, &old, w))?);
            seeds.push(script.0);
            let mut alone = Script::default();
            alone.bytes(&[byte, 2, 0, 0]).bytes(&body(|w| emit_absolute(&format, &new, w))?);
            seeds.push(alone.0);
        }
    }
    Ok(seeds)
}

fn body(emit: impl FnOnce(&mut BitWriter<'_>) -> std::result::Result<(), Full>) -> Result<Vec<u8>> {
    let mut bytes = [0; BODY_BYTES];
    let mut w = BitWriter::new(&mut bytes);
    emit(&mut w)?;
    Ok(w.as_bytes().to_vec())
}

/// What happens in a short session, in order.
enum Happening {
    Down(GlobalTime, Vec<u8>),
    Up(Vec<u8>),
}

/// A session of two tanks on zigzags and one that leaves, over a network that loses every seventh datagram.
fn session(format: Format, millis: i64) -> Result<Vec<Happening>> {
    let start = GlobalTime::ZERO;
    let mut sender = Sender::new(SenderConfig { format, max_datagram: 400, ..SenderConfig::default() })?;
    sender.add_receiver(HostId(0), start)?;
    for i in 0..3 {
        sender.add_entity(EntityId(i), Threshold::within(0.1), start)?;
    }
    let mut receiver = Receiver::new(ReceiverConfig::default())?;
    receiver.add_sender(HostId(0), receiver.agreement(&format), start)?;
    let mut happened = Vec::new();
    for ms in (0..millis).step_by(20) {
        let (now, arrival) = (GlobalTime::from_millis(ms), GlobalTime::from_millis(ms + 10));
        for i in 0..3u32 {
            let _ = sender.observe(EntityId(i), zigzag(f64::from(i), now), now);
        }
        if ms == 400 {
            sender.remove_entity(EntityId(2), now)?;
        }
        sender.handle_timeout(now);
        while let Some(datagram) = sender.poll_transmit(now) {
            if happened.len() % 7 != 5 {
                receiver.handle_datagram(HostId(0), datagram.bytes, arrival)?;
            }
            happened.push(Happening::Down(arrival, datagram.bytes.to_vec()));
        }
        while let Some(receipt) = receiver.poll_transmit(arrival) {
            sender.handle_datagram(HostId(0), receipt.bytes, arrival)?;
            happened.push(Happening::Up(receipt.bytes.to_vec()));
        }
    }
    Ok(happened)
}

fn zigzag(i: f64, t: GlobalTime) -> Pose {
    let seconds = t.as_secs_f64() + 0.1 * i;
    let leg = (seconds / 0.3).floor();
    let heading = if leg % 2.0 == 0.0 { 0.4 } else { -0.6 } + 0.05 * leg;
    let place = Vec3::new(10.0 * seconds, 3.0 * i + heading * (seconds - leg * 0.3), 0.0);
    Pose::at(place).moving(Vec3::from_heading(heading) * 10.0).facing(heading).turning(0.2 * i)
}

fn datagrams() -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for happening in session(Format::bzflag(), 300)? {
        let (Happening::Down(_, bytes) | Happening::Up(bytes)) = happening;
        seeds.push(bytes);
    }
    let mut buffer = [0; 64];
    let mut w = BitWriter::new(&mut buffer);
    Acknowledged { receipt: 7, age: Duration::from_millis(30) }.emit_alone(3, &mut w)?;
    seeds.push(w.as_bytes().to_vec());
    let mut buffer = [0; AGREEMENT_BYTES];
    let mut w = BitWriter::new(&mut buffer);
    w.push(u64::from(KIND_AGREEMENT), 16)?;
    Agreement::default().emit(&mut w)?;
    seeds.push(w.as_bytes().to_vec());
    Ok(seeds)
}

fn receivers() -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for (byte, format) in FORMATS {
        for flags in [0b000_0000, 0b100_0001, 0b000_1010, 0b001_0001] {
            let mut script = Script::default();
            script.bytes(&[byte, flags]);
            let (mut now, mut before) = (GlobalTime::ZERO, None);
            for happening in session(format(), 700)? {
                match happening {
                    Happening::Down(at, bytes) => {
                        script.bytes(&[receiver::WAIT]).span(at.since(now));
                        now = at;
                        // The target writes its own head.
                        script.bytes(&[receiver::RECORDS, 0, 1]).span(Duration::from_millis(10));
                        script.chunk(&records(&bytes, &mut before));
                    }
                    Happening::Up(..) => {
                        script.bytes(&[receiver::TRANSMIT, receiver::EVENTS]);
                    }
                }
            }
            script.bytes(&[receiver::SETTINGS, 1]).span(Duration::from_millis(2));
            // From no lag to 120 ms, in 50 ms, within 240 ms.
            for ms in [120, 50, 240] {
                script.span(Duration::from_millis(ms));
            }
            script.bytes(&[receiver::GRANT, 1, 4, receiver::SENDER, 0, receiver::SENDER, 0]);
            seeds.push(script.0);
        }
    }
    let mut raw = Script::default();
    raw.bytes(&[1, 0]);
    for happening in session(Format::bzflag(), 200)? {
        if let Happening::Down(_, bytes) = happening {
            raw.bytes(&[receiver::DATAGRAM, 0]).chunk(&bytes);
        }
    }
    seeds.push(raw.0);
    Ok(seeds)
}

/// The records of a datagram, from a whole byte on.
fn records(datagram: &[u8], before: &mut Option<VectorsHeader>) -> Vec<u8> {
    let mut r = BitReader::new(datagram);
    let mut bytes = Vec::new();
    if let Ok(header) = VectorsHeader::parse_after(before.as_ref(), &mut r) {
        *before = Some(header);
        while r.remaining_bits() > 0 {
            let bits = r.remaining_bits().min(8) as u32;
            bytes.push(r.pull(bits).unwrap_or(0) as u8);
        }
    }
    bytes
}

fn senders() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    // Short ones are mutated faster; long ones have a past to forget.
    let setups =
        [(0, 0, 12), (1, 1, 12), (2, 0b100_1000, 4), (1, 0b001_0010, 4), (0, 0b000_0110, 4), (1, 0b100_0000, 2)];
    for (byte, flags, ticks) in setups {
        let mut script = Script::default();
        script.bytes(&[byte, flags, sender::ADD_ENTITY]).number(0.05).span(Duration::from_millis(500)).bytes(&[2]);
        for tick in 0..ticks {
            script.bytes(&[sender::WAIT]).span(Duration::from_millis(80));
            for i in 0..3u8 {
                // Everyday numbers: sixty-fourths in two bytes.
                script.bytes(&[sender::OBSERVE, i, 0b1001]);
                for n in [tick * 60 + i16::from(i), tick % 3 * 200, 0, 640, (tick % 5 - 2) * 100, 0, tick % 4 * 30, 9] {
                    script.bytes(&[1]).bytes(&n.to_le_bytes());
                }
            }
            script.bytes(&[sender::TRANSMIT]);
            if tick % 4 != 3 {
                for back in 0..2 {
                    script.bytes(&[sender::RECEIPT, back]).span(Duration::from_millis(40));
                    script.span(Duration::from_millis(30)).bytes(&[0]);
                }
            }
        }
        script.bytes(&[sender::RELEVANCE, 0, 1, 0, sender::HAND_OVER, 1, 4, 0, sender::REMOVE_ENTITY, 2]);
        script.bytes(&[sender::RECEIVER, 2, sender::RECEIVER, 0, sender::RELEVANCE, 0, 1, 3, sender::TRANSMIT]);
        script.bytes(&[sender::RELAY, 0]);
        for n in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0, -9.8] {
            script.number(n);
        }
        script.span(Duration::from_millis(5)).bytes(&[sender::WAIT]).span(Duration::from_secs(4));
        script.bytes(&[sender::TRANSMIT]);
        seeds.push(script.0);
    }
    seeds
}

fn clocks() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (seed, step) in [(0, 0), (7, 3_600_000), (9, -3_600_000)] {
        let mut script = Script::default();
        script.bytes(&[seed]);
        for i in 0..24i64 {
            // The reference's clock is set in the middle.
            let offset = Duration::from_millis(if i < 12 { 90_000 } else { 90_000 + step });
            script.bytes(&[clock::WAIT]).span(Duration::from_millis(50)).bytes(&[clock::PING, clock::WAIT]);
            script.span(Duration::from_micros(40_000 + i * 700 % 3_000)).bytes(&[clock::PONG, 0]);
            let at = offset - Duration::from_micros(20_000 + i * 300 % 1_000);
            script.span(at).span(at + Duration::from_micros(200)).bytes(&[clock::NOW]);
            if i % 5 == 0 {
                script.bytes(&[clock::STAMP]).span(offset - Duration::from_millis(21));
                script.bytes(&[clock::ECHO]).span(Duration::from_millis(42)).span(offset - Duration::from_millis(20));
            }
        }
        seeds.push(script.0);
    }
    let ping = evenkeel::clock::Ping { sequence: 7, nonce: 0xC0FFEE };
    let times = [21, 22].map(GlobalTime::from_millis);
    let pong = evenkeel::clock::Pong { ping, received: times[0], sent: times[1] };
    let mut buffer = [0; evenkeel::clock::Pong::LEN];
    let length = ping.emit(&mut buffer);
    seeds.push(buffer[..length].to_vec());
    let length = pong.emit(&mut buffer);
    seeds.push(buffer[..length].to_vec());
    seeds
}

/// What players and servers say to each other.
fn said() -> Vec<Vec<u8>> {
    let (entity, to) = (EntityId(0x1_0000), HostId(1));
    let hello = ToServer::Hello {
        version: VERSION,
        session: "main".into(),
        name: "stranger".into(),
        token: vec![1, 2],
        rejoin: Some((HostId(1), 7)),
        peer: Some(PeerOffer { certificate: [3; 32], addresses: vec![([10, 0, 0, 1], 4).into()] }),
    };
    let players = [
        hello,
        ToServer::Make { entity, about: vec![1] },
        ToServer::Unmake { entity },
        ToServer::Give { entity, to },
        ToServer::Linked { peer: to, up: true },
        ToServer::List(Filter::default()),
        ToServer::Bye,
    ];
    let made = Entity { entity, owner: to, epoch: 3, about: Vec::new() };
    let servers = [
        ToPlayer::Refused(Refusal::Full),
        ToPlayer::Came(evenkeel_net::protocol::Player { host: to, name: "one".into() }),
        ToPlayer::Entity(made.clone()),
        ToPlayer::Given(made),
        ToPlayer::Leader { host: to },
        ToPlayer::Gone { entity },
        ToPlayer::Meet(Introduction { host: to, certificate: [0; 32], addresses: Vec::new(), ticket: 9 }),
    ];
    let mut all: Vec<Vec<u8>> = players.iter().filter_map(|message| encode(message).ok()).collect();
    all.extend(servers.iter().filter_map(|message| encode(message).ok()));
    all.push(pass_on(to, &[1, 2, 3]));
    all
}

/// Strangers who come in, and then want what is not theirs.
fn strangers() -> Vec<Vec<u8>> {
    let hello = ToServer::Hello {
        version: VERSION,
        session: "main".into(),
        name: "stranger".into(),
        token: Vec::new(),
        rejoin: None,
        peer: Some(PeerOffer { certificate: [3; 32], addresses: Vec::new() }),
    };
    let hello = encode(&hello).unwrap_or_default();
    let mut scripts = Vec::new();
    for model in 0..3 {
        for message in said() {
            let mut script = vec![model, 0, hello.len() as u8];
            script.extend_from_slice(&hello);
            for operation in [7, 0, 2, 3, 4, 5] {
                script.extend([operation, message.len().min(255) as u8]);
                script.extend_from_slice(&message[..message.len().min(255)]);
            }
            scripts.push(script);
        }
    }
    scripts
}

/// Conversations at all levels, with losses, with echoes, with games that do not listen, and things that nobody said.
fn conversations() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (kind, lengths) in [(0u8, 40u16), (1, 250), (2, 3)] {
        let mut script = Script::default();
        script.bytes(&[levels::ROUND_TRIP, 0]).span(Duration::from_millis(i64::from(kind) * 60));
        for i in 0..36u8 {
            script.bytes(&[levels::SEND, i % 2, i, i % 3]).bytes(&(lengths + u16::from(i)).to_le_bytes());
            script.bytes(&[levels::TRANSMIT, i % 2, levels::WAIT]).span(Duration::from_millis(7));
            match i % 6 {
                0 => script.bytes(&[levels::LOSE, i % 4]),
                1 => script.bytes(&[levels::ALONG, 0, 200, 0, levels::DELIVER, 3, 0]),
                2 => script.bytes(&[levels::DELIVER, 0, 0, levels::DELIVER, 0, 1]),
                _ => script.bytes(&[levels::DELIVER, i % 5, 1, levels::DELIVER, 0, 1]),
            };
            if kind != 1 || i > 30 {
                script.bytes(&[levels::MESSAGES, 0, levels::MESSAGES, 1]);
            }
        }
        seeds.push(script.0);
    }
    seeds.push(said_by_nobody().0);
    seeds
}

/// Messages and acknowledgements that are possible, and some that are not.
fn said_by_nobody() -> Script {
    let said = [
        [0xA0, 0, 0, 0, 0, 0, 0, 1].as_slice(),
        &[0xA0, 1, 1, 0, 0, 0, 3, 1],
        &[0xA0, 5, 1, 0, 0, 0],
        &[0xA0, 2, 0x81, 0x80, 4, 9],
        &[0xA0, 3, 7, 1, 0, 0, 0, 2, 1],
        &[0xA0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 8, 8, 5, 1, 0],
        &[0xA0, 4, 1, 0, 0, 0, 1, 3],
        &[0xA0, 4, 0, 0, 0, 0, 1, 2],
    ];
    let mut script = Script::default();
    for bytes in said {
        script.bytes(&[levels::SEND, 0, 4, 1, 9, 0, levels::TRANSMIT, 0]);
        for way in 0..3 {
            script.bytes(&[levels::BYTES, way]).chunk(bytes);
        }
    }
    script
}

/// Games of a second or two: in order, late, twice, contradicting, not permitted, overruled, briefed.
fn timewarps() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for flags in [0, 0b00_0101, 0b11_1010, 0b01_0000] {
        let mut script = Script::default();
        script.bytes(&[flags]);
        for i in 0..40u8 {
            script.bytes(&[timewarp::WAIT]).span(Duration::from_millis(30)).bytes(&[timewarp::ADVANCE]);
            let late = Duration::from_millis(i64::from(i % 7) * 45 - 60);
            script.bytes(&[timewarp::OPERATION, i % 4]).span(late).bytes(&[i, i * 3]);
            if i % 3 == 0 {
                script.bytes(&[timewarp::ELSEWHERE, i % 4]).span(late).bytes(&[i, i * 3]);
                script.bytes(&[timewarp::AGAIN, i % 5, i % 2]);
            }
        }
        if flags & 1 == 1 {
            script.bytes(&[timewarp::OVERRULE, 250, 7, timewarp::BRIEFING]);
        }
        script.bytes(&[timewarp::OPERATION, 1]).span(Duration::from_secs(3)).bytes(&[99, 1]);
        script.bytes(&[timewarp::WAIT]).span(Duration::from_secs(1)).bytes(&[timewarp::ADVANCE]);
        seeds.push(script.0);
    }
    seeds
}

/// Tokens as bytes and as text, key files, and uses: three bytes each, of which the target's source tells.
fn tokens() -> Result<Vec<Vec<u8>>> {
    let key = SigningKey::generate([1; 32]);
    let player = Token {
        player: Player::Name("Ada".into()),
        session: "arena-3".into(),
        rights: Rights::JOIN | Rights::MOVE,
        not_before: 1_000,
        expires: 5_000,
        id: TokenId([9; 16]),
        max_entities: 4,
    };
    let guest = Token { player: Player::Number(7), rights: Rights::OBSERVE, max_entities: 0, ..player.clone() };
    let mut seeds = vec![key.sign(&player)?, key.sign(&guest)?];
    let mut ring = KeyRing::of(key.verifying_key());
    ring.add(SigningKey::generate([2; 32]).verifying_key(), Window { from: Some(1_000), until: Some(9_000) })?;
    let file = format!("# servers\n\n{}", ring.to_text());
    seeds.extend(texts(&[&key.sign_text(&player)?, &file, &key.to_text()]));
    let uses = (0..40u8).flat_map(|i| [i % 5, i % 7, i.wrapping_mul(11)]);
    seeds.extend([[0].into_iter().chain(uses.clone()).collect(), [1].into_iter().chain(uses).collect()]);
    Ok(seeds)
}

fn recordings() -> Result<Vec<Vec<u8>>> {
    let header = Header {
        program: "evenkeel 0.1.0".into(),
        seed: 7,
        settings: vec![("policy".into(), "base".into())],
        hosts: vec!["a".into(), "b".into()],
        entities: vec!["tank".into()],
    };
    let mut writer = RecordingWriter::new(Vec::new(), &header)?;
    let at = GlobalTime::from_millis(40);
    let position = Vec3::new(1.0, 2.0, 3.0);
    writer.write(&Event::Real { entity: 0, at, position, velocity: Vec3::ZERO, heading: 0.5 })?;
    for (sequence, motion) in (1..).zip(motions()) {
        writer.write(&Event::Exported { entity: 0, sequence, generated: at, motion })?;
    }
    writer.write(&Event::Sent { entity: 0, sequence: 1, to: 1, at })?;
    writer.write(&Event::Lost { entity: 0, sequence: 1, to: 1, at })?;
    writer.write(&Event::Received { entity: 0, sequence: 2, by: 1, at: GlobalTime::from_millis(70) })?;
    writer.write(&Event::Placed { entity: 0, by: 1, at: GlobalTime::from_millis(70), position, heading: 0.4 })?;
    writer.write(&Event::Note { at: GlobalTime::from_millis(60), text: "a remark".into() })?;
    let packed = writer.finish()?;
    let mut inside = Vec::new();
    GzDecoder::new(&packed[MAGIC.len() + size_of_val(&FORMAT_VERSION)..]).read_to_end(&mut inside)?;
    Ok(vec![packed, inside])
}

fn conditions() -> Vec<Vec<u8>> {
    let mut seeds = texts(&Conditions::NAMES);
    seeds.extend(texts(&[
        "delay=200ms,jitter=exp:20ms,loss=2%",
        "far,loss=bursts:10s:200ms:0%:80%,reorder=1%:30ms,duplicate=0.5%",
        "delay=1.5s,jitter=uniform:20ms+normal:250us+pareto:10ms:2.5+correlated:20ms:1s+bursts:1%:50ms:50ms",
        "rate=64000:16000,steps=10s:30ms;20s:-1ms",
        "jitter=none,loss=none,rate=none,lines=0s:0ms;60s:80ms",
    ]));
    seeds
}

fn matrices() -> Result<Vec<Vec<u8>>> {
    let named = b"city,Oslo,Lima\nOslo,0,210.5\nLima,211,0\n";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(named)?;
    Ok(vec![named.to_vec(), b"0,1e1\r\n10,0\r\n".to_vec(), b"7".to_vec(), encoder.finish()?])
}

/// Two bytes of options, and files with a zero byte between two.
fn placements() -> Result<Vec<Vec<u8>>> {
    let square = "x,a,b,c\nb,7,0,-\na,0,8,9.5\nc,10,,0\n";
    let seeds = [
        (0x00, 0x00, "0,1.5\n2,0\n".to_owned()),
        (0x02, 0x05, square.to_owned()),
        (0x02, 0x22, square.to_owned()),
        (0x03, 0x2a, square.to_owned()),
        (0x00, 0x00, format!("p,a,weight,\"b\"\nAda,1,2,3\nBo,4,5,6\n\0{square}\0name,cost\na,2\n")),
        (0x02, 0x00, "p,a,b,c\nAda,1,NA,\n\0from,to,rtt_ms\na,b,3\nb,c,4\n\0\0name,weight\nAda,4\n".to_owned()),
        (0x03, 0x00, "when,from,to,rtt_ms\n1,Ada,a,3\n2,Ada,a,5\n3,a,b,nan\n".to_owned()),
        (0x03, 0x00, "from,to,rtt_ms\nAda,a,3\na,\"b, c\",5\n\0\0name,capacity,use,latitude,longitude\na,9,required,1,-2\n\0Ada\n".to_owned()),
    ];
    let mut files: Vec<Vec<u8>> = Vec::new();
    for (how, which, text) in seeds {
        files.push([&[how, which][..], text.as_bytes()].concat());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(square.as_bytes())?;
    files.push([&[2, 5][..], &encoder.finish()?].concat());
    Ok(files)
}

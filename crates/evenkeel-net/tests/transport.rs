//! The transport on real sockets of this machine.

#![allow(clippy::unwrap_used)]

use evenkeel_net::transport::{
    Carrier, Closed, ConnectConfig, Connection, Endpoint, EndpointConfig, Error, Identity, Limits, ListenConfig,
    Listener, Rate, SendError, Trust, What, connect, connect_with,
};
use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const BOTH: [Carrier; 2] = [Carrier::WebTransport, Carrier::WebSocket];

fn identity() -> Identity {
    Identity::self_made(["localhost", "127.0.0.1"], Duration::from_secs(24 * 3600)).unwrap()
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn settings(identity: &Identity) -> ListenConfig {
    ListenConfig { websocket: Some(any_port()), ..ListenConfig::new(any_port(), identity.clone()) }
}

fn url(listener: &Listener, carrier: Carrier) -> String {
    match carrier {
        Carrier::WebTransport => format!("https://{}/play?room=7", listener.local_address()),
        Carrier::WebSocket => format!("wss://{}/play?room=7", listener.websocket_address().unwrap()),
    }
}

fn trust(identity: &Identity) -> Trust {
    Trust::Hashes(vec![identity.hash()])
}

/// Generous: a test that takes so long hangs.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it hangs")
}

/// A client and the server's end of its connection.
async fn pair(listener: &Listener, carrier: Carrier, config: &ConnectConfig) -> (Connection, Connection) {
    let url = url(listener, carrier);
    let (client, server) = soon(async { tokio::join!(connect_with(&url, config), listener.accept()) }).await;
    (client.unwrap(), server.unwrap())
}

async fn next(connection: &mut Connection) -> What {
    soon(connection.receive()).await.expect("the connection is closed").what
}

/// Takes what is left, and the reason.
async fn end(connection: &mut Connection) -> Closed {
    while soon(connection.receive()).await.is_some() {}
    connection.closed_reason().expect("a reason")
}

#[tokio::test]
async fn datagrams_and_messages_are_echoed() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let (mut client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        assert_eq!(server.path(), "/play?room=7");
        assert_eq!(server.carrier(), carrier);
        assert!(server.remote().ip().is_loopback());
        let echo = tokio::spawn(async move {
            while let Some(arrived) = server.receive().await {
                assert!(arrived.at <= Instant::now());
                match arrived.what {
                    What::Datagram(bytes) => server.send_datagram(&bytes).unwrap(),
                    What::Message(bytes) => server.send_message(bytes.to_vec()).unwrap(),
                    What::Unordered(bytes) => server.send_unordered(bytes.to_vec()).unwrap(),
                }
            }
            server.closed_reason()
        });
        for n in 0..20usize {
            client.send_datagram(&[n as u8; 100]).unwrap();
            assert_eq!(next(&mut client).await, What::Datagram(vec![n as u8; 100].into()));
            let message = vec![n as u8; n * 10_000];
            client.send_message(message.clone()).unwrap();
            assert_eq!(next(&mut client).await, What::Message(message.into()));
            let message = vec![n as u8; n * 1000];
            client.send_unordered(message.clone()).unwrap();
            assert_eq!(next(&mut client).await, What::Unordered(message.into()));
        }
        let statistics = client.statistics();
        assert_eq!((statistics.datagrams_sent, statistics.datagrams_received), (20, 20));
        assert_eq!((statistics.messages_sent, statistics.messages_received), (40, 40));
        assert!(statistics.round_trip.is_some());
        client.close("enough");
        assert_eq!(client.send_message(vec![1]), Err(SendError::Closed));
        assert_eq!(soon(echo).await.unwrap(), Some(Closed::Peer("enough".into())));
        assert_eq!(soon(client.closed()).await, Closed::Here("enough".into()));
    }
}

#[tokio::test]
async fn the_newer_internet_protocol_works_too() {
    let address: SocketAddr = "[::1]:0".parse().unwrap();
    if std::net::UdpSocket::bind(address).is_err() {
        return;
    }
    let identity = identity();
    let config = ListenConfig { websocket: Some(address), ..ListenConfig::new(address, identity.clone()) };
    let listener = Listener::bind(config).await.unwrap();
    for carrier in BOTH {
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        client.send_datagram(&[6]).unwrap();
        assert_eq!(next(&mut server).await, What::Datagram(vec![6].into()));
    }
}

#[tokio::test]
async fn what_is_queued_is_delivered_before_the_end() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        for n in 0..50u8 {
            client.send_message(vec![n; 5000]).unwrap();
        }
        // Gone for all that the program knows.
        drop(client);
        for n in 0..50u8 {
            assert_eq!(next(&mut server).await, What::Message(vec![n; 5000].into()));
        }
        assert_eq!(end(&mut server).await, Closed::Peer("left".into()));
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        let limit = client.max_datagram();
        assert!(limit >= 1000, "{limit}");
        client.send_datagram(&vec![1; limit]).unwrap();
        assert_eq!(next(&mut server).await.bytes().len(), limit);
        assert!(matches!(client.send_datagram(&[0; 70_000]), Err(SendError::TooLarge { .. })));
        let limit = Limits::default().message;
        assert_eq!(client.send_message(vec![0; limit + 1]), Err(SendError::TooLarge { limit }));
        client.send_message(vec![2; limit]).unwrap();
        assert_eq!(next(&mut server).await.bytes().len(), limit);
    }
}

#[tokio::test]
async fn a_message_beyond_the_limit_closes_with_a_reason() {
    let identity = identity();
    let limits = Limits { message: 10_000, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    for carrier in BOTH {
        let (mut client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        client.send_message(vec![0; 10_000]).unwrap();
        client.send_message(vec![0; 10_001]).unwrap();
        assert_eq!(next(&mut server).await.bytes().len(), 10_000);
        let reason = "a message of 10001 bytes is longer than the limit of 10000".to_string();
        assert_eq!(end(&mut client).await, Closed::Peer(reason.clone()));
        assert_eq!(end(&mut server).await, Closed::Here(reason));
    }
}

#[tokio::test]
async fn an_unordered_message_beyond_the_limit_closes_with_a_reason() {
    let identity = identity();
    let limits = Limits { unordered: 10_000, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    for carrier in BOTH {
        let (mut client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        let limit = Limits::default().unordered;
        assert_eq!(client.send_unordered(vec![0; limit + 1]), Err(SendError::TooLarge { limit }));
        client.send_unordered(vec![0; 10_000]).unwrap();
        assert_eq!(next(&mut server).await, What::Unordered(vec![0; 10_000].into()));
        client.send_unordered(vec![0; 10_001]).unwrap();
        let reason = "an unordered message of 10001 bytes is longer than the limit of 10000".to_string();
        assert_eq!(end(&mut client).await, Closed::Peer(reason.clone()));
        assert_eq!(end(&mut server).await, Closed::Here(reason));
    }
}

#[tokio::test]
async fn unordered_messages_are_held_back_by_a_slow_reader_and_none_is_lost() {
    let identity = identity();
    let limits = Limits { incoming_messages: 50_000, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    for carrier in BOTH {
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        let (mut queued, mut refused) = (0u32, 0);
        let full = async {
            // Until nothing has moved for a while.
            while refused < 20 {
                match client.send_unordered([&queued.to_le_bytes()[..], &[9; 10_000]].concat()) {
                    Ok(()) => (queued, refused) = (queued + 1, 0),
                    Err(SendError::Full) => refused += 1,
                    Err(other) => panic!("{other}"),
                }
                assert!(queued < 2_000, "there is no end to what it takes");
                tokio::time::sleep(Duration::from_millis(1 + 10 * refused.min(2))).await;
            }
        };
        soon(full).await;
        // What the inbox takes, and as many as there may be under way at once.
        assert!(server.statistics().incoming_bytes <= 61_000 + 40 * 10_100, "{:?}", server.statistics());
        // Gone for all that the program knows.
        drop(client);
        let mut seen = vec![false; queued as usize];
        for _ in 0..queued {
            let What::Unordered(bytes) = next(&mut server).await else { panic!("something else") };
            let number = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert!(bytes.len() == 10_004 && !std::mem::replace(&mut seen[number], true), "{number} came twice");
        }
        assert_eq!(end(&mut server).await, Closed::Peer("left".into()));
    }
}

#[tokio::test]
async fn a_slow_reader_costs_no_memory() {
    let identity = identity();
    let incoming_age = Duration::from_secs(60);
    let limits = Limits { incoming_datagrams: 16, incoming_age, incoming_messages: 50_000, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    for carrier in BOTH {
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        let arrived = |server: &Connection| server.statistics().datagrams_received;
        for n in 0..200u8 {
            client.send_datagram(&[n; 100]).unwrap();
            soon(async {
                while arrived(&server) <= u64::from(n) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
        }
        let statistics = server.statistics();
        assert_eq!((statistics.incoming_datagrams, statistics.datagrams_dropped), (16, 184));
        assert_eq!(next(&mut server).await, What::Datagram(vec![184; 100].into()), "the oldest were dropped");

        // The client's queue fills, and says so; on the way there is at most what the limits and the kernels allow.
        let mut queued = 0u64;
        let full = async {
            loop {
                match client.send_message(vec![9; 10_000]) {
                    Ok(()) => queued += 1,
                    Err(SendError::Full) if client.statistics().outgoing_bytes > 900_000 => return,
                    Err(SendError::Full) => tokio::time::sleep(Duration::from_millis(5)).await,
                    Err(other) => panic!("{other}"),
                }
                assert!(queued < 5_000, "there is no end to what it takes");
            }
        };
        soon(full).await;
        assert!(server.statistics().incoming_bytes <= 61_000, "{:?}", server.statistics());

        // Nothing of that was lost.
        let mut messages = 0;
        while messages < queued {
            messages += u64::from(matches!(next(&mut server).await, What::Message(bytes) if bytes.len() == 10_000));
        }
    }
}

#[tokio::test]
async fn stale_datagrams_do_not_pile_up() {
    let identity = identity();
    let limits = Limits { incoming_messages: 1, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    let (client, server) = pair(&listener, Carrier::WebSocket, &ConnectConfig::new(trust(&identity))).await;
    // The server reads nothing after the first message.
    client.send_message(vec![1]).unwrap();
    let refused = async {
        while client.send_datagram(&[0; 1000]) != Err(SendError::Full) || client.statistics().datagrams_refused < 100 {
            tokio::task::yield_now().await;
        }
    };
    soon(refused).await;
    assert!(client.statistics().outgoing_bytes <= Limits::default().outgoing_datagrams);
    drop(server);
}

#[tokio::test]
async fn only_the_right_certificate_is_trusted() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let url = url(&listener, carrier);
        let error = soon(connect(&url, Trust::Hashes(vec![[7; 32]]))).await.err().expect("a wrong hash is refused");
        assert!(matches!(error, Error::Untrusted(_)), "{error}");
        let other = self::identity().certificate_pem();
        let error = soon(connect(&url, Trust::Certificates(other))).await.err().expect("another's is refused");
        assert!(matches!(error, Error::Untrusted(_)), "{error}");
        soon(connect(&url, Trust::Certificates(identity.certificate_pem()))).await.unwrap();
        soon(connect(&url.replace("127.0.0.1", "localhost"), trust(&identity))).await.unwrap();
    }
}

#[tokio::test]
async fn a_certificate_can_be_renewed() {
    let (old, new) = (identity(), identity());
    let listener = Listener::bind(settings(&old)).await.unwrap();
    for carrier in BOTH {
        listener.renew(&old).unwrap();
        let (client, mut server) = pair(&listener, carrier, &ConnectConfig::new(trust(&old))).await;
        listener.renew(&new).unwrap();
        let url = url(&listener, carrier);
        assert!(matches!(soon(connect(&url, trust(&old))).await, Err(Error::Untrusted(_))));
        drop(pair(&listener, carrier, &ConnectConfig::new(trust(&new))).await);
        client.send_message(vec![1]).unwrap();
        assert_eq!(next(&mut server).await, What::Message(vec![1].into()), "the old connection lives on");
    }
}

#[tokio::test]
async fn strangers_are_asked_to_show_their_address_first() {
    // What a client sends first, caught by somebody who does not answer.
    let identity = identity();
    let trap = tokio::net::UdpSocket::bind(any_port()).await.unwrap();
    let nowhere = format!("https://{}/", trap.local_addr().unwrap());
    let trust = trust(&identity);
    let attempt = tokio::spawn(async move { connect(&nowhere, trust).await });
    let mut first = [0; 2000];
    let length = soon(trap.recv(&mut first)).await.unwrap();
    attempt.abort();

    for retry in [true, false] {
        let listener = Listener::bind(ListenConfig { retry, ..settings(&identity) }).await.unwrap();
        let socket = tokio::net::UdpSocket::bind(any_port()).await.unwrap();
        socket.send_to(&first[..length], listener.local_address()).await.unwrap();
        let mut answer = [0; 2000];
        let answered = soon(socket.recv(&mut answer)).await.unwrap();
        // The type of a long header; 3 is Retry.
        assert_eq!((answer[0] & 0b1011_0000) == 0b1011_0000, retry);
        assert_eq!(listener.connections(), usize::from(!retry), "nothing is kept for a stranger");
        assert!(!retry || answered < length / 2, "{answered} bytes in answer to {length}");
    }
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    let again = ListenConfig::new(listener.local_address(), identity.clone());
    let error = Listener::bind(again).await.err().unwrap().to_string();
    assert!(error.contains("in use"), "{error}");
    for url in ["http://localhost:1/", "localhost:1", "https:///", "wss://"] {
        assert!(matches!(soon(connect(url, trust(&identity))).await, Err(Error::Url(_))), "{url}");
    }
    assert!(matches!(soon(connect("wss://127.0.0.1:1/", trust(&identity))).await, Err(Error::Unreachable(_))));
    let hasty = ConnectConfig { timeout: Duration::from_millis(300), ..ConnectConfig::new(trust(&identity)) };
    assert!(matches!(soon(connect_with("https://127.0.0.1:1/", &hasty)).await, Err(Error::TimedOut)));
}

#[tokio::test]
async fn one_source_cannot_take_all_handshakes() {
    let identity = identity();
    for carrier in BOTH {
        let handshakes_per_source = Rate { burst: 3, per_second: 0.0 };
        let listener = Listener::bind(ListenConfig { handshakes_per_source, ..settings(&identity) }).await.unwrap();
        let url = url(&listener, carrier);
        let config = ConnectConfig::new(trust(&identity));
        let mut kept = Vec::new();
        for n in 0..6 {
            let result = soon(connect_with(&url, &config)).await;
            assert_eq!(result.is_ok(), n < 3, "attempt {n}");
            match result {
                Ok(connection) => kept.push(connection),
                Err(error) => assert!(matches!(error, Error::Refused(_)), "{error}"),
            }
        }
        let elsewhere = ConnectConfig { local: Some("127.0.0.2".parse().unwrap()), ..config };
        soon(connect_with(&url, &elsewhere)).await.unwrap();
    }
}

#[tokio::test]
async fn there_are_no_more_connections_than_allowed() {
    let identity = identity();
    for carrier in BOTH {
        let listener = Listener::bind(ListenConfig { max_connections: 2, ..settings(&identity) }).await.unwrap();
        let config = ConnectConfig::new(trust(&identity));
        let first = pair(&listener, carrier, &config).await;
        let second = pair(&listener, carrier, &config).await;
        assert_eq!(listener.connections(), 2);
        let url = url(&listener, carrier);
        assert!(matches!(soon(connect_with(&url, &config)).await, Err(Error::Refused(_))));
        drop(first);
        soon(async {
            while listener.connections() > 1 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        drop((pair(&listener, carrier, &config).await, second));
    }
}

#[tokio::test]
async fn a_shutdown_delivers_what_is_queued_and_tells_the_reason() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    let config = ConnectConfig::new(trust(&identity));
    let mut pairs = Vec::new();
    for carrier in BOTH {
        pairs.push(pair(&listener, carrier, &config).await);
    }
    for (_, server) in &pairs {
        server.send_message(b"the last word".to_vec()).unwrap();
    }
    soon(listener.shutdown("maintenance until noon")).await;
    assert!(soon(listener.accept()).await.is_none());
    assert_eq!(listener.connections(), 0);
    for (mut client, server) in pairs {
        assert_eq!(next(&mut client).await, What::Message(b"the last word".to_vec().into()));
        assert_eq!(end(&mut client).await, Closed::Peer("maintenance until noon".into()));
        assert_eq!(server.closed_reason(), Some(Closed::Here("maintenance until noon".into())));
    }
}

/// A client that speaks WebTransport, but not as we do.
async fn stranger(listener: &Listener, identity: &Identity) -> wtransport::Connection {
    let config = wtransport::ClientConfig::builder()
        .with_bind_address(any_port())
        .with_server_certificate_hashes([wtransport::tls::Sha256Digest::new(identity.hash())])
        .build();
    let endpoint = wtransport::Endpoint::client(config).unwrap();
    endpoint.connect(url(listener, Carrier::WebTransport)).await.unwrap()
}

#[tokio::test]
async fn strangers_are_cut_off_when_they_break_the_rules() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    let cases: [(&[u8], &str); 4] = [
        (&[255, 255, 255, 127, 1, 2, 3], "longer than the limit"),
        (&[255, 255, 255, 255], "reason for leaving is too long"),
        (&[9, 0, 0, 0, 1, 2], "ends before its length"),
        (&[9, 0], "ends amid its length"),
    ];
    for (bytes, expected) in cases {
        let stranger = soon(stranger(&listener, &identity)).await;
        let mut server = soon(listener.accept()).await.unwrap();
        let (mut stream, _) = soon(stranger.open_bi()).await.unwrap().await.unwrap();
        soon(stream.write_all(bytes)).await.unwrap();
        soon(stream.finish()).await.unwrap();
        let closed = end(&mut server).await.to_string();
        assert!(closed.contains(expected), "{closed}");
        let told = soon(stranger.closed()).await.to_string();
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn strangers_cannot_open_more_streams_than_allowed() {
    let identity = identity();
    let limits = Limits { unordered_at_once: 5, ..Limits::default() };
    let listener = Listener::bind(ListenConfig { limits, ..settings(&identity) }).await.unwrap();
    let stranger = soon(stranger(&listener, &identity)).await;
    let mut server = soon(listener.accept()).await.unwrap();
    let mut streams = Vec::new();
    let open = async {
        loop {
            let mut stream = stranger.open_uni().await.unwrap().await.unwrap();
            stream.write_all(&[3, 0, 0, 0, 1, 2]).await.unwrap();
            streams.push(stream);
        }
    };
    assert!(tokio::time::timeout(Duration::from_millis(500), open).await.is_err(), "there is no end to it");
    assert!((5..=13).contains(&streams.len()), "{}", streams.len());
    assert_eq!(server.statistics().messages_received, 0, "none is whole");
    // When they end, others may follow.
    for mut stream in streams.drain(..) {
        soon(stream.write_all(&[3])).await.unwrap();
        soon(stream.finish()).await.unwrap();
        assert_eq!(next(&mut server).await, What::Unordered(vec![1, 2, 3].into()));
    }
    let cases: [(&[u8], &str); 4] = [
        (&[1, 0, 0, 0, 7, 8], "more follows"),
        (&[9, 0, 0, 0, 1], "ends before its length"),
        (&[9, 0], "ends amid its length"),
        (&[255, 255, 255, 255], "longer than the limit"),
    ];
    for (bytes, expected) in cases {
        let stranger = soon(self::stranger(&listener, &identity)).await;
        let mut server = soon(listener.accept()).await.unwrap();
        let mut stream = soon(stranger.open_uni()).await.unwrap().await.unwrap();
        soon(stream.write_all(bytes)).await.unwrap();
        soon(stream.finish()).await.unwrap();
        let closed = end(&mut server).await.to_string();
        assert!(closed.contains(expected), "{closed}");
    }
}

#[tokio::test]
async fn a_stranger_without_a_stream_still_has_datagrams_and_can_be_closed() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    let stranger = soon(stranger(&listener, &identity)).await;
    let mut server = soon(listener.accept()).await.unwrap();
    stranger.send_datagram([1, 2]).unwrap();
    assert_eq!(next(&mut server).await, What::Datagram(vec![1, 2].into()));
    server.send_message(vec![3]).unwrap();
    server.close("no stream, no game");
    let told = soon(stranger.closed()).await.to_string();
    assert!(told.contains("no stream, no game"), "{told}");
    assert_eq!(end(&mut server).await, Closed::Here("no stream, no game".into()));
}

#[tokio::test]
async fn a_connection_is_gone_even_if_its_messages_are_never_read() {
    let identity = identity();
    let limits = Limits { incoming_messages: 1000, ..Limits::default() };
    let keep_alive = Duration::from_millis(200);
    let config = ConnectConfig { limits, keep_alive, ..ConnectConfig::new(trust(&identity)) };
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let (client, server) = pair(&listener, carrier, &config).await;
        for _ in 0..20 {
            server.send_message(vec![0; 1000]).unwrap();
        }
        server.close("done");
        soon(client.closed()).await;
        soon(server.closed()).await;
    }
}

/// A server in a runtime of its own, which dies without a word when that is dropped.
async fn mortal(config: ListenConfig) -> (tokio::runtime::Runtime, SocketAddr) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.spawn(Listener::bind(config)).await.unwrap().unwrap();
    let address = listener.local_address();
    runtime.spawn(async move {
        let mut kept = Vec::new();
        while let Some(connection) = listener.accept().await {
            connection.send_message(b"welcome".to_vec()).unwrap();
            kept.push(connection);
        }
    });
    (runtime, address)
}

#[tokio::test]
async fn a_killed_server_is_noticed() {
    let identity = identity();
    let idle_timeout = Duration::from_secs(2);
    let config = ListenConfig { idle_timeout, ..ListenConfig::new(any_port(), identity.clone()) };
    let (server, address) = mortal(config).await;
    let mut client = soon(connect(&format!("https://{address}/"), trust(&identity))).await.unwrap();
    assert_eq!(next(&mut client).await, What::Message(b"welcome".to_vec().into()));
    server.shutdown_background();
    assert_eq!(end(&mut client).await, Closed::TimedOut);
    assert_eq!(client.send_datagram(&[1]), Err(SendError::Closed));
}

#[tokio::test]
async fn a_restarted_server_disowns_old_connections_at_once() {
    let file = std::env::temp_dir().join(format!("evenkeel-identity-{}.pem", std::process::id()));
    let identity = identity();
    identity.save(&file).unwrap();
    let patient = Duration::from_secs(600);
    let listen = |address, identity| ListenConfig { idle_timeout: patient, ..ListenConfig::new(address, identity) };
    let (server, address) = mortal(listen(any_port(), identity.clone())).await;
    let config = ConnectConfig {
        idle_timeout: patient,
        keep_alive: Duration::from_millis(200),
        ..ConnectConfig::new(trust(&identity))
    };
    let url = format!("https://{address}/");
    let mut client = soon(connect_with(&url, &config)).await.unwrap();
    assert_eq!(next(&mut client).await, What::Message(b"welcome".to_vec().into()));
    // The port is free again only when all of it is gone.
    tokio::task::spawn_blocking(|| server.shutdown_timeout(Duration::from_secs(5))).await.unwrap();

    let again = Identity::load(&file).unwrap();
    assert_eq!(again.hash(), identity.hash(), "clients need not learn a new hash");
    assert!(again.expires().is_some());
    let (server, _) = mortal(listen(address, again)).await;
    assert_eq!(end(&mut client).await, Closed::Restarted);
    let mut client = soon(connect_with(&url, &config)).await.unwrap();
    assert_eq!(next(&mut client).await, What::Message(b"welcome".to_vec().into()));
    server.shutdown_background();
    std::fs::remove_file(&file).unwrap();
}

/// A peer that dials and accepts on one socket.
async fn peer(identity: &Identity) -> (Endpoint, Listener) {
    let endpoint = Endpoint::bind(EndpointConfig::new(any_port())).unwrap();
    let listener = Listener::on(&endpoint, ListenConfig::new(any_port(), identity.clone())).await.unwrap();
    assert_eq!(listener.local_address(), endpoint.local_address());
    (endpoint, listener)
}

#[tokio::test]
async fn peers_dial_each_other_from_the_ports_on_which_they_accept() {
    let (ada, ben) = (identity(), identity());
    let (from_ada, to_ada) = peer(&ada).await;
    let (from_ben, to_ben) = peer(&ben).await;
    let (with_ada, with_ben) = (ConnectConfig::new(trust(&ada)), ConnectConfig::new(trust(&ben)));
    let (mut there, mut back, mut at_ada, mut at_ben) = soon(async {
        tokio::join!(
            async { from_ada.dial(to_ben.local_address(), "/peer?1", &with_ben).await.unwrap() },
            async { from_ben.dial(to_ada.local_address(), "peer?2", &with_ada).await.unwrap() },
            async { to_ada.accept().await.unwrap() },
            async { to_ben.accept().await.unwrap() },
        )
    })
    .await;
    assert_eq!((at_ada.path(), at_ben.path()), ("/peer?2", "/peer?1"));
    assert_eq!((at_ada.remote(), at_ben.remote()), (from_ben.local_address(), from_ada.local_address()));
    for (one, other) in [(&mut there, &mut at_ben), (&mut back, &mut at_ada)] {
        one.send_datagram(&[1]).unwrap();
        assert_eq!(next(other).await, What::Datagram(vec![1].into()));
        other.send_message(vec![2]).unwrap();
        assert_eq!(next(one).await, What::Message(vec![2].into()));
    }
    let stranger = from_ada.dial(to_ben.local_address(), "/", &with_ada).await;
    assert!(matches!(stranger, Err(Error::Untrusted(_))), "the hash is checked");
}

#[tokio::test]
async fn what_was_dialled_outlives_the_listener_on_the_same_socket() {
    let (ada, ben) = (identity(), identity());
    let (from_ada, to_ada) = peer(&ada).await;
    let (from_ben, to_ben) = peer(&ben).await;
    let (with_ada, with_ben) = (ConnectConfig::new(trust(&ada)), ConnectConfig::new(trust(&ben)));
    let url = format!("https://{}/", to_ben.local_address());
    let there = soon(from_ada.connect(&url, &with_ben)).await.unwrap();
    let mut at_ben = soon(to_ben.accept()).await.unwrap();
    let back = soon(from_ben.dial(to_ada.local_address(), "/", &with_ada)).await.unwrap();

    let again = Listener::on(&from_ada, ListenConfig::new(any_port(), ada.clone())).await;
    assert!(matches!(again, Err(Error::Setting(_))), "two cannot accept on one socket");
    let start = Instant::now();
    soon(to_ada.shutdown("no more guests")).await;
    assert!(start.elapsed() < Duration::from_millis(900), "it waits for what is not its own");
    assert_eq!(soon(back.closed()).await, Closed::Peer("no more guests".into()));
    drop(to_ada);
    there.send_datagram(&[1]).unwrap();
    assert_eq!(next(&mut at_ben).await, What::Datagram(vec![1].into()));

    let hasty = ConnectConfig { timeout: Duration::from_millis(300), ..with_ada.clone() };
    assert!(soon(from_ben.dial(from_ada.local_address(), "/", &hasty)).await.is_err(), "nobody accepts");
    let to_ada = Listener::on(&from_ada, ListenConfig::new(any_port(), ada.clone())).await.unwrap();
    soon(from_ben.dial(to_ada.local_address(), "/", &with_ada)).await.unwrap();
    let start = Instant::now();
    there.close("done");
    soon(there.closed()).await;
    assert!(start.elapsed() < Duration::from_millis(500), "it waits for the others on the socket");
}

/// Not a test: figures for whoever wants them. `cargo test --release --test transport -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, and proves nothing"]
async fn round_trips_and_rates() {
    let identity = identity();
    let listener = Listener::bind(settings(&identity)).await.unwrap();
    for carrier in BOTH {
        let (mut client, server) = pair(&listener, carrier, &ConnectConfig::new(trust(&identity))).await;
        let (sender, mut receiver) = server.split();
        let counter = sender.clone();
        tokio::spawn(async move {
            while let Some(arrived) = receiver.receive().await {
                if arrived.what.bytes().len() == 64 {
                    let _ = sender.send_datagram(arrived.what.bytes());
                }
            }
        });
        let mut trips = Vec::new();
        for _ in 0..5000 {
            let start = Instant::now();
            client.send_datagram(&[0; 64]).unwrap();
            next(&mut client).await;
            trips.push(start.elapsed());
        }
        trips.sort();
        let before = counter.statistics().datagrams_received;
        let sending = tokio::task::spawn_blocking(move || {
            let (start, mut sent) = (Instant::now(), 0u64);
            while start.elapsed() < Duration::from_secs(2) {
                match client.send_datagram(&[0; 200]) {
                    Ok(()) => sent += 1,
                    Err(_) => std::thread::sleep(Duration::from_micros(50)),
                }
            }
            (client, sent)
        });
        let (client, sent) = sending.await.unwrap();
        println!(
            "{carrier:?}: round trip {:?} median, {:?} at 99 %; datagrams of 200 bytes per second: {} sent, {} arrived",
            trips[2500],
            trips[4950],
            sent / 2,
            (counter.statistics().datagrams_received - before) / 2,
        );
        println!("the client's: {:?}\nthe server's: {:?}", client.statistics(), counter.statistics());
    }
}

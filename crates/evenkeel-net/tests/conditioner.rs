//! The transport on a network that is as bad as asked for.

#![allow(clippy::unwrap_used)]

use evenkeel_net::transport::{
    Arrived, Conditioner, Conditions, ConnectConfig, Connection, Endpoint, EndpointConfig, Error, Identity,
    ListenConfig, Listener, Receiver, Trust, What, connect_with,
};
use std::future::Future;
use std::time::{Duration, Instant};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn conditions(text: &str) -> Conditions {
    text.parse().unwrap()
}

/// A listener, and how to connect to it by way of a conditioner.
async fn server(conditioner: &Conditioner) -> (Listener, ConnectConfig, String) {
    let identity = Identity::self_made(["127.0.0.1"], DAY).unwrap();
    let trust = Trust::Hashes(vec![identity.hash()]);
    let listener = Listener::bind(ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity)).await.unwrap();
    let url = format!("https://{}/", listener.local_address());
    (listener, ConnectConfig { conditioner: Some(conditioner.clone()), ..ConnectConfig::new(trust) }, url)
}

/// Generous: a test that takes so long hangs.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it hangs")
}

async fn pair(conditioner: &Conditioner) -> (Listener, Connection, Connection) {
    let (listener, config, url) = server(conditioner).await;
    let (client, server) = soon(async { tokio::join!(connect_with(&url, &config), listener.accept()) }).await;
    (listener, client.unwrap(), server.unwrap())
}

async fn next(connection: &mut Connection) -> Arrived {
    soon(connection.receive()).await.expect("the connection is closed")
}

/// How long datagrams take from one end to the other, in order of length.
async fn delays(from: &Connection, to: &mut Connection, count: usize, every: Duration) -> Vec<Duration> {
    let mut delays = Vec::new();
    for _ in 0..count {
        let sent = Instant::now();
        from.send_datagram(&[7; 100]).unwrap();
        delays.push(next(to).await.at - sent);
        tokio::time::sleep(every).await;
    }
    delays.sort();
    delays
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_take_as_long_as_they_should() {
    let conditioner = Conditioner::new(1);
    let (_listener, client, mut server) = pair(&conditioner).await;
    let ideal = conditioner.statistics();
    assert!(ideal.passed > 5 && ideal.delayed == 0, "{ideal:?}");
    let mut client = client;
    conditioner.set_default(conditions("delay=50ms"), conditions("delay=20ms")).unwrap();
    // The way there, and the way back, each for itself and at run time.
    let there = delays(&client, &mut server, 20, ms(1)).await;
    assert!(there[0] >= ms(50) && there[10] < ms(55), "{there:?}");
    let back = delays(&server, &mut client, 20, ms(1)).await;
    assert!(back[0] >= ms(20) && back[10] < ms(25), "{back:?}");
    conditioner.set_default(Conditions::ideal(), Conditions::ideal()).unwrap();
    tokio::time::sleep(ms(60)).await;
    let before = conditioner.statistics();
    let ideal = delays(&client, &mut server, 20, ms(1)).await;
    assert!(ideal[10] < ms(5), "{ideal:?}");
    let after = conditioner.statistics();
    assert!(after.delayed == before.delayed && after.waiting == 0 && after.passed > before.passed, "{after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_remote_address_can_be_worse_than_the_others() {
    let conditioner = Conditioner::new(1);
    let identity = Identity::self_made(["127.0.0.1"], DAY).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let config = ListenConfig { conditioner: Some(conditioner.clone()), ..ListenConfig::new(any, identity.clone()) };
    let listener = Listener::bind(config).await.unwrap();
    let config = ConnectConfig::new(Trust::Hashes(vec![identity.hash()]));
    let mut ends = Vec::new();
    for _ in 0..2 {
        let endpoint = Endpoint::bind(EndpointConfig::new(any)).unwrap();
        let client = soon(endpoint.dial(listener.local_address(), "/", &config)).await.unwrap();
        ends.push((client, soon(listener.accept()).await.unwrap()));
    }
    let remote = ends[0].1.remote();
    conditioner.set(remote, conditions("delay=40ms"), conditions("delay=30ms")).unwrap();
    for (n, (client, server)) in ends.iter_mut().enumerate() {
        let up = delays(client, server, 5, ms(1)).await[2];
        let down = delays(server, client, 5, ms(1)).await[2];
        assert_eq!((up >= ms(30), down >= ms(40)), (n == 0, n == 0), "{n}: {up:?} up, {down:?} down");
    }
    conditioner.clear(remote);
    let (client, server) = &mut ends[0];
    assert!(delays(client, server, 5, ms(1)).await[2] < ms(20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_and_messages_meet_it_too_and_get_through() {
    let conditioner = Conditioner::new(3);
    let bad = conditions("delay=10ms,jitter=exp:5ms,loss=10%,duplicate=5%");
    conditioner.set_default(bad.clone(), bad).unwrap();
    let (_listener, client, mut server) = pair(&conditioner).await;
    for n in 0..100u8 {
        client.send_message(vec![n; 1000]).unwrap();
    }
    for n in 0..100u8 {
        assert_eq!(next(&mut server).await.what, What::Message(vec![n; 1000].into()));
    }
    let done = conditioner.statistics();
    assert!(done.lost > 3 && done.duplicated > 1 && done.given_up == 0, "{done:?}");
    assert!(client.statistics().lost_packets > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_reached_through_a_network_that_loses_everything() {
    let conditioner = Conditioner::new(4);
    conditioner.set_default(conditions("loss=100%"), Conditions::ideal()).unwrap();
    let (_listener, config, url) = server(&conditioner).await;
    let hasty = ConnectConfig { timeout: ms(500), ..config };
    assert!(matches!(soon(connect_with(&url, &hasty)).await, Err(Error::TimedOut)));
    assert!(conditioner.statistics().lost > 0);
    assert!(conditioner.set_default(Conditions::ideal().with_duplicate(2.0), Conditions::ideal()).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_packets_are_under_way_than_there_is_room_for() {
    let conditioner = Conditioner::new(5);
    conditioner.set_default(Conditions::ideal(), conditions("delay=60s")).unwrap();
    let config = EndpointConfig::new("127.0.0.1:0".parse().unwrap());
    let endpoint = Endpoint::bind(EndpointConfig { conditioner: Some(conditioner.clone()), ..config }).unwrap();
    let stranger = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let full = async {
        while conditioner.statistics().given_up == 0 {
            for _ in 0..64 {
                stranger.send_to(&[0; 64], endpoint.local_address()).await.unwrap();
            }
            tokio::time::sleep(ms(1)).await;
        }
    };
    soon(full).await;
    assert_eq!(conditioner.statistics().waiting, 32_768);
}

/// Everything runs on one thread, which is busy when the datagram comes out of the conditioner.
#[tokio::test]
async fn stamps_do_not_depend_on_when_somebody_has_time_to_read() {
    let conditioner = Conditioner::new(9);
    let (_listener, mut client, server) = pair(&conditioner).await;
    conditioner.set_default(Conditions::ideal(), conditions("delay=30ms")).unwrap();
    let sent = Instant::now();
    server.send_datagram(&[1; 100]).unwrap();
    soon(async {
        while conditioner.statistics().waiting == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // What waits may be an acknowledgement: the datagram follows at once.
    tokio::time::sleep(ms(10)).await;
    let busy_from = sent.elapsed();
    std::thread::sleep(ms(120));
    let arrived = next(&mut client).await;
    assert!(sent.elapsed() >= busy_from + ms(120));
    let stamp = arrived.at - sent;
    assert!(stamp >= ms(30) && stamp < busy_from + ms(40), "{stamp:?}, busy from {busy_from:?}");
}

/// The times after `start` at which datagrams that were sent after it arrive.
async fn flow(mut connection: Receiver, start: Instant, stamp: Instant) -> Vec<Duration> {
    let mut times = Vec::new();
    while let Some(arrived) = connection.receive().await {
        let What::Datagram(bytes) = arrived.what else { continue };
        let sent = stamp + Duration::from_micros(u64::from_le_bytes(bytes[..8].try_into().unwrap()));
        if sent >= start {
            times.push(arrived.at - start);
        }
    }
    times
}

/// Sends 20 datagrams of 200 bytes per second both ways, through five seconds of `trouble`, and gives the times after
/// its end at which what was sent after its end arrives.
async fn after(trouble: &str) -> [Vec<Duration>; 2] {
    let conditioner = Conditioner::new(7);
    conditioner.set_default(conditions("delay=25ms"), conditions("delay=25ms")).unwrap();
    let (_listener, client, server) = pair(&conditioner).await;
    let ((to_server, from_server), (to_client, from_client)) = (client.split(), server.split());
    let stamp = Instant::now();
    let sending = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(ms(50));
        while stamp.elapsed() < ms(8000) {
            ticks.tick().await;
            let mut bytes = [0; 200];
            bytes[..8].copy_from_slice(&(stamp.elapsed().as_micros() as u64).to_le_bytes());
            for sender in [&to_server, &to_client] {
                sender.send_datagram(&bytes).unwrap();
            }
        }
        to_server.close("done");
    });
    tokio::time::sleep(ms(1000)).await;
    conditioner.set_default(conditions(trouble), conditions(trouble)).unwrap();
    tokio::time::sleep(ms(5000)).await;
    conditioner.set_default(conditions("delay=25ms"), conditions("delay=25ms")).unwrap();
    let end = Instant::now();
    let flows = soon(async { tokio::join!(flow(from_server, end, stamp), flow(from_client, end, stamp)) }).await;
    soon(sending).await.unwrap();
    [flows.0, flows.1]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_flow_again_at_once_after_a_black_out_and_after_heavy_loss() {
    let troubles = tokio::join!(after("loss=100%"), after("delay=25ms,loss=30%"));
    for (trouble, flows) in [("black-out", troubles.0), ("loss", troubles.1)] {
        for times in flows {
            let first = times.first().copied().unwrap_or(Duration::MAX);
            println!("{trouble}: {first:?} until the first, {} in two seconds", times.len());
            assert!(first < ms(300), "{trouble}: the first comes after {first:?}");
            let early = times.iter().filter(|at| **at < ms(1000)).count();
            assert!(early >= 15, "{trouble}: only {early} in the first second");
        }
    }
}

/// Sends 200 messages, one every 5 ms, through heavy loss, and gives the share that came without delay. None is lost.
async fn share_in_time(send: fn(&Connection, Vec<u8>)) -> f64 {
    let conditioner = Conditioner::new(8);
    let (_listener, client, mut server) = pair(&conditioner).await;
    conditioner.set_default(conditions("delay=25ms,loss=20%"), conditions("delay=25ms")).unwrap();
    let start = Instant::now();
    let sending = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(ms(5));
        for n in 0..200u8 {
            ticks.tick().await;
            let at = start.elapsed().as_micros() as u64;
            send(&client, [&[n], &at.to_le_bytes()[..], &[0; 100]].concat());
        }
        client
    });
    let (mut seen, mut in_time) = ([false; 200], 0);
    for _ in 0..200 {
        let arrived = next(&mut server).await;
        let bytes = arrived.what.bytes();
        assert!(!std::mem::replace(&mut seen[usize::from(bytes[0])], true), "{} came twice", bytes[0]);
        let sent = start + Duration::from_micros(u64::from_le_bytes(bytes[1..9].try_into().unwrap()));
        in_time += u32::from(arrived.at - sent < ms(45));
    }
    drop(soon(sending).await.unwrap());
    f64::from(in_time) / 200.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_packet_holds_up_only_its_own_message() {
    let ordered = share_in_time(|client, bytes| client.send_message(bytes).unwrap()).await;
    let unordered = share_in_time(|client, bytes| client.send_unordered(bytes).unwrap()).await;
    println!("{ordered} of the ordered ones come in time, {unordered} of the others");
    assert!(unordered > 0.6, "{unordered}");
    assert!(ordered < 0.45, "{ordered}: the test shows nothing");
}

/// Not a test: figures for whoever wants them. `cargo test --test conditioner -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, and proves nothing"]
async fn how_precise_it_is() {
    let conditioner = Conditioner::new(6);
    let (_listener, client, mut server) = pair(&conditioner).await;
    let base = delays(&client, &mut server, 500, ms(2)).await;
    println!("ideal: {:?} median, {:?} at 99 %", base[250], base[495]);
    let (mut thread, mut timer) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let start = Instant::now();
        tokio::task::spawn_blocking(|| std::thread::sleep(ms(5))).await.unwrap();
        thread.push(start.elapsed().saturating_sub(ms(5)));
        let start = Instant::now();
        tokio::time::sleep(ms(5)).await;
        timer.push(start.elapsed().saturating_sub(ms(5)));
    }
    for (name, late) in [("a thread that sleeps", &mut thread), ("a timer of the runtime", &mut timer)] {
        late.sort();
        println!("{name}: {:?} late at least, {:?} median, {:?} at 99 %", late[0], late[250], late[495]);
    }
    for delay in [1, 5, 50, 100] {
        conditioner.set_default(conditions(&format!("delay={delay}ms")), Conditions::ideal()).unwrap();
        let found = delays(&client, &mut server, 500, ms(1)).await;
        let over = |n: usize| found[n].saturating_sub(ms(delay));
        println!("{delay} ms and {:?} more at least, {:?} median, {:?} at 99 %", over(0), over(250), over(495));
    }
}

//! Sessions on the local network, over real multicasts: on this machine's loopback, and between two machines where the system lets
//! us make some.

#![allow(clippy::unwrap_used)]

use evenkeel_net::discovery::{
    Announcement, Browser, DiscoveryError, Found, MAX_ANNOUNCED, Network, SERVICE, Sighting,
};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::protocol::{Filter, SessionInfo, Tags};
use evenkeel_net::transport::{Identity, ListenConfig};
use evenkeel_net::{Server, list_sessions};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long anything may take on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(20);
/// Which part of a test with two machines this process is.
const PART: &str = "EVENKEEL_DISCOVERY_PART";

/// This machine only, and a port that nobody else uses.
fn loopback() -> Network {
    let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    Network { interfaces: vec![Ipv4Addr::LOCALHOST.into()], port }
}

fn session(name: &str) -> SessionInfo {
    let tags = Tags::from([("map".to_owned(), "hills".to_owned())]);
    SessionInfo { name: name.into(), max_players: 8, tags, ..SessionInfo::default() }
}

/// Polls until something is seen.
fn until<T>(browser: &mut Browser, what: &str, mut seen: impl FnMut(Sighting) -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        while let Some(sighting) = browser.poll() {
            if let Some(seen) = seen(sighting) {
                return seen;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let trouble = browser.trouble().map(str::to_owned);
    panic!("never: {what} ({:?}; trouble: {trouble:?})", browser.found().collect::<Vec<_>>());
}

fn find(browser: &mut Browser, what: &str, mut wanted: impl FnMut(&Found) -> bool) -> Found {
    until(browser, what, |sighting| match sighting {
        Sighting::Found(found) if wanted(&found) => Some(*found),
        _ => None,
    })
}

fn miss(browser: &mut Browser, instance: &str) {
    until(browser, "it is gone", |sighting| match sighting {
        Sighting::Gone { instance: gone } => (gone == instance).then_some(()),
        Sighting::Found(_) => None,
    });
}

async fn server(address: Ipv4Addr, sessions: &[&str]) -> (Server, Identity) {
    let identity = Identity::self_made(["localhost"], Duration::from_secs(14 * 24 * 3600)).unwrap();
    let session = |name: &&str| HubConfig { session: (*name).to_owned(), ..HubConfig::default() };
    let listen = ListenConfig::new((address, 0).into(), identity.clone());
    (Server::start_many(listen, sessions.iter().map(session).collect()).await.unwrap(), identity)
}

#[test]
fn sessions_are_found_as_they_come_and_change_and_go() {
    let network = loopback();
    let mut browser = Browser::start_on(&network).unwrap();
    assert_eq!(browser.poll(), None);
    let (hills, plains) = (session("hills. and\\more"), session(&"plains".repeat(10)));
    let both = [hills.clone(), plains.clone()];
    let mut announcement = Announcement::start_on(network.clone(), &both, 4433, [7; 32]).unwrap();
    let (mut one, mut other) = (None, None);
    until(&mut browser, "both are found", |sighting| {
        let Sighting::Found(found) = sighting else { return None };
        assert_eq!((found.hash, found.url.as_str()), ([7; 32], "https://127.0.0.1:4433/"));
        let seen = if found.session.name == hills.name { &mut one } else { &mut other };
        *seen = Some(*found);
        (one.is_some() && other.is_some()).then_some(())
    });
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!((&one.session, &other.session), (&hills, &plains));
    // Whoever comes later finds them too.
    let mut late = Browser::start_on(&network).unwrap();
    find(&mut late, "the late one finds it as well", |found| *found == one);
    // A player comes to one of them.
    let fuller = SessionInfo { players: 1, ..hills };
    announcement.update(&[fuller.clone(), plains]).unwrap();
    let again = find(&mut browser, "a player is seen to come", |found| found.session == fuller);
    assert_eq!(again.instance, one.instance);
    // The other ends.
    announcement.update(std::slice::from_ref(&fuller)).unwrap();
    miss(&mut browser, &other.instance);
    assert_eq!(browser.found().len(), 1);
    // And then the server.
    drop(announcement);
    miss(&mut browser, &one.instance);
    assert_eq!(browser.found().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_found_can_be_connected_to_and_nobody_else_passes_for_it() {
    let network = loopback();
    let (server, identity) = server(Ipv4Addr::LOCALHOST, &["hills", "plains"]).await;
    let port = server.address().port();
    let announcement = Announcement::start_on(network.clone(), &server.sessions(), port, identity.hash()).unwrap();
    // Somebody else claims to be there as well.
    let liar = Announcement::start_on(network.clone(), &[session("lies")], port, [9; 32]).unwrap();
    let (found, lie) = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start_on(&network).unwrap();
        let (mut found, mut lie) = (None, None);
        until(&mut browser, "both are found", |sighting| {
            let Sighting::Found(seen) = sighting else { return None };
            let place = if seen.session.name == "lies" { &mut lie } else { &mut found };
            *place = Some(*seen);
            found.clone().zip(lie.clone())
        })
    })
    .await
    .unwrap();
    let listed = list_sessions(&found.url, found.trust(), Filter::default()).await.unwrap();
    assert!(listed.contains(&found.session) && listed.len() == 2);
    assert!(list_sessions(&lie.url, lie.trust(), Filter::default()).await.is_err());
    tokio::task::spawn_blocking(move || [announcement, liar].map(Announcement::withdraw)).await.unwrap();
}

#[test]
fn announcements_that_make_no_sense_are_overlooked() {
    let network = loopback();
    let stranger = mdns_sd::ServiceDaemon::new_with_port(network.port).unwrap();
    stranger.disable_interface(mdns_sd::IfKind::All).unwrap();
    stranger.enable_interface(network.interfaces.clone()).unwrap();
    let announce = |name: &str, properties: &[(&str, &str)]| {
        let info = mdns_sd::ServiceInfo::new(SERVICE, name, "stranger.local.", "127.0.0.1", 9, properties).unwrap();
        stranger.register(info).unwrap();
    };
    announce("nothing", &[]);
    announce("another version", &[("v", "77"), ("s", "x"), ("h", &"0".repeat(64))]);
    announce("half", &[("v", "1"), ("s", "half of it")]);
    // It is announced last, and found.
    let mut browser = Browser::start_on(&network).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let _announcement = Announcement::start_on(network, &[session("hills")], 4433, [7; 32]).unwrap();
    find(&mut browser, "what makes sense is found", |found| found.session.name == "hills");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(browser.poll(), None);
    assert_eq!(browser.found().len(), 1);
    stranger.shutdown().unwrap();
}

#[test]
fn too_much_is_not_announced() {
    let many: Vec<SessionInfo> = (0..=MAX_ANNOUNCED).map(|n| session(&n.to_string())).collect();
    let start = |sessions: &[SessionInfo]| Announcement::start_on(loopback(), sessions, 1, [0; 32]).err();
    assert_eq!(start(&many), Some(DiscoveryError::TooMany));
    assert!(matches!(start(&[session("")]), Some(DiscoveryError::Info(_))));
    assert_eq!(start(&[]), None);
}

/// Two machines on a network of their own, for as long as it lives.
struct Machines([String; 2]);

impl Machines {
    /// None where the system does not let us.
    fn make() -> Option<Self> {
        let run = |arguments: &str| {
            let output = Command::new("ip").args(arguments.split(' ')).output();
            output.is_ok_and(|output| output.status.success())
        };
        let name = |n: u8| format!("evk{n}-{}", std::process::id());
        let machines = Self([name(1), name(2)]);
        let [one, two] = &machines.0;
        let made = run(&format!("netns add {one}"))
            && run(&format!("netns add {two}"))
            && run(&format!("-n {one} link add wire type veth peer name wire netns {two}"))
            && (1u8..).zip(&machines.0).all(|(n, machine)| {
                run(&format!("-n {machine} link set lo up"))
                    && run(&format!("-n {machine} address add 10.77.0.{n}/24 dev wire"))
                    && run(&format!("-n {machine} link set wire up"))
            });
        made.then_some(machines)
    }

    /// Runs one of the ignored tests below there.
    fn start(&self, machine: usize, part: &str) -> Child {
        let this = std::env::current_exe().unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0[machine]]).arg(this);
        command.args(["--ignored", "--exact", part, "--nocapture"]).env(PART, part).spawn().unwrap()
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for machine in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", machine]).output();
        }
    }
}

#[test]
fn two_machines_find_each_other_on_the_usual_port() {
    let Some(machines) = Machines::make() else {
        // The other tests send real multicasts all the same.
        return eprintln!("no network namespaces here: only the loopback is tested");
    };
    let mut finder = machines.start(1, "the_machine_that_looks");
    let mut server = machines.start(0, "the_machine_that_serves");
    let found = finder.wait().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(found.success());
}

fn is_part(part: &str) -> bool {
    std::env::var(PART).is_ok_and(|is| is == part)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of two_machines_find_each_other_on_the_usual_port, which starts it"]
async fn the_machine_that_serves() {
    if !is_part("the_machine_that_serves") {
        return;
    }
    let (server, identity) = server(Ipv4Addr::UNSPECIFIED, &["hills"]).await;
    let port = server.address().port();
    let announcement = Announcement::start(&server.sessions(), port, identity.hash()).unwrap();
    tokio::time::sleep(Duration::from_secs(8)).await;
    tokio::task::spawn_blocking(|| announcement.withdraw()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
}

#[test]
#[ignore = "a part of two_machines_find_each_other_on_the_usual_port, which starts it"]
fn the_machine_that_looks() {
    if !is_part("the_machine_that_looks") {
        return;
    }
    let mut browser = Browser::start().unwrap();
    let found = find(&mut browser, "the other machine is found", |found| found.session.name == "hills");
    assert!(found.url.starts_with("https://10.77.0.1:"), "{}", found.url);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listed = runtime.block_on(list_sessions(&found.url, found.trust(), Filter::default())).unwrap();
    assert_eq!(listed, [found.session]);
    miss(&mut browser, &found.instance);
}

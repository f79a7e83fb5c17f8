//! Hosts with networks of their own: namespaces of this machine, joined by a bridge. Where there are none, on its loopback.

use crate::arena::{WITHIN, identity, ms};
use crate::child::{Process, hex};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Namespaces of hosts, and one more that is the switch between them. They go when this is dropped.
struct Lan {
    name: String,
    hosts: usize,
    /// Those behind a host that routes for them.
    homes: Vec<String>,
}

fn run(command: &str) -> bool {
    let mut words = command.split(' ');
    let mut command = Command::new(words.next().unwrap());
    let quiet = command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

impl Lan {
    fn new(letter: char, hosts: usize) -> Option<Self> {
        let lan = Self { name: format!("ek{}{letter}", std::process::id()), hosts, homes: Vec::new() };
        let switch = lan.switch();
        let mut commands = vec![
            format!("ip netns add {switch}"),
            format!("ip -n {switch} link add bridge type bridge"),
            format!("ip -n {switch} link set bridge up"),
        ];
        for host in 0..hosts {
            let namespace = lan.host(host);
            commands.push(format!("ip netns add {namespace}"));
            commands.push(format!("ip -n {switch} link add port{host} type veth peer name eth netns {namespace}"));
            commands.push(format!("ip -n {switch} link set port{host} master bridge up"));
            commands.push(format!("ip -n {namespace} addr add {}/24 dev eth", lan.address(host)));
            commands.push(format!("ip -n {namespace} link set lo up"));
            commands.push(format!("ip -n {namespace} link set eth up"));
        }
        commands.iter().all(|command| run(command)).then_some(lan)
    }

    fn switch(&self) -> String {
        format!("{}s", self.name)
    }

    fn host(&self, host: usize) -> String {
        format!("{}h{host}", self.name)
    }

    fn address(&self, host: usize) -> String {
        format!("10.77.0.{}", host + 1)
    }

    /// Puts another host behind one, which is to be its router.
    fn home(&mut self, router: usize) -> Option<String> {
        let (router, home) = (self.host(router), format!("{}b", self.host(router)));
        self.homes.push(home.clone());
        let commands = [
            format!("ip netns add {home}"),
            format!("ip -n {router} link add inside type veth peer name eth netns {home}"),
            format!("ip -n {router} addr add 192.168.7.1/24 dev inside"),
            format!("ip -n {router} link set inside up"),
            format!("ip -n {home} addr add 192.168.7.2/24 dev eth"),
            format!("ip -n {home} link set eth up"),
            format!("ip -n {home} route add default via 192.168.7.1"),
        ];
        commands.iter().all(|command| run(command)).then_some(home)
    }

    /// Pulls a host's cable, or plugs it in again.
    fn plug(&self, host: usize, plugged: bool) {
        let state = if plugged { "up" } else { "down" };
        assert!(run(&format!("ip -n {} link set port{host} {state}", self.switch())));
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        for host in 0..self.hosts {
            run(&format!("ip netns del {}", self.host(host)));
        }
        for home in &self.homes {
            run(&format!("ip netns del {home}"));
        }
        run(&format!("ip netns del {}", self.switch()));
    }
}

struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// When all players saw all others exactly, and said so for a while.
async fn all_exact(players: &[Process], expected: &str, since: Instant) -> Duration {
    let mut good: Vec<Option<Instant>> = vec![None; players.len()];
    loop {
        for (player, good) in players.iter().zip(&mut good) {
            for (at, line) in player.said().into_iter().filter(|(at, _)| *at > since) {
                *good = if line.starts_with(expected) { good.or(Some(at)) } else { None };
            }
        }
        let latest = good.iter().copied().collect::<Option<Vec<Instant>>>().and_then(|all| all.into_iter().max());
        if let Some(latest) = latest.filter(|latest| latest.elapsed() > ms(300)) {
            return latest.duration_since(since);
        }
        assert!(since.elapsed() < Duration::from_secs(20), "not exact: {good:?}");
        tokio::time::sleep(ms(10)).await;
    }
}

pub async fn client_server_and_peers_are_hosts_of_their_own() -> String {
    let lan = Lan::new('a', 3);
    let at = |host: usize| lan.as_ref().map_or("127.0.0.1".into(), |lan| lan.address(host));
    let start = |host: usize, role: String| match &lan {
        Some(lan) => Process::start_in(&lan.host(host), &role),
        None => Process::start(&role),
    };
    let identity = identity();
    let file = File(std::env::temp_dir().join(format!("evenkeel-faults-lan-{}", std::process::id())));
    identity.save(&file.0).unwrap();
    let server = start(0, format!("server {}:0 {} hybrid", at(0), file.0.display()));
    let address = server.says("ready").await.replace("ready ", "");
    let (url, hash) = (format!("https://{address}/"), hex(identity.hash()));
    let players = [
        start(1, format!("client {url} {hash} 1")),
        start(2, format!("peer {url} {hash} 2 {}:0", at(2))),
        start(0, format!("peer {url} {hash} 3 {}:0", at(0))),
    ];
    let first = all_exact(&players, "exact 2", Instant::now()).await;
    for peer in &players[1..] {
        peer.says("exact 2 linked 1").await;
    }
    let Some(lan) = &lan else {
        return format!("no namespaces can be made here: on loopback, exact after {} ms", first.as_millis());
    };
    // The peer's cable is pulled for longer than direct connections last.
    lan.plug(2, false);
    tokio::time::sleep(ms(5_000)).await;
    lan.plug(2, true);
    let took = all_exact(&players, "exact 2", Instant::now()).await;
    assert!(took <= WITHIN, "exact only after {took:?}");
    format!("three namespaces; a cable pulled for 5 s: exact after {} ms", took.as_millis())
}

/// Two networks as they are at home, each behind a router; none if this machine cannot have such.
async fn two_homes() -> Result<(Lan, [String; 2], [Process; 2]), String> {
    let mut lan = Lan::new('b', 3).ok_or("no namespaces can be made here")?;
    let homes = [1, 2].map(|router| lan.home(router).ok_or("no namespaces can be made here"));
    let routers = [1, 2].map(|router| Process::start_in(&lan.host(router), "router"));
    for router in &routers {
        let said = router.says("").await;
        if said != "ready" {
            return Err(format!("this kernel does not masquerade ({said})"));
        }
    }
    let [one, other] = homes;
    Ok((lan, [one?, other?], routers))
}

pub async fn peers_behind_routers_that_hide_them_open_directly() -> String {
    let (lan, homes, _routers) = match two_homes().await {
        Ok(homes) => homes,
        Err(why) => return format!("not tested: {why}"),
    };
    let identity = identity();
    let file = File(std::env::temp_dir().join(format!("evenkeel-faults-homes-{}", std::process::id())));
    identity.save(&file.0).unwrap();
    let role = format!("server {}:0 {} peer-to-peer", lan.address(0), file.0.display());
    let server = Process::start_in(&lan.host(0), &role);
    let address = server.says("ready").await.replace("ready ", "");
    let peer = |namespace: &str, number: u8, at: &str| {
        let role = format!("peer https://{address}/ {} {number} {at}:0", hex(identity.hash()));
        Process::start_in(namespace, &role)
    };
    let players =
        [peer(&homes[0], 1, "0.0.0.0"), peer(&homes[1], 2, "0.0.0.0"), peer(&lan.host(0), 3, &lan.address(0))];
    let start = Instant::now();
    // Everybody sees both others, and has a direct connection to both.
    let took = all_exact(&players, "exact 2 linked 2", start).await;
    server.said();
    tokio::time::sleep(ms(1_000)).await;
    let counts: Vec<String> = server.said().into_iter().map(|(_, line)| line).collect();
    assert!(counts.is_empty(), "the server still hears of it: {counts:?}");
    format!("two routers that masquerade: open directly and exact after {} ms", took.as_millis())
}

//! A match, from the first program to the last.

use super::Match;
use crate::bzflag::findings::{Findings, Game};
use crate::bzflag::relay::HANDSHAKE;
use crate::serve::signals::{Asked, Signals};
use anyhow::{Context, Result};
use evenkeel::Duration;
use evenkeel_bzflag::testbed::{Bed, ClientOptions, ServerOptions, Tools, own_cpu_seconds};
use evenkeel_bzflag::{RelayConfig, Service, ServiceConfig, Summary};
use evenkeel_link::Conditions;
use indicatif::{ProgressBar, ProgressStyle};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Instant;

/// Until delays are known, what clients draw says little.
const SETTLING: std::time::Duration = std::time::Duration::from_secs(6);

/// Plays it. Whatever happens, nothing of what was started is left: the bed ends with this.
pub(super) async fn play(planned: &Match, tools: Tools, folder: &Path) -> Result<Findings> {
    let mut signals = Signals::new()?;
    let bar = bar(planned.seconds);
    bar.set_message("starting the server");
    let mut bed = Bed::new(tools, folder)?;
    let server = bed.server(&ServerOptions { dense: planned.dense, ..ServerOptions::default() })?;
    bed.watch(server)?;
    let service = Service::start(config(planned, server)).await.context("the relay does not start")?;
    for (name, _) in &planned.clients {
        let options = ClientOptions { robots: planned.robots, ..ClientOptions::new(name, service.local_addr()) };
        bed.client(&options)?;
    }
    let (begin, own, others) = (Instant::now(), own_cpu_seconds(), bed.cpu_seconds());
    let mut tick = tokio::time::interval(std::time::Duration::from_secs(1));
    for _ in 0..=planned.seconds {
        tokio::select! {
            asked = signals.asked() => if matches!(asked, Asked::Stop(_)) { break },
            _ = tick.tick() => {}
        }
        bed.check()?;
        bar.set_position(begin.elapsed().as_secs());
        bar.set_message(state(&service.summary().await));
    }
    bar.finish_and_clear();
    let seconds = begin.elapsed().as_secs_f64();
    let mut cpu: Vec<_> = (bed.cpu_seconds().into_iter().zip(others))
        .map(|((who, now), (_, then))| (who, (now - then) / seconds))
        .collect();
    cpu.insert(1, ("relay".into(), (own_cpu_seconds() - own) / seconds));
    let (tallies, trouble, drawn) = (bed.tallies()?, trouble(&bed, planned)?, bed.drawn(SETTLING));
    let summary = in_order(service.stop().await, planned);
    bed.stop();
    let game = Game { delays_ms: planned.clients.clone(), tallies, drawn, cpu, trouble };
    let title = "BZFlag, played and measured".into();
    Ok(Findings { title, summary, seconds, settings: Vec::new(), game: Some(game) })
}

/// Clients and deciders in the order of the plan, not in that in which they happened to come or the live one first.
fn in_order(mut summary: Summary, planned: &Match) -> Summary {
    let place = |name: &str| planned.clients.iter().position(|(client, _)| client == name);
    summary.deciders.iter_mut().for_each(|decider| decider.clients.sort_by_key(|client| place(&client.name)));
    summary.round_trips_ms.sort_by_key(|(name, _)| place(name));
    summary.shots.sort_by_key(|shots| place(&shots.client));
    let asked = |name: &str| planned.shown.iter().position(|shown| shown == name);
    summary.deciders.sort_by_key(|decider| asked(&decider.name));
    summary
}

fn bar(seconds: u32) -> ProgressBar {
    let bar = ProgressBar::new(seconds.into());
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} s  {msg}") {
        bar.set_style(style);
    }
    bar
}

fn state(summary: &Summary) -> String {
    let known = summary.deciders.iter().filter(|decider| decider.max_m > 0.0);
    known.map(|decider| format!("{} {:.2} m", decider.name, decider.mean_m)).collect::<Vec<_>>().join(", ")
}

fn config(planned: &Match, server: SocketAddr) -> ServiceConfig {
    let delayed = planned.clients.iter().filter(|(_, ms)| *ms > 0.0);
    let conditions = delayed.map(|(name, ms)| (name.clone(), Conditions::delay(Duration::from_secs_f64(ms / 1e3))));
    ServiceConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        server,
        conditions: conditions.collect(),
        most_clients: 64,
        handshake: HANDSHAKE,
        relay: RelayConfig { deciders: planned.deciders.clone(), seed: planned.seed, ..RelayConfig::default() },
    }
}

/// Lines of logs that there should be none of: that the server removed a player, and that a client missed somebody.
fn trouble(bed: &Bed, planned: &Match) -> Result<Vec<String>> {
    let said = |who: &str| -> Result<String> {
        let log = bed.log(who).with_context(|| format!("{who} has no log"))?;
        let bytes = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut found: Vec<String> = said("server")?.lines().filter(|line| is_removal(line)).map(String::from).collect();
    for (name, _) in &planned.clients {
        let lines = said(name)?;
        let missed = lines.lines().filter(|line| line.contains("not responding"));
        found.extend(missed.map(|line| format!("{name} saw: {line}")));
    }
    Ok(found)
}

/// Whether the server says that somebody with a name was removed: whoever has none only asked whether it is there.
fn is_removal(line: &str) -> bool {
    let player = line.split_once("Player ").map(|(_, rest)| rest);
    player.is_some_and(|rest| !rest.starts_with([' ', '[']) && rest.contains("] removed at "))
        || line.contains("kicked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_players_with_names_are_missed() {
        assert!(is_removal(
            "2026-01-02 03:04:05: Player Ada [1] removed at 2026-01-02 03:04:05: Player not responding"
        ));
        assert!(!is_removal("2026-01-02 03:04:05: Player  [0] removed at 2026-01-02 03:04:05: Disconnected"));
        assert!(!is_removal("2026-01-02 03:04:05: Player Ada [1] has joined from 127.0.0.1"));
    }
}

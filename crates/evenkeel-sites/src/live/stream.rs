//! The same as lines of JSON: one event each, and one for each advice.
//!
//! Every line has its time in seconds, `at_s`, which never goes back, and one event:
//!
//! ```json
//! {"at_s": 0, "servers": ["Frankfurt"]}
//! {"at_s": 12.5, "join": "Ada", "weight": 1, "rtt_ms": {"Frankfurt": 20.1, "Tokyo": 240}}
//! {"at_s": 13, "player": "Ada", "rtt_ms": {"Frankfurt": 25, "Tokyo": null}}
//! {"at_s": 14, "between_ms": 225, "sites": ["Frankfurt", "Tokyo"]}
//! {"at_s": 15, "leave": "Ada"}
//! {"at_s": 16, "accept": true}
//! ```
//!
//! Who joins cannot reach the sites that are not mentioned. Later measurements change those that are; `null` means that there is
//! no way any more. A line with nothing but its time asks whether there is advice.

use std::{collections::HashMap, fmt, time::Duration};

use serde_json::{Map, Value, json};

use super::{Change, Keeper, KeeperError, Settings};
use crate::{Request, Site};

/// The longest line, in bytes.
const LONGEST: usize = 1 << 20;

/// Reads events and writes advice.
///
/// ```
/// use evenkeel_sites::{Request, Site, live::{Settings, stream::Watch}};
///
/// let sites = ["Frankfurt", "Tokyo"].map(Site::new).to_vec();
/// let mut watch = Watch::new(sites, vec![0.0, 225.0, 225.0, 0.0], Request::default(), Settings::default())?;
/// let advice = watch.line(r#"{"at_s": 1, "join": "Ada", "rtt_ms": {"Frankfurt": 20, "Tokyo": 240}}"#)?;
/// assert!(advice.is_some_and(|line| line.contains(r#""start":["Frankfurt"]"#)));
/// assert!(watch.line(r#"{"at_s": 2, "leave": "Bo"}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    keeper: Keeper,
    sites: HashMap<String, usize>,
    now: Duration,
    lines: u64,
    asks: bool,
    asked: Option<Change>,
}

impl Watch {
    /// Nobody plays yet. What is advised counts as done at once.
    pub fn new(sites: Vec<Site>, between: Vec<f32>, request: Request, settings: Settings) -> Result<Self, WatchError> {
        let mut names = HashMap::new();
        for (s, site) in sites.iter().enumerate() {
            if names.insert(site.name.clone(), s).is_some() {
                return Err(WatchError { line: 0, why: format!("two sites are called {}", site.name) });
            }
        }
        let keeper =
            Keeper::new(sites, between, request, settings).map_err(|e| WatchError { line: 0, why: e.to_string() })?;
        Ok(Self { keeper, sites: names, now: Duration::ZERO, lines: 0, asks: false, asked: None })
    }

    /// What is advised is not done until a line accepts it. Until that or a refusal, nothing else is advised.
    pub fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    /// Who plays and what runs.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Reads one line, and returns the advice if there is any. An empty line is nothing. What fails has changed nothing.
    pub fn line(&mut self, line: &str) -> Result<Option<String>, WatchError> {
        self.lines += 1;
        let advice = if line.trim().is_empty() { Ok(None) } else { self.event(line) };
        advice.map_err(|why| WatchError { line: self.lines, why })
    }

    fn event(&mut self, line: &str) -> Result<Option<String>, String> {
        if line.len() > LONGEST {
            return Err(format!("{} bytes are too long for a line", line.len()));
        }
        let event: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let at = event.get("at_s").and_then(Value::as_f64).ok_or("there is no time at_s")?;
        let at = Duration::try_from_secs_f64(at).map_err(|_| format!("at_s cannot be {at}"))?;
        if at < self.now {
            return Err(format!("time goes back from {} s to {} s", self.now.as_secs_f64(), at.as_secs_f64()));
        }
        self.apply(&event, at)?;
        self.now = at;
        Ok(self.advice(at))
    }

    /// Once an event has been applied, nothing can fail any more.
    fn advice(&mut self, at: Duration) -> Option<String> {
        if self.asked.is_some() {
            return None;
        }
        let change = self.keeper.advise(at)?;
        let line = self.written(&change, at);
        if self.asks {
            self.asked = Some(change);
        } else {
            self.keeper.follow(change.lags_after.iter().map(|(site, _)| *site).collect(), at);
        }
        Some(line)
    }

    fn apply(&mut self, event: &Map<String, Value>, at: Duration) -> Result<(), String> {
        let allowed: &[&str] = match () {
            () if event.contains_key("join") => &["join", "weight", "rtt_ms"],
            () if event.contains_key("leave") => &["leave"],
            () if event.contains_key("player") => &["player", "rtt_ms"],
            () if event.contains_key("between_ms") => &["between_ms", "sites"],
            () if event.contains_key("servers") => &["servers"],
            () if event.contains_key("accept") => &["accept"],
            () => &[],
        };
        if let Some(other) = event.keys().find(|key| *key != "at_s" && !allowed.contains(&key.as_str())) {
            return Err(format!("{other} does not belong here"));
        }
        match allowed.first().copied() {
            Some("join") => self.join(event),
            Some("leave") => self.keeper.leave(text(event, "leave")?).map_err(said),
            Some("player") => self.measured(event),
            Some("between_ms") => self.between(event),
            Some("servers") => {
                let servers = self.named(event, "servers")?;
                self.keeper.run(&servers).map_err(said)?;
                self.asked = None;
                Ok(())
            }
            Some(_) => self.answered(event, at),
            None => Ok(()),
        }
    }

    fn join(&mut self, event: &Map<String, Value>) -> Result<(), String> {
        let weight = event.get("weight").map_or(Some(1.0), Value::as_f64).ok_or("weight must be a number")?;
        let mut row = vec![f32::INFINITY; self.sites.len()];
        self.fill(&mut row, event)?;
        self.keeper.join(text(event, "join")?, weight, &row).map_err(said)
    }

    fn measured(&mut self, event: &Map<String, Value>) -> Result<(), String> {
        let name = text(event, "player")?;
        let mut row = self.keeper.row(name).map_err(said)?.to_vec();
        self.fill(&mut row, event)?;
        self.keeper.measured(name, &row).map_err(said)
    }

    fn fill(&self, row: &mut [f32], event: &Map<String, Value>) -> Result<(), String> {
        let times = event.get("rtt_ms").and_then(Value::as_object).ok_or("rtt_ms must name sites and times")?;
        for (site, ms) in times {
            row[self.site(site)?] = milliseconds(ms).ok_or_else(|| format!("rtt_ms of {site} cannot be {ms}"))?;
        }
        Ok(())
    }

    fn between(&mut self, event: &Map<String, Value>) -> Result<(), String> {
        let ms = milliseconds(&event["between_ms"]).ok_or("between_ms must be a number or null")?;
        match self.named(event, "sites")?[..] {
            [one, other] => self.keeper.measured_between(one, other, ms).map_err(said),
            _ => Err("sites must be two".to_owned()),
        }
    }

    fn answered(&mut self, event: &Map<String, Value>, at: Duration) -> Result<(), String> {
        let accept = event["accept"].as_bool().ok_or("accept must be true or false")?;
        let change = self.asked.take().ok_or("nothing was asked")?;
        if !accept {
            self.keeper.decline(at);
            return Ok(());
        }
        self.keeper.accept(&change, at).map_err(|error| {
            self.asked = Some(change);
            said(error)
        })
    }

    fn site(&self, name: &str) -> Result<usize, String> {
        self.sites.get(name).copied().ok_or_else(|| format!("there is no site {name}"))
    }

    fn named(&self, event: &Map<String, Value>, key: &str) -> Result<Vec<usize>, String> {
        let names = event.get(key).and_then(Value::as_array).ok_or_else(|| format!("{key} must be names of sites"))?;
        let name =
            |value: &Value| value.as_str().ok_or_else(|| format!("{key} must be names of sites")).map(str::to_owned);
        names.iter().map(|value| self.site(&name(value)?)).collect()
    }

    fn written(&self, change: &Change, at: Duration) -> String {
        let sites = self.keeper.problem().sites();
        let name = |s: usize| sites[s].name.as_str();
        let names = |all: &[usize]| all.iter().map(|&s| name(s)).collect::<Vec<_>>();
        let lags = |all: &[(usize, f64)]| {
            all.iter().map(|(s, ms)| (name(*s).to_owned(), json!(ms))).collect::<Map<String, Value>>()
        };
        let moves = change.moves.iter();
        let moves = moves.map(|m| json!({"player": m.player, "from": m.from.map(name), "to": m.to.map(name)}));
        json!({
            "at_s": at.as_secs_f64(),
            "start": names(&change.start),
            "stop": names(&change.stop),
            "moves": moves.collect::<Vec<_>>(),
            "moved_share": change.moved,
            "trouble": change.trouble.map(|trouble| trouble.to_string()),
            "before_ms": change.before,
            "after_ms": change.after,
            "gain_ms": change.gain_ms,
            "gain_percent": change.gain_percent,
            "cost_ms": change.cost_ms,
            "lag_before_ms": lags(&change.lags_before),
            "lag_after_ms": lags(&change.lags_after),
        })
        .to_string()
    }
}

fn said(error: KeeperError) -> String {
    error.to_string()
}

fn text<'a>(event: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    event.get(key).and_then(Value::as_str).ok_or_else(|| format!("{key} must be a name"))
}

/// A time, or none at all.
fn milliseconds(value: &Value) -> Option<f32> {
    if value.is_null() { Some(f32::INFINITY) } else { value.as_f64().map(|ms| ms as f32) }
}

/// What is wrong with a line; line 0 is what was given at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchError {
    /// Which line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str(&self.why) } else { write!(f, "line {}: {}", self.line, self.why) }
    }
}

impl std::error::Error for WatchError {}

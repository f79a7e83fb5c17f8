//! Who has sent which message, and whether it has arrived: every one must, once, and those in order in theirs.

use evenkeel_net::levels::Level;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// What is on its way, and what became of the rest. A message is named by its sender, its level and a number.
#[derive(Default)]
pub(super) struct Ledger {
    next: HashMap<(usize, Kind), u32>,
    under_way: HashMap<Name, (usize, Instant)>,
    /// The last that came in order, by sender and receiver.
    last: HashMap<(usize, usize), u32>,
    /// When the first was sent.
    began: Option<Instant>,
    /// In which second since then each arrived, and how long it took.
    took: Vec<(u32, Duration)>,
    pub(super) sent: u64,
    pub(super) to_server: u64,
    pub(super) twice: u64,
    pub(super) out_of_order: u64,
    pub(super) refused: u64,
}

type Name = (usize, Kind, u32);

/// The levels at which what is sent must arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Ordered,
    Unordered,
}

impl Kind {
    pub(super) fn level(self) -> Level {
        match self {
            Self::Ordered => Level::Ordered,
            Self::Unordered => Level::Unordered,
        }
    }
}

/// So many times are kept at most, to know how long messages take.
const MOST_TIMES: usize = 4_000_000;

impl Ledger {
    /// The next message of a player: its bytes.
    pub(super) fn write(&mut self, from: usize, kind: Kind) -> Vec<u8> {
        let number = self.next.entry((from, kind)).or_default();
        *number += 1;
        let mut bytes = vec![u8::from(kind == Kind::Unordered)];
        bytes.extend_from_slice(&(from as u32).to_le_bytes());
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes
    }

    /// It was sent to another player.
    pub(super) fn sent(&mut self, bytes: &[u8], to: usize, now: Instant) {
        self.sent += 1;
        self.began.get_or_insert(now);
        if let Some(name) = read(bytes) {
            self.under_way.insert(name, (to, now));
        }
    }

    /// It was sent to the server, which counts what it gets.
    pub(super) fn sent_to_server(&mut self) {
        self.sent += 1;
        self.to_server += 1;
    }

    /// A message came.
    pub(super) fn arrived(&mut self, bytes: &[u8], at: usize, now: Instant) {
        let Some(name) = read(bytes) else { return };
        match self.under_way.remove(&name) {
            Some((to, sent)) if to == at => {
                if self.took.len() < MOST_TIMES {
                    let second = self.began.map_or(0, |began| now.duration_since(began).as_secs() as u32);
                    self.took.push((second, now.duration_since(sent)));
                }
            }
            _ => self.twice += 1,
        }
        if let (from, Kind::Ordered, number) = name {
            let before = self.last.insert((from, at), number).unwrap_or(0);
            self.out_of_order += u64::from(before >= number);
        }
    }

    /// Messages to players that have not arrived.
    pub(super) fn missing(&self) -> usize {
        self.under_way.len()
    }

    /// How long messages between players took: half of them no longer than the first, 99 of 100 no longer than the second.
    pub(super) fn times(&self) -> [Duration; 2] {
        quantiles(self.took.iter().map(|(_, took)| *took).collect())
    }

    /// The same for those that arrived within each second.
    pub(super) fn times_by_second(&self) -> Vec<Second> {
        let mut seconds: BTreeMap<u32, Vec<Duration>> = BTreeMap::new();
        self.took.iter().for_each(|(second, took)| seconds.entry(*second).or_default().push(*took));
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        let summed_up = |(second, took): (u32, Vec<Duration>)| {
            let messages = took.len();
            let [half, most] = quantiles(took);
            Second { second, messages, p50_ms: ms(half), p99_ms: ms(most) }
        };
        seconds.into_iter().map(summed_up).collect()
    }
}

/// How long those messages took that arrived within one second.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Second {
    pub(super) second: u32,
    pub(super) messages: usize,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

fn quantiles(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort_unstable();
    [50, 99].map(|percent| times.get(times.len() * percent / 100).copied().unwrap_or_default())
}

fn read(bytes: &[u8]) -> Option<Name> {
    let (kind, rest) = bytes.split_first()?;
    let (from, number) = rest.split_first_chunk::<4>()?;
    let kind = if *kind == 1 { Kind::Unordered } else { Kind::Ordered };
    Some((u32::from_le_bytes(*from) as usize, kind, u32::from_le_bytes(number.try_into().ok()?)))
}

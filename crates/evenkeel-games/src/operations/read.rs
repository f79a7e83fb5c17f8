//! Text to recordings. Whatever the bytes are, the answer is a recording that can be played, or what is wrong in which line.

use super::write::{COLUMNS, MAGIC};
use super::{MAX_BYTES, Order, ParseError, Recording, Setup, check_setup};
use crate::game::Game;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;
use evenkeel::{GlobalTime, HostId, Operation};

/// So much of a text is repeated in an error.
const SHOWN: usize = 40;

type Lines<'a> = core::iter::Enumerate<core::str::Lines<'a>>;

impl<G: Game> Recording<G> {
    /// Reads a recording of this game.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut lines = lines_of(bytes)?;
        let header = Header::read(&mut lines)?;
        let setup = header.setup::<G>()?;
        check_setup::<G>(&setup).map_err(|error| at(header.columns, error.to_string()))?;
        let mut order = Order::new(setup.players);
        let mut operations = Vec::new();
        for (n, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let operation = row::<G>(line).map_err(|problem| at(n + 1, problem))?;
            order.check(&operation).map_err(|error| at(n + 1, error.to_string()))?;
            operations.push(operation);
        }
        Ok(Self { setup, operations })
    }
}

/// The name of the game that a recording is of: which [`Recording`] to parse it as.
pub fn game_of(bytes: &[u8]) -> Result<&str, ParseError> {
    let header = Header::read(&mut lines_of(bytes)?)?;
    header.value("game").map(|(_, name)| name)
}

fn at(line: usize, problem: impl Into<String>) -> ParseError {
    ParseError { line, problem: problem.into() }
}

/// The beginning of a text, for an error.
fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push_str("...");
    }
    start
}

fn lines_of(bytes: &[u8]) -> Result<Lines<'_>, ParseError> {
    if bytes.len() > MAX_BYTES {
        return Err(at(1, format!("a recording has at most {MAX_BYTES} bytes, not {}", bytes.len())));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        at(line, "there are bytes that are not text (UTF-8)")
    })?;
    Ok(text.lines().enumerate())
}

/// What stands above the rows.
struct Header<'a> {
    /// Line, name, value.
    fields: Vec<(usize, &'a str, &'a str)>,
    /// The line with the names of the columns.
    columns: usize,
}

impl<'a> Header<'a> {
    fn read(lines: &mut Lines<'a>) -> Result<Self, ParseError> {
        match lines.next() {
            Some((_, MAGIC)) => {}
            Some((_, line)) => return Err(at(1, format!("expected `{MAGIC}`, found `{}`", shown(line)))),
            None => return Err(at(1, "the recording is empty")),
        }
        let mut fields: Vec<(usize, &str, &str)> = Vec::new();
        for (n, line) in lines {
            let line_number = n + 1;
            if line == COLUMNS {
                return Ok(Self { fields, columns: line_number });
            }
            let field = line.strip_prefix("# ").and_then(|field| field.split_once(": "));
            let Some((name, value)) = field else {
                let expected = format!("expected `# name: value` or `{COLUMNS}`, found `{}`", shown(line));
                return Err(at(line_number, expected));
            };
            if fields.iter().any(|(_, before, _)| *before == name) {
                return Err(at(line_number, format!("`{}` is said twice", shown(name))));
            }
            fields.push((line_number, name, value));
            if fields.len() > 64 {
                return Err(at(line_number, "there is too much above the rows"));
            }
        }
        let end = fields.last().map_or(1, |(line, ..)| *line);
        Err(at(end, format!("the recording ends before its columns, `{COLUMNS}`")))
    }

    fn value(&self, name: &str) -> Result<(usize, &'a str), ParseError> {
        let field = self.fields.iter().find(|(_, found, _)| *found == name);
        let missing = || at(self.columns, format!("`# {name}: ...` is missing above"));
        field.map(|(line, _, value)| (*line, *value)).ok_or_else(missing)
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T, ParseError> {
        let (line, value) = self.value(name)?;
        number(name, value).map_err(|problem| at(line, problem))
    }

    fn setup<G: Game>(&self) -> Result<Setup<G::Rules>, ParseError> {
        let (line, game) = self.value("game")?;
        if game != G::NAME {
            return Err(at(line, format!("this is a recording of `{}`, not of `{}`", shown(game), G::NAME)));
        }
        let mut rules = G::Rules::default();
        let known = ["game", "players", "seed", "ticks"];
        for (line, name, value) in self.fields.iter().filter(|(_, name, _)| !known.contains(name)) {
            let value: i64 = number(name, value).map_err(|problem| at(*line, problem))?;
            if !G::read_rule(&mut rules, name, value) {
                return Err(at(*line, format!("{} has no rule `{}` of {value}", G::NAME, shown(name))));
            }
        }
        // A rule that is left out could change with the game's default, and the recording with it.
        G::write_rules(&rules).into_iter().try_for_each(|(name, _)| self.value(name).map(|_| ()))?;
        Ok(Setup { rules, players: self.number("players")?, seed: self.number("seed")?, ticks: self.number("ticks")? })
    }
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    // Rust would read a plus sign too: one way to write a number is enough.
    let plain = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| plain);
    number.ok_or_else(|| format!("`{}` is `{}`, which is not a whole number in range", shown(name), shown(text)))
}

/// Seconds with up to nine decimals, exactly.
fn seconds(text: &str) -> Result<GlobalTime, String> {
    let nanos = || -> Option<i64> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 9 {
            return None;
        }
        let scale = 10i64.pow(9 - part.len() as u32);
        let part = part.parse::<i64>().ok()? * scale;
        whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
    };
    let problem = || format!("`t_s` is `{}`, which is not seconds with up to nine decimals", shown(text));
    nanos().map(GlobalTime::from_nanos).ok_or_else(problem)
}

fn row<G: Game>(line: &str) -> Result<Operation<G::Act>, String> {
    let mut cells = line.split(',');
    let mut cell = |name: &str| cells.next().ok_or_else(|| format!("the row ends before column `{name}`"));
    let (time, player, sequence) = (cell("t_s")?, cell("player")?, cell("sequence")?);
    let (act, value) = (cell("act")?, cell("value")?);
    if cells.next().is_some() {
        return Err("the row has more than five columns".into());
    }
    Ok(Operation {
        at: seconds(time)?,
        issuer: HostId(number("player", player)?),
        sequence: number("sequence", sequence)?,
        act: G::read_act(act, value)
            .ok_or_else(|| format!("{} has no act `{}` with value `{}`", G::NAME, shown(act), shown(value)))?,
    })
}

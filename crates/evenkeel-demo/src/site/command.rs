//! What a page may want, and how often.

use super::screen::Order;
use axum::extract::ws::Message;
use serde_json::Value;
use std::time::Instant;

/// So many commands a second a page may send for long: a slider that is dragged sends fewer.
const PER_SECOND: f64 = 30.0;
/// And so many at once.
const BURST: f64 = 60.0;
/// So often a page may send what is no command, or too many of them.
const FORGIVEN: u32 = 100;

/// What to make of a message.
pub(super) enum Verdict {
    Order(Order),
    /// It is no command, for this reason.
    Nonsense(String),
    /// Nothing that a page says.
    Nothing,
    /// The page goes.
    Bye,
}

pub(super) fn read(message: &Message) -> Verdict {
    match message {
        Message::Text(text) => parse(text).map_or_else(Verdict::Nonsense, Verdict::Order),
        Message::Binary(_) => Verdict::Nonsense("commands are texts".into()),
        Message::Ping(_) | Message::Pong(_) => Verdict::Nothing,
        Message::Close(_) => Verdict::Bye,
    }
}

fn parse(text: &str) -> Result<Order, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let Value::Object(mut fields) = value else { return Err("a command is a JSON object".into()) };
    if fields.len() != 1 {
        return Err("a command has one field, `set` or `do`".into());
    }
    if let Some(patch) = fields.remove("set") {
        let wanted = || "what to `set` is a JSON object".to_owned();
        return patch.is_object().then_some(Order::Set(patch)).ok_or_else(wanted);
    }
    match fields.remove("do").as_ref().and_then(Value::as_str) {
        Some("reset") => Ok(Order::Reset),
        Some("record") => Ok(Order::Record),
        Some("stop-recording") => Ok(Order::StopRecording),
        Some("close-recording") => Ok(Order::CloseRecording),
        Some(other) => Err(format!("nobody knows how to do `{}`", other.chars().take(40).collect::<String>())),
        None => Err("a command has one field, `set` or `do`".into()),
    }
}

/// How a page behaves: a bucket of commands that fills with time, and what was forgiven.
pub(super) struct Manners {
    left: f64,
    filled: Instant,
    offences: u32,
}

impl Default for Manners {
    fn default() -> Self {
        Self { left: BURST, filled: Instant::now(), offences: 0 }
    }
}

impl Manners {
    /// Whether the page may send another command.
    pub(super) fn may(&mut self) -> bool {
        let now = Instant::now();
        self.left = (self.left + PER_SECOND * (now - self.filled).as_secs_f64()).min(BURST);
        self.filled = now;
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        } else {
            self.forgive_less();
        }
        may
    }

    /// It did something that is not done.
    pub(super) fn forgive_less(&mut self) {
        self.offences += 1;
    }

    /// Whether it did so too often.
    pub(super) fn are_lost(&self) -> bool {
        self.offences > FORGIVEN
    }
}

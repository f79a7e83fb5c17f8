//! A server's sessions, for those who have not joined any.

use crate::background::Background;
use crate::protocol::{self, Filter, InfoError, Refusal, SessionInfo, ToPlayer, ToServer};
use crate::transport::{self, Connection, Trust, What, connect};
use std::fmt;
use std::time::Duration;

/// So many sessions are taken from one server at most.
const MOST: usize = crate::lobby::MAX_SESSIONS;
/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between one part of a long list and the next: servers do not like to be asked too often.
const PAUSE: Duration = Duration::from_millis(250);

/// Why there is no list.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListError {
    /// There is no connection.
    Transport(transport::Error),
    /// The server does not want to tell.
    Refused(Refusal),
    /// The connection ended, or takes no message, for this reason.
    Ended(String),
    /// What is asked for is too much.
    Filter(InfoError),
    /// The answer cannot be read, or makes no sense: the server is of another version, or no good.
    Unreadable,
    /// The server did not answer in time.
    TimedOut,
    /// There is no thread for asking.
    Thread(std::io::Error),
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Refused(why) => why.fmt(f),
            Self::Ended(why) => write!(f, "the connection ended before the list was there: {why}"),
            Self::Filter(error) => error.fmt(f),
            Self::Unreadable => write!(f, "the server's answer cannot be read: update the older side"),
            Self::TimedOut => write!(f, "the server did not say in time which sessions it has: try again later"),
            Self::Thread(error) => write!(f, "the system gives no thread: {error}"),
        }
    }
}

impl std::error::Error for ListError {}

/// Asks the server at a URL, `https://host:port/`, which sessions it has. At most a thousand are told, by name.
///
/// ```no_run
/// # async fn choose(trust: evenkeel_net::transport::Trust) -> Result<(), evenkeel_net::ListError> {
/// use evenkeel_net::{list_sessions, protocol::Filter};
/// let open = Filter { with_room: true, ..Filter::default() };
/// for session in list_sessions("https://play.example:4433/", trust, open).await? {
///     println!("{}: {} of {}", session.name, session.players, session.max_players);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn list_sessions(url: &str, trust: Trust, filter: Filter) -> Result<Vec<SessionInfo>, ListError> {
    filter.check().map_err(ListError::Filter)?;
    let asked = async {
        let mut connection = connect(url, trust).await.map_err(ListError::Transport)?;
        let listed = all(&mut connection, filter).await;
        connection.close("that is all it wanted to know");
        listed
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(ListError::TimedOut))
}

/// The same without a tokio runtime: waits for the answer, so better not in the middle of a game.
pub fn list_sessions_blocking(url: &str, trust: Trust, filter: Filter) -> Result<Vec<SessionInfo>, ListError> {
    let background = Background::start("evenkeel-list").map_err(ListError::Thread)?;
    let url = url.to_owned();
    let listed = background.run(async move { list_sessions(&url, trust, filter).await });
    listed.unwrap_or_else(|| Err(ListError::Thread(std::io::Error::other("the thread has ended"))))
}

/// Asks until there is no more.
async fn all(connection: &mut Connection, mut filter: Filter) -> Result<Vec<SessionInfo>, ListError> {
    let mut listed: Vec<SessionInfo> = Vec::new();
    loop {
        let question = protocol::encode(&ToServer::List(filter.clone())).map_err(|_| ListError::Unreadable)?;
        connection.send_message(question).map_err(|error| ListError::Ended(error.to_string()))?;
        let (sessions, more) = answer(connection).await?;
        check(filter.after.as_deref(), &sessions, more)?;
        listed.extend(sessions);
        listed.truncate(MOST);
        match listed.last() {
            Some(last) if more && listed.len() < MOST => filter.after = Some(last.name.clone()),
            _ => return Ok(listed),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn answer(connection: &mut Connection) -> Result<(Vec<SessionInfo>, bool), ListError> {
    while let Some(arrived) = connection.receive().await {
        let What::Message(bytes) = arrived.what else { continue };
        return match protocol::decode(&bytes) {
            Ok(ToPlayer::Sessions { sessions, more }) => Ok((sessions, more)),
            Ok(ToPlayer::Refused(why)) => Err(ListError::Refused(why)),
            _ => Err(ListError::Unreadable),
        };
    }
    Err(ListError::Ended(connection.closed_reason().map_or_else(String::new, |closed| closed.to_string())))
}

/// Each name comes after the one before, and whoever has more to say says something: then it ends.
fn check(after: Option<&str>, sessions: &[SessionInfo], more: bool) -> Result<(), ListError> {
    let names = after.into_iter().chain(sessions.iter().map(|session| session.name.as_str()));
    let sorted = names.is_sorted_by(|one, next| one < next);
    let whole = sessions.iter().all(|session| session.check().is_ok());
    if sorted && whole && (!more || !sessions.is_empty()) { Ok(()) } else { Err(ListError::Unreadable) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_would_never_end_is_not_believed() {
        let named = |name: &str| SessionInfo { name: name.into(), ..SessionInfo::default() };
        let [one, two] = ["one", "two"].map(named);
        assert!(check(None, &[one.clone(), two.clone()], true).is_ok());
        assert!(check(Some("two"), &[], false).is_ok());
        assert!(check(Some("two"), &[], true).is_err(), "more of nothing");
        assert!(check(Some("two"), std::slice::from_ref(&two), true).is_err(), "the same again");
        assert!(check(None, &[two, one], false).is_err(), "in no order");
        assert!(check(None, &[named("")], false).is_err(), "without a name");
    }
}

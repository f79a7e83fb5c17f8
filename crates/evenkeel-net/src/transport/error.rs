//! What can go wrong, said so that the reader knows what to do.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a listener or a connection could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The socket could not be bound.
    Bind {
        /// Where.
        address: SocketAddr,
        /// "UDP" or "TCP".
        protocol: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Our own certificate or key is of no use.
    Certificate(String),
    /// A setting makes no sense.
    Setting(String),
    /// The URL is not one that can be connected to.
    Url(String),
    /// The name does not resolve, or nobody answers there.
    Unreachable(String),
    /// The peer did not answer in time.
    TimedOut,
    /// The peer's certificate is not among those to be trusted.
    Untrusted(String),
    /// The peer does not want us, and says why.
    Refused(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, protocol, source } => match source.kind() {
                io::ErrorKind::AddrInUse => {
                    write!(f, "{protocol} port {} is in use: stop the other program or choose another", address.port())
                }
                io::ErrorKind::PermissionDenied => {
                    write!(f, "{protocol} port {} needs privileges: choose one above 1023", address.port())
                }
                io::ErrorKind::AddrNotAvailable => {
                    write!(f, "{} is no address of this machine: bind to one that is, or to 0.0.0.0", address.ip())
                }
                _ => write!(f, "cannot bind {protocol} {address}: {source}"),
            },
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Certificate(what) => {
                write!(f, "the certificate cannot be used: {what}; check the files or make a new one")
            }
            Self::Setting(what) => write!(f, "{what}"),
            Self::Url(what) => write!(f, "{what}: write https://host:port/path or wss://host:port/path"),
            Self::Unreachable(what) => write!(f, "cannot reach the server: {what}; check the name, the port and UDP"),
            Self::TimedOut => {
                write!(f, "the server did not answer in time: check the address, and that UDP gets through")
            }
            Self::Untrusted(what) => {
                write!(f, "the server's certificate is not trusted ({what}): ask its operator for the present hash")
            }
            Self::Refused(reason) => write!(f, "the server refused: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } | Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Why something was not sent. What was to be sent is gone; the connection lives on unless it is [`Closed`](Self::Closed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// It is longer than the carrier, or the limit, allows.
    TooLarge {
        /// So much would have been allowed, in bytes.
        limit: usize,
    },
    /// Too much is waiting already: send less, or later.
    Full,
    /// The connection is closed or closing.
    Closed,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(f, "longer than the {limit} bytes allowed: split it"),
            Self::Full => write!(f, "too much is waiting to be sent: send less, or later"),
            Self::Closed => write!(f, "the connection is closed"),
        }
    }
}

impl std::error::Error for SendError {}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// It was closed here, for this reason.
    Here(String),
    /// The peer closed it, for this reason.
    Peer(String),
    /// Nothing was heard from the peer for too long.
    TimedOut,
    /// The peer has restarted and knows nothing of this connection: connect anew.
    Restarted,
    /// It broke.
    Broken(String),
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(reason) => write!(f, "closed here: {reason}"),
            Self::Peer(reason) if reason.is_empty() => write!(f, "the peer left without a reason"),
            Self::Peer(reason) => write!(f, "the peer left: {reason}"),
            Self::TimedOut => write!(f, "nothing was heard from the peer for too long"),
            Self::Restarted => write!(f, "the peer has restarted: connect anew"),
            Self::Broken(what) => write!(f, "the connection broke: {what}"),
        }
    }
}

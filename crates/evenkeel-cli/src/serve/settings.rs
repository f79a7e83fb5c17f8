//! How a server is set up: by flags, by a file with the same names, and by what suits if neither says.

use super::conditions::Condition;
use super::rates::Rates;
use anyhow::{Context, Result, bail, ensure};
use evenkeel_net::protocol::Model;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The longest lag anybody would play with.
const MAX_LAG_MS: f64 = 10_000.0;
/// Players are numbered with 16 bits.
const MAX_PLAYERS: usize = 65_535;

/// Flags and file alike: the names are the same by construction.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    /// Where to listen for WebTransport (UDP). Default: 0.0.0.0:4433.
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub(super) listen: Option<SocketAddr>,
    /// Where to listen for WebSockets (TCP) besides, for players behind walls that stop UDP. Default: nowhere.
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub(super) websocket: Option<SocketAddr>,
    /// Where to answer /metrics, /report and /healthz over plain HTTP; an address that strangers do not reach. Default: nowhere.
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub(super) metrics: Option<SocketAddr>,
    /// How much one player may send: datagrams and messages a second, and handshakes a second from one address.
    /// Default: datagrams=1000,messages=200,handshakes=4.
    #[arg(long, value_name = "RATES", help_heading = "Network")]
    pub(super) rates: Option<Rates>,

    /// The session's name. Default: main.
    #[arg(long, value_name = "NAME", help_heading = "Session")]
    pub(super) session: Option<String>,
    /// Who sends movement to whom: client-server, peer-to-peer or hybrid. Default: client-server.
    #[arg(long, value_name = "MODEL", help_heading = "Session")]
    pub(super) model: Option<String>,
    /// Make the session known on the local network, so that players find it without an address. Default: no.
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", help_heading = "Network")]
    pub(super) announce: Option<bool>,
    /// Who is told what and when. Default: even. A name that is not known is answered with all that are.
    #[arg(long, value_name = "NAME", help_heading = "Session")]
    pub(super) policy: Option<String>,
    /// What the policy may send: a share of the base case (1/3, 0.4), or a rate in vectors (200/s) or bytes (20kB/s), for each player if
    /// it ends in /receiver (4kB/s/receiver). Default: 1/3.
    #[arg(long, help_heading = "Session")]
    pub(super) budget: Option<String>,
    /// How long everything waits before it is shown, in milliseconds. Default: 0.
    #[arg(long, value_name = "MS", help_heading = "Session")]
    pub(super) lag_ms: Option<f64>,
    /// Players at once. Default: 100.
    #[arg(long, value_name = "N", help_heading = "Session")]
    pub(super) max_players: Option<usize>,
    /// Entities at once of a player who comes without a token; with tokens, each says for itself. Default: 64.
    #[arg(long, value_name = "N", help_heading = "Session")]
    pub(super) max_entities: Option<u32>,
    /// Write the players' measured round-trip times to this file every 5 s, as lines of from,to,rtt_ms: what `evenkeel sites` reads.
    /// Default: nowhere.
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub(super) rtts: Option<PathBuf>,
    /// What this server is called there. Default: the session's name, or `server` for session main.
    #[arg(long, value_name = "NAME", help_heading = "Session")]
    pub(super) site: Option<String>,

    /// The certificate, with the chain above it, in PEM. Without: one is made that lives for two weeks, and is replaced in time.
    #[arg(long, value_name = "FILE", help_heading = "Who the server is, and who may join")]
    pub(super) certificate: Option<PathBuf>,
    /// The key to the certificate, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Who the server is, and who may join")]
    pub(super) key: Option<PathBuf>,
    /// Names and addresses that a self-made certificate is for, besides those of this machine. May be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Who the server is, and who may join")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) name: Vec<String>,
    /// Where to keep what a restarted server needs again: its self-made certificate, its keys, revoked tokens. Without: all of it
    /// is new with every start.
    #[arg(long, value_name = "DIR", help_heading = "Who the server is, and who may join")]
    pub(super) state: Option<PathBuf>,
    /// The public keys by which join tokens are signed, as `evenkeel token keys new` prints them. Without: open to all.
    #[arg(long, value_name = "FILE", help_heading = "Who the server is, and who may join")]
    pub(super) token_keys: Option<PathBuf>,
    /// Revoked tokens, as `evenkeel token revoke` writes them; the file is read anew when it changes. Default: `revoked` in --state.
    #[arg(long, value_name = "FILE", help_heading = "Who the server is, and who may join")]
    pub(super) revoked: Option<PathBuf>,

    /// For testing: a worse network for one player, both ways, as in player=Ada,delay=200ms,jitter=exp:20ms. May be repeated.
    #[arg(long, value_name = "player=NAME,CONDITIONS", help_heading = "Testing")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) condition: Vec<Condition>,
}

impl Settings {
    /// What a file says.
    pub(super) fn from_file(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read: check the name after --config", path.display()))?;
        toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            // Whatever it says, on one line.
            let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            anyhow::anyhow!("{}, line {line}: {what}", path.display())
        })
    }

    /// These, and what the others say where these say nothing.
    pub(super) fn or(self, other: Self) -> Self {
        let longer = |these: Vec<String>, those| if these.is_empty() { those } else { these };
        Self {
            listen: self.listen.or(other.listen),
            websocket: self.websocket.or(other.websocket),
            metrics: self.metrics.or(other.metrics),
            rates: self.rates.or(other.rates),
            session: self.session.or(other.session),
            model: self.model.or(other.model),
            announce: self.announce.or(other.announce),
            policy: self.policy.or(other.policy),
            budget: self.budget.or(other.budget),
            lag_ms: self.lag_ms.or(other.lag_ms),
            max_players: self.max_players.or(other.max_players),
            max_entities: self.max_entities.or(other.max_entities),
            rtts: self.rtts.or(other.rtts),
            site: self.site.or(other.site),
            certificate: self.certificate.or(other.certificate),
            key: self.key.or(other.key),
            name: longer(self.name, other.name),
            state: self.state.or(other.state),
            token_keys: self.token_keys.or(other.token_keys),
            revoked: self.revoked.or(other.revoked),
            condition: if self.condition.is_empty() { other.condition } else { self.condition },
        }
    }

    /// What suits if nobody says anything.
    pub(super) fn defaults() -> Self {
        Self {
            listen: Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 4433))),
            rates: Some(Rates::default()),
            session: Some("main".into()),
            model: Some("client-server".into()),
            policy: Some("even".into()),
            budget: Some("1/3".into()),
            lag_ms: Some(0.0),
            max_players: Some(100),
            max_entities: Some(64),
            ..Self::default()
        }
    }

    /// Refuses what cannot work, before anything is started.
    pub(super) fn check(&self) -> Result<()> {
        let session = self.session.as_deref().unwrap_or_default();
        let named = (1..=64).contains(&session.len()) && !session.chars().any(char::is_control);
        ensure!(named, "session `{session}`: a session's name has 1 to 64 bytes and no control characters");
        self.model()?;
        let lag = self.lag_ms.unwrap_or_default();
        ensure!((0.0..=MAX_LAG_MS).contains(&lag), "lag-ms {lag}: choose between 0 and {MAX_LAG_MS}");
        let players = self.max_players.unwrap_or_default();
        ensure!((1..=MAX_PLAYERS).contains(&players), "max-players {players}: choose between 1 and {MAX_PLAYERS}");
        match (&self.certificate, &self.key) {
            (Some(_), None) => bail!("a certificate without its key: give --key, too"),
            (None, Some(_)) => bail!("a key without its certificate: give --certificate, too"),
            _ => {}
        }
        if self.token_keys.is_none() && self.revoked.is_some() {
            bail!("revoked tokens without keys: give --token-keys, too, or leave out --revoked");
        }
        if let Some(site) = &self.site {
            ensure!(self.rtts.is_some(), "a site's name without a file for it: give --rtts, too, or leave out --site");
            ensure!(super::rtts::is_writable(site), "site `{site}`: a site's name is one line, and not empty");
        }
        super::conditions::check(&self.condition)
    }

    /// What this server is called among sites.
    pub(super) fn site(&self) -> &str {
        let session = self.session.as_deref().filter(|session| *session != "main");
        self.site.as_deref().or(session).unwrap_or("server")
    }

    /// Who sends movement to whom.
    pub(super) fn model(&self) -> Result<Model> {
        let name = self.model.as_deref().unwrap_or("client-server");
        let known = Model::ALL.iter().find(|(known, _)| *known == name).map(|(_, model)| *model);
        known.with_context(|| format!("model `{name}`: choose client-server, peer-to-peer or hybrid"))
    }

    /// As a file that says the same.
    pub(super) fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("the settings cannot be written as TOML")
    }

    /// Where revoked tokens are kept, if anywhere.
    pub(super) fn revocations(&self) -> Option<PathBuf> {
        self.revoked.clone().or_else(|| self.state.as_ref().map(|state| state.join("revoked")))
    }
}

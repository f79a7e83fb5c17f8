//! `evenkeel token`: keys, and join tokens signed with them.

mod span;

use crate::serve::door::unix_now;
use crate::serve::identity::{random, write_secret};
use anyhow::{Context, Result, bail};
use evenkeel_net::token::{KeyRing, Player, Revocations, Rights, SigningKey, Token, TokenId};
use span::Span;
use std::path::{Path, PathBuf};

/// Clocks differ: a token is valid from so many seconds before it is made.
const SKEW: u64 = 60;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Keys that sign tokens.
    #[command(subcommand)]
    Keys(Keys),
    /// Signs a token for a player and prints it.
    Issue(Issue),
    /// Says what a token grants.
    Show(Show),
    /// Takes a token back: servers that read the file refuse it, and send its holder away.
    Revoke(Revoke),
}

#[derive(clap::Subcommand)]
pub(crate) enum Keys {
    /// Makes a key: the secret goes into a file, the public line for `evenkeel serve --token-keys` is printed.
    New {
        /// Where to write the secret. Whoever has it can let anybody in.
        #[arg(long, value_name = "FILE")]
        secret: PathBuf,
    },
    /// Prints the public line of a secret key again.
    Public {
        /// The secret.
        #[arg(long, value_name = "FILE")]
        secret: PathBuf,
    },
}

#[derive(clap::Args)]
pub(crate) struct Issue {
    /// The secret key to sign with.
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
    /// The name under which the player has to join.
    #[arg(long, value_name = "NAME")]
    player: String,
    /// The session that may be joined.
    #[arg(long, value_name = "NAME", default_value = "main")]
    session: String,
    /// What the player may do: join, move, observe, admin, with + between them.
    #[arg(long, default_value = "join+move")]
    rights: Rights,
    /// For how long it can be used to join: 30s, 90m, 24h, 7d. At most 366d.
    #[arg(long, value_name = "SPAN", default_value = "24h")]
    expires: Span,
    /// How many entities the player may have at once, if it may move any. Default: 64.
    #[arg(long, value_name = "N")]
    entities: Option<u32>,
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The token.
    token: String,
    /// Check it against these public keys, too.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct Revoke {
    /// The token, or its id as `evenkeel token show` prints it.
    token: String,
    /// The file of revoked tokens that the server reads: `revoked` in its --state, or its --revoked.
    #[arg(long, value_name = "FILE")]
    revoked: PathBuf,
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Keys(Keys::New { secret }) => new_key(secret),
        Command::Keys(Keys::Public { secret }) => {
            print!("{}", read_secret(secret)?.verifying_key().to_text());
            Ok(())
        }
        Command::Issue(issue) => issue.run(),
        Command::Show(show) => show.run(),
        Command::Revoke(revoke) => revoke.run(),
    }
}

fn new_key(path: &Path) -> Result<()> {
    let key = SigningKey::generate(random()?);
    // Never over another: what it signed could not be signed again.
    write_secret(path, key.to_text().as_bytes())?;
    print!("{}", key.verifying_key().to_text());
    Ok(())
}

fn read_secret(path: &Path) -> Result<SigningKey> {
    let text = std::fs::read_to_string(path).with_context(|| format!("--secret {}", path.display()))?;
    SigningKey::from_text(&text).map_err(|error| anyhow::anyhow!("{}, {error}", path.display()))
}

impl Issue {
    fn run(&self) -> Result<()> {
        let now = unix_now();
        let moves = self.rights.contains(Rights::MOVE);
        let token = Token {
            player: Player::Name(self.player.clone()),
            session: self.session.clone(),
            rights: self.rights,
            not_before: now.saturating_sub(SKEW),
            expires: now.saturating_add(self.expires.seconds()),
            id: TokenId(random()?),
            max_entities: self.entities.unwrap_or(if moves { 64 } else { 0 }),
        };
        let text = read_secret(&self.secret)?.sign_text(&token).context("this token would make no sense")?;
        println!("{text}");
        eprintln!("Token {} for {}, {} in session {}.", token.id, token.player, token.rights, token.session);
        Ok(())
    }
}

impl Show {
    fn run(&self) -> Result<()> {
        let (key, token) = Token::read_text_unverified(&self.token)
            .map_err(|why| anyhow::anyhow!("this is not a join token ({why}): copy all of it, on one line"))?;
        println!("id        {}", token.id);
        println!("player    {}", token.player);
        println!("session   {}", token.session);
        println!("rights    {}", token.rights);
        println!("entities  {}", token.max_entities);
        println!("from      {} (Unix seconds)", token.not_before);
        println!("until     {} (Unix seconds, {})", token.expires, left(token.expires));
        println!("key       {key}");
        let Some(file) = &self.keys else {
            println!("signature not checked: give --keys");
            return Ok(());
        };
        let text = std::fs::read_to_string(file).with_context(|| format!("--keys {}", file.display()))?;
        let ring = KeyRing::parse(&text).map_err(|error| anyhow::anyhow!("{}, {error}", file.display()))?;
        ring.verify(&self.token, unix_now(), &token.session)?;
        println!("signature good");
        Ok(())
    }
}

fn left(expires: u64) -> String {
    match expires.checked_sub(unix_now()) {
        Some(seconds) if seconds > 0 => format!("{} left", Span::from_seconds(seconds)),
        _ => "expired".into(),
    }
}

impl Revoke {
    fn run(&self) -> Result<()> {
        let (id, expires) = match (Token::read_text_unverified(&self.token), self.token.parse::<TokenId>()) {
            (Ok((_, token)), _) => (token.id, token.expires),
            // Nobody knows when it expires; later than this, none does.
            (_, Ok(id)) => (id, unix_now() + evenkeel_net::token::MAX_LIFETIME),
            (Err(why), Err(_)) => {
                bail!("this is neither a join token ({why}) nor a token's id of 32 hexadecimal digits")
            }
        };
        Revocations::at(&self.revoked).append(id, expires)?;
        println!("Revoked {id} in {}.", self.revoked.display());
        Ok(())
    }
}

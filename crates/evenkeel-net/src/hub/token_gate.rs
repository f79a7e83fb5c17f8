//! A gate that wants tokens.

use super::{Asking, Gate, Pass};
use crate::protocol::Refusal;
use crate::token::{
    Holder, KeyRing, Player, RegisterFull, RevocationError, Revocations, Rights, SecondUse, Token, TokenError, TokenId,
    Uses, VERSION,
};
use std::collections::VecDeque;

/// So many revoked tokens are remembered. Each is forgotten when it expires.
const MAX_REVOKED: usize = 65_536;

/// Lets in whoever shows a [token](crate::token) that a key of the ring has signed, for this session, for the name it gives, and
/// neither expired nor revoked.
///
/// A token is one player's: it is in use from when its holder comes in until that player has left for good, which is some time
/// after a lost connection. Meanwhile a second one who shows the same token is refused ([`SecondUse::Refused`], unless told
/// otherwise): who was first stays. So a stolen token gets the thief nowhere while its owner plays; and if the thief came first,
/// the owner learns of it, and can have the token revoked, which sends the thief away. The price: a player whose program
/// crashed, and who has lost the secret with which it could rejoin, waits until the server has given up its place. With
/// [`SecondUse::TakesOver`] it is the other way round: the newcomer gets in, and who was there is sent away.
///
/// A player who rejoins with the right secret goes on with the use it had: nothing is used up, and a token that has expired
/// meanwhile does no harm, since tokens say until when one may come, not until when one may stay. One that was revoked does.
///
/// Wall clock time is asked of the function given, in Unix seconds.
///
/// ```
/// use evenkeel_net::hub::{HubConfig, TokenGate};
/// use evenkeel_net::seat::SeatConfig;
/// use evenkeel_net::token::{KeyRing, Player, Rights, SigningKey, Token, TokenId};
/// use evenkeel_net::transport::{Identity, ListenConfig, Trust};
/// use evenkeel_net::{Client, ClientConfig, Server, ServerConfig};
/// use std::time::{Duration, SystemTime};
/// let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
///
/// // The operator signs a token for Ada, valid for an hour. Key and id are random bytes; `evenkeel token` does the same.
/// let key = SigningKey::generate([7; 32]);
/// let token = key.sign_text(&Token {
///     player: Player::Name("Ada".into()),
///     session: "main".into(),
///     rights: Rights::JOIN | Rights::MOVE,
///     not_before: now() - 60,
///     expires: now() + 3_600,
///     id: TokenId([9; 16]),
///     max_entities: 4,
/// })?;
///
/// // The server knows only the public half of the key.
/// let keys = KeyRing::parse(&key.verifying_key().to_text())?;
/// let session = HubConfig { gate: Box::new(TokenGate::new(keys, 100, now)), token_needed: true, ..HubConfig::default() };
/// let identity = Identity::self_made(["127.0.0.1"], Duration::from_secs(24 * 3600))?;
/// let trust = Trust::Hashes(vec![identity.hash()]);
/// let server = Server::spawn(ServerConfig::new(ListenConfig::new("127.0.0.1:0".parse()?, identity), session))?;
///
/// // Ada shows it; Eve has none.
/// let url = format!("https://{}/", server.address());
/// let with = |seat| Client::spawn(ClientConfig::new(&url, trust.clone(), seat));
/// let ada = with(SeatConfig { token: token.into_bytes(), ..SeatConfig::named("Ada") })?;
/// let eve = with(SeatConfig::named("Eve"))?;
/// # for _ in 0..2_000 {
/// #     std::thread::sleep(Duration::from_millis(5));
/// #     if ada.is_ready() && eve.trouble().is_some_and(|trouble| trouble.contains("token")) { break }
/// # }
/// // A moment later:
/// assert!(ada.is_ready());
/// assert!(eve.trouble().is_some_and(|trouble| trouble.contains("the join token is not accepted")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TokenGate {
    keys: KeyRing,
    uses: Uses,
    clock: Box<dyn FnMut() -> u64 + Send>,
    file: Option<Revocations>,
    /// When the file was last looked at.
    looked: u64,
    withdrawn: VecDeque<(Pass, String)>,
}

impl TokenGate {
    /// A gate for these keys, and for so many players at once.
    pub fn new(keys: KeyRing, max_players: usize, clock: impl FnMut() -> u64 + Send + 'static) -> Self {
        let uses = Uses::new(SecondUse::default(), max_players, MAX_REVOKED);
        Self { keys, uses, clock: Box::new(clock), file: None, looked: 0, withdrawn: VecDeque::new() }
    }

    /// What happens to whoever shows a token that is in use.
    pub fn with_second_use(mut self, second: SecondUse) -> Self {
        self.uses.set_second_use(second);
        self
    }

    /// Keeps revocations in a file, so that a restarted server knows them. What others write into it is noticed within a second
    /// or two, and players whose token it names are sent away.
    pub fn with_revocations(mut self, file: Revocations) -> Result<Self, RevocationError> {
        let now = (self.clock)();
        self.file = Some(file);
        self.read_revocations(now)?;
        Ok(self)
    }

    /// Accepts tokens by these keys from now on. Whoever is in stays in.
    pub fn set_keys(&mut self, keys: KeyRing) {
        self.keys = keys;
    }

    /// Takes a token back, until it expires of itself: whoever uses it is sent away. It is in the file, if there is one, before
    /// this returns.
    pub fn revoke(&mut self, token: TokenId, expires: u64) -> Result<(), RevocationError> {
        if let Some(file) = &mut self.file {
            file.append(token, expires)?;
        }
        let now = (self.clock)();
        self.withdraw(token, expires, now).map_err(RevocationError::Full)
    }

    /// How many tokens are in use.
    pub fn in_use(&self) -> usize {
        self.uses.in_use()
    }

    fn withdraw(&mut self, token: TokenId, expires: u64, now: u64) -> Result<(), RegisterFull> {
        if let Some(holder) = self.uses.revoke(token, expires, now)? {
            self.displace(holder, TokenError::Revoked.to_string());
        }
        Ok(())
    }

    fn displace(&mut self, holder: Holder, why: String) {
        // Who holds a pass is told from others by the use alone.
        self.withdrawn.push_back((Pass { holder: Some(holder), ..Pass::watching() }, why));
    }

    fn read_revocations(&mut self, now: u64) -> Result<(), RevocationError> {
        self.looked = now;
        let Some(revoked) = self.file.as_mut().map(Revocations::read_if_changed).transpose()?.flatten() else {
            return Ok(());
        };
        for (token, expires) in revoked {
            self.withdraw(token, expires, now).map_err(RevocationError::Full)?;
        }
        Ok(())
    }

    /// Looks at the file, at most once a second. One that cannot be read changes nothing: what is revoked stays revoked.
    fn look(&mut self) -> u64 {
        let now = (self.clock)();
        if self.file.is_some()
            && now != self.looked
            && let Err(error) = self.read_revocations(now)
        {
            tracing::error!(%error, "the revoked tokens cannot be read anew");
        }
        now
    }

    fn examine(&self, asking: &Asking<'_>, now: u64) -> Result<Token, Refusal> {
        if asking.token.is_empty() {
            return Err(Refusal::Token("there is none, and this server wants one: ask its operator".into()));
        }
        let verified = if asking.token.first() == Some(&VERSION) {
            self.keys.verify_bytes(asking.token, now, asking.session)
        } else {
            // As text it starts with a letter; what is not text is not base64url either.
            self.keys.verify(std::str::from_utf8(asking.token).unwrap_or("?"), now, asking.session)
        };
        let token = verified.map_err(refusal)?;
        match &token.player {
            Player::Name(name) if name != asking.name => {
                Err(Refusal::Token(format!("it is for player {name}: join by that name")))
            }
            _ if !token.rights.contains(Rights::JOIN) && !token.rights.contains(Rights::OBSERVE) => {
                Err(Refusal::Token("it gives no right to join or to observe: ask for another".into()))
            }
            _ => Ok(token),
        }
    }
}

impl Gate for TokenGate {
    fn admit(&mut self, asking: &Asking<'_>) -> Result<Pass, Refusal> {
        let now = self.look();
        if let Some(pass) = asking.rejoining
            && let Some(holder) = pass.holder
            && self.uses.holder(holder.token()) == Some(holder)
        {
            return Ok(*pass);
        }
        let token = self.examine(asking, now)?;
        let begun = self.uses.begin(&token, now).map_err(refusal)?;
        if let Some(displaced) = begun.displaced {
            self.displace(displaced, "its token is used by somebody who came later".into());
        }
        Ok(Pass { max_entities: token.max_entities, rights: token.rights, holder: Some(begun.holder) })
    }

    fn resume(&mut self, pass: Pass, token: Option<TokenId>) -> Option<Pass> {
        let now = self.look();
        let holder = match token {
            // It is in use here too from now on, as it was there.
            Some(token) => Some(self.uses.resume(token, now)?),
            None => None,
        };
        Some(Pass { holder, ..pass })
    }

    fn released(&mut self, pass: &Pass) {
        if let Some(holder) = pass.holder {
            self.uses.end(holder);
        }
    }

    fn poll_withdrawn(&mut self) -> Option<(Pass, String)> {
        self.look();
        self.withdrawn.pop_front()
    }
}

fn refusal(error: TokenError) -> Refusal {
    Refusal::Token(error.to_string())
}

//! Moving a session from one server to another while people play.

use super::{Server, ServerError, config};
use crate::hub::{HubConfig, MoveError, MoveReport};
use crate::protocol::Place;
use evenkeel::Duration;

/// How often it is looked whether everybody has gone.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(20);

impl Server {
    /// Writes a session down for another server to [import](Self::import). See [`Hub::export`](crate::hub::Hub::export): **it holds
    /// secrets**, and [`move_to`](Self::move_to) must follow within half a minute.
    pub fn export(&self, session: &str) -> Result<Vec<u8>, MoveError> {
        let exported = self.with_session(session, |hub, now| hub.export(config::since_1970(), now));
        exported.unwrap_or(Err(MoveError::NoSuchSession))
    }

    /// Goes on with a session that another server has [exported](Self::export). It takes the place of one of the same name here if
    /// nobody is in that: a server can be started with the configuration that it is to go on with. An error changes nothing.
    ///
    /// Session time goes on by what the wall clocks of the two machines say has passed: keep them right.
    pub fn import(&self, session: HubConfig, exported: &[u8]) -> Result<(), ServerError> {
        let session = HubConfig { secret: crate::secret(session.secret), ..session };
        Ok(self.with_lobby(|lobby, now| lobby.import(session, exported, config::since_1970(), now))?)
    }

    /// Sends everybody in a session to the server that has imported it, and waits until all have answered or time is up. Who went
    /// does not come back; whoever could not plays on here, and if some went and some did not nobody else is let in here. Stop this
    /// server, or [remove](Self::remove_session) the session, once nobody is left.
    ///
    /// ```
    /// use evenkeel_net::hub::HubConfig;
    /// use evenkeel_net::protocol::Place;
    /// use evenkeel_net::seat::SeatConfig;
    /// use evenkeel_net::transport::{Identity, ListenConfig, Trust};
    /// use evenkeel_net::{Client, Server};
    /// use std::time::Duration;
    /// # let runtime = tokio::runtime::Runtime::new()?;
    /// # runtime.block_on(async {
    /// # let day = Duration::from_secs(24 * 3600);
    /// # let identity = || Identity::self_made(["127.0.0.1"], day);
    /// # let (here, there) = (identity()?, identity()?);
    /// # let (trust, hash) = (Trust::Hashes(vec![here.hash()]), there.hash());
    /// let listen = |identity| ListenConfig::new("127.0.0.1:0".parse().unwrap(), identity);
    /// let old = Server::start(listen(here), HubConfig::default()).await?;
    /// let new = Server::start(listen(there), HubConfig::default()).await?;
    /// # let ada = Client::start(&format!("https://{}/", old.address()), trust, SeatConfig::named("Ada"))?;
    /// # while !ada.is_ready() { tokio::time::sleep(Duration::from_millis(5)).await }
    ///
    /// // While people play:
    /// let state = old.export("main")?;
    /// new.import(HubConfig::default(), &state)?;
    /// let place = Place::with_certificate(format!("https://{}/", new.address()), hash);
    /// let report = old.move_to("main", place, Duration::from_secs(10)).await?;
    /// assert!(report.stayed.is_empty() && report.moved == [ada.you().unwrap()]);
    /// old.stop("the session has moved").await;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn move_to(
        &self,
        session: &str,
        place: Place,
        within: std::time::Duration,
    ) -> Result<MoveReport, MoveError> {
        let within = Duration::from_nanos(i64::try_from(within.as_nanos()).unwrap_or(i64::MAX));
        let told = self.with_session(session, |hub, now| hub.move_to(place, within, now));
        told.unwrap_or(Err(MoveError::NoSuchSession))?;
        loop {
            let look = self.with_session(session, |hub, _| (hub.is_moving(), hub.move_report()));
            match look {
                Some((true, _)) => tokio::time::sleep(LOOK_EVERY).await,
                Some((false, report)) => return Ok(report.unwrap_or_default()),
                None => return Err(MoveError::NoSuchSession),
            }
        }
    }
}

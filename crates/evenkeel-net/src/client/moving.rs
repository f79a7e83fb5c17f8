//! Going where the session goes on. The connection to the server before stays up until this player is in at the other one: if
//! there is no way, or it is not let in, it is still at home.

use super::driver::{Driver, Report};
use super::keeping::Way;
use crate::protocol::Place;
use crate::seat::Seat;
use crate::transport::{self, ConnectConfig, Trust};
use std::time::Duration;
use tokio::time::Instant;

/// How long it is tried to connect, each time and altogether; and how long it may take to be let in then.
const TRY: Duration = Duration::from_secs(2);
const TRY_FOR: Duration = Duration::from_secs(5);
const LET_IN_WITHIN: Duration = Duration::from_secs(5);
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(250);

/// A player on its way from one server to another.
#[derive(Default)]
pub(super) struct Trip {
    /// Where it tries to connect to.
    to: Option<Way>,
    /// Where it came from, and until when it must be in.
    from: Option<(Way, Option<transport::Sender>, Instant)>,
}

impl Trip {
    /// Whether it is connected to the other server, and not in yet.
    pub(super) fn is_on(&self) -> bool {
        self.from.is_some()
    }

    /// When to lose patience.
    pub(super) fn until(&self) -> Option<Instant> {
        self.from.as_ref().map(|(.., until)| *until)
    }
}

impl Driver {
    /// Sets out, arrives, or loses patience.
    pub(super) fn travel(&mut self) {
        let (place, moving) = {
            let mut seat = self.shared.seat();
            (seat.poll_move(), seat.is_moving())
        };
        if let Some(place) = place {
            self.set_out(&place);
        }
        if self.trip.until().is_some_and(|until| until <= Instant::now()) && moving {
            self.turn_back("the other server says nothing");
        } else if !moving && let Some((_, Some(former), _)) = self.trip.from.take() {
            // It is in: the server before is told so, and is not needed any more.
            let _ = former.send_message(Seat::farewell());
            former.close("it moved on");
        }
    }

    fn set_out(&mut self, place: &Place) {
        let way = match self.way.to(place) {
            Ok(way) => way,
            Err(why) => return self.shared.seat().stay(&why, self.shared.ticking.now()),
        };
        self.trip.to = Some(way.clone());
        let report = self.report.clone();
        self.tasks.spawn(async move {
            // Whoever has left does not want to know.
            let _ = report.send(Report::Reached(reach(&way).await)).await;
        });
    }

    /// There is a connection to the other server, or no way.
    pub(super) fn go(&mut self, reached: Result<transport::Connection, String>) {
        let Some(way) = self.trip.to.take() else { return };
        match reached {
            Ok(connection) if self.shared.seat().is_moving() => {
                let until = Instant::now() + LET_IN_WITHIN;
                self.trip.from = Some((self.way.clone(), self.server.take(), until));
                self.take_way(way, Some(connection));
            }
            Ok(_) => {}
            Err(why) => self.shared.seat().stay(&why, self.shared.ticking.now()),
        }
    }

    /// It is not let in there: goes home.
    pub(super) fn turn_back(&mut self, why: &str) {
        let Some((way, former, _)) = self.trip.from.take() else { return };
        self.shared.seat().stay(why, self.shared.ticking.now());
        // The seat said hello elsewhere since: what it said there is not known here. It comes back as after a loss.
        drop(former);
        self.take_way(way, None);
        self.disconnected(why);
    }
}

impl Way {
    /// The way to another server, from a server that is believed: by its certificate if it made that itself, as before otherwise.
    fn to(&self, place: &Place) -> Result<Self, String> {
        let url = match self.url.starts_with("wss:") {
            true => place.websocket.as_ref().ok_or("the other server has no WebSocket")?,
            false => &place.url,
        };
        let trust = match place.certificates.is_empty() {
            true => self.config.trust.clone(),
            false => Trust::Hashes(place.certificates.clone()),
        };
        let config = ConnectConfig { trust, ..self.config.clone() };
        transport::check(url, &config).map_err(|error| error.to_string())?;
        Ok(Self { endpoint: self.endpoint.clone(), url: url.clone(), config })
    }
}

/// Connects, within a while, or says why not.
async fn reach(way: &Way) -> Result<transport::Connection, String> {
    let (way, until) = (way.within(TRY), Instant::now() + TRY_FOR);
    loop {
        match way.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) if Instant::now() + PAUSE >= until => return Err(error.to_string()),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

//! Sessions that were written down to go on at another server.

use evenkeel::{Duration, Instant};
use evenkeel_net::hub::{Connection, Hub, HubConfig};

/// Whatever an operator hands over, nothing panics; and what is taken is a session that runs, and can be handed on.
pub fn moving(data: &[u8]) {
    let (since, mut now) = (Duration::from_secs(1_700_000_000), Instant::from_millis(1_000));
    let Ok(mut hub) = Hub::import(HubConfig::default(), data, since, now) else { return };
    let count = (hub.players().count(), hub.entities().count());
    hub.handle_connected(Connection(1), None, now);
    for _ in 0..20 {
        now += Duration::from_millis(100);
        hub.advance(now);
        while hub.poll_transmit(now).is_some() {}
    }
    assert_eq!((hub.players().count(), hub.entities().count()), count, "they are waited for");
    let exported = hub.export(since, now).expect("it was just made");
    let again = Hub::import(HubConfig::default(), &exported, since, now).expect("it was good before");
    assert_eq!((again.players().count(), again.entities().count()), count);
}

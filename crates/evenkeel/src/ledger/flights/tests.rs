use super::*;
use proptest::prelude::*;
use std::vec::Vec;

fn ms(t: i64) -> GlobalTime {
    GlobalTime::from_millis(t)
}

/// Something that happens to flights; what is picked is counted from the last one.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many milliseconds pass, and a vector so much newer than the newest leaves, or an older one.
    Send {
        after: i64,
        newer: i32,
        lead: i64,
    },
    Arrive {
        back: usize,
        delay: i64,
    },
    Lose {
        back: usize,
    },
    Forget {
        before: i64,
    },
    KeepLast {
        kept: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let send = (0..120i64, -2..3i32, 0..60i64).prop_map(|(after, newer, lead)| Step::Send { after, newer, lead });
    // Now and then what does not fit in four seconds.
    let late =
        (0..20_000i64, 0..2i32, -50..9_000i64).prop_map(|(after, newer, lead)| Step::Send { after, newer, lead });
    let arrive = (0..12usize, 0..300i64).prop_map(|(back, delay)| Step::Arrive { back, delay });
    let late_arrival = (0..40usize, 0..9_000i64).prop_map(|(back, delay)| Step::Arrive { back, delay });
    prop_oneof![
        12 => send,
        1 => late,
        10 => arrive,
        1 => late_arrival,
        2 => (0..12usize).prop_map(|back| Step::Lose { back }),
        2 => (0..3_000i64).prop_map(|before| Step::Forget { before }),
        1 => (0..60usize).prop_map(|kept| Step::KeepLast { kept }),
    ]
}

/// When a flight takes effect, with arrivals that are expected after 100 ms.
fn start(flight: &Flight) -> GlobalTime {
    let arrival = if flight.fate == Fate::Arrived { flight.arrival } else { flight.sent + Duration::from_millis(100) };
    flight.generated.max(arrival)
}

/// The same kept in the plainest way.
#[derive(Default)]
struct Plain(Vec<Flight>);

impl Plain {
    fn there(&self) -> impl Iterator<Item = &Flight> {
        self.0.iter().filter(|f| f.fate != Fate::Lost)
    }

    fn shown_at(&self, t: GlobalTime) -> Option<Flight> {
        let begun = self.there().filter(|f| start(f) <= t);
        begun.min_by_key(|f| (core::cmp::Reverse(f.vector), start(f))).copied()
    }

    fn shown_after(&self, t: GlobalTime, vector: Option<VectorNumber>) -> Option<Flight> {
        let to_come = self.there().filter(|f| Some(f.vector) > vector && start(f) > t);
        to_come.min_by_key(|f| (start(f), core::cmp::Reverse(f.vector))).copied()
    }

    fn forget(&mut self, t: GlobalTime) {
        if let Some(shown) = self.shown_at(t) {
            self.0.retain(|f| f.vector >= shown.vector || f.fate == Fate::InFlight);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn answers_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 1..120)) {
        let (mut flights, mut plain) = (Flights::new(), Plain::default());
        let (lag, mut now, mut newest) = (Lag::default(), ms(50_000), 10u32);
        for step in steps {
            let picked = |back: usize| plain.0.len().checked_sub(back + 1);
            match step {
                Step::Send { after, newer, lead } if plain.0.len() < MAX_FLIGHTS => {
                    now += Duration::from_millis(after);
                    let vector = VectorNumber::new(newest.saturating_add_signed(newer)).unwrap_or(VectorNumber::FIRST);
                    newest = newest.max(vector.get());
                    let generated = now - Duration::from_millis(lead);
                    flights.push(vector, generated, now);
                    plain.0.push(Flight { generated, sent: now, arrival: now, vector, fate: Fate::InFlight });
                }
                Step::Arrive { back, delay } => if let Some(flight) = picked(back).map(|i| &mut plain.0[i]) {
                    let found = flights.position(flight.vector, flight.sent);
                    let arrival = flight.sent + Duration::from_millis(delay);
                    if found == Some(flights.len() - 1 - back) {
                        flights.arrived(flights.len() - 1 - back, arrival);
                        (flight.fate, flight.arrival) = (Fate::Arrived, arrival);
                    } else {
                        // The same vector was sent twice at once: the later one is found.
                        let twin = flights.get(found.expect("it is there")).expect("it is there");
                        prop_assert_eq!((twin.vector, twin.sent), (flight.vector, flight.sent));
                    }
                },
                Step::Lose { back } => if let Some(flight) = picked(back).map(|i| &mut plain.0[i]) {
                    if flight.fate == Fate::InFlight {
                        flights.lost(flights.len() - 1 - back);
                        flight.fate = Fate::Lost;
                    }
                },
                Step::Forget { before } => {
                    let t = now - Duration::from_millis(before);
                    flights.forget(t, &lag, start);
                    plain.forget(t);
                }
                Step::KeepLast { kept } => {
                    flights.keep_last(kept);
                    let all = plain.0.len();
                    plain.0.drain(..all - kept.min(all));
                }
                Step::Send { .. } => {}
            }
            same(&flights, &plain, now)?;
        }
    }
}

fn same(flights: &Flights, plain: &Plain, now: GlobalTime) -> Result<(), TestCaseError> {
    let lag = Lag::default();
    let known = |f: &Flight| (f.vector, f.generated, f.sent, f.fate, (f.fate == Fate::Arrived).then_some(f.arrival));
    let all: Vec<_> = flights.iter_from(0).map(|f| known(&f)).collect();
    prop_assert_eq!(all, plain.0.iter().map(known).collect::<Vec<_>>());
    let open = plain.0.iter().filter(|f| f.fate == Fate::InFlight);
    prop_assert_eq!(flights.oldest_open(), open.map(|f| f.sent).min());
    prop_assert_eq!(flights.newest().map(|f| f.vector), plain.there().map(|f| f.vector).max());
    prop_assert_eq!(flights.oldest(), plain.there().map(|f| f.vector).min());
    let arrived = plain.0.iter().filter(|f| f.fate == Fate::Arrived);
    prop_assert_eq!(flights.newest_arrived(), arrived.max_by_key(|f| f.vector).copied());
    for back in [0, 50, 120, 700, 2_000, 20_000] {
        let t = now - Duration::from_millis(back);
        let shown = flights.shown_at(t, &lag, start);
        let motion = |f: Flight| (f.vector, start(&f));
        prop_assert_eq!(shown.and_then(|i| flights.get(i)).map(motion), plain.shown_at(t).map(motion));
        let vector = plain.shown_at(t).map(|f| f.vector);
        let next = flights.shown_after(t, shown, &lag, start).and_then(|i| flights.get(i));
        prop_assert_eq!(next.map(motion), plain.shown_after(t, vector).map(motion));
    }
    Ok(())
}

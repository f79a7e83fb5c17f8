//! The checks must find a contender that does not deliver, and memory must be the server's and nobody else's.

use super::*;
use crate::lineup;
use evenkeel::{Pose, Vec3};
use std::cell::Cell;
use std::rc::Rc;

const SIZE: Size = Size { entities: 40, receivers: 3, ticks: 20, block: 20 };

/// What becomes of the parcels to the receivers.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Nothing arrives.
    Silent,
    /// One in three is lost, whatever the network does.
    OneInThree,
}

/// A contender of whose parcels not all arrive.
struct Faulty {
    inner: Box<dyn Contender>,
    fault: Rc<Cell<Fault>>,
    parcels: u64,
}

impl Contender for Faulty {
    fn spawn(&mut self, id: u32, pose: &Pose, now: GlobalTime) -> Result<()> {
        self.inner.spawn(id, pose, now)
    }

    fn despawn(&mut self, id: u32, now: GlobalTime) -> Result<()> {
        self.inner.despawn(id, now)
    }

    fn tell(&mut self, id: u32, pose: &Pose, due: bool) {
        self.inner.tell(id, pose, due);
    }

    fn serve(&mut self, now: GlobalTime) -> Result<()> {
        self.inner.serve(now)
    }

    fn sent(&mut self) -> Vec<Parcel> {
        self.inner.sent()
    }

    fn arrive_at_server(&mut self, parcel: Parcel, at: GlobalTime) {
        self.inner.arrive_at_server(parcel, at);
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, at: GlobalTime) -> Result<()> {
        self.parcels += 1;
        match self.fault.get() {
            Fault::Silent => Ok(()),
            Fault::OneInThree if self.parcels.is_multiple_of(3) => Ok(()),
            _ => self.inner.arrive_at_receiver(parcel, at),
        }
    }

    fn frame(&mut self, receiver: usize, now: GlobalTime) -> Result<Vec<Parcel>> {
        self.inner.frame(receiver, now)
    }

    fn tolerance(&self) -> f64 {
        self.inner.tolerance()
    }

    fn show(&mut self, receiver: usize, now: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        self.inner.show(receiver, now, to);
    }
}

/// Lets `play` have every contender after it has settled in each scenario in which everything is due.
fn everybody(play: impl Fn(Entrant, &Cell<Fault>, Scenario)) {
    for scenario in Scenario::ALL.into_iter().filter(|scenario| scenario.is_all_due()) {
        let entrants =
            lineup::entrants(SIZE.receivers, scenario.connections(), GlobalTime::from_millis(1_000)).unwrap();
        for entrant in entrants {
            let fault = Rc::new(Cell::new(Fault::None));
            let inner = Faulty { inner: entrant.contender, fault: Rc::clone(&fault), parcels: 0 };
            let mut entrant = Entrant { contender: Box::new(inner), ..entrant };
            entrant.enter(&SIZE).unwrap();
            entrant.settle(&SIZE, scenario).unwrap();
            play(entrant, &fault, scenario);
        }
    }
}

#[test]
fn whoever_stops_delivering_is_found_whatever_the_network_does() {
    everybody(|mut entrant, fault, scenario| {
        fault.set(Fault::Silent);
        let error = entrant.play(&SIZE, scenario, SIZE.ticks).unwrap_err().to_string();
        assert!(error.contains("where they were not told to be"), "{error}");
    });
}

#[test]
fn whoever_delivers_too_little_is_found_at_once_or_at_the_end() {
    everybody(|mut entrant, fault, scenario| {
        fault.set(Fault::OneInThree);
        let result = entrant.play(&SIZE, scenario, SIZE.ticks).and_then(|()| entrant.finish(&SIZE, scenario));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("where they were not told to be") || error.contains("show only"), "{error}");
    });
}

#[test]
fn what_was_lost_last_must_be_made_up_for() {
    everybody(|mut entrant, fault, scenario| {
        entrant.play(&SIZE, scenario, SIZE.ticks).unwrap();
        fault.set(Fault::Silent);
        // In lockstep everything has arrived already.
        let result = entrant.finish(&SIZE, scenario);
        assert_eq!(result.is_ok(), scenario == Scenario::AllDue, "{:?}", result.map(|cost| cost.name));
    });
}

/// Its server keeps 1,000 bytes of each entity, its receivers 5,000 of each frame.
#[derive(Default)]
struct Hoarder {
    server: Vec<Vec<u8>>,
    inbox: Vec<Parcel>,
    receivers: Vec<Vec<u8>>,
}

fn parcel(receiver: usize, length: usize) -> Parcel {
    Parcel { receiver, channel: 0, reliable: false, bytes: vec![0; length].into() }
}

impl Contender for Hoarder {
    fn spawn(&mut self, _: u32, _: &Pose, _: GlobalTime) -> Result<()> {
        self.server.push(vec![0; 1_000]);
        Ok(())
    }

    fn despawn(&mut self, _: u32, _: GlobalTime) -> Result<()> {
        Ok(())
    }

    fn tell(&mut self, _: u32, _: &Pose, _: bool) {}

    fn serve(&mut self, _: GlobalTime) -> Result<()> {
        self.inbox.clear();
        Ok(())
    }

    fn sent(&mut self) -> Vec<Parcel> {
        (0..SIZE.receivers).map(|receiver| parcel(receiver, 700)).collect()
    }

    fn arrive_at_server(&mut self, parcel: Parcel, _: GlobalTime) {
        self.inbox.push(parcel);
    }

    fn arrive_at_receiver(&mut self, parcel: Parcel, _: GlobalTime) -> Result<()> {
        self.receivers.push(parcel.bytes.to_vec());
        Ok(())
    }

    fn frame(&mut self, receiver: usize, _: GlobalTime) -> Result<Vec<Parcel>> {
        self.receivers.push(vec![0; 5_000]);
        Ok(vec![parcel(receiver, 300)])
    }

    fn show(&mut self, _: usize, _: GlobalTime, to: &mut dyn FnMut(u32, Vec3)) {
        (0..SIZE.entities).for_each(|id| to(id, Vec3::ZERO));
    }
}

#[test]
fn memory_is_what_the_server_keeps_and_what_has_come_and_nothing_else() {
    for connections in [Connections::Lockstep, Connections::Near] {
        let mut entrant = Entrant::new("", true, Box::<Hoarder>::default(), connections, GlobalTime::ZERO);
        entrant.enter(&SIZE).unwrap();
        for _ in 0..100 {
            entrant.tick(&SIZE, Scenario::AllDue).unwrap();
        }
        // The entities and the lists; in lockstep also one receipt of each receiver.
        let inbox = if connections == Connections::Lockstep { 300 * SIZE.receivers as i64 } else { 0 };
        let lists = entrant.held.bytes() - 1_000 * i64::from(SIZE.entities) - inbox;
        assert!((0..3_000).contains(&lists), "{connections:?}: {lists}");
    }
}

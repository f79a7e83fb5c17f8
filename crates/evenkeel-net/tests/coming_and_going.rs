//! Entities that come and go without end leave nothing behind, neither at the server nor with those who watch.

#![allow(clippy::unwrap_used)]

mod common;

use common::World;
use evenkeel::{Pose, Threshold, Vec3};
use evenkeel_net::hub::HubConfig;
use evenkeel_net::seat::SeatConfig;

/// The first player makes, moves and takes away one thing after the other, each for half a second.
fn live(world: &mut World, lives: usize) {
    for _ in 0..lives {
        let local = world.local(0);
        let tank = world.guests[0].seat.make(Threshold::within(0.1), Vec::new(), local).unwrap();
        for step in 0..10 {
            world.run(50, |_| {});
            let local = world.local(0);
            let there = Pose::at(Vec3::new(f64::from(step * step), 0.0, 0.0));
            world.guests[0].seat.observe(tank, there, local).unwrap();
        }
        let local = world.local(0);
        world.guests[0].seat.unmake(tank, local).unwrap();
        world.run(50, |_| {});
        world.hub_events.clear();
        world.guests.iter_mut().for_each(|guest| guest.events.clear());
    }
}

#[test]
fn nothing_is_left_behind() {
    let mut world = World::new(HubConfig::default());
    for (name, delay) in [("Ada", 20), ("Ben", 80)] {
        world.join(SeatConfig::named(name), delay);
    }
    world.run(4_000, |_| {});
    live(&mut world, 200);
    let grown = allocation_counter::measure(|| live(&mut world, 400));
    assert!(grown.bytes_current < 100_000, "{} bytes after 400 lives", grown.bytes_current);
}

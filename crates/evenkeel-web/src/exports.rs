//! The functions of the module: a [`Machine`] of which there is one. Each does what the machine's function of that name does.
//!
//! Whoever calls asks [`input`] for room, writes there, calls, and reads [`output_length`] bytes at [`output`]. Both places are good
//! until the next call. Times are nanoseconds of a clock that never runs backwards.

// A name that a page can call is a promise that nothing else has it.
#![allow(unsafe_code)]

use crate::machine::Machine;
use std::cell::RefCell;

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::default();
}

fn with<T>(call: impl FnOnce(&mut Machine) -> T) -> T {
    MACHINE.with_borrow_mut(call)
}

macro_rules! exports {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $kind:ty),*) -> $answer:ty = $export:literal, $call:expr;)*) => {
        $($(#[$about])*
        #[unsafe(export_name = $export)]
        pub extern "C" fn $name($($argument: $kind),*) -> $answer {
            with($call)
        })*
    };
}

exports! {
    /// Where to write so many bytes.
    input(length: u32) -> *mut u8 = "evenkeel_input", |machine| machine.input(length as usize).as_mut_ptr();
    /// Where the output is.
    output() -> *const u8 = "evenkeel_output", |machine| machine.output().as_ptr();
    /// How long the output is, in bytes.
    output_length() -> u32 = "evenkeel_output_length", |machine| machine.output().len() as u32;
    /// [`Machine::join`].
    join(session_length: u32) -> i32 = "evenkeel_join", |machine| machine.join(session_length as usize);
    /// [`Machine::connected`].
    connected() -> i32 = "evenkeel_connected", |machine| machine.connected();
    /// [`Machine::lost`].
    lost(now: i64) -> () = "evenkeel_lost", |machine| machine.lost(now);
    /// [`Machine::handle`].
    handle(kind: i32, now: i64) -> i32 = "evenkeel_handle", |machine| machine.handle(kind, now);
    /// [`Machine::poll`].
    poll(now: i64) -> i32 = "evenkeel_poll", |machine| machine.poll(now);
    /// [`Machine::timeout`].
    timeout(now: i64) -> i64 = "evenkeel_timeout", |machine| machine.timeout(now);
    /// [`Machine::keys`].
    keys(speed: i32, turn: i32) -> () = "evenkeel_keys", |machine| machine.keys(speed, turn);
    /// [`Machine::fire`].
    fire(now: i64) -> i32 = "evenkeel_fire", |machine| machine.fire(now);
    /// [`Machine::step`].
    step(now: i64) -> () = "evenkeel_step", |machine| machine.step(now);
    /// [`Machine::frame`].
    frame(now: i64) -> i32 = "evenkeel_frame", |machine| machine.frame(now);
    /// [`Machine::texts`].
    texts() -> () = "evenkeel_texts", |machine| machine.texts();
    /// [`Machine::leave`].
    leave() -> () = "evenkeel_leave", |machine| machine.leave();
}

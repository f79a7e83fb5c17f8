#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::bzflag_relay(data));

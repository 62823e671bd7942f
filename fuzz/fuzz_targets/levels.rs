//! Target `levels` under libFuzzer. What it does stands in `fuzz/src/levels.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wheel_fuzz::levels::levels(bytes));

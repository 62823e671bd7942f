//! Target `definition` under libFuzzer. What it does stands in `fuzz/src/definitions.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wheel_fuzz::definitions::definition(bytes));

//! Target `heap` under libFuzzer. What it does stands in `fuzz/src/engines.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wheel_fuzz::engines::heap(bytes));

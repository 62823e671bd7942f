//! Target `task_file` under libFuzzer. What it does stands in `fuzz/src/texts.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wheel_fuzz::texts::task_file(bytes));

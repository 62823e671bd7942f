//! Target `cron` under libFuzzer. What it does stands in `fuzz/src/calendar.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wheel_fuzz::calendar::cron(bytes));

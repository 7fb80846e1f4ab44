//! `open_trace` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer open_trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::open_trace(data);
});

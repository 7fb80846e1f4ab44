//! `text_parse` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer text_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::text_parse(data);
});

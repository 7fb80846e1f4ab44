//! `property_parse` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer property_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::property_parse(data);
});

//! `rule_parse` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer rule_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::rule_parse(data);
});

//! `std_import` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer std_import`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::std_import(data);
});

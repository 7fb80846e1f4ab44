//! `decode_chunk` for libFuzzer: `cargo +nightly fuzz run --features libfuzzer decode_chunk`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    norn_fuzz::decode_chunk(data);
});

//! Encoder and decoder together: whatever a thread does, and wherever its chunks end, decoding
//! returns what was encoded. For arbitrary bytes, the decoder stops and reports a fault.
#![expect(unsafe_code, reason = "the encoder reads and writes memory through raw pointers")]
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod bytes;
mod hook;
mod record;
mod round_trip;
mod step;
mod version;

//! Encoder and decoder, held together: whatever a thread does, and wherever its chunks end, what
//! is read is what was written. And whatever the bytes are, the decoder stops and says so.
#![expect(unsafe_code, reason = "the encoder reads and writes memory through raw pointers")]
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod bytes;
mod record;
mod round_trip;
mod step;

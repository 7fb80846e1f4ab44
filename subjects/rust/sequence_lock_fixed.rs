// The twin of `sequence_lock.rs`: it reads the sequence number again.
// Flags: --cfg fixed
include!("sequence_lock.rs");

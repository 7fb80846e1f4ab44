// The twin of `stale_index.rs`: it finds and takes under one lock.
// Flags: --cfg fixed
include!("stale_index.rs");

// The twin of `three_forks.rs`: it makes one philosopher left-handed.
// Flags: --cfg fixed
include!("three_forks.rs");

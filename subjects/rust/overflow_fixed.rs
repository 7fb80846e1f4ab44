// The twin of `overflow.rs`: it checks and subtracts under one lock.
// Flags: --cfg fixed
include!("overflow.rs");

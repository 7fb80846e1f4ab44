// The twin of `barrier.rs`: it counts those who come before it waits.
// Flags: --cfg fixed
include!("barrier.rs");

// The twin of `counter.rs`: it increments in one step.
// Flags: --cfg fixed
include!("counter.rs");

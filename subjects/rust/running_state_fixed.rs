// The twin of `running_state.rs`: it holds the lock from the read to the write.
// Flags: --cfg fixed
include!("running_state.rs");

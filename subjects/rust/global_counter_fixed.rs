// The twin of `global_counter.rs`: a mutex protects the counter.
// Flags: --cfg fixed
include!("global_counter.rs");

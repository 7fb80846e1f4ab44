// The twin of `lazy_cycle.rs`: it initialises before it starts the thread.
// Flags: --cfg fixed
include!("lazy_cycle.rs");

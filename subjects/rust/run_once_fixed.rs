// The twin of `run_once.rs`: it swaps the flag.
// Flags: --cfg fixed
include!("run_once.rs");

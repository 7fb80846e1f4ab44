// The twin of `once_set.rs`: it lets `OnceLock` decide who initialises.
// Flags: --cfg fixed
include!("once_set.rs");

// The twin of `read_twice.rs`: the first guard is dropped before the second one is requested.
// Flags: --cfg fixed
include!("read_twice.rs");

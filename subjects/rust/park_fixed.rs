// The twin of `park.rs`: it waits for each of both conditions in a loop.
// Flags: --cfg fixed
include!("park.rs");

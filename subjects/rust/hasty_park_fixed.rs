// The twin of `hasty_park.rs`: it parks until the result is there.
// Flags: --cfg fixed
include!("hasty_park.rs");

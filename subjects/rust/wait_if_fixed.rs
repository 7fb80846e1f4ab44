// The twin of `wait_if.rs`: it checks again after each wake-up.
// Flags: --cfg fixed
include!("wait_if.rs");

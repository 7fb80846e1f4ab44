// The twin of `notify_one.rs`: it wakes all waiters.
// Flags: --cfg fixed
include!("notify_one.rs");

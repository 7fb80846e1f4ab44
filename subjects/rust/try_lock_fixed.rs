// The twin of `try_lock.rs`: it waits for the lock.
// Flags: --cfg fixed
include!("try_lock.rs");

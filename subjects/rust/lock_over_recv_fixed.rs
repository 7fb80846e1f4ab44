// The twin of `lock_over_recv.rs`: it releases the lock before it waits.
// Flags: --cfg fixed
include!("lock_over_recv.rs");

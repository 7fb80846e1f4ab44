// The twin of `lost_wakeup.rs`: it sets the flag under the lock.
// Flags: --cfg fixed
include!("lost_wakeup.rs");

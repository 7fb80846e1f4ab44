// The twin of `lost_wakeup.rs`: the flag is set under the mutex.
// Flags: --cfg fixed
include!("lost_wakeup.rs");

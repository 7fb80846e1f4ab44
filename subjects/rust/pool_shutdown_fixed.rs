// The twin of `pool_shutdown.rs`: it is told so under the lock.
// Flags: --cfg fixed
include!("pool_shutdown.rs");

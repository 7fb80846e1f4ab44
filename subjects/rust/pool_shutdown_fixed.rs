// The twin of `pool_shutdown.rs`: the thread holds the lock when it stops the pool.
// Flags: --cfg fixed
include!("pool_shutdown.rs");

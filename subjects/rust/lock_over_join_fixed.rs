// The twin of `lock_over_join.rs`: it releases the lock before it joins.
// Flags: --cfg fixed
include!("lock_over_join.rs");

// The twin of `rwlock_upgrade.rs`: it checks again under the write lock.
// Flags: --cfg fixed
include!("rwlock_upgrade.rs");

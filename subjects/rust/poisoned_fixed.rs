// The twin of `poisoned.rs`: it does not stop at a poisoned lock.
// Flags: --cfg fixed
include!("poisoned.rs");

// The twin of `scoped_total.rs`: it adds under one lock.
// Flags: --cfg fixed
include!("scoped_total.rs");

// The twin of `two_mutexes.rs`: it takes the locks in one order.
// Flags: --cfg fixed
include!("two_mutexes.rs");

// The twin of `one_condvar.rs`: each step wakes all of them.
// Flags: --cfg fixed
include!("one_condvar.rs");

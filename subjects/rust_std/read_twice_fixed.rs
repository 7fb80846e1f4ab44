// The twin of `read_twice.rs`: it takes the read lock once.
// Flags: --cfg fixed
include!("read_twice.rs");

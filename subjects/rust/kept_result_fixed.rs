// The twin of `kept_result.rs`: it holds the lock from the read to the write.
// Flags: -Copt-level=3 --cfg fixed
include!("kept_result.rs");

// The twin of `lock_free_stack.rs`: pops exclude each other.
// Flags: --cfg fixed
include!("lock_free_stack.rs");

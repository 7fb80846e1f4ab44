// The twin of `own_count.rs`: it decreases the count in one step.
// Flags: --cfg fixed
include!("own_count.rs");

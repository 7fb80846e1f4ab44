// The twin of `shared_drop.rs`: the buffer is used before the share is given up.
// Flags: --cfg fixed
include!("shared_drop.rs");

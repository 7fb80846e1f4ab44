// The twin of `double_checked.rs`: it sets the flag after the value.
// Flags: --cfg fixed
include!("double_checked.rs");

// The twin of `static_mut.rs`: it counts with an atomic variable.
// Flags: --cfg fixed
include!("static_mut.rs");

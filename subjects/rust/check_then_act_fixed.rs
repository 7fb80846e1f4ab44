// The twin of `check_then_act.rs`: it takes a seat by a compare-and-swap loop.
// Flags: --cfg fixed
include!("check_then_act.rs");

// The twin of `ordered_by_std.rs`: a barrier orders the fourth element.
// Flags: --cfg fixed
include!("ordered_by_std.rs");

// The twin of `fan_in.rs`: the first sender has ended before the second one starts.
// Flags: --cfg fixed
include!("fan_in.rs");

// The twin of `short_limit.rs`: the limit is a safety net.
// Flags: --cfg fixed
include!("short_limit.rs");

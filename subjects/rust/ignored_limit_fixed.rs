// The twin of `ignored_limit.rs`: the limit is a safety net.
// Flags: --cfg fixed
include!("ignored_limit.rs");

// The twin of `map_entry.rs`: it looks up and inserts under one lock.
// Flags: --cfg fixed
include!("map_entry.rs");

// The twin of `use_after_free.rs`: it frees after the reader has ended.
// Flags: --cfg fixed
include!("use_after_free.rs");

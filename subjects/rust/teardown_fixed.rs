// The twin of `teardown.rs`: it keeps the tree alive while a child uses it.
// Flags: --cfg fixed
include!("teardown.rs");

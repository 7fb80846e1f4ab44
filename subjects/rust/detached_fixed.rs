// The twin of `detached.rs`: it joins the worker.
// Flags: --cfg fixed
include!("detached.rs");

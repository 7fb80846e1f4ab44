// The twin of `try_unwrap.rs`: it joins before it takes the value back.
// Flags: --cfg fixed
include!("try_unwrap.rs");

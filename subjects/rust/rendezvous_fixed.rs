// The twin of `rendezvous.rs`: it receives before it sends.
// Flags: --cfg fixed
include!("rendezvous.rs");

// The twin of `closed_channel.rs`: it keeps the receiver until the sender has ended.
// Flags: --cfg fixed
include!("closed_channel.rs");

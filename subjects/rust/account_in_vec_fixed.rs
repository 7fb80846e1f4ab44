// The twin of `account_in_vec.rs`: it holds the lock from the read to the write.
// Flags: --cfg fixed
include!("account_in_vec.rs");

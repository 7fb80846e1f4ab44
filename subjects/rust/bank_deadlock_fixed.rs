// The twin of `bank_deadlock.rs`: both threads lock the accounts in the same order.
// Flags: --cfg fixed
include!("bank_deadlock.rs");

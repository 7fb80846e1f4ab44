//! A bank whose balance is updated in two steps, unless the feature `fixed` is on.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

pub static BALANCE: AtomicU32 = AtomicU32::new(0);

pub fn deposit(amount: u32) {
    if cfg!(feature = "fixed") {
        BALANCE.fetch_add(amount, SeqCst);
    } else {
        let old = BALANCE.load(SeqCst);
        BALANCE.store(old + amount, SeqCst);
    }
}

/// The part in C.
pub mod native {
    unsafe extern "C" {
        fn total_add(amount: std::ffi::c_long);
        fn total_read() -> std::ffi::c_long;
    }

    pub fn add(amount: i64) {
        // SAFETY: none if two threads call it at the same time.
        unsafe { total_add(amount) }
    }

    pub fn total() -> i64 {
        // SAFETY: none if another thread calls `add` at the same time.
        unsafe { total_read() }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn deposits_add_up() {
        let other = thread::spawn(|| deposit(1));
        deposit(2);
        other.join().unwrap();
        assert_eq!(BALANCE.load(SeqCst), 3, "money is lost");
    }

    #[test]
    fn one_thread_is_enough() {
        assert_eq!(macros::answer!(), 42);
    }

    #[test]
    #[should_panic(expected = "broke")]
    fn a_panic_may_be_expected() {
        thread::spawn(|| panic!("broke")).join().unwrap_or_else(|it| std::panic::resume_unwind(it));
    }

    #[test]
    #[ignore]
    fn is_ignored() {
        panic!("this test does not run");
    }

    #[test]
    fn is_left_out() {
        panic!("the manifest leaves this test out");
    }
}

//! Two threads that fill the halves of an array, which overlap. Of the threads of the process, the one that first
//! needs a destructor for a thread-local variable creates a key for the standard library: in one schedule that
//! is the thread of the test harness, in another one a thread of the test.

use std::thread;

struct Ledger(*mut u32);

// SAFETY: that is what this test gets wrong.
unsafe impl Sync for Ledger {}

impl Ledger {
    fn fill(&self, from: usize, to: usize) {
        for at in from..to {
            // SAFETY: the array is long enough.
            unsafe { *self.0.add(at) = at as u32 };
        }
    }
}

#[test]
fn halves_do_not_overlap() {
    let mut entries = vec![0; 6];
    let ledger = &Ledger(entries.as_mut_ptr());
    thread::scope(|scope| {
        scope.spawn(|| ledger.fill(0, 4));
        scope.spawn(|| ledger.fill(3, 6));
    });
    assert!((0..6).eq(entries.into_iter().map(|it| it as usize)));
}

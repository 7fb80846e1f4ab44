//! Cancels runs whose results are no longer needed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A request to end runs early. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests the end of all runs that were launched with it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

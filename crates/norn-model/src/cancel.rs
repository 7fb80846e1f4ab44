//! A request to end work early, because its result is no longer needed or the user wants to stop.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Number of items of a pass between two looks at the request.
const INTERVAL: usize = 4096;

/// A request to end work early. Copies share it.
///
/// Whoever does the work asks for it every few thousand steps, so that it is noticed within
/// milliseconds and costs nothing in between.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests the end of all work that was started with it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The items of an iterator, up to the request. The end of a pass over a whole trace is noticed
    /// early by that, and what it has collected is incomplete then.
    pub fn items<I: Iterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        let goes_on =
            |it: &(usize, I::Item)| !it.0.is_multiple_of(INTERVAL) || !self.is_cancelled();
        items.enumerate().take_while(goes_on).map(|it| it.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_soon_after_the_request() {
        let cancel = Cancel::default();
        let mut items = cancel.items(0..1_000_000);
        assert_eq!(items.by_ref().take(INTERVAL).count(), INTERVAL);
        cancel.clone().cancel();
        assert!(items.count() < INTERVAL);
        assert_eq!(cancel.items(0..10).count(), 0);
    }
}

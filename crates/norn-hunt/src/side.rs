//! Runs side by side.

use std::{num::NonZeroUsize, thread};

use norn_replay::ReplayError;

/// Does something with each item, so many at the same time; the results are in their order.
pub(crate) fn side_by_side<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, ReplayError> + Sync,
) -> Result<Vec<R>, ReplayError> {
    let mut results = Vec::new();
    for some in items.chunks(jobs.get()) {
        let some: Result<Vec<R>, _> = thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|it| scope.spawn(|| work(it))).collect();
            let end = |it: thread::ScopedJoinHandle<'_, _>| {
                it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(end).collect()
        });
        results.extend(some?);
    }
    Ok(results)
}

//! Semaphores that are used as mutexes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Effect, Op, SemaphoreEffect, ThreadId};

#[derive(Default)]
struct Use {
    /// Its initial value is one.
    begins: bool,
    /// Some thread does not alternate between wait and post.
    mixed: bool,
    holders: BTreeSet<ThreadId>,
}

/// The semaphores with the initial value one on which every thread alternates between wait and
/// post: they are used as mutexes. The events of each thread are in program order.
pub fn mutexes<'a>(events: impl Iterator<Item = (ThreadId, &'a Op)>) -> BTreeSet<u64> {
    let mut all: BTreeMap<u64, Use> = BTreeMap::new();
    for (thread, op) in events {
        let Effect::Semaphore(effect) = op.effect() else { continue };
        match effect {
            SemaphoreEffect::Init { semaphore, value } => {
                let it = all.entry(semaphore).or_default();
                it.mixed |= it.begins || value != 1;
                it.begins = true;
            }
            SemaphoreEffect::Wait { semaphore, .. } => {
                let it = all.entry(semaphore).or_default();
                it.mixed |= !it.holders.insert(thread);
            }
            SemaphoreEffect::Post { semaphore } => {
                let it = all.entry(semaphore).or_default();
                it.mixed |= !it.holders.remove(&thread);
            }
            SemaphoreEffect::Failed { .. } => {}
        }
    }
    all.into_iter()
        .filter(|(_, it)| it.begins && !it.mixed)
        .map(|(semaphore, _)| semaphore)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn count(trace: &str) -> usize {
        let trace = text::parse(trace).unwrap_or_default();
        let events = trace.threads.iter().flat_map(|it| &it.events);
        mutexes(events.map(|it| (it.id.thread, &it.op))).len()
    }

    #[test]
    fn alternating_waits_and_posts_are_a_mutex() {
        assert_eq!(count("T1 init s semaphore 1\nT1 down s\nT1 post s\nT2 down s\nT2 post s"), 1);
        assert_eq!(count("T1 init s semaphore 2\nT1 down s\nT1 post s\nT2 down s\nT2 post s"), 0);
        assert_eq!(count("T1 init s semaphore 1\nT1 down s\nT2 post s"), 0);
        assert_eq!(count("T1 down s\nT1 post s"), 0);
    }
}

//! Semaphores that are used as mutexes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Object, Op, ThreadId};

#[derive(Default)]
struct Use {
    /// It begins with one.
    begins: bool,
    /// Somebody does not wait and post in turn.
    mixed: bool,
    holders: BTreeSet<ThreadId>,
}

/// The semaphores that begin with one, and that every thread waits for and posts in turn: they keep
/// critical sections apart. The events of each thread are in their order.
pub fn mutexes<'a>(events: impl Iterator<Item = (ThreadId, &'a Op)>) -> BTreeSet<u64> {
    let mut all: BTreeMap<u64, Use> = BTreeMap::new();
    for (thread, op) in events {
        match *op {
            Op::Init { object, class: Object::Semaphore, detail } => {
                let it = all.entry(object).or_default();
                it.mixed |= it.begins || detail != 1;
                it.begins = true;
            }
            Op::SemWait { semaphore, .. } => {
                let it = all.entry(semaphore).or_default();
                it.mixed |= !it.holders.insert(thread);
            }
            Op::SemPost { semaphore } => {
                let it = all.entry(semaphore).or_default();
                it.mixed |= !it.holders.remove(&thread);
            }
            _ => {}
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
    fn who_waits_and_posts_in_turn_locks() {
        assert_eq!(count("T1 init s semaphore 1\nT1 down s\nT1 post s\nT2 down s\nT2 post s"), 1);
        assert_eq!(count("T1 init s semaphore 2\nT1 down s\nT1 post s\nT2 down s\nT2 post s"), 0);
        assert_eq!(count("T1 init s semaphore 1\nT1 down s\nT2 post s"), 0);
        assert_eq!(count("T1 down s\nT1 post s"), 0);
    }
}

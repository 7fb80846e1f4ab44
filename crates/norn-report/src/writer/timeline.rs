//! What the order of some events shows: the lanes of threads, the write that a read read from, the hand-over
//! of locks, and how long locks were held.
//!
//! All of it is between the events that the report has. A write that is not among them may lie between two
//! that are, so a read is linked to a write only if their values agree.

use std::collections::BTreeMap;

use norn_model::ThreadName;

use crate::{Action, EventRow};

/// Two events of which the second depends on the first, by their places in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: LinkKind,
}

/// How an event depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// It read what the other wrote.
    ReadsFrom,
    /// It took the lock that the other released.
    HandOver,
}

/// A lock that a thread held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held<'a> {
    pub(super) thread: &'a ThreadName,
    pub(super) lock: &'a str,
    /// The event that took it.
    pub(super) from: usize,
    /// The event that released it, if that is shown.
    pub(super) to: Option<usize>,
}

/// The threads of some events: parents before their children, and these by number.
pub(super) fn lanes<'a>(rows: impl IntoIterator<Item = &'a EventRow>) -> Vec<&'a ThreadName> {
    sorted(rows.into_iter().map(|it| &it.thread))
}

/// Threads sorted by their ancestry, each once.
pub(super) fn sorted<'a>(threads: impl Iterator<Item = &'a ThreadName>) -> Vec<&'a ThreadName> {
    let mut threads: Vec<_> = threads.collect();
    threads.sort_by_key(|it| ancestry(it));
    threads.dedup();
    threads
}

fn ancestry(name: &ThreadName) -> (Vec<Option<u32>>, &str) {
    (name.0.split('.').map(|it| it.trim_end_matches('!').parse().ok()).collect(), &name.0)
}

/// The links between threads. What a thread did itself needs no link.
pub(super) fn links(rows: &[EventRow]) -> Vec<Link> {
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    let mut released: BTreeMap<&str, usize> = BTreeMap::new();
    let mut links = Vec::new();
    for (to, row) in rows.iter().enumerate() {
        let Some(object) = row.object.as_deref() else { continue };
        if reads(row.action)
            && let Some(from) = written.get(object).copied()
            && agree(&rows[from], row)
        {
            links.push(Link { from, to, kind: LinkKind::ReadsFrom });
        }
        if takes(row.action)
            && let Some(from) = released.remove(object)
        {
            links.push(Link { from, to, kind: LinkKind::HandOver });
        }
        if writes(row.action) {
            written.insert(object, to);
        }
        if releases(row.action) {
            released.insert(object, to);
        }
    }
    links.retain(|it| rows[it.from].thread != rows[it.to].thread);
    links
}

/// The locks that threads held.
pub(super) fn held(rows: &[EventRow]) -> Vec<Held<'_>> {
    let mut held: Vec<Held<'_>> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(lock) = row.object.as_deref() else { continue };
        if takes(row.action) {
            held.push(Held { thread: &row.thread, lock, from: at, to: None });
        } else if releases(row.action) {
            let open =
                |it: &&mut Held<'_>| it.to.is_none() && it.lock == lock && *it.thread == row.thread;
            if let Some(it) = held.iter_mut().rfind(open) {
                it.to = Some(at);
            }
        }
    }
    held
}

/// Whether a read may have read from a write. What an atomic update wrote is not known.
fn agree(write: &EventRow, read: &EventRow) -> bool {
    let known = [write, read].map(|it| it.value.filter(|_| it.action != Action::AtomicUpdate));
    match known {
        [Some(written), Some(value)] => written == value,
        _ => true,
    }
}

fn reads(action: Action) -> bool {
    use Action::{AtomicRead, AtomicUpdate, CompareExchange, CompareExchangeFailed, Read};
    matches!(action, Read | AtomicRead | AtomicUpdate | CompareExchange | CompareExchangeFailed)
}

fn writes(action: Action) -> bool {
    use Action::{AtomicUpdate, AtomicWrite, CompareExchange, Write};
    matches!(action, Write | AtomicWrite | AtomicUpdate | CompareExchange)
}

fn takes(action: Action) -> bool {
    matches!(action, Action::Lock | Action::LockShared)
}

fn releases(action: Action) -> bool {
    matches!(action, Action::Unlock | Action::WaitUnlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Number, writer::sample::row};

    fn valued(thread: &str, action: Action, object: &str, value: u128) -> EventRow {
        EventRow { value: Some(Number(value)), ..row(thread, action, object, 1, None) }
    }

    #[test]
    fn a_read_is_linked_to_the_last_write_of_its_value_by_another_thread() {
        let rows = [
            valued("T0.1", Action::Write, "x", 1),
            valued("T0.1", Action::Read, "x", 1),
            valued("T0.2", Action::Read, "x", 1),
            valued("T0.2", Action::Read, "x", 7),
            valued("T0.2", Action::Read, "y", 1),
        ];
        assert_eq!(links(&rows), [Link { from: 0, to: 2, kind: LinkKind::ReadsFrom }]);
    }

    #[test]
    fn locks_are_held_until_they_are_released_and_handed_over() {
        let lock = |thread, action, lock| row(thread, action, lock, 1, None);
        let rows = [
            lock("T0.1", Action::Lock, "m"),
            lock("T0.1", Action::Lock, "n"),
            lock("T0.1", Action::Unlock, "m"),
            lock("T0.2", Action::Lock, "m"),
        ];
        assert_eq!(links(&rows), [Link { from: 2, to: 3, kind: LinkKind::HandOver }]);
        let spans: Vec<_> = held(&rows).iter().map(|it| (it.lock, it.from, it.to)).collect();
        assert_eq!(spans, [("m", 0, Some(2)), ("n", 1, None), ("m", 3, None)]);
    }

    #[test]
    fn lanes_are_sorted_by_ancestry() {
        let rows = ["T0.10", "T0.2", "T0", "T0.2.1", "T0.2"];
        let rows = rows.map(|it| row(it, Action::Begin, "", 1, None));
        let names: Vec<_> = lanes(&rows).iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["T0", "T0.2", "T0.2.1", "T0.10"]);
    }
}

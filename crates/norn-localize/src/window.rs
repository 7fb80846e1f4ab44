//! The window of a shared variable: its last accesses, of which no two adjacent ones are of the same
//! thread.
//!
//! An access of the thread that made the last one replaces it, except that a read does not replace a
//! write: both kinds of violation need a write. An access of another thread takes the next slot. If
//! there is none, the patterns that begin with the oldest access are reported, and that access is
//! evicted.
//!
//! The paper's algorithm reports patterns only when a full window slides. Then the last accesses of
//! a run would be in no pattern, and the paper's own example would not come out. So a window is
//! *drained* at its end: it slides until it is empty.

use norn_model::{EventId, SiteId, ThreadId};
use smallvec::{SmallVec, smallvec};

use crate::{Pattern, PatternKind};

/// What an access does. An atomic read-modify-write counts as a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// An access to a shared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Its place in the code.
    pub site: SiteId,
    /// The thread, and the index among the thread's events.
    pub event: EventId,
    /// Its position among the accesses, creations and joins of threads of the run.
    pub time: u64,
}

impl Access {
    fn thread(&self) -> ThreadId {
        self.event.thread
    }
}

/// The accesses of one pattern in a run, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The kind of pattern.
    pub kind: PatternKind,
    /// Its accesses.
    pub accesses: SmallVec<[Access; 3]>,
}

impl Match {
    /// The pattern, without what is particular to the run.
    pub fn pattern(&self) -> Pattern<SiteId> {
        Pattern { kind: self.kind, sites: self.accesses.iter().map(|it| it.site).collect() }
    }
}

/// The window of a variable. Most variables are private to a thread and never have a second slot,
/// so one access is stored inline.
#[derive(Clone, Debug)]
pub struct Window {
    slots: SmallVec<[Access; 1]>,
}

impl Window {
    /// A window with the first access to a variable.
    pub fn new(first: Access) -> Window {
        Window { slots: smallvec![first] }
    }

    /// The accesses, the oldest first.
    pub fn slots(&self) -> &[Access] {
        &self.slots
    }

    /// Adds an access to a window of `size` slots, and reports the patterns that begin with the access
    /// that is evicted, if there is one.
    #[inline]
    pub fn record(&mut self, access: Access, size: usize, found: &mut dyn FnMut(Match)) {
        if let Some(last) = self.slots.last_mut()
            && last.thread() == access.thread()
        {
            if (last.kind, access.kind) != (AccessKind::Write, AccessKind::Read) {
                *last = access;
            }
            return;
        }
        if self.slots.len() >= size {
            self.slide(found);
        }
        self.slots.push(access);
    }

    /// Reports all patterns that are left.
    pub fn drain(&mut self, found: &mut dyn FnMut(Match)) {
        while self.slots.len() > 1 {
            self.slide(found);
        }
        self.slots.clear();
    }

    /// Reports the patterns that begin with the oldest access, and evicts it. A pair is reported only
    /// if no triple is, because the triple already contains it.
    fn slide(&mut self, found: &mut dyn FnMut(Match)) {
        if !self.triples(found) {
            self.pair(found);
        }
        self.slots.remove(0);
    }

    /// Reports all unserializable triples that begin with the oldest access.
    fn triples(&self, found: &mut dyn FnMut(Match)) -> bool {
        let Some((first, rest)) = self.slots.split_first() else { return false };
        let mut any = false;
        for (at, last) in rest.iter().enumerate().filter(|it| it.1.thread() == first.thread()) {
            for remote in rest[..at].iter().filter(|it| it.thread() != first.thread()) {
                let kind = PatternKind::of_triple(first.kind, remote.kind, last.kind);
                let Some(kind) = kind else { continue };
                any = true;
                found(Match { kind, accesses: smallvec![*first, *remote, *last] });
            }
        }
        any
    }

    /// Reports the oldest access and the next one, if they conflict.
    fn pair(&self, found: &mut dyn FnMut(Match)) {
        if let [first, second, ..] = *self.slots
            && let Some(kind) = PatternKind::of_pair(first.kind, second.kind)
        {
            found(Match { kind, accesses: smallvec![first, second] });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `R1 W2`: an access for each word, with its position as its site.
    fn accesses(text: &str) -> impl Iterator<Item = Access> {
        text.split_whitespace().zip(0u32..).map(|(word, at)| {
            let (kind, thread) = word.split_at(1);
            let kind = if kind == "W" { AccessKind::Write } else { AccessKind::Read };
            let thread = ThreadId(thread.parse().unwrap());
            let event = EventId { thread, index: at.into() };
            Access { kind, site: SiteId(at), event, time: at.into() }
        })
    }

    /// The patterns that slide out of a window while accesses are recorded, and those that are drained.
    fn patterns(text: &str, size: usize) -> (Vec<String>, Vec<String>) {
        let show = |it: &Match| {
            let times: Vec<_> = it.accesses.iter().map(|it| it.time.to_string()).collect();
            format!("{} {}", it.kind, times.join(" "))
        };
        let mut window: Option<Window> = None;
        let (mut slid, mut drained) = (Vec::new(), Vec::new());
        for access in accesses(text) {
            match &mut window {
                None => window = Some(Window::new(access)),
                Some(it) => it.record(access, size, &mut |it| slid.push(show(&it))),
            }
        }
        window.unwrap().drain(&mut |it| drained.push(show(&it)));
        (slid, drained)
    }

    #[test]
    fn a_write_is_kept_and_everything_else_is_replaced() {
        assert_eq!(patterns("R1 R1 W2", 5).1, ["R1-W2 1 2"]);
        assert_eq!(patterns("R1 W1 R2", 5).1, ["W1-R2 1 2"]);
        assert_eq!(patterns("W1 R1 R2", 5).1, ["W1-R2 0 2"]);
        assert_eq!(patterns("W1 W1 R2", 5).1, ["W1-R2 1 2"]);
    }

    #[test]
    fn a_full_window_slides() {
        let (slid, drained) = patterns("W1 W2 R3 W4", 3);
        assert_eq!(slid, ["W1-W2 0 1"]);
        assert_eq!(drained, ["W1-R2 1 2", "R1-W2 2 3"]);
    }

    #[test]
    fn threads_occur_again_in_a_window() {
        // Both later accesses of thread 1 form triples with its first one.
        let (slid, drained) = patterns("W1 W2 W1 W2 R1", 5);
        assert_eq!(slid, [""; 0]);
        assert_eq!(
            drained,
            [
                "W1-W2-W1 0 1 2",
                "W1-W2-R1 0 1 4",
                "W1-W2-R1 0 3 4",
                "W1-W2-W1 1 2 3",
                "W1-W2-R1 2 3 4",
                "W1-R2 3 4",
            ]
        );
    }

    #[test]
    fn a_pair_is_not_reported_beside_a_triple() {
        assert_eq!(patterns("R1 W2 W1", 3).1, ["R1-W2-W1 0 1 2", "W1-W2 1 2"]);
        // W1-R2-R1 has a serial order, so its pair counts.
        assert_eq!(patterns("W1 R2 R1", 3).1, ["W1-R2 0 1"]);
    }

    #[test]
    fn a_private_variable_has_no_patterns() {
        assert_eq!(patterns("R1 W1 R1 W1", 3), (Vec::new(), Vec::new()));
    }
}

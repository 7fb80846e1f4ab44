//! The window of a variable of a recorded run. What it does with accesses is [`norn_window`]'s.

use norn_model::{EventId, SiteId};
use norn_window::{AccessKind, Ancestry, Match, Slots, drain, record};
use smallvec::{SmallVec, smallvec};

/// An access to a shared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Its place in the code.
    pub site: SiteId,
    /// The thread, and the index among the thread's events.
    pub event: EventId,
    /// The epoch of the thread; see [`Ancestry`].
    pub epoch: u32,
    /// Its position among the accesses of the run.
    pub time: u64,
}

impl norn_window::Access for Access {
    fn kind(&self) -> AccessKind {
        self.kind
    }
    fn thread(&self) -> u32 {
        self.event.thread.0
    }
    fn epoch(&self) -> u32 {
        self.epoch
    }
    fn time(&self) -> u64 {
        self.time
    }
    fn is_same_place(&self, other: &Access) -> bool {
        self.site == other.site
    }
    fn at(self, time: u64) -> Access {
        Access { time, ..self }
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
    pub fn record(
        &mut self,
        access: Access,
        size: usize,
        threads: &impl Ancestry,
        found: &mut impl FnMut(Match<Access>),
    ) {
        record(self, access, size, threads, found);
    }

    /// Reports all patterns that are left.
    pub fn drain(&mut self, found: &mut impl FnMut(Match<Access>)) {
        drain(self, found);
    }
}

impl Slots for Window {
    type Access = Access;

    fn len(&self) -> usize {
        self.slots.len()
    }
    fn get(&self, at: usize) -> Access {
        self.slots[at]
    }
    fn set(&mut self, at: usize, access: Access) {
        self.slots[at] = access;
    }
    fn push(&mut self, access: Access) {
        self.slots.push(access);
    }
    fn evict(&mut self) {
        self.slots.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadId;
    use norn_window::Link;

    use super::*;

    /// Threads of which nothing is known.
    struct Strangers;

    impl Ancestry for Strangers {
        fn created(&self, _: u32) -> Option<Link> {
            None
        }
        fn joined(&self, _: u32) -> Option<Link> {
            None
        }
    }

    /// `R1 W2`: an access for each word, with its position as its site.
    fn accesses(text: &str) -> impl Iterator<Item = Access> {
        text.split_whitespace().zip(0u32..).map(|(word, at)| {
            let (kind, thread) = word.split_at(1);
            let kind = if kind == "W" { AccessKind::Write } else { AccessKind::Read };
            let thread = ThreadId(thread.parse().unwrap());
            let event = EventId { thread, index: at.into() };
            Access { kind, site: SiteId(at), event, epoch: 0, time: at.into() }
        })
    }

    /// The patterns that slide out of a window while accesses are recorded, and those that are drained.
    fn patterns(text: &str, size: usize) -> (Vec<String>, Vec<String>) {
        let show = |it: &Match<Access>| {
            let times: Vec<_> = it.accesses().iter().map(|it| it.time.to_string()).collect();
            format!("{} {}", it.kind, times.join(" "))
        };
        let mut window: Option<Window> = None;
        let (mut slid, mut drained) = (Vec::new(), Vec::new());
        for access in accesses(text) {
            match &mut window {
                None => window = Some(Window::new(access)),
                Some(it) => it.record(access, size, &Strangers, &mut |it| slid.push(show(&it))),
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

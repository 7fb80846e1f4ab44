//! Which accesses of a thread belong together.
//!
//! As in the paper of Huang and Zhang (ISSTA 2011) those in one outermost critical section do,
//! where waiting for another thread ends a region. Beyond the paper: what the user marks, and,
//! with the least weight, accesses to one variable that merely follow each other. Many real errors
//! read in one critical section and write in the next.
//!
//! Two accesses of one thread are always in one activation of some function and what it calls: at
//! least in that of the thread's first function. So nothing is excluded for being far apart; what
//! is close is tried first. Accesses to different variables are so many that for them it counts
//! whether they are [near](Regions::near). A trace does not say when a function is left and
//! entered again from the same place, and recursion is folded, so two activations may be taken
//! for one.

use std::ops::RangeInclusive;

use norn_model::{Event, Scope, StackId, Stacks, ThreadId, Trace};

use crate::{access::Touch, outline::Outline};

/// Events of one thread that the user wants to be atomic, the first and the last included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Whose.
    pub thread: ThreadId,
    /// From which to which of its events.
    pub events: RangeInclusive<u64>,
}

impl Region {
    /// The longest stretches of events of which something holds, such as being in a function.
    pub fn stretches(trace: &Trace, holds: impl Fn(&Event) -> bool) -> Vec<Region> {
        let mut regions = Vec::new();
        for thread in &trace.threads {
            for stretch in thread.events.chunk_by(|a, b| holds(a) == holds(b)) {
                if let [first, ..] = stretch
                    && let Some(last) = stretch.last()
                    && holds(first)
                {
                    let events = first.id.index..=last.id.index;
                    regions.push(Region { thread: thread.id, events });
                }
            }
        }
        regions
    }
}

/// The regions of all threads.
#[derive(Debug)]
pub(crate) struct Regions<'a> {
    outlines: &'a [Outline],
    stacks: &'a Stacks,
    /// By thread, sorted.
    marked: Vec<Vec<(u32, u32)>>,
}

impl<'a> Regions<'a> {
    pub(crate) fn new(trace: &'a Trace, outlines: &'a [Outline], marked: &[Region]) -> Self {
        let narrow = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
        let of = |id: ThreadId| {
            let mine = marked.iter().filter(move |it| it.thread == id);
            let mut mine: Vec<_> =
                mine.map(|it| (narrow(*it.events.start()), narrow(*it.events.end()))).collect();
            mine.sort_unstable();
            mine
        };
        Regions {
            outlines,
            stacks: &trace.stacks,
            marked: trace.threads.iter().map(|it| of(it.id)).collect(),
        }
    }

    /// Why two accesses of a thread belong together, if they do.
    pub(crate) fn scope(&self, first: &Touch, last: &Touch) -> Option<Scope> {
        if self.mark(first.thread, first.index).is_some_and(|it| it.1 >= last.index) {
            return Some(Scope::Marked);
        }
        if first.section == last.section && first.set != 0 {
            return Some(Scope::Section);
        }
        let outline = &self.outlines[usize::from(first.thread)];
        let together = outline.span(first.index) == outline.span(last.index);
        together.then_some(Scope::Unmarked)
    }

    /// Whether two accesses are in one activation of a function, or of those that it calls itself.
    pub(crate) fn near(&self, first: &Touch, last: &Touch) -> bool {
        let caller = |id: u32| self.stacks.below(StackId(id)).nth(1).map_or(0, |it| it.0.0);
        let (one, other) = (first.stack, last.stack);
        one == other || {
            let callers = (caller(one), caller(other));
            callers.0 == other || one == callers.1 || callers.0 == callers.1
        }
    }

    /// The bounds of the region from one access to another.
    pub(crate) fn bounds(&self, scope: Scope, thread: u16, first: u32, last: u32) -> (u64, u64) {
        let (from, to) = match scope {
            Scope::Single | Scope::Unmarked => (first, last),
            Scope::Marked => self.mark(thread, first).unwrap_or((first, last)),
            Scope::Section => self.section(thread, first),
        };
        (from.into(), to.into())
    }

    fn section(&self, thread: u16, index: u32) -> (u32, u32) {
        let changes = &self.outlines[usize::from(thread)].changes;
        let section = changes[self.outlines[usize::from(thread)].at(index)].section;
        let from = changes.partition_point(|it| it.section < section);
        let to = changes.partition_point(|it| it.section <= section);
        let end = changes.get(to).map_or(u32::MAX, |it| it.from);
        (changes[from].from, end)
    }

    /// The first marked region that an event is in.
    fn mark(&self, thread: u16, index: u32) -> Option<(u32, u32)> {
        let marked = &self.marked[usize::from(thread)];
        let begun = &marked[..marked.partition_point(|it| it.0 <= index)];
        begun.iter().copied().find(|it| it.1 >= index)
    }
}

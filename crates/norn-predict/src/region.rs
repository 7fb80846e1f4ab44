//! The regions of a thread: accesses that belong together.
//!
//! As in the paper of Huang and Zhang (ISSTA 2011), an outermost critical section is a region, and
//! waiting for another thread ends it. Beyond the paper: regions that the user marks, and, with the
//! least weight, accesses to one variable that merely follow each other. Many real bugs read in one
//! critical section and write in the next.
//!
//! Two accesses of one thread always belong to one activation of some function and its callees: at
//! least to that of the thread's start function. So distance excludes nothing; close accesses are
//! tried first. Accesses to different variables are very many, so these must be
//! [near](Regions::near). A trace does not contain the return from a function and the next call
//! from the same site, and recursion is folded, so two activations may be taken for one.

use std::ops::RangeInclusive;

use norn_model::{Event, FunctionPattern, Op, Scope, StackId, Stacks, ThreadId, Trace};

use crate::{access::Touch, outline::Outline};

/// Events of one thread that the user declares atomic, including the first and the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The thread.
    pub thread: ThreadId,
    /// The range of its events.
    pub events: RangeInclusive<u64>,
}

impl Region {
    /// The maximal ranges of events for which a predicate holds, such as being in a function.
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

/// The regions that the program marks, and the calls of atomic functions. Nested regions belong to
/// the outer one; a region without an end ends with its thread.
pub(crate) fn marked(trace: &Trace, functions: &[FunctionPattern]) -> Vec<Region> {
    let named = |name| functions.iter().any(|it| it.matches(trace.names.name(name)));
    let mut regions = Vec::new();
    for thread in &trace.threads {
        let (mut depth, mut start) = (0_u32, 0);
        let mut push = |start, end| {
            regions.push(Region { thread: thread.id, events: start..=end });
        };
        for event in &thread.events {
            let begins = matches!(event.op, Op::RegionBegin)
                || matches!(event.op, Op::Call { function, .. } if named(function));
            let ends = matches!(event.op, Op::RegionEnd)
                || matches!(event.op, Op::Return { function, .. } if named(function));
            if !(begins || ends && depth > 0) {
                continue;
            }
            depth -= u32::from(ends);
            match (begins, depth) {
                (true, 0) => (depth, start) = (1, event.id.index),
                (true, _) => depth += 1,
                (false, 0) => push(start, event.id.index),
                (false, _) => {}
            }
        }
        if depth > 0 {
            push(start, thread.events.len() as u64);
        }
    }
    regions
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
        let marked_in = |id: ThreadId| {
            let mine = marked.iter().filter(move |it| it.thread == id);
            let mut mine: Vec<_> =
                mine.map(|it| (narrow(*it.events.start()), narrow(*it.events.end()))).collect();
            mine.sort_unstable();
            mine
        };
        Regions {
            outlines,
            stacks: &trace.stacks,
            marked: trace.threads.iter().map(|it| marked_in(it.id)).collect(),
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

    /// Whether two accesses belong to one activation of a function, including its direct callees.
    pub(crate) fn near(&self, first: &Touch, last: &Touch) -> bool {
        let caller = |id: u32| self.stacks.below(StackId(id)).nth(1).map_or(0, |it| it.0.0);
        let (one, other) = (first.stack, last.stack);
        one == other || {
            let callers = (caller(one), caller(other));
            callers.0 == other || one == callers.1 || callers.0 == callers.1
        }
    }

    /// The bounds of the region that contains two accesses.
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

    /// The first marked region that contains an event.
    fn mark(&self, thread: u16, index: u32) -> Option<(u32, u32)> {
        let marked = &self.marked[usize::from(thread)];
        let begun = &marked[..marked.partition_point(|it| it.0 <= index)];
        begun.iter().copied().find(|it| it.1 >= index)
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    fn regions(trace: &str, functions: &[&str]) -> Vec<(u32, u64, u64)> {
        let functions: Vec<_> = functions.iter().map(|it| FunctionPattern::new(it)).collect();
        let regions = marked(&text::parse(trace).unwrap_or_default(), &functions);
        let ends = |it: &Region| (it.thread.0, *it.events.start(), *it.events.end());
        regions.iter().map(ends).collect()
    }

    #[test]
    fn marked_regions_of_the_program() {
        let trace = "T1 region begin\nT1 w x\nT1 region begin\nT1 region end\nT1 region end\n\
                     T1 region end\nT1 w x\nT2 region begin\nT2 w x";
        assert_eq!(regions(trace, &[]), [(0, 0, 4), (1, 0, 2)]);
    }

    #[test]
    fn calls_of_functions() {
        let trace = "T1 call move(1)\nT1 w x\nT1 call log()\nT1 return log\nT1 return move -> 0\n\
                     T1 call log()\nT1 return log";
        assert_eq!(regions(trace, &[]), []);
        assert_eq!(regions(trace, &["mo*"]), [(0, 0, 4)]);
        assert_eq!(regions(trace, &["move", "log"]), [(0, 0, 4), (0, 5, 6)]);
    }
}

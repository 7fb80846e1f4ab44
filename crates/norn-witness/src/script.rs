//! What threads do to each other, without what they do to memory: a script for the engine that
//! rearranges a run. It is made once for a trace, and has a [`Beat`] for each event that can
//! make a thread wait or let another one go on.

use norn_model::Trace;
use rustc_hash::FxHashMap;

use crate::writer::Writer;

/// One step that can make a thread wait or let another one go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    /// Which event of the thread.
    pub(crate) index: u32,
    pub(crate) act: Act,
}

/// A place: the thread, counted from 0, and the index of its event.
pub(crate) type At = (u32, u32);

/// What a beat does. Objects are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Takes a lock; where it is given back, as far as the trace goes. Whether it is waited for
    /// some time only.
    Take { lock: u32, shared: bool, until: Option<u32>, timed: bool },
    /// Gives a lock back.
    Give { lock: u32 },
    /// Waits until a thread has ended.
    Join { thread: u32 },
    /// Begins to wait for a condition.
    Wait,
    /// Has been woken, by this if that is known, and takes the lock again.
    Wake { cond: u32, by: Option<At>, woken: bool, lock: u32, until: Option<u32>, timed: bool },
    /// Wakes one or all.
    Signal { cond: u32, all: bool },
    /// Posts a semaphore.
    Post { semaphore: u32 },
    /// Waits for a semaphore.
    Down { semaphore: u32, timed: bool },
    /// Needs other events, a range of [`Script::needs`].
    Needs { from: u32, to: u32 },
}

/// The beats of one thread.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) beats: Vec<Beat>,
    /// Where outermost critical sections begin and end.
    pub(crate) sections: Vec<(u32, u32)>,
    /// Who creates it.
    pub(crate) fork: Option<At>,
    pub(crate) len: u32,
}

/// What threads do to each other.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) parts: Vec<Part>,
    /// The recorded order: which thread goes on until where.
    pub(crate) runs: Vec<At>,
    pub(crate) needs: Vec<At>,
    /// By condition, all signals; by semaphore, all posts: in the recorded order.
    pub(crate) signals: Vec<Vec<At>>,
    pub(crate) posts: Vec<Vec<At>>,
    /// By signal, the waits that it ended.
    pub(crate) ended: FxHashMap<At, Vec<At>>,
    /// By semaphore, its first value.
    pub(crate) firsts: Vec<i64>,
    pub(crate) locks: usize,
}

impl Script {
    pub(crate) fn new(trace: &Trace) -> Script {
        let mut writer = Writer::new(trace);
        for event in trace.merged() {
            writer.event(event.id, &event.op);
        }
        writer.finish()
    }

    /// The first event of the outermost critical section that an event is in, or the event.
    pub(crate) fn outermost(&self, at: At) -> u32 {
        self.section(at).map_or(at.1, |it| it.0)
    }

    /// The first event of a section so many before that one, or the event if there are not so many.
    pub(crate) fn earlier(&self, at: At, sections: usize) -> u32 {
        let all = &self.parts[at.0 as usize].sections;
        let begun = all.partition_point(|it| it.0 < self.outermost(at));
        begun.checked_sub(sections).map_or(at.1, |it| all[it].0)
    }

    /// Where a thread takes the first of the locks around an event that others hold at theirs, or the
    /// outermost one if they have none in common.
    pub(crate) fn common(&self, at: At, others: &[At]) -> u32 {
        let others = others.iter().filter(|it| it.0 != at.0);
        let wanted: Vec<_> = others.flat_map(|it| self.held(*it)).map(|it| it.0).collect();
        let mut held = self.held(at);
        held.find(|it| wanted.contains(&it.0)).map_or_else(|| self.outermost(at), |it| it.1)
    }

    /// The locks that a thread holds at an event, and where it took them, in this order.
    fn held(&self, at: At) -> impl Iterator<Item = (u32, u32)> {
        let beats = &self.parts[at.0 as usize].beats;
        let from = beats.partition_point(|it| it.index < self.outermost(at));
        let taken = beats[from..].iter().take_while(move |it| it.index < at.1);
        taken.filter_map(move |it| match it.act {
            Act::Take { lock, until, .. } | Act::Wake { lock, until, .. } => {
                until.is_none_or(|it| it > at.1).then_some((lock, it.index))
            }
            _ => None,
        })
    }

    /// Where that section has been left, as a number of events.
    pub(crate) fn left(&self, at: At) -> u32 {
        let end = self.section(at).map_or(at.1, |it| it.1).saturating_add(1);
        end.min(self.parts[at.0 as usize].len)
    }

    fn section(&self, (thread, index): At) -> Option<(u32, u32)> {
        let sections = &self.parts[thread as usize].sections;
        let begun = sections.partition_point(|it| it.0 <= index);
        let last = begun.checked_sub(1).map(|at| sections[at]);
        last.filter(|(_, end)| index <= *end)
    }
}

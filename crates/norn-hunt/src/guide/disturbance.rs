//! A disturbance: a run is repeated up to the moment at which a thread, the *victim*, has read a
//! variable. Then another thread writes it, and the victim continues with what it has read.
//!
//! Atomicity and order violations need one such moment. The difference here is what follows: a
//! disturbance may be repeated for as long as the victim reads the variable again, it may let the writer
//! run as far as it can, and it may be added to a run that was already disturbed.

use std::iter;

use norn_model::{EventId, Segment, ThreadId, Until, Visit};
use norn_replay::{Clip, arrange, point};

use crate::source::Source;

/// Number of times that a thread finds a lock held which it only tries to acquire. Programs that give up do so
/// after a few failures.
const TRIES: usize = 4;

/// How the writer disturbs the victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The writer writes the variable again after each read of the victim, up to this number of times.
    Repeatedly(usize),
    /// The writer completes the critical section of its write.
    Once,
    /// The writer continues until it blocks or ends.
    ToTheEnd,
    /// The writer stops after its write, within its critical section, before the victim reads.
    Inside,
    /// The writer stops with a lock that the victim only tries to acquire, until it has tried that several times
    /// or does something else.
    Held,
}

impl Mode {
    /// A number for each mode, independent of the number of repetitions.
    pub(super) fn number(self) -> usize {
        match self {
            Mode::Repeatedly(_) => 0,
            Mode::Once => 1,
            Mode::ToTheEnd => 2,
            Mode::Inside => 3,
            Mode::Held => 4,
        }
    }
}

/// A disturbance of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disturbance {
    /// The order of the run up to the moment: each turn ends before the event with this index.
    pub(super) turns: Vec<(ThreadId, u64)>,
    /// The read. If it comes earlier than in the run, the victim may take another path from there.
    pub(super) read: EventId,
    /// The last event of the victim before it is disturbed: the end of the critical section of the read.
    pub(super) seen: EventId,
    /// The last event of the writer in the first disturbance.
    pub(super) written: EventId,
    pub(super) mode: Mode,
    /// Where the victim reads the variable again, in the order of the run, if that is never where it has
    /// read it before: the ends of the critical sections of these reads.
    pub(super) elsewhere: Vec<EventId>,
    /// Number of disturbances in the run that is repeated.
    pub(super) depth: usize,
}

impl Disturbance {
    /// The schedule. It ends when the victim blocks or ends.
    pub(crate) fn clip(&self, source: &Source) -> Clip {
        let mut clip = arrange(&source.symbolized, &self.turns);
        let name = |it: EventId| source.symbolized.thread(it.thread);
        let segment = |it: EventId, until| Segment { thread: name(it), until };
        let after = |it: EventId| {
            let event = source.trace.event(it)?;
            Some(Until::After(Visit { point: point(&source.symbolized, event.site), times: 1 }))
        };
        let segments = &mut clip.schedule.segments;
        let early = self.turns.last() == Some(&(self.read.thread, self.read.index + 1));
        if early && self.seen != self.read {
            segments.extend(after(self.seen).map(|until| segment(self.seen, until)));
        }
        match self.mode {
            Mode::ToTheEnd => {}
            Mode::Repeatedly(_) | Mode::Once | Mode::Inside | Mode::Held => {
                let until = Until::Event { index: self.written.index + 1, at: None };
                segments.push(segment(self.written, until));
            }
        }
        match self.mode {
            Mode::ToTheEnd => segments.push(segment(self.written, Until::Blocks)),
            Mode::Repeatedly(times) => {
                for number in 1..times {
                    let seen = self.elsewhere.get(number - 1).copied().unwrap_or(self.seen);
                    for event in [seen, self.written] {
                        segments.extend(after(event).map(|until| segment(event, until)));
                    }
                }
            }
            // A thread that yields after a failure would let the holder continue.
            Mode::Held => {
                let tried = after(self.read).map(|until| segment(self.read, until));
                segments.extend(iter::repeat_n(tried, TRIES).flatten());
            }
            Mode::Once | Mode::Inside => {}
        }
        segments.push(segment(self.seen, Until::Blocks));
        clip.list_modules(&source.symbolized);
        clip
    }
}

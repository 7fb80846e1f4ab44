//! Locks and the like that are used after they were destroyed, or before they were initialised; and
//! threads that are cancelled after somebody has waited for their end.
//!
//! To destroy an object is to a use of it what a write that follows is to a read: the run did the one
//! after the other, and if nothing forces that, it can be the other way round. Of the uses of a
//! thread at one place the last is enough, since it can come after whatever an earlier one can come
//! after; with initialisation, the first.

use norn_model::{Op, Role, Thread, ThreadId, Trace};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    access::{Kind, Touch},
    group::{Groups, How},
    interval::{Rules, Way},
    moment::Moments,
    outline::{Outline, narrow},
    sieve::GRANULE,
    violation::Kind as Violation,
};

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Initialised,
    Used,
    Destroyed,
}

/// Something that happens to an object, and when.
type Happening = (u64, u64, Fate, Touch);

/// A search for misused objects.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) outlines: &'a [Outline],
    pub(crate) rules: Rules<'a>,
    pub(crate) moments: &'a Moments<'a>,
}

impl Search<'_> {
    /// Searches all objects that are initialised or destroyed.
    pub(crate) fn objects(&self, found: &mut Groups) {
        let known: FxHashSet<u64> = self
            .trace
            .threads
            .iter()
            .zip(self.outlines)
            .flat_map(|(thread, outline)| {
                let ops = outline.objects.iter().map(|it| &thread.events[*it as usize].op);
                ops.filter_map(happens).map(|it| it.0)
            })
            .collect();
        if known.is_empty() {
            return;
        }
        let threads = self.trace.threads.par_iter().enumerate();
        let mut all: Vec<Happening> = threads
            .filter(|(_, thread)| thread.role != Role::Handler)
            .flat_map_iter(|(number, thread)| self.happenings(number, thread, &known))
            .collect();
        all.par_sort_unstable_by_key(|it| (it.0, it.1, it.3.thread, it.3.index));
        for object in all.chunk_by(|a, b| a.0 == b.0) {
            self.object(object, found);
        }
    }

    /// What a thread does to some objects.
    fn happenings<'t>(
        &'t self,
        number: usize,
        thread: &'t Thread,
        known: &'t FxHashSet<u64>,
    ) -> impl Iterator<Item = Happening> + 't {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        thread.events.iter().enumerate().filter_map(move |(index, event)| {
            let (object, fate) = happens(&event.op).filter(|it| known.contains(&it.0))?;
            let outline = &self.outlines[usize::from(number)];
            let index = narrow(index);
            let change = outline.changes[outline.at(index)];
            let touch = Touch {
                granule: object / GRANULE,
                index,
                site: event.site.0,
                set: change.set,
                section: change.section,
                thread: number,
                mask: 1 << (object % GRANULE),
                kind: Kind::free(),
                stack: event.stack.0,
                epoch: outline.epoch(index),
            };
            Some((object, self.moments.earliest(number, index), fate, touch))
        })
    }

    /// One object, in the order of time. It may be initialised and destroyed again and again.
    fn object(&self, happenings: &[Happening], found: &mut Groups) {
        let mut initialised: Option<Touch> = None;
        let mut last: FxHashMap<(u16, u32), Touch> = FxHashMap::default();
        for (_, _, fate, touch) in happenings {
            match fate {
                Fate::Initialised => {
                    initialised = Some(*touch);
                    last.clear();
                }
                Fate::Destroyed => {
                    let mut uses: Vec<_> = std::mem::take(&mut last).into_values().collect();
                    uses.sort_unstable_by_key(|it| (it.thread, it.index));
                    self.destroyed(touch, &uses, found);
                    initialised = None;
                }
                Fate::Used => {
                    let before = last.insert((touch.thread, touch.site), *touch);
                    if let (None, Some(first)) = (before, &initialised) {
                        self.initialised(first, touch, found);
                    }
                }
            }
        }
    }

    fn destroyed(&self, destroy: &Touch, uses: &[Touch], found: &mut Groups) {
        for it in uses.iter().filter(|it| it.thread != destroy.thread) {
            if self.rules.interval(it, destroy, Way::Forward).possible {
                found.add(Violation::AfterDestroy, [destroy, it], How::default());
            }
        }
    }

    fn initialised(&self, first: &Touch, touch: &Touch, found: &mut Groups) {
        let other = first.thread != touch.thread;
        if other && self.rules.interval(first, touch, Way::Backward).possible {
            found.add(Violation::BeforeInit, [touch, first], How::default());
        }
    }
}

/// What an event does to which object. To be woken is no use: see POSIX on destroying what others
/// have just been woken from.
fn happens(op: &Op) -> Option<(u64, Fate)> {
    Some(match *op {
        Op::Init { object, .. } => (object, Fate::Initialised),
        Op::Destroy { object, .. } => (object, Fate::Destroyed),
        Op::Join(thread) => (handle(thread), Fate::Destroyed),
        Op::Cancel(thread) => (handle(thread), Fate::Used),
        Op::Acquire { lock: object, .. }
        | Op::Release { lock: object, .. }
        | Op::Wait { cond: object, .. }
        | Op::Signal { cond: object }
        | Op::Broadcast { cond: object }
        | Op::BarrierEnter { barrier: object }
        | Op::SemPost { semaphore: object }
        | Op::SemWait { semaphore: object, .. } => (object, Fate::Used),
        _ => return None,
    })
}

/// An address for a thread, where nothing else is.
fn handle(thread: ThreadId) -> u64 {
    (1 << 63) | (u64::from(thread.0) * GRANULE)
}

//! Uses of synchronisation objects after their destruction or before their initialisation; and
//! cancellations of threads that another thread has joined.
//!
//! The destruction of an object relates to a use like a following write to a read: the run has one
//! after the other, and if nothing enforces that order, it can be reversed. Of the uses of a thread
//! at one site the last is enough, since it can come after everything that an earlier one can come
//! after; for initialisation, the first.

use norn_model::{
    BarrierEffect, BugClass, CandidateKind, ConditionEffect, Effect, Explanation, LockEffect,
    Object, ObjectEffect, Op, Role, SemaphoreEffect, Thread, ThreadEffect, ThreadId,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Analysis, AnalysisInfo, Found, KindInfo, object_touch};
use crate::{
    Options,
    access::Touch,
    facts::Facts,
    interval::{Direction, Rules},
    shared_filter::GRANULE,
    violation_groups::{How, OrderKind, ViolationGroups},
};

/// Finds uses of destroyed or uninitialised synchronisation objects.
pub(super) struct SyncObject;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Order,
    text: Explanation {
        name: "sync-object",
        summary: "order violation: a lock or the like is used outside of its lifetime",
        meaning: "A mutex, condition variable, semaphore or barrier is initialised or destroyed by one \
                  thread and used by another, and nothing forces the use to come in between. A thread that \
                  is cancelled after it has been joined counts, too.",
        example: "pthread_create(&t, NULL, worker, NULL);   // worker locks m\n\
                  pthread_mutex_destroy(&m);                // without pthread_join(t)",
        advice: "Initialise before the threads that use the object are created, and destroy after they \
                 have been joined.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::UseAfterDestroy,
            title: "order violation: use of {} after it was destroyed",
            meaning: "A thread uses a synchronisation object after another thread has destroyed it.",
            example: "T1: pthread_mutex_destroy(&m)\nT2: pthread_mutex_lock(&m)",
        },
        KindInfo {
            kind: CandidateKind::UseBeforeInit,
            title: "order violation: use of {} before it is initialised",
            meaning: "A thread uses a synchronisation object before another thread has initialised it.",
            example: "T2: pthread_mutex_lock(&m)\nT1: pthread_mutex_init(&m, NULL)",
        },
    ],
};

impl Analysis for SyncObject {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        found.add_violations(search(facts, options, OrderKind::AfterDestroy, sync_event));
    }
}

/// Searches the events that `event` selects for uses of an object after its end, which are violations
/// of a kind, and before its beginning.
pub(super) fn search(
    facts: &Facts<'_>,
    options: &Options,
    late: OrderKind,
    event: fn(&Op) -> Option<(u64, Change)>,
) -> ViolationGroups {
    let mut groups = ViolationGroups::new(options.instances);
    Search { facts, rules: facts.rules(), late, event }.objects(&mut groups);
    groups
}

/// The kinds of events on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Initialised,
    Used,
    Destroyed,
}

/// An event on an object: object, time, kind, access.
type Happening = (u64, u64, Change, Touch);

/// The search for misused objects.
#[derive(Debug)]
struct Search<'f, 'a> {
    facts: &'f Facts<'a>,
    rules: Rules<'f>,
    /// The kind of a use after the end of the object.
    late: OrderKind,
    /// The object of an event, and its kind.
    event: fn(&Op) -> Option<(u64, Change)>,
}

impl Search<'_, '_> {
    fn happens(&self, op: &Op) -> Option<(u64, Change)> {
        (self.event)(op)
    }

    /// Searches all objects that are initialised or destroyed.
    fn objects(&self, found: &mut ViolationGroups) {
        let known: FxHashSet<u64> = self
            .facts
            .trace
            .threads
            .iter()
            .zip(self.facts.sync.outlines)
            .flat_map(|(thread, outline)| {
                let ops = outline.objects.iter().map(|it| &thread.events[*it as usize].op);
                ops.filter_map(|it| self.happens(it)).map(|it| it.0)
            })
            .collect();
        if known.is_empty() {
            return;
        }
        let threads = self.facts.trace.threads.par_iter().enumerate();
        let mut all: Vec<Happening> = threads
            .filter(|(_, thread)| thread.role != Role::Handler)
            .flat_map_iter(|(number, thread)| self.happenings(number, thread, &known))
            .collect();
        all.par_sort_unstable_by_key(|it| (it.0, it.1, it.3.thread, it.3.index));
        for object in all.chunk_by(|a, b| a.0 == b.0) {
            self.object(object, found);
        }
    }

    /// The events of a thread on some objects.
    fn happenings<'t>(
        &'t self,
        number: usize,
        thread: &'t Thread,
        known: &'t FxHashSet<u64>,
    ) -> impl Iterator<Item = Happening> + 't {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        thread.events.iter().enumerate().filter_map(move |(index, event)| {
            let (object, what) = self.happens(&event.op).filter(|it| known.contains(&it.0))?;
            let touch = object_touch(self.facts, (number, index), object);
            Some((object, self.facts.timestamps().earliest(number, touch.index), what, touch))
        })
    }

    /// One object, in the order of time. It may be initialised and destroyed repeatedly.
    fn object(&self, happenings: &[Happening], found: &mut ViolationGroups) {
        let mut initialised: Option<Touch> = None;
        let mut last: FxHashMap<(u16, u32), Touch> = FxHashMap::default();
        for (_, _, what, touch) in happenings {
            match what {
                Change::Initialised => {
                    initialised = Some(*touch);
                    last.clear();
                }
                Change::Destroyed => {
                    let mut uses: Vec<_> = std::mem::take(&mut last).into_values().collect();
                    uses.sort_unstable_by_key(|it| (it.thread, it.index));
                    self.destroyed(touch, &uses, found);
                    initialised = None;
                }
                Change::Used => {
                    let before = last.insert((touch.thread, touch.site), *touch);
                    if let (None, Some(first)) = (before, &initialised) {
                        self.initialised(first, touch, found);
                    }
                }
            }
        }
    }

    fn destroyed(&self, destroy: &Touch, uses: &[Touch], found: &mut ViolationGroups) {
        for it in uses.iter().filter(|it| it.thread != destroy.thread) {
            if self.rules.interval(it, destroy, Direction::Forward).possible {
                found.add(self.late, [destroy, it], How::default());
            }
        }
    }

    fn initialised(&self, first: &Touch, touch: &Touch, found: &mut ViolationGroups) {
        let other = first.thread != touch.thread;
        if other && self.rules.interval(first, touch, Direction::Backward).possible {
            found.add(OrderKind::BeforeInit, [touch, first], How::default());
        }
    }
}

/// The object of an event, and the kind. Being woken is not a use: POSIX allows destroying an
/// object whose waiting threads have just been woken. Nor is a release: if a lock is destroyed before
/// its release and after its acquisition, it is [in use](super::lock_misuse).
fn sync_event(op: &Op) -> Option<(u64, Change)> {
    if let Op::Cancel(thread) = *op {
        return Some((handle(thread), Change::Used));
    }
    if matches!(op, Op::Destroy { class: Object::Descriptor, .. }) {
        return None;
    }
    Some(match op.effect() {
        Effect::Object(ObjectEffect::Init { object, .. })
        | Effect::Barrier(BarrierEffect::Init { barrier: object, .. })
        | Effect::Semaphore(SemaphoreEffect::Init { semaphore: object, .. }) => {
            (object, Change::Initialised)
        }
        Effect::Object(ObjectEffect::Destroy { object, .. }) => (object, Change::Destroyed),
        Effect::Thread(ThreadEffect::Join(thread)) => (handle(thread), Change::Destroyed),
        Effect::Lock(LockEffect::Acquire { lock: object, .. })
        | Effect::Condition(
            ConditionEffect::Wait { cond: object, .. }
            | ConditionEffect::Signal { cond: object, .. },
        )
        | Effect::Barrier(BarrierEffect::Arrive { barrier: object })
        | Effect::Semaphore(
            SemaphoreEffect::Post { semaphore: object }
            | SemaphoreEffect::Wait { semaphore: object, .. },
        ) => (object, Change::Used),
        Effect::None
        | Effect::Access(_)
        | Effect::Object(ObjectEffect::Use { .. })
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_)
        | Effect::Block(_)
        | Effect::Thread(ThreadEffect::Fork(_))
        | Effect::Lock(LockEffect::Failed { .. } | LockEffect::Release { .. })
        | Effect::Condition(ConditionEffect::Wake { .. })
        | Effect::Barrier(BarrierEffect::Leave { .. })
        | Effect::Semaphore(SemaphoreEffect::Failed { .. }) => return None,
    })
}

/// A unique address that represents a thread.
fn handle(thread: ThreadId) -> u64 {
    (1 << 63) | (u64::from(thread.0) * GRANULE)
}

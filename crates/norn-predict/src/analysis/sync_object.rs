//! Uses of synchronisation objects after their destruction or before their initialisation; and
//! cancellations of threads that another thread has joined.
//!
//! The destruction of an object relates to a use like a following write to a read: the run has one
//! after the other, and if nothing enforces that order, it can be reversed. Of the uses of a thread
//! at one site the last is enough, since it can come after everything that an earlier one can come
//! after; for initialisation, the first.

use norn_model::{
    BarrierEffect, BugClass, CandidateKind, ConditionEffect, Effect, Explanation, LockEffect,
    ObjectEffect, Op, Role, SemaphoreEffect, Thread, ThreadEffect, ThreadId,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Analysis, AnalysisInfo, Found, KindInfo};
use crate::{
    Options,
    access::{Kind, Touch},
    facts::Facts,
    interval::{Direction, Rules},
    outline::narrow,
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
        let mut groups = ViolationGroups::new(options.instances);
        Search { facts, rules: facts.rules() }.objects(&mut groups);
        found.add_violations(groups);
    }
}

/// The kinds of events on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
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
}

impl Search<'_, '_> {
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
                ops.filter_map(happens).map(|it| it.0)
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
            let (object, what) = happens(&event.op).filter(|it| known.contains(&it.0))?;
            let outline = &self.facts.sync.outlines[usize::from(number)];
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
            Some((object, self.facts.timestamps().earliest(number, index), what, touch))
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
                found.add(OrderKind::AfterDestroy, [destroy, it], How::default());
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
/// object whose waiting threads have just been woken.
fn happens(op: &Op) -> Option<(u64, Change)> {
    if let Op::Cancel(thread) = *op {
        return Some((handle(thread), Change::Used));
    }
    Some(match op.effect() {
        Effect::Object(ObjectEffect::Init { object, .. })
        | Effect::Barrier(BarrierEffect::Init { barrier: object, .. })
        | Effect::Semaphore(SemaphoreEffect::Init { semaphore: object, .. }) => {
            (object, Change::Initialised)
        }
        Effect::Object(ObjectEffect::Destroy { object, .. }) => (object, Change::Destroyed),
        Effect::Thread(ThreadEffect::Join(thread)) => (handle(thread), Change::Destroyed),
        Effect::Lock(
            LockEffect::Acquire { lock: object, .. }
            | LockEffect::Release { lock: object, by_wait: false },
        )
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
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_)
        | Effect::Block(_)
        | Effect::Thread(ThreadEffect::Fork(_))
        | Effect::Lock(LockEffect::Failed { .. } | LockEffect::Release { by_wait: true, .. })
        | Effect::Condition(ConditionEffect::Wake { .. })
        | Effect::Barrier(BarrierEffect::Leave { .. })
        | Effect::Semaphore(SemaphoreEffect::Failed { .. }) => return None,
    })
}

/// A unique address that represents a thread.
fn handle(thread: ThreadId) -> u64 {
    (1 << 63) | (u64::from(thread.0) * GRANULE)
}

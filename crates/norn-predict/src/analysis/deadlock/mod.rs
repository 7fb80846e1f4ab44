//! Deadlocks in other orders of a run: cycles of threads that wait for each other.
//!
//! Lock order graphs after Havelund (*Using runtime analysis to guide model checking of Java
//! programs*, SPIN 2000), with gate locks and happens-before as in Bensalem and Havelund (*Dynamic
//! deadlock analysis of multi-threaded programs*, HVC 2005): a cycle counts only if its threads can
//! be at their [requests](request) at the same time. No lock may be held by two of them, and no
//! event that one has executed may depend on one that another has not reached. Where we differ: a
//! request is any event in which a thread can wait, so [cycles](cycle) may also include joins,
//! conditions, semaphores and barriers.

mod cycle;
mod request;

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, ConditionEffect, Effect, Explanation, LockEffect,
    LockMode, Op, Outcome, Scope, SemaphoreEffect, Step, Trace,
};

use self::{cycle::Cycles, request::Requests};
use super::{Analysis, AnalysisInfo, Found, KindInfo, Priority, single_step};
use crate::{
    Options,
    facts::Facts,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// The kinds of cycles, by their number in a [`Key`].
const KINDS: [CandidateKind; 4] = [
    CandidateKind::LockCycle,
    CandidateKind::WaitHoldingLock,
    CandidateKind::JoinHoldingLock,
    CandidateKind::ReadBehindWriter,
];
const LOCK_CYCLE: u16 = 0;
const WAIT_HOLDING: u16 = 1;
const JOIN_HOLDING: u16 = 2;
const READ_BEHIND_WRITER: u16 = 3;
/// The number of lost wake-ups, which are sorted together with the cycles.
pub(super) const LOST_WAKE_UP: u16 = 4;

/// Finds cycles of threads that wait for each other.
pub(super) struct Deadlock;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Deadlock,
    text: Explanation {
        name: "deadlock",
        summary: "deadlock: threads wait for each other forever",
        meaning: "Each thread of a cycle waits for an action or a release of the next one, so none of them \
                  ever continues. In the recorded run the threads were never at these places at the same \
                  time, but nothing prevents that.",
        example: "T1: lock(a); lock(b);\nT2: lock(b); lock(a);   // each holds what the other requests",
        advice: "Acquire locks in the same order everywhere, hold no lock while you wait for another \
                 thread, or use trylock and back off.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::LockCycle,
            title: "deadlock: threads wait for each other's locks {}",
            meaning: "Each thread holds a lock that the next one wants, and the last holds one that the \
                      first wants.",
            example: "T1: lock(a)\nT2: lock(b)\nT1: waits for b\nT2: waits for a",
        },
        KindInfo {
            kind: CandidateKind::WaitHoldingLock,
            title: "deadlock: {waiter} waits on {awaited} while holding {lock}, which the thread that \
                    would signal it needs",
            meaning: "A thread waits for a condition, a semaphore or a barrier while it holds a lock. The \
                      thread that would wake it needs that lock first.",
            example: "T1: lock(m)\nT1: waits for cv, releases only cv's own mutex\nT2: waits for m, would \
                      signal cv afterwards",
        },
        KindInfo {
            kind: CandidateKind::JoinHoldingLock,
            title: "deadlock: {waiter} waits for {awaited} to end while holding {lock}, which that \
                    thread needs",
            meaning: "A thread waits for the end of another while it holds a lock that the other needs in \
                      order to end.",
            example: "T1: lock(m)\nT1: pthread_join(T2)\nT2: waits for m",
        },
        KindInfo {
            kind: CandidateKind::ReadBehindWriter,
            title: "deadlock: a thread locks {} for reading a second time while a writer waits for it",
            meaning: "Readers of this lock wait for writers that wait, so that writers get their turn. A thread \
                      that holds it for reading requests it again, behind a writer that waits until the first \
                      request is released.",
            example: "T1: read_lock(l)\nT2: waits to write l\nT1: waits to read l again, behind T2",
        },
    ],
};

impl Analysis for Deadlock {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let Facts { trace, sync, semaphores, .. } = facts;
        let order = sync.orders[1];
        let requests = Requests::new(trace, order, semaphores);
        let mut top = TopK::new(options.instances);
        let mut cycles = Cycles::new(order, &requests);
        cycles.search(|cycle| {
            let (key, instance) = cycle::instance(trace, cycle);
            top.add(key, instance);
        });
        found.requests_left_out += requests.left_out + cycles.left_out;
        found.add(Priority::Stuck, top.sorted(), |key, instance, number| {
            let kind = KINDS[usize::from(key.pattern)].clone();
            candidate(trace, kind, key, instance, number)
        });
    }
}

/// An instance begins with the places of the stuck events, as many as its key states.
pub(super) fn candidate(
    trace: &Trace,
    kind: CandidateKind,
    key: &Key,
    instance: &Instance,
    number: u32,
) -> Candidate {
    let (stuck, steps) = instance.steps.split_at(usize::from(key.locked));
    let op = |it: &EventPlace| trace.threads[usize::from(it.thread)].events[it.index as usize].op;
    let step = |it: &EventPlace| -> Step { single_step(trace, it, access(&op(it))) };
    // The threads get stuck in this order: a reader that queues, behind the writer.
    let mut stuck = stuck.to_vec();
    stuck.sort_by_key(|it| is_queued(&op(it)));
    Candidate {
        kind,
        adjacent: false,
        steps: steps.iter().map(step).collect(),
        stuck: stuck.iter().map(step).collect(),
        scope: Scope::Single,
        instance: number,
    }
}

fn is_queued(op: &Op) -> bool {
    matches!(op, Op::Acquire { how: Outcome::Queued, .. })
}

fn access(op: &Op) -> Access {
    match op.effect() {
        Effect::Lock(LockEffect::Acquire { mode: LockMode::Read, .. }) => Access::Share,
        Effect::Lock(LockEffect::Acquire { .. }) => Access::Acquire,
        Effect::Condition(ConditionEffect::Signal { .. })
        | Effect::Semaphore(SemaphoreEffect::Post { .. }) => Access::Signal,
        Effect::None
        | Effect::Access(_)
        | Effect::Thread(_)
        | Effect::Lock(LockEffect::Failed { .. } | LockEffect::Release { .. })
        | Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Wake { .. })
        | Effect::Semaphore(
            SemaphoreEffect::Init { .. }
            | SemaphoreEffect::Wait { .. }
            | SemaphoreEffect::Failed { .. },
        )
        | Effect::Barrier(_)
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_)
        | Effect::Block(_)
        | Effect::Object(_) => Access::Wait,
    }
}

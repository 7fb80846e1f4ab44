//! Diagnoses failures that nothing predicted: the lock cycle, the freed block or the accesses behind
//! them, as the trace of the run that failed shows them.
//!
//! A deadlock and a use after free name their cause themselves. Every other failure is the reaction of a
//! thread to a value that it read. So the memory that this thread read last is examined, the latest read
//! first: if two accesses to it race in this run, or if another thread's access fell between two accesses
//! of a thread and no serial order has the same result, these are reported as the cause. What is examined
//! has happened in this run; whether the program would have passed without it is not decided here.

mod anomaly;

use norn_model::{
    Access as StepAccess, Candidate, CandidateKind, Consequence, EventId, Op, Scope, Step,
    ThreadId, ThreadName,
};
use norn_replay::ReplayError;
use norn_report::{
    Access, Action, EventRow, FailureKind, Misuse, Object, Story, Stuck, Waiter, Want,
};

use crate::{
    Description, describe::describe, executor::Run, interleaving::order_of, source::Source,
    unrecorded_sync,
};

/// What is behind a failure that was not predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind of bug.
    pub kind: CandidateKind,
    /// Its variables and accesses, as the failing run performed them.
    pub description: Description,
    /// The order of these accesses in that run, and the synchronisation around them.
    pub order: Vec<EventRow>,
}

/// Names what is behind the failure of a run, if its trace shows that.
pub(crate) fn diagnose(run: &Run) -> Result<Option<Cause>, ReplayError> {
    match run.story.as_ref().map(|it| &it.failure) {
        Some(FailureKind::Stuck(stuck)) => return Ok(cycle(stuck)),
        Some(FailureKind::Misuse(misuse)) => {
            if let Some(cause) = freed(misuse) {
                return Ok(Some(cause));
            }
        }
        Some(FailureKind::Running(_) | FailureKind::Object(_)) => return Ok(None),
        Some(FailureKind::Death(_)) | None => {}
    }
    if matches!(run.consequence(), Consequence::Unfinished(_)) {
        return Ok(None);
    }
    let Some(source) = run.source()? else { return Ok(None) };
    let Some(thread) = failed_thread(source, run.story.as_ref()) else { return Ok(None) };
    for (kind, events) in anomaly::find(&source.trace, thread) {
        let Some(candidate) = candidate(source, kind, &events) else { continue };
        if unrecorded_sync::between(source, &candidate, run)?.is_some() {
            continue;
        }
        return Ok(Some(Cause {
            description: describe(source, &candidate, true),
            order: order_of(source, &events),
            kind: candidate.kind,
        }));
    }
    Ok(None)
}

/// The threads of a deadlock that wait for each other's locks.
fn cycle(stuck: &Stuck) -> Option<Cause> {
    let of_cycle = |it: &&Waiter| stuck.cycle.contains(&it.step.thread);
    let waiters: Vec<_> = stuck.waiters.iter().filter(of_cycle).collect();
    let accesses: Option<Vec<_>> = waiters.iter().map(|it| wanted(it)).collect();
    let accesses = accesses.filter(|it| it.len() > 1)?;
    let mut variables: Vec<Object> = Vec::new();
    for it in &accesses {
        if !variables.contains(&it.variable) {
            variables.push(it.variable.clone());
        }
    }
    let description = Description { variables, accesses };
    Some(Cause { kind: CandidateKind::LockCycle, description, order: Vec::new() })
}

/// The request of a lock in which a thread waits forever.
fn wanted(waiter: &Waiter) -> Option<Access> {
    let Want::Lock { object, .. } = &waiter.want else { return None };
    Some(access(&waiter.step, Action::Lock, object.clone(), true))
}

/// A block that one thread freed and another one used or freed again.
fn freed(misuse: &Misuse) -> Option<Cause> {
    use norn_model::MemoryFault::{
        BadFree, DoubleFree, OutOfBounds, UseAfterDestroy, UseAfterFree,
    };
    let (kind, last) = match misuse.fault {
        UseAfterFree => (CandidateKind::UseAfterFree, Action::Use),
        DoubleFree => (CandidateKind::DoubleFree, Action::Free),
        BadFree | OutOfBounds | UseAfterDestroy => return None,
    };
    let block = misuse.block.as_ref()?;
    let freed = block.freed.as_ref().filter(|it| it.thread != misuse.by.thread)?;
    let object = Object {
        allocated_at: block.allocated.stack.first().cloned(),
        address: None,
        ..block.object.clone()
    };
    let accesses = vec![
        access(freed, Action::Free, object.clone(), false),
        access(&misuse.by, last, object.clone(), false),
    ];
    let description = Description { variables: vec![object], accesses };
    Some(Cause { kind, description, order: Vec::new() })
}

fn access(step: &norn_report::Step, action: Action, variable: Object, stuck: bool) -> Access {
    Access {
        thread: step.thread.clone(),
        action,
        event: None,
        stuck,
        variable: Object { address: None, ..variable },
        value: None,
        shown: None,
        stack: step.stack.clone(),
        locks: Vec::new(),
        frames: step.stack.clone(),
    }
}

/// The thread that failed: the story names it; a program that exits does so in the thread of its last event.
fn failed_thread(source: &Source, story: Option<&Story>) -> Option<ThreadId> {
    let named = story.and_then(|it| match &it.failure {
        FailureKind::Death(it) => it.by.as_ref(),
        FailureKind::Misuse(it) => Some(&it.by),
        FailureKind::Stuck(_) | FailureKind::Running(_) | FailureKind::Object(_) => None,
    });
    let id = |name: &ThreadName| {
        let is = |it: &&norn_model::Thread| source.symbolized.thread(it.id) == *name;
        source.trace.threads.iter().find(is).map(|it| it.id)
    };
    match named {
        Some(step) => id(&step.thread),
        None => source.trace.merged().last().map(|it| it.id.thread),
    }
}

/// The candidate that has these events of a run as its steps.
fn candidate(source: &Source, kind: CandidateKind, events: &[EventId]) -> Option<Candidate> {
    let step = |id: &EventId| {
        let event = source.trace.event(*id)?;
        let access = event.op.access()?;
        let writes = access.write.is_some() && !matches!(event.op, Op::Read { .. });
        Some(Step {
            event: *id,
            site: event.site,
            addr: access.addr,
            access: if writes { StepAccess::Write } else { StepAccess::Read },
            region: (id.index, id.index),
        })
    };
    Some(Candidate {
        kind,
        adjacent: false,
        steps: events.iter().map(step).collect::<Option<_>>()?,
        stuck: Vec::new(),
        scope: Scope::Unmarked,
        instance: 0,
    })
}

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
    Access as StepAccess, BugClass, Candidate, CandidateKind, Consequence, EventId, Op, Scope,
    Step, ThreadId, ThreadName,
};
use norn_replay::ReplayError;
use norn_report::{
    Access, Action, Address, EventRow, FailureKind, Fix, Misuse, Object, Story, Stuck, Waiter, Want,
};

use crate::{
    Description,
    confirm::event_again,
    describe::describe,
    executor::Run,
    fix::suggested_fix,
    interleaving::{held, order_of, recorded_order, waiting},
    source::Source,
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
    /// Their order in the run that it was predicted from, as far as that run has them.
    pub recorded: Vec<EventRow>,
    /// A lock that would have excluded it, if such a lock passes the checks.
    pub fix: Option<Fix>,
}

/// Names what is behind the failure of a run, if its trace shows that.
pub(crate) fn diagnose(run: &Run) -> Result<Option<Cause>, ReplayError> {
    diagnosed((run, None), |_| true)
}

/// `counts` says which accesses to the memory that the failed thread read last may be the cause. `recorded` is the run
/// that the failure was predicted from, if it was.
fn diagnosed(
    (run, recorded): (&Run, Option<&Source>),
    counts: impl Fn(&[EventId]) -> bool,
) -> Result<Option<Cause>, ReplayError> {
    match run.story.as_ref().map(|it| &it.failure) {
        Some(FailureKind::Stuck(stuck)) => return Ok(cycle(stuck, run.source()?)),
        Some(FailureKind::Misuse(misuse)) => {
            if let Some(cause) = freed(misuse, run.source()?) {
                return Ok(Some(cause));
            }
        }
        Some(FailureKind::Running(_) | FailureKind::Object(_)) => return Ok(None),
        Some(FailureKind::Death(_)) | None => {}
    }
    anomaly_behind((run, recorded), counts)
}

/// Names what is behind the failure of a run that has performed an order violation: a lock cycle, a freed
/// block, or a race or atomicity violation on the same variable. The run that the order violation was predicted
/// from may lack the other events of it.
pub(crate) fn behind_order(
    (source, candidate): (&Source, &Candidate),
    run: &Run,
) -> Result<Option<Cause>, ReplayError> {
    // A time limit that has expired is a cause that no order of accesses explains better.
    let is_order = candidate.class() == BugClass::Order && candidate.expires().is_none();
    if !is_order || !run.consequence().is_failure() {
        return Ok(None);
    }
    let Some(did) = run.source()? else { return Ok(None) };
    let addr = |id: EventId| did.trace.event(id)?.op.access().map(|it| it.addr);
    let again = |it: &Step| {
        let event = event_again(source, it.event, &did.symbolized);
        event.and_then(|it| it.op.access()).map_or(it.addr, |it| it.addr)
    };
    let addresses: Vec<_> = candidate.steps.iter().map(again).collect();
    let is_same = |it: &EventId| addr(*it).is_some_and(|it| addresses.contains(&it));
    diagnosed((run, Some(source)), |events| events.iter().any(is_same))
}

/// The first anomaly that counts on what the failed thread read last.
fn anomaly_behind(
    (run, recorded): (&Run, Option<&Source>),
    counts: impl Fn(&[EventId]) -> bool,
) -> Result<Option<Cause>, ReplayError> {
    if matches!(run.consequence(), Consequence::Unfinished(_)) {
        return Ok(None);
    }
    let Some(source) = run.source()? else { return Ok(None) };
    let Some(thread) = failed_thread(source, run.story.as_ref()) else { return Ok(None) };
    let symbolized = &source.symbolized;
    let is_own = |it| {
        let site = symbolized.trace.site(it);
        site.is_none_or(|it| symbolized.symbols.is_program_code(it.pc))
    };
    for (kind, events) in anomaly::find(&source.trace, thread, is_own) {
        let candidate = candidate(source, kind, &events).filter(|_| counts(&events));
        let Some(candidate) = candidate else { continue };
        if unrecorded_sync::between(source, &candidate, run)?.is_some() {
            continue;
        }
        return Ok(Some(Cause {
            description: describe(source, &candidate, true),
            order: order_of(source, &events),
            recorded: recorded.map_or_else(Vec::new, |it| recorded_order(it, source, &events)),
            fix: suggested_fix(source, &candidate),
            kind: candidate.kind,
        }));
    }
    Ok(None)
}

/// The threads of a deadlock that wait for each other's locks.
fn cycle(stuck: &Stuck, source: Option<&Source>) -> Option<Cause> {
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
    let order = source.map_or_else(Vec::new, |it| cycle_order(it, &waiters));
    let description = Description { variables, accesses };
    let kind = CandidateKind::LockCycle;
    Some(Cause { kind, description, order, recorded: Vec::new(), fix: None })
}

/// Where the threads of a cycle acquired the locks that others of them want, and where they wait.
fn cycle_order(source: &Source, waiters: &[&Waiter]) -> Vec<EventRow> {
    let wants = |lock: u64| {
        waiters.iter().any(|it| match &it.want {
            Want::Lock { object, .. } => object.address == Some(Address(lock)),
            _ => false,
        })
    };
    let is_in_cycle = |it: &&norn_model::Thread| {
        let name = source.symbolized.thread(it.id);
        waiters.iter().any(|waiter| waiter.step.thread == name)
    };
    let threads = source.trace.threads.iter().filter(is_in_cycle);
    let taken = threads.flat_map(|it| held(&it.events)).filter(|it| wants(it.0));
    let taken: Vec<_> = taken.map(|it| it.1).collect();
    let mut rows = order_of(source, &taken);
    rows.retain(|it| it.step.is_some());
    let waits = waiters.iter().filter_map(|it| {
        let Want::Lock { object, holders, behind } = &it.want else { return None };
        let thread = |it: &norn_report::Step| it.thread.clone();
        let holder = behind.first().or(holders.first().map(|it| &it.taken)).map(thread);
        Some(waiting(row(&it.step, Action::Wait, object.full_name()), holder))
    });
    rows.extend(waits);
    rows
}

/// What a thread was about to do when the run ended, which is not in its trace.
fn row(step: &norn_report::Step, action: Action, object: String) -> EventRow {
    EventRow {
        thread: step.thread.clone(),
        event: step.event.unwrap_or(u64::MAX),
        action,
        object: Some(object),
        size: None,
        value: None,
        shown: None,
        times: 1,
        at: step.stack.first().cloned(),
        step: None,
        switch: None,
    }
}

/// The request of a lock in which a thread waits forever.
fn wanted(waiter: &Waiter) -> Option<Access> {
    let Want::Lock { object, .. } = &waiter.want else { return None };
    Some(access(&waiter.step, Action::Lock, object.clone(), true))
}

/// A block that one thread freed and another one used or freed again.
fn freed(misuse: &Misuse, source: Option<&Source>) -> Option<Cause> {
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
    let order =
        source.and_then(|it| freed_order(it, freed, row(&misuse.by, last, object.full_name())));
    let order = order.unwrap_or_default();
    let description = Description { variables: vec![object], accesses };
    Some(Cause { kind, description, order, recorded: Vec::new(), fix: None })
}

/// The event that freed a block, and the use at which the run ended.
fn freed_order(
    source: &Source,
    freed: &norn_report::Step,
    used: EventRow,
) -> Option<Vec<EventRow>> {
    let is_it = |it: &&norn_model::Thread| source.symbolized.thread(it.id) == freed.thread;
    let thread = source.trace.threads.iter().find(is_it)?.id;
    let event = source.positions.loaded(EventId { thread, index: freed.event? })?;
    let mut rows = order_of(source, &[event]);
    // What the thread does afterwards does not explain the failure.
    let at = rows.iter().position(|it| it.step.is_some())?;
    rows.truncate(at + 1);
    rows.push(EventRow { step: Some(1), ..used });
    Some(rows)
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

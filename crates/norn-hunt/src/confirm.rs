//! Whether a run really did a candidate. That its threads came to the right places in the right
//! order is what the schedule sees to; but where values differ from those of the recorded run, an
//! access may be to something else.

use std::path::Path;

use norn_model::{Candidate, Consequence, EventId, MemoryFault, Op, Step, Trace};
use norn_replay::{
    ReplayError,
    story::{Plot, Story},
};

use crate::{
    attempt::{Run, too_early},
    source::Source,
};

/// Whether a run did not end, and the threads of a deadlock are among those that never went on.
pub(crate) fn is_stuck(source: &Source, candidate: &Candidate, run: &Run) -> bool {
    let Some(Story { plot, .. }) = &run.story else { return false };
    let waiters = match (plot, &run.consequence) {
        (Plot::Stuck(stuck), Consequence::Deadlock) => &stuck.waiters,
        (Plot::Running(running), Consequence::Livelock | Consequence::Hang(_)) => &running.waiters,
        _ => return false,
    };
    let waits = |thread| waiters.iter().any(|it| it.step.thread == thread);
    candidate.stuck.iter().all(|it| waits(source.scene.thread(it.event.thread)))
}

/// Whether the accesses that were to the same variable in the trace that a candidate was predicted
/// from are to the same variable in another run. Which one it is may differ.
pub(crate) fn is_same(
    source: &Source,
    candidate: &Candidate,
    (folder, process): (&Path, u32),
    consequence: &Consequence,
) -> Result<bool, ReplayError> {
    let mut run = norn_trace::Trace::open(folder, process)?;
    // The modules are where they were, and are not opened once more.
    run.learn_copies(|write, read| source.scene.modules.is_copy(write, read));
    let events = run.load();
    let moved = |step: &Step| {
        let name = source.scene.thread(step.event.thread);
        let named = |it: &&norn_model::Thread| run.thread(it.id).is_some_and(|it| it.name == name);
        let thread = events.threads.iter().find(named)?;
        distance(&source.trace, &events, step.event, EventId { thread: thread.id, ..step.event })
    };
    let moved: Vec<_> = candidate.steps.iter().map(moved).collect();
    if let (Some(_), [Some(read), None]) = (too_early(candidate), &moved[..]) {
        // After what it read too early, the program never came to the write.
        return Ok(*read == 0);
    }
    if let (Consequence::Memory(MemoryFault::UseAfterDestroy), [Some(destroyed), None]) =
        (consequence, &moved[..])
    {
        // The use ended the run, and is not recorded.
        return Ok(*destroyed == 0);
    }
    let moved: Option<Vec<_>> = moved.into_iter().collect();
    Ok(moved.is_some_and(|it| agree(candidate, &it)))
}

/// Whether all accesses to a variable have moved equally far.
fn agree(candidate: &Candidate, moved: &[u64]) -> bool {
    let steps = || candidate.steps.iter().zip(moved);
    steps().all(|(step, by)| steps().all(|(other, its)| other.addr != step.addr || its == by))
}

/// How far from where it was in one trace an access in another one is.
fn distance(before: &Trace, after: &Trace, old: EventId, new: EventId) -> Option<u64> {
    let (old, new) = (before.event(old)?.op, after.event(new)?.op);
    Some(address(new)?.wrapping_sub(address(old)?))
}

fn address(op: Op) -> Option<u64> {
    match op {
        Op::Read { addr, .. }
        | Op::Write { addr, .. }
        | Op::Atomic { addr, .. }
        | Op::Free { addr }
        | Op::Init { object: addr, .. }
        | Op::Destroy { object: addr, .. }
        | Op::Acquire { lock: addr, .. }
        | Op::Release { lock: addr, .. }
        | Op::Wait { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr }
        | Op::BarrierEnter { barrier: addr }
        | Op::SemPost { semaphore: addr }
        | Op::SemWait { semaphore: addr } => Some(addr),
        _ => None,
    }
}

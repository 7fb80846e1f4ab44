//! Whether a run really did a candidate. That its threads came to the right places in the right
//! order is what the schedule sees to; but where values differ from those of the recorded run, an
//! access may be to something else.

use norn_model::{Candidate, EventId, Op, Step};

use crate::source::Source;

/// Whether the accesses that were to the same variable in the trace that a candidate was predicted
/// from are to the same variable in another run. Which one it is may differ.
pub(crate) fn is_same(source: &Source, candidate: &Candidate, run: &Source) -> bool {
    let moved: Option<Vec<_>> = candidate.steps.iter().map(|it| moved(source, it, run)).collect();
    moved.is_some_and(|moved| {
        let steps = candidate.steps.iter().zip(&moved);
        steps.clone().all(|(step, by)| {
            steps.clone().all(|(other, its)| other.addr != step.addr || its == by)
        })
    })
}

/// How far the variable of a step is from where it was.
fn moved(source: &Source, step: &Step, run: &Source) -> Option<u64> {
    let name = source.scene.thread(step.event.thread);
    let thread = run.trace.threads.iter().find(|it| run.scene.thread(it.id) == name)?;
    let event = run.trace.event(EventId { thread: thread.id, ..step.event })?;
    let before = source.trace.event(step.event)?;
    Some(address(event.op)?.wrapping_sub(address(before.op)?))
}

fn address(op: Op) -> Option<u64> {
    match op {
        Op::Read { addr, .. } | Op::Write { addr, .. } | Op::Atomic { addr, .. } => Some(addr),
        _ => None,
    }
}

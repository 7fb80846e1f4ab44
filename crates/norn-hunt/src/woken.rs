//! Whether a thread was woken: a stolen wake-up needs a thread that has waited.

use norn_model::{Candidate, ConditionEffect, Effect, Event, EventId, LockEffect, Trace};

use crate::{confirm::event_again, source::Source};

/// Whether the thread of a stolen wake-up has waited in a run: a thread that found the condition fulfilled was not woken,
/// and nothing was stolen from it.
pub(crate) fn was_woken(source: &Source, candidate: &Candidate, run: &Source) -> bool {
    let read = candidate.steps.last().and_then(|it| event_again(source, it.event, &run.symbolized));
    let read = read.and_then(|it| run.positions.loaded(it.id));
    read.is_some_and(|it| is_first_after_wait(&run.trace, it))
}

/// Whether the last thing that a thread has acquired before an event is the mutex of a wait.
fn is_first_after_wait(trace: &Trace, id: EventId) -> bool {
    let thread = trace.threads.iter().find(|it| it.id == id.thread);
    let before = thread.into_iter().flat_map(|it| &it.events).filter(|it| it.id.index < id.index);
    let acquires = |it: &Event| match it.op.effect() {
        Effect::Condition(ConditionEffect::Wake { .. }) => Some(true),
        Effect::Lock(LockEffect::Acquire { .. }) => Some(false),
        _ => None,
    };
    before.filter_map(acquires).next_back() == Some(true)
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    #[test]
    fn a_thread_that_did_not_wait_was_not_woken() {
        let is_first = |trace: &str| {
            let trace = text::parse(trace).unwrap();
            let last = trace.merged().last().unwrap();
            is_first_after_wait(&trace, last.id)
        };
        let waits = "T1 acq m\nT1 waitrel m\nT1 wait c m\nT1 wake c m\n";
        assert!(is_first(&format!("{waits}T1 r x 0")));
        assert!(!is_first("T1 acq m\nT1 r x 0"));
        assert!(!is_first(&format!("{waits}T1 rel m\nT1 acq m\nT1 r x 0")));
    }
}

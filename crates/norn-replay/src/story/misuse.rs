//! The story of a misused synchronisation object: the call, and the earlier calls of the same or
//! another thread that make it a misuse.

use norn_model::{Event, LockMode, Misuse, Object, Op, ThreadId, descriptor_object};
use norn_report::{EarlierUse, ObjectMisuse, ObjectState};
use norn_trace::Outcome;

use super::{
    history::{self, RunHistory},
    symbolizer::Symbolizer,
};

pub(super) fn explain(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    fault: Misuse,
    outcome: &Outcome,
) -> Option<ObjectMisuse> {
    let error = outcome.memory?;
    let earlier = earlier(symbols, history, fault, (ThreadId(outcome.thread), error.addr));
    let class = earlier.first().and_then(|it| class(&it.1.op)).unwrap_or(Object::Mutex);
    let found = |(state, event): &(ObjectState, Event)| EarlierUse {
        state: *state,
        step: symbols.step(event),
    };
    let object = match fault {
        Misuse::UseAfterClose | Misuse::DoubleClose | Misuse::CloseInUse => {
            norn_report::Object::named(format!("descriptor {}", error.addr))
        }
        Misuse::UnlockNotHeld
        | Misuse::WaitNotHeld
        | Misuse::Relock
        | Misuse::DestroyInUse
        | Misuse::EndHoldingLock => symbols.primitive(error.addr, class),
    };
    let mut by = symbols.next(ThreadId(outcome.thread), error.pc);
    if error.pc == 0 {
        // The end of a thread is at no place.
        by.stack.clear();
    }
    Some(ObjectMisuse { fault, object, by, earlier: earlier.iter().map(found).collect() })
}

/// The events that explain a misuse by a thread.
fn earlier(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    fault: Misuse,
    (thread, object): (ThreadId, u64),
) -> Vec<(ObjectState, Event)> {
    let holders: Vec<_> = history
        .threads
        .values()
        .flat_map(|it| it.taken.iter().filter(|it| it.0 == object))
        .map(|it| (ObjectState::Locked, it.1))
        .collect();
    let own = |it: &(ObjectState, Event)| it.1.id.thread == thread;
    match fault {
        Misuse::Relock | Misuse::EndHoldingLock => holders.into_iter().filter(own).collect(),
        Misuse::UnlockNotHeld | Misuse::WaitNotHeld if holders.is_empty() => {
            let release = |it: &Event| matches!(it.op, Op::Release { lock, .. } if lock == object);
            let events: Vec<_> = symbols.symbolized.trace.merged().filter(release).collect();
            // The last one is the misuse itself, if it is recorded.
            let before = match events.split_last() {
                Some((last, before)) if last.id.thread == thread => before.last(),
                _ => events.last(),
            };
            before.map(|it| (ObjectState::Unlocked, *it)).into_iter().collect()
        }
        Misuse::DestroyInUse if holders.is_empty() => waiters(symbols, object),
        Misuse::UseAfterClose | Misuse::DoubleClose => {
            let closes = |it: &Op| matches!(it, Op::Destroy { .. });
            last_of_others(symbols, (thread, object), ObjectState::Closed, closes)
        }
        Misuse::CloseInUse => {
            let uses = |it: &Op| matches!(it, Op::Use { .. });
            last_of_others(symbols, (thread, object), ObjectState::Used, uses)
        }
        Misuse::UnlockNotHeld | Misuse::WaitNotHeld | Misuse::DestroyInUse => holders,
    }
}

/// The last event of another thread on a descriptor, of some kind.
fn last_of_others(
    symbols: &Symbolizer<'_>,
    (thread, number): (ThreadId, u64),
    state: ObjectState,
    is: impl Fn(&Op) -> bool,
) -> Vec<(ObjectState, Event)> {
    let file = descriptor_object(number);
    let about = |it: &Event| {
        it.id.thread != thread && is(&it.op) && it.op.effect().objects().any(|it| it == file)
    };
    let last = symbols.symbolized.trace.merged().filter(about).last();
    last.map(|it| (state, it)).into_iter().collect()
}

/// The last events of the threads that were blocked on an object.
fn waiters(symbols: &Symbolizer<'_>, object: u64) -> Vec<(ObjectState, Event)> {
    let trace = &symbols.symbolized.trace;
    let blocked = history::blocked(trace).iter().filter(|it| it.object == object);
    let threads: Vec<_> = blocked.map(|it| ThreadId(it.thread)).collect();
    let mut last = Vec::new();
    for thread in threads {
        let events = trace.merged().filter(|it| it.id.thread == thread);
        last.extend(events.last().map(|it| (ObjectState::Waits, it)));
    }
    last
}

/// The class of the object of an event.
fn class(op: &Op) -> Option<Object> {
    match *op {
        Op::Acquire { mode, .. } | Op::Release { mode, .. } => Some(mode.object()),
        Op::WaitAcquire { .. } => Some(LockMode::Mutex.object()),
        Op::Wait { .. } => Some(Object::Cond),
        Op::BarrierEnter { .. } => Some(Object::Barrier),
        _ => None,
    }
}

//! Waits that any thread can end: on a condition variable, a barrier or a semaphore.

use norn_model::{EventId, Object, Op, ThreadId, WokenBy};
use norn_report::{Barrier, Notice, Semaphore, Wakeup};
use norn_trace::{Blocked, Kind};

use super::{
    history::{self, ObjectHistory, RunHistory},
    symbolizer::Symbolizer,
};

/// Maximum number of calls that are listed: there may be thousands.
pub(super) const MAX_LISTED: usize = 5;

pub(super) fn wakeup(symbols: &Symbolizer<'_>, history: &RunHistory, blocked: &Blocked) -> Wakeup {
    let object = symbols.primitive(blocked.object, Object::Cond);
    let Some(object_history) = history.objects.get(&blocked.object) else {
        return Wakeup { object, calls: Vec::new(), earlier: 0 };
    };
    let began = began(object_history, ThreadId(blocked.thread));
    let is_call = |op: &Op| matches!(op, Op::Signal { .. } | Op::Broadcast { .. });
    let calls: Vec<_> = object_history.events.iter().filter(|it| is_call(&it.1.op)).collect();
    let listed = calls.len().min(MAX_LISTED);
    let notice = |(order, event): &(u64, norn_model::Event)| Notice {
        step: symbols.step(event),
        broadcast: matches!(event.op, Op::Broadcast { .. }),
        before: began.is_none_or(|it| *order < it),
        woke: woken(object_history, event.id).map(|it| symbols.thread(it)).collect(),
    };
    Wakeup {
        object,
        earlier: (calls.len() - listed) as u64,
        calls: calls[calls.len() - listed..].iter().map(|it| notice(it)).collect(),
    }
}

/// The position of the event with which a thread's last wait began.
fn began(object_history: &ObjectHistory, thread: ThreadId) -> Option<u64> {
    let waits = object_history.events.iter().rev();
    let mut waits = waits.filter(|it| matches!(it.1.op, Op::Wait { .. }));
    waits.find(|it| it.1.id.thread == thread).map(|it| it.0)
}

fn woken(object_history: &ObjectHistory, call: EventId) -> impl Iterator<Item = ThreadId> {
    object_history.events.iter().filter_map(move |(_, event)| match event.op {
        Op::WaitAcquire { woken: WokenBy::Event(by), .. } if by == call => Some(event.id.thread),
        _ => None,
    })
}

pub(super) fn barrier(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    blocked: &Blocked,
) -> Barrier {
    let here = |it: &&Blocked| it.kind == Kind::BarrierEnter.code() && it.object == blocked.object;
    let arrived = history::blocked(&symbols.symbolized.trace).iter().filter(here);
    Barrier {
        object: symbols.primitive(blocked.object, Object::Barrier),
        needed: history.objects.get(&blocked.object).and_then(|it| it.detail),
        arrived: arrived.map(|it| symbols.thread(ThreadId(it.thread))).collect(),
    }
}

pub(super) fn semaphore(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    blocked: &Blocked,
) -> Semaphore {
    let object = symbols.primitive(blocked.object, Object::Semaphore);
    let Some(object_history) = history.objects.get(&blocked.object) else {
        return Semaphore { object, initial: None, posts: 0, waits: 0, last: Vec::new() };
    };
    let posts: Vec<_> =
        object_history.events.iter().filter(|it| matches!(it.1.op, Op::SemPost { .. })).collect();
    let last = &posts[posts.len() - posts.len().min(MAX_LISTED)..];
    Semaphore {
        object,
        initial: object_history.detail,
        posts: object_history.posts,
        waits: object_history.waits,
        last: last.iter().map(|it| symbols.step(&it.1)).collect(),
    }
}

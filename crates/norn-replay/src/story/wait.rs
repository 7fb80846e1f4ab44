//! Waits that no thread in particular must end: for a signal, at a barrier, for a semaphore.

use norn_model::{EventId, Object, Op, ThreadId, WokenBy};
use norn_report::{Barrier, Notice, Semaphore, Wakeup};
use norn_trace::{Blocked, Kind};

use super::{
    past::{self, History, Past},
    symbolizer::Symbolizer,
};

/// Calls that are listed, at most: there may be thousands.
const LISTED: usize = 5;

pub(super) fn wakeup(symbols: &Symbolizer<'_>, past: &Past, blocked: &Blocked) -> Wakeup {
    let object = symbols.primitive(blocked.object, Object::Cond);
    let Some(history) = past.objects.get(&blocked.object) else {
        return Wakeup { object, calls: Vec::new(), earlier: 0 };
    };
    let began = began(history, ThreadId(blocked.thread));
    let is_call = |op: &Op| matches!(op, Op::Signal { .. } | Op::Broadcast { .. });
    let calls: Vec<_> = history.notes.iter().filter(|it| is_call(&it.1.op)).collect();
    let listed = calls.len().min(LISTED);
    let notice = |(order, event): &(u64, norn_model::Event)| Notice {
        step: symbols.step(event),
        broadcast: matches!(event.op, Op::Broadcast { .. }),
        before: began.is_none_or(|it| *order < it),
        woke: woken(history, event.id).map(|it| symbols.thread(it)).collect(),
    };
    Wakeup {
        object,
        earlier: (calls.len() - listed) as u64,
        calls: calls[calls.len() - listed..].iter().map(|it| notice(it)).collect(),
    }
}

/// When a thread's last wait began.
fn began(history: &History, thread: ThreadId) -> Option<u64> {
    let waits = history.notes.iter().rev();
    let mut waits = waits.filter(|it| matches!(it.1.op, Op::Wait { .. }));
    waits.find(|it| it.1.id.thread == thread).map(|it| it.0)
}

fn woken(history: &History, call: EventId) -> impl Iterator<Item = ThreadId> {
    history.notes.iter().filter_map(move |(_, event)| match event.op {
        Op::WaitAcquire { woken: WokenBy::Event(by), .. } if by == call => Some(event.id.thread),
        _ => None,
    })
}

pub(super) fn barrier(symbols: &Symbolizer<'_>, past: &Past, blocked: &Blocked) -> Barrier {
    let here = |it: &&Blocked| it.kind == Kind::BarrierEnter.code() && it.object == blocked.object;
    let arrived = past::blocked(&symbols.symbolized.trace).iter().filter(here);
    Barrier {
        object: symbols.primitive(blocked.object, Object::Barrier),
        needed: past.objects.get(&blocked.object).and_then(|it| it.detail),
        arrived: arrived.map(|it| symbols.thread(ThreadId(it.thread))).collect(),
    }
}

pub(super) fn semaphore(symbols: &Symbolizer<'_>, past: &Past, blocked: &Blocked) -> Semaphore {
    let object = symbols.primitive(blocked.object, Object::Semaphore);
    let Some(history) = past.objects.get(&blocked.object) else {
        return Semaphore { object, initial: None, posts: 0, waits: 0, last: Vec::new() };
    };
    let posts: Vec<_> =
        history.notes.iter().filter(|it| matches!(it.1.op, Op::SemPost { .. })).collect();
    let last = &posts[posts.len() - posts.len().min(LISTED)..];
    Semaphore {
        object,
        initial: history.detail,
        posts: history.posts,
        waits: history.waits,
        last: last.iter().map(|it| symbols.step(&it.1)).collect(),
    }
}

//! Waits that no thread in particular must end: for a signal, at a barrier, for a semaphore.

use norn_abi::Kind;
use norn_model::{EventId, Op, ThreadId, ThreadName, WokenBy};
use norn_trace::Blocked;
use serde::Serialize;

use super::{
    guide::{Guide, Step, Thing},
    past::{self, History, Past},
    size::{BARRIER, COND, SEMAPHORE},
};

/// So many calls are told one by one; there may be thousands.
const TOLD: usize = 5;

/// A thread waits for a signal or a broadcast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wakeup {
    /// Of what.
    pub object: Thing,
    /// The last signals and broadcasts, in their order.
    pub calls: Vec<Notice>,
    /// How many there were before those.
    pub earlier: u64,
}

/// A signal or broadcast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Who sent it, and where.
    #[serde(flatten)]
    pub step: Step,
    /// Whether it was for all who waited.
    pub broadcast: bool,
    /// Whether the wait had not begun.
    pub before: bool,
    /// Whom it woke.
    pub woke: Vec<ThreadName>,
}

/// A thread waits at a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Barrier {
    /// Which.
    pub object: Thing,
    /// How many must come, if that is known.
    pub needed: Option<u64>,
    /// Who came.
    pub arrived: Vec<ThreadName>,
}

/// A thread waits until a semaphore goes up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Semaphore {
    /// Which.
    pub object: Thing,
    /// What it was at first, if that is known.
    pub initial: Option<u64>,
    /// How often it went up.
    pub posts: u64,
    /// How often it went down.
    pub waits: u64,
    /// Where it went up last.
    pub last: Vec<Step>,
}

pub(super) fn wakeup(guide: &Guide<'_>, past: &Past, blocked: &Blocked) -> Wakeup {
    let object = guide.thing(blocked.object, COND);
    let Some(history) = past.objects.get(&blocked.object) else {
        return Wakeup { object, calls: Vec::new(), earlier: 0 };
    };
    let began = began(history, ThreadId(blocked.thread));
    let is_call = |op: &Op| matches!(op, Op::Signal { .. } | Op::Broadcast { .. });
    let calls: Vec<_> = history.notes.iter().filter(|it| is_call(&it.1.op)).collect();
    let told = calls.len().min(TOLD);
    let notice = |(order, event): &(u64, norn_model::Event)| Notice {
        step: guide.step(event),
        broadcast: matches!(event.op, Op::Broadcast { .. }),
        before: began.is_none_or(|it| *order < it),
        woke: woken(history, event.id).map(|it| guide.thread(it)).collect(),
    };
    Wakeup {
        object,
        earlier: (calls.len() - told) as u64,
        calls: calls[calls.len() - told..].iter().map(|it| notice(it)).collect(),
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

pub(super) fn barrier(guide: &Guide<'_>, past: &Past, blocked: &Blocked) -> Barrier {
    let here = |it: &&Blocked| it.kind == Kind::BarrierEnter.code() && it.object == blocked.object;
    let arrived = past::blocked(&guide.scene.trace).iter().filter(here);
    Barrier {
        object: guide.thing(blocked.object, BARRIER),
        needed: past.objects.get(&blocked.object).and_then(|it| it.detail),
        arrived: arrived.map(|it| guide.thread(ThreadId(it.thread))).collect(),
    }
}

pub(super) fn semaphore(guide: &Guide<'_>, past: &Past, blocked: &Blocked) -> Semaphore {
    let object = guide.thing(blocked.object, SEMAPHORE);
    let Some(history) = past.objects.get(&blocked.object) else {
        return Semaphore { object, initial: None, posts: 0, waits: 0, last: Vec::new() };
    };
    let posts: Vec<_> =
        history.notes.iter().filter(|it| matches!(it.1.op, Op::SemPost { .. })).collect();
    let last = &posts[posts.len() - posts.len().min(TOLD)..];
    Semaphore {
        object,
        initial: history.detail,
        posts: history.posts,
        waits: history.waits,
        last: last.iter().map(|it| guide.step(&it.1)).collect(),
    }
}

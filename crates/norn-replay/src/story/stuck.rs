//! The story of a program in which nobody can ever go on: who waits for what, and for whom.

use std::collections::BTreeMap;

use norn_abi::Kind;
use norn_model::{LockMode, Op, ThreadId, ThreadName};
use norn_trace::Blocked;
use serde::Serialize;

use super::{
    guide::{Guide, Step, Thing},
    past::{self, Past},
    size,
    wait::{self, Barrier, Semaphore, Wakeup},
};

/// Nobody can go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stuck {
    /// Who waits; those who wait for each other first.
    pub waiters: Vec<Waiter>,
    /// Threads of which each waits for the next, and the last for the first.
    pub circle: Vec<ThreadName>,
    /// Threads that have ended.
    pub ended: Vec<ThreadName>,
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiter {
    /// Who, and where.
    #[serde(flatten)]
    pub step: Step,
    /// What for.
    #[serde(rename = "for")]
    pub want: Want,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// A lock.
    Lock {
        /// Which.
        object: Thing,
        /// Who has it.
        holders: Vec<Holder>,
    },
    /// A signal or broadcast.
    Wakeup(Wakeup),
    /// Others at a barrier.
    Barrier(Barrier),
    /// That a semaphore goes up.
    Semaphore(Semaphore),
    /// The end of a thread.
    End {
        /// Which.
        thread: ThreadName,
        /// Whether it has ended.
        ended: bool,
    },
    /// That another thread is done with an initialisation.
    Once {
        /// Of what.
        object: Thing,
        /// Who is at it.
        by: Option<Step>,
    },
    /// That somebody wakes who sleeps on a word of memory; that leaves no events.
    Word(Thing),
    /// A time, or something outside of the program.
    Outside,
}

/// Who has a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Who took it, and where.
    #[serde(flatten)]
    pub taken: Step,
    /// What for.
    pub mode: LockMode,
    /// Whether that thread has ended.
    pub ended: bool,
}

pub(super) fn tell(guide: &Guide<'_>, past: &Past) -> Stuck {
    let blocked = past::blocked(&guide.scene.trace);
    let circle = circle(blocked, past);
    let mut order: Vec<&Blocked> = blocked.iter().collect();
    let rank = |it: &Blocked| circle.iter().position(|id| id.0 == it.thread);
    order.sort_by_key(|it| (rank(it).unwrap_or(usize::MAX), it.thread));
    Stuck {
        waiters: order.into_iter().map(|it| waiter(guide, past, it)).collect(),
        circle: circle.into_iter().map(|it| guide.thread(it)).collect(),
        ended: ended(guide, past),
    }
}

pub(super) fn ended(guide: &Guide<'_>, past: &Past) -> Vec<ThreadName> {
    past.threads.iter().filter(|it| it.1.ended).map(|it| guide.thread(*it.0)).collect()
}

pub(super) fn waiter(guide: &Guide<'_>, past: &Past, blocked: &Blocked) -> Waiter {
    let step = guide.next(ThreadId(blocked.thread), blocked.pc);
    Waiter { step, want: want(guide, past, blocked) }
}

fn want(guide: &Guide<'_>, past: &Past, blocked: &Blocked) -> Want {
    let Some(kind) = Kind::from_code(blocked.kind) else { return Want::Outside };
    match kind {
        Kind::Acquire => {
            let holders = holders(guide, past, blocked.object);
            let mode = holders.first().map_or(LockMode::Mutex, |it| it.mode);
            Want::Lock { object: guide.thing(blocked.object, size::lock(mode)), holders }
        }
        Kind::Wait => Want::Wakeup(wait::wakeup(guide, past, blocked)),
        Kind::BarrierEnter => Want::Barrier(wait::barrier(guide, past, blocked)),
        Kind::SemWait => Want::Semaphore(wait::semaphore(guide, past, blocked)),
        Kind::Join => {
            let id = joined(blocked);
            let ended = past.threads.get(&id).is_some_and(|it| it.ended);
            Want::End { thread: guide.thread(id), ended }
        }
        Kind::OnceDone => {
            let by = begun(past, blocked.object).map(|it| guide.step(&it));
            Want::Once { object: guide.thing(blocked.object, 1), by }
        }
        Kind::Futex => Want::Word(guide.thing(blocked.object, size::WORD)),
        _ => Want::Outside,
    }
}

fn joined(blocked: &Blocked) -> ThreadId {
    ThreadId(u32::try_from(blocked.object).unwrap_or(u32::MAX))
}

fn holders(guide: &Guide<'_>, past: &Past, lock: u64) -> Vec<Holder> {
    let mut holders = Vec::new();
    for life in past.threads.values() {
        for (_, event) in life.taken.iter().filter(|it| it.0 == lock) {
            let mode = match event.op {
                Op::Acquire { mode, .. } => mode,
                _ => LockMode::Mutex,
            };
            holders.push(Holder { taken: guide.step(event), mode, ended: life.ended });
        }
    }
    holders
}

/// Where an initialisation began that is not over.
fn begun(past: &Past, once: u64) -> Option<norn_model::Event> {
    let notes = past.objects.get(&once)?.notes.iter().rev();
    let last = notes
        .map(|it| it.1)
        .find(|it| matches!(it.op, Op::OnceBegin { .. } | Op::OnceEnd { .. }))?;
    matches!(last.op, Op::OnceBegin { .. }).then_some(last)
}

/// Finds threads that wait for each other in a circle.
fn circle(blocked: &[Blocked], past: &Past) -> Vec<ThreadId> {
    let edges: Edges = blocked.iter().map(|it| (ThreadId(it.thread), awaited(it, past))).collect();
    whole(&edges)
}

/// A circle of several threads if there is one: who waits for itself and for others, as a reader
/// that wants to write, is better told with the others.
fn whole(edges: &Edges) -> Vec<ThreadId> {
    let others: Edges = edges
        .iter()
        .map(|(from, to)| (*from, to.iter().copied().filter(|it| it != from).collect()))
        .collect();
    let find = |edges: &Edges| edges.keys().find_map(|&start| path(edges, &mut vec![start]));
    find(&others).or_else(|| find(edges)).unwrap_or_default()
}

/// For whom each thread waits.
type Edges = BTreeMap<ThreadId, Vec<ThreadId>>;

/// The threads that one waits for.
fn awaited(blocked: &Blocked, past: &Past) -> Vec<ThreadId> {
    let holds = |id: &ThreadId| past.threads[id].taken.iter().any(|it| it.0 == blocked.object);
    match Kind::from_code(blocked.kind) {
        Some(Kind::Acquire) => past.threads.keys().copied().filter(holds).collect(),
        Some(Kind::Join) => vec![joined(blocked)],
        Some(Kind::OnceDone) => {
            begun(past, blocked.object).map(|it| it.id.thread).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A way from the first thread of `way` back to it.
fn path(edges: &Edges, way: &mut Vec<ThreadId>) -> Option<Vec<ThreadId>> {
    let last = way.last()?;
    for next in edges.get(last)? {
        if way.first() == Some(next) {
            return Some(way.clone());
        }
        if !way.contains(next) {
            way.push(*next);
            if let Some(found) = path(edges, way) {
                return Some(found);
            }
            way.pop();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle_of(edges: &[(u32, &[u32])]) -> Vec<u32> {
        let edges: Edges = edges
            .iter()
            .map(|(from, to)| (ThreadId(*from), to.iter().map(|it| ThreadId(*it)).collect()))
            .collect();
        whole(&edges).iter().map(|it| it.0).collect()
    }

    #[test]
    fn circles_are_found_whoever_else_waits() {
        assert_eq!(circle_of(&[(0, &[1]), (1, &[3, 2]), (2, &[1]), (3, &[])]), [1, 2]);
        assert_eq!(circle_of(&[(0, &[1]), (1, &[2]), (2, &[0])]), [0, 1, 2]);
        assert_eq!(circle_of(&[(4, &[4])]), [4]);
        assert_eq!(circle_of(&[(0, &[0, 1]), (1, &[0, 1])]), [0, 1]);
        assert!(circle_of(&[(0, &[1]), (1, &[])]).is_empty());
    }
}

//! The story of a program in which no thread can continue: what each waits for, and which threads.

use std::collections::BTreeMap;

use norn_model::{LockMode, Op, ThreadId, ThreadName};
use norn_report::{Holder, Stuck, Waiter, Want};
use norn_trace::{Blocked, Kind};

use super::{
    past::{self, Past},
    symbolizer::Symbolizer,
    wait,
};

/// Bytes of a word on which threads wait by themselves.
const WORD: u64 = 4;

pub(super) fn explain(symbols: &Symbolizer<'_>, past: &Past) -> Stuck {
    let blocked = past::blocked(&symbols.symbolized.trace);
    let cycle = cycle(blocked, past);
    let mut order: Vec<&Blocked> = blocked.iter().collect();
    let rank = |it: &Blocked| cycle.iter().position(|id| id.0 == it.thread);
    order.sort_by_key(|it| (rank(it).unwrap_or(usize::MAX), it.thread));
    Stuck {
        waiters: order.into_iter().map(|it| waiter(symbols, past, it)).collect(),
        cycle: cycle.into_iter().map(|it| symbols.thread(it)).collect(),
        ended: ended(symbols, past),
    }
}

pub(super) fn ended(symbols: &Symbolizer<'_>, past: &Past) -> Vec<ThreadName> {
    past.threads.iter().filter(|it| it.1.ended).map(|it| symbols.thread(*it.0)).collect()
}

pub(super) fn waiter(symbols: &Symbolizer<'_>, past: &Past, blocked: &Blocked) -> Waiter {
    let step = symbols.next(ThreadId(blocked.thread), blocked.pc);
    Waiter { step, want: want(symbols, past, blocked) }
}

fn want(symbols: &Symbolizer<'_>, past: &Past, blocked: &Blocked) -> Want {
    let Some(kind) = Kind::from_code(blocked.kind) else { return Want::Outside };
    match kind {
        Kind::Acquire => {
            let holders = holders(symbols, past, blocked.object);
            let mode = holders.first().map_or(LockMode::Mutex, |it| it.mode);
            Want::Lock { object: symbols.primitive(blocked.object, mode.object()), holders }
        }
        Kind::Wait => Want::Wakeup(wait::wakeup(symbols, past, blocked)),
        Kind::BarrierEnter => Want::Barrier(wait::barrier(symbols, past, blocked)),
        Kind::SemWait => Want::Semaphore(wait::semaphore(symbols, past, blocked)),
        Kind::Join => {
            let id = joined(blocked);
            let ended = past.threads.get(&id).is_some_and(|it| it.ended);
            Want::End { thread: symbols.thread(id), ended }
        }
        Kind::OnceDone => {
            let by = begun(past, blocked.object).map(|it| symbols.step(&it));
            Want::Once { object: symbols.object(blocked.object, 1), by }
        }
        Kind::Futex => Want::Word(symbols.object(blocked.object, WORD)),
        _ => Want::Outside,
    }
}

fn joined(blocked: &Blocked) -> ThreadId {
    ThreadId(u32::try_from(blocked.object).unwrap_or(u32::MAX))
}

fn holders(symbols: &Symbolizer<'_>, past: &Past, lock: u64) -> Vec<Holder> {
    let mut holders = Vec::new();
    for life in past.threads.values() {
        for (_, event) in life.taken.iter().filter(|it| it.0 == lock) {
            let mode = match event.op {
                Op::Acquire { mode, .. } => mode,
                _ => LockMode::Mutex,
            };
            holders.push(Holder { taken: symbols.step(event), mode, ended: life.ended });
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

/// Finds threads that wait for each other in a cycle.
fn cycle(blocked: &[Blocked], past: &Past) -> Vec<ThreadId> {
    let edges: Edges = blocked.iter().map(|it| (ThreadId(it.thread), awaited(it, past))).collect();
    whole(&edges)
}

/// A cycle of several threads if there is one: a thread that waits for itself and for others, as a
/// reader that wants to write, is better explained with the others.
fn whole(edges: &Edges) -> Vec<ThreadId> {
    let others: Edges = edges
        .iter()
        .map(|(from, to)| (*from, to.iter().copied().filter(|it| it != from).collect()))
        .collect();
    let find = |edges: &Edges| edges.keys().find_map(|&start| path(edges, &mut vec![start]));
    find(&others).or_else(|| find(edges)).unwrap_or_default()
}

/// The threads that each thread waits for.
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

    fn cycle_of(edges: &[(u32, &[u32])]) -> Vec<u32> {
        let edges: Edges = edges
            .iter()
            .map(|(from, to)| (ThreadId(*from), to.iter().map(|it| ThreadId(*it)).collect()))
            .collect();
        whole(&edges).iter().map(|it| it.0).collect()
    }

    #[test]
    fn cycles_are_found_among_other_waiting_threads() {
        assert_eq!(cycle_of(&[(0, &[1]), (1, &[3, 2]), (2, &[1]), (3, &[])]), [1, 2]);
        assert_eq!(cycle_of(&[(0, &[1]), (1, &[2]), (2, &[0])]), [0, 1, 2]);
        assert_eq!(cycle_of(&[(4, &[4])]), [4]);
        assert_eq!(cycle_of(&[(0, &[0, 1]), (1, &[0, 1])]), [0, 1]);
        assert!(cycle_of(&[(0, &[1]), (1, &[])]).is_empty());
    }
}

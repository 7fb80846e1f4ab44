//! The story of a deadlock: what each thread waits for, and which threads hold it.

use std::collections::BTreeMap;

use norn_model::{Event, LockMode, Op, ThreadId, ThreadName};
use norn_report::{Holder, Stuck, Waiter, Want};
use norn_trace::{Blocked, Kind};

use super::{
    history::{self, RunHistory, ThreadHistory},
    signal,
    symbolizer::Symbolizer,
    wait,
};

/// Size of a futex word in bytes.
const FUTEX_SIZE: u64 = 4;

pub(super) fn explain(symbols: &Symbolizer<'_>, history: &RunHistory) -> Stuck {
    let blocked = history::blocked(&symbols.symbolized.trace);
    let cycle = cycle(blocked, history);
    let mut order: Vec<&Blocked> = blocked.iter().collect();
    let rank = |it: &Blocked| cycle.iter().position(|id| id.0 == it.thread);
    order.sort_by_key(|it| (rank(it).unwrap_or(usize::MAX), it.thread));
    Stuck {
        waiters: order.into_iter().map(|it| waiter(symbols, history, it)).collect(),
        cycle: cycle.into_iter().map(|it| symbols.thread(it)).collect(),
        ended: ended(symbols, history),
    }
}

pub(super) fn ended(symbols: &Symbolizer<'_>, history: &RunHistory) -> Vec<ThreadName> {
    history.threads.iter().filter(|it| it.1.ended).map(|it| symbols.thread(*it.0)).collect()
}

pub(super) fn waiter(symbols: &Symbolizer<'_>, history: &RunHistory, blocked: &Blocked) -> Waiter {
    let step = symbols.next(ThreadId(blocked.thread), blocked.pc);
    Waiter { step, want: want(symbols, history, blocked) }
}

fn want(symbols: &Symbolizer<'_>, history: &RunHistory, blocked: &Blocked) -> Want {
    let Some(kind) = Kind::from_code(blocked.kind) else { return Want::Outside };
    match kind {
        Kind::Acquire => {
            let holders = holders(symbols, history, blocked.object);
            let mode = holders.first().map_or(LockMode::Mutex, |it| it.mode);
            let object = symbols.primitive(blocked.object, mode.object());
            let behind = writers_before(history, blocked).into_iter();
            let behind = behind.map(|it| symbols.step(&it.1)).collect();
            Want::Lock { object, holders, behind }
        }
        Kind::Wait => Want::Wakeup(wait::wakeup(symbols, history, blocked)),
        Kind::BarrierEnter | Kind::HappensAfter => {
            Want::Barrier(wait::barrier(symbols, history, blocked))
        }
        Kind::SemWait => Want::Semaphore(wait::semaphore(symbols, history, blocked)),
        Kind::Join => {
            let id = joined(blocked);
            let ended = history.threads.get(&id).is_some_and(|it| it.ended);
            Want::End { thread: symbols.thread(id), ended }
        }
        Kind::OnceDone => {
            let by = begun(history, blocked.object).map(|it| symbols.step(&it));
            Want::Once { object: symbols.object(blocked.object, 1), by }
        }
        // The word of a library has no name that the program knows, but the call in which the thread waits does.
        Kind::Futex => {
            let call = symbols.library_call(ThreadId(blocked.thread), blocked.pc);
            Want::Word(call.unwrap_or_else(|| symbols.object(blocked.object, FUTEX_SIZE)))
        }
        Kind::Receive | Kind::Send | Kind::Ready => match signal::awaited(blocked) {
            Some(signals) => Want::Signal(signal::wait(symbols, history, blocked, signals)),
            None => Want::File,
        },
        _ => Want::Outside,
    }
}

fn joined(blocked: &Blocked) -> ThreadId {
    ThreadId(u32::try_from(blocked.object).unwrap_or(u32::MAX))
}

fn holders(symbols: &Symbolizer<'_>, history: &RunHistory, lock: u64) -> Vec<Holder> {
    let mut holders = Vec::new();
    for thread in history.threads.values() {
        for (_, event) in thread.taken.iter().filter(|it| it.0 == lock) {
            let mode = match event.op {
                Op::Acquire { mode, .. } => mode,
                _ => LockMode::Mutex,
            };
            holders.push(Holder { taken: symbols.step(event), mode, ended: thread.ended });
        }
    }
    holders
}

/// Where the writers wait that a reader lets pass. Readers wait for readers only if a writer is between them,
/// and such a writer has tried to take the lock.
fn writers_before(history: &RunHistory, reader: &Blocked) -> Vec<(ThreadId, Event)> {
    let lock = reader.object;
    let taken = || history.threads.values().flat_map(|it| &it.taken).filter(|it| it.0 == lock);
    let reads = |event: &Event| matches!(event.op, Op::Acquire { mode: LockMode::Read, .. });
    let waits = |(thread, history): (&ThreadId, &ThreadHistory)| {
        let failed = history.failed_write.filter(|it| it.0 == lock);
        failed.map(|it| (*thread, it.1))
    };
    let mut writers: Vec<_> = history.threads.iter().filter_map(waits).collect();
    let is_reader = writers.iter().all(|it| it.0.0 != reader.thread);
    if !is_reader || taken().count() == 0 || !taken().all(|it| reads(&it.1)) {
        writers.clear();
    }
    writers
}

/// The begin event of an initialization that has not ended.
fn begun(history: &RunHistory, once: u64) -> Option<Event> {
    let events = history.objects.get(&once)?.events.iter().rev();
    let last = events
        .map(|it| it.1)
        .find(|it| matches!(it.op, Op::OnceBegin { .. } | Op::OnceEnd { .. }))?;
    matches!(last.op, Op::OnceBegin { .. }).then_some(last)
}

/// Finds threads that wait for each other in a cycle.
fn cycle(blocked: &[Blocked], history: &RunHistory) -> Vec<ThreadId> {
    let edges: Edges =
        blocked.iter().map(|it| (ThreadId(it.thread), awaited(it, history))).collect();
    find_cycle(&edges)
}

/// Finds a cycle of several threads, else a thread that waits for itself. A thread that waits for
/// itself and for others, such as a reader that wants to write, is better explained with the others.
fn find_cycle(edges: &Edges) -> Vec<ThreadId> {
    let others: Edges = edges
        .iter()
        .map(|(from, to)| (*from, to.iter().copied().filter(|it| it != from).collect()))
        .collect();
    let find = |edges: &Edges| edges.keys().find_map(|&start| close_cycle(edges, &mut vec![start]));
    find(&others).or_else(|| find(edges)).unwrap_or_default()
}

/// The threads that each thread waits for.
type Edges = BTreeMap<ThreadId, Vec<ThreadId>>;

/// The threads that a blocked thread waits for.
fn awaited(blocked: &Blocked, history: &RunHistory) -> Vec<ThreadId> {
    let holds = |id: &ThreadId| history.threads[id].taken.iter().any(|it| it.0 == blocked.object);
    match Kind::from_code(blocked.kind) {
        Some(Kind::Acquire) => match &writers_before(history, blocked)[..] {
            [] => history.threads.keys().copied().filter(holds).collect(),
            writers => writers.iter().map(|it| it.0).collect(),
        },
        Some(Kind::Join) => vec![joined(blocked)],
        Some(Kind::OnceDone) => {
            begun(history, blocked.object).map(|it| it.id.thread).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Extends a path of edges to a cycle through its first thread, depth first.
fn close_cycle(edges: &Edges, path: &mut Vec<ThreadId>) -> Option<Vec<ThreadId>> {
    let last = path.last()?;
    for next in edges.get(last)? {
        if path.first() == Some(next) {
            return Some(path.clone());
        }
        if !path.contains(next) {
            path.push(*next);
            if let Some(found) = close_cycle(edges, path) {
                return Some(found);
            }
            path.pop();
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
        find_cycle(&edges).iter().map(|it| it.0).collect()
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

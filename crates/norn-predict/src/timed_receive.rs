//! Waits with a time limit for what another thread sends, such as the token that `unpark` gives, and what the thread
//! waits for.
//!
//! A token only says that something has changed. A thread that gives up waiting looks once more, so it
//! must have given up before that change, and not only before the token:
//!
//! ```text
//! waiter: waits … times out, reads x, continues    waker: write x, unpark
//! ```
//!
//! The change is the first thing that the waker does during the wait to memory or to a lock that the waiter uses soon after
//! it.

use norn_model::{Event, Op, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{condition_wait::At, outline::narrow};

/// How many events of the waiter after the wait may look at what has changed.
const SOON: usize = 512;

/// Visits the ends of such waits that a send ended, each with the change or, if none is known, the send.
pub(crate) fn timed_receives(trace: &Trace, mut found: impl FnMut(At, At)) {
    let is_timed = |it: &Event| matches!(it.op, Op::Receive { timed: true, .. });
    if !trace.threads.iter().any(|it| it.events.iter().any(is_timed)) {
        return;
    }
    let numbers: FxHashMap<_, _> =
        trace.threads.iter().zip(0..=u16::MAX).map(|(it, number)| (it.id, number)).collect();
    let mut ranks: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
    let mut sends: FxHashMap<u64, Vec<(u64, At)>> = FxHashMap::default();
    for (rank, event) in (0..).zip(trace.merged()) {
        let Some(&thread) = numbers.get(&event.id.thread) else { continue };
        let own = &mut ranks[usize::from(thread)];
        let at = (thread, narrow(own.len()));
        let begin = own.last().copied().unwrap_or(0);
        own.push(rank);
        if let Op::Send { channel, to, .. } = event.op {
            sends.entry(channel).or_default().push((to, at));
        } else if let Op::Receive { channel, from, to, timed: true } = event.op
            && from < to
            && let Some(sent) = sends.get(&channel)
            && let Some(&(_, send)) = sent.iter().find(|it| it.0 >= to)
            && send.0 != thread
        {
            let since = ranks[usize::from(send.0)].partition_point(|it| *it < begin);
            found(at, change(trace, at, (send, since)));
        }
    }
}

/// What the waker changes between an event and its send.
fn change(trace: &Trace, (waiter, wait): At, (send, since): (At, usize)) -> At {
    let after = trace.threads[usize::from(waiter)].events.iter().skip(wait as usize + 1);
    let used: FxHashSet<u64> = after.take(SOON).filter_map(|it| looks_at(&it.op)).collect();
    let (waker, end) = (send.0, send.1 as usize);
    let events = &trace.threads[usize::from(waker)].events[..end];
    let during = events.iter().enumerate().skip(since);
    let mut changes = during.filter(|it| changes(&it.1.op).is_some_and(|it| used.contains(&it)));
    changes.next().map_or(send, |it| (waker, narrow(it.0)))
}

/// The memory that an event reads, or the lock that it acquires.
fn looks_at(op: &Op) -> Option<u64> {
    let read = || op.access().filter(|it| it.read.is_some()).map(|it| it.addr);
    acquired(op).or_else(read)
}

/// The memory that an event writes, or the lock that it acquires.
fn changes(op: &Op) -> Option<u64> {
    let written = || op.access().filter(|it| it.write.is_some()).map(|it| it.addr);
    acquired(op).or_else(written)
}

fn acquired(op: &Op) -> Option<u64> {
    if let Op::Acquire { lock, .. } = *op { Some(lock) } else { None }
}

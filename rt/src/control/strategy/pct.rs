//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010):
//! threads have random priorities and the highest runs; at `depth - 1` random events the thread
//! that runs gets a priority below all others. A bug that needs `depth` orders of events among
//! `n` threads and `k` events is found with probability 1 / (n k^(depth-1)) at least.
//!
//! We deviate so that programs end whose threads wait for each other in loops: a thread that only
//! looks is not chosen while others can run, and one that has run alone for long becomes the lowest.

use super::{State as Strategy, Task, highest, now};
use crate::arena;

const MOST: usize = 64;
/// Events that a thread may run alone while others could.
const LONG: u64 = 50_000;

/// Where priorities change.
pub struct State {
    changes: [u64; MOST],
    next: usize,
    count: usize,
    /// Who ran last, and since which event.
    runner: usize,
    since: u64,
}

impl State {
    pub const NEW: State = State { changes: [0; MOST], next: 0, count: 0, runner: 0, since: 0 };
}

/// Chooses the events at which priorities change.
pub fn start(strategy: &mut Strategy) {
    let plan = arena::plan();
    let count = (plan.depth.max(1) as usize - 1).min(MOST);
    for i in 0..count {
        let at = strategy.below(plan.expected.max(1));
        let before = strategy.pct.changes[..i].iter().filter(|it| **it <= at).count();
        for j in (before..i).rev() {
            strategy.pct.changes[j + 1] = strategy.pct.changes[j];
        }
        strategy.pct.changes[before] = at;
    }
    (strategy.pct.next, strategy.pct.count) = (0, count);
}

/// The priority of a new thread: above all that priorities will be changed to.
pub fn priority(strategy: &mut Strategy) -> u64 {
    strategy.random() | 1 << 63
}

pub unsafe fn choose(strategy: &mut Strategy) -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    let now = now();
    let state = &mut strategy.pct;
    while state.next < state.count && state.changes[state.next] <= now {
        state.next += 1;
        // SAFETY: under the lock.
        if let Some(task) = unsafe { highest() } {
            task.priority = (MOST - state.next) as u64;
        }
    }
    // SAFETY: under the lock.
    if let Some(task) = unsafe { highest() } {
        let runner = &raw const *task as usize;
        if state.runner != runner {
            (state.runner, state.since) = (runner, now);
        } else if now - state.since > LONG {
            task.priority = 0;
            state.since = now;
        }
    }
    let turn = match state.changes[..state.count].get(state.next) {
        Some(change) => change - now,
        None => u64::MAX,
    };
    // SAFETY: under the lock.
    unsafe { highest() }.map(|it| (it, turn))
}

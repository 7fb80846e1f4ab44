//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized
//! scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010): threads have random
//! priorities and the highest runs; at `depth - 1` random events the running thread gets a priority
//! below all others. A bug of `depth` ordering constraints among `n` threads and `k` events is
//! found with a probability of at least 1 / (n k^(depth-1)).
//!
//! We deviate to guarantee progress of programs whose threads wait for each other in loops: a
//! thread that spins is not chosen while others can run, and one that has run alone for long gets
//! the lowest priority.

use norn_abi::control::Plan;

use super::{Choice, Strategy};
use crate::{TaskId, World, rng::Rng, run::RunState};

/// Maximum number of priority changes in a run.
const MAX_CHANGES: usize = 64;
/// Number of events that a thread may run while others could.
const LONG: u64 = 50_000;
/// Set in the initial priority of every thread, which is thus above all changed priorities.
const ABOVE_CHANGES: u64 = 1 << 63;

/// The strategy.
#[derive(Debug)]
pub(crate) struct Pct {
    /// The numbers of events of all threads at which priorities change, in order.
    changes: [u64; MAX_CHANGES],
    /// Number of changes, and index of the next one.
    count: usize,
    next: usize,
    /// The task that ran last, and the event since which it has run.
    runner: Option<TaskId>,
    since: u64,
}

impl Pct {
    pub(crate) const fn new() -> Self {
        Self { changes: [0; MAX_CHANGES], count: 0, next: 0, runner: None, since: 0 }
    }

    /// The next event at which a priority changes.
    fn next_change(&self) -> Option<u64> {
        self.changes.iter().take(self.count).nth(self.next).copied()
    }

    /// Lowers the priority of the thread with the highest one, at each change that is due.
    fn change_priorities(&mut self, run: &mut RunState) {
        while self.next_change().is_some_and(|at| at <= run.counted) {
            self.next += 1;
            if let Some(task) = run.tasks.highest() {
                run.tasks[task].priority = (MAX_CHANGES - self.next) as u64;
            }
        }
    }

    /// Lowers the priority of a thread that has run alone for long.
    fn end_monopoly(&mut self, run: &mut RunState) {
        let now = run.counted;
        let highest = run.tasks.highest();
        let Some(task) = highest else { return };
        if self.runner != highest {
            (self.runner, self.since) = (highest, now);
        } else if now - self.since > LONG {
            run.tasks[task].priority = 0;
            self.since = now;
        }
    }
}

impl Strategy for Pct {
    /// Draws the events at which priorities change, by insertion sort.
    fn start(&mut self, plan: &Plan, rng: &mut Rng) {
        let count = (plan.depth.max(1) as usize - 1).min(MAX_CHANGES);
        for drawn in 0..count {
            let mut at = rng.below(plan.expected.max(1));
            for earlier in self.changes.iter_mut().take(drawn) {
                if *earlier > at {
                    core::mem::swap(earlier, &mut at);
                }
            }
            if let Some(last) = self.changes.get_mut(drawn) {
                *last = at;
            }
        }
        (self.next, self.count) = (0, count);
    }

    fn priority(&mut self, rng: &mut Rng) -> u64 {
        rng.draw() | ABOVE_CHANGES
    }

    fn choose(&mut self, run: &mut RunState, _world: &dyn World) -> Choice {
        self.change_priorities(run);
        self.end_monopoly(run);
        let events = self.next_change().map_or(u64::MAX, |at| at - run.counted);
        run.tasks.highest().map_or(Choice::Idle, |it| Choice::Run(it, events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::SimulatedWorld;

    fn started(depth: u32, expected: u64) -> Pct {
        let (mut pct, mut rng) = (Pct::new(), Rng::new());
        pct.start(&Plan { depth, expected, ..Plan::default() }, &mut rng);
        pct
    }

    #[test]
    fn changes_are_one_fewer_than_the_depth_and_in_order() {
        for depth in [0, 1, 2, 5, 64, 65, 1000] {
            let pct = started(depth, 10_000);
            let expected = (depth.max(1) as usize - 1).min(MAX_CHANGES);
            assert_eq!(pct.count, expected);
            assert!(pct.changes[..expected].is_sorted());
            assert!(pct.changes[..expected].iter().all(|at| *at < 10_000));
        }
    }

    #[test]
    fn a_change_makes_the_runner_the_lowest() {
        let mut pct = started(2, 1);
        let mut run = RunState::new();
        for thread in 0..3 {
            let task = run.tasks.adopt(thread, false).unwrap();
            run.tasks[task].priority = pct.priority(&mut run.rng);
        }
        let before = run.tasks.highest().unwrap();
        assert!(pct.choose(&mut run, &SimulatedWorld::default()) != Choice::Run(before, u64::MAX));
        assert_eq!(run.tasks[before].priority, MAX_CHANGES as u64 - 1);
        assert_eq!(pct.next_change(), None);
    }

    #[test]
    fn a_thread_that_runs_alone_for_long_becomes_the_lowest() {
        let mut pct = started(1, 1);
        let mut run = RunState::new();
        for thread in 0..2 {
            let task = run.tasks.adopt(thread, false).unwrap();
            run.tasks[task].priority = pct.priority(&mut run.rng);
        }
        let world = SimulatedWorld::default();
        let first = pct.choose(&mut run, &world);
        run.counted = LONG;
        assert_eq!(pct.choose(&mut run, &world), first);
        run.counted = LONG + 1;
        assert_ne!(pct.choose(&mut run, &world), first);
    }
}

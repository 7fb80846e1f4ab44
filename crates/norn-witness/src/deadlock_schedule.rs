//! Schedules into deadlocks: they bring threads to events that can never complete.
//!
//! As for other [candidates](crate::hybrid), the schedule follows the recorded run, and the threads
//! of the candidate stop before their outermost locks or directly before the events at which they
//! get stuck. Then come the signals that are to be lost, before the threads that would wait for
//! them begin to wait; and then each thread runs to the event at which it gets stuck. The order of
//! the threads matters if one passes through a lock that another one will hold, so several orders
//! are proposed.

use norn_model::{Access, Candidate};

use crate::{
    Hybrid, Turn,
    engine::Proposals,
    hybrid::{Conflict, Prefix},
    sync_skeleton::EventPos,
};

/// Number of threads up to which all orders are proposed.
const ALL_ORDERS: usize = 3;

/// Where threads get stuck, and what has to happen before.
pub(crate) struct DeadlockPlan {
    /// By stuck thread: the event before which it stops first, and the one at which it gets stuck.
    threads: Vec<(EventPos, EventPos)>,
    /// The events of other threads that must happen before.
    before: Vec<EventPos>,
}

impl DeadlockPlan {
    pub(crate) fn new(
        candidate: &Candidate,
        steps: &[EventPos],
        stuck: &[EventPos],
    ) -> DeadlockPlan {
        // A thread whose wake-up is lost stops before it begins to wait.
        let begins = |at: &EventPos| {
            let waits = candidate.steps.iter().zip(steps);
            let mut waits =
                waits.filter(|(it, place)| it.access == Access::Wait && place.0 == at.0);
            waits.next().map_or(*at, |(_, place)| *place)
        };
        let is_stuck = |it: &&EventPos| stuck.iter().any(|at| at.0 == it.0);
        DeadlockPlan {
            threads: stuck.iter().map(|it| (begins(it), *it)).collect(),
            before: steps.iter().filter(|it| !is_stuck(it)).copied().collect(),
        }
    }
}

impl Hybrid<'_> {
    /// Schedules that lead into the deadlock, one by one.
    pub(crate) fn deadlock_schedules(&self, cut: usize, plan: DeadlockPlan) -> Proposals<'_> {
        let orders = orders(plan.threads.len());
        let prefixes = [Prefix::ToLock, Prefix::ToEvent, Prefix::Nothing].into_iter();
        let plans =
            prefixes.flat_map(move |prefix| orders.clone().into_iter().map(move |it| (prefix, it)));
        let held: Vec<_> = plan.threads.iter().map(|it| it.0).collect();
        Box::new(plans.map(move |(prefix, order)| {
            let found = self.deadlock_schedule(cut, (&plan, &held), prefix, &order);
            found.map_err(|conflict| self.explain(conflict))
        }))
    }

    fn deadlock_schedule(
        &self,
        cut: usize,
        (plan, held): (&DeadlockPlan, &[EventPos]),
        prefix: Prefix,
        order: &[usize],
    ) -> Result<Vec<Turn>, Conflict> {
        let mut simulator = self.simulator(cut, held);
        self.run_prefix(&mut simulator, prefix, held);
        for (thread, index) in &plan.before {
            simulator.approach(*thread, *index + 1)?;
        }
        for (_, stuck) in &plan.threads {
            simulator.set_limit(*stuck);
        }
        for at in order {
            let (thread, index) = plan.threads[*at].1;
            simulator.approach(thread, index)?;
        }
        Ok(self.turns(&simulator.turns))
    }
}

/// Orders of `count` threads: all of them for few threads, else the rotations in both directions.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count <= ALL_ORDERS {
        return permutations(count);
    }
    let rotated = |by: usize| (0..count).map(move |it| (it + by) % count);
    let forward = (0..count).map(|by| rotated(by).collect());
    let backward = (0..count).map(|by| rotated(by).rev().collect());
    forward.chain(backward).collect()
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for new in 0..count {
        let insert = |order: &Vec<usize>| {
            let with = |at: usize| [&order[..at], &[new], &order[at..]].concat();
            (0..=order.len()).map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_proposed_once() {
        let mut all = orders(3);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
        let many = orders(5);
        assert_eq!(many.len(), 10);
        assert!(many.iter().all(|it| (0..5).all(|at| it.contains(&at))));
    }
}

//! Schedules that bring threads right before events that they can never do.
//!
//! As for other [candidates](crate::hybrid), the run goes as it was recorded, and the threads of the
//! candidate are held back before their outermost locks or right before where they are to get stuck.
//! Then come the signals that are to be lost, while those who wait for them are held back before
//! they begin to; and then each thread goes to where it gets stuck, one after another. In which
//! order they go matters if one passes through a lock that another one will hold, so several are
//! proposed.

use norn_model::{Access, Candidate};

use crate::{
    Hybrid, Turn,
    engine::Proposals,
    hybrid::{Along, Trouble},
    script::At,
    stage::Stage,
};

/// Threads up to which all orders are proposed.
const ALL_ORDERS: usize = 3;

/// Where threads are to get stuck, and what is to happen before.
pub(crate) struct Impasse {
    /// By thread that gets stuck: where it is held back, and where it gets stuck.
    threads: Vec<(At, At)>,
    /// What others do before.
    before: Vec<At>,
}

impl Impasse {
    pub(crate) fn new(candidate: &Candidate, steps: &[At], stuck: &[At]) -> Impasse {
        // Who waits in vain is held back before it begins to.
        let begins = |at: &At| {
            let waits = candidate.steps.iter().zip(steps);
            let mut waits =
                waits.filter(|(it, place)| it.access == Access::Wait && place.0 == at.0);
            waits.next().map_or(*at, |(_, place)| *place)
        };
        let is_stuck = |it: &&At| stuck.iter().any(|at| at.0 == it.0);
        Impasse {
            threads: stuck.iter().map(|it| (begins(it), *it)).collect(),
            before: steps.iter().filter(|it| !is_stuck(it)).copied().collect(),
        }
    }
}

impl Hybrid<'_> {
    /// Schedules that lead into it, one by one.
    pub(crate) fn impasses(&self, impasse: Impasse) -> Proposals<'_> {
        let orders = orders(impasse.threads.len());
        let ways = [Along::ToLock, Along::ToEvent, Along::Nothing].into_iter();
        let plans =
            ways.flat_map(move |along| orders.clone().into_iter().map(move |it| (along, it)));
        let held: Vec<_> = impasse.threads.iter().map(|it| it.0).collect();
        Box::new(plans.map(move |(along, order)| {
            let found = self.impasse(&impasse, &held, along, &order);
            found.map_err(|trouble| self.explain(trouble))
        }))
    }

    fn impasse(
        &self,
        impasse: &Impasse,
        held: &[At],
        along: Along,
        order: &[usize],
    ) -> Result<Vec<Turn>, Trouble> {
        let mut stage = Stage::new(&self.script, held);
        self.go_along(&mut stage, along, held);
        for (thread, index) in &impasse.before {
            stage.approach(*thread, *index + 1)?;
        }
        for (_, stuck) in &impasse.threads {
            stage.limit(*stuck);
        }
        for at in order {
            let (thread, index) = impasse.threads[*at].1;
            stage.approach(thread, index)?;
        }
        Ok(self.turns(&stage.turns))
    }
}

/// Orders of so many threads: all of them for few, else each may be the first, both ways round.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count <= ALL_ORDERS {
        return permutations(count);
    }
    let turned = |by: usize| (0..count).map(move |it| (it + by) % count);
    let forth = (0..count).map(|by| turned(by).collect());
    let back = (0..count).map(|by| turned(by).rev().collect());
    forth.chain(back).collect()
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
    fn every_order_is_there_once() {
        let mut all = orders(3);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
        let many = orders(5);
        assert_eq!(many.len(), 10);
        assert!(many.iter().all(|it| (0..5).all(|at| it.contains(&at))));
    }
}

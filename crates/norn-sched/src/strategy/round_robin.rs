//! Round robin: the tasks in turn, each for the same number of events. The classic fair scheduler;
//! it uses no randomness, so a program has one such run, and it also takes over at the end of a
//! schedule. It deviates in that a spinning task is skipped while others can run.

use norn_abi::control::Plan;

use super::{Choice, Strategy};
use crate::{World, run::RunState};

/// Default number of events of a turn.
const QUANTUM: u64 = 1000;

/// The strategy. It has no state of its own: the run knows which task ran last.
#[derive(Debug)]
pub(crate) struct RoundRobin;

impl Strategy for RoundRobin {
    fn explores(&self) -> bool {
        false
    }

    fn choose(&mut self, run: &mut RunState, world: &dyn World) -> Choice {
        let next = run.tasks.after(run.last(), |it| run.tasks.is_candidate(it));
        next.map_or(Choice::Idle, |it| Choice::Run(it, quantum(world.plan())))
    }
}

fn quantum(plan: &Plan) -> u64 {
    match plan.quantum {
        0 => QUANTUM,
        quantum => u64::from(quantum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TaskId, simulation::SimulatedWorld};

    #[test]
    fn takes_turns_and_passes_over_tasks_that_yield() {
        let mut run = RunState::new();
        (0..3).for_each(|thread| assert!(run.tasks.adopt(thread, false).is_some()));
        let mut world = SimulatedWorld::default();
        assert_eq!(RoundRobin.choose(&mut run, &world), Choice::Run(TaskId::at(1), 1000));
        run.tasks[TaskId::at(1)].spin.yields();
        world.plan.quantum = 7;
        assert_eq!(RoundRobin.choose(&mut run, &world), Choice::Run(TaskId::at(2), 7));
        run.tasks.forget_all();
        assert_eq!(RoundRobin.choose(&mut run, &world), Choice::Idle);
    }
}

//! Partial order sampling (Yuan, Yang, Gu, "Partial order aware concurrency sampling", CAV 2018): the
//! next event of each thread has a random priority, and the highest one is executed; then all
//! events that race with it get new priorities. So orders of racing events are sampled, rather than
//! orders of independent events.
//!
//! We deviate in the definition of a race: two events on the same object of which one is not a
//! plain read. Commuting synchronisation operations are not distinguished. And the chosen thread
//! executes more than one event at a time in a long run, which would otherwise spend all its time
//! switching.

use norn_abi::control::class;

use super::{Choice, Strategy};
use crate::{TaskId, World, run::RunState, task::Task};

/// Number of turns after which the length of a turn is doubled, and the maximum number of doublings.
const DOUBLED: u64 = 8192;
const MOST_DOUBLED: u64 = 9;

/// The strategy. The rest of its state is in the tasks' priorities.
#[derive(Debug)]
pub(crate) struct Pos {
    /// Number of turns so far.
    turns: u64,
}

impl Pos {
    pub(crate) const fn new() -> Self {
        Self { turns: 0 }
    }
}

impl Strategy for Pos {
    fn at_event(&mut self, run: &mut RunState, task: TaskId) {
        run.tasks[task].priority = run.rng.draw();
    }

    /// Assigns new priorities to the events that race with the chosen one.
    fn choose(&mut self, run: &mut RunState, _world: &dyn World) -> Choice {
        let Some(chosen) = run.tasks.highest() else { return Choice::Idle };
        let (object, writes) = (run.tasks[chosen].event.object, changes(&run.tasks[chosen]));
        for (index, other) in run.tasks.iter_mut().enumerate() {
            let races = other.event.object == object && (writes || changes(other));
            if races && TaskId::at(index) != chosen {
                other.priority = run.rng.draw();
            }
        }
        self.turns += 1;
        Choice::Run(chosen, 1 << (self.turns / DOUBLED).min(MOST_DOUBLED))
    }
}

/// Whether a task's next event is a write or a synchronisation.
fn changes(task: &Task) -> bool {
    task.event.kind.class() != class::READ
}

#[cfg(test)]
mod tests {
    use norn_abi::Kind;

    use super::*;
    use crate::simulation::SimulatedWorld;

    /// The priorities after a choice among tasks that are about to access `objects`.
    fn after_choice(kind: Kind, objects: [usize; 4]) -> [u64; 4] {
        let mut run = RunState::new();
        for (index, object) in objects.into_iter().enumerate() {
            let task = run.tasks.adopt(0, false).unwrap();
            let task = &mut run.tasks[task];
            (task.event.kind, task.event.object) = (kind, object);
            task.priority = 10 - index as u64;
        }
        let choice = Pos::new().choose(&mut run, &SimulatedWorld::default());
        assert_eq!(choice, Choice::Run(TaskId::FIRST, 1));
        core::array::from_fn(|index| run.tasks[TaskId::at(index)].priority)
    }

    #[test]
    fn racing_events_get_new_priorities() {
        let write = Kind::Write4;
        let [chosen, racing, other, racing_too] = after_choice(write, [5, 5, 6, 5]);
        assert_eq!((chosen, other), (10, 8));
        assert!(racing > 10 && racing_too > 10);
    }

    #[test]
    fn turns_become_longer_in_a_long_run() {
        let mut run = RunState::new();
        assert!(run.tasks.adopt(0, false).is_some());
        let (mut pos, world) = (Pos::new(), SimulatedWorld::default());
        let mut next = || pos.choose(&mut run, &world);
        assert_eq!(next(), Choice::Run(TaskId::FIRST, 1));
        let later = (0..DOUBLED).map(|_| next()).last();
        assert_eq!(later, Some(Choice::Run(TaskId::FIRST, 2)));
    }

    #[test]
    fn reads_do_not_race() {
        let read = Kind::Read4;
        assert_eq!(after_choice(read, [5; 4]), [10, 9, 8, 7]);
    }
}

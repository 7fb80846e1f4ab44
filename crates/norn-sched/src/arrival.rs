//! A thread arrives at an event, and the scheduler decides whether it continues.

use norn_abi::{Kind, control::StrategyKind};

use crate::{
    Decision, Event, Scheduler, TaskId, World,
    scheduler::planned,
    spin::{Sight, sees_a_value},
    task::Task,
};

/// Number of times that a thread yields per turn while no thread makes progress.
const YIELDS_PER_TURN: u32 = 64;

/// What a thread that arrives at an event does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It does not have the turn, and waits for it ([`Scheduler::come_back`]).
    WithoutTurn,
    /// It continues: no strategy switches at this event.
    GoesOn,
    /// It reads the value at this address, which the event will see, without holding the
    /// scheduler's lock because the read may fault. Then it reports the value
    /// ([`Scheduler::observe`]) and asks.
    Observes(usize),
    /// It asks whether it keeps the turn ([`Scheduler::ask`]).
    Asks,
}

/// The answer to a thread that has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// It keeps the turn, and asks again when it has executed this many events.
    GoesOn(u64),
    /// The turn was passed on, possibly to the same task.
    Passed(Decision),
}

impl Scheduler {
    /// A thread arrives at an event, `quiet` events after its last effect.
    pub fn arrive(&mut self, task: TaskId, event: Event, quiet: u64, world: &dyn World) -> Arrival {
        let has_turn = self.run.holder == Some(task);
        let steps = world.steps(task);
        let changes = self.run.tasks.changes;
        let task = &mut self.run.tasks[task];
        (task.event, task.between) = (event, false);
        task.arrived = steps;
        if !has_turn {
            return Arrival::WithoutTurn;
        }
        if is_library_internal(event.kind) && planned(world) != StrategyKind::Follow {
            return Arrival::GoesOn;
        }
        if !task.spin.is_suspicious(quiet, steps) {
            return Arrival::Asks;
        }
        task.had_effect = quiet == 0;
        if sees_a_value(task.event.kind) {
            return Arrival::Observes(task.event.object);
        }
        see(task, 0, changes);
        Arrival::Asks
    }

    /// Reports the value that the next event of a watched thread will see.
    pub fn observe(&mut self, task: TaskId, value: u64) {
        let changes = self.run.tasks.changes;
        see(&mut self.run.tasks[task], value, changes);
    }

    /// Whether each event of the thread is observed.
    pub fn is_watched(&self, task: TaskId) -> bool {
        self.run.tasks[task].spin.is_watched()
    }

    /// Whether the thread repeats itself, and its state must be compared with that in an earlier round
    /// ([`Scheduler::compare_state`]).
    pub fn wants_state(&self, task: TaskId) -> bool {
        self.run.tasks[task].spin.wants_state()
    }

    /// Reports a hash of the thread's own state, its registers and its stack, if that is known.
    pub fn compare_state(&mut self, task: TaskId, state: Option<u64>) {
        self.run.tasks[task].spin.compare_state(state);
    }

    /// Decides whether the thread, which has the turn, keeps it.
    pub fn ask(&mut self, id: TaskId, world: &dyn World) -> Asked {
        let task = &self.run.tasks[id];
        let steps = world.steps(id);
        if steps < task.until && !self.run.tasks.is_idle(task) && !task.must_handle() {
            return Asked::GoesOn(task.next_stop(steps));
        }
        self.strategies.of(self.run.in_force).at_event(&mut self.run, id);
        Asked::Passed(self.yield_turn(world))
    }

    /// The thread yields, `quiet` events after its last effect. It gets a new turn each time, so
    /// that it may never reach the end of one and ask; therefore this also decides whether it
    /// should be watched.
    pub fn yields(&mut self, id: TaskId, pc: usize, quiet: u64, world: &dyn World) -> Decision {
        let changes = self.run.tasks.changes;
        let steps = world.steps(id);
        let task = &mut self.run.tasks[id];
        if !task.spin.is_watched() {
            task.event = Event { kind: Kind::Yield, object: 0, pc };
            task.had_effect = quiet == 0;
            if task.spin.is_suspicious(quiet, steps) {
                see(task, 0, changes);
            }
        }
        if self.run.holder == Some(id) && self.keeps_turn() {
            return self.unchanged();
        }
        let task = &mut self.run.tasks[id];
        task.spin.yields();
        task.between = true;
        self.yield_turn(world)
    }

    /// Whether a thread that yields runs on: there was no effect for long, and it has not run on too often
    /// yet. If all threads yield in loops, they would otherwise spend their time with switches. A
    /// schedule that is followed decides itself.
    fn keeps_turn(&mut self) -> bool {
        let keeps = self.run.progress.is_stale() && !self.run.follows();
        self.kept_yields = if keeps { (self.kept_yields + 1) % YIELDS_PER_TURN } else { 0 };
        self.kept_yields > 0
    }

    /// The thread is about to run without the turn.
    pub fn go_away(&mut self, task: TaskId) {
        self.set_away(task, true);
        self.run.tasks[task].between = true;
    }
}

fn see(task: &mut Task, value: u64, changes: u64) {
    let seen = Sight { event: task.event, value, effect: task.had_effect };
    task.spin.observe(seen, changes);
}

/// Events that may come from inside a library that holds a lock invisible to the scheduler, or that
/// no other thread can observe: no strategy switches there.
fn is_library_internal(kind: Kind) -> bool {
    use Kind as K;
    matches!(kind, K::Alloc | K::Free | K::Map | K::Unmap | K::Init | K::Destroy)
}

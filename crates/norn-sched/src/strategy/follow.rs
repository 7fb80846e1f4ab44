//! Follows a schedule: its segments one after the other, each until its thread has reached the end
//! of the segment. The events of the thread are compared with those that the schedule expects. When
//! the schedule cannot be followed any further, this is reported, and round robin takes over.
//!
//! This is the deterministic replay of a recorded or computed schedule, as in CHESS (Musuvathi et
//! al., OSDI 2008). It deviates where a schedule cannot determine what happens: a thread created by
//! uninstrumented code runs when the one that is due cannot, and external events are waited for.

use norn_abi::{
    Kind,
    arena::NAMES,
    control::{Name, Plan, Segment, follow, until, why},
};

use super::{
    Choice, Strategy, Waiters,
    report::{Departure, FollowReport},
    segment::Position,
};
use crate::{
    Event, Sleep, TaskId, World,
    rng::Rng,
    run::RunState,
    task::{Task, UNNAMED},
};

/// Maximum number of sleeps of a thread in a segment.
const MAX_NAPS: u32 = 10_000;
/// Number of events after which a thread that runs until it blocks has to let others run. It may wait for
/// them in a loop that spin detection does not recognise, because each round changes something.
const LONGEST_TO_BLOCK: u64 = 100_000;
/// How long the segment's thread may wait for an external event while others could run, in
/// nanoseconds of real time. The event may be an answer to an action of theirs.
const PATIENCE: u64 = 1_000_000_000;
/// Number of events of a turn of a thread that no schedule can name.
const FOREIGN_TURN: u64 = 100;

/// The strategy.
#[derive(Debug)]
pub(crate) struct Follow {
    position: Position,
    /// For each of the schedule's threads: the value of `starts` when it ended.
    ended: [u32; NAMES],
    /// Number of processes that began to follow the schedule. Counting is cheaper than clearing the
    /// table, and clearing would call `memset`, which the runtime interposes.
    starts: u32,
    report: FollowReport,
    /// Whether the report has changed since it was last taken.
    changed: bool,
}

/// The progress of a segment's thread.
enum Progress {
    /// The segment has reached its end.
    Over,
    /// The thread runs for this many events.
    Goes(u64),
    /// A signal handler on the thread runs first.
    Handles(TaskId),
    /// An external event must happen first.
    Waits,
    /// It cannot continue, or is not where it should be: one of [`why`].
    Stuck(u32),
}

impl Follow {
    #[expect(clippy::large_stack_arrays, reason = "a constant, for a static")]
    pub(crate) const fn new() -> Self {
        Self {
            position: Position::at(0),
            ended: [0; NAMES],
            starts: 0,
            report: FollowReport::NONE,
            changed: false,
        }
    }

    /// A process begins that does not follow the schedule: there is nothing to report.
    pub(crate) fn stand_by(&mut self) {
        self.changed = false;
    }

    /// How far the schedule was followed, if that has changed since the last call.
    pub(crate) fn take_report(&mut self) -> Option<FollowReport> {
        core::mem::take(&mut self.changed).then_some(self.report)
    }

    /// A thread with this entry has ended.
    pub(crate) fn thread_ends(&mut self, entry: u32) {
        if let Some(ended) = self.ended.get_mut(entry as usize) {
            *ended = self.starts;
        }
    }

    fn has_ended(&self, entry: u32) -> bool {
        self.starts != 0 && self.ended.get(entry as usize).is_some_and(|it| *it == self.starts)
    }

    /// Advances to the next segment.
    #[expect(clippy::cast_possible_truncation, reason = "a schedule has at most 2^20 segments")]
    fn advance(&mut self) {
        self.position = Position::at(self.position.segment + 1);
        self.report.segment = self.position.segment as u32;
        self.changed = true;
    }

    /// The schedule has ended.
    fn end(&mut self, status: u32) -> Choice {
        self.report.status = status;
        self.changed = true;
        Choice::Over
    }

    /// The run leaves the schedule.
    fn leave(&mut self, task: Option<(TaskId, &Task)>, reason: u32, world: &dyn World) -> Choice {
        let (thread, event) = task.map_or((u32::MAX, Event::NONE), |(_, it)| (it.thread, it.event));
        let index = task.map_or(0, |(id, _)| world.steps(id));
        self.report.left = Departure { why: reason, thread, event, index };
        let diverged = matches!(reason, why::OTHER_EVENT | why::ENDED);
        self.end(if diverged { follow::DIVERGED } else { follow::INFEASIBLE })
    }

    /// Handles a segment whose thread does not exist: it has ended, or was never created. A handler
    /// without a signal was not, unless a timer sends one.
    fn without_thread(
        &mut self,
        segment: &Segment,
        run: &mut RunState,
        world: &dyn World,
    ) -> Option<Choice> {
        let is_handler = world.names().get(segment.thread as usize).is_some_and(|it| it.child == 0);
        if segment.thread != 0 && is_handler && run.force_handler_timer(world) {
            return Some(Choice::Idle);
        }
        match (self.has_ended(segment.thread), segment.until) {
            (true, until::ENDS | until::BLOCKS) => {
                self.advance();
                None
            }
            (true, _) => Some(self.leave(None, why::ENDED, world)),
            (false, _) => Some(self.leave(None, why::ABSENT, world)),
        }
    }

    /// Handles a segment whose thread is `id`. `None` if the segment has ended.
    fn with_thread(
        &mut self,
        segment: &Segment,
        id: TaskId,
        run: &mut RunState,
        world: &dyn World,
    ) -> Option<Choice> {
        let progress = self.progress(segment, id, run, world);
        Some(match progress {
            Progress::Over => {
                self.advance();
                return None;
            }
            Progress::Goes(events) => {
                self.position.waits = 0;
                Choice::Run(id, events)
            }
            Progress::Handles(handler) => Choice::Run(handler, 1),
            Progress::Waits if self.waits_in_vain(id, run, world) => {
                self.leave(Some((id, &run.tasks[id])), why::AWAY, world)
            }
            Progress::Waits => foreign(run).unwrap_or(Choice::Idle),
            Progress::Stuck(reason) => {
                let instead = if reason == why::BLOCKED { foreign(run) } else { None };
                instead.unwrap_or_else(|| self.leave(Some((id, &run.tasks[id])), reason, world))
            }
        })
    }

    fn progress(
        &mut self,
        segment: &Segment,
        id: TaskId,
        run: &mut RunState,
        world: &dyn World,
    ) -> Progress {
        let steps = world.steps(id);
        let task = &run.tasks[id];
        if segment.until == until::TIMEOUT && task.is_expired() {
            return Progress::Over;
        }
        if task.is_handler()
            && !task.handles
            && let Some(progress) = begins(segment, id, run, world)
        {
            return progress;
        }
        let task = &run.tasks[id];
        let executed = segment.until == until::EVENT && steps >= segment.count;
        if task.away {
            // A thread that sleeps in uninstrumented code may wait for what comes later in the
            // schedule.
            let sleep = world.sleep(id);
            let loops = sleep == Sleep::No
                && run.tasks.iter().any(|it| run.tasks.is_candidate(it))
                && world.is_looping(id, run.counted);
            return match segment.until {
                _ if executed && (loops || sleep == Sleep::ForOthers) => Progress::Over,
                until::BLOCKS if loops => Progress::Over,
                _ if loops => Progress::Stuck(why::SPINS),
                _ => Progress::Waits,
            };
        }
        if task.between {
            if executed && is_held_up(&run.tasks[id], steps > segment.count, run, world) {
                return Progress::Over;
            }
        } else {
            match self.position.reached(segment, task, steps, world) {
                Some(true) => return Progress::Over,
                Some(false) => return Progress::Stuck(why::OTHER_EVENT),
                None => {}
            }
        }
        if let Some(handler) = interrupting(run, id) {
            return Progress::Handles(handler);
        }
        if run.tasks[id].waiting
            && let Some(progress) = self.waits(segment, id, run, world)
        {
            return progress;
        }
        let task = &run.tasks[id];
        // A thread that repeats reads or yields waits for others just like one that waits for a
        // lock.
        if segment.until == until::BLOCKS
            && (run.tasks.is_idle(task) || self.delays_others(id, steps, run))
        {
            return Progress::Over;
        }
        let task = &run.tasks[id];
        if task.spin.spins(run.tasks.changes) {
            return Progress::Stuck(why::SPINS);
        }
        Progress::Goes(match segment.until {
            until::EVENT => segment.count.saturating_sub(steps),
            until::ENDS => u64::MAX,
            until::BLOCKS => LONGEST_TO_BLOCK,
            // It is stopped at its next event, to compare that with the segment's points.
            _ => u64::from(!task.between),
        })
    }

    /// Whether a thread that is to run until it blocks has run for long, while others could run.
    fn delays_others(&mut self, id: TaskId, steps: u64, run: &RunState) -> bool {
        let from = *self.position.from.get_or_insert(steps);
        steps - from >= LONGEST_TO_BLOCK
            && run.tasks.entries().any(|(it, task)| it != id && run.tasks.is_candidate(task))
    }

    /// Handles a segment whose thread waits. `None` if the wait has timed out, so that the thread
    /// continues.
    fn waits(
        &mut self,
        segment: &Segment,
        id: TaskId,
        run: &mut RunState,
        world: &dyn World,
    ) -> Option<Progress> {
        let task = &run.tasks[id];
        let outside = task.outside;
        // Other waits go on after a signal.
        let asks = outside || matches!(task.event.kind, Kind::Receive | Kind::Ready | Kind::Sleep);
        match segment.until {
            until::BLOCKS => Some(Progress::Over),
            until::TIMEOUT if run.may_expire_when_due(id, true, world) => {
                run.put_forward_to(id, world);
                Some(Progress::Over)
            }
            // The external event may still happen in time.
            _ if !(outside && run.lists_timeouts(world))
                && run.may_expire_when_due(id, false, world) =>
            {
                // A thread that sleeps repeatedly waits for others just like one that spins.
                if self.position.naps == MAX_NAPS {
                    return Some(Progress::Stuck(why::SPINS));
                }
                self.position.naps += 1;
                run.put_forward_to(id, world);
                None
            }
            _ if run.recheck_files() && !run.tasks[id].waiting => None,
            // It may wait for a timer.
            _ if run.force_first_timer(outside, asks, world) => Some(Progress::Waits),
            _ if outside || run.may_be_saved(world) => Some(Progress::Waits),
            _ => Some(Progress::Stuck(why::BLOCKED)),
        }
    }

    /// Whether a thread has waited long for an external event while others could run.
    fn waits_in_vain(&mut self, due: TaskId, run: &RunState, world: &dyn World) -> bool {
        let entry = run.tasks[due].entry;
        let listed = run.lists_timeouts(world);
        let waits = |it: &Task| listed && it.is_timed() && it.entry != entry;
        let others = run.tasks.iter().any(|it| run.tasks.is_candidate(it) || waits(it));
        if !others || !run.tasks[due].outside && world.sleep(due) != Sleep::ForOthers {
            self.position.waits = 0;
            return false;
        }
        let now = world.real_time();
        if self.position.waits == 0 {
            self.position.waits = now;
        }
        now - self.position.waits > PATIENCE
    }
}

impl Strategy for Follow {
    /// Ends of threads with the same names in the parent process do not count.
    fn start(&mut self, _plan: &Plan, _rng: &mut Rng) {
        self.starts += 1;
        self.report.status = follow::GOING;
        self.changed = true;
    }

    fn explores(&self) -> bool {
        false
    }

    fn choose(&mut self, run: &mut RunState, world: &dyn World) -> Choice {
        loop {
            let Some(segment) = world.segments().get(self.position.segment) else {
                return self.end(follow::DONE);
            };
            let exists = |it: &Task| (it.alive || it.dormant) && it.entry == segment.thread;
            let due = run.tasks.entries().find(|(_, it)| exists(it));
            let choice = match due.map(|(id, _)| id) {
                None => self.without_thread(segment, run, world),
                Some(id) => self.with_thread(segment, id, run, world),
            };
            if let Some(choice) = choice {
                return choice;
            }
        }
    }

    /// The one that is due first; preferably one that does not wait for its timeout.
    fn pick_waiter(&mut self, run: &mut RunState, waiters: &Waiters, world: &dyn World) -> usize {
        let rest = world.segments().get(self.position.segment..).unwrap_or_default();
        let (mut best, mut chosen) = ((false, rest.len()), 0);
        for number in 0..waiters.count {
            let Some(id) = run.tasks.nth_waiter(waiters.kind, waiters.object, number) else {
                break;
            };
            let entry = run.tasks[id].entry;
            if let Some(first) = rest.iter().position(|it| it.thread == entry) {
                let woken = rest.get(first).is_some_and(|it| it.until != until::TIMEOUT);
                if (woken, best.1) > (best.0, first) {
                    (best, chosen) = ((woken, first), number);
                }
            }
        }
        chosen
    }
}

/// Whether a thread that has executed all events of its segment, and is not at its next one, ends the
/// segment nevertheless: it is `beyond` the segment, or what it waits for may come later in the
/// schedule. A sleep is not such a wait, unless the schedule lists when it ends.
fn is_held_up(task: &Task, beyond: bool, run: &RunState, world: &dyn World) -> bool {
    let sleeps = task.is_timed() && !task.outside && !run.lists_timeouts(world);
    beyond || task.looks || task.waiting && !sleeps
}

/// The signal handler without which a task cannot continue: it interrupts the task, or the task has
/// sent a signal to itself.
fn interrupting(run: &RunState, host: TaskId) -> Option<TaskId> {
    let task = &run.tasks[host];
    let awaits = task.waiting && task.event.kind == Kind::HandlerBegin;
    let handler =
        run.tasks.handler_of(host).filter(|_| task.interrupted || awaits || task.must_handle())?;
    interrupting(run, handler).or_else(|| Some(handler).filter(|it| run.tasks[*it].is_ready()))
}

/// A turn of a thread that no schedule can name, since uninstrumented code created it.
fn foreign(run: &RunState) -> Option<Choice> {
    let ready = run.tasks.entries().find(|(_, it)| it.is_ready() && it.foreign);
    ready.map(|(id, _)| Choice::Run(id, FOREIGN_TURN))
}

/// The entry of child number `child` of the thread with entry `parent`.
#[expect(clippy::cast_possible_truncation, reason = "a schedule has at most 2^16 names")]
pub(crate) fn entry(parent: u32, child: u32, world: &dyn World) -> u32 {
    let name = Name { parent, child };
    let found = world.names().iter().skip(1).position(|it| *it == name);
    found.map_or(UNNAMED, |at| at as u32 + 1)
}

/// Handles a segment of a signal handler that does not run. Its signal may be that of a timer.
/// `None` if it can begin.
fn begins(
    segment: &Segment,
    id: TaskId,
    run: &mut RunState,
    world: &dyn World,
) -> Option<Progress> {
    let pending = run.tasks[id].alive;
    match segment.until {
        until::EVENT if !pending && world.steps(id) >= segment.count => Some(Progress::Over),
        until::TIMEOUT if pending => Some(Progress::Over),
        _ if pending => None,
        until::ENDS | until::BLOCKS => Some(Progress::Over),
        _ if run.force_handler_timer(world) => Some(Progress::Waits),
        _ => Some(Progress::Stuck(why::ABSENT)),
    }
}

#[cfg(test)]
mod tests {
    use norn_abi::control::strategy;

    use super::*;
    use crate::simulation::{SimulatedWorld, begun};

    /// The second thread is due until `until`, while it computes in code without events.
    /// Returns who gets the turn, and why the run has left the schedule.
    fn due_while_away(until: u32, looping: bool) -> (Option<usize>, u32) {
        let segment = |thread, until| Segment { thread, until, count: 1, ..Segment::default() };
        let plan = Plan { strategy: strategy::FOLLOW, ..Plan::default() };
        let mut world = SimulatedWorld {
            plan,
            names: vec![Name { parent: 0, child: 0 }, Name { parent: 0, child: 1 }],
            segments: vec![segment(1, until), segment(0, until::ENDS)],
            ..SimulatedWorld::default()
        };
        let (mut scheduler, [_, second]) = begun::<2>(&world);
        scheduler.go_away(second);
        world.looping = looping;
        let decision = scheduler.yield_turn(&world);
        let why = scheduler.take_report().map_or(0, |it| it.left.why);
        (decision.grant.map(|it| it.task.index()), why)
    }

    #[test]
    fn a_thread_that_computes_is_awaited() {
        assert_eq!(due_while_away(until::EVENT, false), (None, 0));
        assert_eq!(due_while_away(until::BLOCKS, false), (None, 0));
    }

    #[test]
    fn a_thread_in_a_loop_waits_for_others() {
        assert_eq!(due_while_away(until::BLOCKS, true), (Some(0), 0));
        assert_eq!(due_while_away(until::EVENT, true), (Some(0), why::SPINS));
    }
}

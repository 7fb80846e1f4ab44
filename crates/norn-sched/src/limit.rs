//! Which time limits may expire early: while other threads could still do what the thread waits for.
//!
//! Virtual time does not say how long computations take, so for every limit there is a schedule in
//! which it expires first. Not all of them are worth a run: a program that waits for an hour has a
//! safety net for the case that its peers are gone, and what it does then says nothing about them.
//!
//! So what is left of a limit decides. Up to [`MOMENT`], it may expire at any time. Up to
//! [`SAFETY_NET`], it may expire where a schedule asks for that, which prediction does on purpose and
//! one limit at a time. Beyond, it expires when no other thread can run. A sleep is no limit: nothing
//! else ends it, and it orders nothing, however long it is. A timer that sends a signal is a limit.

use norn_abi::Kind;

use crate::{TaskId, World, run::RunState, task::Task};

/// How long other programs or a slow disk may delay a thread that can run, in nanoseconds.
const MOMENT: u64 = 1_000_000_000;
/// How long a peer may take to answer at all. A thread that could run, but does not for longer than
/// this, is not slow: its machine is suspended.
const SAFETY_NET: u64 = 60 * MOMENT;

impl Task {
    /// Whether it sleeps: only time ends its wait.
    fn sleeps(&self) -> bool {
        self.waiting && self.event.kind == Kind::Sleep && !self.outside
    }
}

impl RunState {
    /// Whether the wait of a task may time out although other threads could run.
    pub(crate) fn may_expire_early(&self, task: &Task, world: &dyn World) -> bool {
        task.sleeps() || self.is_soon(task.deadline, world)
    }

    /// Whether a deadline is only a moment away.
    pub(crate) fn is_soon(&self, deadline: u64, world: &dyn World) -> bool {
        self.left(deadline, world) <= MOMENT
    }

    /// Whether the wait of a task that is due may time out, so that the schedule can continue.
    /// `listed` says whether the schedule asks for it.
    pub(crate) fn may_expire_when_due(&self, id: TaskId, listed: bool, world: &dyn World) -> bool {
        let task = &self.tasks[id];
        let most = if listed { SAFETY_NET } else { MOMENT };
        let in_time = task.sleeps() || self.left(task.deadline, world) <= most;
        task.is_timed() && (in_time || !self.has_active_others(id))
    }

    /// Whether a timer may expire, so that the schedule can continue. A program that guards itself by an alarm is not
    /// killed while it can go on.
    pub(crate) fn may_timer_expire(&self, deadline: u64, listed: bool, world: &dyn World) -> bool {
        let most = if listed { SAFETY_NET } else { MOMENT };
        let active = self.tasks.entries().any(|(_, it)| it.is_ready() || it.away);
        self.left(deadline, world) <= most || !active
    }

    /// Whether the next limit that would expire is one that does not while another task could run.
    pub(crate) fn is_guarded(&self, world: &dyn World) -> bool {
        let next = self.first_timed().map(|it| &self.tasks[it]);
        let is_long = |it: &Task| !it.sleeps() && self.left(it.deadline, world) > SAFETY_NET;
        next.is_some_and(is_long) && self.tasks.has_candidate()
    }

    fn left(&self, deadline: u64, world: &dyn World) -> u64 {
        deadline.saturating_sub(self.now(world))
    }

    /// Whether another task could run, or runs without the turn.
    pub(crate) fn has_active_others(&self, task: TaskId) -> bool {
        self.tasks.entries().any(|(id, it)| (it.is_ready() || it.away) && id != task)
    }
}

#[cfg(test)]
mod tests {
    use norn_abi::control::{Name, Segment, StrategyKind, follow, strategy, until};

    use super::*;
    use crate::{
        Event, NEVER, Scheduler, TimerSetting, Wait,
        simulation::{SimulatedWorld, begun},
    };

    const MINUTE: u64 = 60_000_000_000;

    fn wait(scheduler: &mut Scheduler, task: TaskId, kind: Kind, deadline: u64) {
        let event = Event { kind, object: 8, pc: 0 };
        scheduler.wait(task, Wait { event, deadline, outside: false });
    }

    /// Of 40 seeds, those under which the wait of a thread times out while another thread can run.
    fn early(kind: Kind, deadline: u64, prepare: impl Fn(&mut Scheduler, &[TaskId; 3])) -> usize {
        let times_out = |seed: &u64| {
            let mut world = SimulatedWorld::default();
            (world.plan.strategy, world.plan.seed) = (strategy::RANDOM, *seed);
            let (mut scheduler, tasks) = begun::<3>(&world);
            wait(&mut scheduler, tasks[1], kind, deadline);
            prepare(&mut scheduler, &tasks);
            for _ in 0..40 {
                world.steps[tasks[0].index()] += 1;
                let _ = scheduler.yield_turn(&world);
            }
            !scheduler.is_waiting(tasks[1])
        };
        (0..40).filter(times_out).count()
    }

    fn alone(_: &mut Scheduler, _: &[TaskId; 3]) {}

    #[test]
    fn a_short_limit_may_expire_at_any_time() {
        assert!(early(Kind::Wait, MOMENT, alone) > 10);
        assert!(early(Kind::Acquire, MOMENT, alone) > 10);
    }

    #[test]
    fn a_long_limit_does_not_expire_while_another_thread_can_run() {
        for kind in [Kind::Wait, Kind::Acquire, Kind::SemWait, Kind::Futex, Kind::Receive] {
            assert_eq!(early(kind, 2 * MOMENT, alone), 0, "{kind:?}");
        }
    }

    #[test]
    fn a_sleep_may_end_at_any_time_however_long_it_is() {
        assert!(early(Kind::Sleep, MINUTE, alone) > 10);
    }

    /// Deadlines keep their order: the sleep ends first, and then too much of the limit is left.
    #[test]
    fn a_sleep_does_not_take_a_longer_limit_with_it() {
        let sleep = |scheduler: &mut Scheduler, tasks: &[TaskId; 3]| {
            wait(scheduler, tasks[2], Kind::Sleep, MINUTE);
        };
        assert_eq!(early(Kind::Wait, 2 * MINUTE, sleep), 0);
        assert!(early(Kind::Wait, MINUTE + MOMENT / 2, sleep) > 5);
    }

    #[test]
    fn a_distant_timer_does_not_expire_early() {
        let setting = TimerSetting { deadline: MINUTE, interval: 0, file: false };
        let timer = |scheduler: &mut Scheduler, _: &[TaskId; 3]| {
            scheduler.set_timer(0, setting);
        };
        assert_eq!(early(Kind::Sleep, 2 * MINUTE, timer), 0);
    }

    #[test]
    fn a_long_limit_expires_when_nothing_else_can_happen() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [first, second]) = begun::<2>(&world);
        wait(&mut scheduler, second, Kind::Wait, MINUTE);
        wait(&mut scheduler, first, Kind::Wait, NEVER);
        let grant = scheduler.yield_turn(&world).grant;
        assert_eq!(grant.map(|it| it.task), Some(second));
        assert!(scheduler.take_timed_out(second) && scheduler.now(&world) >= MINUTE);
    }

    /// The state of a schedule that lets the second thread run while it waits with this limit.
    fn followed(deadline: u64, until: u32) -> (bool, u32) {
        let mut world = SimulatedWorld::default();
        world.plan.strategy = StrategyKind::Follow.code();
        world.names = vec![Name { parent: 0, child: 0 }, Name { parent: 0, child: 1 }];
        world.segments = vec![Segment { thread: 1, until, ..Segment::default() }];
        let (mut scheduler, [_, second]) = begun::<2>(&world);
        wait(&mut scheduler, second, Kind::Wait, deadline);
        let _ = scheduler.yield_turn(&world);
        let report = scheduler.take_report().map_or(follow::GOING, |it| it.status);
        (!scheduler.is_waiting(second), report)
    }

    #[test]
    fn a_schedule_must_list_the_end_of_a_long_limit() {
        assert_eq!(followed(MOMENT, until::ENDS), (true, follow::GOING));
        assert_eq!(followed(MINUTE, until::ENDS), (false, follow::INFEASIBLE));
        assert!(followed(MINUTE, until::TIMEOUT).0);
    }

    /// Whether a wait for something outside times out after some looks, if the schedule waits for its thread although
    /// another one could run.
    fn expires_outside(deadline: u64) -> bool {
        let mut world = SimulatedWorld::default();
        world.plan.strategy = StrategyKind::Follow.code();
        world.names = vec![Name { parent: 0, child: 0 }, Name { parent: 0, child: 1 }];
        let until = until::TIMEOUT;
        world.segments = vec![Segment { thread: 1, until, ..Segment::default() }];
        let (mut scheduler, [_, second]) = begun::<2>(&world);
        let event = Event { kind: Kind::Sleep, object: 8, pc: 0 };
        scheduler.wait(second, Wait { event, deadline, outside: true });
        let _ = scheduler.yield_turn(&world);
        for _ in 0..20 {
            world.real_time += MOMENT / 100;
            let _ = scheduler.look_around(second, &world);
            if scheduler.take_timed_out(second) {
                return true;
            }
        }
        false
    }

    #[test]
    fn nor_does_a_wait_for_the_outside() {
        assert!(expires_outside(MINUTE / 2));
        assert!(!expires_outside(2 * MINUTE));
    }

    #[test]
    fn no_schedule_lets_a_safety_net_expire_while_another_thread_can_run() {
        assert_eq!(followed(2 * MINUTE, until::TIMEOUT), (false, follow::INFEASIBLE));
    }
}

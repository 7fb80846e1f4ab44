//! The timers of the program, on virtual time. A timer expires when the clock has reached its
//! deadline; if no thread can run, the clock jumps there. While a schedule is followed that lists
//! the timeouts, a timer expires when the schedule needs the handler of its signal, or a thread that
//! waits.
//!
//! The scheduler only knows when timers expire. What they do then, the caller knows.

use crate::{NEVER, Scheduler, World, run::RunState};

/// Maximum number of timers.
pub const TIMERS: usize = 64;
/// How often the clock jumps to timers while no thread runs, except for signal handlers: a program
/// that has come to a halt is not saved by the signals of an interval timer.
const JUMPS: u32 = 1000;

/// When a timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerSetting {
    /// The virtual time of the next expiry; [`NEVER`] if the timer is not armed.
    pub deadline: u64,
    /// The time between two expiries in nanoseconds; 0 if it expires once.
    pub interval: u64,
    /// Whether it is a file that threads wait for, and sends no signal.
    pub file: bool,
}

/// A timer that is not armed.
const DISARMED: TimerSetting = TimerSetting { deadline: NEVER, interval: 0, file: false };

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// Whether the rest is valid: zero is an unused timer.
    armed: bool,
    /// It has to expire now.
    due: bool,
    setting: TimerSetting,
}

/// All timers.
#[derive(Debug)]
pub(crate) struct Timers {
    table: [Timer; TIMERS],
    /// How often the clock has jumped to a timer since a thread ran.
    jumps: u32,
}

impl Timers {
    pub(crate) const fn new() -> Self {
        let unused = TimerSetting { deadline: 0, interval: 0, file: false };
        Self { table: [Timer { armed: false, due: false, setting: unused }; TIMERS], jumps: 0 }
    }

    /// A thread has got the turn.
    pub(crate) fn thread_runs(&mut self) {
        self.jumps = 0;
    }

    fn armed(&self) -> impl Iterator<Item = (usize, &Timer)> {
        self.table.iter().enumerate().filter(|(_, it)| it.armed)
    }

    /// The timer that expires first, and when.
    pub(crate) fn first(&self) -> Option<(usize, u64)> {
        self.first_of(|_| true)
    }

    /// The timer that expires first of those that are meant, and when.
    fn first_of(&self, is_meant: impl Fn(usize) -> bool) -> Option<(usize, u64)> {
        let armed = self.armed().filter(|(timer, _)| is_meant(*timer));
        let deadlines = armed.map(|(timer, it)| (timer, it.setting.deadline));
        deadlines.min_by_key(|(timer, deadline)| (*deadline, *timer))
    }

    /// Whether the clock may jump to a timer.
    pub(crate) fn may_expire(&self) -> bool {
        self.jumps < JUMPS && self.armed().next().is_some()
    }

    pub(crate) fn is_any_due(&self) -> bool {
        self.armed().any(|(_, it)| it.due)
    }
}

impl RunState {
    /// Advances the clock to the deadline of a timer, which then expires.
    pub(crate) fn force_timer(&mut self, timer: usize, world: &dyn World) {
        let Some(timer) = self.timers.table.get_mut(timer) else { return };
        timer.due = true;
        let deadline = timer.setting.deadline;
        self.timers.jumps += 1;
        self.advance_to(deadline, world);
    }

    /// Lets the first timer expire now, if it is a file or not, and if that is not too early: `listed` says
    /// whether the schedule asks for it. Returns whether it expires.
    pub(crate) fn force_first_timer(
        &mut self,
        file: bool,
        listed: bool,
        world: &dyn World,
    ) -> bool {
        let first = self.timers.first().filter(|_| self.timers.may_expire());
        let first = first.filter(|(it, _)| self.timers.table[*it].setting.file == file);
        let first = first.filter(|it| self.may_timer_expire(it.1, listed, world));
        if let Some((timer, _)) = first {
            self.force_timer(timer, world);
        }
        first.is_some()
    }

    /// Lets the first timer expire now whose signal begins a handler, if that is not too early: the schedule waits for
    /// a handler. A timer whose signal would end the program, as an alarm that guards it, is none of these. Returns
    /// whether one expires.
    pub(crate) fn force_handler_timer(&mut self, world: &dyn World) -> bool {
        let first = self.timers.first_of(|it| world.begins_handler(it));
        let first = first.filter(|_| self.timers.may_expire());
        let first = first.filter(|it| self.may_timer_expire(it.1, true, world));
        if let Some((timer, _)) = first {
            self.force_timer(timer, world);
        }
        first.is_some()
    }

    /// A timer that expires now. It is armed again if it has an interval.
    pub(crate) fn take_due_timer(&mut self, world: &dyn World) -> Option<usize> {
        let (by_clock, now) = (!self.lists_timeouts(world), self.now(world));
        let due = |it: &Timer| it.due || by_clock && it.setting.deadline <= now;
        let due = self.timers.armed().filter(|(_, it)| due(it));
        let (number, _) = due.min_by_key(|(number, it)| (it.setting.deadline, *number))?;
        let timer = &mut self.timers.table[number];
        let TimerSetting { deadline, interval, .. } = timer.setting;
        timer.due = false;
        timer.armed = interval != 0;
        // Expiries that have been missed count as one.
        let missed = now.saturating_sub(deadline).checked_div(interval).unwrap_or(0);
        timer.setting.deadline = deadline.saturating_add(interval.saturating_mul(missed + 1));
        Some(number)
    }
}

impl Scheduler {
    /// Sets a timer, and returns its earlier setting.
    pub fn set_timer(&mut self, timer: usize, setting: TimerSetting) -> TimerSetting {
        let before = self.timer(timer);
        if let Some(timer) = self.run.timers.table.get_mut(timer) {
            *timer = Timer { armed: setting.deadline != NEVER, due: false, setting };
        }
        before
    }

    /// The setting of a timer.
    pub fn timer(&self, timer: usize) -> TimerSetting {
        let timer = self.run.timers.table.get(timer);
        timer.filter(|it| it.armed).map_or(DISARMED, |it| it.setting)
    }
}

#[cfg(test)]
mod tests {
    use norn_abi::{
        Kind,
        control::{strategy, timeouts},
    };

    use super::*;
    use crate::{
        Event, Verdict, Wait,
        simulation::{SimulatedWorld, begun},
    };

    fn setting(deadline: u64, interval: u64) -> TimerSetting {
        TimerSetting { deadline, interval, file: false }
    }

    fn stuck(world: &SimulatedWorld) -> Box<Scheduler> {
        let (mut scheduler, [task]) = begun::<1>(world);
        let event = Event { kind: Kind::Acquire, object: 1, pc: 0 };
        scheduler.wait(task, Wait { event, deadline: NEVER, outside: false });
        scheduler
    }

    #[test]
    fn the_clock_jumps_to_a_timer_when_no_thread_can_run() {
        let world = SimulatedWorld::default();
        let mut scheduler = stuck(&world);
        scheduler.set_timer(3, setting(5_000, 0));
        scheduler.set_timer(4, setting(9_000, 0));
        assert_eq!(scheduler.yield_turn(&world).timer, Some(3));
        assert_eq!(scheduler.now(&world), 5_000);
        assert_eq!(scheduler.timer(3), DISARMED);
        assert_eq!(scheduler.go_on(&world).timer, Some(4));
        assert_eq!(scheduler.go_on(&world).stop, Some(Verdict::Deadlock));
    }

    #[test]
    fn an_interval_timer_expires_again_and_missed_expiries_count_once() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [task]) = begun::<1>(&world);
        scheduler.set_timer(0, setting(1_000, 1_000));
        scheduler.reach_time(3_500, &world);
        assert_eq!(scheduler.yield_turn(&world).timer, Some(0));
        assert_eq!(scheduler.timer(0), setting(4_000, 1_000));
        assert_eq!(scheduler.go_on(&world).grant.map(|it| it.task), Some(task));
    }

    #[test]
    fn an_interval_timer_does_not_hide_a_deadlock() {
        let world = SimulatedWorld::default();
        let mut scheduler = stuck(&world);
        scheduler.set_timer(0, setting(1_000, 1_000));
        let mut decision = scheduler.yield_turn(&world);
        let mut expired = 0;
        while decision.timer.is_some() {
            expired += 1;
            decision = scheduler.go_on(&world);
        }
        assert_eq!((decision.stop, expired), (Some(Verdict::Deadlock), JUMPS));
    }

    #[test]
    fn a_schedule_that_lists_timeouts_decides_when_timers_expire() {
        let mut world = SimulatedWorld::default();
        (world.plan.strategy, world.plan.timeouts) = (strategy::FOLLOW, timeouts::LISTED);
        let (mut scheduler, [_]) = begun::<1>(&world);
        scheduler.set_timer(0, setting(1_000, 0));
        scheduler.reach_time(2_000, &world);
        assert_eq!(scheduler.run.take_due_timer(&world), None);
        assert!(scheduler.run.force_first_timer(false, true, &world));
        assert_eq!(scheduler.run.take_due_timer(&world), Some(0));
    }

    #[test]
    fn a_schedule_that_waits_for_a_handler_lets_no_alarm_without_one_expire() {
        let mut world = SimulatedWorld::default();
        (world.plan.strategy, world.plan.timeouts) = (strategy::FOLLOW, timeouts::LISTED);
        world.without_handler = vec![0];
        let (mut scheduler, [_]) = begun::<1>(&world);
        scheduler.set_timer(0, setting(1_000, 0));
        assert!(!scheduler.run.force_handler_timer(&world));
        scheduler.set_timer(1, setting(2_000, 0));
        assert!(scheduler.run.force_handler_timer(&world));
        assert_eq!(scheduler.run.take_due_timer(&world), Some(1));
        assert_eq!(scheduler.run.take_due_timer(&world), None);
    }

    #[test]
    fn an_alarm_does_not_end_a_program_that_can_go_on() {
        const SECOND: u64 = 1_000_000_000;
        let mut world = SimulatedWorld::default();
        (world.plan.strategy, world.plan.timeouts) = (strategy::FOLLOW, timeouts::LISTED);
        let (mut scheduler, [task, _]) = begun::<2>(&world);
        scheduler.wait(
            task,
            Wait {
                event: Event { kind: Kind::Wait, object: 1, pc: 0 },
                deadline: NEVER,
                outside: false,
            },
        );
        scheduler.set_timer(0, setting(10 * SECOND, 0));
        assert!(!scheduler.run.force_first_timer(false, false, &world));
        assert!(scheduler.run.force_first_timer(false, true, &world), "the schedule asks for it");
        scheduler.set_timer(0, setting(100 * SECOND, 0));
        assert!(!scheduler.run.force_first_timer(false, true, &world));
    }
}
